//! Fit of rest shapes to present shapes: rotation, best deformation and goal map of eight clusters.

use super::matrix::{
    add, cross, determinant, load3, load9, multiply, multiply_transposed, quadratic_monomials, scale, store9, sub3,
    symmetric,
};
use super::polar::{SINGULAR_DETERMINANT, polar_rotation};
use super::{ClusterSums, GoalMap, GoalParams, LINEAR, Mode, QUADRATIC, RestBatch};
use crate::material::hooke::Matrix;
use crate::simd::{F32x8, SimdF32x8, SimdFloat, dispatch};

dispatch! {
    /// Fits rotation, best deformation and goal map of eight clusters.
    ///
    /// `rotation` (quaternions x, y, z, w) holds those of the last step on entry and the present ones on
    /// return.
    fit = fit_lanes [const MODE: Mode, const DAMPED: bool] [MODE, DAMPED] (
        rest: &RestBatch,
        params: &GoalParams,
        sums: &ClusterSums,
        rotation: &mut [F32x8; 4],
        goal: &mut GoalMap,
    )
}

/// A fitted deformation is followed in full if its determinant is at least this ...
const TRUSTED_VOLUME: f32 = 0.2;
/// ... and not at all at this or below, where it is flat or inverted: then the goal is the rotated rest shape.
const REJECTED_VOLUME: f32 = 0.05;

#[inline(always)]
fn fit_lanes<L: SimdF32x8, const MODE: Mode, const DAMPED: bool>(
    rest: &RestBatch,
    params: &GoalParams,
    sums: &ClusterSums,
    rotation: &mut [F32x8; 4],
    goal: &mut GoalMap,
) {
    let sum: Matrix<L> = load9(&sums.linear);
    let plastic: Matrix<L> = load9(&params.plastic);
    let r = polar_rotation::<L>(multiply_transposed(sum, plastic), rotation, SINGULAR_DETERMINANT);
    let size = L::load(&rest.gyration_radius);
    let rigid = scale(multiply(r, plastic), size);
    let affine = multiply(sum, symmetric(&rest.inverse_moments));
    let complete = add(affine, multiply(rigid, symmetric(&rest.null_projector)));
    store9(scale(complete, L::splat(1.0).div(size)), &mut goal.affine);
    let centre: [L; 3] = load3(&sums.centre);
    let mut linear = rigid;
    let mut offset = centre;
    if MODE != super::RIGID {
        let volume = determinant(scale(complete, L::splat(1.0).div(size)));
        let beta = L::load(&params.beta) * fit_weight(volume);
        let one_minus_beta = L::splat(1.0) - beta;
        if MODE == LINEAR {
            let volume_factor = L::load(&volume_factor(volume.to_array(), &params.target_volume, &rest.rank));
            linear = add(scale(affine, beta * volume_factor), scale(rigid, one_minus_beta));
        }
        if MODE == QUADRATIC {
            let (first_order, second_order) = fit_quadratic::<L>(rest, sums, sum);
            linear = add(scale(first_order, beta), scale(rigid, one_minus_beta));
            for i in 0..3 {
                for j in 0..6 {
                    let term = beta * second_order[i][j];
                    offset[i] = offset[i] - term * L::load(&rest.mean_monomials[j]);
                    term.store(&mut goal.quadratic[i][j]);
                }
            }
        }
    }
    store9(linear, &mut goal.linear);
    for i in 0..3 {
        offset[i].store(&mut goal.constant[i]);
        centre[i].store(&mut goal.centre[i]);
    }
    if DAMPED {
        goal.mean_velocity = sums.mean_velocity;
        let angular_velocity = angular_velocity::<L>(sums);
        for i in 0..3 {
            angular_velocity[i].store(&mut goal.angular_velocity[i]);
        }
    }
}

/// Weight of a fit of this volume ratio: 1 if trusted, 0 if flat or inverted, a ramp in between.
#[inline(always)]
fn fit_weight<L: SimdFloat>(volume: L) -> L {
    let ramp = (volume - L::splat(REJECTED_VOLUME)) * L::splat(1.0 / (TRUSTED_VOLUME - REJECTED_VOLUME));
    let high = ramp.select_gt(L::splat(1.0), L::splat(1.0), ramp);
    high.max(L::zero())
}

/// Factor that scales a fitted map to the target volume (area, length).
#[inline(always)]
fn volume_factor(volume: F32x8, target: &F32x8, rank: &F32x8) -> F32x8 {
    std::array::from_fn(|lane| {
        if target[lane] == 0.0 || volume[lane] <= REJECTED_VOLUME {
            return 1.0;
        }
        let ratio = volume[lane] / target[lane];
        1.0 / match rank[lane] as u32 {
            3 => libm::cbrtf(ratio),
            2 => ratio.sqrt(),
            _ => ratio,
        }
    })
}

/// Linear and quadratic term of the best quadratic map, `[MHTG05]` eq. 13.
#[inline(always)]
fn fit_quadratic<L: SimdF32x8>(rest: &RestBatch, sums: &ClusterSums, sum: Matrix<L>) -> (Matrix<L>, [[L; 6]; 3]) {
    let mut first_order = [[L::zero(); 3]; 3];
    let mut second_order = [[L::zero(); 6]; 3];
    for i in 0..3 {
        let mut row = [L::zero(); 9];
        for k in 0..9 {
            row[k] = if k < 3 { sum[i][k] } else { L::load(&sums.quadratic[i][k - 3]) };
        }
        for j in 0..9 {
            let mut value = L::zero();
            for k in 0..9 {
                value = value + row[k] * L::load(&rest.inverse_moments9[packed_index(k, j)]);
            }
            if j < 3 {
                first_order[i][j] = value;
            } else {
                second_order[i][j - 3] = value;
            }
        }
    }
    (first_order, second_order)
}

/// Index of an element of a symmetric 9 x 9 matrix in its packed upper triangle.
#[inline(always)]
pub(super) const fn packed_index(i: usize, j: usize) -> usize {
    let (low, high) = if i < j { (i, j) } else { (j, i) };
    low * 9 - low * (low + 1) / 2 + high
}

/// Angular velocity about the centre of mass, rad/s; 0 about an axis without extent.
#[inline(always)]
fn angular_velocity<L: SimdF32x8>(sums: &ClusterSums) -> [L; 3] {
    let centre: [L; 3] = load3(&sums.centre);
    let of_centre = quadratic_monomials(centre);
    let mut m = of_centre;
    for i in 0..6 {
        m[i] = L::load(&sums.second_moments[i]) - of_centre[i];
    }
    let momentum = sub3(load3(&sums.angular_momentum), cross(centre, load3(&sums.mean_velocity)));
    let trace = m[0] + m[1] + m[2];
    let scale = L::splat(1.0).div(trace.max(L::splat(f32::MIN_POSITIVE)));
    let regularisation = L::splat(1e-6);
    let h = [
        (m[1] + m[2]) * scale + regularisation,
        (m[0] + m[2]) * scale + regularisation,
        (m[0] + m[1]) * scale + regularisation,
    ];
    let minus = L::zero() - scale;
    let o = [m[3] * minus, m[4] * minus, m[5] * minus];
    let c = [h[1] * h[2] - o[1] * o[1], h[0] * h[2] - o[2] * o[2], h[0] * h[1] - o[0] * o[0]];
    let d = [o[2] * o[1] - o[0] * h[2], o[0] * o[2] - o[1] * h[0], o[0] * o[1] - o[2] * h[1]];
    let determinant = h[0] * c[0] + o[0] * d[0] + o[2] * d[2];
    let inverse = determinant.select_gt(L::splat(1e-9), scale.div(determinant), L::zero());
    [
        inverse * (c[0] * momentum[0] + d[0] * momentum[1] + d[2] * momentum[2]),
        inverse * (d[0] * momentum[0] + c[1] * momentum[1] + d[1] * momentum[2]),
        inverse * (d[2] * momentum[0] + d[1] * momentum[1] + c[2] * momentum[2]),
    ]
}
