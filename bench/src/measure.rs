//! Runs commands and measures whole processes, from before the start until after the exit.
//!
//! Compared commands alternate, so that other load affects all of them equally. The minimum counts; the median shows how much
//! other load there was. Each command first runs once with its output checked, which also warms the page cache. The output of
//! timed runs is discarded.
//!
//! The peak memory of a child starts at the peak of its parent, because Linux counts the memory before `exec`. So this process
//! must stay small and never keeps output.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

use crate::empty_project::EmptyProject;
use crate::prose::NAME_MARKER;

/// A command, and how to check that it did its work.
pub struct Call {
    /// The displayed call, with `TREE` and the like instead of paths.
    pub shown: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The working directory.
    pub directory: PathBuf,
    /// The file for standard input.
    pub input: Option<PathBuf>,
    /// Additional environment variables.
    pub variables: Vec<(&'static str, OsString)>,
    /// How often the names of skills must at least occur in the output.
    pub names: usize,
    /// The project that it installs into.
    pub empty_project: Option<EmptyProject>,
}

/// How often a command runs.
#[derive(Clone, Copy)]
pub struct Effort {
    /// The maximum number of runs.
    pub max_runs: usize,
    /// The minimum number of runs, unless `max_time` is reached.
    pub min_runs: usize,
    /// The time after which `min_runs` is enough.
    pub min_time: Duration,
    /// The time after which no further run starts.
    pub max_time: Duration,
}

impl Effort {
    /// For commands that write, because written files are kept until the end.
    pub const WRITING: Self = Self {
        max_runs: 15,
        min_runs: 5,
        min_time: Duration::from_secs(2),
        max_time: Duration::from_secs(10),
    };

    /// For commands that take at most some seconds.
    pub const FULL: Self = Self {
        max_runs: 400,
        min_runs: 7,
        min_time: Duration::from_secs(3),
        max_time: Duration::from_secs(12),
    };

    fn wants_more(self, runs: &[Sample]) -> bool {
        let spent: Duration = runs.iter().map(|run| run.wall).sum();
        runs.len() < self.max_runs
            && spent < self.max_time
            && (runs.len() < self.min_runs || spent < self.min_time)
    }
}

/// The measurements of one run.
#[derive(Clone, Copy)]
pub struct Sample {
    /// The wall-clock time.
    pub wall: Duration,
    /// The processor time.
    pub cpu: Duration,
    /// The maximum resident set, in bytes.
    pub peak: u64,
}

/// The statistics of several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// The number of runs.
    pub runs: usize,
    /// The minimum wall-clock time.
    pub min: Duration,
    /// The median wall-clock time.
    pub median: Duration,
    /// The minimum processor time.
    pub cpu: Duration,
    /// The maximum resident set of all runs, in bytes.
    pub peak: u64,
}

impl Stats {
    /// Returns the statistics of these runs, or `None` if there are none.
    pub fn of(runs: &[Sample]) -> Option<Self> {
        let mut walls: Vec<Duration> = runs.iter().map(|run| run.wall).collect();
        walls.sort();
        Some(Self {
            runs: walls.len(),
            min: *walls.first()?,
            median: *walls.get(walls.len() / 2)?,
            cpu: runs.iter().map(|run| run.cpu).min()?,
            peak: runs.iter().map(|run| run.peak).max()?,
        })
    }
}

/// Runs the calls alternately. Returns the statistics of each, or the reason why there are none.
pub fn run_alternating(calls: &[Call], effort: Effort) -> Vec<Result<Stats, String>> {
    let checks: Vec<Result<(), String>> = calls.iter().map(check).collect();
    run_rounds(&checks, effort, |index| {
        measure_run(calls.get(index).ok_or("no such call")?).map(|sample| vec![sample])
    })
}

/// Runs programs that measure their own passes and print the nanoseconds of each on a line, alternately.
pub fn run_passes_alternating(calls: &[Call], effort: Effort) -> Vec<Result<Stats, String>> {
    let checks: Vec<Result<(), String>> = calls.iter().map(|call| run_passes(call).map(drop)).collect();
    run_rounds(&checks, effort, |index| run_passes(calls.get(index).ok_or("no such call")?))
}

fn run_rounds(
    checks: &[Result<(), String>],
    effort: Effort,
    run: impl Fn(usize) -> Result<Vec<Sample>, String>,
) -> Vec<Result<Stats, String>> {
    let mut samples: Vec<Result<Vec<Sample>, String>> =
        checks.iter().map(|check| check.clone().map(|()| Vec::new())).collect();
    for round in 0.. {
        let mut idle = true;
        for turn in 0..samples.len() {
            // Change the direction, so that no command always runs after the same one.
            let index = if round % 2 == 0 { turn } else { samples.len() - 1 - turn };
            let Some(slot) = samples.get_mut(index) else { continue };
            let Ok(collected) = slot else { continue };
            if !effort.wants_more(collected) {
                continue;
            }
            idle = false;
            match run(index) {
                Ok(new_samples) => collected.extend(new_samples),
                Err(reason) => *slot = Err(reason),
            }
        }
        if idle {
            break;
        }
    }
    samples
        .into_iter()
        .map(|samples| samples.and_then(|samples| Stats::of(&samples).ok_or("no runs".into())))
        .collect()
}

/// Runs a call and checks that it succeeds and prints the name of every skill. The output is written to a file, because one
/// peer loses output that a pipe does not accept at once.
fn check(call: &Call) -> Result<(), String> {
    let path = std::env::temp_dir().join(format!("prowess-bench-{}", std::process::id()));
    let result = check_with_output(&path, call);
    fs::remove_file(&path).map_err(|error| error.to_string())?;
    result
}

fn check_with_output(path: &Path, call: &Call) -> Result<(), String> {
    let output = File::create(path).map_err(|error| error.to_string())?;
    prepare(call)?;
    let mut command = command(call)?;
    command.stdout(output.try_clone().map_err(|error| error.to_string())?).stderr(output);
    check_status(command.status().map_err(|error| format!("cannot start: {error}"))?)?;
    let names = count(&mut open(path)?, NAME_MARKER.as_bytes()).map_err(|error| error.to_string())?;
    if names < call.names {
        return Err(format!("printed {names} names instead of {}", call.names));
    }
    call.empty_project.as_ref().map_or(Ok(()), EmptyProject::check)
}

fn prepare(call: &Call) -> Result<(), String> {
    let created = call.empty_project.as_ref().map_or(Ok(()), EmptyProject::create);
    created.map_err(|error| format!("cannot create the project: {error}"))
}

fn measure_run(call: &Call) -> Result<Sample, String> {
    prepare(call)?;
    let mut command = command(call)?;
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let child = command.spawn().map_err(|error| error.to_string())?;
    let end = child.wait4().map_err(|error| error.to_string())?;
    let wall = start.elapsed();
    check_status(end.status)?;
    Ok(Sample { wall, cpu: end.rusage.utime + end.rusage.stime, peak: end.rusage.maxrss })
}

/// Runs a program that measures its own passes.
fn run_passes(call: &Call) -> Result<Vec<Sample>, String> {
    let mut command = command(call)?;
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot start: {error}"))?;
    let mut output_text = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut output_text).map_err(|error| error.to_string())?;
    }
    let end = child.wait4().map_err(|error| error.to_string())?;
    check_status(end.status)?;
    output_text
        .lines()
        .map(|line| {
            let wall = line.parse().map(Duration::from_nanos).map_err(|_| format!("printed {line:?}"))?;
            Ok(Sample { wall, cpu: wall, peak: end.rusage.maxrss })
        })
        .collect()
}

fn command(call: &Call) -> Result<Command, String> {
    let mut command = Command::new(&call.program);
    command.args(&call.args).current_dir(&call.directory).envs(call.variables.iter().cloned());
    command.stdin(match &call.input {
        Some(path) => Stdio::from(open(path)?),
        None => Stdio::null(),
    });
    Ok(command)
}

fn open(path: &Path) -> Result<File, String> {
    File::open(path).map_err(|error| error.to_string())
}

fn check_status(status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("exited with {status}")) }
}

/// Counts the occurrences of `needle` without keeping the text.
fn count(reader: &mut impl Read, needle: &[u8]) -> io::Result<usize> {
    let mut buffer = vec![0; 64 * 1024];
    let mut kept = 0; // The end of the last chunk, which is shorter than the needle.
    let mut matches = 0;
    loop {
        let read = match buffer.get_mut(kept..) {
            Some(free) => reader.read(free)?,
            None => 0,
        };
        if read == 0 {
            return Ok(matches);
        }
        let filled = kept + read;
        matches += buffer
            .get(..filled)
            .map_or(0, |text| text.windows(needle.len()).filter(|w| *w == needle).count());
        let start = filled.saturating_sub(needle.len() - 1);
        buffer.copy_within(start..filled, 0);
        kept = filled - start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte at a time, so that every needle is split.
    struct OneByteReader<'a>(&'a [u8]);

    impl Read for OneByteReader<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let (now, rest) = self.0.split_at(self.0.len().min(1));
            into[..now.len()].copy_from_slice(now);
            self.0 = rest;
            Ok(now.len())
        }
    }

    #[test]
    fn split_needles_are_counted() {
        let text = b"a-n0 b-n01-n-n0";
        assert_eq!(count(&mut &text[..], b"-n0").unwrap(), 3);
        assert_eq!(count(&mut OneByteReader(text), b"-n0").unwrap(), 3);
    }

    #[test]
    fn stats_take_minimum_median_and_peak() {
        let sample =
            |ms, peak| Sample { wall: Duration::from_millis(ms), cpu: Duration::from_millis(ms), peak };
        let stats = Stats::of(&[sample(9, 1), sample(3, 7), sample(5, 2)]);
        let ms = Duration::from_millis;
        assert_eq!(stats, Some(Stats { runs: 3, min: ms(3), median: ms(5), cpu: ms(3), peak: 7 }));
        assert_eq!(Stats::of(&[]), None);
    }
}
