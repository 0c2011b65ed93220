//! The index cache of a large collection on disk.
//!
//! A collection has up to four files, each a segment. The first contains nearly all skills; the others contain
//! later changes, each a fraction of the one before. A change is written to the smallest segment with room, so
//! that the work is proportional to the change. Removals are not recorded: an entry counts only if its key is
//! still that of a skill in the snapshot. The result is therefore the same if files are incomplete, outdated, or
//! written by several processes at once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::index::{Index, Segment, SegmentSource, build, with_checksums};
use super::text::SkillTexts;
use prowess_fs::{SymlinkMode, lock, open_nonblocking, remove_unless_locked, write_private_nosync};

/// The minimum size of a cached collection. Smaller ones are indexed faster than a file is opened and checked.
const CACHED_SKILLS_MIN: usize = 48;

/// The maximum number of skills in the second, third and fourth file.
const LEVEL_CAPACITY: [usize; 3] = [16 * 1024, 1024, 64];

/// The maximum number of cached collections; the oldest are removed first.
const COLLECTIONS_MAX: usize = 32;

/// The skills of one index. Texts are read only for skills that no file contains.
pub(crate) struct Collection<'c> {
    /// The identifier of the collection, used in file names.
    pub(crate) id: u64,
    pub(crate) skills: Vec<SkillVersion>,
    /// Returns the texts of the skill at an index.
    pub(crate) texts: &'c (dyn Fn(usize) -> SkillTexts + Sync),
}

/// Identifies a version of a skill.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkillVersion {
    /// Changes with the skill; never 0.
    pub(crate) key: u64,
    /// Whether its file is old enough for its times to be reliable.
    pub(crate) settled: bool,
}

impl SkillVersion {
    /// Returns the key to store: 0, which matches no skill, if the file is too young.
    fn stored_key(self) -> u64 {
        if self.settled { self.key } else { 0 }
    }
}

impl Collection<'_> {
    /// Indexes the skills at these indexes, each under a key.
    fn build(&self, indexes: &[u32], key: impl Fn(SkillVersion) -> u64 + Sync) -> Vec<u8> {
        build(indexes, |index| {
            let index = *index as usize;
            let key = self.skills.get(index).copied().map(&key);
            (key.unwrap_or_default(), (self.texts)(index))
        })
    }

    fn indexes(&self) -> Vec<u32> {
        (0..).take(self.skills.len()).collect()
    }

    fn in_memory(&self) -> Index {
        let bytes = self.build(&self.indexes(), |skill| skill.key);
        Segment::open(SegmentSource::Memory(bytes))
            .map_or_else(|_| Index::from_parts([]), Index::from_segment)
    }
}

/// Returns the index of a collection: in memory, or from the cache with the missing skills added.
pub(super) fn open_or_build(dir: Option<&Path>, collection: &Collection<'_>) -> Index {
    match dir {
        Some(dir) if collection.skills.len() >= CACHED_SKILLS_MIN => {
            CachedIndex::open(&base_path(dir, collection.id), &collection.skills).update(collection)
        }
        _ => collection.in_memory(),
    }
}

/// Removes the cached index of a collection.
pub(super) fn remove_cached(dir: &Path, collection: u64) {
    let base = base_path(dir, collection);
    for level in 0..=LEVEL_CAPACITY.len() {
        // A file that cannot be removed is rejected again next time.
        let _ = std::fs::remove_file(level_path(&base, level));
    }
}

/// Returns the path of a collection's files, without extension.
pub(super) fn base_path(dir: &Path, collection: u64) -> PathBuf {
    dir.join(format!("{collection:016x}"))
}

fn level_path(base: &Path, level: usize) -> PathBuf {
    base.with_extension(format!("{level}.index"))
}

/// The segments found on disk.
struct CachedIndex<'b> {
    base: &'b Path,
    /// The segment of each level, with the number of each of its skills.
    levels: Vec<Option<(Segment, Vec<Option<u32>>)>>,
    /// The skills that no segment contains.
    missing: Vec<u32>,
}

impl<'b> CachedIndex<'b> {
    fn open(base: &'b Path, skills: &[SkillVersion]) -> Self {
        let keys: Vec<u64> = skills.iter().map(|skill| skill.key).collect();
        let segments: Vec<Option<Segment>> =
            (0..=LEVEL_CAPACITY.len()).map(|level| open_segment(&level_path(base, level))).collect();
        // Most of the time nothing changed; then no table of keys is needed.
        if let [Some(first), rest @ ..] = &segments[..]
            && first.keys() == keys
            && rest.iter().all(Option::is_none)
        {
            let unchanged = (0..skills.len() as u32).map(Some).collect();
            let levels = segments
                .into_iter()
                .take(1)
                .map(|segment| Some((segment?, Vec::clone(&unchanged))))
                .collect();
            return Self { base, levels, missing: Vec::new() };
        }
        let mut unassigned: HashMap<u64, u32> = keys.iter().copied().zip(0..).collect();
        let mut level = |segment: Option<Segment>| {
            let segment = segment?;
            // The first segment with a key gets it, so that no skill is found twice.
            let numbers = segment.keys().iter().map(|key| unassigned.remove(key)).collect();
            Some((segment, numbers))
        };
        let levels = segments.into_iter().map(&mut level).collect();
        let mut missing: Vec<u32> = unassigned.into_values().collect();
        missing.sort_unstable();
        Self { base, levels, missing }
    }

    /// Returns the skills of a level that still exist.
    fn live_skills(&self, level: usize) -> impl Iterator<Item = u32> {
        let numbers = self.levels.get(level).and_then(Option::as_ref).map(|(_, numbers)| numbers);
        numbers.into_iter().flatten().flatten().copied()
    }

    /// Indexes and writes the missing skills, and returns the index.
    fn update(mut self, collection: &Collection<'_>) -> Index {
        let skills = &collection.skills;
        if self.missing.is_empty() && self.live_skills(0).count() * 2 >= skills.len() {
            return self.finish(skills.len());
        }
        let mut pending = std::mem::take(&mut self.missing);
        let mut level = LEVEL_CAPACITY.len();
        while level > 0 {
            pending.extend(self.live_skills(level));
            if pending.len() <= LEVEL_CAPACITY[level - 1].min(skills.len() / 4) {
                break;
            }
            level -= 1;
        }
        if level == 0 {
            pending = collection.indexes();
        }
        pending.sort_unstable();
        let bytes = collection.build(&pending, SkillVersion::stored_key);
        let length = bytes.len();
        let mut bytes = with_checksums(bytes);
        // From now on read from the file, so that processes share it and this one does not hold it in memory.
        let reopened =
            if self.write(level, &bytes) { open_segment(&level_path(self.base, level)) } else { None };
        bytes.truncate(length);
        let Some(segment) = reopened.or_else(|| Segment::open(SegmentSource::Memory(bytes)).ok()) else {
            return collection.in_memory();
        };
        // Another process may have replaced the file in the meantime.
        let chosen = pending.iter().filter_map(|number| skills.get(*number as usize));
        if !segment.keys().iter().copied().eq(chosen.map(|skill| skill.stored_key())) {
            return collection.in_memory();
        }
        self.levels.truncate(level);
        self.levels.push(Some((segment, pending.into_iter().map(Some).collect())));
        self.finish(skills.len())
    }

    fn finish(self, skills: usize) -> Index {
        let mut parts: Vec<(Segment, Vec<Option<u32>>)> = self.levels.into_iter().flatten().collect();
        let is_identity = |numbers: &[Option<u32>]| {
            numbers.len() == skills && (0..).zip(numbers).all(|(index, number)| *number == Some(index))
        };
        match parts.pop() {
            Some((segment, numbers)) if parts.is_empty() && is_identity(&numbers) => {
                Index::from_segment(segment)
            }
            last => Index::from_parts(parts.into_iter().chain(last)),
        }
    }

    /// Writes a level and removes the smaller ones, whose content it includes. Returns `true` on success.
    fn write(&self, level: usize, bytes: &[u8]) -> bool {
        let path = level_path(self.base, level);
        let written = lock(self.base).and_then(|_lock| {
            write_private_nosync(&path, bytes)?;
            for smaller in level + 1..=LEVEL_CAPACITY.len() {
                let _ = std::fs::remove_file(level_path(self.base, smaller));
            }
            Ok(())
        });
        if level == 0 && written.is_ok() {
            self.prune();
        }
        written.is_ok()
    }

    /// Removes the oldest collections.
    fn prune(&self) {
        for path in outdated_files(self.base, ".0.index", COLLECTIONS_MAX) {
            let base = path.with_extension("").with_extension("");
            remove_unless_locked(&base, || {
                for level in 0..=LEVEL_CAPACITY.len() {
                    let _ = std::fs::remove_file(level_path(&base, level));
                }
            });
        }
    }
}

/// Returns the files next to `path` with this suffix, except the newest `max`.
pub(crate) fn outdated_files(path: &Path, suffix: &str, max: usize) -> Vec<PathBuf> {
    let entries = path.parent().and_then(|dir| dir.read_dir().ok()).into_iter().flatten().flatten();
    let dated = |entry: std::fs::DirEntry| {
        let is_match = entry.file_name().to_str()?.ends_with(suffix);
        is_match.then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
    };
    let mut files: Vec<_> = entries.filter_map(dated).collect();
    files.sort_unstable();
    files.into_iter().rev().skip(max).map(|(_, path)| path).collect()
}

/// Opens a segment. Anything else at the path is left alone, and never blocks.
fn open_segment(path: &Path) -> Option<Segment> {
    let file = open_nonblocking(path, SymlinkMode::Refuse).ok()?;
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Segment::open(SegmentSource::open(file, metadata.len()).ok()?).ok()
}
