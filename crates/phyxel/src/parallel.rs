//! The one place that knows about threads.
//!
//! Work is cut into chunks whose size never depends on the number of threads, every chunk writes only
//! what it owns, and sums are added up in index order. So one thread and many give the same bits.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs `work` with `threads` threads (all cores when `None`).
///
/// Nested calls inside `work` use the same threads. Falls back to the calling thread's pool when the
/// operating system refuses to start more.
pub fn with_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Number of threads that the calls of this module use at the moment.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// How long a thread that is kept awake looks for work in vain.
const PATIENCE: Duration = Duration::from_millis(1);
/// Looks for work between two looks at the clock.
const LOOKS: u32 = 64;

/// Runs `work`, for which the other threads stay awake: for much that is done in pieces of less than a tenth of a millisecond, each on several
/// threads. (A thread that has nothing to do sleeps after a few microseconds, and waking it takes some ten times as long.)
///
/// They wait in vain for no longer than a millisecond, so that nothing is ever held up by them.
pub fn awake<T>(work: impl FnOnce() -> T) -> T {
    let Some(own) = rayon::current_thread_index().filter(|_| threads() > 1) else { return work() };
    let done = Done(Arc::new(AtomicBool::new(false)));
    let is_done = Arc::clone(&done.0);
    rayon::spawn_broadcast(move |context| {
        if context.index() != own {
            look_for_work(&is_done);
        }
    });
    work()
}

/// Looks for work until all is done, or there is none for too long.
fn look_for_work(is_done: &AtomicBool) {
    let mut last = Instant::now();
    while !is_done.load(Ordering::Acquire) && last.elapsed() < PATIENCE {
        for _ in 0..LOOKS {
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                last = Instant::now();
            }
            std::hint::spin_loop();
        }
        // Others may need the core more.
        std::thread::yield_now();
    }
}

/// Tells the other threads that all is done, even where that was a panic.
struct Done(Arc<AtomicBool>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// What both come to, which are done at once where there are threads for it.
pub fn both<A: Send, B: Send>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(one, other)
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

/// Calls `work(first_index, chunk, other_chunk)` for each chunk of `grain` items and those at the same places of others, of which there are as many.
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

/// Calls `work(first_index, chunk)` for each chunk of `grain` items; the results, in order.
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

/// The values of `work` for each item, in order.
pub fn map_items<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() == 1 {
        return items.into_iter().map(work).collect();
    }
    items.into_par_iter().map(&work).collect()
}

/// The values `work(0), work(1), ..`, in order.
pub fn map<T: Send>(count: usize, grain: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if count <= grain {
        return (0..count).map(work).collect();
    }
    (0..count).into_par_iter().with_min_len(grain.max(1)).map(&work).collect()
}

/// The values of `work` for consecutive ranges of `grain` indices, in order.
pub fn map_ranges<T: Send>(count: usize, grain: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let grain = grain.max(1);
    let range = |chunk: usize| chunk * grain..((chunk + 1) * grain).min(count);
    map(count.div_ceil(grain), 1, |chunk| work(range(chunk)))
}

/// Sorts by key; equal keys keep their order, so the result does not depend on the threads.
pub fn sort_by_key<T: Send, K: Ord + Send>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    items.par_sort_by_key(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_are_kept_awake_do_the_same() {
        let sum = |threads| {
            with_threads(Some(threads), || {
                awake(|| (0..50).map(|k| map(1000, 10, |i| i * k).into_iter().sum::<usize>()).sum::<usize>())
            })
        };
        assert_eq!([1, 2, 3].map(sum), [499_500 * 1225; 3]);
        // Nothing waits for threads that are busy with the same.
        let sums = with_threads(Some(2), || map(8, 1, |_| awake(|| map(1000, 10, |i| i).into_iter().sum::<usize>())));
        assert_eq!(sums, [499_500; 8]);
        // Outside of a pool, too.
        assert_eq!(awake(|| 7), 7);
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
