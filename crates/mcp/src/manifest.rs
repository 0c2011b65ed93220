//! The entry of a skill in the skills extension: its frontmatter and all its files, with digests.
//!
//! Making one reads every file. What was made is kept, and is good as long as the file system says that no file
//! changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use prowess::activate::verbatim_frontmatter;
use prowess::format::hidden::brief;
use prowess::format::{NameRule, SkillName};
use prowess::policy::Policy;
use prowess::resource::{self, Stamp};
use prowess::supply::{OfferedFile, Supplied};
use prowess::{Skill, Snapshot, digest};
use prowess_tools::key;
use serde_json::{Map, Value};

use crate::extension::{self, BYTES_MAX, FILES_MAX, Resources, SkillFile};
use crate::uri;

/// The longest name that the specification allows.
const NAME_MAX: usize = 64;

/// Why a skill is not served through the extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unserved {
    /// The extension takes only skills that keep to the specification.
    #[error("its name {0} is not one that the specification allows")]
    Name(String),
    /// Hosts look for `SKILL.md`.
    #[error("its file is called {0} and not SKILL.md")]
    File(String),
    /// Hosts read the frontmatter themselves, and compare.
    #[error("its frontmatter {0}")]
    Frontmatter(&'static str),
    /// A path that hosts on other systems would take for another one.
    #[error("its file {0} has a backslash in its name")]
    Backslash(String),
    /// There are more files than every host takes.
    #[error("it has {0} files; hosts take {FILES_MAX}")]
    Files(usize),
    /// There are more bytes than every host takes.
    #[error("it has {0} bytes; hosts take {BYTES_MAX}")]
    Bytes(u64),
    /// Its files cannot be read, or are not what they should be.
    #[error("{0}")]
    Closed(String),
}

/// The entries that were made.
#[derive(Debug, Default)]
pub(crate) struct Manifests {
    kept: Mutex<HashMap<String, Kept>>,
}

#[derive(Debug)]
struct Kept {
    stamp: Stamp,
    entry: Arc<extension::Skill>,
}

impl Manifests {
    /// The entry of a skill as it is now.
    pub(crate) fn entry(&self, skill: &Skill, policy: &Policy) -> Result<Arc<extension::Skill>, Unserved> {
        if let Some(supplied) = skill.supplied() {
            return passed_on(skill, supplied, policy).map(Arc::new);
        }
        if !is_allowed(&skill.name()) {
            return Err(Unserved::Name(brief(&skill.name())));
        }
        let file = own_file(skill);
        if file != "SKILL.md" {
            return Err(Unserved::File(brief(&file)));
        }
        let stamp = resource::stamp(skill).map_err(|error| Unserved::Closed(error.to_string()))?;
        let (files, bytes) = stamp.size();
        if files > FILES_MAX {
            return Err(Unserved::Files(files));
        }
        if bytes > BYTES_MAX {
            return Err(Unserved::Bytes(bytes));
        }
        let called = key(skill, policy);
        if let Some(kept) = self.lock().get(&*called)
            && kept.stamp == stamp
            && kept.stamp.is_settled()
        {
            return Ok(Arc::clone(&kept.entry));
        }
        let entry = Arc::new(make(skill, policy)?);
        self.lock().insert(called.into_owned(), Kept { stamp, entry: Arc::clone(&entry) });
        Ok(entry)
    }

    /// Forgets the skills that are gone.
    pub(crate) fn retain(&self, snapshot: &Snapshot) {
        self.lock().retain(|called, _| snapshot.get(called).is_some());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the specification allows a name.
fn is_allowed(name: &str) -> bool {
    SkillName::parse(name).is_ok_and(|name| name.breaks(NameRule::Unicode).is_empty())
        && name.chars().count() <= NAME_MAX
}

/// What the skill's own file is called.
pub(crate) fn own_file(skill: &Skill) -> String {
    let location = skill.location();
    location.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The entry of a skill that comes from another server: as that server lists it, at our own addresses. Nothing is fetched
/// for it; what is read later is verified against it, here and by whoever reads it.
fn passed_on(skill: &Skill, supplied: &Supplied, policy: &Policy) -> Result<extension::Skill, Unserved> {
    let offered = supplied.offered();
    if !skill.is_enabled() {
        return Err(Unserved::Closed(skill.reason().unwrap_or_default()));
    }
    // What had to be told apart by something else than its path has no address that ends in its name.
    let is_last = offered.name.rsplit('/').next() == Some(offered.own_name.as_str());
    if !is_allowed(&offered.own_name) || !is_last {
        return Err(Unserved::Name(brief(&skill.name())));
    }
    let of = |file: &OfferedFile| SkillFile {
        uri: uri::of(skill, policy, &file.path),
        digest: file.digest.clone(),
        size: file.size,
    };
    Ok(extension::Skill {
        uri: uri::of(skill, policy, "SKILL.md"),
        frontmatter: offered.frontmatter.clone(),
        resources: Resources::Listed(offered.files.iter().map(of).collect()),
    })
}

fn make(skill: &Skill, policy: &Policy) -> Result<extension::Skill, Unserved> {
    let material = resource::material(skill).map_err(|error| Unserved::Closed(error.to_string()))?;
    if let Some((path, _)) = material.files().find(|(path, _)| path.contains('\\')) {
        return Err(Unserved::Backslash(brief(path)));
    }
    let of = |(path, file): (&str, &resource::MaterialFile)| SkillFile {
        uri: uri::of(skill, policy, path),
        digest: digest(&file.bytes),
        size: file.bytes.len() as u64,
    };
    let files: Vec<_> = material.files().map(of).collect();
    let source = material.file("SKILL.md").map_err(|error| Unserved::Closed(error.to_string()))?.1;
    Ok(extension::Skill {
        uri: uri::of(skill, policy, "SKILL.md"),
        frontmatter: frontmatter(skill, &source.bytes)?,
        resources: Resources::Listed(files),
    })
}

/// The frontmatter as any other reader has it, with what the extension promises of it.
fn frontmatter(skill: &Skill, source: &[u8]) -> Result<Map<String, Value>, Unserved> {
    let wrong = |what| Err(Unserved::Frontmatter(what));
    let Some(frontmatter) = verbatim_frontmatter(source) else {
        return wrong("is not YAML as others read it; `prowess check` says where");
    };
    let text = |key: &str| frontmatter.get(key).and_then(Value::as_str);
    match (text("name"), text("description")) {
        (None, _) => wrong("has no name that is text"),
        (Some(name), _) if name != skill.name() => wrong("has another name than the skill is known by"),
        (_, description) if description.is_none_or(|text| text.trim().is_empty()) => {
            wrong("has no description that is text")
        }
        _ => Ok(frontmatter),
    }
}
