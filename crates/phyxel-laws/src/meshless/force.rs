//! Second pass over the neighbours: forces.

use super::{Payload, PhyxelGroup, consecutive};
use crate::simd::{F32x8, SimdF32x8, WIDTH, dispatch};

dispatch! {
    /// Computes the forces on eight phyxels (N, three components and a zero each) and the power dissipated
    /// in each (W).
    ///
    /// With `DAMPED`, dampers `c_ij = 6 (d_i + d_j) w_ij` act along the pairs, as springs
    /// `6 (t_i + t_j) w_ij`, `t = E V/tr A`, make a network of Young's modulus `E`. Central forces conserve
    /// momentum and angular momentum. With `LINEARISED`, payloads are those of increments, and `points` are
    /// the positions.
    gather_forces = gather_forces_lanes [const DAMPED: bool, const LINEARISED: bool] [DAMPED, LINEARISED] (
        group: &PhyxelGroup,
        payloads: &[Payload],
        velocities: &[[f32; 4]],
        points: &[[f32; 4]],
        force: &mut [[f32; 4]; WIDTH],
        dissipated: &mut F32x8,
    )
}

/// One column of the payloads of eight phyxels.
#[inline(always)]
fn load_column<L: SimdF32x8>(payloads: &[Payload], index: &[u32; WIDTH], column: usize) -> [L; 4] {
    let [a, b, c, d, e, f, g, h] = index;
    let [a, b, c, d] = [&payloads[*a as usize], &payloads[*b as usize], &payloads[*c as usize], &payloads[*d as usize]];
    let [e, f, g, h] = [&payloads[*e as usize], &payloads[*f as usize], &payloads[*g as usize], &payloads[*h as usize]];
    L::load_rows([
        &a.0[column],
        &b.0[column],
        &c.0[column],
        &d.0[column],
        &e.0[column],
        &f.0[column],
        &g.0[column],
        &h.0[column],
    ])
}

/// Force of a central damper over the distance vector, N/m, and the power it dissipates, W.
#[inline(always)]
fn damper<L: SimdF32x8>(coefficient: L, r_ij: [L; 3], v_ij: [L; 3]) -> (L, L) {
    let r_dot_v = v_ij[0] * r_ij[0] + v_ij[1] * r_ij[1] + v_ij[2] * r_ij[2];
    let square = r_ij[0] * r_ij[0] + r_ij[1] * r_ij[1] + r_ij[2] * r_ij[2];
    let rate = r_dot_v.div(square.max(L::splat(1e-30)));
    let force = coefficient * rate;
    (force, force * r_dot_v)
}

/// Loads a vector.
#[inline(always)]
fn load3<L: SimdF32x8>(values: &[F32x8; 3]) -> [L; 3] {
    [L::load(&values[0]), L::load(&values[1]), L::load(&values[2])]
}

#[inline(always)]
fn gather_forces_lanes<L: SimdF32x8, const DAMPED: bool, const LINEARISED: bool>(
    group: &PhyxelGroup,
    payloads: &[Payload],
    velocities: &[[f32; 4]],
    points: &[[f32; 4]],
    force: &mut [[f32; 4]; WIDTH],
    dissipated: &mut F32x8,
) {
    let index = consecutive(group.first);
    let [ax, ay, az, hourglass] = load_column::<L>(payloads, &index, 0);
    let [bx, by, bz, damping] = load_column::<L>(payloads, &index, 1);
    let [cx, cy, cz, _] = load_column::<L>(payloads, &index, 2);
    let [x, y, z, _] = load_column::<L>(payloads, &index, 3);
    let first_moment = load3::<L>(&group.reference.first_moment);
    let mut sum = [
        ax * first_moment[0] + bx * first_moment[1] + cx * first_moment[2],
        ay * first_moment[0] + by * first_moment[1] + cy * first_moment[2],
        az * first_moment[0] + bz * first_moment[1] + cz * first_moment[2],
    ];
    let v_i: [L; 4] = if DAMPED { L::gather_rows(velocities, &index) } else { [L::zero(); 4] };
    let x_i: [L; 4] = if DAMPED && LINEARISED { L::gather_rows(points, &index) } else { [L::zero(); 4] };
    let mut power = L::zero();
    for row in group.rows {
        let wx_ij = load3::<L>(&row.weighted_offset);
        let weight = L::load(&row.weight);
        let [ax, ay, az, s] = load_column::<L>(payloads, &row.index, 0);
        let [bx, by, bz, d] = load_column::<L>(payloads, &row.index, 1);
        let [cx, cy, cz, _] = load_column::<L>(payloads, &row.index, 2);
        let [px, py, pz, _] = load_column::<L>(payloads, &row.index, 3);
        let x_ij = [px - x, py - y, pz - z];
        let mut spring = (hourglass + s) * weight;
        if DAMPED {
            let mut r_ij = x_ij;
            if LINEARISED {
                let [px, py, pz, _] = L::gather_rows(points, &row.index);
                r_ij = [px - x_i[0], py - x_i[1], pz - x_i[2]];
            }
            let [vx, vy, vz, _] = L::gather_rows(velocities, &row.index);
            let v_ij = [vx - v_i[0], vy - v_i[1], vz - v_i[2]];
            let (damper, dissipated) = damper(L::splat(6.0) * (damping + d) * weight, r_ij, v_ij);
            power = power + dissipated;
            if LINEARISED {
                for axis in 0..3 {
                    sum[axis] = sum[axis] + damper * r_ij[axis];
                }
            } else {
                spring = spring + damper;
            }
        }
        sum[0] = sum[0] + (ax * wx_ij[0] + bx * wx_ij[1] + cx * wx_ij[2]) + spring * x_ij[0];
        sum[1] = sum[1] + (ay * wx_ij[0] + by * wx_ij[1] + cy * wx_ij[2]) + spring * x_ij[1];
        sum[2] = sum[2] + (az * wx_ij[0] + bz * wx_ij[1] + cz * wx_ij[2]) + spring * x_ij[2];
    }
    *force = L::to_rows([sum[0], sum[1], sum[2], L::zero()]);
    (power * L::splat(0.5)).store(dissipated);
}
