//! The targets, and whether the figures meet them.
//!
//! Most targets are ratios or memory per skill, because times depend on the machine. For targets that are times, the table of
//! figures contains the ratio to the floor.

use crate::measure::Stats;
use crate::suite::{Figure, Participant, Task};
use crate::table::thousands;

/// The size that targets refer to.
pub const SIZE: usize = 10_000;

/// The size that the target of `verify` refers to.
const PACKAGES_SIZE: usize = 1_000;

/// The size that the target of `hook` refers to.
const HOOK_SIZE: usize = 1_000;

/// A target and the measured value.
#[derive(Clone, Debug)]
pub struct TargetResult {
    /// A description of the comparison and the size.
    pub description: String,
    /// The maximum.
    pub target: f64,
    /// The unit: `×`, `KiB a skill`, `s` or `ms`.
    pub unit: &'static str,
    /// The value, or the reason why there is none.
    pub value: Result<f64, String>,
}

impl TargetResult {
    /// Returns whether the target is met, or `None` if it was not measured.
    pub fn met(&self) -> Option<bool> {
        self.value.as_ref().ok().map(|value| *value <= self.target)
    }
}

/// Compares the figures with all targets.
pub fn compare(figures: &[Figure]) -> Vec<TargetResult> {
    let size = size(figures);
    let size_text = thousands(size);
    let lookup = Figures(figures);
    let mut results = vec![
        times(format!("list of {size_text}, to the floor"), 1.5, lookup.to_floor(Task::List, size)),
        times(format!("check of {size_text}, to the floor"), 2.0, lookup.to_floor(Task::Check, size)),
        times(
            format!("refresh of {size_text}, to the floor that stats"),
            1.2,
            lookup.to_floor(Task::Refresh, size),
        ),
        times("start, to an empty program".to_owned(), 2.0, lookup.to_floor(Task::Start, 0)),
    ];
    for (small, large) in [(1_000, 10_000), (10_000, 100_000)] {
        let description =
            format!("list, time for each skill at {} to that at {}", thousands(large), thousands(small));
        results.push(times(description, 1.2, lookup.growth(small, large)));
    }
    for size in [10_000, 100_000] {
        let description = format!("list of {}, peak memory above the start's", thousands(size));
        results.push(TargetResult {
            description,
            target: 3.0,
            unit: "KiB a skill",
            value: lookup.memory(size),
        });
    }
    for task in [Task::List, Task::Check, Task::Prompt] {
        let (description, value) = match lookup.fastest_peer(task, size) {
            Ok((peer, stats)) => {
                let ours = lookup.stats(task, size, &Participant::Prowess);
                (peer.to_string(), ours.map(|ours| ratio(ours, stats)))
            }
            Err(reason) => ("fastest peer".to_owned(), Err(reason)),
        };
        results.push(times(format!("{task} of {size_text}, to {description}"), 0.5, value));
    }
    results.push(TargetResult {
        description: format!("hook of {}, beyond an empty program", thousands(HOOK_SIZE)),
        target: 10.0,
        unit: "ms",
        value: lookup.beyond_floor(Task::Hook, HOOK_SIZE),
    });
    for (task, target) in [(Task::Audit, 1.0), (Task::Lint, 2.0)] {
        let value = lookup.seconds(task, size);
        results.push(TargetResult {
            description: format!("{task} of {size_text}"),
            target,
            unit: "s",
            value,
        });
    }
    results
}

/// Compares the figures of packages with their targets. The target of installing, 1.3 × a clone and a copy, has two readings
/// for a directory: compared with the same clone and copy, or with the copy alone. Both are returned.
pub fn compare_packages(figures: &[Figure]) -> Vec<TargetResult> {
    let lookup = Figures(figures);
    let mut results = Vec::new();
    for (task, floor, baseline) in [
        (Task::FromGit, Participant::Floor, "clone and copy"),
        (Task::FromDirectory, Participant::CloneFloor, "clone and copy"),
        (Task::FromDirectory, Participant::Floor, "copy"),
    ] {
        for size in crate::packages::SIZES {
            let description = format!("{task}, of {}, to {baseline}", thousands(size));
            results.push(times(description, 1.3, lookup.to(task, size, &floor)));
        }
    }
    let verified = lookup.to_floor(Task::Verify, PACKAGES_SIZE);
    let description = format!("verify of {}, to hashing the same bytes", thousands(PACKAGES_SIZE));
    results.push(times(description, 1.2, verified));
    let milliseconds = lookup.seconds(Task::FromDirectory, 1).map(|seconds| seconds * 1_000.0);
    let description = format!("{}, of 1", Task::FromDirectory);
    results.push(TargetResult { description, target: 15.0, unit: "ms", value: milliseconds });
    results
}

/// Returns [`SIZE`], or the largest measured size below it.
fn size(figures: &[Figure]) -> usize {
    figures.iter().map(|figure| figure.size).filter(|size| *size <= SIZE).max().unwrap_or(SIZE)
}

fn times(description: String, target: f64, value: Result<f64, String>) -> TargetResult {
    TargetResult { description, target, unit: "×", value }
}

fn ratio(ours: &Stats, theirs: &Stats) -> f64 {
    ours.min.as_secs_f64() / theirs.min.as_secs_f64()
}

struct Figures<'a>(&'a [Figure]);

impl<'a> Figures<'a> {
    fn stats(&self, task: Task, size: usize, participant: &Participant) -> Result<&'a Stats, String> {
        let mut found =
            self.0.iter().filter(|f| f.task == task && f.size == size && f.participant == *participant);
        let figure = found.next().ok_or_else(|| format!("{} not measured", thousands(size)))?;
        figure.outcome.as_ref().map_err(|reason| format!("{participant}: {reason}"))
    }

    fn to_floor(&self, task: Task, size: usize) -> Result<f64, String> {
        self.to(task, size, &Participant::Floor)
    }

    fn to(&self, task: Task, size: usize, floor: &Participant) -> Result<f64, String> {
        Ok(ratio(self.stats(task, size, &Participant::Prowess)?, self.stats(task, size, floor)?))
    }

    fn seconds(&self, task: Task, size: usize) -> Result<f64, String> {
        Ok(self.stats(task, size, &Participant::Prowess)?.min.as_secs_f64())
    }

    /// Returns the milliseconds beyond the floor.
    fn beyond_floor(&self, task: Task, size: usize) -> Result<f64, String> {
        let floor = self.stats(task, size, &Participant::Floor)?.min;
        Ok((self.seconds(task, size)? - floor.as_secs_f64()) * 1_000.0)
    }

    fn growth(&self, small: usize, large: usize) -> Result<f64, String> {
        let (below, above) = (
            self.stats(Task::List, small, &Participant::Prowess)?,
            self.stats(Task::List, large, &Participant::Prowess)?,
        );
        Ok(ratio(above, below) * small as f64 / large as f64)
    }

    fn memory(&self, size: usize) -> Result<f64, String> {
        let start = self.stats(Task::Start, 0, &Participant::Prowess)?.peak;
        let list = self.stats(Task::List, size, &Participant::Prowess)?.peak;
        Ok(list.saturating_sub(start) as f64 / 1024.0 / size as f64)
    }

    fn fastest_peer(&self, task: Task, size: usize) -> Result<(&'static str, &'a Stats), String> {
        let figures = self.0.iter().filter(|figure| figure.task == task && figure.size == size);
        figures
            .filter_map(|figure| match (&figure.participant, &figure.outcome) {
                (Participant::Peer(name), Ok(stats)) => Some((*name, stats)),
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

    fn figure(task: Task, size: usize, participant: Participant, millis: u64, peak: u64) -> Figure {
        let time = Duration::from_millis(millis);
        let stats = Stats { runs: 1, min: time, median: time, cpu: time, peak };
        Figure { task, size, participant, call: String::new(), outcome: Ok(stats) }
    }

    fn hundredths(value: f64) -> i64 {
        (value * 100.0).round() as i64
    }

    #[test]
    fn ratios_come_from_minima_and_the_fastest_peer_counts() {
        let kib = 1024;
        let figures = [
            figure(Task::Start, 0, Participant::Floor, 1, 0),
            figure(Task::Start, 0, Participant::Prowess, 3, 4 * kib),
            figure(Task::List, 10_000, Participant::Floor, 100, 0),
            figure(Task::List, 10_000, Participant::Prowess, 150, (4 + 20_000) * kib),
            figure(Task::List, 10_000, Participant::Peer("slow"), 900, 0),
            figure(Task::List, 10_000, Participant::Peer("fast"), 250, 0),
            figure(Task::List, 1_000, Participant::Prowess, 10, 0),
        ];
        let met: Vec<(String, Option<i64>, Option<bool>)> = compare(&figures)
            .into_iter()
            .map(|result| {
                (result.description.clone(), result.value.clone().ok().map(hundredths), result.met())
            })
            .filter(|(_, value, _)| value.is_some())
            .collect();
        let expected = [
            ("list of 10,000, to the floor", 150, true),
            ("start, to an empty program", 300, false),
            ("list, time for each skill at 10,000 to that at 1,000", 150, false),
            ("list of 10,000, peak memory above the start's", 200, true),
            ("list of 10,000, to fast", 60, false),
        ];
        assert_eq!(
            met,
            expected.map(|(description, value, met)| (description.to_owned(), Some(value), Some(met)))
        );
    }
}
