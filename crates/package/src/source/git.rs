//! Parses repositories from URLs and short forms.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use prowess_format::SkillName;
use url::Url;

use super::{ParseSourceError, Source, web};
use prowess_archive::InnerPath;

const GITHUB: &str = "https://github.com/";
const GITLAB: &str = "https://gitlab.com/";

/// Parses the URL of a repository: `https`, `ssh` or `file`.
pub(super) fn parse_git_url(text: &str) -> Result<Source, ParseSourceError> {
    let (url, reference) = split_reference(text)?;
    let parsed = Url::parse(url).map_err(|_| ParseSourceError::InvalidUrl("it cannot be parsed"))?;
    if parsed.password().is_some() || (parsed.scheme() == "https" && !parsed.username().is_empty()) {
        return Err(ParseSourceError::ContainsSecret);
    }
    if parsed.scheme() != "file" && parsed.host_str().is_none_or(str::is_empty) {
        return Err(ParseSourceError::InvalidUrl("it has no host"));
    }
    // ssh would interpret them as options.
    if parsed.host_str().is_some_and(|host| host.starts_with('-')) || parsed.username().starts_with('-') {
        return Err(ParseSourceError::LooksLikeOption);
    }
    let rest = url.get(parsed.scheme().len()..).unwrap_or_default();
    Ok(Source::Git { url: format!("{}{rest}", parsed.scheme()), reference, subdir: None, skill: None })
}

/// Parses forms without a scheme: `user@host:path`, `owner/repo` and similar ones.
pub(super) fn parse_short_form(text: &str) -> Result<Source, ParseSourceError> {
    for (prefix, host) in [("github:", GITHUB), ("gitlab:", GITLAB)] {
        if let Some(rest) = text.strip_prefix(prefix) {
            return parse_owner_and_repo(text, rest, host);
        }
    }
    let before_slash = text.split('/').next().unwrap_or_default();
    if let Some((user, host)) = before_slash.split_once(':').and_then(|(login, _)| login.split_once('@')) {
        return parse_scp(text, user, host);
    }
    // A host contains a dot, an owner does not.
    if before_slash.contains('.') && text.contains('/') && !before_slash.contains(['@', ':', '#']) {
        return web::parse_https(&format!("https://{text}"));
    }
    parse_owner_and_repo(text, text, GITHUB)
}

fn parse_scp(text: &str, user: &str, host: &str) -> Result<Source, ParseSourceError> {
    let is_plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    let (url, reference) = split_reference(text)?;
    let path = url.split_once(':').map_or("", |(_, path)| path);
    if user.starts_with('-') || host.starts_with('-') || path.starts_with('-') {
        return Err(ParseSourceError::LooksLikeOption);
    }
    if !is_plain(user) || !is_plain(host) || path.is_empty() {
        return Err(ParseSourceError::InvalidUrl("it is not of the form user@host:path"));
    }
    Ok(Source::Git { url: url.to_owned(), reference, subdir: None, skill: None })
}

fn parse_owner_and_repo(full_text: &str, text: &str, host: &str) -> Result<Source, ParseSourceError> {
    let unknown = || ParseSourceError::Unknown(full_text.chars().take(200).collect());
    let (text, reference) = split_reference(text)?;
    let mut parts = text.trim_end_matches('/').splitn(3, '/');
    let (Some(owner), Some(repo), subdir) = (parts.next(), parts.next(), parts.next()) else {
        return Err(unknown());
    };
    let (repo, skill) = match repo.split_once('@') {
        Some((repo, skill)) if subdir.is_none() => (repo, Some(parse_skill_name(skill)?)),
        Some(_) => return Err(unknown()),
        None => (repo, None),
    };
    if !is_owner(owner) || !is_repo(repo) {
        return Err(unknown());
    }
    let subdir = subdir
        .map(|subdir| InnerPath::parse(subdir.as_bytes()))
        .transpose()
        .map_err(ParseSourceError::InvalidPath)?;
    Ok(Source::Git { url: format!("{host}{owner}/{repo}"), reference, subdir, skill })
}

/// Parses the name of a skill. Rejects names that are not normalized.
fn parse_skill_name(text: &str) -> Result<String, ParseSourceError> {
    let name = SkillName::parse(text).map_err(ParseSourceError::InvalidSkillName)?;
    let is_normalized = name.as_str() == text;
    if is_normalized {
        Ok(text.to_owned())
    } else {
        Err(ParseSourceError::Unknown(text.chars().take(200).collect()))
    }
}

pub(super) fn is_owner(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_allowed)
}

pub(super) fn is_repo(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && !text.starts_with('-') && !matches!(text, "." | "..") && text.chars().all(is_allowed)
}

/// Splits a text at `#` into the rest and the reference.
fn split_reference(text: &str) -> Result<(&str, Option<String>), ParseSourceError> {
    match text.split_once('#') {
        Some((before, after)) => Ok((before, Some(parse_reference(after)?))),
        None => Ok((text, None)),
    }
}

/// Validates a reference.
pub(super) fn parse_reference(text: &str) -> Result<String, ParseSourceError> {
    let is_forbidden = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\#".contains(c);
    let is_invalid = text.is_empty()
        || text.len() > 255
        || text.starts_with(['-', '/', '.'])
        || text.ends_with(['/', '.'])
        || text.contains("..")
        || text.contains("//")
        || text.contains("@{")
        || text.chars().any(is_forbidden);
    if is_invalid {
        Err(ParseSourceError::InvalidReference(text.chars().take(200).collect()))
    } else {
        Ok(text.to_owned())
    }
}

/// Formats a repository so that it parses to the same source.
pub(super) fn format_git_source(
    url: &str,
    reference: Option<&str>,
    subdir: Option<&InnerPath>,
    skill: Option<&str>,
) -> String {
    let short = |host: &str, name: &str| url.strip_prefix(host).map(|path| format!("{name}{path}"));
    let short = || short(GITHUB, "github:").or_else(|| short(GITLAB, "gitlab:"));
    let mut text = match (subdir, reference) {
        (Some(subdir), Some(reference)) => {
            let middle = if url.starts_with(GITHUB) { "/tree/" } else { "/-/tree/" };
            return [
                url,
                middle,
                &utf8_percent_encode(reference, SEGMENT).to_string(),
                "/",
                &utf8_percent_encode(subdir.as_str(), PATH).to_string(),
            ]
            .concat();
        }
        (Some(subdir), None) => format!("{}/{subdir}", short().unwrap_or_else(|| url.to_owned())),
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

/// The characters to encode in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters to encode in a path.
const PATH: &AsciiSet = &SEGMENT.remove(b'/');
