//! Watches a running script: its output, time and resource usage.

use std::time::{Duration, Instant};

use super::Limits;
use super::meter::Meter;
use super::options::{Cancel, OutputHandler};
use super::result::{OutputStream, RunLimit};
use super::sandbox::{ProcessEvent, SandboxedProcess};

/// How often cancellation is checked.
const TICK: Duration = Duration::from_millis(20);

/// How often resource usage is measured.
const MEASURE_INTERVAL: Duration = Duration::from_millis(100);

/// How long to wait for output after everything has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// The signal that ends a process whose file grows too large.
const SIGXFSZ: i32 = 25;

/// The result of watching a script.
#[derive(Debug, Default)]
pub(super) struct WatchResult {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) limits_hit: Vec<RunLimit>,
    pub(super) cancelled: bool,
    pub(super) left_behind: u32,
    pub(super) not_started: Option<String>,
    has_exited: bool,
}

impl WatchResult {
    /// Returns `true` if the script did not end by itself.
    pub(super) fn was_killed(&self) -> bool {
        self.cancelled || self.limits_hit.iter().any(|limit| *limit != RunLimit::Processes)
    }

    pub(super) fn add_limit(&mut self, limit: RunLimit) {
        if !self.limits_hit.contains(&limit) {
            self.limits_hit.push(limit);
            self.limits_hit.sort();
        }
    }
}

/// Watches a script until it and all its processes have ended.
pub(super) fn watch(
    mut process: SandboxedProcess,
    limits: &Limits,
    mut meter: Meter,
    cancel: &Cancel,
    on_output: &mut Option<OutputHandler<'_>>,
) -> std::io::Result<WatchResult> {
    let started = Instant::now();
    let mut result = WatchResult::default();
    let mut measured = started;
    let mut killed: Option<Instant> = None;
    loop {
        let remaining = limits.time.saturating_sub(started.elapsed());
        for event in process.next_events(remaining.min(TICK).max(Duration::from_millis(1)))? {
            handle_event(event, &mut result, limits, on_output);
        }
        if process.is_finished() {
            break;
        }
        let ended = result.has_exited || result.not_started.is_some();
        match killed {
            Some(killed) if killed.elapsed() > DRAIN_TIMEOUT => break,
            Some(_) => continue,
            None => {}
        }
        if !ended && started.elapsed() >= limits.time {
            result.add_limit(RunLimit::Time);
        }
        if !ended && cancel.is_cancelled() {
            result.cancelled = true;
        }
        if !ended && measured.elapsed() >= MEASURE_INTERVAL {
            measured = Instant::now();
            meter.limits_hit(&process, limits).into_iter().for_each(|limit| result.add_limit(limit));
        }
        if result.was_killed() || ended {
            process.kill();
            killed = Some(Instant::now());
        }
    }
    process.kill();
    if !result.has_exited && result.not_started.is_none() {
        result.signal = Some(9);
    }
    if result.signal == Some(SIGXFSZ) {
        result.add_limit(RunLimit::FileSize);
    }
    meter.limits_hit_at_end(&process, limits).into_iter().for_each(|limit| result.add_limit(limit));
    Ok(result)
}

fn handle_event(
    event: ProcessEvent,
    result: &mut WatchResult,
    limits: &Limits,
    on_output: &mut Option<OutputHandler<'_>>,
) {
    match event {
        ProcessEvent::Output(stream, bytes) => {
            let written = (result.stdout.len() + result.stderr.len()) as u64;
            let remaining =
                usize::try_from(limits.output_bytes.saturating_sub(written)).unwrap_or(usize::MAX);
            let accepted = bytes.get(..remaining).unwrap_or(&bytes);
            if accepted.len() < bytes.len() {
                result.add_limit(RunLimit::Output);
            }
            if let (Some(handler), false) = (on_output, accepted.is_empty()) {
                handler(stream, accepted);
            }
            match stream {
                OutputStream::Out => result.stdout.extend_from_slice(accepted),
                OutputStream::Err => result.stderr.extend_from_slice(accepted),
            }
        }
        ProcessEvent::NotStarted(reason) => result.not_started = Some(reason),
        ProcessEvent::Exited { code, signal, left_behind } => {
            result.has_exited = true;
            // A script that was killed here did not end by itself.
            let killed = result.was_killed();
            (result.exit_code, result.signal) = if killed { (None, Some(9)) } else { (code, signal) };
            result.left_behind = if killed { 0 } else { left_behind };
            // The script may have ended because it could not start more processes, before usage was measured.
            if left_behind > 0 && left_behind.saturating_add(1) >= limits.processes {
                result.add_limit(RunLimit::Processes);
            }
        }
    }
}
