//! Safe relative paths from untrusted sources.

use std::fmt;

use prowess_format::hidden;

use crate::limits::{DEPTH_MAX, PATH_MAX};

/// A relative path with `/` that stays inside its directory on every system: no `..`, not absolute, no
/// backslash, no control or hidden characters, nothing in a `.git` directory.
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

/// Why a name is not accepted as a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InnerPathError {
    /// The path is empty.
    #[error("it is empty")]
    Empty,
    /// The path is absolute.
    #[error("it is absolute")]
    Absolute,
    /// A component that goes up or is empty.
    #[error("it has a component “.” or “..”, or an empty one")]
    BadComponent,
    /// A backslash or a colon, which have a special meaning on other systems.
    #[error("it contains a backslash or a colon, which are special on other systems")]
    SpecialChar,
    /// The path is not valid Unicode.
    #[error("it is not Unicode")]
    NotUnicode,
    /// A control or hidden character.
    #[error("it contains a control or hidden character")]
    Hidden,
    /// The path or a name in it is too long.
    #[error("it is longer than {PATH_MAX} bytes, or a name in it is longer than 255")]
    TooLong,
    /// The path has too many components.
    #[error("it is nested deeper than {DEPTH_MAX} directories")]
    TooDeep,
    /// A name that is special on another system: a device, the home directory, or an alias of another file.
    #[error("it contains a name that is a device, a home directory or another file on other systems")]
    Reserved,
    /// A path in a `.git` directory, under any name that file systems accept for it.
    #[error("it is in a .git directory")]
    Git,
}

impl InnerPath {
    /// Validates a path.
    pub fn parse(raw: &[u8]) -> Result<Self, InnerPathError> {
        let text = std::str::from_utf8(raw).map_err(|_| InnerPathError::NotUnicode)?;
        if text.is_empty() {
            return Err(InnerPathError::Empty);
        }
        if text.starts_with('/') {
            return Err(InnerPathError::Absolute);
        }
        if text.contains(['\\', ':']) {
            return Err(InnerPathError::SpecialChar);
        }
        if text.chars().any(char::is_control) || hidden::find_hidden(text).is_some() {
            return Err(InnerPathError::Hidden);
        }
        if text.len() > PATH_MAX {
            return Err(InnerPathError::TooLong);
        }
        for (depth, component) in text.split('/').enumerate() {
            match component {
                "" | "." | ".." => return Err(InnerPathError::BadComponent),
                component if component.len() > 255 => return Err(InnerPathError::TooLong),
                component if is_git_dir(component) => return Err(InnerPathError::Git),
                component if is_reserved(component, depth) => return Err(InnerPathError::Reserved),
                _ if depth > DEPTH_MAX => return Err(InnerPathError::TooDeep),
                _ => {}
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the path, with `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InnerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns `true` for Windows devices with any extension, names whose end Windows drops, and names that a shell
/// expands to a home directory.
fn is_reserved(name: &str, depth: usize) -> bool {
    const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = port.is_some_and(|digit| matches!(digit.as_bytes(), [b'1'..=b'9']));
    let home = name.strip_prefix('~').is_some_and(|user| {
        user.is_empty() || (depth == 0 && user.starts_with(|c: char| c.is_ascii_alphanumeric()))
    });
    DEVICES.contains(&stem.as_str()) || is_port || name.ends_with(['.', ' ']) || home
}

/// Returns `true` for names of a `.git` directory. Some file systems ignore case and trailing dots and spaces.
fn is_git_dir(name: &str) -> bool {
    let bare = name.trim_end_matches(['.', ' ']);
    bare.eq_ignore_ascii_case(".git") || bare.eq_ignore_ascii_case("git~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn unsafe_paths_are_rejected() {
        let rejected = |raw: &[u8]| InnerPath::parse(raw).map(|path| path.0).unwrap_err();
        assert_eq!(rejected(b""), InnerPathError::Empty);
        assert_eq!(rejected(b"/etc/passwd"), InnerPathError::Absolute);
        for step in [&b"../x"[..], b"a/../b", b"a//b", b"a/", b"./a", b"."] {
            assert_eq!(rejected(step), InnerPathError::BadComponent);
        }
        assert_eq!(rejected(b"C:/x"), InnerPathError::SpecialChar);
        assert_eq!(rejected(b"a\\b"), InnerPathError::SpecialChar);
        assert_eq!(rejected(b"a\xff"), InnerPathError::NotUnicode);
        assert_eq!(rejected(b"a\0"), InnerPathError::Hidden);
        assert_eq!(rejected("a\u{202e}b".as_bytes()), InnerPathError::Hidden);
        assert_eq!(rejected(&[b'a'; 256]), InnerPathError::TooLong);
        assert_eq!(rejected(&b"a/".repeat(600)[..1_199]), InnerPathError::TooLong);
        assert_eq!(rejected(&b"a/".repeat(18)[..35]), InnerPathError::TooDeep);
        for git in [&b".git/config"[..], b"a/.GIT/x", b".git. /x", b"git~1"] {
            assert_eq!(rejected(git), InnerPathError::Git);
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
            assert_eq!(rejected(name.as_bytes()), InnerPathError::Reserved, "{name}");
        }
        for name in
            ["console", "com", "com0", "lpt10", "x.y", "a~", "~$notes.docx", "a/~b", "auxiliary.md", ".con"]
        {
            assert!(InnerPath::parse(name.as_bytes()).is_ok(), "{name}");
        }
        assert!(InnerPath::parse(b".github/x").is_ok() && InnerPath::parse(b".gitignore").is_ok());
    }

    proptest! {
        /// Joined to any directory, the path stays inside it.
        #[test]
        fn accepted_paths_have_only_normal_components(raw in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(path) = InnerPath::parse(&raw) {
                let plain = |step: std::path::Component<'_>| matches!(step, std::path::Component::Normal(_));
                prop_assert!(std::path::Path::new(path.as_str()).components().all(plain));
            }
        }
    }
}
