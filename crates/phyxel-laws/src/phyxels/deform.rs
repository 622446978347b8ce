//! First visit to the neighbours: deformation and stress.

use super::{Deformation, Group, Line, Matter, Missing, Row, SHEAR, Still, following};
use crate::elastic::{Hooke, Matrix, cofactors, determinant, dot, full, product, strain, symmetric_product};
use crate::lanes::{Eight, Lanes, WIDTH, at_every_level};

at_every_level! {
    /// Writes what neighbours need to know of eight phyxels and the elastic strain of each.
    /// Returns by `stretch` how much stiffer than at rest each is, or a little more: because it is stretched, or stressed.
    deform = deform_eight [] [] (
        group: &Group,
        matter: &Matter,
        points: &[[f32; 4]],
        lines: &mut [Line],
        elastic: &mut [Eight; 6],
        stretch: &mut Eight,
    )
}

at_every_level! {
    /// Deformation of eight phyxels.
    measure = measure_eight [] [] (
        group: &Group,
        points: &[[f32; 4]],
        deformation: &mut Deformation,
    )
}

at_every_level! {
    /// Writes what neighbours need to know of how forces change when points move by `moves`: the derivative of [`deform`]
    /// at a deformation. `stress` is what the derivative of a turn makes of it; without its compression, and without
    /// the second derivative of the volume, forces never grow along a move.
    change = change_eight [] [] (
        group: &Group,
        matter: &Matter,
        deformation: &Deformation,
        stress: &[Eight; 6],
        moves: &[[f32; 4]],
        lines: &mut [Line],
    )
}

/// `sum_j w_ij x_ij X_ij^T`.
#[inline(always)]
fn moments<L: Lanes>(rows: &[Row], points: &[[f32; 4]], own: [L; 3]) -> Matrix<L> {
    let mut m = [[L::zero(); 3]; 3];
    for row in rows {
        let [x, y, z, _] = L::gather4(points, &row.index);
        let between = [x - own[0], y - own[1], z - own[2]];
        let way = [L::load(&row.way[0]), L::load(&row.way[1]), L::load(&row.way[2])];
        for r in 0..3 {
            for c in 0..3 {
                m[r][c] = m[r][c] + between[r] * way[c];
            }
        }
    }
    m
}

#[inline(always)]
fn own_place<L: Lanes>(points: &[[f32; 4]], first: usize) -> [L; 3] {
    let [x, y, z, _] = L::gather4(points, &following(first));
    [x, y, z]
}

#[inline(always)]
fn load6<L: Lanes>(values: &[Eight; 6]) -> [L; 6] {
    let [a, b, c, d, e, f] = values;
    [L::load(a), L::load(b), L::load(c), L::load(d), L::load(e), L::load(f)]
}

/// `J`, complete where neighbours do not span space.
#[inline(always)]
fn deformation<L: Lanes>(m: &Matrix<L>, inverse: &Matrix<L>, missing: Option<&Missing>) -> Matrix<L> {
    let mut j = product(m, inverse);
    if let Some(missing) = missing {
        let missing = full(load6::<L>(missing));
        for r in 0..3 {
            for c in 0..3 {
                j[r][c] = j[r][c] + missing[r][c];
            }
        }
    }
    j
}

#[inline(always)]
fn measure_eight<L: Lanes>(group: &Group, points: &[[f32; 4]], out: &mut Deformation) {
    let inverse = full(load6::<L>(&group.still.inverse));
    let place = own_place(points, group.first);
    let j = deformation(&moments::<L>(group.rows, points, place), &inverse, group.missing);
    for r in 0..3 {
        for c in 0..3 {
            j[r][c].store(&mut out[r][c]);
        }
    }
}

/// What eight phyxels add to the matter of their body.
struct Own<L> {
    stiffness: L,
    hourglass: L,
    damping: L,
}

impl<L: Lanes> Own<L> {
    #[inline(always)]
    fn of(group: &Group, matter: &Matter) -> Self {
        let (still, state) = (group.still, group.state);
        let stiffness = match state {
            Some(state) => L::load(&state.stiffness),
            None => L::splat(1.0),
        };
        let ratio = L::load(&still.ratio);
        let mut damping = L::splat(matter.damping) * stiffness;
        if let Some(state) = state {
            damping = damping + L::splat(SHEAR) * L::load(&state.viscosity);
        }
        Self {
            stiffness,
            hourglass: L::splat(matter.hourglass) * stiffness * ratio,
            // Pairs that resist along their own direction, `c_ij = 6 (d_i + d_j) w_ij`, see [`pull`](super::pull).
            damping: damping * ratio,
        }
    }
}

/// `a += factor b`.
#[inline(always)]
fn add_times<L: Lanes>(a: &mut Matrix<L>, factor: L, b: &Matrix<L>) {
    for r in 0..3 {
        for c in 0..3 {
            a[r][c] = a[r][c] + factor * b[r][c];
        }
    }
}

#[inline(always)]
fn scale<L: Lanes>(a: &mut Matrix<L>, factor: L) {
    for r in 0..3 {
        for c in 0..3 {
            a[r][c] = a[r][c] * factor;
        }
    }
}

/// One part of eight lines.
#[inline(always)]
fn put(lines: &mut [Line], part: usize, rows: [[f32; 4]; WIDTH]) {
    for lane in 0..WIDTH {
        lines[lane].0[part] = rows[lane];
    }
}

/// `R = V P A^-1 - s J` and the rest of a line.
#[inline(always)]
fn write<L: Lanes>(
    still: &Still,
    inverse: &Matrix<L>,
    own: &Own<L>,
    (p, j): (&Matrix<L>, &Matrix<L>),
    place: [L; 3],
    lines: &mut [Line],
) {
    let volume = L::load(&still.volume);
    let mut r = product(p, inverse);
    for a in 0..3 {
        for b in 0..3 {
            r[a][b] = volume * r[a][b] - own.hourglass * j[a][b];
        }
    }
    let last = [own.hourglass, own.damping, L::zero()];
    for k in 0..3 {
        put(lines, k, L::rows4([r[0][k], r[1][k], r[2][k], last[k]]));
    }
    put(lines, 3, L::rows4([place[0], place[1], place[2], L::zero()]));
}

#[inline(always)]
fn deform_eight<L: Lanes>(
    group: &Group,
    matter: &Matter,
    points: &[[f32; 4]],
    lines: &mut [Line],
    elastic: &mut [Eight; 6],
    stretch: &mut Eight,
) {
    let (place, state) = (own_place::<L>(points, group.first), group.state);
    let inverse = full(load6::<L>(&group.still.inverse));
    let j = deformation(&moments(group.rows, points, place), &inverse, group.missing);
    let own = Own::<L>::of(group, matter);
    let mut e = strain(&j);
    let two = L::splat(2.0);
    let drawn = two * (e[0] + e[1] + e[2]);
    if let Some(state) = state {
        let (plastic, swelling) = (load6::<L>(&state.plastic), L::load(&state.swelling));
        for k in 0..6 {
            e[k] = if k < 3 { e[k] - plastic[k] - swelling } else { e[k] - plastic[k] };
        }
    }
    let mut square = L::zero();
    for k in 0..6 {
        e[k].store(&mut elastic[k]);
        square = square + if k < 3 { e[k] * e[k] } else { two * (e[k] * e[k]) };
    }
    // Drawn out to J it is J^2 times as stiff; stress alone adds as much as its strain, twice.
    ((drawn.max(two * square.sqrt()) + L::splat(1.0)) * own.stiffness).store(stretch);
    let mut p = product(&j, &full(matter.hooke.stress(e)));
    if matter.bulk != 0.0 {
        let cofactors = cofactors(&j);
        // A body that is warm has another volume: (1 + 2 swelling)^(3/2).
        let mut size = L::splat(1.0);
        if let Some(state) = state {
            let square = L::splat(1.0) + two * L::load(&state.swelling);
            size = square * square.sqrt();
        }
        let push = L::splat(matter.bulk) * (determinant(&j, &cofactors) - size);
        add_times(&mut p, push, &cofactors);
    }
    scale(&mut p, own.stiffness);
    write(group.still, &inverse, &own, (&p, &j), place, lines);
}

#[inline(always)]
fn change_eight<L: Lanes>(
    group: &Group,
    matter: &Matter,
    at: &Deformation,
    stress: &[Eight; 6],
    moves: &[[f32; 4]],
    lines: &mut [Line],
) {
    let place = own_place::<L>(moves, group.first);
    let inverse = full(load6::<L>(&group.still.inverse));
    let own = Own::<L>::of(group, matter);
    let mut j = [[L::zero(); 3]; 3];
    for r in 0..3 {
        for c in 0..3 {
            j[r][c] = L::load(&at[r][c]);
        }
    }
    let dj = product(&moments(group.rows, moves, place), &inverse);
    let ds = matter.hooke.stress(symmetric_product(&j, &dj));
    let turned = product(&dj, &full(load6::<L>(stress)));
    let mut p = product(&j, &full(ds));
    for r in 0..3 {
        for c in 0..3 {
            p[r][c] = p[r][c] + turned[r][c];
        }
    }
    if matter.bulk != 0.0 {
        let cofactors = cofactors(&j);
        let push = L::splat(matter.bulk) * dot(&cofactors, &dj);
        add_times(&mut p, push, &cofactors);
    }
    scale(&mut p, own.stiffness);
    write(group.still, &inverse, &own, (&p, &dj), place, lines);
}

/// Second stress of Piola and Kirchhoff at an elastic strain, without its volume term, six numbers, Pa.
pub fn stress_of(hooke: &Hooke, elastic: &[Eight; 6]) -> [Eight; 6] {
    let strain = load6::<crate::lanes::Portable>(elastic);
    hooke.stress(strain).map(Lanes::to_array)
}
