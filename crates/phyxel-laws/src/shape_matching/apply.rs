//! Velocity corrections of the points of eight clusters towards their goals.

use super::matrix::{cross, load3, quadratic_monomials, sub3};
use super::{GoalMap, PointIndices, PointRow};
use crate::simd::{F32x8, SimdF32x8, dispatch};
use glam::Vec3;

dispatch! {
    /// Computes the velocity correction of each point by each of its clusters, m/s.
    ///
    /// `velocity_gain` is `alpha/dt` (1/s), `damping` the fraction of the motion relative to the cluster's
    /// rigid motion that is removed.
    correct_velocities = correct_velocities_lanes [const QUADRATIC: bool, const DAMPED: bool] [QUADRATIC, DAMPED] (
        rows: &[PointRow],
        indices: &[PointIndices],
        anchor: &PointIndices,
        goal: &GoalMap,
        velocity_gain: &F32x8,
        damping: &F32x8,
        positions: &[Vec3],
        velocities: &[Vec3],
        corrections: &mut [[F32x8; 3]],
    )
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn correct_velocities_lanes<L: SimdF32x8, const QUADRATIC: bool, const DAMPED: bool>(
    rows: &[PointRow],
    indices: &[PointIndices],
    anchor: &PointIndices,
    goal: &GoalMap,
    velocity_gain: &F32x8,
    damping: &F32x8,
    positions: &[Vec3],
    velocities: &[Vec3],
    corrections: &mut [[F32x8; 3]],
) {
    let anchor_position: [L; 3] = L::gather_vec3(positions, anchor);
    let anchor_velocity: [L; 3] = if DAMPED { L::gather_vec3(velocities, anchor) } else { [L::zero(); 3] };
    let constant: [L; 3] = load3(&goal.constant);
    let linear: [[L; 3]; 3] = [load3(&goal.linear[0]), load3(&goal.linear[1]), load3(&goal.linear[2])];
    let mut quadratic = [[L::zero(); 6]; 3];
    if QUADRATIC {
        for i in 0..3 {
            for j in 0..6 {
                quadratic[i][j] = L::load(&goal.quadratic[i][j]);
            }
        }
    }
    let centre: [L; 3] = load3(&goal.centre);
    let mean_velocity: [L; 3] = load3(&goal.mean_velocity);
    let angular_velocity: [L; 3] = load3(&goal.angular_velocity);
    let (velocity_gain, damping) = (L::load(velocity_gain), L::load(damping));
    for ((row, index), output) in rows.iter().zip(indices).zip(corrections) {
        let q: [L; 3] = load3(&row.q);
        let p = sub3(L::gather_vec3(positions, index), anchor_position);
        let s = quadratic_monomials(q);
        let mut correction = [L::zero(); 3];
        for i in 0..3 {
            let mut goal = constant[i] + linear[i][0] * q[0] + linear[i][1] * q[1] + linear[i][2] * q[2];
            if QUADRATIC {
                for j in 0..6 {
                    goal = goal + quadratic[i][j] * s[j];
                }
            }
            correction[i] = velocity_gain * (goal - p[i]);
        }
        if DAMPED {
            let v = sub3(L::gather_vec3(velocities, index), anchor_velocity);
            let rotational = cross(angular_velocity, sub3(p, centre));
            for i in 0..3 {
                correction[i] = correction[i] + damping * (mean_velocity[i] + rotational[i] - v[i]);
            }
        }
        for i in 0..3 {
            correction[i].store(&mut output[i]);
        }
    }
}
