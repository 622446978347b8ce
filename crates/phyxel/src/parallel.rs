//! Deterministic data parallelism. The only module of the engine that uses threads.
//!
//! Work is split into chunks whose size never depends on the number of threads, every chunk writes only its own
//! data, and sums are reduced in index order. So the result is bitwise the same for any number of threads.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs `work` on a pool of `threads` threads (all cores if `None`).
///
/// Nested calls inside `work` use the same pool. If the operating system starts no more threads, it runs on the
/// pool of the caller.
pub fn with_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Number of threads of the current pool.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Maximum time for which a thread that is kept awake spins without work.
const MAX_IDLE: Duration = Duration::from_millis(1);
/// Number of yields between two readings of the clock.
const YIELDS_PER_CHECK: u32 = 64;

/// Runs `work` while the other threads spin, for sequences of many parallel loops of less than 0.1 ms each.
///
/// An idle thread sleeps after a few microseconds, and waking it takes some ten times as long. Threads spin for at
/// most 1 ms without work, so that they never block others for long.
pub fn keep_awake<T>(work: impl FnOnce() -> T) -> T {
    let Some(caller) = rayon::current_thread_index().filter(|_| threads() > 1) else { return work() };
    let done = SignalOnDrop(Arc::new(AtomicBool::new(false)));
    let is_done = Arc::clone(&done.0);
    rayon::spawn_broadcast(move |context| {
        if context.index() != caller {
            spin_for_work(&is_done);
        }
    });
    work()
}

/// Executes pool tasks until done, or until there is none for too long.
fn spin_for_work(is_done: &AtomicBool) {
    let mut last = Instant::now();
    while !is_done.load(Ordering::Acquire) && last.elapsed() < MAX_IDLE {
        for _ in 0..YIELDS_PER_CHECK {
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                last = Instant::now();
            }
            std::hint::spin_loop();
        }
        // Other processes may need the core.
        std::thread::yield_now();
    }
}

/// Signals completion when dropped, also by a panic.
struct SignalOnDrop(Arc<AtomicBool>);

impl Drop for SignalOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs both closures, in parallel if possible. Returns their results.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(a, b)
}

/// Calls `work(first_index, chunk)` for each chunk of `grain` items.
pub fn for_each_chunk<T: Send>(items: &mut [T], grain: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let grain = grain.max(1);
    if items.len() <= grain {
        if !items.is_empty() {
            work(0, items);
        }
        return;
    }
    items.par_chunks_mut(grain).enumerate().for_each(|(chunk, items)| work(chunk * grain, items));
}

/// Calls `work(first_index, chunk, other_chunk)` for each pair of chunks of `grain` items of two slices of
/// equal length.
pub fn for_each_chunk_of_two<T: Send, U: Send>(
    items: &mut [T],
    others: &mut [U],
    grain: usize,
    work: impl Fn(usize, &mut [T], &mut [U]) + Sync,
) {
    let grain = grain.max(1);
    if items.len() <= grain {
        if !items.is_empty() {
            work(0, items, others);
        }
        return;
    }
    let chunks = items.par_chunks_mut(grain).zip(others.par_chunks_mut(grain)).enumerate();
    chunks.for_each(|(chunk, (items, others))| work(chunk * grain, items, others));
}

/// Calls `work(first_index, chunk)` for each chunk of `grain` items. Returns the results in order.
pub fn map_chunks<T: Send, R: Send>(
    items: &mut [T],
    grain: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync,
) -> Vec<R> {
    let grain = grain.max(1);
    if items.len() <= grain {
        return if items.is_empty() { Vec::new() } else { vec![work(0, items)] };
    }
    items.par_chunks_mut(grain).enumerate().map(|(chunk, items)| work(chunk * grain, items)).collect()
}

/// Calls `work` for each item.
pub fn for_each_item<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) {
    if items.len() == 1 {
        return items.into_iter().for_each(work);
    }
    items.into_par_iter().for_each(&work);
}

/// Calls `work` for each item. Returns the results in order.
pub fn map_items<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() == 1 {
        return items.into_iter().map(work).collect();
    }
    items.into_par_iter().map(&work).collect()
}

/// Calls `work` for each index below `count`, in tasks of at least `grain` indices. Returns the results in order.
pub fn map<T: Send>(count: usize, grain: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if count <= grain {
        return (0..count).map(work).collect();
    }
    (0..count).into_par_iter().with_min_len(grain.max(1)).map(&work).collect()
}

/// Calls `work` for consecutive ranges of `grain` indices. Returns the results in order.
pub fn map_ranges<T: Send>(count: usize, grain: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let grain = grain.max(1);
    let range = |chunk: usize| chunk * grain..((chunk + 1) * grain).min(count);
    map(count.div_ceil(grain), 1, |chunk| work(range(chunk)))
}

/// Sorts by key. The sort is stable, so the result does not depend on the threads.
pub fn sort_by_key<T: Send, K: Ord + Send>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    items.par_sort_by_key(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_are_kept_awake_give_the_same_result() {
        let sum = |threads| {
            with_threads(Some(threads), || {
                keep_awake(|| (0..50).map(|k| map(1000, 10, |i| i * k).into_iter().sum::<usize>()).sum::<usize>())
            })
        };
        assert_eq!([1, 2, 3].map(sum), [499_500 * 1225; 3]);
        // Nested calls do not block each other.
        let sums =
            with_threads(Some(2), || map(8, 1, |_| keep_awake(|| map(1000, 10, |i| i).into_iter().sum::<usize>())));
        assert_eq!(sums, [499_500; 8]);
        // Outside a pool.
        assert_eq!(keep_awake(|| 7), 7);
    }

    #[test]
    fn chunks_do_not_depend_on_the_number_of_threads() {
        let sums = |threads| {
            with_threads(Some(threads), || {
                map_ranges(100_000, 700, |range| range.map(|i| 1.0f32 / (1.0 + i as f32)).sum::<f32>())
                    .iter()
                    .sum::<f32>()
            })
        };
        assert_eq!(sums(1).to_bits(), sums(2).to_bits());
        assert_eq!(sums(1).to_bits(), sums(8).to_bits());
    }
}
