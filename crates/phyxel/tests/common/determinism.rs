//! Equality of results, bit for bit.

use phyxel::checkpoint::{decode, encode};
use phyxel::{World, parallel};

/// The world, written to a checkpoint and read again.
pub fn resumed(world: &World) -> World {
    decode(&encode(world)).unwrap()
}

/// Asserts that a run of so many parts has the same result on one, two and eight threads, and on two when it is
/// resumed from a checkpoint in the middle of every `period` parts. Returns the result.
pub fn assert_reproducible<R: PartialEq + Send>(
    start: impl Fn() -> World + Sync,
    (count, period): (usize, usize),
    advance: impl Fn(&mut World, usize) + Sync,
    result: impl Fn(&World) -> R + Sync,
) -> R {
    let run = |threads: usize, is_resumed: bool| {
        parallel::with_threads(Some(threads), || {
            let mut world = start();
            for part in 0..count {
                if is_resumed && part % period == period / 2 {
                    world = resumed(&world);
                }
                advance(&mut world, part);
            }
            result(&world)
        })
    };
    let serial = run(1, false);
    for (threads, is_resumed) in [(2, false), (8, false), (2, true)] {
        assert!(serial == run(threads, is_resumed), "another result on {threads} threads, resumed: {is_resumed}");
    }
    serial
}
