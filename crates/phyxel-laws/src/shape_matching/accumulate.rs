//! Moment sums of the present shapes of eight clusters.

use super::matrix::{add_outer, cross, load3, quadratic_monomials, store3, store9, sub3};
use super::{ClusterSums, PointIndices, PointRow};
use crate::simd::{F32x8, SimdF32x8, dispatch};
use glam::Vec3;

dispatch! {
    /// Accumulates the sums of eight clusters.
    ///
    /// `anchor` is a particle near the centre of each cluster; positions are taken relative to it, so that
    /// no precision is lost far from the origin. `mean` is the weighted mean of the monomials of `q`.
    /// `QUADRATIC` adds the sums of the monomials, `DAMPED` those of the velocities.
    accumulate = accumulate_lanes [const QUADRATIC: bool, const DAMPED: bool] [QUADRATIC, DAMPED] (
        rows: &[PointRow],
        indices: &[PointIndices],
        anchor: &PointIndices,
        mean: &[F32x8; 6],
        positions: &[Vec3],
        velocities: &[Vec3],
        sums: &mut ClusterSums,
    )
}

#[inline(always)]
fn accumulate_lanes<L: SimdF32x8, const QUADRATIC: bool, const DAMPED: bool>(
    rows: &[PointRow],
    indices: &[PointIndices],
    anchor: &PointIndices,
    mean: &[F32x8; 6],
    positions: &[Vec3],
    velocities: &[Vec3],
    sums: &mut ClusterSums,
) {
    let anchor_position: [L; 3] = L::gather_vec3(positions, anchor);
    let anchor_velocity: [L; 3] = if DAMPED { L::gather_vec3(velocities, anchor) } else { [L::zero(); 3] };
    let mut centre = [L::zero(); 3];
    let mut linear = [[L::zero(); 3]; 3];
    let mut quadratic = [[L::zero(); 6]; 3];
    let mut mean_velocity = [L::zero(); 3];
    let mut angular_momentum = [L::zero(); 3];
    let mut second_moments = [L::zero(); 6];
    for (row, index) in rows.iter().zip(indices) {
        let q: [L; 3] = load3(&row.q);
        let weight = L::load(&row.weight);
        let p = sub3(L::gather_vec3(positions, index), anchor_position);
        let wp = [weight * p[0], weight * p[1], weight * p[2]];
        for i in 0..3 {
            centre[i] = centre[i] + wp[i];
        }
        add_outer(&mut linear, wp, q);
        if QUADRATIC {
            add_outer(&mut quadratic, wp, quadratic_monomials(q));
        }
        if DAMPED {
            let v = sub3(L::gather_vec3(velocities, index), anchor_velocity);
            let momentum = cross(wp, v);
            let wpp = [wp[0] * p[0], wp[1] * p[1], wp[2] * p[2], wp[0] * p[1], wp[1] * p[2], wp[2] * p[0]];
            for i in 0..3 {
                mean_velocity[i] = mean_velocity[i] + weight * v[i];
                angular_momentum[i] = angular_momentum[i] + momentum[i];
            }
            for i in 0..6 {
                second_moments[i] = second_moments[i] + wpp[i];
            }
        }
    }
    if QUADRATIC {
        for i in 0..3 {
            for j in 0..6 {
                (quadratic[i][j] - centre[i] * L::load(&mean[j])).store(&mut sums.quadratic[i][j]);
            }
        }
    }
    if DAMPED {
        store3(mean_velocity, &mut sums.mean_velocity);
        store3(angular_momentum, &mut sums.angular_momentum);
        for i in 0..6 {
            second_moments[i].store(&mut sums.second_moments[i]);
        }
    }
    store3(centre, &mut sums.centre);
    store9(linear, &mut sums.linear);
}
