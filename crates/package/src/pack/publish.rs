//! Publishes a directory of skills as a tree for any web server.

use std::path::{Path, PathBuf};

use prowess_fs::{Dir, EntryKind, describe_errno};
use serde::Serialize;

use super::{PackError, check_readable, collect, write_error, write_file, zip};
use crate::SourceReadError;
use crate::fetch::well_known::{INDEX_PATHS, SCHEMA, SKILLS_MAX};

/// A published site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedSite {
    /// The path of the index.
    pub index: PathBuf,
    /// The skills in the index, by name.
    pub skills: Vec<PublishedSkill>,
}

/// An entry of the written index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedSkill {
    /// The name.
    pub name: String,
    /// `skill-md` or `archive`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The description.
    pub description: String,
    /// The URL, relative to the index.
    pub url: String,
    /// The digest of the file.
    pub digest: String,
}

#[derive(Serialize)]
struct IndexFile<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    skills: &'a [PublishedSkill],
}

/// Creates the tree of a site from a directory of skills: below `site`, `.well-known/agent-skills/` with
/// `index.json`, `NAME/SKILL.md` for a skill with no other files, and `NAME.zip` for the others, with the files of
/// the skill at its root. URLs are relative to the index, so that the tree can be served from anywhere.
///
/// All skills must be valid; otherwise nothing is written. The index is written last. Files of an earlier run are
/// replaced. The file of a removed skill stays, but the index no longer contains it.
pub fn publish_site(dir: &Path, site: &Path) -> Result<PublishedSite, PackError> {
    let mut artifacts = Vec::new();
    for dir in skill_dirs(dir)? {
        artifacts.push(build_artifact(&dir)?);
    }
    if artifacts.is_empty() {
        return Err(PackError::NoSkills(dir.to_owned()));
    }
    artifacts.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some([first, _]) = artifacts.array_windows().find(|[a, b]| a.name == b.name) {
        return Err(PackError::DuplicateName(first.name.clone()));
    }
    let index_path = site.join(INDEX_PATHS[0]);
    let root = index_path.parent().unwrap_or(site);
    for artifact in &artifacts {
        let path = root.join(&artifact.url);
        let dir = path.parent().unwrap_or(root);
        std::fs::create_dir_all(dir).map_err(|error| write_error(dir, &error))?;
        write_file(&path, &artifact.bytes)?;
    }
    write_file(&index_path, &build_index(&artifacts))?;
    Ok(PublishedSite {
        index: index_path,
        skills: artifacts.iter().map(SkillArtifact::index_entry).collect(),
    })
}

/// A skill as one file: its `SKILL.md` if there are no other files, else an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillArtifact {
    /// The name of the skill.
    pub name: String,
    /// The description.
    pub description: String,
    /// `skill-md` or `archive`.
    pub kind: &'static str,
    /// The URL, relative to the index.
    pub url: String,
    /// The contents of the file.
    pub bytes: Vec<u8>,
}

impl SkillArtifact {
    /// Returns the entry in the index.
    pub fn index_entry(&self) -> PublishedSkill {
        PublishedSkill {
            name: self.name.clone(),
            kind: self.kind,
            description: self.description.clone(),
            url: self.url.clone(),
            digest: prowess::digest(&self.bytes),
        }
    }
}

/// Packs a skill's directory into one file. The skill must be valid.
pub fn build_artifact(dir: &Path) -> Result<SkillArtifact, PackError> {
    let skill = collect::collect_skill(dir)?;
    let (kind, url, bytes) = match &skill.files[..] {
        [only] => ("skill-md", format!("{}/SKILL.md", skill.name), only.bytes.clone()),
        files => {
            let bytes = zip::write_zip(files, "");
            check_readable(&bytes)?;
            ("archive", format!("{}.zip", skill.name), bytes)
        }
    };
    Ok(SkillArtifact { name: skill.name, description: skill.description, kind, url, bytes })
}

/// Returns the index of these skills as JSON.
pub fn build_index(artifacts: &[SkillArtifact]) -> Vec<u8> {
    let skills: Vec<PublishedSkill> = artifacts.iter().map(SkillArtifact::index_entry).collect();
    let index = IndexFile { schema: SCHEMA, skills: &skills };
    // Serializing cannot fail: there are no maps with invalid keys.
    let mut json = serde_json::to_vec_pretty(&index).unwrap_or_default();
    json.push(b'\n');
    json
}

/// Returns the direct subdirectories that contain a `SKILL.md`.
fn skill_dirs(dir: &Path) -> Result<Vec<PathBuf>, PackError> {
    let failed = |error| {
        let message = format!("cannot read {}: {}", dir.display(), describe_errno(error)).into();
        SourceReadError { code: prowess_archive::errno_to_code(error), message }
    };
    let opened = Dir::open(dir).map_err(failed)?;
    let entries = opened.entries(SKILLS_MAX).map_err(failed)?;
    if entries.truncated {
        return Err(PackError::TooLarge(dir.to_owned()));
    }
    let is_skill = |name: &Path| opened.stat(&name.join("SKILL.md")).is_ok();
    let names = entries.entries.iter().filter(|entry| entry.kind == EntryKind::Dir);
    let names = names.map(|entry| Path::new(&*entry.name)).filter(|name| is_skill(name));
    Ok(names.map(|name| dir.join(name)).collect())
}
