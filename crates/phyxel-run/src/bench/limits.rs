//! What the machine gives at most: bytes and operations a second.

use super::{Measured, Row};
use phyxel::machine::{SimdLevel, WIDTH, multiply_and_add};
use phyxel::parallel;
use std::time::Instant;

/// Numbers in each of the three columns of the triad: far more than any cache holds.
const COLUMN: usize = 1 << 25;
/// Numbers per task.
const GRAIN: usize = 1 << 16;
/// Rounds of multiplications and additions per task.
const ROUNDS: usize = 1 << 16;
/// Vectors that are worked on side by side.
const ABREAST: usize = 12;

/// Limits of the machine with some number of threads.
pub(super) struct Limits {
    /// Bytes a second between memory and the processor.
    pub bytes: f64,
    /// Multiplications and additions a second, not fused: the engine fuses none, so that all machines give the same bits.
    pub operations: f64,
}

impl Limits {
    pub fn measure(threads: usize, row: &mut dyn FnMut(Row)) -> Self {
        let ((triad, sum), (arithmetic, product)) =
            parallel::with_threads(Some(threads), || (time_triad(), time_arithmetic(threads)));
        let bytes = 12.0 * COLUMN as f64;
        let operations = (2 * ROUNDS * ABREAST * WIDTH * threads) as f64;
        let best = |seconds: &[f64]| seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let found = Self { bytes: bytes / best(&triad), operations: operations / best(&arithmetic) };
        let memory = format!("{:.1} GB/s", 1e-9 * found.bytes);
        let measured = Measured { name: "limit", what: "a triad", threads, published: Some(&memory) };
        row(measured.row((bytes as u64, "byte"), triad, format!("{sum:08x}")));
        let rate = format!("{:.1} billion operations a second", 1e-9 * found.operations);
        let measured = Measured { name: "limit", what: "multiply and add", threads, published: Some(&rate) };
        row(measured.row((operations as u64, "operation"), arithmetic, format!("{product:08x}")));
        found
    }
}

/// `a = b + c/2` on long columns: seconds, and a fingerprint.
fn time_triad() -> (Vec<f64>, u32) {
    let (mut a, b, c) = (vec![0.0f32; COLUMN], vec![1.5f32; COLUMN], vec![2.0f32; COLUMN]);
    let mut seconds = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        parallel::for_each_chunk(&mut a, GRAIN, |first, a| {
            let end = first + a.len();
            for ((a, b), c) in a.iter_mut().zip(&b[first..end]).zip(&c[first..end]) {
                *a = *b + 0.5 * *c;
            }
        });
        seconds.push(start.elapsed().as_secs_f64());
    }
    (seconds, a[COLUMN / 2].to_bits())
}

/// Multiplications and additions that wait for nothing: seconds, and a fingerprint.
fn time_arithmetic(threads: usize) -> (Vec<f64>, u32) {
    let level = SimdLevel::detect();
    let mut seconds = Vec::new();
    let mut found = 0;
    for _ in 0..5 {
        let start = Instant::now();
        let made = parallel::map_items((0..threads).collect(), |_| {
            let mut values = [[1.0f32; WIDTH]; ABREAST];
            multiply_and_add(level, ROUNDS, &mut values);
            values[0][0].to_bits()
        });
        seconds.push(start.elapsed().as_secs_f64());
        found = made.iter().fold(0, |all, one| all ^ one);
    }
    (seconds, found)
}
