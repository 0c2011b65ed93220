//! The same function over many items on all cores, with the results in order.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maps `items` in order. A thread takes `grain` items at a time; fewer than two shares for each thread are not worth one.
///
/// ```
/// assert_eq!(prowess_fs::parallel(&[1, 2, 3, 4], 1, |number| number * 2), [2, 4, 6, 8]);
/// ```
pub fn parallel<T: Sync, R: Send>(items: &[T], grain: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let grain = grain.max(1);
    // Asking the system takes a dozen calls.
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = || *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from).min(16));
    let shares = items.len() / grain;
    let threads = if shares < 2 { 1 } else { shares.min(cores()) };
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done: Vec<(usize, Vec<R>)> = Vec::new();
        loop {
            let start = next.fetch_add(grain, Ordering::Relaxed);
            let chunk = items.get(start..items.len().min(start.saturating_add(grain)));
            let Some(chunk) = chunk.filter(|chunk| !chunk.is_empty()) else { return done };
            done.push((start, chunk.iter().map(&work).collect()));
        }
    };
    let mut chunks = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut chunks = run();
        for other in others {
            match other.join() {
                Ok(done) => chunks.extend(done),
                Err(cause) => std::panic::resume_unwind(cause),
            }
        }
        chunks
    });
    chunks.sort_unstable_by_key(|(start, _)| *start);
    chunks.into_iter().flat_map(|(_, results)| results).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order() {
        for (count, grain) in [(0, 1), (1, 1), (2, 1), (1_000, 1), (10_000, 32), (10, 0)] {
            let items: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = items.iter().map(|n| n * 2).collect();
            assert_eq!(parallel(&items, grain, |n| n * 2), doubled);
        }
    }
}
