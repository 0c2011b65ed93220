//! The index of a large collection, kept on disk between processes.
//!
//! There are up to four files for a collection, each a segment. The first has nearly all skills; the others have what came
//! later, each a fraction of the one before. What changed is written to the smallest that has room, so the work is in
//! proportion to the change. Nothing says what was removed: a skill counts where its key is still that of a skill of the
//! snapshot, so files can be torn, stale, or written by several processes at once, and the answer is the same.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::index::{Index, Segment, Source, build, with_sums};
use super::text::Texts;
use prowess_fs::{LastStep, lock, open_without_waiting, remove_unless_locked, replace_soon};

/// Smaller collections are indexed faster than a file is opened and checked.
const WORTH_KEEPING: usize = 256;

/// How many skills the second, third and fourth file have at most.
const ROOM: [usize; 3] = [16 * 1024, 1024, 64];

/// How many collections are kept; the ones written longest ago go first.
const COLLECTIONS: usize = 8;

/// The skills that are indexed together. Texts are read only for those that no file has.
pub(crate) struct Collection<'c> {
    /// Which collection it is: the names of its files.
    pub(crate) id: u64,
    pub(crate) skills: Vec<Subject>,
    /// The texts of the skill at a place.
    pub(crate) texts: &'c (dyn Fn(usize) -> Texts + Sync),
}

/// What tells whether a skill changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// Changes with the skill; never 0.
    pub(crate) key: u64,
    /// Whether its file is old enough for its times to be believed.
    pub(crate) settled: bool,
}

impl Subject {
    /// The key under which a skill is kept: 0, which is nobody's, where its file is too young.
    fn kept_key(self) -> u64 {
        if self.settled { self.key } else { 0 }
    }
}

impl Collection<'_> {
    /// Indexes the skills at these places, each under a key.
    fn build(&self, places: &[u32], key: impl Fn(Subject) -> u64 + Sync) -> Vec<u8> {
        build(places, |place| {
            let place = *place as usize;
            let key = self.skills.get(place).copied().map(&key);
            (key.unwrap_or_default(), (self.texts)(place))
        })
    }

    fn places(&self) -> Vec<u32> {
        (0..).take(self.skills.len()).collect()
    }

    fn in_memory(&self) -> Index {
        let bytes = self.build(&self.places(), |skill| skill.key);
        Segment::open(Source::Memory(bytes)).map_or_else(|_| Index::parts([]), Index::whole)
    }
}

/// The index of a collection: in memory, or what of it is kept and what has to be added.
pub(super) fn index(folder: Option<&Path>, collection: &Collection<'_>) -> Index {
    match folder {
        Some(folder) if collection.skills.len() >= WORTH_KEEPING => {
            Kept::open(&base(folder, collection.id), &collection.skills).update(collection)
        }
        _ => collection.in_memory(),
    }
}

/// Removes what is kept of a collection.
pub(super) fn forget(folder: &Path, collection: u64) {
    let base = base(folder, collection);
    for level in 0..=ROOM.len() {
        // Where it cannot be removed, it is refused again next time.
        let _ = std::fs::remove_file(file(&base, level));
    }
}

/// The path of a collection's files, without their endings.
pub(super) fn base(folder: &Path, collection: u64) -> PathBuf {
    folder.join(format!("{collection:016x}"))
}

fn file(base: &Path, level: usize) -> PathBuf {
    base.with_extension(format!("{level}.index"))
}

/// What was found on disk.
struct Kept<'b> {
    base: &'b Path,
    /// Each segment with the number of each of its skills, by level.
    levels: Vec<Option<(Segment, Vec<Option<u32>>)>>,
    /// The skills that no segment has.
    missing: Vec<u32>,
}

impl<'b> Kept<'b> {
    fn open(base: &'b Path, skills: &[Subject]) -> Self {
        let keys: Vec<u64> = skills.iter().map(|skill| skill.key).collect();
        let segments: Vec<Option<Segment>> =
            (0..=ROOM.len()).map(|level| segment(&file(base, level))).collect();
        // Nothing changed, most of the time: then no table of keys is needed.
        if let [Some(first), rest @ ..] = &segments[..]
            && first.keys() == keys
            && rest.iter().all(Option::is_none)
        {
            let same = (0..skills.len() as u32).map(Some).collect();
            let levels =
                segments.into_iter().take(1).map(|segment| Some((segment?, Vec::clone(&same)))).collect();
            return Self { base, levels, missing: Vec::new() };
        }
        let mut wanted: HashMap<u64, u32> = keys.iter().copied().zip(0..).collect();
        let mut level = |segment: Option<Segment>| {
            let segment = segment?;
            // Whoever has a key takes it: no skill is found twice.
            let numbers = segment.keys().iter().map(|key| wanted.remove(key)).collect();
            Some((segment, numbers))
        };
        let levels = segments.into_iter().map(&mut level).collect();
        let mut missing: Vec<u32> = wanted.into_values().collect();
        missing.sort_unstable();
        Self { base, levels, missing }
    }

    /// How many skills of a level are still there.
    fn alive(&self, level: usize) -> impl Iterator<Item = u32> {
        let numbers = self.levels.get(level).and_then(Option::as_ref).map(|(_, numbers)| numbers);
        numbers.into_iter().flatten().flatten().copied()
    }

    /// Adds what is missing, writes it down, and gives the index.
    fn update(mut self, collection: &Collection<'_>) -> Index {
        let skills = &collection.skills;
        if self.missing.is_empty() && self.alive(0).count() * 2 >= skills.len() {
            return self.finish(skills.len());
        }
        let mut pending = std::mem::take(&mut self.missing);
        let mut level = ROOM.len();
        while level > 0 {
            pending.extend(self.alive(level));
            if pending.len() <= ROOM[level - 1].min(skills.len() / 4) {
                break;
            }
            level -= 1;
        }
        if level == 0 {
            pending = collection.places();
        }
        pending.sort_unstable();
        let bytes = collection.build(&pending, Subject::kept_key);
        let length = bytes.len();
        let mut bytes = with_sums(bytes);
        // Read from the file from now on: other processes share it, and this one need not hold it.
        let read = if self.write(level, &bytes) { segment(&file(self.base, level)) } else { None };
        bytes.truncate(length);
        let Some(segment) = read.or_else(|| Segment::open(Source::Memory(bytes)).ok()) else {
            return collection.in_memory();
        };
        // Another process may have put something else there in between.
        let chosen = pending.iter().filter_map(|number| skills.get(*number as usize));
        if !segment.keys().iter().copied().eq(chosen.map(|skill| skill.kept_key())) {
            return collection.in_memory();
        }
        self.levels.truncate(level);
        self.levels.push(Some((segment, pending.into_iter().map(Some).collect())));
        self.finish(skills.len())
    }

    fn finish(self, skills: usize) -> Index {
        let mut parts: Vec<(Segment, Vec<Option<u32>>)> = self.levels.into_iter().flatten().collect();
        let whole = |numbers: &[Option<u32>]| {
            numbers.len() == skills && (0..).zip(numbers).all(|(at, number)| *number == Some(at))
        };
        match parts.pop() {
            Some((segment, numbers)) if parts.is_empty() && whole(&numbers) => Index::whole(segment),
            last => Index::parts(parts.into_iter().chain(last)),
        }
    }

    /// Whether the bytes are in place. Levels above go: what they had is in it.
    fn write(&self, level: usize, bytes: &[u8]) -> bool {
        let path = file(self.base, level);
        let written = lock(self.base).and_then(|_lock| {
            replace_soon(&path, bytes)?;
            for above in level + 1..=ROOM.len() {
                let _ = std::fs::remove_file(file(self.base, above));
            }
            Ok(())
        });
        if level == 0 && written.is_ok() {
            self.tidy();
        }
        written.is_ok()
    }

    /// Removes the collections that were written longest ago.
    fn tidy(&self) {
        let Some(entries) = self.base.parent().and_then(|folder| folder.read_dir().ok()) else { return };
        let dated = |entry: std::fs::DirEntry| {
            let path = entry.path();
            let first = path.to_str()?.ends_with(".0.index");
            first.then_some((entry.metadata().ok()?.modified().ok()?, path))
        };
        let mut firsts: Vec<_> = entries.flatten().filter_map(dated).collect();
        firsts.sort_unstable();
        for (_, path) in firsts.iter().rev().skip(COLLECTIONS) {
            let base = path.with_extension("").with_extension("");
            remove_unless_locked(&base, || {
                for level in 0..=ROOM.len() {
                    let _ = std::fs::remove_file(file(&base, level));
                }
            });
        }
    }
}

/// A segment that can be read. Whatever else lies there is left alone, and not waited for.
fn segment(path: &Path) -> Option<Segment> {
    let file = open_without_waiting(path, LastStep::NoLink).ok()?;
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Segment::open(Source::open(file, metadata.len()).ok()?).ok()
}
