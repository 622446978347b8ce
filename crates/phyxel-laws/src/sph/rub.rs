//! Viscosity: neighbours rub where they do not move as one rigid body.
//!
//! Each particle asks which turn `w` its neighbours make around it. What is left of their velocities costs
//!
//! `1/2 sum_i min_w sum_j c_ij |v_j - v_i - w x (x_j - x_i)|^2`,
//!
//! of which the force is minus the derivative. Rigid motion costs nothing, so momentum and angular momentum are kept, the matrix is
//! symmetric and has no negative eigenvalues, and a free surface carries no shear. With `c = 2 mu V_i V_j |grad W|/r` over the
//! moment of the kernel, this is `div(mu (grad v + grad v^T))` where fields are smooth (the sum of squares of ways alone, as
//! `[Bro85]` has it for heat, would slow down free turning).

use super::{Crowd, Kernel, visits};
use crate::Real;
use crate::lanes::{Lanes, at_every_level};
use glam::DMat3;
use std::ops::Range;

at_every_level! {
    /// How firmly the neighbours of particles hold them: `[sum c, sum c x x, y y, z z, x y, x z, y z]` with ways `x`, Pa s m and Pa s m3,
    /// and their [`swirl`].
    ///
    /// Here the fourth number of a velocity is the viscosity, Pa s, negative for those that do not rub with each other. The mean
    /// of two is harmonic, as of layers one after the other.
    brace = brace_all [] [] (crowd: &Crowd, range: Range<usize>, velocities: &[[Real; 4]], braces: &mut [Brace])
}

at_every_level! {
    /// What the neighbours' turn around each particle sums up to, `sum c x cross v`, Pa s m3/s.
    swirl = swirl_all [] [] (crowd: &Crowd, range: Range<usize>, velocities: &[[Real; 4]], swirls: &mut [[Real; 4]])
}

at_every_level! {
    /// Force of rubbing on particles whose neighbourhoods turn by `turns` (rad/s), N:
    /// `sum_j c (2 (v_j - v_i) - (w_i + w_j) cross (x_j - x_i))`.
    rub = rub_all [] [] (
        crowd: &Crowd, range: Range<usize>, velocities: &[[Real; 4]], turns: &[[Real; 4]], forces: &mut [[Real; 4]]
    )
}

/// How firmly neighbours hold a particle: `sum c` (Pa s m), then the second moments of ways (Pa s m3), then their swirl (Pa s m3/s).
pub type Brace = [Real; 10];

/// What takes a [`swirl`] to the turn of the neighbourhood. Directions that no neighbour tells of get none.
pub fn loosen(brace: &Brace) -> [[Real; 3]; 3] {
    /// Part of the trace that is added, so that neighbours in a line or a pair have an inverse too: what it takes from a turn is
    /// as small as rounding.
    const FIRM: f64 = 1e-6;
    let [_, xx, yy, zz, xy, xz, yz, ..] = brace.map(f64::from);
    let trace = xx + yy + zz;
    if trace.is_nan() || trace <= 0.0 {
        return [[0.0; 3]; 3];
    }
    let [a, b, c] = [xx, yy, zz].map(|own| (trace - own) / trace + FIRM);
    let [d, e, f] = [xy, xz, yz].map(|both| -both / trace);
    let inverse = DMat3::from_cols_array_2d(&[[a, d, e], [d, b, f], [e, f, c]]).inverse();
    inverse.to_cols_array_2d().map(|column| column.map(|x| (x / trace) as Real))
}

/// How firmly eight pairs hold together.
#[inline(always)]
fn grip<L: Lanes>(kernel: &Kernel, own: &[L; 4], mine: L, volume: L, other: L, left: L) -> L {
    let (a, b) = (mine.max(L::zero() - mine), other.max(L::zero() - other));
    let mean = (a * b).div((a + b).max(L::splat(Real::MIN_POSITIVE)));
    // Two that are negative do not rub.
    let mean = mine.max(other).where_greater(L::zero(), mean, L::zero());
    let scale = L::splat(-4.0 * kernel.steep / kernel.moment);
    scale * mean * (own[3] * volume) * (left * left * left)
}

#[inline(always)]
fn brace_all<L: Lanes>(crowd: &Crowd, range: Range<usize>, velocities: &[[Real; 4]], braces: &mut [Brace]) {
    for (i, brace) in range.zip(braces) {
        let own = visits::all::<L>(&crowd.points[i]);
        let mine = visits::all::<L>(&velocities[i]);
        let mut sums = [L::zero(); 10];
        for near in crowd.around(i) {
            let ([x, y, z], volume, left) = visits::ways::<L>(&crowd.kernel, crowd.points, &own, near);
            let [vx, vy, vz, other] = L::gather4(velocities, near);
            let grip = grip(&crowd.kernel, &own, mine[3], volume, other, left);
            let (vx, vy, vz) = (mine[0] - vx, mine[1] - vy, mine[2] - vz);
            let (gx, gy, gz) = (grip * x, grip * y, grip * z);
            let square = x * x + y * y + z * z;
            // Those that fill up are at no distance.
            sums[0] = sums[0] + square.where_greater(L::zero(), grip, L::zero());
            sums[1] = sums[1] + gx * x;
            sums[2] = sums[2] + gy * y;
            sums[3] = sums[3] + gz * z;
            sums[4] = sums[4] + gx * y;
            sums[5] = sums[5] + gx * z;
            sums[6] = sums[6] + gy * z;
            sums[7] = sums[7] + (gy * vz - gz * vy);
            sums[8] = sums[8] + (gz * vx - gx * vz);
            sums[9] = sums[9] + (gx * vy - gy * vx);
        }
        *brace = visits::sums(sums);
    }
}

#[inline(always)]
fn swirl_all<L: Lanes>(crowd: &Crowd, range: Range<usize>, velocities: &[[Real; 4]], swirls: &mut [[Real; 4]]) {
    for (i, swirl) in range.zip(swirls) {
        let own = visits::all::<L>(&crowd.points[i]);
        let mine = visits::all::<L>(&velocities[i]);
        let mut sums = [L::zero(); 3];
        for near in crowd.around(i) {
            let ([x, y, z], volume, left) = visits::ways::<L>(&crowd.kernel, crowd.points, &own, near);
            let [vx, vy, vz, other] = L::gather4(velocities, near);
            let grip = grip(&crowd.kernel, &own, mine[3], volume, other, left);
            let (vx, vy, vz) = (mine[0] - vx, mine[1] - vy, mine[2] - vz);
            sums[0] = sums[0] + grip * (y * vz - z * vy);
            sums[1] = sums[1] + grip * (z * vx - x * vz);
            sums[2] = sums[2] + grip * (x * vy - y * vx);
        }
        let [x, y, z] = visits::sums(sums);
        *swirl = [x, y, z, 0.0];
    }
}

#[inline(always)]
fn rub_all<L: Lanes>(
    crowd: &Crowd,
    range: Range<usize>,
    velocities: &[[Real; 4]],
    turns: &[[Real; 4]],
    forces: &mut [[Real; 4]],
) {
    let two = L::splat(2.0);
    for (i, force) in range.zip(forces) {
        let own = visits::all::<L>(&crowd.points[i]);
        let mine = visits::all::<L>(&velocities[i]);
        let turning = visits::all::<L>(&turns[i]);
        let mut sums = [L::zero(); 3];
        for near in crowd.around(i) {
            let ([x, y, z], volume, left) = visits::ways::<L>(&crowd.kernel, crowd.points, &own, near);
            let [vx, vy, vz, other] = L::gather4(velocities, near);
            let [wx, wy, wz, _] = L::gather4(turns, near);
            let grip = grip(&crowd.kernel, &own, mine[3], volume, other, left);
            let (wx, wy, wz) = (turning[0] + wx, turning[1] + wy, turning[2] + wz);
            sums[0] = sums[0] + grip * (two * (vx - mine[0]) + (wy * z - wz * y));
            sums[1] = sums[1] + grip * (two * (vy - mine[1]) + (wz * x - wx * z));
            sums[2] = sums[2] + grip * (two * (vz - mine[2]) + (wx * y - wy * x));
        }
        let [x, y, z] = visits::sums(sums);
        *force = [x, y, z, 0.0];
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Cloud, place};
    use super::*;
    use crate::lanes::Level;
    use glam::{Mat3, Vec3};

    fn vector([x, y, z, _]: [Real; 4]) -> Vec3 {
        Vec3::new(x, y, z)
    }

    /// Forces on a cloud, the same at every level.
    fn forces(crowd: &Crowd, velocities: &[[Real; 4]]) -> Vec<Vec3> {
        let count = velocities.len();
        let run = |level: Level| {
            let (mut braces, mut swirls, mut forces) =
                (vec![[0.0; 10]; count], vec![[0.0; 4]; count], vec![[0.0; 4]; count]);
            brace(level, crowd, 0..count, velocities, &mut braces);
            swirl(level, crowd, 0..count, velocities, &mut swirls);
            for (swirl, brace) in swirls.iter_mut().zip(&braces) {
                let [.., x, y, z] = *brace;
                // The same sums, rounded otherwise.
                assert!(vector(*swirl).distance(Vec3::new(x, y, z)) <= 1e-5 * (1.0 + vector(*swirl).length()));
                *swirl = (Mat3::from_cols_array_2d(&loosen(brace)) * vector(*swirl)).extend(0.0).to_array();
            }
            rub(level, crowd, 0..count, velocities, &swirls, &mut forces);
            forces
        };
        let found: Vec<Vec<[Real; 4]>> = Level::available().into_iter().map(run).collect();
        assert!(found.iter().all(|forces| *forces == found[0]));
        found[0].iter().map(|&force| vector(force)).collect()
    }

    #[test]
    fn rubbing_keeps_momenta_takes_power_and_leaves_rigid_motion_and_those_that_are_firm() {
        let (count, kernel) = (300, Kernel::new(0.35));
        let cloud = Cloud::new(count, kernel.support);
        let crowd = cloud.crowd(kernel);
        let thickness = |i: usize| if i.is_multiple_of(3) { -1.0e12 } else { 0.5 + 0.1 * (i % 7) as Real };
        let rows = |velocity: &dyn Fn(usize) -> Vec3| -> Vec<[Real; 4]> {
            (0..count).map(|i| velocity(i).extend(thickness(i)).to_array()).collect()
        };
        let at = |i: usize| place(&cloud.points, i);
        let wild = |i: usize| Vec3::new((i as Real).sin(), (1.7 * i as Real).cos(), (2.3 * i as Real).sin());
        let found = forces(&crowd, &rows(&wild));
        let size: Real = found.iter().map(|force| force.length()).sum();
        let total: Vec3 = found.iter().sum();
        let torque: Vec3 = (0..count).map(|i| at(i).cross(found[i])).sum();
        let power: Real = (0..count).map(|i| found[i].dot(wild(i))).sum();
        assert!(total.length() < 1e-5 * size && torque.length() < 1e-5 * size, "{total} {torque} of {size}");
        assert!(power < -0.1 * size, "{power} of {size}");
        let turning = |i: usize| Vec3::new(0.3, -0.2, 0.1) + Vec3::new(1.0, 2.0, -1.0).cross(at(i));
        let largest = forces(&crowd, &rows(&turning)).iter().map(|force| force.length()).fold(0.0, Real::max);
        let usual = size / count as Real;
        assert!(largest < 1e-4 * usual, "{largest} of {usual}");
        // Firm ones among themselves: nothing.
        let firm: Vec<[Real; 4]> = (0..count).map(|i| wild(i).extend(-1.0e12).to_array()).collect();
        assert!(forces(&crowd, &firm).iter().all(|force| *force == Vec3::ZERO));
    }

    #[test]
    fn the_force_is_that_of_viscosity_in_a_packing() {
        // Shear flow v_x = y^2/2: mu V on each inside.
        let (distance, viscosity) = (0.05, 3.0);
        let kernel = Kernel::for_packing(distance, 1.78);
        let volume = distance.powi(3) / 2.0f32.sqrt();
        let cloud = Cloud::packing(7, distance, kernel.support);
        for turn in [Mat3::IDENTITY, Mat3::from_rotation_z(0.7), Mat3::from_axis_angle(Vec3::ONE.normalize(), 1.0)] {
            let velocity = |i: usize| {
                let x = turn * place(&cloud.points, i);
                turn.transpose() * Vec3::new(0.5 * x.y * x.y, 0.0, 0.0)
            };
            let rows: Vec<[Real; 4]> =
                (0..cloud.points.len()).map(|i| velocity(i).extend(viscosity).to_array()).collect();
            let found = forces(&cloud.crowd(kernel), &rows);
            let force = turn * found[cloud.middle()] / (viscosity * volume);
            // Velocities of 0.06 (m/s)/m2 r2 are rounded to 1e-8 of them, forces are sums of differences of 0.002.
            assert!(force.distance(Vec3::X) < 2e-3, "{force}");
        }
    }

    #[test]
    fn pairs_and_lone_particles_turn_as_they_like() {
        let rows = [[0.0, 0.0, 0.0, 1.0], [0.1, 0.0, 0.0, 1.0], [5.0, 0.0, 0.0, 1.0]];
        let cloud = Cloud::of(rows.to_vec(), 0.35);
        let crowd = cloud.crowd(Kernel::new(0.35));
        let turning = [[0.0, 1.0, 0.0, 2.0], [0.0, -1.0, 0.0, 2.0], [3.0, 0.0, 0.0, 2.0]];
        let found = forces(&crowd, &turning);
        let apart = forces(&crowd, &[[-1.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 2.0], [0.0; 4]]);
        assert!(apart[0].x > 0.0 && apart[0].y == 0.0);
        assert!(found[0].length() < 1e-5 * apart[0].length(), "{} of {}", found[0], apart[0]);
        assert_eq!(found[2], Vec3::ZERO);
    }
}
