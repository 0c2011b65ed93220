//! Parses an index.

use std::collections::HashSet;

use prowess_format::{NameRule, SkillName, hidden};
use serde::Deserialize;
use serde_json::Value;
use url::{Host, Url};

use super::{
    INDEX_MAX, IndexArtifact, IndexEntry, IndexEntryError, SCHEMA, SKILLS_MAX, SkillIndex, SkippedEntry,
    WellKnownError,
};
use prowess_archive::InnerPath;
use prowess_archive::limits::FILES_MAX;

/// The limits of the format.
const NAME_MAX: usize = 64;
const DESCRIPTION_MAX: usize = 1_024;

#[derive(Deserialize)]
struct RawIndex {
    #[serde(rename = "$schema")]
    schema: Option<String>,
    skills: Vec<Value>,
}

#[derive(Deserialize)]
struct RawEntry {
    name: String,
    description: String,
}

/// The additional fields in version 0.2.0.
#[derive(Deserialize)]
struct RawArtifact {
    #[serde(rename = "type")]
    kind: String,
    url: String,
    digest: String,
}

/// The additional fields in version 0.1.0.
#[derive(Deserialize)]
struct RawFiles {
    files: Vec<String>,
}

impl SkillIndex {
    /// Parses an index from `url`. URLs in it are relative to `url`. An index without `$schema` has version 0.1.0.
    pub fn parse(bytes: &[u8], url: &Url) -> Result<Self, WellKnownError> {
        if url.scheme() != "https" || !url.username().is_empty() || url.password().is_some() {
            return Err(WellKnownError::NotHttps(url.clone()));
        }
        if bytes.len() as u64 > INDEX_MAX {
            return Err(WellKnownError::IndexTooLarge);
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let raw: RawIndex =
            serde_json::from_slice(bytes).map_err(|error| WellKnownError::Malformed(error.to_string()))?;
        if raw.skills.len() > SKILLS_MAX {
            return Err(WellKnownError::TooManySkills);
        }
        let artifact = match raw.schema.as_deref() {
            Some(SCHEMA) => parse_artifact,
            None => parse_files,
            Some(schema) => return Err(WellKnownError::unknown_schema(schema)),
        };
        let mut index = Self { url: url.clone(), entries: Vec::new(), skipped: Vec::new() };
        let mut names = HashSet::new();
        for value in raw.skills {
            let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
            let name: String = hidden::escape_for_display(name).chars().take(NAME_MAX).collect();
            match parse_entry(value, url, artifact) {
                Ok(entry) if names.insert(entry.name.clone()) => index.entries.push(entry),
                Ok(_) => index.skipped.push(SkippedEntry { name, reason: IndexEntryError::Duplicate }),
                Err(reason) => index.skipped.push(SkippedEntry { name, reason }),
            }
        }
        Ok(index)
    }
}

type ParseArtifact = fn(Value, &SkillName, &Url) -> Result<IndexArtifact, IndexEntryError>;

fn parse_entry(
    value: Value,
    index: &Url,
    parse_artifact: ParseArtifact,
) -> Result<IndexEntry, IndexEntryError> {
    let common: RawEntry = Deserialize::deserialize(&value).map_err(malformed)?;
    let name = SkillName::parse(&common.name).map_err(|_| IndexEntryError::Name)?;
    // Parsing trims the name, but the index must contain it exactly.
    if name.as_str() != common.name
        || name.char_count() > NAME_MAX
        || !name.violations(NameRule::Ascii).is_empty()
    {
        return Err(IndexEntryError::Name);
    }
    let length = common.description.trim().chars().count();
    if length == 0 || length > DESCRIPTION_MAX {
        return Err(IndexEntryError::Description);
    }
    let description = hidden::escape_for_display(common.description.trim()).into_owned();
    let artifact = parse_artifact(value, &name, index)?;
    Ok(IndexEntry { name, description, artifact })
}

fn parse_artifact(value: Value, _: &SkillName, index: &Url) -> Result<IndexArtifact, IndexEntryError> {
    let kind = value.get("type").and_then(Value::as_str);
    if let Some(unknown) = kind.filter(|kind| !matches!(*kind, "skill-md" | "archive")) {
        return Err(IndexEntryError::Type(hidden::escape_for_display(unknown).chars().take(40).collect()));
    }
    let RawArtifact { kind, url, digest } = Deserialize::deserialize(&value).map_err(malformed)?;
    let url = resolve_url(&url, index)?;
    let digits = digest.strip_prefix("sha256:").unwrap_or_default();
    if digits.len() != 64 || !digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(IndexEntryError::Digest);
    }
    let is_archive = kind == "archive";
    Ok(if is_archive {
        IndexArtifact::Archive { url, digest }
    } else {
        IndexArtifact::SkillMd { url, digest }
    })
}

fn resolve_url(text: &str, index: &Url) -> Result<Url, IndexEntryError> {
    let mut url = index.join(text).map_err(|_| IndexEntryError::Url("it cannot be parsed"))?;
    url.set_fragment(None);
    if url.scheme() != "https" {
        return Err(IndexEntryError::Url("it is not https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(IndexEntryError::Url("it contains a user or a password"));
    }
    let is_internal = match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost"
                || name.ends_with(".localhost")
                || name.ends_with(".local")
                || !name.contains('.')
        }
        _ => true,
    };
    if is_internal && url.host() != index.host() {
        return Err(IndexEntryError::Url("it refers to another host that is not public"));
    }
    Ok(url)
}

fn parse_files(value: Value, name: &SkillName, index: &Url) -> Result<IndexArtifact, IndexEntryError> {
    let RawFiles { files } = Deserialize::deserialize(&value).map_err(malformed)?;
    if files.is_empty() || files.len() > FILES_MAX || !files.iter().any(|file| file == "SKILL.md") {
        return Err(IndexEntryError::Files);
    }
    let mut paths = HashSet::new();
    let mut list = Vec::with_capacity(files.len());
    for file in files {
        let shown = || hidden::escape_for_display(&file).chars().take(200).collect();
        let path = InnerPath::parse(file.as_bytes())
            .map_err(|reason| IndexEntryError::File { path: shown(), reason })?;
        if !file.bytes().all(|byte| matches!(byte, b' '..=b'~') && !b"?#[]".contains(&byte)) {
            return Err(IndexEntryError::Character(shown()));
        }
        if !paths.insert(path.as_str().to_ascii_lowercase()) {
            return Err(IndexEntryError::Files);
        }
        let mut url = index.clone();
        url.set_query(None);
        url.set_fragment(None);
        if let Ok(mut segments) = url.path_segments_mut() {
            // Replaces the file name of the index. `extend` percent-encodes, so that the rest can only be a path.
            segments.pop().push(name.as_str()).extend(path.as_str().split('/'));
        }
        list.push((path, url));
    }
    Ok(IndexArtifact::Files(list))
}

fn malformed(error: serde_json::Error) -> IndexEntryError {
    IndexEntryError::Malformed(error.to_string())
}
