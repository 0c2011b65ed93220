//! From skills to what routing takes: texts, and keys that tell whether they changed. Only this module and the router know
//! snapshots.

use std::path::Path;

use prowess_format::Manifest;
use prowess_format::fence::{Extent, Split, split};

use super::index::checksum;
use super::kept::{Collection, Subject};
use super::text::{BODY_MAX, Texts, head};
use super::words::mix;
use prowess::{Skill, Snapshot};

/// What of a skill is compared. A body that cannot be read now is empty.
pub(super) fn texts(skill: &Skill) -> Texts {
    let source = skill.read_source().unwrap_or_default();
    let body = match split(&source, Extent::Whole) {
        Split::Found(fences) => source.get(fences.body..).unwrap_or_default(),
        Split::Missing | Split::Unclosed { .. } | Split::TooLong { .. } | Split::NeedMore => &[],
    };
    let body = body.get(..BODY_MAX + 4).unwrap_or(body);
    Texts {
        name: skill.name().into_owned(),
        about: skill.manifest().map(about).unwrap_or_default(),
        body: head(&String::from_utf8_lossy(body), BODY_MAX).to_owned(),
    }
}

/// Description, tags and triggers. Each on a line of its own: they are no sentence together.
fn about(manifest: &Manifest) -> String {
    let triggers = manifest.triggers();
    let keywords = triggers.iter().flat_map(|triggers| triggers.keywords.iter().chain(&triggers.verbs));
    let more = manifest.tags().chain(keywords.map(|keyword| &**keyword));
    more.fold(manifest.description().to_owned(), |about, word| about + "\n" + word)
}

/// What is embedded of a skill: its name, and what it says of itself. Known without reading its file again.
pub(super) fn summary(skill: &Skill) -> String {
    let about = skill.manifest().map(about).unwrap_or_default();
    format!("{}\n{about}", skill.name())
}

/// The collection of these skills. Texts are read through `skills` when the index asks for them.
pub(super) fn collection<'s>(
    snapshot: &Snapshot,
    skills: &[&Skill],
    texts: &'s (dyn Fn(usize) -> Texts + Sync),
) -> Collection<'s> {
    Collection {
        id: collection_id(snapshot),
        skills: skills.iter().map(|skill| subject(skill)).collect(),
        texts,
    }
}

/// Collections differ by their roots.
pub(super) fn collection_id(snapshot: &Snapshot) -> u64 {
    let sum = |sum: u64, root: &Path| mix(sum ^ checksum(root.as_os_str().as_encoded_bytes()));
    snapshot.roots().fold(0, |sums, root| sum(sums, root.path()))
}

/// The key is equal for the same bytes in the same place, and never 0. Of what is not on disk, name and description have
/// to do.
fn subject(skill: &Skill) -> Subject {
    let mut sum = checksum(skill.inner().as_os_str().as_encoded_bytes());
    sum = mix(sum ^ checksum(skill.root().path().as_os_str().as_encoded_bytes()));
    for number in skill.fingerprint().numbers() {
        sum = mix(sum.rotate_left(7) ^ number);
    }
    let on_disk = skill.root().is_folder();
    if !on_disk {
        sum = mix(sum
            ^ checksum(skill.name().as_bytes())
            ^ checksum(skill.description().as_bytes()).rotate_left(9));
    }
    Subject { key: sum.max(1), settled: !on_disk || skill.is_settled() }
}
