//! Parses the SOURCE argument of `install`.
//!
//! | form | source |
//! |---|---|
//! | `./dir`, `../dir`, `/dir`, `~/dir`, or any existing name | a directory, or an archive on disk |
//! | `owner/repo`, `owner/repo/path/inside`, `owner/repo@skill`, each with `#ref` | a repository on GitHub |
//! | `github:owner/repo`, `gitlab:owner/repo`, `host.tld/owner/repo` | the same, with an explicit host |
//! | `https://host/owner/repo`, also with `/tree/REF/path`, `/blob/REF/path/SKILL.md`, `/-/tree/REF/path` | a repository |
//! | `ssh://…`, `user@host:path`, `git+https://…`, `git+ssh://…`, `file://…` | a repository |
//! | `https://…` that ends in `.zip`, `.tar.gz`, `.tgz` or `.skill` | an archive |
//! | `https://host`, `https://host/.well-known/agent-skills/index.json` | a site with an index |
//!
//! A file or directory on disk takes precedence over a repository with the same name; `github:owner/repo` is always
//! the repository. A local directory is read as a directory even if it is a repository; use `file://` for the
//! repository. In the URL of a page, the segment after `tree` is the reference; a reference with a slash must be
//! passed as `#ref`.
//!
//! Parsing does not fetch or open anything. Callers decide whether `file://` is allowed.

mod error;
mod git;
mod web;

use std::fmt;
use std::path::{Path, PathBuf};

use prowess_format::hidden;
use url::Url;

use prowess_archive::InnerPath;

pub use error::ParseSourceError;

/// A source of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A repository.
    Git {
        /// The URL, as written, with a lower-case scheme.
        url: String,
        /// A branch, tag or commit; the default branch if `None`.
        reference: Option<String>,
        /// The directory in the repository.
        subdir: Option<InnerPath>,
        /// The name of the skill to install.
        skill: Option<String>,
    },
    /// A local directory. A leading `~` is not expanded yet.
    Directory(PathBuf),
    /// A local archive.
    Archive(PathBuf),
    /// The URL of an archive.
    ArchiveUrl(Url),
    /// A site with an index of skills: the URL of the site or of the index.
    Site(Url),
}

/// The kind of a path on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskEntryKind {
    /// A directory.
    Directory,
    /// Anything else.
    File,
}

/// Parses a source. `exists` returns the kind of a path on disk, which it receives as written.
///
/// ```
/// use prowess_package::source::{Source, parse_source};
///
/// let source = parse_source("owner/repo/skills/pdf#v1", |_| None).unwrap();
/// assert_eq!(source.to_string(), "https://github.com/owner/repo/tree/v1/skills/pdf");
/// assert!(parse_source("ext::sh -c x", |_| None).is_err());
/// ```
pub fn parse_source(
    text: &str,
    exists: impl Fn(&Path) -> Option<DiskEntryKind>,
) -> Result<Source, ParseSourceError> {
    if text.is_empty() {
        return Err(ParseSourceError::Empty);
    }
    if text.starts_with('-') {
        return Err(ParseSourceError::LooksLikeOption);
    }
    if text.chars().any(char::is_control) || hidden::find_hidden(text).is_some() {
        return Err(ParseSourceError::HiddenCharacter);
    }
    if is_path(text) || !text.contains("://") {
        match exists(Path::new(text)) {
            Some(DiskEntryKind::Directory) => return Ok(Source::Directory(text.into())),
            Some(DiskEntryKind::File) => return Ok(local_file(text)),
            None if is_path(text) => return Err(ParseSourceError::Missing(text.into())),
            None => {}
        }
    }
    if text.chars().any(char::is_whitespace) {
        return Err(ParseSourceError::Space);
    }
    // git runs a program with that name for such a URL.
    if text.contains("::") {
        return Err(ParseSourceError::RemoteHelper);
    }
    match text.split_once("://") {
        Some((scheme, _)) => parse_url(text, &scheme.to_ascii_lowercase()),
        None if is_archive(text) && !text.contains(':') => Err(ParseSourceError::Missing(text.into())),
        None => git::parse_short_form(text),
    }
}

fn parse_url(text: &str, scheme: &str) -> Result<Source, ParseSourceError> {
    match scheme {
        "https" => web::parse_https(text),
        "git+https" | "git+ssh" => git::parse_git_url(&text["git+".len()..]),
        "ssh" | "file" => git::parse_git_url(text),
        "http" | "git" | "ftp" | "git+http" => Err(ParseSourceError::Insecure(scheme.to_owned())),
        _ => Err(ParseSourceError::UnsupportedScheme(
            hidden::escape_for_display(scheme).chars().take(40).collect(),
        )),
    }
}

/// Returns `true` if the text can only be a path.
fn is_path(text: &str) -> bool {
    matches!(text, "." | ".." | "~") || ["/", "./", "../", "~/"].iter().any(|prefix| text.starts_with(prefix))
}

/// Returns the source for an existing file. A `SKILL.md` means its directory; any other file is read as an archive.
fn local_file(text: &str) -> Source {
    let path = Path::new(text);
    match path.parent() {
        Some(dir) if path.file_name().is_some_and(|name| name == "SKILL.md") => {
            let is_current_dir = dir.as_os_str().is_empty();
            Source::Directory(if is_current_dir { PathBuf::from(".") } else { dir.to_owned() })
        }
        _ => Source::Archive(path.to_owned()),
    }
}

/// Returns `true` if a name has the extension of an archive.
fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".zip", ".tar.gz", ".tgz", ".skill"].iter().any(|extension| name.ends_with(extension))
}

impl Source {
    /// Returns the source with absolute paths.
    #[must_use]
    pub fn resolved(self, cwd: &Path, home: Option<&Path>) -> Self {
        match self {
            Self::Directory(path) => Self::Directory(absolute_path(&path, cwd, home)),
            Self::Archive(path) => Self::Archive(absolute_path(&path, cwd, home)),
            source => source,
        }
    }
}

/// Makes a path absolute; expands `~` to the home directory.
pub fn absolute_path(path: &Path, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let path = match (path.strip_prefix("~"), home) {
        (Ok(inner), Some(home)) => home.join(inner),
        _ => cwd.join(path),
    };
    // Removes the `.` of `./x`. `..` stays, because the parent depends on symlinks.
    path.components().collect()
}

/// Returns the kind of an existing path.
pub fn kind_on_disk(path: &Path) -> Option<DiskEntryKind> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(if metadata.is_dir() { DiskEntryKind::Directory } else { DiskEntryKind::File })
}

impl fmt::Display for Source {
    /// Formats the source so that it parses to the same source.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) | Self::Archive(path) => write!(f, "{}", path.display()),
            Self::ArchiveUrl(url) | Self::Site(url) => write!(f, "{url}"),
            Self::Git { url, reference, subdir, skill } => f.write_str(&git::format_git_source(
                url,
                reference.as_deref(),
                subdir.as_ref(),
                skill.as_deref(),
            )),
        }
    }
}

#[cfg(test)]
mod tests;
