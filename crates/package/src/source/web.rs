//! `https://` addresses: repositories, pages about them, archives, sites.

use url::Url;

use super::git::{self, is_owner, is_repo};
use super::{Source, SourceError, is_archive};
use crate::well_known;
use prowess_archive::InnerPath;

pub(super) fn parse(text: &str) -> Result<Source, SourceError> {
    // An archive or an index has no parts to point to; to a repository it is the reference, as it is written.
    let (bare, fragment) = text.split_once('#').map_or((text, None), |(bare, after)| (bare, Some(after)));
    let url = Url::parse(bare).map_err(|_| SourceError::Address("it is not a URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SourceError::Secret);
    }
    let path = url.path();
    // A folder in a repository may be called like an archive.
    let is_folder = matches!(page(&url, None), Some(Ok(Source::Git { inner: Some(_), .. })));
    if is_archive(path) && !is_folder {
        return Ok(Source::ArchiveUrl(url));
    }
    if path == "/" && url.query().is_none() || well_known::is_index(&url) && !is_folder {
        return Ok(Source::Site(url));
    }
    match page(&url, fragment) {
        Some(found) => found,
        None => git::parse(text),
    }
}

/// Whether an address is taken for a repository as it stands.
pub(super) fn is_repository(text: &str) -> bool {
    matches!(parse(text), Ok(Source::Git { url, .. }) if url == text)
}

/// A page of a host whose addresses are known. `None` for the rest.
fn page(url: &Url, fragment: Option<&str>) -> Option<Result<Source, SourceError>> {
    let steps: Vec<&str> = url.path_segments()?.filter(|step| !step.is_empty()).collect();
    if matches!(url.host_str(), Some("github.com" | "www.github.com")) && url.port().is_none() {
        return Some(github(&steps, fragment));
    }
    // GitLab, wherever it runs.
    let dash = steps.iter().position(|step| *step == "-")?;
    let (project, rest) = steps.split_at(dash);
    let mut repository = url.clone();
    repository.set_query(None);
    repository.set_path(&project.join("/"));
    match rest {
        _ if project.len() < 2 => Some(Err(SourceError::Page)),
        [_, kind @ ("tree" | "blob"), reference, inner @ ..] => {
            Some(folder(repository.into(), fragment, kind, reference, inner))
        }
        _ => Some(Err(SourceError::Page)),
    }
}

fn github(steps: &[&str], fragment: Option<&str>) -> Result<Source, SourceError> {
    let [owner, repo, rest @ ..] = steps else { return Err(SourceError::Page) };
    if !is_owner(owner) || !is_repo(repo) {
        return Err(SourceError::Page);
    }
    let repository = format!("https://github.com/{owner}/{repo}");
    match rest {
        [] => {
            let reference = fragment.map(git::reference).transpose()?;
            Ok(Source::Git { url: repository, reference, inner: None, skill: None })
        }
        [kind @ ("tree" | "blob"), reference, inner @ ..] => {
            folder(repository, fragment, kind, reference, inner)
        }
        _ => Err(SourceError::Page),
    }
}

/// A folder at a reference, or the folder of a `SKILL.md`.
fn folder(
    repository: String,
    fragment: Option<&str>,
    kind: &str,
    reference: &str,
    inner: &[&str],
) -> Result<Source, SourceError> {
    if fragment.is_some() {
        return Err(SourceError::TwoReferences);
    }
    let inner = match (kind, inner) {
        ("tree", inner) | (_, [inner @ .., "SKILL.md"]) => inner,
        _ => return Err(SourceError::NotASkill),
    };
    let reference = Some(git::reference(&decoded(reference)?)?);
    let inner = match inner {
        [] => None,
        steps => {
            let path = decoded(&steps.join("/"))?;
            Some(InnerPath::parse(path.as_bytes()).map_err(SourceError::Inner)?)
        }
    };
    Ok(Source::Git { url: repository, reference, inner, skill: None })
}

/// A text without `%20` and the like.
fn decoded(text: &str) -> Result<String, SourceError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.extend(u8::try_from(high * 16 + low));
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| SourceError::Address("its path is not Unicode"))
}
