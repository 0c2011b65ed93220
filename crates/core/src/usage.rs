//! When and how often skills were used, remembered across runs. It decides between skills that match about equally well.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use prowess_format::name::NAME_MAX;
use serde::{Deserialize, Serialize};

use crate::surroundings::Surroundings;
use prowess_fs::{lock, read_bounded, replace};

/// The most names that are remembered; the ones used longest ago are forgotten first.
pub const NAMES_MAX: usize = 1_000;

const FILE_MAX: u64 = 4 * 1024 * 1024;

const SCHEMA: u32 = 1;

/// How many seconds a day has.
const DAY: u64 = 24 * 60 * 60;

/// After how many seconds a use counts half.
const HALF_LIFE: f64 = 7.0 * 24.0 * 60.0 * 60.0;

/// What was used, and when.
///
/// ```
/// use prowess::usage::Usage;
///
/// let mut usage = Usage::default();
/// usage.note("pdf", 1_000);
/// assert_eq!(usage.recency("pdf", 1_000), 1.0);
/// assert_eq!(usage.recency("never", 1_000), 0.0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    names: BTreeMap<String, Used>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Used {
    /// In seconds since 1970.
    last: u64,
    #[serde(default)]
    count: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    schema: u32,
    names: BTreeMap<String, Used>,
}

impl Usage {
    /// What is remembered. A file that is missing or broken is an empty usage: nothing depends on it but an order.
    pub fn load(world: &Surroundings) -> Self {
        let Some(state) = world.state() else { return Self::default() };
        Self::read(&state.join("usage.json")).unwrap_or_default()
    }

    fn read(path: &Path) -> Option<Self> {
        let stored: Stored = serde_json::from_slice(&read_bounded(path, FILE_MAX)?).ok()?;
        (stored.schema <= SCHEMA).then_some(Self { names: stored.names })
    }

    /// Remembers that a skill is used now, while no other process writes. Without a home nothing is remembered.
    pub fn record(world: &Surroundings, name: &str) -> io::Result<()> {
        Self::record_all(world, [name])
    }

    /// The same for several uses at once, each named as often as it was used.
    pub fn record_all<'n>(world: &Surroundings, names: impl IntoIterator<Item = &'n str>) -> io::Result<()> {
        let Some(state) = world.state() else { return Ok(()) };
        let path = state.join("usage.json");
        let _lock = lock(&path)?;
        let mut usage = Self::read(&path).unwrap_or_default();
        let now = now();
        names.into_iter().for_each(|name| usage.note(name, now));
        let stored = Stored { schema: SCHEMA, names: usage.names };
        replace(&path, &serde_json::to_vec(&stored)?)
    }

    /// Notes that a skill is used at this moment, in seconds since 1970.
    pub fn note(&mut self, name: &str, at: u64) {
        if name.chars().nth(NAME_MAX).is_some() {
            return;
        }
        let used = self.names.entry(name.to_owned()).or_default();
        used.last = used.last.max(at);
        used.count = used.count.saturating_add(1);
        while self.names.len() > NAMES_MAX {
            let oldest =
                self.names.iter().filter(|(known, _)| *known != name).min_by_key(|(_, used)| used.last);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { break };
            self.names.remove(&oldest);
        }
    }

    /// How recently a skill was used: 1 just now, half as much each week, 0 never.
    pub fn recency(&self, name: &str, now: u64) -> f64 {
        let Some(used) = self.names.get(name) else { return 0.0 };
        (-(now.saturating_sub(used.last) as f64) / HALF_LIFE).exp2()
    }

    /// How much a skill is in use: up to 1 for one that is used lately and often, half of that for one that was used once just now.
    pub fn habit(&self, name: &str, now: u64) -> f64 {
        let Some(used) = self.names.get(name) else { return 0.0 };
        // By whole days: the same message gives the same scores all day.
        let days = (now.saturating_sub(used.last) / DAY) as f64;
        let count = used.count as f64;
        (-days * DAY as f64 / HALF_LIFE).exp2() * (count + 1.0) / (count + 3.0)
    }

    /// The names that were used last, the latest first, at most `most`.
    pub fn recent(&self, most: usize) -> Vec<String> {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|(_, used)| std::cmp::Reverse(used.last));
        names.into_iter().take(most).map(|(name, _)| name.clone()).collect()
    }

    /// How many names are remembered.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The time, in seconds since 1970.
pub fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(home: &Path) -> Surroundings {
        Surroundings { project: home.to_owned(), home: Some(home.to_owned()), path: Default::default() }
    }

    #[test]
    fn what_is_used_often_and_lately_is_a_habit() {
        let mut usage = Usage::default();
        usage.note("once", 1_000);
        (0..20).for_each(|_| usage.note("often", 1_000));
        assert!((usage.habit("once", 1_000) - 0.5).abs() < 1e-9);
        assert!(usage.habit("often", 1_000) > 0.9 && usage.habit("often", 1_000) <= 1.0);
        assert!(usage.habit("often", 1_000 + 60 * 24 * 60 * 60) < 0.01);
        assert_eq!(usage.habit("never", 1_000), 0.0);
    }

    #[test]
    fn it_is_remembered_across_runs() {
        let home = tempfile::tempdir().unwrap();
        let world = world(home.path());
        assert!(Usage::load(&world).is_empty());
        Usage::record(&world, "pdf").unwrap();
        Usage::record(&world, "pdf").unwrap();
        Usage::record(&world, "翻译").unwrap();
        let usage = Usage::load(&world);
        assert_eq!((usage.len(), usage.names["pdf"].count), (2, 2));
        assert!(usage.recency("pdf", usage.names["pdf"].last) == 1.0);
    }

    #[test]
    fn a_broken_file_is_an_empty_usage() {
        let home = tempfile::tempdir().unwrap();
        let world = world(home.path());
        Usage::record(&world, "pdf").unwrap();
        let path = world.state().unwrap().join("usage.json");
        for broken in
            ["", "{", "[]", "{\"schema\":2,\"names\":{}}", "{\"schema\":1,\"names\":{\"a\":{\"last\":-1}}}"]
        {
            std::fs::write(&path, broken).unwrap();
            assert!(Usage::load(&world).is_empty(), "{broken}");
        }
        Usage::record(&world, "pdf").unwrap();
        assert_eq!(Usage::load(&world).len(), 1);
    }

    #[test]
    fn no_use_is_lost_when_many_write() {
        let home = tempfile::tempdir().unwrap();
        let world = world(home.path());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let world = &world;
                scope.spawn(move || {
                    (0..5).for_each(|n| Usage::record(world, &format!("s{thread}-{n}")).unwrap())
                });
            }
        });
        assert_eq!(Usage::load(&world).len(), 20);
    }

    #[test]
    fn it_is_bounded_and_forgets_the_oldest() {
        let mut usage = Usage::default();
        (0..1_100u64).for_each(|n| usage.note(&n.to_string(), n));
        assert_eq!(usage.len(), NAMES_MAX);
        assert_eq!(usage.recency("99", 1_100), 0.0);
        assert!(usage.recency("1099", 1_100) > usage.recency("100", 1_100_000));
        assert_eq!(usage.recent(2), ["1099", "1098"]);
        usage.note("old", 0);
        assert!(usage.recency("old", 0) > 0.0);
    }
}
