//! The targets, and whether the figures meet them.
//!
//! Nearly every figure here is a ratio, or memory for each skill; times alone say more about the machine than about us. Where
//! a target is a time, the ratio to the floor is in the table of the figures.

use crate::measure::Stats;
use crate::suite::{Figure, Task, Who};
use crate::table::thousands;

/// The size that targets refer to.
pub const SIZE: usize = 10_000;

/// The size that `verify` is judged at.
const SIZE_OF_PACKAGES: usize = 1_000;

/// A target and what was found.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What is compared, at which size.
    pub what: String,
    /// At most this.
    pub target: f64,
    /// What it counts: `×`, `KiB a skill`, `s` or `ms`.
    pub unit: &'static str,
    /// The value, or why there is none.
    pub value: Result<f64, String>,
}

impl Verdict {
    /// Whether the target is met; none when nothing was measured.
    pub fn met(&self) -> Option<bool> {
        self.value.as_ref().ok().map(|value| *value <= self.target)
    }
}

/// Compares the figures with every target.
pub fn all(figures: &[Figure]) -> Vec<Verdict> {
    let size = size(figures);
    let at = thousands(size);
    let found = Found(figures);
    let mut verdicts = vec![
        times(format!("list of {at}, to the floor"), 1.5, found.to_floor(Task::List, size)),
        times(format!("check of {at}, to the floor"), 2.0, found.to_floor(Task::Check, size)),
        times(format!("refresh of {at}, to the floor that stats"), 1.2, found.to_floor(Task::Refresh, size)),
        times("start, to an empty program".to_owned(), 2.0, found.to_floor(Task::Start, 0)),
    ];
    for (small, large) in [(1_000, 10_000), (10_000, 100_000)] {
        let what =
            format!("list, time for each skill at {} to that at {}", thousands(large), thousands(small));
        verdicts.push(times(what, 1.2, found.growth(small, large)));
    }
    for size in [10_000, 100_000] {
        let what = format!("list of {}, peak memory above the start's", thousands(size));
        verdicts.push(Verdict { what, target: 3.0, unit: "KiB a skill", value: found.memory(size) });
    }
    for task in [Task::List, Task::Check, Task::Prompt] {
        let (what, value) = match found.fastest_peer(task, size) {
            Ok((peer, stats)) => {
                let ours = found.stats(task, size, &Who::Prowess);
                (peer.to_string(), ours.map(|ours| ratio(ours, stats)))
            }
            Err(reason) => ("fastest peer".to_owned(), Err(reason)),
        };
        verdicts.push(times(format!("{task} of {at}, to {what}"), 0.5, value));
    }
    for (task, target) in [(Task::Audit, 1.0), (Task::Lint, 2.0)] {
        let value = found.seconds(task, size);
        verdicts.push(Verdict { what: format!("{task} of {at}"), target, unit: "s", value });
    }
    verdicts
}

/// Compares the figures of the packages with their targets. That an install may take 1.3 × a clone and a copy can be read
/// in two ways for a folder: beside the same clone, or beside the copy alone. Both are given.
pub fn packages(figures: &[Figure]) -> Vec<Verdict> {
    let found = Found(figures);
    let mut verdicts = Vec::new();
    for (task, floor, to) in [
        (Task::FromGit, Who::Floor, "clone and copy"),
        (Task::FromFolder, Who::CloneFloor, "clone and copy"),
        (Task::FromFolder, Who::Floor, "copy"),
    ] {
        for size in crate::packages::SIZES {
            let what = format!("{task}, of {}, to {to}", thousands(size));
            verdicts.push(times(what, 1.3, found.to(task, size, &floor)));
        }
    }
    let verified = found.to_floor(Task::Verify, SIZE_OF_PACKAGES);
    let what = format!("verify of {}, to hashing the same bytes", thousands(SIZE_OF_PACKAGES));
    verdicts.push(times(what, 1.2, verified));
    let one = found.seconds(Task::FromFolder, 1).map(|seconds| seconds * 1_000.0);
    let what = format!("{}, of 1", Task::FromFolder);
    verdicts.push(Verdict { what, target: 15.0, unit: "ms", value: one });
    verdicts
}

/// [`SIZE`], or the largest below it that was measured.
fn size(figures: &[Figure]) -> usize {
    figures.iter().map(|figure| figure.size).filter(|size| *size <= SIZE).max().unwrap_or(SIZE)
}

fn times(what: String, target: f64, value: Result<f64, String>) -> Verdict {
    Verdict { what, target, unit: "×", value }
}

fn ratio(ours: &Stats, theirs: &Stats) -> f64 {
    ours.min.as_secs_f64() / theirs.min.as_secs_f64()
}

struct Found<'a>(&'a [Figure]);

impl<'a> Found<'a> {
    fn stats(&self, task: Task, size: usize, who: &Who) -> Result<&'a Stats, String> {
        let mut found = self.0.iter().filter(|f| f.task == task && f.size == size && f.who == *who);
        let figure = found.next().ok_or_else(|| format!("{} not measured", thousands(size)))?;
        figure.outcome.as_ref().map_err(|reason| format!("{who}: {reason}"))
    }

    fn to_floor(&self, task: Task, size: usize) -> Result<f64, String> {
        self.to(task, size, &Who::Floor)
    }

    fn to(&self, task: Task, size: usize, floor: &Who) -> Result<f64, String> {
        Ok(ratio(self.stats(task, size, &Who::Prowess)?, self.stats(task, size, floor)?))
    }

    fn seconds(&self, task: Task, size: usize) -> Result<f64, String> {
        Ok(self.stats(task, size, &Who::Prowess)?.min.as_secs_f64())
    }

    fn growth(&self, small: usize, large: usize) -> Result<f64, String> {
        let (below, above) =
            (self.stats(Task::List, small, &Who::Prowess)?, self.stats(Task::List, large, &Who::Prowess)?);
        Ok(ratio(above, below) * small as f64 / large as f64)
    }

    fn memory(&self, size: usize) -> Result<f64, String> {
        let start = self.stats(Task::Start, 0, &Who::Prowess)?.peak;
        let list = self.stats(Task::List, size, &Who::Prowess)?.peak;
        Ok(list.saturating_sub(start) as f64 / 1024.0 / size as f64)
    }

    fn fastest_peer(&self, task: Task, size: usize) -> Result<(&'static str, &'a Stats), String> {
        let of_peers = self.0.iter().filter(|figure| figure.task == task && figure.size == size);
        of_peers
            .filter_map(|figure| match (&figure.who, &figure.outcome) {
                (Who::Peer(name), Ok(stats)) => Some((*name, stats)),
                _ => None,
            })
            .min_by_key(|(_, stats)| stats.min)
            .ok_or_else(|| "no peer measured".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn figure(task: Task, size: usize, who: Who, millis: u64, peak: u64) -> Figure {
        let time = Duration::from_millis(millis);
        let stats = Stats { runs: 1, min: time, median: time, cpu: time, peak };
        Figure { task, size, who, call: String::new(), outcome: Ok(stats) }
    }

    fn hundredths(value: f64) -> i64 {
        (value * 100.0).round() as i64
    }

    #[test]
    fn ratios_come_from_minima_and_the_fastest_peer_counts() {
        let kib = 1024;
        let figures = [
            figure(Task::Start, 0, Who::Floor, 1, 0),
            figure(Task::Start, 0, Who::Prowess, 3, 4 * kib),
            figure(Task::List, 10_000, Who::Floor, 100, 0),
            figure(Task::List, 10_000, Who::Prowess, 150, (4 + 20_000) * kib),
            figure(Task::List, 10_000, Who::Peer("slow"), 900, 0),
            figure(Task::List, 10_000, Who::Peer("fast"), 250, 0),
            figure(Task::List, 1_000, Who::Prowess, 10, 0),
        ];
        let met: Vec<(String, Option<i64>, Option<bool>)> = all(&figures)
            .into_iter()
            .map(|verdict| (verdict.what.clone(), verdict.value.clone().ok().map(hundredths), verdict.met()))
            .filter(|(_, value, _)| value.is_some())
            .collect();
        let expected = [
            ("list of 10,000, to the floor", 150, true),
            ("start, to an empty program", 300, false),
            ("list, time for each skill at 10,000 to that at 1,000", 150, false),
            ("list of 10,000, peak memory above the start's", 200, true),
            ("list of 10,000, to fast", 60, false),
        ];
        assert_eq!(met, expected.map(|(what, value, met)| (what.to_owned(), Some(value), Some(met))));
    }
}
