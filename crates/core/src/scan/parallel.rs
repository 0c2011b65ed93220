//! The same function over many items on all cores, with the results in order.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Below this a thread costs more than it saves.
const WORTH_A_THREAD: usize = 64;

/// How many items a thread takes at a time.
const CHUNK: usize = 32;

/// Maps `items` in order.
pub(crate) fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(16);
    let threads = cores.min(items.len() / WORTH_A_THREAD);
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done: Vec<(usize, Vec<R>)> = Vec::new();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            let Some(chunk) =
                items.get(start..items.len().min(start + CHUNK)).filter(|chunk| !chunk.is_empty())
            else {
                return done;
            };
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
    #[test]
    fn results_keep_their_order() {
        let items: Vec<usize> = (0..10_000).collect();
        assert_eq!(super::parallel(&items, |n| n * 2), items.iter().map(|n| n * 2).collect::<Vec<_>>());
        assert_eq!(super::parallel(&[] as &[usize], |n| *n), Vec::<usize>::new());
    }
}
