//! Pulling the points of eight clusters to their goals.

use super::accumulate::{cross, load3, products, sub3};
use super::{Goal, Indices, Row};
use crate::lanes::{Eight, Lanes, at_every_level};
use glam::Vec3;

at_every_level! {
    /// Writes the change of velocity that each cluster wants for each of its points, m/s.
    ///
    /// `pull` is `alpha/dt` (1/s) towards the goal, `damp` the part of the motion against the cluster's rigid
    /// motion that is taken away.
    apply = pull_points [const QUADRATIC: bool, const DAMPED: bool] [QUADRATIC, DAMPED] (
        rows: &[Row],
        indices: &[Indices],
        anchor: &Indices,
        goal: &Goal,
        pull: &Eight,
        damp: &Eight,
        positions: &[Vec3],
        velocities: &[Vec3],
        changes: &mut [[Eight; 3]],
    )
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn pull_points<L: Lanes, const QUADRATIC: bool, const DAMPED: bool>(
    rows: &[Row],
    indices: &[Indices],
    anchor: &Indices,
    goal: &Goal,
    pull: &Eight,
    damp: &Eight,
    positions: &[Vec3],
    velocities: &[Vec3],
    changes: &mut [[Eight; 3]],
) {
    let origin: [L; 3] = L::gather(positions, anchor);
    let rest: [L; 3] = if DAMPED { L::gather(velocities, anchor) } else { [L::zero(); 3] };
    let centre: [L; 3] = load3(&goal.centre);
    let linear: [[L; 3]; 3] = [load3(&goal.linear[0]), load3(&goal.linear[1]), load3(&goal.linear[2])];
    let mut quadratic = [[L::zero(); 6]; 3];
    if QUADRATIC {
        for i in 0..3 {
            for j in 0..6 {
                quadratic[i][j] = L::load(&goal.quadratic[i][j]);
            }
        }
    }
    let middle: [L; 3] = load3(&goal.middle);
    let drift: [L; 3] = load3(&goal.drift);
    let spin: [L; 3] = load3(&goal.spin);
    let (pull, damp) = (L::load(pull), L::load(damp));
    for ((row, index), change) in rows.iter().zip(indices).zip(changes) {
        let q: [L; 3] = load3(&row.q);
        let p = sub3(L::gather(positions, index), origin);
        let s = products(q);
        let mut wanted = [L::zero(); 3];
        for i in 0..3 {
            let mut goal = centre[i] + linear[i][0] * q[0] + linear[i][1] * q[1] + linear[i][2] * q[2];
            if QUADRATIC {
                for j in 0..6 {
                    goal = goal + quadratic[i][j] * s[j];
                }
            }
            wanted[i] = pull * (goal - p[i]);
        }
        if DAMPED {
            let v = sub3(L::gather(velocities, index), rest);
            let turn = cross(spin, sub3(p, middle));
            for i in 0..3 {
                wanted[i] = wanted[i] + damp * (drift[i] + turn[i] - v[i]);
            }
        }
        for i in 0..3 {
            wanted[i].store(&mut change[i]);
        }
    }
}
