//! Extracting texts and version keys from skills. Only this module and the router use snapshots.

use std::path::Path;

use prowess_format::Manifest;
use prowess_format::fence::{Extent, FenceSearch, find_fences};

use super::index::checksum;
use super::index_cache::{Collection, SkillVersion};
use super::text::{BODY_MAX, SkillTexts, truncate};
use super::words::mix;
use prowess::{Skill, Snapshot};

/// Returns the texts of a skill to index. A body that cannot be read is empty.
pub(super) fn skill_texts(skill: &Skill) -> SkillTexts {
    let source = skill.read_skill_md().unwrap_or_default();
    let body = match find_fences(&source, Extent::Whole) {
        FenceSearch::Found(fences) => source.get(fences.body..).unwrap_or_default(),
        FenceSearch::Missing
        | FenceSearch::Unclosed { .. }
        | FenceSearch::TooLong { .. }
        | FenceSearch::NeedMore => &[],
    };
    SkillTexts {
        name: skill.name().into_owned(),
        about: skill.manifest().map(about_text).unwrap_or_default(),
        body: body_text(body),
    }
}

impl SkillTexts {
    /// Returns the texts of a skill that need not be in a registry, such as one that is being written.
    pub fn from_manifest(manifest: &Manifest, body: &[u8]) -> Self {
        Self { name: manifest.name().to_string(), about: about_text(manifest), body: body_text(body) }
    }
}

/// Returns the part of the instructions that is indexed.
fn body_text(body: &[u8]) -> String {
    let body = body.get(..BODY_MAX + 4).unwrap_or(body);
    truncate(&String::from_utf8_lossy(body), BODY_MAX).to_owned()
}

/// Returns description, tags and triggers, one per line, because they do not form one sentence.
fn about_text(manifest: &Manifest) -> String {
    let triggers = manifest.triggers();
    let keywords = triggers.iter().flat_map(|triggers| triggers.keywords.iter().chain(&triggers.verbs));
    let words =
        manifest.when_to_use().into_iter().chain(manifest.tags()).chain(keywords.map(|keyword| &**keyword));
    words.fold(manifest.description().to_owned(), |about, word| about + "\n" + word)
}

/// Returns the text to embed for a skill: its name, description, tags and triggers. Does not read its file.
pub(super) fn summary(skill: &Skill) -> String {
    let about = skill.manifest().map(about_text).unwrap_or_default();
    format!("{}\n{about}", skill.name())
}

/// Creates the collection of these skills. The index calls `texts` when it needs them.
pub(super) fn collection<'s>(
    snapshot: &Snapshot,
    skills: &[&Skill],
    texts: &'s (dyn Fn(usize) -> SkillTexts + Sync),
) -> Collection<'s> {
    Collection {
        id: collection_id(snapshot),
        skills: skills.iter().map(|skill| skill_version(skill)).collect(),
        texts,
    }
}

/// Returns the identifier of a snapshot's collection, which depends on its roots.
pub(super) fn collection_id(snapshot: &Snapshot) -> u64 {
    let sum = |sum: u64, root: &Path| mix(sum ^ checksum(root.as_os_str().as_encoded_bytes()));
    snapshot.roots().fold(0, |sums, root| sum(sums, root.path()))
}

/// Returns the version of a skill. It changes with the path or the fingerprint of the file, and is never 0. For
/// skills that are not on disk, it depends on name and description.
fn skill_version(skill: &Skill) -> SkillVersion {
    let mut sum = checksum(skill.relative_dir().as_os_str().as_encoded_bytes());
    sum = mix(sum ^ checksum(skill.root().path().as_os_str().as_encoded_bytes()));
    for number in skill.fingerprint().to_numbers() {
        sum = mix(sum.rotate_left(7) ^ number);
    }
    let on_disk = skill.root().is_dir();
    if !on_disk {
        sum = mix(sum
            ^ checksum(skill.name().as_bytes())
            ^ checksum(skill.description().as_bytes()).rotate_left(9));
    }
    SkillVersion { key: sum.max(1), settled: !on_disk || skill.is_settled() }
}
