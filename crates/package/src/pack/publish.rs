//! A folder of skills to a tree that any web server can serve.

use std::path::{Path, PathBuf};

use prowess::contained::{EntryKind, Folder, words};
use serde::Serialize;

use super::{PackError, collect, readable, write, zip};
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
    let mut skills = Vec::new();
    for folder in folders(folder)? {
        skills.push(collect::skill(&folder)?);
    }
    if skills.is_empty() {
        return Err(PackError::Nothing(folder.to_owned()));
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some([first, _]) = skills.array_windows().find(|[a, b]| a.name == b.name) {
        return Err(PackError::Twice(first.name.clone()));
    }
    let mut artifacts = Vec::new();
    for skill in &skills {
        artifacts.push(artifact(skill)?);
    }

    let index = site.join(PLACES[0]);
    let top = index.parent().unwrap_or(site);
    let mut published = Vec::new();
    for (skill, (kind, url, bytes)) in skills.into_iter().zip(artifacts) {
        let path = top.join(&url);
        write::folder(path.parent().unwrap_or(top))?;
        write::whole(&path, &bytes)?;
        let digest = prowess::digest(&bytes);
        published.push(PublishedSkill {
            name: skill.name,
            kind,
            description: skill.description,
            url,
            digest,
        });
    }
    let written = Written { schema: SCHEMA, skills: &published };
    let json = serde_json::to_string_pretty(&written)
        .map_err(|error| PackError::Write { path: index.clone(), why: error.to_string() })?;
    write::whole(&index, format!("{json}\n").as_bytes())?;
    Ok(Published { index, skills: published })
}

/// The kind of a skill's one file, where it lies, and its bytes.
fn artifact(skill: &collect::Skill) -> Result<(&'static str, String, Vec<u8>), PackError> {
    if let [only] = &skill.files[..] {
        return Ok(("skill-md", format!("{}/SKILL.md", skill.name), only.bytes.clone()));
    }
    let bytes = zip::write(&skill.files, "");
    readable(&bytes)?;
    Ok(("archive", format!("{}.zip", skill.name), bytes))
}

/// The folders right below one that have a `SKILL.md`.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, PackError> {
    let failed = |error| {
        let message = format!("{} cannot be read: {}", folder.display(), words(error)).into();
        TreeFailure { code: crate::fetch::tree::code(error), message }
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
