//! Looking after a script while it runs: its output, its time, and what it takes.

use std::time::{Duration, Instant};

use super::Limits;
use super::meter::Meter;
use super::options::{Cancel, OnOutput};
use super::ran::{Limit, Stream};
use super::sandbox::{Event, Running};

/// How often cancelling is looked for.
const TICK: Duration = Duration::from_millis(20);

/// How often it is counted what the script takes.
const COUNT: Duration = Duration::from_millis(100);

/// How long output is waited for once everything has ended.
const DRAIN: Duration = Duration::from_secs(2);

/// The signal that ends a process whose file grows too large.
const SIGXFSZ: i32 = 25;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) limits_hit: Vec<Limit>,
    pub(super) cancelled: bool,
    pub(super) left_behind: u32,
    pub(super) not_started: Option<String>,
    has_exited: bool,
}

impl Seen {
    fn hit(&mut self, limit: Limit) {
        if !self.limits_hit.contains(&limit) {
            self.limits_hit.push(limit);
            self.limits_hit.sort();
        }
    }
}

/// Looks after a script until it and everything it started has ended.
pub(super) fn watch(
    mut running: Running,
    limits: &Limits,
    mut meter: Meter,
    cancel: &Cancel,
    on_output: &mut Option<OnOutput<'_>>,
) -> std::io::Result<Seen> {
    let begun = Instant::now();
    let mut seen = Seen::default();
    let mut counted = begun;
    let mut killed: Option<Instant> = None;
    loop {
        let left = limits.time.saturating_sub(begun.elapsed());
        for event in running.next(left.min(TICK).max(Duration::from_millis(1)))? {
            take(event, &mut seen, limits, on_output);
        }
        if running.is_silent() {
            break;
        }
        let ended = seen.has_exited || seen.not_started.is_some();
        match killed {
            Some(killed) if killed.elapsed() > DRAIN => break,
            Some(_) => continue,
            None => {}
        }
        if !ended && begun.elapsed() >= limits.time {
            seen.hit(Limit::Time);
        }
        if !ended && cancel.is_cancelled() {
            seen.cancelled = true;
        }
        if !ended && counted.elapsed() >= COUNT {
            counted = Instant::now();
            meter.limits_hit(&running, limits).into_iter().for_each(|limit| seen.hit(limit));
        }
        let over = seen.limits_hit.iter().any(|limit| *limit != Limit::Processes);
        if over || seen.cancelled || ended {
            running.kill();
            killed = Some(Instant::now());
        }
    }
    running.kill();
    if !seen.has_exited && seen.not_started.is_none() {
        seen.signal = Some(9);
    }
    if seen.signal == Some(SIGXFSZ) {
        seen.hit(Limit::FileSize);
    }
    meter.limits_hit_at_end(&running, limits).into_iter().for_each(|limit| seen.hit(limit));
    Ok(seen)
}

fn take(event: Event, seen: &mut Seen, limits: &Limits, on_output: &mut Option<OnOutput<'_>>) {
    match event {
        Event::Output(stream, bytes) => {
            let so_far = (seen.stdout.len() + seen.stderr.len()) as u64;
            let room = usize::try_from(limits.output_bytes.saturating_sub(so_far)).unwrap_or(usize::MAX);
            let kept = bytes.get(..room).unwrap_or(&bytes);
            if kept.len() < bytes.len() {
                seen.hit(Limit::Output);
            }
            if let (Some(tell), false) = (on_output, kept.is_empty()) {
                tell(stream, kept);
            }
            match stream {
                Stream::Out => seen.stdout.extend_from_slice(kept),
                Stream::Err => seen.stderr.extend_from_slice(kept),
            }
        }
        Event::NotStarted(why) => seen.not_started = Some(why),
        Event::Exited { code, signal, left } => {
            seen.has_exited = true;
            // What Prowess itself ended did not end by its own.
            let is_ours = seen.cancelled || seen.limits_hit.iter().any(|limit| *limit != Limit::Processes);
            (seen.exit_code, seen.signal) = if is_ours { (None, Some(9)) } else { (code, signal) };
            seen.left_behind = if is_ours { 0 } else { left };
            // It may have ended because it could start no more, before anybody counted.
            if left > 0 && left.saturating_add(1) >= limits.processes {
                seen.hit(Limit::Processes);
            }
        }
    }
}
