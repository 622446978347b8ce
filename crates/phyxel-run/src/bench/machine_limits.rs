//! Limits of the machine: memory bandwidth and arithmetic rate (roofline model).

use super::{Measurement, Row};
use phyxel::machine::{SimdLevel, WIDTH, multiply_and_add};
use phyxel::parallel;
use std::time::Instant;

/// Length of the three arrays of the triad: larger than any cache.
const TRIAD_LENGTH: usize = 1 << 25;
/// Numbers per chunk.
const GRAIN: usize = 1 << 16;
/// Iterations of multiplication and addition per thread.
const ITERATIONS: usize = 1 << 16;
/// Independent SIMD vectors, which hide the latency.
const INDEPENDENT_VECTORS: usize = 12;

/// Limits of the machine for a number of threads.
pub(super) struct MachineLimits {
    /// Memory bandwidth, B/s.
    pub bandwidth: f64,
    /// Multiplications and additions per second, not fused: the engine fuses none, for equal bits on all machines.
    pub arithmetic_rate: f64,
}

impl MachineLimits {
    /// Measures the limits and emits their rows.
    pub fn measure(threads: usize, emit: &mut dyn FnMut(Row)) -> Self {
        let ((triad, sum), (arithmetic, product)) =
            parallel::with_threads(Some(threads), || (time_triad(), time_arithmetic(threads)));
        let bytes = 12.0 * TRIAD_LENGTH as f64;
        let operations = (2 * ITERATIONS * INDEPENDENT_VECTORS * WIDTH * threads) as f64;
        let minimum = |seconds: &[f64]| seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let limits = Self { bandwidth: bytes / minimum(&triad), arithmetic_rate: operations / minimum(&arithmetic) };
        let memory = format!("{:.1} GB/s", 1e-9 * limits.bandwidth);
        let measured = Measurement { name: "machine", what: "a triad", threads, published: Some(&memory) };
        emit(measured.row((bytes as u64, "byte"), triad, format!("{sum:08x}")));
        let rate = format!("{:.1} billion operations a second", 1e-9 * limits.arithmetic_rate);
        let measured = Measurement { name: "machine", what: "multiply and add", threads, published: Some(&rate) };
        emit(measured.row((operations as u64, "operation"), arithmetic, format!("{product:08x}")));
        limits
    }
}

/// Times the triad `a = b + c/2` on long arrays; returns times (s) and a hash.
fn time_triad() -> (Vec<f64>, u32) {
    let (mut a, b, c) = (vec![0.0f32; TRIAD_LENGTH], vec![1.5f32; TRIAD_LENGTH], vec![2.0f32; TRIAD_LENGTH]);
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
    (seconds, a[TRIAD_LENGTH / 2].to_bits())
}

/// Times independent multiplications and additions; returns times (s) and a hash.
fn time_arithmetic(threads: usize) -> (Vec<f64>, u32) {
    let level = SimdLevel::detect();
    let mut seconds = Vec::new();
    let mut hash = 0;
    for _ in 0..5 {
        let start = Instant::now();
        let bits = parallel::map_items((0..threads).collect(), |_| {
            let mut values = [[1.0f32; WIDTH]; INDEPENDENT_VECTORS];
            multiply_and_add(level, ITERATIONS, &mut values);
            values[0][0].to_bits()
        });
        seconds.push(start.elapsed().as_secs_f64());
        hash = bits.iter().fold(0, |hash, bits| hash ^ bits);
    }
    (seconds, hash)
}
