//! Sums over neighbours, eight at a time.
//!
//! Symbols: `x_ij = x_i - x_j`, `l = 1 - r/h` (0 outside the support), `V` volume, `W` kernel, `C` volume
//! fraction.

use super::{Kernel, NeighbourBlock, NeighbourLists};
use crate::Real;
use crate::simd::{SimdF32x8, dispatch};
use std::ops::Range;

dispatch! {
    /// Computes volume fractions and their gradients: `[sum V_j grad W, sum V_j W]` with the self term, and
    /// two sums for the stiffness of a particle, `[sum |V_j grad W|^2, sum V_j |grad W|/r]`, 1/m2.
    volume_fractions = volume_fractions_of [] [] (
        lists: &NeighbourLists, range: Range<usize>, fractions: &mut [[Real; 4]], gradient_sums: &mut [[Real; 2]]
    )
}

dispatch! {
    /// Computes the rates `dC/dt` (1/s) of volume fractions under velocities (m/s; the fourth number is
    /// ignored): minus the divergence of the velocity.
    fraction_rates = fraction_rates_of [] [] (
        lists: &NeighbourLists, range: Range<usize>, velocities: &[[Real; 4]], rates: &mut [Real]
    )
}

dispatch! {
    /// Computes the neighbours' part of the pressure gradient, `sum_j V_j p_j grad W` (Pa/m), and of the
    /// Laplacian, `sum_j V_j p_j |grad W|/r` (Pa/m2). Here the fourth number of each point is its volume
    /// times its pressure.
    pressure_gradients = pressure_gradients_of [] [] (
        lists: &NeighbourLists, range: Range<usize>, gradients: &mut [[Real; 4]]
    )
}

/// Broadcasts a row to all lanes.
#[inline(always)]
pub(super) fn splat_row<L: SimdF32x8>(row: &[Real; 4]) -> [L; 4] {
    [L::splat(row[0]), L::splat(row[1]), L::splat(row[2]), L::splat(row[3])]
}

/// Sum of eight lanes, in pairs.
#[inline(always)]
pub(super) fn horizontal_sum<L: SimdF32x8>(lanes: L) -> Real {
    let [a, b, c, d, e, f, g, h] = lanes.to_array();
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Sums of the lanes of several vectors. A loop: what is called through a closure is not compiled for the
/// SIMD level.
#[inline(always)]
pub(super) fn horizontal_sums<L: SimdF32x8, const N: usize>(vectors: [L; N]) -> [Real; N] {
    let mut sums = [0.0; N];
    for (sum, vector) in sums.iter_mut().zip(vectors) {
        *sum = horizontal_sum(vector);
    }
    sums
}

/// Computes `x_ij` for eight neighbours `j` of a particle, the fourth number of each, and `l = 1 - r/h`.
#[inline(always)]
pub(super) fn pair_geometry<L: SimdF32x8>(
    kernel: &Kernel,
    points: &[[Real; 4]],
    own: &[L; 4],
    block: &NeighbourBlock,
) -> ([L; 3], L, L) {
    let [x, y, z, fourth] = L::gather_rows(points, block);
    let x_ij = [own[0] - x, own[1] - y, own[2] - z];
    let square = x_ij[0] * x_ij[0] + x_ij[1] * x_ij[1] + x_ij[2] * x_ij[2];
    let l = (L::splat(1.0) - square.sqrt() * L::splat(kernel.inverse_support)).max(L::zero());
    (x_ij, fourth, l)
}

#[inline(always)]
fn volume_fractions_of<L: SimdF32x8>(
    lists: &NeighbourLists,
    range: Range<usize>,
    fractions: &mut [[Real; 4]],
    gradient_sums: &mut [[Real; 2]],
) {
    let kernel = &lists.kernel;
    for ((i, fraction), gradient_sum) in range.zip(fractions).zip(gradient_sums) {
        let own = splat_row::<L>(&lists.points[i]);
        let mut sums = [L::zero(); 6];
        for block in lists.blocks(i) {
            let (x_ij, volume, l) = pair_geometry::<L>(kernel, lists.points, &own, block);
            let cube = l * l * l;
            let slope = volume * cube;
            // (1 - q)^4 (1 + 4 q) = l^3 l (5 - 4 l).
            let weight = slope * l * (L::splat(5.0) - L::splat(4.0) * l);
            let square = x_ij[0] * x_ij[0] + x_ij[1] * x_ij[1] + x_ij[2] * x_ij[2];
            sums[0] = sums[0] + slope * x_ij[0];
            sums[1] = sums[1] + slope * x_ij[1];
            sums[2] = sums[2] + slope * x_ij[2];
            // Free lanes are at distance 0; neighbours are not.
            sums[3] = sums[3] + square.select_gt(L::zero(), weight, L::zero());
            sums[4] = sums[4] + slope * slope * square;
            sums[5] = sums[5] + square.select_gt(L::zero(), slope, L::zero());
        }
        let self_term = lists.points[i][3] * kernel.peak;
        let ([x, y, z, weights, squares, slopes], peak_slope) = (horizontal_sums(sums), kernel.peak_slope);
        *fraction = [x * peak_slope, y * peak_slope, z * peak_slope, weights * kernel.peak + self_term];
        *gradient_sum = [squares * peak_slope * peak_slope, slopes * -peak_slope];
    }
}

#[inline(always)]
fn fraction_rates_of<L: SimdF32x8>(
    lists: &NeighbourLists,
    range: Range<usize>,
    velocities: &[[Real; 4]],
    rates: &mut [Real],
) {
    for (i, rate) in range.zip(rates) {
        let own = splat_row::<L>(&lists.points[i]);
        let v_i = splat_row::<L>(&velocities[i]);
        let mut total = L::zero();
        for block in lists.blocks(i) {
            let (x_ij, volume, l) = pair_geometry::<L>(&lists.kernel, lists.points, &own, block);
            let [vx, vy, vz, _] = L::gather_rows(velocities, block);
            let v_dot_x = (v_i[0] - vx) * x_ij[0] + (v_i[1] - vy) * x_ij[1] + (v_i[2] - vz) * x_ij[2];
            total = total + volume * (l * l * l) * v_dot_x;
        }
        *rate = horizontal_sum(total) * lists.kernel.peak_slope;
    }
}

#[inline(always)]
fn pressure_gradients_of<L: SimdF32x8>(lists: &NeighbourLists, range: Range<usize>, gradients: &mut [[Real; 4]]) {
    for (i, gradient) in range.zip(gradients) {
        let own = splat_row::<L>(&lists.points[i]);
        let mut sums = [L::zero(); 4];
        for block in lists.blocks(i) {
            let (x_ij, weight, l) = pair_geometry::<L>(&lists.kernel, lists.points, &own, block);
            let slope = weight * (l * l * l);
            for axis in 0..3 {
                sums[axis] = sums[axis] + slope * x_ij[axis];
            }
            let square = x_ij[0] * x_ij[0] + x_ij[1] * x_ij[1] + x_ij[2] * x_ij[2];
            // Free lanes are at distance 0.
            sums[3] = sums[3] + square.select_gt(L::zero(), slope, L::zero());
        }
        let ([x, y, z, laplacian], peak_slope) = (horizontal_sums(sums), lists.kernel.peak_slope);
        *gradient = [x * peak_slope, y * peak_slope, z * peak_slope, laplacian * -peak_slope];
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{TestCloud, position};
    use super::*;
    use crate::simd::SimdLevel;
    use glam::Vec3;

    fn velocity(i: usize) -> Vec3 {
        Vec3::new((i as Real).sin(), (1.7 * i as Real).cos(), (2.3 * i as Real).sin())
    }

    #[test]
    fn sums_are_those_of_their_definitions_with_the_same_bits_at_every_simd_level() {
        let (count, kernel) = (300, Kernel::new(0.35));
        let cloud = TestCloud::random(count, kernel.support);
        let lists = cloud.lists(kernel);
        let velocities: Vec<[Real; 4]> = (0..count).map(|i| velocity(i).extend(0.0).to_array()).collect();
        type Sums = (Vec<[Real; 4]>, Vec<[Real; 2]>, Vec<Real>, Vec<[Real; 4]>);
        let mut first: Option<Sums> = None;
        for level in SimdLevel::available() {
            let mut sums = (vec![[0.0; 4]; count], vec![[0.0; 2]; count], vec![0.0; count], vec![[0.0; 4]; count]);
            volume_fractions(level, &lists, 0..count, &mut sums.0, &mut sums.1);
            fraction_rates(level, &lists, 0..count, &velocities, &mut sums.2);
            pressure_gradients(level, &lists, 0..count, &mut sums.3);
            if let Some(first) = &first {
                assert_eq!(*first, sums);
            }
            first = Some(sums);
        }
        let Some((fractions, gradient_sums, rates, gradients)) = first else { panic!("there is always a level") };
        for i in 0..count {
            let (mut fraction, mut gradient, mut square, mut rate, mut slopes) =
                (cloud.points[i][3] * kernel.weight(0.0), Vec3::ZERO, 0.0, 0.0, 0.0);
            for j in (0..count).filter(|&j| j != i) {
                let x_ij = position(&cloud.points, i) - position(&cloud.points, j);
                let term = x_ij * (cloud.points[j][3] * kernel.slope(x_ij.length()));
                fraction += cloud.points[j][3] * kernel.weight(x_ij.length());
                gradient += term;
                square += term.length_squared();
                slopes -= cloud.points[j][3] * kernel.slope(x_ij.length());
                rate += term.dot(velocity(i) - velocity(j));
            }
            // Sums of some fifty numbers with seven digits.
            let close = |a: Real, b: Real, size: Real| (a - b).abs() < 1e-5 * size;
            let size = square.sqrt() * 8.0;
            assert!(close(fractions[i][3], fraction, fraction), "{i}: {} {fraction}", fractions[i][3]);
            assert!((0..3).all(|axis| close(fractions[i][axis], gradient[axis], size)), "{i}");
            assert!((0..3).all(|axis| close(gradients[i][axis], gradient[axis], size)), "{i}");
            assert!(close(gradient_sums[i][0], square, square), "{i}");
            assert!(close(gradient_sums[i][1], slopes, slopes) && close(gradients[i][3], slopes, slopes), "{i}");
            assert!(close(rates[i], rate, 2.0 * size), "{i}: {} {rate}", rates[i]);
        }
    }

    #[test]
    fn pressure_conserves_momenta_and_does_the_work_of_the_fraction_rates() {
        let (count, kernel) = (300, Kernel::new(0.35));
        let mut cloud = TestCloud::random(count, kernel.support);
        let pressures: Vec<Real> = (0..count).map(|i| 1.0 + (0.37 * i as Real).sin()).collect();
        let volumes: Vec<Real> = cloud.points.iter().map(|point| point[3]).collect();
        let level = SimdLevel::detect();
        let (mut fractions, mut gradient_sums) = (vec![[0.0; 4]; count], vec![[0.0; 2]; count]);
        volume_fractions(level, &cloud.lists(kernel), 0..count, &mut fractions, &mut gradient_sums);
        let velocities: Vec<[Real; 4]> = (0..count).map(|i| velocity(i).extend(0.0).to_array()).collect();
        let mut rates = vec![0.0; count];
        fraction_rates(level, &cloud.lists(kernel), 0..count, &velocities, &mut rates);
        cloud.points.iter_mut().zip(&pressures).for_each(|(point, p)| point[3] *= p);
        let mut gradients = vec![[0.0; 4]; count];
        pressure_gradients(level, &cloud.lists(kernel), 0..count, &mut gradients);
        let force = |i: usize| {
            let gradient = Vec3::new(fractions[i][0], fractions[i][1], fractions[i][2]);
            let neighbours = Vec3::new(gradients[i][0], gradients[i][1], gradients[i][2]);
            (gradient * pressures[i] + neighbours) * -volumes[i]
        };
        let size: Real = (0..count).map(|i| force(i).length()).sum();
        let total: Vec3 = (0..count).map(force).sum();
        let torque: Vec3 = (0..count).map(|i| position(&cloud.points, i).cross(force(i))).sum();
        let power: Real = (0..count).map(|i| force(i).dot(velocity(i))).sum();
        let work_rate: Real = (0..count).map(|i| pressures[i] * volumes[i] * rates[i]).sum();
        assert!(total.length() < 1e-5 * size && torque.length() < 1e-5 * size, "{total} {torque} of {size}");
        assert!((power + work_rate).abs() < 1e-5 * size, "{power} and {work_rate} of {size}");
    }
}
