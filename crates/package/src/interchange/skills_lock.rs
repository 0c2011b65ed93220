//! `skills-lock.json` version 1: the skills that another installer added to a project, and their sources.
//!
//! Its hash joins paths and contents without separators, so that different trees can have the same hash. It is
//! recorded, but not used for verification.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;

use prowess_archive::InnerPath;
use prowess_archive::limits::FILES_MAX;

/// The name of the file.
pub const FILE_NAME: &str = "skills-lock.json";

/// The maximum size of the file in bytes.
pub const LOCK_MAX: u64 = 4 * 1024 * 1024;

/// A skill in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillsLockEntry {
    /// The name.
    pub name: String,
    /// The source: `owner/repo`, a path or a host.
    pub source: String,
    /// The kind of the source.
    pub source_type: SourceType,
    /// The full URL, if the file contains it.
    pub source_url: Option<String>,
    /// The branch, tag or commit.
    pub reference: Option<String>,
    /// The directory in the source.
    pub skill_path: Option<InnerPath>,
    /// The hash that the other installer computed.
    pub computed_hash: Option<String>,
}

/// The kind of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceType {
    /// `owner/repo` on GitHub.
    Github,
    /// `owner/repo` on GitLab.
    Gitlab,
    /// A git repository.
    Git,
    /// A site with an index.
    WellKnown,
    /// A local directory.
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

impl SkillsLockEntry {
    /// Returns the source for `prowess install`.
    pub fn install_source(&self) -> Cow<'_, str> {
        match (&self.source_url, self.source_type) {
            (Some(url), _) => Cow::Borrowed(url),
            // A short form without a prefix means GitHub.
            (None, SourceType::Gitlab) if !self.source.contains(':') => {
                Cow::Owned(format!("gitlab:{}", self.source))
            }
            (None, _) => Cow::Borrowed(&self.source),
        }
    }
}

/// The reason why the file was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadSkillsLockError {
    /// The file does not exist, is not a regular file, or is too large.
    #[error("it cannot be read or is larger than {LOCK_MAX} bytes")]
    Unreadable,
    /// The file is not JSON.
    #[error("invalid JSON: {0}")]
    Json(String),
    /// The version is not supported.
    #[error("unsupported version {0}; only version 1 is supported")]
    Version(String),
    /// A value is invalid.
    #[error("{path} {problem}")]
    InvalidValue {
        /// The path of the value, such as `skills.pdf.source`.
        path: String,
        /// The problem, to follow the path.
        problem: String,
    },
}

/// Reads the file.
pub fn read_skills_lock(path: &Path) -> Result<Vec<SkillsLockEntry>, ReadSkillsLockError> {
    parse_skills_lock(&prowess::read_bounded(path, LOCK_MAX).ok_or(ReadSkillsLockError::Unreadable)?)
}

/// Parses the file and returns its skills by name. Unknown keys are ignored.
pub fn parse_skills_lock(bytes: &[u8]) -> Result<Vec<SkillsLockEntry>, ReadSkillsLockError> {
    let lock: Value =
        serde_json::from_slice(bytes).map_err(|error| ReadSkillsLockError::Json(error.to_string()))?;
    let invalid = |path: &str, problem: &str| ReadSkillsLockError::InvalidValue {
        path: path.to_owned(),
        problem: problem.to_owned(),
    };
    let lock = lock.as_object().ok_or_else(|| invalid("the file", "is not an object"))?;
    match lock.get("version") {
        None => return Err(invalid("version", "is missing")),
        Some(version) if version.as_u64() == Some(1) => {}
        Some(version) => {
            return Err(ReadSkillsLockError::Version(version.to_string().chars().take(40).collect()));
        }
    }
    let skills = lock.get("skills").ok_or_else(|| invalid("skills", "is missing"))?;
    let skills = skills.as_object().ok_or_else(|| invalid("skills", "is not an object"))?;
    if skills.len() > FILES_MAX {
        return Err(invalid("skills", &format!("has more than {FILES_MAX} entries")));
    }
    skills.iter().map(|(name, entry)| parse_entry(name, entry)).collect()
}

fn parse_entry(name: &str, entry: &Value) -> Result<SkillsLockEntry, ReadSkillsLockError> {
    let value_path = |key: &str| {
        let name: String = prowess_format::hidden::escape_for_display(name).chars().take(80).collect();
        if key.is_empty() { format!("skills.{name}") } else { format!("skills.{name}.{key}") }
    };
    let invalid =
        |key: &str, problem: String| ReadSkillsLockError::InvalidValue { path: value_path(key), problem };
    // The name becomes the name of a directory.
    if InnerPath::parse(name.as_bytes()).is_err() || name.contains('/') || name.starts_with('.') {
        return Err(invalid("", "is not a valid skill name".to_owned()));
    }
    let entry = entry.as_object().ok_or_else(|| invalid("", "is not an object".to_owned()))?;
    let text = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.chars().any(char::is_control) => {
            Err(invalid(key, "contains a control character".to_owned()))
        }
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(invalid(key, "is not a string".to_owned())),
    };
    let required = |key: &str| text(key)?.ok_or_else(|| invalid(key, "is missing".to_owned()));
    let kind = required("sourceType")?;
    let source_type = SourceType::parse(&kind)
        .ok_or_else(|| invalid("sourceType", format!("has the unknown value {kind:?}")))?;
    Ok(SkillsLockEntry {
        name: name.to_owned(),
        source: required("source")?,
        source_type,
        source_url: text("sourceUrl")?,
        reference: text("ref")?,
        skill_path: match text("skillPath")? {
            Some(path) => parse_skill_dir(&path).map_err(|problem| invalid("skillPath", problem))?,
            None => None,
        },
        computed_hash: text("computedHash")?,
    })
}

/// Returns the directory of a skill; some files contain the path of `SKILL.md`. `None` for the root of the source.
fn parse_skill_dir(path: &str) -> Result<Option<InnerPath>, String> {
    let path = path.trim_end_matches('/').trim_start_matches("./");
    let dir = match path.rsplit_once('/') {
        Some((dir, "SKILL.md")) => dir,
        None if matches!(path, "SKILL.md" | "." | "") => return Ok(None),
        _ => path,
    };
    InnerPath::parse(dir.as_bytes()).map(Some).map_err(|error| format!("is not a valid path: {error}"))
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
    fn version_1_is_parsed() {
        let skills = parse_skills_lock(LOCK.as_bytes()).unwrap();
        let own = SkillsLockEntry {
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
        let gitlab = SkillsLockEntry { source_url: None, source_type: SourceType::Gitlab, ..own.clone() };
        assert_eq!(gitlab.install_source(), "gitlab:u/r");
        assert_eq!(skills[1].skill_path.as_ref().map(InnerPath::as_str), Some("skills/pdf"));
        assert_eq!(parse_skills_lock(br#"{"version":1,"skills":{}}"#), Ok(Vec::new()));
    }

    #[test]
    fn errors_name_the_invalid_value() {
        let message = |text: &str| parse_skills_lock(text.as_bytes()).unwrap_err().to_string();
        let entry = |entry: &str| message(&format!(r#"{{"version":1,"skills":{{"a":{entry}}}}}"#));
        assert!(message("{").starts_with("invalid JSON: "));
        assert_eq!(message("[]"), "the file is not an object");
        assert_eq!(message("{}"), "version is missing");
        assert_eq!(message(r#"{"version":3}"#), "unsupported version 3; only version 1 is supported");
        assert_eq!(message(r#"{"version":"1"}"#), "unsupported version \"1\"; only version 1 is supported");
        assert_eq!(message(r#"{"version":1}"#), "skills is missing");
        assert_eq!(message(r#"{"version":1,"skills":[]}"#), "skills is not an object");
        assert_eq!(entry("3"), "skills.a is not an object");
        assert_eq!(entry("{}"), "skills.a.sourceType is missing");
        assert_eq!(entry(r#"{"sourceType":"ftp"}"#), "skills.a.sourceType has the unknown value \"ftp\"");
        assert_eq!(entry(r#"{"sourceType":"git"}"#), "skills.a.source is missing");
        assert_eq!(entry(r#"{"sourceType":"git","source":1}"#), "skills.a.source is not a string");
        let outside = entry(r#"{"sourceType":"git","source":"x","skillPath":"../x"}"#);
        assert!(outside.starts_with("skills.a.skillPath is not a valid path"), "{outside}");
        for name in ["../a", "a/b", "", ".hidden", "a\\u001b"] {
            assert!(
                message(&format!(r#"{{"version":1,"skills":{{"{name}":{{}}}}}}"#))
                    .ends_with("is not a valid skill name")
            );
        }
        assert!(message(&"[".repeat(10_000)).starts_with("invalid JSON"));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_skills_lock(&bytes);
        }
    }
}
