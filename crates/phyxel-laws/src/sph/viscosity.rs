//! Viscosity: dissipation of the relative motion of neighbours beyond rigid rotation.
//!
//! Each particle fits an angular velocity `w` to the motion of its neighbours. The remaining velocities
//! dissipate
//!
//! `1/2 sum_i min_w sum_j c_ij |v_j - v_i - w x (x_j - x_i)|^2`,
//!
//! and the force is minus the derivative. Rigid motion dissipates nothing. So momentum and angular momentum
//! are conserved, the matrix is symmetric positive semi-definite, and a free surface carries no shear. With
//! `c = 2 mu V_i V_j |grad W|/r` over the moment of the kernel, this is `div(mu (grad v + grad v^T))` for
//! smooth fields. (The plain Laplacian that `[Bro85]` uses for heat would brake free rotation.)
//!
//! Symbols: `x_ij = x_i - x_j`, `v_ij = v_i - v_j`, `l = 1 - r/h`, `c` coefficient of a pair (Pa s m), `w`
//! angular velocity of a neighbourhood (rad/s).

use super::sums::{horizontal_sums, pair_geometry, splat_row};
use super::{Kernel, NeighbourLists};
use crate::Real;
use crate::simd::{SimdF32x8, dispatch};
use glam::DMat3;
use std::ops::Range;

dispatch! {
    /// Sums over the neighbours of particles: `[sum c, sum c x x, y y, z z, x y, x z, y z]` with offsets `x`
    /// (Pa s m and Pa s m3), and their [`vorticity_sums`].
    ///
    /// Here the fourth number of a velocity is the viscosity, Pa s, negative for solids, which do not shear
    /// each other. The mean of two is harmonic, as of layers in series.
    neighbour_moments = neighbour_moments_of [] [] (
        lists: &NeighbourLists, range: Range<usize>, velocities: &[[Real; 4]], moments: &mut [NeighbourMoments]
    )
}

dispatch! {
    /// Sums `sum c x_ij cross v_ij` over the neighbours of particles, Pa s m3/s.
    vorticity_sums = vorticity_sums_of [] [] (
        lists: &NeighbourLists, range: Range<usize>, velocities: &[[Real; 4]], vorticities: &mut [[Real; 4]]
    )
}

dispatch! {
    /// Viscous forces on particles whose neighbourhoods rotate with angular velocities `w` (rad/s), N:
    /// `sum_j c (2 (v_j - v_i) - (w_i + w_j) cross (x_j - x_i))`.
    viscous_forces = viscous_forces_of [] [] (
        lists: &NeighbourLists,
        range: Range<usize>,
        velocities: &[[Real; 4]],
        angular_velocities: &[[Real; 4]],
        forces: &mut [[Real; 4]],
    )
}

/// Sums over the neighbours of a particle: `sum c` (Pa s m), the second moments of offsets (Pa s m3), then the
/// vorticity sum (Pa s m3/s).
pub type NeighbourMoments = [Real; 10];

/// Inverse of the inertia `sum c (|x|^2 - x x^T)` of a neighbourhood: maps [`vorticity_sums`] to angular
/// velocity.
///
/// It is 0 about axes that the neighbours do not determine.
pub fn invert_inertia(moments: &NeighbourMoments) -> [[Real; 3]; 3] {
    /// Fraction of the trace that is added to the diagonal, so that the inertia of pairs and collinear
    /// neighbours is regular. It changes angular velocities by no more than rounding.
    const REGULARISATION: f64 = 1e-6;
    let [_, xx, yy, zz, xy, xz, yz, ..] = moments.map(f64::from);
    let trace = xx + yy + zz;
    if trace.is_nan() || trace <= 0.0 {
        return [[0.0; 3]; 3];
    }
    let [a, b, c] = [xx, yy, zz].map(|moment| (trace - moment) / trace + REGULARISATION);
    let [d, e, f] = [xy, xz, yz].map(|product| -product / trace);
    let inverse = DMat3::from_cols_array_2d(&[[a, d, e], [d, b, f], [e, f, c]]).inverse();
    inverse.to_cols_array_2d().map(|column| column.map(|x| (x / trace) as Real))
}

/// Coefficients `c` of a particle with eight neighbours.
#[inline(always)]
fn pair_viscosity<L: SimdF32x8>(kernel: &Kernel, own: &[L; 4], mu_i: L, volume: L, mu_j: L, l: L) -> L {
    let (a, b) = (mu_i.max(L::zero() - mu_i), mu_j.max(L::zero() - mu_j));
    let mean = (a * b).div((a + b).max(L::splat(Real::MIN_POSITIVE)));
    // None between two solids, which are negative.
    let mean = mu_i.max(mu_j).select_gt(L::zero(), mean, L::zero());
    let scale = L::splat(-4.0 * kernel.peak_slope / kernel.moment);
    scale * mean * (own[3] * volume) * (l * l * l)
}

#[inline(always)]
fn neighbour_moments_of<L: SimdF32x8>(
    lists: &NeighbourLists,
    range: Range<usize>,
    velocities: &[[Real; 4]],
    moments: &mut [NeighbourMoments],
) {
    for (i, moment) in range.zip(moments) {
        let own = splat_row::<L>(&lists.points[i]);
        let v_i = splat_row::<L>(&velocities[i]);
        let mut sums = [L::zero(); 10];
        for block in lists.blocks(i) {
            let ([x, y, z], volume, l) = pair_geometry::<L>(&lists.kernel, lists.points, &own, block);
            let [vx, vy, vz, mu_j] = L::gather_rows(velocities, block);
            let c = pair_viscosity(&lists.kernel, &own, v_i[3], volume, mu_j, l);
            let (vx, vy, vz) = (v_i[0] - vx, v_i[1] - vy, v_i[2] - vz);
            let (cx, cy, cz) = (c * x, c * y, c * z);
            let square = x * x + y * y + z * z;
            // Free lanes are at distance 0.
            sums[0] = sums[0] + square.select_gt(L::zero(), c, L::zero());
            sums[1] = sums[1] + cx * x;
            sums[2] = sums[2] + cy * y;
            sums[3] = sums[3] + cz * z;
            sums[4] = sums[4] + cx * y;
            sums[5] = sums[5] + cx * z;
            sums[6] = sums[6] + cy * z;
            sums[7] = sums[7] + (cy * vz - cz * vy);
            sums[8] = sums[8] + (cz * vx - cx * vz);
            sums[9] = sums[9] + (cx * vy - cy * vx);
        }
        *moment = horizontal_sums(sums);
    }
}

#[inline(always)]
fn vorticity_sums_of<L: SimdF32x8>(
    lists: &NeighbourLists,
    range: Range<usize>,
    velocities: &[[Real; 4]],
    vorticities: &mut [[Real; 4]],
) {
    for (i, vorticity) in range.zip(vorticities) {
        let own = splat_row::<L>(&lists.points[i]);
        let v_i = splat_row::<L>(&velocities[i]);
        let mut sums = [L::zero(); 3];
        for block in lists.blocks(i) {
            let ([x, y, z], volume, l) = pair_geometry::<L>(&lists.kernel, lists.points, &own, block);
            let [vx, vy, vz, mu_j] = L::gather_rows(velocities, block);
            let c = pair_viscosity(&lists.kernel, &own, v_i[3], volume, mu_j, l);
            let (vx, vy, vz) = (v_i[0] - vx, v_i[1] - vy, v_i[2] - vz);
            sums[0] = sums[0] + c * (y * vz - z * vy);
            sums[1] = sums[1] + c * (z * vx - x * vz);
            sums[2] = sums[2] + c * (x * vy - y * vx);
        }
        let [x, y, z] = horizontal_sums(sums);
        *vorticity = [x, y, z, 0.0];
    }
}

#[inline(always)]
fn viscous_forces_of<L: SimdF32x8>(
    lists: &NeighbourLists,
    range: Range<usize>,
    velocities: &[[Real; 4]],
    angular_velocities: &[[Real; 4]],
    forces: &mut [[Real; 4]],
) {
    let two = L::splat(2.0);
    for (i, force) in range.zip(forces) {
        let own = splat_row::<L>(&lists.points[i]);
        let v_i = splat_row::<L>(&velocities[i]);
        let w_i = splat_row::<L>(&angular_velocities[i]);
        let mut sums = [L::zero(); 3];
        for block in lists.blocks(i) {
            let ([x, y, z], volume, l) = pair_geometry::<L>(&lists.kernel, lists.points, &own, block);
            let [vx, vy, vz, mu_j] = L::gather_rows(velocities, block);
            let [wx, wy, wz, _] = L::gather_rows(angular_velocities, block);
            let c = pair_viscosity(&lists.kernel, &own, v_i[3], volume, mu_j, l);
            let (wx, wy, wz) = (w_i[0] + wx, w_i[1] + wy, w_i[2] + wz);
            sums[0] = sums[0] + c * (two * (vx - v_i[0]) + (wy * z - wz * y));
            sums[1] = sums[1] + c * (two * (vy - v_i[1]) + (wz * x - wx * z));
            sums[2] = sums[2] + c * (two * (vz - v_i[2]) + (wx * y - wy * x));
        }
        let [x, y, z] = horizontal_sums(sums);
        *force = [x, y, z, 0.0];
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{TestCloud, position};
    use super::*;
    use crate::simd::SimdLevel;
    use glam::{Mat3, Vec3};

    fn vector([x, y, z, _]: [Real; 4]) -> Vec3 {
        Vec3::new(x, y, z)
    }

    /// Forces on a cloud, the same at every SIMD level.
    fn forces(lists: &NeighbourLists, velocities: &[[Real; 4]]) -> Vec<Vec3> {
        let count = velocities.len();
        let run = |level: SimdLevel| {
            let (mut moments, mut w, mut forces) =
                (vec![[0.0; 10]; count], vec![[0.0; 4]; count], vec![[0.0; 4]; count]);
            neighbour_moments(level, lists, 0..count, velocities, &mut moments);
            vorticity_sums(level, lists, 0..count, velocities, &mut w);
            for (w, moments) in w.iter_mut().zip(&moments) {
                let [.., x, y, z] = *moments;
                // The same sums, rounded otherwise.
                assert!(vector(*w).distance(Vec3::new(x, y, z)) <= 1e-5 * (1.0 + vector(*w).length()));
                *w = (Mat3::from_cols_array_2d(&invert_inertia(moments)) * vector(*w)).extend(0.0).to_array();
            }
            viscous_forces(level, lists, 0..count, velocities, &w, &mut forces);
            forces
        };
        let by_level: Vec<Vec<[Real; 4]>> = SimdLevel::available().into_iter().map(run).collect();
        assert!(by_level.iter().all(|forces| *forces == by_level[0]));
        by_level[0].iter().map(|&force| vector(force)).collect()
    }

    #[test]
    fn viscosity_conserves_momenta_dissipates_and_spares_rigid_motion_and_pairs_of_solids() {
        let (count, kernel) = (300, Kernel::new(0.35));
        let cloud = TestCloud::random(count, kernel.support);
        let lists = cloud.lists(kernel);
        let viscosity = |i: usize| if i.is_multiple_of(3) { -1.0e12 } else { 0.5 + 0.1 * (i % 7) as Real };
        let rows = |velocity: &dyn Fn(usize) -> Vec3| -> Vec<[Real; 4]> {
            (0..count).map(|i| velocity(i).extend(viscosity(i)).to_array()).collect()
        };
        let at = |i: usize| position(&cloud.points, i);
        let random = |i: usize| Vec3::new((i as Real).sin(), (1.7 * i as Real).cos(), (2.3 * i as Real).sin());
        let viscous = forces(&lists, &rows(&random));
        let size: Real = viscous.iter().map(|force| force.length()).sum();
        let total: Vec3 = viscous.iter().sum();
        let torque: Vec3 = (0..count).map(|i| at(i).cross(viscous[i])).sum();
        let power: Real = (0..count).map(|i| viscous[i].dot(random(i))).sum();
        assert!(total.length() < 1e-5 * size && torque.length() < 1e-5 * size, "{total} {torque} of {size}");
        assert!(power < -0.1 * size, "{power} of {size}");
        let rigid = |i: usize| Vec3::new(0.3, -0.2, 0.1) + Vec3::new(1.0, 2.0, -1.0).cross(at(i));
        let largest = forces(&lists, &rows(&rigid)).iter().map(|force| force.length()).fold(0.0, Real::max);
        let mean = size / count as Real;
        assert!(largest < 1e-4 * mean, "{largest} of {mean}");
        // No forces among solids.
        let solids: Vec<[Real; 4]> = (0..count).map(|i| random(i).extend(-1.0e12).to_array()).collect();
        assert!(forces(&lists, &solids).iter().all(|force| *force == Vec3::ZERO));
    }

    #[test]
    fn the_force_in_a_packing_is_that_of_a_shear_flow() {
        // Shear flow v_x = y^2/2: mu V on each particle inside.
        let (spacing, viscosity) = (0.05, 3.0);
        let kernel = Kernel::for_packing(spacing, 1.78);
        let volume = spacing.powi(3) / 2.0f32.sqrt();
        let cloud = TestCloud::packing(7, spacing, kernel.support);
        for rotation in [Mat3::IDENTITY, Mat3::from_rotation_z(0.7), Mat3::from_axis_angle(Vec3::ONE.normalize(), 1.0)]
        {
            let velocity = |i: usize| {
                let x = rotation * position(&cloud.points, i);
                rotation.transpose() * Vec3::new(0.5 * x.y * x.y, 0.0, 0.0)
            };
            let rows: Vec<[Real; 4]> =
                (0..cloud.points.len()).map(|i| velocity(i).extend(viscosity).to_array()).collect();
            let viscous = forces(&cloud.lists(kernel), &rows);
            let force = rotation * viscous[cloud.central()] / (viscosity * volume);
            // Velocities of 0.06 (m/s)/m2 r2 are rounded to 1e-8 of them, forces are sums of differences of
            // 0.002.
            assert!(force.distance(Vec3::X) < 2e-3, "{force}");
        }
    }

    #[test]
    fn pairs_and_lone_particles_rotate_freely() {
        let points = [[0.0, 0.0, 0.0, 1.0], [0.1, 0.0, 0.0, 1.0], [5.0, 0.0, 0.0, 1.0]];
        let cloud = TestCloud::new(points.to_vec(), 0.35);
        let lists = cloud.lists(Kernel::new(0.35));
        let rotating = forces(&lists, &[[0.0, 1.0, 0.0, 2.0], [0.0, -1.0, 0.0, 2.0], [3.0, 0.0, 0.0, 2.0]]);
        let separating = forces(&lists, &[[-1.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 2.0], [0.0; 4]]);
        assert!(separating[0].x > 0.0 && separating[0].y == 0.0);
        assert!(rotating[0].length() < 1e-5 * separating[0].length(), "{} of {}", rotating[0], separating[0]);
        assert_eq!(rotating[2], Vec3::ZERO);
    }
}
