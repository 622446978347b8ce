//! Summing up the present shape of eight clusters.

use super::{Indices, Row, Sums};
use crate::lanes::{Eight, Lanes, Numbers, at_every_level};
use glam::Vec3;

at_every_level! {
    /// Sums up eight clusters.
    ///
    /// `anchor` names a particle near the middle of each cluster; positions are taken relative to it, so that
    /// nothing is lost far from the origin. `mean` is the weighted mean of the products of `q`. With `QUADRATIC`
    /// the products are summed up, with `DAMPED` the velocities.
    accumulate = sum_up [const QUADRATIC: bool, const DAMPED: bool] [QUADRATIC, DAMPED] (
        rows: &[Row],
        indices: &[Indices],
        anchor: &Indices,
        mean: &[Eight; 6],
        positions: &[Vec3],
        velocities: &[Vec3],
        sums: &mut Sums,
    )
}

/// Products of the components of a vector: squares, then xy, yz, zx.
#[inline(always)]
pub(super) fn products<L: Numbers>([x, y, z]: [L; 3]) -> [L; 6] {
    [x * x, y * y, z * z, x * y, y * z, z * x]
}

#[inline(always)]
pub(super) fn cross<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
pub(super) fn load3<L: Lanes>(values: &[Eight; 3]) -> [L; 3] {
    [L::load(&values[0]), L::load(&values[1]), L::load(&values[2])]
}

#[inline(always)]
pub(super) fn sub3<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn sum_up<L: Lanes, const QUADRATIC: bool, const DAMPED: bool>(
    rows: &[Row],
    indices: &[Indices],
    anchor: &Indices,
    mean: &[Eight; 6],
    positions: &[Vec3],
    velocities: &[Vec3],
    sums: &mut Sums,
) {
    let origin: [L; 3] = L::gather(positions, anchor);
    let rest: [L; 3] = if DAMPED { L::gather(velocities, anchor) } else { [L::zero(); 3] };
    let mut centre = [L::zero(); 3];
    let mut linear = [[L::zero(); 3]; 3];
    let mut quadratic = [[L::zero(); 6]; 3];
    let mut drift = [L::zero(); 3];
    let mut spin = [L::zero(); 3];
    let mut moments = [L::zero(); 6];
    for (row, index) in rows.iter().zip(indices) {
        let q: [L; 3] = load3(&row.q);
        let weight = L::load(&row.weight);
        let p = sub3(L::gather(positions, index), origin);
        let wp = [weight * p[0], weight * p[1], weight * p[2]];
        for i in 0..3 {
            centre[i] = centre[i] + wp[i];
            for j in 0..3 {
                linear[i][j] = linear[i][j] + wp[i] * q[j];
            }
        }
        if QUADRATIC {
            let s = products(q);
            for i in 0..3 {
                for j in 0..6 {
                    quadratic[i][j] = quadratic[i][j] + wp[i] * s[j];
                }
            }
        }
        if DAMPED {
            let v = sub3(L::gather(velocities, index), rest);
            let turn = cross(wp, v);
            let second = [wp[0] * p[0], wp[1] * p[1], wp[2] * p[2], wp[0] * p[1], wp[1] * p[2], wp[2] * p[0]];
            for i in 0..3 {
                drift[i] = drift[i] + weight * v[i];
                spin[i] = spin[i] + turn[i];
            }
            for i in 0..6 {
                moments[i] = moments[i] + second[i];
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
        for i in 0..3 {
            drift[i].store(&mut sums.drift[i]);
            spin[i].store(&mut sums.spin[i]);
        }
        for i in 0..6 {
            moments[i].store(&mut sums.moments[i]);
        }
    }
    for i in 0..3 {
        centre[i].store(&mut sums.centre[i]);
        for j in 0..3 {
            linear[i][j].store(&mut sums.linear[i][j]);
        }
    }
}
