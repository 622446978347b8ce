//! Second visit to the neighbours: forces.

use super::{Group, Line, following};
use crate::lanes::{Eight, Lanes, WIDTH, at_every_level};

at_every_level! {
    /// Forces on eight phyxels, N, three numbers for each, and the power that damping
    /// takes from each, W.
    ///
    /// With `DAMPED`, pairs resist a change of their distance with `c_ij = 6 (d_i + d_j) w_ij`: as a network of springs
    /// with the Young's modulus `E` has stiffnesses `6 (t_i + t_j) w_ij`, `t = E V/tr A`. Forces along the line between
    /// two points keep momentum and angular momentum. With `MOVES`, lines are of moves, and `points` are where the phyxels
    /// are.
    pull = pull_eight [const DAMPED: bool, const MOVES: bool] [DAMPED, MOVES] (
        group: &Group,
        lines: &[Line],
        velocities: &[[f32; 4]],
        points: &[[f32; 4]],
        force: &mut [[f32; 4]; WIDTH],
        lost: &mut Eight,
    )
}

/// Parts of lines for eight phyxels.
#[inline(always)]
fn part<L: Lanes>(lines: &[Line], index: &[u32; WIDTH], part: usize) -> [L; 4] {
    let [a, b, c, d, e, f, g, h] = index;
    let [a, b, c, d] = [&lines[*a as usize], &lines[*b as usize], &lines[*c as usize], &lines[*d as usize]];
    let [e, f, g, h] = [&lines[*e as usize], &lines[*f as usize], &lines[*g as usize], &lines[*h as usize]];
    L::load4([&a.0[part], &b.0[part], &c.0[part], &d.0[part], &e.0[part], &f.0[part], &g.0[part], &h.0[part]])
}

#[inline(always)]
fn pull_eight<L: Lanes, const DAMPED: bool, const MOVES: bool>(
    group: &Group,
    lines: &[Line],
    velocities: &[[f32; 4]],
    points: &[[f32; 4]],
    force: &mut [[f32; 4]; WIDTH],
    lost: &mut Eight,
) {
    let own = following(group.first);
    let [ax, ay, az, hourglass] = part::<L>(lines, &own, 0);
    let [bx, by, bz, damping] = part::<L>(lines, &own, 1);
    let [cx, cy, cz, _] = part::<L>(lines, &own, 2);
    let [x, y, z, _] = part::<L>(lines, &own, 3);
    let lean = [L::load(&group.still.lean[0]), L::load(&group.still.lean[1]), L::load(&group.still.lean[2])];
    let mut sum = [
        ax * lean[0] + bx * lean[1] + cx * lean[2],
        ay * lean[0] + by * lean[1] + cy * lean[2],
        az * lean[0] + bz * lean[1] + cz * lean[2],
    ];
    let mine: [L; 4] = if DAMPED { L::gather4(velocities, &own) } else { [L::zero(); 4] };
    let here: [L; 4] = if DAMPED && MOVES { L::gather4(points, &own) } else { [L::zero(); 4] };
    let mut power = L::zero();
    for row in group.rows {
        let way = [L::load(&row.way[0]), L::load(&row.way[1]), L::load(&row.way[2])];
        let weight = L::load(&row.weight);
        let [ax, ay, az, s] = part::<L>(lines, &row.index, 0);
        let [bx, by, bz, d] = part::<L>(lines, &row.index, 1);
        let [cx, cy, cz, _] = part::<L>(lines, &row.index, 2);
        let [px, py, pz, _] = part::<L>(lines, &row.index, 3);
        let between = [px - x, py - y, pz - z];
        let mut hold = (hourglass + s) * weight;
        if DAMPED {
            let mut way = between;
            if MOVES {
                let [px, py, pz, _] = L::gather4(points, &row.index);
                way = [px - here[0], py - here[1], pz - here[2]];
            }
            let [vx, vy, vz, _] = L::gather4(velocities, &row.index);
            let closing = (vx - mine[0]) * way[0] + (vy - mine[1]) * way[1] + (vz - mine[2]) * way[2];
            let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
            let pace = closing.div(square.max(L::splat(1e-30)));
            let brake = L::splat(6.0) * (damping + d) * weight * pace;
            power = power + brake * closing;
            if MOVES {
                for axis in 0..3 {
                    sum[axis] = sum[axis] + brake * way[axis];
                }
            } else {
                hold = hold + brake;
            }
        }
        sum[0] = sum[0] + (ax * way[0] + bx * way[1] + cx * way[2]) + hold * between[0];
        sum[1] = sum[1] + (ay * way[0] + by * way[1] + cy * way[2]) + hold * between[1];
        sum[2] = sum[2] + (az * way[0] + bz * way[1] + cz * way[2]) + hold * between[2];
    }
    *force = L::rows4([sum[0], sum[1], sum[2], L::zero()]);
    (power * L::splat(0.5)).store(lost);
}
