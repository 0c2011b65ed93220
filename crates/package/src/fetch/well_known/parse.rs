//! The index, entry by entry.

use std::collections::HashSet;

use prowess_format::{NameRule, SkillName, hidden};
use serde::Deserialize;
use serde_json::Value;
use url::{Host, Url};

use super::{
    Artifact, EntryError, INDEX_MAX, Index, IndexEntry, SCHEMA, SKILLS_MAX, Skipped, WellKnownError,
};
use prowess_archive::InnerPath;
use prowess_archive::limits::FILES_MAX;

/// The format's own limits.
const NAME_MAX: usize = 64;
const DESCRIPTION_MAX: usize = 1_024;

#[derive(Deserialize)]
struct Raw {
    #[serde(rename = "$schema")]
    schema: Option<String>,
    skills: Vec<Value>,
}

#[derive(Deserialize)]
struct Common {
    name: String,
    description: String,
}

/// Of version 0.2.0.
#[derive(Deserialize)]
struct One {
    #[serde(rename = "type")]
    kind: String,
    url: String,
    digest: String,
}

/// Of version 0.1.0.
#[derive(Deserialize)]
struct Many {
    files: Vec<String>,
}

impl Index {
    /// Reads an index that came from `url`, to which everything in it is relative. Without a `$schema` it is one of
    /// version 0.1.0.
    pub fn parse(bytes: &[u8], url: &Url) -> Result<Self, WellKnownError> {
        if url.scheme() != "https" || !url.username().is_empty() || url.password().is_some() {
            return Err(WellKnownError::Plain(url.clone()));
        }
        if bytes.len() as u64 > INDEX_MAX {
            return Err(WellKnownError::TooLarge);
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let raw: Raw =
            serde_json::from_slice(bytes).map_err(|error| WellKnownError::Malformed(error.to_string()))?;
        if raw.skills.len() > SKILLS_MAX {
            return Err(WellKnownError::TooMany);
        }
        let artifact = match raw.schema.as_deref() {
            Some(SCHEMA) => one,
            None => many,
            Some(other) => return Err(WellKnownError::schema(other)),
        };
        let mut index = Self { url: url.clone(), entries: Vec::new(), skipped: Vec::new() };
        let mut names = HashSet::new();
        for value in raw.skills {
            let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
            let name: String = hidden::shown(name).chars().take(NAME_MAX).collect();
            match entry(value, url, artifact) {
                Ok(entry) if names.insert(entry.name.clone()) => index.entries.push(entry),
                Ok(_) => index.skipped.push(Skipped { name, why: EntryError::Twice }),
                Err(why) => index.skipped.push(Skipped { name, why }),
            }
        }
        Ok(index)
    }
}

type ToArtifact = fn(Value, &SkillName, &Url) -> Result<Artifact, EntryError>;

fn entry(value: Value, index: &Url, artifact: ToArtifact) -> Result<IndexEntry, EntryError> {
    let common: Common = Deserialize::deserialize(&value).map_err(malformed)?;
    let name = SkillName::parse(&common.name).map_err(|_| EntryError::Name)?;
    // The name must be as it is written: parsing trims.
    if name.as_str() != common.name || name.length() > NAME_MAX || !name.breaks(NameRule::Ascii).is_empty() {
        return Err(EntryError::Name);
    }
    let length = common.description.trim().chars().count();
    if length == 0 || length > DESCRIPTION_MAX {
        return Err(EntryError::Description);
    }
    let description = hidden::shown(common.description.trim()).into_owned();
    let artifact = artifact(value, &name, index)?;
    Ok(IndexEntry { name, description, artifact })
}

fn one(value: Value, _: &SkillName, index: &Url) -> Result<Artifact, EntryError> {
    let kind = value.get("type").and_then(Value::as_str);
    if let Some(other) = kind.filter(|kind| !matches!(*kind, "skill-md" | "archive")) {
        return Err(EntryError::Type(hidden::shown(other).chars().take(40).collect()));
    }
    let One { kind, url, digest } = Deserialize::deserialize(&value).map_err(malformed)?;
    let url = address(&url, index)?;
    let digits = digest.strip_prefix("sha256:").unwrap_or_default();
    if digits.len() != 64 || !digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(EntryError::Digest);
    }
    let is_archive = kind == "archive";
    Ok(if is_archive { Artifact::Archive { url, digest } } else { Artifact::SkillMd { url, digest } })
}

/// An address in an index, relative to it.
fn address(text: &str, index: &Url) -> Result<Url, EntryError> {
    let mut url = index.join(text).map_err(|_| EntryError::Address("it is not a URL"))?;
    url.set_fragment(None);
    if url.scheme() != "https" {
        return Err(EntryError::Address("it is not https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EntryError::Address("it has a user or a password in it"));
    }
    let inside = match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost"
                || name.ends_with(".localhost")
                || name.ends_with(".local")
                || !name.contains('.')
        }
        _ => true,
    };
    if inside && url.host() != index.host() {
        return Err(EntryError::Address("it is on another host, which is not a public one"));
    }
    Ok(url)
}

fn many(value: Value, name: &SkillName, index: &Url) -> Result<Artifact, EntryError> {
    let Many { files } = Deserialize::deserialize(&value).map_err(malformed)?;
    if files.is_empty() || files.len() > FILES_MAX || !files.iter().any(|file| file == "SKILL.md") {
        return Err(EntryError::Files);
    }
    let mut seen = HashSet::new();
    let mut list = Vec::with_capacity(files.len());
    for file in files {
        let shown = || hidden::shown(&file).chars().take(200).collect();
        let path =
            InnerPath::parse(file.as_bytes()).map_err(|why| EntryError::File { path: shown(), why })?;
        if !file.bytes().all(|byte| matches!(byte, b' '..=b'~') && !b"?#[]".contains(&byte)) {
            return Err(EntryError::Character(shown()));
        }
        if !seen.insert(path.as_str().to_ascii_lowercase()) {
            return Err(EntryError::Files);
        }
        let mut url = index.clone();
        url.set_query(None);
        url.set_fragment(None);
        if let Ok(mut steps) = url.path_segments_mut() {
            // The index's own name goes, and the rest is written so that it cannot be read as anything but a path.
            steps.pop().push(name.as_str()).extend(path.as_str().split('/'));
        }
        list.push((path, url));
    }
    Ok(Artifact::Files(list))
}

fn malformed(error: serde_json::Error) -> EntryError {
    EntryError::Malformed(error.to_string())
}
