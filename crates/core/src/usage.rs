//! When and how often skills were used, stored across runs. Routing uses it to choose between skills that match
//! about equally well.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use prowess_format::name::NAME_MAX;
use serde::{Deserialize, Serialize};

use crate::host_env::HostEnv;
use prowess_fs::{lock, read_bounded, write_private};

/// The maximum number of names that are stored; the least recently used ones are dropped first.
pub const NAMES_MAX: usize = 1_000;

const FILE_MAX: u64 = 4 * 1024 * 1024;

const SCHEMA: u32 = 1;

/// Seconds per day.
const DAY: u64 = 24 * 60 * 60;

/// The age in seconds at which a use counts half.
const HALF_LIFE: f64 = 7.0 * 24.0 * 60.0 * 60.0;

/// The skills that were used, and when.
///
/// ```
/// use prowess::usage::SkillUsage;
///
/// let mut usage = SkillUsage::default();
/// usage.record_at("pdf", 1_000);
/// assert_eq!(usage.recency("pdf", 1_000), 1.0);
/// assert_eq!(usage.recency("never", 1_000), 0.0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillUsage {
    names: BTreeMap<String, UsageEntry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct UsageEntry {
    /// Seconds since 1970.
    last: u64,
    #[serde(default)]
    count: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct UsageFile {
    schema: u32,
    names: BTreeMap<String, UsageEntry>,
}

impl SkillUsage {
    /// Loads the stored usage. A missing or broken file counts as empty: usage only affects the order of
    /// skills.
    pub fn load(host: &HostEnv) -> Self {
        let Some(state) = host.state_dir() else { return Self::default() };
        Self::read(&state.join("usage.json")).unwrap_or_default()
    }

    fn read(path: &Path) -> Option<Self> {
        let stored: UsageFile = serde_json::from_slice(&read_bounded(path, FILE_MAX)?).ok()?;
        (stored.schema <= SCHEMA).then_some(Self { names: stored.names })
    }

    /// Records that a skill is used now, under the file lock. Does nothing without a home directory.
    pub fn record(host: &HostEnv, name: &str) -> io::Result<()> {
        Self::record_all(host, [name])
    }

    /// Records several uses at once, each name as often as it was used. See [`SkillUsage::record`].
    pub fn record_all<'n>(host: &HostEnv, names: impl IntoIterator<Item = &'n str>) -> io::Result<()> {
        let Some(state) = host.state_dir() else { return Ok(()) };
        let path = state.join("usage.json");
        let _lock = lock(&path)?;
        let mut usage = Self::read(&path).unwrap_or_default();
        let now = now();
        names.into_iter().for_each(|name| usage.record_at(name, now));
        let stored = UsageFile { schema: SCHEMA, names: usage.names };
        write_private(&path, &serde_json::to_vec(&stored)?)
    }

    /// Records a use at this time, in seconds since 1970.
    pub fn record_at(&mut self, name: &str, time: u64) {
        if name.chars().nth(NAME_MAX).is_some() {
            return;
        }
        let entry = self.names.entry(name.to_owned()).or_default();
        entry.last = entry.last.max(time);
        entry.count = entry.count.saturating_add(1);
        while self.names.len() > NAMES_MAX {
            let oldest =
                self.names.iter().filter(|(other, _)| *other != name).min_by_key(|(_, entry)| entry.last);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { break };
            self.names.remove(&oldest);
        }
    }

    /// Returns how recently a skill was used: 1 for now, half of that after each week, 0 for never.
    pub fn recency(&self, name: &str, now: u64) -> f64 {
        let Some(entry) = self.names.get(name) else { return 0.0 };
        (-(now.saturating_sub(entry.last) as f64) / HALF_LIFE).exp2()
    }

    /// Returns how recently and frequently a skill was used: close to 1 for often and today, 0.5 for once and
    /// today, 0 for never.
    pub fn frecency(&self, name: &str, now: u64) -> f64 {
        let Some(entry) = self.names.get(name) else { return 0.0 };
        // Whole days, so that the same message gets the same scores all day.
        let days = (now.saturating_sub(entry.last) / DAY) as f64;
        let count = entry.count as f64;
        (-days * DAY as f64 / HALF_LIFE).exp2() * (count + 1.0) / (count + 3.0)
    }

    /// Returns up to `limit` names, the most recently used first.
    pub fn recent(&self, limit: usize) -> Vec<String> {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.last));
        names.into_iter().take(limit).map(|(name, _)| name.clone()).collect()
    }

    /// Returns the number of stored names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns `true` if nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Returns the current time in seconds since 1970.
pub fn now() -> u64 {
    prowess_fs::unix_millis() / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(home: &Path) -> HostEnv {
        HostEnv { project: home.to_owned(), home: Some(home.to_owned()), path: Default::default() }
    }

    #[test]
    fn frecency_grows_with_frequency_and_decays_with_time() {
        let mut usage = SkillUsage::default();
        usage.record_at("once", 1_000);
        (0..20).for_each(|_| usage.record_at("often", 1_000));
        assert!((usage.frecency("once", 1_000) - 0.5).abs() < 1e-9);
        assert!(usage.frecency("often", 1_000) > 0.9 && usage.frecency("often", 1_000) <= 1.0);
        assert!(usage.frecency("often", 1_000 + 60 * 24 * 60 * 60) < 0.01);
        assert_eq!(usage.frecency("never", 1_000), 0.0);
    }

    #[test]
    fn usage_is_stored_across_runs() {
        let home = tempfile::tempdir().unwrap();
        let host = host(home.path());
        assert!(SkillUsage::load(&host).is_empty());
        SkillUsage::record(&host, "pdf").unwrap();
        SkillUsage::record(&host, "pdf").unwrap();
        SkillUsage::record(&host, "翻译").unwrap();
        let usage = SkillUsage::load(&host);
        assert_eq!((usage.len(), usage.names["pdf"].count), (2, 2));
        assert!(usage.recency("pdf", usage.names["pdf"].last) == 1.0);
    }

    #[test]
    fn a_broken_file_is_an_empty_usage() {
        let home = tempfile::tempdir().unwrap();
        let host = host(home.path());
        SkillUsage::record(&host, "pdf").unwrap();
        let path = host.state_dir().unwrap().join("usage.json");
        for broken in
            ["", "{", "[]", "{\"schema\":2,\"names\":{}}", "{\"schema\":1,\"names\":{\"a\":{\"last\":-1}}}"]
        {
            std::fs::write(&path, broken).unwrap();
            assert!(SkillUsage::load(&host).is_empty(), "{broken}");
        }
        SkillUsage::record(&host, "pdf").unwrap();
        assert_eq!(SkillUsage::load(&host).len(), 1);
    }

    #[test]
    fn concurrent_writers_lose_no_use() {
        let home = tempfile::tempdir().unwrap();
        let host = host(home.path());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let host = &host;
                scope.spawn(move || {
                    (0..5).for_each(|n| SkillUsage::record(host, &format!("s{thread}-{n}")).unwrap())
                });
            }
        });
        assert_eq!(SkillUsage::load(&host).len(), 20);
    }

    #[test]
    fn the_oldest_names_are_dropped() {
        let mut usage = SkillUsage::default();
        (0..1_100u64).for_each(|n| usage.record_at(&n.to_string(), n));
        assert_eq!(usage.len(), NAMES_MAX);
        assert_eq!(usage.recency("99", 1_100), 0.0);
        assert!(usage.recency("1099", 1_100) > usage.recency("100", 1_100_000));
        assert_eq!(usage.recent(2), ["1099", "1098"]);
        usage.record_at("old", 0);
        assert!(usage.recency("old", 0) > 0.0);
    }
}
