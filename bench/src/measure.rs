//! Running commands: whole processes, in turns, timed from before the start until after the end.
//!
//! Commands that are compared take turns, so that a load on the machine hits all of them. What counts is the minimum;
//! the median is kept to show how quiet the machine was. Every command is first run once with its output read, to prove
//! that it did the work, and to warm the page cache; timed runs write to nowhere.
//!
//! A child's peak memory starts at the peak of the process that started it (Linux counts what was resident before
//! `exec`), so this process has to stay small: no output is ever held.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

use crate::fresh::Fresh;
use crate::prose::NAME_MARK;

/// A command and how to tell that it did its work.
pub struct Call {
    /// How the call is shown: `TREE` and the like instead of paths.
    pub shown: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs.
    pub directory: PathBuf,
    /// What it reads, if anything.
    pub input: Option<PathBuf>,
    /// Variables set for it.
    pub variables: Vec<(&'static str, OsString)>,
    /// How often, at least, the names of skills must occur in what it prints.
    pub names: usize,
    /// What it fills, if it fills anything.
    pub fresh: Option<Fresh>,
}

/// When a command has been run often enough.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Never more runs than this.
    pub most: usize,
    /// At least this many, unless `limit` is reached.
    pub least: usize,
    /// Time after which the least number of runs is enough.
    pub enough: Duration,
    /// Time after which no further run starts.
    pub limit: Duration,
}

impl Effort {
    /// For commands that write: what they wrote is kept until the end.
    pub const WRITING: Self =
        Self { most: 15, least: 5, enough: Duration::from_secs(2), limit: Duration::from_secs(10) };

    /// For commands of some seconds at the most.
    pub const FULL: Self =
        Self { most: 400, least: 7, enough: Duration::from_secs(3), limit: Duration::from_secs(12) };

    fn wants_more(self, runs: &[Sample]) -> bool {
        let spent: Duration = runs.iter().map(|run| run.wall).sum();
        runs.len() < self.most && spent < self.limit && (runs.len() < self.least || spent < self.enough)
    }
}

/// One run.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Time on the clock.
    pub wall: Duration,
    /// Time on the processors.
    pub cpu: Duration,
    /// The largest resident set, in bytes.
    pub peak: u64,
}

/// Several runs of one command.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// How many.
    pub runs: usize,
    /// The shortest time on the clock.
    pub min: Duration,
    /// The middle one.
    pub median: Duration,
    /// The least time on the processors.
    pub cpu: Duration,
    /// The largest resident set of all runs, in bytes.
    pub peak: u64,
}

impl Stats {
    /// None for no runs.
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

/// Runs the calls in turns; for each its figures, or why there are none.
pub fn in_turns(calls: &[Call], effort: Effort) -> Vec<Result<Stats, String>> {
    let proofs: Vec<Result<(), String>> = calls.iter().map(prove).collect();
    rounds(&proofs, effort, |index| timed(calls.get(index).ok_or("no such call")?).map(|sample| vec![sample]))
}

/// Runs programs that time their own passes and print each in nanoseconds on a line, in turns.
pub fn passes_in_turns(calls: &[Call], effort: Effort) -> Vec<Result<Stats, String>> {
    let proofs: Vec<Result<(), String>> = calls.iter().map(|call| passes(call).map(drop)).collect();
    rounds(&proofs, effort, |index| passes(calls.get(index).ok_or("no such call")?))
}

fn rounds(
    proofs: &[Result<(), String>],
    effort: Effort,
    run: impl Fn(usize) -> Result<Vec<Sample>, String>,
) -> Vec<Result<Stats, String>> {
    let mut samples: Vec<Result<Vec<Sample>, String>> =
        proofs.iter().map(|proof| proof.clone().map(|()| Vec::new())).collect();
    for round in 0.. {
        let mut idle = true;
        for turn in 0..samples.len() {
            // Back and forth: nobody always runs after the same other one.
            let index = if round % 2 == 0 { turn } else { samples.len() - 1 - turn };
            let Some(slot) = samples.get_mut(index) else { continue };
            let Ok(taken) = slot else { continue };
            if !effort.wants_more(taken) {
                continue;
            }
            idle = false;
            match run(index) {
                Ok(more) => taken.extend(more),
                Err(reason) => *slot = Err(reason),
            }
        }
        if idle {
            break;
        }
    }
    samples
        .into_iter()
        .map(|taken| taken.and_then(|taken| Stats::of(&taken).ok_or("no runs".into())))
        .collect()
}

/// One run with its output read: it must end well and name every skill. The output goes by way of a file because one
/// peer loses what a pipe does not take at once.
fn prove(call: &Call) -> Result<(), String> {
    let path = std::env::temp_dir().join(format!("prowess-bench-{}", std::process::id()));
    let proof = prove_by_way_of(&path, call);
    fs::remove_file(&path).map_err(|error| error.to_string())?;
    proof
}

fn prove_by_way_of(path: &Path, call: &Call) -> Result<(), String> {
    let output = File::create(path).map_err(|error| error.to_string())?;
    renew(call)?;
    let mut command = command(call)?;
    command.stdout(output.try_clone().map_err(|error| error.to_string())?).stderr(output);
    well(command.status().map_err(|error| format!("does not start: {error}"))?)?;
    let names = count(&mut open(path)?, NAME_MARK.as_bytes()).map_err(|error| error.to_string())?;
    if names < call.names {
        return Err(format!("printed {names} names where {} were due", call.names));
    }
    call.fresh.as_ref().map_or(Ok(()), Fresh::check)
}

fn renew(call: &Call) -> Result<(), String> {
    let made = call.fresh.as_ref().map_or(Ok(()), Fresh::make);
    made.map_err(|error| format!("no fresh place: {error}"))
}

/// One run that is timed.
fn timed(call: &Call) -> Result<Sample, String> {
    renew(call)?;
    let mut command = command(call)?;
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let child = command.spawn().map_err(|error| error.to_string())?;
    let end = child.wait4().map_err(|error| error.to_string())?;
    let wall = start.elapsed();
    well(end.status)?;
    Ok(Sample { wall, cpu: end.rusage.utime + end.rusage.stime, peak: end.rusage.maxrss })
}

/// One run of a program that times its own passes.
fn passes(call: &Call) -> Result<Vec<Sample>, String> {
    let mut command = command(call)?;
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("does not start: {error}"))?;
    let mut printed = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut printed).map_err(|error| error.to_string())?;
    }
    let end = child.wait4().map_err(|error| error.to_string())?;
    well(end.status)?;
    printed
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

fn well(status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("ended with {status}")) }
}

/// How often `needle` occurs, without holding the text.
fn count(reader: &mut impl Read, needle: &[u8]) -> io::Result<usize> {
    let mut buffer = vec![0; 64 * 1024];
    let mut kept = 0; // the end of the last piece, too short to hold the needle
    let mut found = 0;
    loop {
        let read = match buffer.get_mut(kept..) {
            Some(free) => reader.read(free)?,
            None => 0,
        };
        if read == 0 {
            return Ok(found);
        }
        let filled = kept + read;
        found += buffer
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

    /// Gives one byte at a time, so that every needle lies across a border.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let (now, rest) = self.0.split_at(self.0.len().min(1));
            into[..now.len()].copy_from_slice(now);
            self.0 = rest;
            Ok(now.len())
        }
    }

    #[test]
    fn needles_are_counted_across_borders() {
        let text = b"a-n0 b-n01-n-n0";
        assert_eq!(count(&mut &text[..], b"-n0").unwrap(), 3);
        assert_eq!(count(&mut Drip(text), b"-n0").unwrap(), 3);
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
