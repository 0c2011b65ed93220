//! Parses `https://` URLs: repositories, pages of repositories, archives, sites.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use url::Url;

use super::git::{self, is_owner, is_repo};
use super::{ParseSourceError, Source, is_archive};
use crate::well_known;
use prowess_archive::InnerPath;

pub(super) fn parse_https(text: &str) -> Result<Source, ParseSourceError> {
    // The fragment is the reference of a repository. Archives and indexes have none.
    let (bare, fragment) = text.split_once('#').map_or((text, None), |(bare, after)| (bare, Some(after)));
    let url = Url::parse(bare).map_err(|_| ParseSourceError::InvalidUrl("it cannot be parsed"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ParseSourceError::ContainsSecret);
    }
    let path = url.path();
    // A directory in a repository may have the name of an archive.
    let is_dir = matches!(parse_page(&url, None), Some(Ok(Source::Git { subdir: Some(_), .. })));
    if is_archive(path) && !is_dir {
        return Ok(Source::ArchiveUrl(url));
    }
    if path == "/" && url.query().is_none() || well_known::is_index_url(&url) && !is_dir {
        return Ok(Source::Site(url));
    }
    match parse_page(&url, fragment) {
        Some(result) => result,
        None => git::parse_git_url(text),
    }
}

/// Returns `true` if a URL parses to a repository with the same URL.
pub(super) fn is_repository(text: &str) -> bool {
    matches!(parse_https(text), Ok(Source::Git { url, .. }) if url == text)
}

/// Parses a page of a known host; `None` for other hosts.
fn parse_page(url: &Url, fragment: Option<&str>) -> Option<Result<Source, ParseSourceError>> {
    let segments: Vec<&str> = url.path_segments()?.filter(|segment| !segment.is_empty()).collect();
    if matches!(url.host_str(), Some("github.com" | "www.github.com")) && url.port().is_none() {
        return Some(parse_github_page(&segments, fragment));
    }
    // GitLab on any host.
    let dash = segments.iter().position(|segment| *segment == "-")?;
    let (project, rest) = segments.split_at(dash);
    let mut repository = url.clone();
    repository.set_query(None);
    repository.set_path(&project.join("/"));
    match rest {
        _ if project.len() < 2 => Some(Err(ParseSourceError::UnsupportedPage)),
        [_, kind @ ("tree" | "blob"), reference, inner @ ..] => {
            Some(parse_tree_page(repository.into(), fragment, kind, reference, inner))
        }
        _ => Some(Err(ParseSourceError::UnsupportedPage)),
    }
}

fn parse_github_page(segments: &[&str], fragment: Option<&str>) -> Result<Source, ParseSourceError> {
    let [owner, repo, rest @ ..] = segments else { return Err(ParseSourceError::UnsupportedPage) };
    if !is_owner(owner) || !is_repo(repo) {
        return Err(ParseSourceError::UnsupportedPage);
    }
    let repository = format!("https://github.com/{owner}/{repo}");
    match rest {
        [] => {
            let reference = fragment.map(git::parse_reference).transpose()?;
            Ok(Source::Git { url: repository, reference, subdir: None, skill: None })
        }
        [kind @ ("tree" | "blob"), reference, inner @ ..] => {
            parse_tree_page(repository, fragment, kind, reference, inner)
        }
        _ => Err(ParseSourceError::UnsupportedPage),
    }
}

/// Parses the page of a directory at a reference, or of a `SKILL.md`.
fn parse_tree_page(
    repository: String,
    fragment: Option<&str>,
    kind: &str,
    reference: &str,
    subdir: &[&str],
) -> Result<Source, ParseSourceError> {
    if fragment.is_some() {
        return Err(ParseSourceError::DuplicateReference);
    }
    let subdir = match (kind, subdir) {
        ("tree", subdir) | (_, [subdir @ .., "SKILL.md"]) => subdir,
        _ => return Err(ParseSourceError::NotASkill),
    };
    let reference = Some(git::parse_reference(&percent_decode(reference)?)?);
    let subdir = match subdir {
        [] => None,
        segments => {
            let path = percent_decode(&segments.join("/"))?;
            Some(InnerPath::parse(path.as_bytes()).map_err(ParseSourceError::InvalidPath)?)
        }
    };
    Ok(Source::Git { url: repository, reference, subdir, skill: None })
}

/// Decodes percent-encoded characters.
fn percent_decode(text: &str) -> Result<String, ParseSourceError> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| ParseSourceError::InvalidUrl("its path is not Unicode"))
}
