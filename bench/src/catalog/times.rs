//! How long things take: on the processor, which other work on the machine does not change much, and by the clock.

use std::fmt;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How long something took.
#[derive(Debug, Clone, Copy)]
pub struct Took {
    /// On the processor.
    pub worked: Duration,
    /// By the clock.
    pub waited: Duration,
}

/// Does something and takes the time, on all threads of the process.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Took) {
    on(ClockId::ProcessCPUTime, work)
}

/// The same for something that this thread does alone.
pub fn timed_here<T>(work: impl FnOnce() -> T) -> (T, Took) {
    on(ClockId::ThreadCPUTime, work)
}

fn on<T>(clock: ClockId, work: impl FnOnce() -> T) -> (T, Took) {
    let (before, start) = (worked(clock), Instant::now());
    let done = work();
    let (after, waited) = (worked(clock), start.elapsed());
    (done, Took { worked: after.saturating_sub(before), waited })
}

fn worked(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The times of many questions.
#[derive(Debug, Default)]
pub struct Times {
    worked: Vec<Duration>,
    waited: Vec<Duration>,
}

impl Times {
    /// One more.
    pub fn add(&mut self, took: Took) {
        self.worked.push(took.worked);
        self.waited.push(took.waited);
    }

    /// On the processor.
    pub fn worked(&self) -> Spread {
        Spread::of(self.worked.clone())
    }

    /// By the clock.
    pub fn waited(&self) -> Spread {
        Spread::of(self.waited.clone())
    }
}

/// How times are spread, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// Half take longer.
    pub median: f64,
    /// One in twenty takes longer.
    pub p95: f64,
    /// One in a hundred takes longer.
    pub p99: f64,
    /// The longest.
    pub most: f64,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            let at = (times.len().saturating_sub(1) as f64 * share) as usize;
            times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        Self { median: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1.0) }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, p95, p99, most } = self;
        write!(f, "median {median:.2} ms, p95 {p95:.2} ms, p99 {p99:.2} ms, most {most:.2} ms")
    }
}
