//! Measures processor time, which other load on the machine hardly affects, and wall-clock time.

use std::fmt;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The times of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Measurement {
    /// The processor time.
    pub processor: Duration,
    /// The wall-clock time.
    pub wall: Duration,
}

/// Measures an operation, with the processor time of all threads.
pub fn measure_process<T>(work: impl FnOnce() -> T) -> (T, Measurement) {
    measure(ClockId::ProcessCPUTime, work)
}

/// Measures an operation, with the processor time of this thread only.
pub fn measure_thread<T>(work: impl FnOnce() -> T) -> (T, Measurement) {
    measure(ClockId::ThreadCPUTime, work)
}

fn measure<T>(clock: ClockId, work: impl FnOnce() -> T) -> (T, Measurement) {
    let (before, start) = (processor_time(clock), Instant::now());
    let result = work();
    let (after, wall) = (processor_time(clock), start.elapsed());
    (result, Measurement { processor: after.saturating_sub(before), wall })
}

fn processor_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The times of many operations.
#[derive(Debug, Default)]
pub struct Times {
    processor: Vec<Duration>,
    wall: Vec<Duration>,
}

impl Times {
    /// Adds an operation.
    pub fn add(&mut self, measurement: Measurement) {
        self.processor.push(measurement.processor);
        self.wall.push(measurement.wall);
    }

    /// Returns the percentiles of processor times.
    pub fn processor(&self) -> Percentiles {
        Percentiles::of(self.processor.clone())
    }

    /// Returns the percentiles of wall-clock times.
    pub fn wall(&self) -> Percentiles {
        Percentiles::of(self.wall.clone())
    }
}

/// Percentiles of times, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Percentiles {
    /// The median.
    pub median: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Percentiles {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let percentile = |share: f64| {
            let percentile = (times.len().saturating_sub(1) as f64 * share) as usize;
            times.get(percentile).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        Self { median: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99), max: percentile(1.0) }
    }
}

impl fmt::Display for Percentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, p95, p99, max } = self;
        write!(f, "median {median:.2} ms, p95 {p95:.2} ms, p99 {p99:.2} ms, max {max:.2} ms")
    }
}
