//! How forces of eight elements change with the places of their corners, for implicit steps.
//!
//! Rotations are kept, so `K` is symmetric, positive and the same for every move: `K u = V R C[sym(R^T grad u)] g`. Forces change
//! by `-K u`, and with damping by `-(K u + damping K du/dt)`. An implicit step solves `(M + dt a M + (dt^2 + dt b) K) dv = ...`
//! with the `a` and `b` of [`Rayleigh`](super::Rayleigh).

use super::force::{
    load_gradients, slope, spread, stiff_volume, stretch_rate, transposed, turn_inverse, without_torque,
};
use super::{CornerVectors, Group, Matter};
use crate::Real;
use crate::elastic::{Hooke, Matrix, SCALE, full, product as multiplied, symmetric_product};
use crate::lanes::{Eight, Lanes, WIDTH, at_every_level};
use crate::matching::{load_turns, rotation_matrix};
use glam::Mat3A;
use std::slice::{from_mut, from_ref};

/// How the blocks of `K` beside the diagonal follow from vectors of corners, which [`corner_vectors`] finds.
///
/// A block is what the first of two corners feels of moves of the second. It is linear in `sum a b^T` over modes, of vectors `a` of the first and
/// `b` of the second, so that elements which share an edge are added up before it is made.
#[derive(Clone, Debug, PartialEq)]
pub enum Modes {
    /// One, in which vectors are gradients.
    Isotropic {
        /// Lame's first constant, Pa.
        lambda: Real,
        /// Shear modulus, Pa.
        mu: Real,
    },
    /// Six: energy is half of the sum of squares of `S : e` over these `S`, Pa^0.5, and vectors are `S` times gradients.
    Anisotropic(Box<[Matrix<Real>; 6]>),
}

impl Modes {
    /// Of a law.
    pub fn new(hooke: &Hooke) -> Self {
        if let &Hooke::Isotropic { lambda, mu } = hooke {
            return Self::Isotropic { lambda, mu };
        }
        // Shears stand twice in a matrix.
        let once = |k: usize| if k < 3 { 1.0 } else { 1.0 / SCALE[k] };
        let numbers = |row: [f64; 6]| std::array::from_fn(|k| (row[k] * once(k)) as Real);
        Self::Anisotropic(Box::new(hooke.root().map(|row| full(numbers(row)))))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Isotropic { .. } => 1,
            Self::Anisotropic(modes) => modes.len(),
        }
    }

    /// A block, N/m, from the sum over modes of products of vectors.
    pub fn block(&self, sum: &Mat3A) -> Mat3A {
        match *self {
            Self::Isotropic { lambda, mu } => {
                let trace = sum.x_axis.x + sum.y_axis.y + sum.z_axis.z;
                *sum * lambda + (sum.transpose() + Mat3A::from_diagonal(glam::Vec3::splat(trace))) * mu
            }
            Self::Anisotropic(_) => *sum,
        }
    }

    fn tensor(&self, mode: usize) -> Option<&Matrix<Real>> {
        match self {
            Self::Isotropic { .. } => None,
            Self::Anisotropic(modes) => modes.get(mode),
        }
    }
}

at_every_level! {
    /// `K u` at the corners of eight elements, N, for moves `u` of nodes, m.
    product = product_eight [] [] (
        group: &Group,
        matter: &Matter,
        turn: &[Eight; 4],
        moves: &[[f32; 4]],
        out: &mut CornerVectors,
    )
}

at_every_level! {
    /// What [`product`] is if rotations turn with the moves, N: `K` by how stretches change, not how `R^T F` does.
    ///
    /// Whatever the strain, it resists no turn of an element as a whole and does not turn it. ([`product`] does both, in proportion to the
    /// strain: too much for a crumb that is stiff and hardly has a mass.)
    stretch_product = stretch_product_eight [] [] (
        group: &Group,
        matter: &Matter,
        points: &[[f32; 4]],
        turn: &[Eight; 4],
        moves: &[[f32; 4]],
        out: &mut CornerVectors,
    )
}

at_every_level! {
    /// The vectors of the corners of eight elements in one of the [`Modes`] of their law, turned as elements are and times the root of their
    /// volume.
    corner_vectors = corner_vectors_eight [] [] (
        group: &Group,
        modes: &Modes,
        mode: usize,
        turn: &[Eight; 4],
        out: &mut CornerVectors,
    )
}

/// Blocks of `K` of eight edges between nodes, by row, column and edge, N/m.
pub type Edges = [[Eight; 3]; 3];

at_every_level! {
    /// Adds what edges pull their two ends with if these move so: `B d` and `-B^T d`, where the second moves by `d` beside the first.
    ///
    /// `ends` are the numbers of both among `moves` and `sums`.
    pull_ends = pull_ends_eight [] [] (
        edges: &[Edges],
        ends: &[[[u32; WIDTH]; 2]],
        moves: &[[f32; 4]],
        sums: &mut [[f32; 4]],
    )
}

#[inline(always)]
fn pull_ends_eight<L: Lanes>(edges: &[Edges], ends: &[[[u32; WIDTH]; 2]], moves: &[[f32; 4]], sums: &mut [[f32; 4]]) {
    for k in 0..edges.len() {
        let [first, second] = &ends[k];
        let [x, y, z, _] = L::gather4(moves, first);
        let [a, b, c, _] = L::gather4(moves, second);
        let d = [a - x, b - y, c - z];
        let mut pull = [L::zero(); 4];
        let mut back = [L::zero(); 4];
        for i in 0..3 {
            let [p, q, r] = [L::load(&edges[k][i][0]), L::load(&edges[k][i][1]), L::load(&edges[k][i][2])];
            pull[i] = p * d[0] + q * d[1] + r * d[2];
            back[0] = back[0] - p * d[i];
            back[1] = back[1] - q * d[i];
            back[2] = back[2] - r * d[i];
        }
        let (pulls, backs) = (L::rows4(pull), L::rows4(back));
        for lane in 0..WIDTH {
            add_row(&mut sums[first[lane] as usize], &pulls[lane]);
            add_row(&mut sums[second[lane] as usize], &backs[lane]);
        }
    }
}

#[inline(always)]
fn add_row(sum: &mut [f32; 4], row: &[f32; 4]) {
    for k in 0..4 {
        sum[k] += row[k];
    }
}

#[inline(always)]
fn product_eight<L: Lanes>(
    group: &Group,
    matter: &Matter,
    turn: &[Eight; 4],
    moves: &[[f32; 4]],
    out: &mut CornerVectors,
) {
    let g = load_gradients::<L>(from_ref(group));
    let du = slope(from_ref(group), moves, &g);
    let r = rotation_matrix(load_turns::<L>(from_ref(turn)));
    let mut h = multiplied(&r, &full(matter.hooke.stress(symmetric_product(&r, &du))));
    let scale = stiff_volume::<L>(from_ref(group));
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = scale * h[a][b];
        }
    }
    spread(&h, &g, from_mut(out));
}

#[inline(always)]
fn stretch_product_eight<L: Lanes>(
    group: &Group,
    matter: &Matter,
    points: &[[f32; 4]],
    turn: &[Eight; 4],
    moves: &[[f32; 4]],
    out: &mut CornerVectors,
) {
    let g = load_gradients::<L>(from_ref(group));
    let r = rotation_matrix(load_turns::<L>(from_ref(turn)));
    let stretch = symmetric_product(&r, &slope(from_ref(group), points, &g));
    let inverse = turn_inverse(&stretch);
    let m = multiplied(&transposed(&r), &slope(from_ref(group), moves, &g));
    let stress = matter.hooke.stress(stretch_rate(&m, &stretch, &inverse));
    let mut h = multiplied(&r, &without_torque(&stress, &stretch, &inverse));
    let scale = stiff_volume::<L>(from_ref(group));
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = scale * h[a][b];
        }
    }
    spread(&h, &g, from_mut(out));
}

#[inline(always)]
fn corner_vectors_eight<L: Lanes>(
    group: &Group,
    modes: &Modes,
    mode: usize,
    turn: &[Eight; 4],
    out: &mut CornerVectors,
) {
    let g = load_gradients::<L>(from_ref(group));
    let mut r = rotation_matrix(load_turns::<L>(from_ref(turn)));
    if let Some(tensor) = modes.tensor(mode) {
        let mut lanes = [[L::zero(); 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                lanes[i][j] = L::splat(tensor[i][j]);
            }
        }
        r = multiplied(&r, &lanes);
    }
    let scale = stiff_volume::<L>(from_ref(group)).sqrt();
    for a in 0..3 {
        for b in 0..3 {
            r[a][b] = scale * r[a][b];
        }
    }
    spread(&r, &g, from_mut(out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elastic::Hooke;
    use crate::lanes::Level;
    use crate::tetra::{Element, Note, Packs, Rest, exert};
    use glam::Vec3;

    /// Numbers between -1 and 1 without an order.
    fn scattered(k: usize) -> Vec3 {
        Vec3::new(k as f32, k as f32 + 0.3, k as f32 + 0.7).map(|x| (12.9898 * x).sin())
    }

    fn rows(points: [Vec3; 4]) -> [[f32; 4]; 4] {
        points.map(|x| x.extend(0.0).to_array())
    }

    /// Pulls of eight elements that are all alike, on the corners of one.
    fn pulls(out: &CornerVectors) -> [Vec3; 4] {
        std::array::from_fn(|corner| Vec3::from_slice(&out[corner][0][..3]))
    }

    #[test]
    fn by_stretch_no_turn_of_a_strained_element_is_resisted_and_no_move_turns_it() {
        let nodes = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let shapes: Vec<Element> = (0..WIDTH).filter_map(|_| Element::new(nodes)).collect();
        assert_eq!(shapes.len(), WIDTH);
        let rest = Rest::new(&shapes);
        let corners = std::array::from_fn(|corner| [corner as u32; WIDTH]);
        let group = Group { corners: &corners, rest: &rest, state: None };
        let matter = Matter { hooke: Hooke::isotropic(1.0, 0.3), damping: 0.0 };
        // A third of its size out of shape.
        let places: [Vec3; 4] = std::array::from_fn(|k| nodes[k] + 0.3 * scattered(k));
        let points = rows(places);
        let mut turn = [[0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH], [1.0; WIDTH]];
        let (mut forces, mut note) = ([[[0.0; 4]; WIDTH]; 4], Note::default());
        let (groups, turns) = (from_ref(&group), from_mut(&mut turn));
        let packs = Packs { groups, turns, forces: from_mut(&mut forces), notes: from_mut(&mut note) };
        exert(Level::detect(), packs, &matter, &points, None);
        let resisted = |moves: [Vec3; 4]| {
            let mut out = [[[0.0; 4]; WIDTH]; 4];
            stretch_product(Level::detect(), &group, &matter, &points, &turn, &rows(moves), &mut out);
            pulls(&out)
        };
        let work = |pulls: [Vec3; 4], moves: [Vec3; 4]| (0..4).map(|k| pulls[k].dot(moves[k])).sum::<f32>();
        let spin = Vec3::new(0.4, -0.7, 0.5);
        // Sums of some ten products of order 1 in f32.
        for pull in resisted(places.map(|x| spin.cross(x))) {
            assert!(pull.length() < 1e-5, "{pull}");
        }
        let [one, other]: [[Vec3; 4]; 2] = [10, 20].map(|first| std::array::from_fn(|k| scattered(first + k)));
        let found = resisted(one);
        let torque: Vec3 = (0..4).map(|k| places[k].cross(found[k])).sum();
        assert!(torque.length() < 1e-5, "{torque}");
        assert!((work(found, other) - work(resisted(other), one)).abs() < 1e-5);
        assert!(work(found, one) > 0.0);
        // Where rotations stay as they are, both are wrong by about the strain.
        let mut plain = [[[0.0; 4]; WIDTH]; 4];
        product(Level::detect(), &group, &matter, &turn, &rows(places.map(|x| spin.cross(x))), &mut plain);
        assert!(pulls(&plain).iter().any(|pull| pull.length() > 1e-2));
    }
}
