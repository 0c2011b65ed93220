//! A folder of skills to a tree that any web server can serve.

use std::path::{Path, PathBuf};

use prowess_fs::{EntryKind, Folder, words};
use serde::Serialize;

use super::{PackError, collect, readable, unwritten, write, zip};
use crate::TreeFailure;
use crate::fetch::well_known::{PLACES, SCHEMA, SKILLS_MAX};

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// The index.
    pub index: PathBuf,
    /// The skills in it, by name.
    pub skills: Vec<PublishedSkill>,
}

/// One entry of the index that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedSkill {
    /// Its name.
    pub name: String,
    /// `skill-md` or `archive`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it says of itself.
    pub description: String,
    /// Where, from the index.
    pub url: String,
    /// The digest of the bytes there.
    pub digest: String,
}

#[derive(Serialize)]
struct Written<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    skills: &'a [PublishedSkill],
}

/// Makes the tree of a site out of a folder of skills: below `site`, `.well-known/agent-skills/` with `index.json`,
/// `NAME/SKILL.md` for a skill that is nothing else, and `NAME.zip` for the others, with the skill's folder as its top.
/// Addresses are relative to the index, so that the tree can be served from anywhere.
///
/// Every skill must load: one that does not is an error, and then nothing is written. The index is written last. What
/// an earlier run left is replaced; of a skill that is gone, the file stays and the index does not speak of it.
pub fn publish(folder: &Path, site: &Path) -> Result<Published, PackError> {
    let mut artifacts = Vec::new();
    for folder in folders(folder)? {
        artifacts.push(artifact(&folder)?);
    }
    if artifacts.is_empty() {
        return Err(PackError::Nothing(folder.to_owned()));
    }
    artifacts.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some([first, _]) = artifacts.array_windows().find(|[a, b]| a.name == b.name) {
        return Err(PackError::Twice(first.name.clone()));
    }
    let place = site.join(PLACES[0]);
    let top = place.parent().unwrap_or(site);
    for artifact in &artifacts {
        let path = top.join(&artifact.url);
        let folder = path.parent().unwrap_or(top);
        std::fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
        write(&path, &artifact.bytes)?;
    }
    write(&place, &index(&artifacts))?;
    Ok(Published { index: place, skills: artifacts.iter().map(Artifact::told).collect() })
}

/// A skill as one file: its `SKILL.md` where that is all, else an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The skill.
    pub name: String,
    /// What it says of itself.
    pub description: String,
    /// `skill-md` or `archive`.
    pub kind: &'static str,
    /// Where it lies, from the index.
    pub url: String,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// Its entry in the index.
    pub fn told(&self) -> PublishedSkill {
        PublishedSkill {
            name: self.name.clone(),
            kind: self.kind,
            description: self.description.clone(),
            url: self.url.clone(),
            digest: prowess::digest(&self.bytes),
        }
    }
}

/// A skill's folder as one file. It must load.
pub fn artifact(folder: &Path) -> Result<Artifact, PackError> {
    let skill = collect::skill(folder)?;
    let (kind, url, bytes) = match &skill.files[..] {
        [only] => ("skill-md", format!("{}/SKILL.md", skill.name), only.bytes.clone()),
        files => {
            let bytes = zip::write(files, "");
            readable(&bytes)?;
            ("archive", format!("{}.zip", skill.name), bytes)
        }
    };
    Ok(Artifact { name: skill.name, description: skill.description, kind, url, bytes })
}

/// The index of these, as it is served.
pub fn index(artifacts: &[Artifact]) -> Vec<u8> {
    let skills: Vec<PublishedSkill> = artifacts.iter().map(Artifact::told).collect();
    let written = Written { schema: SCHEMA, skills: &skills };
    // It has no maps with keys that JSON does not take, which is all that could fail.
    let mut json = serde_json::to_vec_pretty(&written).unwrap_or_default();
    json.push(b'\n');
    json
}

/// The folders right below one that have a `SKILL.md`.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, PackError> {
    let failed = |error| {
        let message = format!("{} cannot be read: {}", folder.display(), words(error)).into();
        TreeFailure { code: prowess_archive::code(error), message }
    };
    let open = Folder::open(folder).map_err(failed)?;
    let entries = open.entries(SKILLS_MAX).map_err(failed)?;
    if entries.cut {
        return Err(PackError::TooLarge(folder.to_owned()));
    }
    let is_skill = |name: &Path| open.stat(&name.join("SKILL.md")).is_ok();
    let found = entries.list.iter().filter(|entry| entry.kind == EntryKind::Folder);
    let found = found.map(|entry| Path::new(&*entry.name)).filter(|name| is_skill(name));
    Ok(found.map(|name| folder.join(name)).collect())
}
