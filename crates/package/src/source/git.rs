//! Repositories, by their addresses and by their short names.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use prowess_format::SkillName;
use url::Url;

use super::{Source, SourceError, web};
use prowess_archive::InnerPath;

const GITHUB: &str = "https://github.com/";
const GITLAB: &str = "https://gitlab.com/";

/// An address that is a repository whatever it looks like: `https`, `ssh` or `file`.
pub(super) fn parse(text: &str) -> Result<Source, SourceError> {
    let (url, reference) = split_reference(text)?;
    let parsed = Url::parse(url).map_err(|_| SourceError::Address("it is not a URL"))?;
    if parsed.password().is_some() || (parsed.scheme() == "https" && !parsed.username().is_empty()) {
        return Err(SourceError::Secret);
    }
    if parsed.scheme() != "file" && parsed.host_str().is_none_or(str::is_empty) {
        return Err(SourceError::Address("it has no host"));
    }
    // ssh would take them for its own options.
    if parsed.host_str().is_some_and(|host| host.starts_with('-')) || parsed.username().starts_with('-') {
        return Err(SourceError::Option);
    }
    let rest = url.get(parsed.scheme().len()..).unwrap_or_default();
    Ok(Source::Git { url: format!("{}{rest}", parsed.scheme()), reference, inner: None, skill: None })
}

/// What has no scheme: `user@host:path`, `owner/repo` and its relatives.
pub(super) fn short(text: &str) -> Result<Source, SourceError> {
    for (prefix, host) in [("github:", GITHUB), ("gitlab:", GITLAB)] {
        if let Some(rest) = text.strip_prefix(prefix) {
            return owner_and_repo(text, rest, host);
        }
    }
    let before_slash = text.split('/').next().unwrap_or_default();
    if let Some((user, host)) = before_slash.split_once(':').and_then(|(login, _)| login.split_once('@')) {
        return login(text, user, host);
    }
    // An owner has no dot in its name, a host has.
    if before_slash.contains('.') && text.contains('/') && !before_slash.contains(['@', ':', '#']) {
        return web::parse(&format!("https://{text}"));
    }
    owner_and_repo(text, text, GITHUB)
}

/// `user@host:path`, as ssh knows it.
fn login(text: &str, user: &str, host: &str) -> Result<Source, SourceError> {
    let plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    let (url, reference) = split_reference(text)?;
    let path = url.split_once(':').map_or("", |(_, path)| path);
    if user.starts_with('-') || host.starts_with('-') || path.starts_with('-') {
        return Err(SourceError::Option);
    }
    if !plain(user) || !plain(host) || path.is_empty() {
        return Err(SourceError::Address("it is not user@host:path"));
    }
    Ok(Source::Git { url: url.to_owned(), reference, inner: None, skill: None })
}

fn owner_and_repo(whole: &str, text: &str, host: &str) -> Result<Source, SourceError> {
    let unknown = || SourceError::Unknown(whole.chars().take(200).collect());
    let (text, reference) = split_reference(text)?;
    let mut steps = text.trim_end_matches('/').splitn(3, '/');
    let (Some(owner), Some(repo), inner) = (steps.next(), steps.next(), steps.next()) else {
        return Err(unknown());
    };
    let (repo, skill) = match repo.split_once('@') {
        Some((repo, skill)) if inner.is_none() => (repo, Some(skill_name(skill)?)),
        Some(_) => return Err(unknown()),
        None => (repo, None),
    };
    if !is_owner(owner) || !is_repo(repo) {
        return Err(unknown());
    }
    let inner =
        inner.map(|inner| InnerPath::parse(inner.as_bytes())).transpose().map_err(SourceError::Inner)?;
    Ok(Source::Git { url: format!("{host}{owner}/{repo}"), reference, inner, skill })
}

/// A name that is written as it is compared: letters that only look alike are not put right here.
fn skill_name(text: &str) -> Result<String, SourceError> {
    let name = SkillName::parse(text).map_err(SourceError::Skill)?;
    let same = name.as_str() == text;
    if same { Ok(text.to_owned()) } else { Err(SourceError::Unknown(text.chars().take(200).collect())) }
}

pub(super) fn is_owner(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

pub(super) fn is_repo(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && !text.starts_with('-') && !matches!(text, "." | "..") && text.chars().all(plain)
}

/// What stands before `#`, and the reference after it.
fn split_reference(text: &str) -> Result<(&str, Option<String>), SourceError> {
    match text.split_once('#') {
        Some((before, after)) => Ok((before, Some(reference(after)?))),
        None => Ok((text, None)),
    }
}

/// A name that git could have given to a commit, and that is no option.
pub(super) fn reference(text: &str) -> Result<String, SourceError> {
    let odd = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\#".contains(c);
    let wrong = text.is_empty()
        || text.len() > 255
        || text.starts_with(['-', '/', '.'])
        || text.ends_with(['/', '.'])
        || text.contains("..")
        || text.contains("//")
        || text.contains("@{")
        || text.chars().any(odd);
    if wrong { Err(SourceError::Reference(text.chars().take(200).collect())) } else { Ok(text.to_owned()) }
}

/// A text that is parsed to the same.
pub(super) fn shown(
    url: &str,
    reference: Option<&str>,
    inner: Option<&InnerPath>,
    skill: Option<&str>,
) -> String {
    let short = |host: &str, name: &str| url.strip_prefix(host).map(|path| format!("{name}{path}"));
    let short = || short(GITHUB, "github:").or_else(|| short(GITLAB, "gitlab:"));
    let mut text = match (inner, reference) {
        (Some(inner), Some(reference)) => {
            let middle = if url.starts_with(GITHUB) { "/tree/" } else { "/-/tree/" };
            return [
                url,
                middle,
                &utf8_percent_encode(reference, PART).to_string(),
                "/",
                &utf8_percent_encode(inner.as_str(), PATH).to_string(),
            ]
            .concat();
        }
        (Some(inner), None) => format!("{}/{inner}", short().unwrap_or_else(|| url.to_owned())),
        (None, _) => match (skill, short()) {
            (Some(skill), Some(short)) => format!("{short}@{skill}"),
            _ if url.starts_with("https://") && !web::is_repository(url) => format!("git+{url}"),
            _ => url.to_owned(),
        },
    };
    if let Some(reference) = reference {
        text.push('#');
        text.push_str(reference);
    }
    text
}

/// What stands for itself in one part of a path.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What stands for itself in a path.
const PATH: &AsciiSet = &PART.remove(b'/');
