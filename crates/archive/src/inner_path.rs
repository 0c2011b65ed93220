//! A path inside a skill, as strangers write it, made safe to use as one.

use std::fmt;

use prowess_format::hidden;

use crate::limits::{DEPTH_MAX, PATH_MAX};

/// A relative path with `/` that stays where it begins, on every system: no `..`, nothing absolute, no backslash, no
/// control or hidden character, nothing of git's.
///
/// ```
/// use prowess_archive::InnerPath;
///
/// assert_eq!(InnerPath::parse(b"scripts/run.sh").unwrap().as_str(), "scripts/run.sh");
/// assert!(InnerPath::parse(b"../x").is_err());
/// assert!(InnerPath::parse(b"C:\\x").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InnerPath(String);

/// Why a name is not taken as a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Not a name at all.
    #[error("it is empty")]
    Empty,
    /// From the top of a file system.
    #[error("it is absolute")]
    Absolute,
    /// With a step upwards, or one that means nothing.
    #[error("it has a step of “.”, “..” or nothing")]
    Step,
    /// A backslash, or a colon, which mean more elsewhere.
    #[error("it has a backslash or a colon, which other systems take for more than a letter")]
    Foreign,
    /// Not text.
    #[error("it is not Unicode")]
    NotUnicode,
    /// Characters that cannot be seen.
    #[error("it has a control or hidden character")]
    Hidden,
    /// Longer than any skill needs.
    #[error("it is longer than {PATH_MAX} bytes, or a name in it than 255")]
    Long,
    /// Deeper than any skill needs.
    #[error("it lies deeper than {DEPTH_MAX} folders")]
    Deep,
    /// A name that another system gives a meaning of its own: a device, the home directory, or another file.
    #[error("it has a name that other systems take for a device, a home directory or another file")]
    Reserved,
    /// A part of git's own folder, under any of the names that file systems take for it.
    #[error("it belongs to a .git folder")]
    Git,
}

impl InnerPath {
    /// Takes a name for a path, if it is safe.
    pub fn parse(raw: &[u8]) -> Result<Self, PathError> {
        let text = std::str::from_utf8(raw).map_err(|_| PathError::NotUnicode)?;
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.starts_with('/') {
            return Err(PathError::Absolute);
        }
        if text.contains(['\\', ':']) {
            return Err(PathError::Foreign);
        }
        if text.chars().any(char::is_control) || hidden::first(text).is_some() {
            return Err(PathError::Hidden);
        }
        if text.len() > PATH_MAX {
            return Err(PathError::Long);
        }
        for (depth, step) in text.split('/').enumerate() {
            match step {
                "" | "." | ".." => return Err(PathError::Step),
                step if step.len() > 255 => return Err(PathError::Long),
                step if is_git(step) => return Err(PathError::Git),
                step if is_reserved(step, depth) => return Err(PathError::Reserved),
                _ if depth > DEPTH_MAX => return Err(PathError::Deep),
                _ => {}
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// The path, with `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InnerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Devices of Windows, with any ending; names whose end Windows drops; and what a shell takes for a home directory.
fn is_reserved(step: &str, depth: usize) -> bool {
    const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
    let stem = step.split('.').next().unwrap_or(step).trim_end().to_ascii_lowercase();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = port.is_some_and(|digit| matches!(digit.as_bytes(), [b'1'..=b'9']));
    let home = step.strip_prefix('~').is_some_and(|user| {
        user.is_empty() || (depth == 0 && user.starts_with(|c: char| c.is_ascii_alphanumeric()))
    });
    DEVICES.contains(&stem.as_str()) || is_port || step.ends_with(['.', ' ']) || home
}

/// Some file systems ignore case and what stands at the end of a name.
fn is_git(step: &str) -> bool {
    let bare = step.trim_end_matches(['.', ' ']);
    bare.eq_ignore_ascii_case(".git") || bare.eq_ignore_ascii_case("git~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_leads_elsewhere_is_refused() {
        let refused = |raw: &[u8]| InnerPath::parse(raw).map(|path| path.0).unwrap_err();
        assert_eq!(refused(b""), PathError::Empty);
        assert_eq!(refused(b"/etc/passwd"), PathError::Absolute);
        for step in [&b"../x"[..], b"a/../b", b"a//b", b"a/", b"./a", b"."] {
            assert_eq!(refused(step), PathError::Step);
        }
        assert_eq!(refused(b"C:/x"), PathError::Foreign);
        assert_eq!(refused(b"a\\b"), PathError::Foreign);
        assert_eq!(refused(b"a\xff"), PathError::NotUnicode);
        assert_eq!(refused(b"a\0"), PathError::Hidden);
        assert_eq!(refused("a\u{202e}b".as_bytes()), PathError::Hidden);
        assert_eq!(refused(&[b'a'; 256]), PathError::Long);
        assert_eq!(refused(&b"a/".repeat(600)[..1_199]), PathError::Long);
        assert_eq!(refused(&b"a/".repeat(18)[..35]), PathError::Deep);
        for git in [&b".git/config"[..], b"a/.GIT/x", b".git. /x", b"git~1"] {
            assert_eq!(refused(git), PathError::Git);
        }
        for name in [
            "CON",
            "a/con.txt",
            "Aux.md",
            "lpt1",
            "COM9.x",
            "nul ",
            "x.",
            "a./b",
            "x ",
            "~",
            "a/~",
            "~root/x",
        ] {
            assert_eq!(refused(name.as_bytes()), PathError::Reserved, "{name}");
        }
        for name in
            ["console", "com", "com0", "lpt10", "x.y", "a~", "~$notes.docx", "a/~b", "auxiliary.md", ".con"]
        {
            assert!(InnerPath::parse(name.as_bytes()).is_ok(), "{name}");
        }
        assert!(InnerPath::parse(b".github/x").is_ok() && InnerPath::parse(b".gitignore").is_ok());
    }

    proptest! {
        /// Joined to any folder, it stays in it.
        #[test]
        fn it_never_leaves(raw in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(path) = InnerPath::parse(&raw) {
                let plain = |step: std::path::Component<'_>| matches!(step, std::path::Component::Normal(_));
                prop_assert!(std::path::Path::new(path.as_str()).components().all(plain));
            }
        }
    }
}
