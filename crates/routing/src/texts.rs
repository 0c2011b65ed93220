//! What of a skill is compared with a message, and what tells whether it changed.

use std::os::unix::ffi::OsStrExt;

use prowess_format::Manifest;
use prowess_format::fence::{Extent, Split, split};

use super::index::checksum;
use super::text::{BODY_MAX, Texts, head};
use super::words::mix;
use prowess::Skill;

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
pub(super) fn about(manifest: &Manifest) -> String {
    let triggers = manifest.triggers();
    let keywords = triggers.iter().flat_map(|triggers| triggers.keywords.iter().chain(&triggers.verbs));
    let more = manifest.tags().chain(keywords.map(|keyword| &**keyword));
    more.fold(manifest.description().to_owned(), |about, word| about + "\n" + word)
}

/// Equal for the same bytes in the same place, and never 0. Of what is not on disk, name and description have to do.
pub(super) fn key(skill: &Skill) -> u64 {
    let mut sum = checksum(skill.inner().as_os_str().as_bytes());
    sum = mix(sum ^ checksum(skill.root().path().as_os_str().as_bytes()));
    for number in skill.fingerprint().numbers() {
        sum = mix(sum.rotate_left(7) ^ number);
    }
    if skill.root().is_embedded() || skill.root().is_supplied() {
        sum = mix(sum
            ^ checksum(skill.name().as_bytes())
            ^ checksum(skill.description().as_bytes()).rotate_left(9));
    }
    sum.max(1)
}

/// The key under which a skill is kept: 0, which is nobody's, where its file is too young for its times to be believed.
pub(super) fn kept_key(skill: &Skill) -> u64 {
    let on_disk = !skill.root().is_embedded() && !skill.root().is_supplied();
    if on_disk && !skill.is_settled() { 0 } else { key(skill) }
}
