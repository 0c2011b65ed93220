//! Frontmatter of earlier scans on disk, for programs that scan once and exit.
//!
//! An entry is used only if the file's metadata is the same and was settled when the entry was written, as for a later scan
//! in the same process. It then replaces opening and reading the file; parsing is the same. A missing, outdated or damaged
//! cache changes nothing but the time that a scan takes.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use prowess_format::Rules;
use prowess_format::fence::{Extent, FenceSearch, find_fences};
use prowess_fs::{Fingerprint, read_bounded, write_private_nosync};

use super::manifest::{ManifestRead, parse_cached};
use super::walk::RootScan;
use crate::skill::{DiscoveredSkill, FileName};

/// The first bytes of a cache; the last one is the version.
const MAGIC: &[u8; 8] = b"prwscan\x01";

/// The largest cache that is read, in bytes.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The size of a cache beyond which entries of other roots are dropped, in bytes.
const OTHERS_MAX: usize = 8 * 1024 * 1024;

/// The longest frontmatter that is stored, in bytes.
const HEAD_MAX: usize = 16 * 1024;

/// The minimum number of skills for which a cache is written. Fewer are read faster than a cache is opened and checked.
const SKILLS_MIN: usize = 64;

/// The number of additional entries, of other roots or of removed skills, from which on a cache is checked for removed skills.
const OUTDATED_MIN: usize = 1_000;

/// The frontmatter of skills, by the path of their directory.
#[derive(Debug, Default)]
pub(crate) struct ScanCache {
    bytes: Vec<u8>,
    /// Sorted by directory.
    entries: Vec<CacheEntry>,
    /// How many entries the scan used.
    hits: AtomicUsize,
}

#[derive(Debug, Clone)]
struct CacheEntry {
    dir: Range<usize>,
    fingerprint: [u64; 7],
    checksum: u64,
    head: Range<usize>,
}

impl ScanCache {
    /// Reads a cache. One that is damaged has no entries, or fewer.
    pub(crate) fn read(path: &Path) -> Self {
        let bytes = read_bounded(path, BYTES_MAX).unwrap_or_default();
        let mut entries = Vec::new();
        let mut reader = CacheReader { bytes: &bytes, offset: 0 };
        if reader.take(MAGIC.len()).is_some_and(|magic| bytes.get(magic) == Some(MAGIC)) {
            while let Some(entry) = reader.entry() {
                entries.push(entry);
            }
        }
        entries.sort_by(|a, b| bytes.get(a.dir.clone()).cmp(&bytes.get(b.dir.clone())));
        Self { bytes, entries, hits: AtomicUsize::new(0) }
    }

    fn find(&self, dir: &[u8]) -> Option<&CacheEntry> {
        let found = self.entries.binary_search_by(|entry| self.dir(entry).cmp(dir)).ok()?;
        self.entries.get(found)
    }

    /// Returns the stored frontmatter unless it is damaged.
    fn head(&self, entry: &CacheEntry) -> Option<&[u8]> {
        self.bytes.get(entry.head.clone()).filter(|head| checksum(head) == entry.checksum)
    }

    fn dir(&self, entry: &CacheEntry) -> &[u8] {
        self.bytes.get(entry.dir.clone()).unwrap_or_default()
    }

    /// Returns the frontmatter of a file that has not changed since it was stored.
    pub(super) fn get(
        &self,
        root: &Path,
        relative_dir: &Path,
        stat: impl FnOnce() -> Option<Fingerprint>,
        dir_name: &str,
        rules: &Rules,
    ) -> Option<(ManifestRead, Fingerprint)> {
        if self.entries.is_empty() {
            return None;
        }
        let entry = self.find(root.join(relative_dir).as_os_str().as_encoded_bytes())?;
        let fingerprint = stat().filter(|fingerprint| fingerprint.to_numbers() == entry.fingerprint)?;
        let head = self.head(entry)?;
        self.hits.fetch_add(1, Ordering::Relaxed);
        // Nothing is stored of a file that must be read.
        (!head.is_empty()).then(|| Some((parse_cached(head, dir_name, rules)?, fingerprint))).flatten()
    }

    /// Writes a cache of these scans if this one lacks a skill or has too many. Entries of other roots stay, because other
    /// projects may use the cache, too. A cache that cannot be written is ignored.
    pub(crate) fn update(&self, path: &Path, scans: &[RootScan], rules: &Rules) {
        let skills = scans.iter().flat_map(|scan| &scan.skills).map(|skill| &**skill);
        let skills: Vec<&DiscoveredSkill> = skills.filter(|skill| is_cacheable(skill)).collect();
        let has_all = self.hits.load(Ordering::Relaxed) >= skills.len();
        if skills.len() < SKILLS_MIN || (has_all && self.entries.len() < OUTDATED_MIN + 2 * skills.len()) {
            return;
        }
        let current = |skill: &DiscoveredSkill| {
            let entry = self.find(&dir_bytes(skill))?;
            (entry.fingerprint == skill.fingerprint.to_numbers()).then_some(entry)
        };
        let is_scanned = |dir: &[u8]| scans.iter().any(|scan| is_inside(dir, scan.root.canonical()));
        let outdated = |entry: &&CacheEntry| is_scanned(self.dir(entry));
        if has_all && self.entries.iter().filter(outdated).count() < 2 * skills.len() {
            return;
        }
        let mut bytes = MAGIC.to_vec();
        for skill in skills {
            let stored = current(skill).and_then(|entry| self.head(entry)).map(<[u8]>::to_vec);
            let head = stored.or_else(|| read_head(skill, rules)).unwrap_or_default();
            write_entry(&mut bytes, &dir_bytes(skill), skill.fingerprint.to_numbers(), &head);
        }
        for entry in self.entries.iter().filter(|entry| !outdated(entry)) {
            if let Some(head) = self.head(entry).filter(|_| bytes.len() < OTHERS_MAX) {
                write_entry(&mut bytes, self.dir(entry), entry.fingerprint, head);
            }
        }
        if bytes.len() as u64 <= BYTES_MAX {
            let _ = write_private_nosync(path, &bytes);
        }
    }
}

/// Returns `true` if a directory is below a root.
fn is_inside(dir: &[u8], root: &Path) -> bool {
    dir.strip_prefix(root.as_os_str().as_encoded_bytes()).is_some_and(|inner| inner.starts_with(b"/"))
}

/// Returns `true` for skills that were read from a regular file without symlinks, and whose metadata is reliable.
fn is_cacheable(skill: &DiscoveredSkill) -> bool {
    skill.root.is_dir()
        && skill.settled
        && skill.manifest.is_some()
        && skill.file == FileName::Standard
        && skill.link.is_none()
        && skill.canonical_path.is_none()
}

/// Reads the frontmatter of a skill. `None` if it cannot be stored: it is too long, or parsing it alone gives another result.
fn read_head(skill: &DiscoveredSkill, rules: &Rules) -> Option<Vec<u8>> {
    let mut bytes = skill.read_skill_md()?;
    let FenceSearch::Found(fences) = find_fences(&bytes, Extent::Whole) else { return None };
    bytes.truncate(fences.body);
    if bytes.len() > HEAD_MAX {
        return None;
    }
    let parsed = parse_cached(&bytes, &skill.dir_name(), rules)?;
    let is_same = parsed.manifest == skill.manifest && *parsed.diagnostics == *skill.diagnostics;
    is_same.then_some(bytes)
}

fn dir_bytes(skill: &DiscoveredSkill) -> Vec<u8> {
    skill.root.canonical().join(&skill.relative_dir).into_os_string().into_encoded_bytes()
}

fn write_entry(bytes: &mut Vec<u8>, dir: &[u8], fingerprint: [u64; 7], head: &[u8]) {
    let lengths = [dir.len() as u64, head.len() as u64, checksum(head)];
    let numbers = lengths.into_iter().chain(fingerprint);
    numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes.extend(dir);
    bytes.extend(head);
}

struct CacheReader<'b> {
    bytes: &'b [u8],
    offset: usize,
}

impl CacheReader<'_> {
    fn take(&mut self, length: usize) -> Option<Range<usize>> {
        let end = self.offset.checked_add(length).filter(|end| *end <= self.bytes.len())?;
        let range = self.offset..end;
        self.offset = end;
        Some(range)
    }

    fn number(&mut self) -> Option<u64> {
        let range = self.take(8)?;
        Some(u64::from_le_bytes(self.bytes.get(range)?.try_into().ok()?))
    }

    fn entry(&mut self) -> Option<CacheEntry> {
        let (dir_length, head_length, checksum) = (self.number()?, self.number()?, self.number()?);
        let mut fingerprint = [0; 7];
        for number in &mut fingerprint {
            *number = self.number()?;
        }
        let dir = self.take(usize::try_from(dir_length).ok()?)?;
        let head = self.take(usize::try_from(head_length).ok()?)?;
        Some(CacheEntry { dir, fingerprint, checksum, head })
    }
}

/// Returns a checksum that detects damaged entries (FNV-1a over words of eight bytes).
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64 ^ bytes.len() as u64;
    for word in bytes.chunks(8) {
        let mut padded = [0; 8];
        padded.iter_mut().zip(word).for_each(|(to, from)| *to = *from);
        sum = (sum ^ u64::from_le_bytes(padded)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
    sum
}
