//! The same work for many things, on every core.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does it for each; the results come in the order of the things. Whoever has time takes the next.
///
/// ```
/// assert_eq!(prowess_package::parallel(&[1, 2, 3], |number| number * 2), [2, 4, 6]);
/// ```
pub fn parallel<T: Sync, R: Send>(things: &[T], one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(things.len());
    if threads < 2 {
        return things.iter().map(one).collect();
    }
    let next = AtomicUsize::new(0);
    let share = || {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        taken.map_while(|at| Some((at, one(things.get(at)?)))).collect::<Vec<_>>()
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(share)).collect();
        let mut all = share();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        for count in [0, 1, 2, 1_000] {
            let things: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = things.iter().map(|thing| thing * 2).collect();
            assert_eq!(parallel(&things, |thing| thing * 2), doubled);
        }
    }
}
