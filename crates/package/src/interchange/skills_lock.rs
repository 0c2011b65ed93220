//! `skills-lock.json` version 1: what another installer put into a project, and from where.
//!
//! Its hash joins paths and bytes without separators, so that different trees can have the same one: it is kept, and not
//! relied on.

use std::path::Path;

use serde_json::Value;

use prowess_archive::InnerPath;
use prowess_archive::limits::FILES_MAX;

/// The name of the file.
pub const FILE_NAME: &str = "skills-lock.json";

/// The largest file that is read.
pub const LOCK_MAX: u64 = 4 * 1024 * 1024;

/// A skill of the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedSkill {
    /// Its name.
    pub name: String,
    /// Where it came from, as the lock has it: `owner/repo`, a path, a host.
    pub source: String,
    /// What kind of source that is.
    pub source_type: SourceType,
    /// The whole address, where the lock has it.
    pub source_url: Option<String>,
    /// The branch, tag or commit.
    pub reference: Option<String>,
    /// The folder in the source.
    pub skill_path: Option<InnerPath>,
    /// The hash that the other installer computed.
    pub computed_hash: Option<String>,
}

/// What kind of source a skill came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceType {
    /// `owner/repo` on GitHub.
    Github,
    /// `owner/repo` on GitLab.
    Gitlab,
    /// Any repository.
    Git,
    /// A site with an index.
    WellKnown,
    /// A folder.
    Local,
}

impl SourceType {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "github" => Self::Github,
            "gitlab" => Self::Gitlab,
            "git" => Self::Git,
            "well-known" => Self::WellKnown,
            "local" => Self::Local,
            _ => return None,
        })
    }
}

impl LockedSkill {
    /// The source in the words of `prowess install`.
    pub fn install_source(&self) -> &str {
        self.source_url.as_deref().unwrap_or(&self.source)
    }
}

/// Why a lock was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// It is not there, not a regular file, or too large.
    #[error("it cannot be read, or has more than {LOCK_MAX} bytes")]
    Unreadable,
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Json(String),
    /// Of a version that is not known here.
    #[error("it has version {0}; only version 1 is known")]
    Version(String),
    /// Not of the form of version 1.
    #[error("{at} {why}")]
    Form {
        /// Where: `skills.pdf.source`.
        at: String,
        /// What is wrong, to follow it.
        why: String,
    },
}

/// Reads a lock.
pub fn read(path: &Path) -> Result<Vec<LockedSkill>, LockError> {
    parse(&prowess::read_bounded(path, LOCK_MAX).ok_or(LockError::Unreadable)?)
}

/// The skills of a lock, by name. Keys that are not known are left out: others may add some.
pub fn parse(bytes: &[u8]) -> Result<Vec<LockedSkill>, LockError> {
    let lock: Value = serde_json::from_slice(bytes).map_err(|error| LockError::Json(error.to_string()))?;
    let form = |at: &str, why: &str| LockError::Form { at: at.to_owned(), why: why.to_owned() };
    let lock = lock.as_object().ok_or_else(|| form("the lock", "is no object"))?;
    match lock.get("version") {
        None => return Err(form("version", "is missing")),
        Some(version) if version.as_u64() == Some(1) => {}
        Some(version) => return Err(LockError::Version(version.to_string().chars().take(40).collect())),
    }
    let skills = lock.get("skills").ok_or_else(|| form("skills", "is missing"))?;
    let skills = skills.as_object().ok_or_else(|| form("skills", "is no object"))?;
    if skills.len() > FILES_MAX {
        return Err(form("skills", &format!("has more than {FILES_MAX} entries")));
    }
    skills.iter().map(|(name, entry)| skill(name, entry)).collect()
}

fn skill(name: &str, entry: &Value) -> Result<LockedSkill, LockError> {
    let place = |key: &str| {
        let name: String = prowess_format::hidden::shown(name).chars().take(80).collect();
        if key.is_empty() { format!("skills.{name}") } else { format!("skills.{name}.{key}") }
    };
    let form = |key: &str, why: String| LockError::Form { at: place(key), why };
    // It becomes the name of a folder.
    if InnerPath::parse(name.as_bytes()).is_err() || name.contains('/') || name.starts_with('.') {
        return Err(form("", "is no name for a skill".to_owned()));
    }
    let entry = entry.as_object().ok_or_else(|| form("", "is no object".to_owned()))?;
    let text = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.chars().any(char::is_control) => {
            Err(form(key, "has a control character".to_owned()))
        }
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(form(key, "is no text".to_owned())),
    };
    let needed = |key: &str| text(key)?.ok_or_else(|| form(key, "is missing".to_owned()));
    let kind = needed("sourceType")?;
    let source_type = SourceType::parse(&kind)
        .ok_or_else(|| form("sourceType", format!("is {kind:?}, which is not known")))?;
    Ok(LockedSkill {
        name: name.to_owned(),
        source: needed("source")?,
        source_type,
        source_url: text("sourceUrl")?,
        reference: text("ref")?,
        skill_path: match text("skillPath")? {
            Some(path) => folder(&path).map_err(|why| form("skillPath", why))?,
            None => None,
        },
        computed_hash: text("computedHash")?,
    })
}

/// The folder of a skill; some locks name the file in it. `None` for the top of the source.
fn folder(path: &str) -> Result<Option<InnerPath>, String> {
    let path = path.trim_end_matches('/').trim_start_matches("./");
    let folder = match path.rsplit_once('/') {
        Some((folder, "SKILL.md")) => folder,
        None if matches!(path, "SKILL.md" | "." | "") => return Ok(None),
        _ => path,
    };
    InnerPath::parse(folder.as_bytes()).map(Some).map_err(|error| format!("leads elsewhere: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LOCK: &str = r#"{"version": 1, "skills": {
        "pdf": {"source": "anthropics/skills", "sourceType": "github", "skillPath": "skills/pdf/SKILL.md",
                "computedHash": "abc", "later": true},
        "own": {"source": "u/r", "sourceUrl": "https://git.example.com/u/r.git", "sourceType": "git", "ref": "v1",
                "skillPath": "SKILL.md", "computedHash": ""}}}"#;

    #[test]
    fn version_1() {
        let skills = parse(LOCK.as_bytes()).unwrap();
        let own = LockedSkill {
            name: "own".to_owned(),
            source: "u/r".to_owned(),
            source_type: SourceType::Git,
            source_url: Some("https://git.example.com/u/r.git".to_owned()),
            reference: Some("v1".to_owned()),
            skill_path: None,
            computed_hash: None,
        };
        assert_eq!(skills[0], own);
        assert_eq!(own.install_source(), "https://git.example.com/u/r.git");
        assert_eq!(skills[1].install_source(), "anthropics/skills");
        assert_eq!(skills[1].skill_path.as_ref().map(InnerPath::as_str), Some("skills/pdf"));
        assert_eq!(parse(br#"{"version":1,"skills":{}}"#), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_said_by_its_place() {
        let told = |text: &str| parse(text.as_bytes()).unwrap_err().to_string();
        let entry = |entry: &str| told(&format!(r#"{{"version":1,"skills":{{"a":{entry}}}}}"#));
        assert!(told("{").starts_with("it is not JSON: "));
        assert_eq!(told("[]"), "the lock is no object");
        assert_eq!(told("{}"), "version is missing");
        assert_eq!(told(r#"{"version":3}"#), "it has version 3; only version 1 is known");
        assert_eq!(told(r#"{"version":"1"}"#), "it has version \"1\"; only version 1 is known");
        assert_eq!(told(r#"{"version":1}"#), "skills is missing");
        assert_eq!(told(r#"{"version":1,"skills":[]}"#), "skills is no object");
        assert_eq!(entry("3"), "skills.a is no object");
        assert_eq!(entry("{}"), "skills.a.sourceType is missing");
        assert_eq!(entry(r#"{"sourceType":"ftp"}"#), "skills.a.sourceType is \"ftp\", which is not known");
        assert_eq!(entry(r#"{"sourceType":"git"}"#), "skills.a.source is missing");
        assert_eq!(entry(r#"{"sourceType":"git","source":1}"#), "skills.a.source is no text");
        let outside = entry(r#"{"sourceType":"git","source":"x","skillPath":"../x"}"#);
        assert!(outside.starts_with("skills.a.skillPath leads elsewhere"), "{outside}");
        for name in ["../a", "a/b", "", ".hidden", "a\\u001b"] {
            assert!(
                told(&format!(r#"{{"version":1,"skills":{{"{name}":{{}}}}}}"#))
                    .ends_with("is no name for a skill")
            );
        }
        assert!(told(&"[".repeat(10_000)).starts_with("it is not JSON"));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
    }
}
