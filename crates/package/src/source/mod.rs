//! What stands after `install`, made into a place to get skills from.
//!
//! | form | is |
//! |---|---|
//! | `./folder`, `../folder`, `/folder`, `~/folder`, or any name that is there | a folder, or an archive on disk |
//! | `owner/repo`, `owner/repo/path/inside`, `owner/repo@skill`, each with `#ref` | a repository on GitHub |
//! | `github:owner/repo`, `gitlab:owner/repo`, `host.tld/owner/repo` | the same, with the host named |
//! | `https://host/owner/repo`, also with `/tree/REF/path`, `/blob/REF/path/SKILL.md`, `/-/tree/REF/path` | a repository |
//! | `ssh://…`, `user@host:path`, `git+https://…`, `git+ssh://…`, `file://…` | a repository |
//! | `https://…` that ends in `.zip`, `.tar.gz`, `.tgz` or `.skill` | an archive |
//! | `https://host`, `https://host/.well-known/agent-skills/index.json` | a site with an index |
//!
//! What is there on disk comes before a repository of the same name: write `github:owner/repo` to mean that one. A
//! local folder is a folder even if it is a repository; `file://` makes it one. In the address of a page the step after
//! `tree` is the reference; one with a slash in it is given as `#ref`.
//!
//! Nothing is fetched or opened here, and nothing is decided: whether `file://` is allowed is for whoever asks.

mod error;
mod git;
mod web;

use std::fmt;
use std::path::{Path, PathBuf};

use prowess_format::hidden;
use url::Url;

use prowess_archive::InnerPath;

pub use error::SourceError;

/// Where skills come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A repository.
    Git {
        /// Its address, as it was written, with a scheme in small letters.
        url: String,
        /// A branch, tag or commit; the remote's own choice where there is none.
        reference: Option<String>,
        /// Only what lies there.
        inner: Option<InnerPath>,
        /// Only the skill of this name.
        skill: Option<String>,
    },
    /// A folder on this machine. A `~` in front is still there.
    Folder(PathBuf),
    /// An archive on this machine.
    Archive(PathBuf),
    /// An archive somewhere else.
    ArchiveUrl(Url),
    /// A site that has an index of skills: the site, or the index itself.
    Site(Url),
}

/// What is there on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// Anything else.
    File,
}

/// Takes what a user wrote for a source. `exists` says what is there on disk; it is asked for the path as written.
///
/// ```
/// use prowess_package::source::{Source, parse};
///
/// let source = parse("owner/repo/skills/pdf#v1", |_| None).unwrap();
/// assert_eq!(source.to_string(), "https://github.com/owner/repo/tree/v1/skills/pdf");
/// assert!(parse("ext::sh -c x", |_| None).is_err());
/// ```
pub fn parse(text: &str, exists: impl Fn(&Path) -> Option<Kind>) -> Result<Source, SourceError> {
    if text.is_empty() {
        return Err(SourceError::Empty);
    }
    if text.starts_with('-') {
        return Err(SourceError::Option);
    }
    if text.chars().any(char::is_control) || hidden::first(text).is_some() {
        return Err(SourceError::Hidden);
    }
    if is_path(text) || !text.contains("://") {
        match exists(Path::new(text)) {
            Some(Kind::Folder) => return Ok(Source::Folder(text.into())),
            Some(Kind::File) => return Ok(on_disk(text)),
            None if is_path(text) => return Err(SourceError::Missing(text.into())),
            None => {}
        }
    }
    if text.chars().any(char::is_whitespace) {
        return Err(SourceError::Space);
    }
    // git runs a program of that name for such an address.
    if text.contains("::") {
        return Err(SourceError::Helper);
    }
    match text.split_once("://") {
        Some((scheme, _)) => address(text, &scheme.to_ascii_lowercase()),
        None if is_archive(text) && !text.contains(':') => Err(SourceError::Missing(text.into())),
        None => git::short(text),
    }
}

/// What has a scheme.
fn address(text: &str, scheme: &str) -> Result<Source, SourceError> {
    match scheme {
        "https" => web::parse(text),
        "git+https" | "git+ssh" => git::parse(&text["git+".len()..]),
        "ssh" | "file" => git::parse(text),
        "http" | "git" | "ftp" | "git+http" => Err(SourceError::Plain(scheme.to_owned())),
        _ => Err(SourceError::Scheme(hidden::shown(scheme).chars().take(40).collect())),
    }
}

/// Whether it can only be meant as a path.
fn is_path(text: &str) -> bool {
    matches!(text, "." | ".." | "~") || ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start))
}

/// A `SKILL.md` stands for its folder; whatever else is a file is taken for an archive, which its bytes will tell.
fn on_disk(text: &str) -> Source {
    let path = Path::new(text);
    match path.parent() {
        Some(folder) if path.file_name().is_some_and(|name| name == "SKILL.md") => {
            let here = folder.as_os_str().is_empty();
            Source::Folder(if here { PathBuf::from(".") } else { folder.to_owned() })
        }
        _ => Source::Archive(path.to_owned()),
    }
}

/// Whether a name ends as archives do.
fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".zip", ".tar.gz", ".tgz", ".skill"].iter().any(|end| name.ends_with(end))
}

impl Source {
    /// The same with paths that mean the same from everywhere.
    #[must_use]
    pub fn resolved(self, here: &Path, home: Option<&Path>) -> Self {
        match self {
            Self::Folder(path) => Self::Folder(absolute(&path, here, home)),
            Self::Archive(path) => Self::Archive(absolute(&path, here, home)),
            source => source,
        }
    }
}

/// A path as it was written, from the top: `~` stands for the home.
pub fn absolute(path: &Path, here: &Path, home: Option<&Path>) -> PathBuf {
    let whole = match (path.strip_prefix("~"), home) {
        (Ok(inner), Some(home)) => home.join(inner),
        _ => here.join(path),
    };
    // Without the `.` of `./x`; `..` stays, since what is above depends on links.
    whole.components().collect()
}

/// What is there on disk.
pub fn kind_on_disk(path: &Path) -> Option<Kind> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(if metadata.is_dir() { Kind::Folder } else { Kind::File })
}

impl fmt::Display for Source {
    /// A text that is parsed to the same source.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) | Self::Archive(path) => write!(f, "{}", path.display()),
            Self::ArchiveUrl(url) | Self::Site(url) => write!(f, "{url}"),
            Self::Git { url, reference, inner, skill } => {
                f.write_str(&git::shown(url, reference.as_deref(), inner.as_ref(), skill.as_deref()))
            }
        }
    }
}

#[cfg(test)]
mod tests;
