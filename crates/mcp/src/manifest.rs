//! The entries of skills in the skills extension: the frontmatter and all files with digests.
//!
//! Building an entry reads every file. Entries are cached as long as the metadata of all files is unchanged.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use prowess::activation::verbatim_frontmatter;
use prowess::format::hidden::escape_and_truncate;
use prowess::format::{NameRule, SkillName};
use prowess::remote::{RemoteFile, RemoteSkill};
use prowess::resources::{self, SkillStamp};
use prowess::{Skill, SkillKey, Snapshot, digest};
use serde_json::{Map, Value};

use crate::extension::{self, BYTES_MAX, FILES_MAX, SkillFileEntry, SkillResources};
use crate::uri;

/// The maximum length of a name in the specification.
const NAME_MAX: usize = 64;

/// The reason why a skill is not served through the extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotServedReason {
    /// The name violates the specification.
    #[error("its name {0} violates the specification")]
    Name(String),
    /// The manifest is not named `SKILL.md`, which hosts require.
    #[error("its manifest is named {0}, not SKILL.md")]
    ManifestName(String),
    /// Hosts parse the frontmatter themselves and compare it.
    #[error("its frontmatter {0}")]
    Frontmatter(&'static str),
    /// A path that other systems interpret differently.
    #[error("the path {0} contains a backslash")]
    Backslash(String),
    #[error("it has {0} files; the limit is {FILES_MAX}")]
    TooManyFiles(usize),
    /// The files are too large.
    #[error("it has {0} bytes; the limit is {BYTES_MAX}")]
    TooLarge(u64),
    /// The files cannot be read, or do not match the lock file.
    #[error("{0}")]
    Unavailable(String),
}

#[derive(Debug, Default)]
pub(crate) struct EntryCache {
    entries: Mutex<HashMap<SkillKey, CachedEntry>>,
}

#[derive(Debug)]
struct CachedEntry {
    stamp: SkillStamp,
    entry: Arc<extension::SkillEntry>,
}

impl EntryCache {
    /// Returns the current entry of a skill.
    pub(crate) fn entry(&self, skill: &Skill) -> Result<Arc<extension::SkillEntry>, NotServedReason> {
        if let Some(remote) = skill.remote() {
            return build_remote_entry(skill, remote).map(Arc::new);
        }
        if !is_allowed(&skill.name()) {
            return Err(NotServedReason::Name(escape_and_truncate(&skill.name())));
        }
        let file = manifest_file_name(skill);
        if file != "SKILL.md" {
            return Err(NotServedReason::ManifestName(escape_and_truncate(&file)));
        }
        let stamp =
            resources::stamp_skill(skill).map_err(|error| NotServedReason::Unavailable(error.to_string()))?;
        let (files, bytes) = stamp.size();
        if files > FILES_MAX {
            return Err(NotServedReason::TooManyFiles(files));
        }
        if bytes > BYTES_MAX {
            return Err(NotServedReason::TooLarge(bytes));
        }
        let key = skill.key();
        if let Some(cached) = self.lock().get(key)
            && cached.stamp == stamp
            && cached.stamp.is_settled()
        {
            return Ok(Arc::clone(&cached.entry));
        }
        let entry = Arc::new(build_entry(skill)?);
        self.lock().insert(key.clone(), CachedEntry { stamp, entry: Arc::clone(&entry) });
        Ok(entry)
    }

    /// Removes skills that no longer exist.
    pub(crate) fn retain(&self, snapshot: &Snapshot) {
        self.lock().retain(|key, _| snapshot.get(key).is_some());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SkillKey, CachedEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `true` if the specification allows the name.
fn is_allowed(name: &str) -> bool {
    SkillName::parse(name).is_ok_and(|name| name.violations(NameRule::Unicode).is_empty())
        && name.chars().count() <= NAME_MAX
}

/// Returns the file name of the skill's manifest.
pub(crate) fn manifest_file_name(skill: &Skill) -> String {
    let location = skill.skill_md_path();
    location.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Builds the entry of a skill from another server: the entry of that server, with our URIs. Nothing is fetched;
/// files that are read later are verified against it.
fn build_remote_entry(skill: &Skill, remote: &RemoteSkill) -> Result<extension::SkillEntry, NotServedReason> {
    let offered = remote.entry();
    if !skill.is_enabled() {
        return Err(NotServedReason::Unavailable(skill.reason().unwrap_or_default()));
    }
    // A name that was made unique with a suffix has no URI that ends in the name of the skill.
    let is_last = offered.name.rsplit('/').next() == Some(offered.frontmatter_name.as_str());
    if !is_allowed(&offered.frontmatter_name) || !is_last {
        return Err(NotServedReason::Name(escape_and_truncate(&skill.name())));
    }
    let file_entry = |file: &RemoteFile| SkillFileEntry {
        uri: uri::file_uri(skill, &file.path),
        digest: file.digest.clone(),
        size: file.size,
    };
    Ok(extension::SkillEntry {
        uri: uri::file_uri(skill, "SKILL.md"),
        frontmatter: offered.frontmatter.clone(),
        resources: SkillResources::Listed(offered.files.iter().map(file_entry).collect()),
    })
}

fn build_entry(skill: &Skill) -> Result<extension::SkillEntry, NotServedReason> {
    let skill_files = resources::read_skill_files(skill)
        .map_err(|error| NotServedReason::Unavailable(error.to_string()))?;
    if let Some((path, _)) = skill_files.files().find(|(path, _)| path.contains('\\')) {
        return Err(NotServedReason::Backslash(escape_and_truncate(path)));
    }
    let file_entry = |(path, file): (&str, &resources::LoadedFile)| SkillFileEntry {
        uri: uri::file_uri(skill, path),
        digest: digest(&file.bytes),
        size: file.bytes.len() as u64,
    };
    let files: Vec<_> = skill_files.files().map(file_entry).collect();
    let source =
        skill_files.file("SKILL.md").map_err(|error| NotServedReason::Unavailable(error.to_string()))?.1;
    Ok(extension::SkillEntry {
        uri: uri::file_uri(skill, "SKILL.md"),
        frontmatter: read_frontmatter(skill, &source.bytes)?,
        resources: SkillResources::Listed(files),
    })
}

/// Returns the frontmatter as other parsers read it, after checking the requirements of the extension.
fn read_frontmatter(skill: &Skill, source: &[u8]) -> Result<Map<String, Value>, NotServedReason> {
    let invalid = |reason| Err(NotServedReason::Frontmatter(reason));
    let Some(frontmatter) = verbatim_frontmatter(source) else {
        return invalid("is not valid YAML; run `prowess check` to see the location");
    };
    let text = |key: &str| frontmatter.get(key).and_then(Value::as_str);
    match (text("name"), text("description")) {
        (None, _) => invalid("has no name that is a string"),
        (Some(name), _) if name != skill.name() => invalid("has another name than the skill"),
        (_, description) if description.is_none_or(|text| text.trim().is_empty()) => {
            invalid("has no description that is a string")
        }
        _ => Ok(frontmatter),
    }
}
