//! Mapping many items on all cores, with the results in order.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maps `items` and returns the results in order. Each thread takes `chunk_size` items at a time; without at
/// least two full chunks, no threads are started.
///
/// ```
/// assert_eq!(prowess_fs::parallel_map(&[1, 2, 3, 4], 1, |number| number * 2), [2, 4, 6, 8]);
/// ```
pub fn parallel_map<T: Sync, R: Send>(
    items: &[T],
    chunk_size: usize,
    map: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let chunk_size = chunk_size.max(1);
    // Querying the number of processors takes a dozen system calls.
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = || *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from).min(16));
    let chunks = items.len() / chunk_size;
    let threads = if chunks < 2 { 1 } else { chunks.min(cores()) };
    if threads < 2 {
        return items.iter().map(map).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done: Vec<(usize, Vec<R>)> = Vec::new();
        loop {
            let start = next.fetch_add(chunk_size, Ordering::Relaxed);
            let chunk = items.get(start..items.len().min(start.saturating_add(chunk_size)));
            let Some(chunk) = chunk.filter(|chunk| !chunk.is_empty()) else { return done };
            done.push((start, chunk.iter().map(&map).collect()));
        }
    };
    let mut chunks = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut chunks = run();
        for worker in workers {
            match worker.join() {
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
        for (count, chunk_size) in [(0, 1), (1, 1), (2, 1), (1_000, 1), (10_000, 32), (10, 0)] {
            let items: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = items.iter().map(|n| n * 2).collect();
            assert_eq!(parallel_map(&items, chunk_size, |n| n * 2), doubled);
        }
    }
}
