//! Corotational stiffness matrix of linear tetrahedra, for implicit steps.
//!
//! Rotations are fixed, so `K` is symmetric and positive semidefinite: `K u = V R C : sym(R^T grad u) g`. A
//! displacement `u` changes the forces by `-K u`, and with damping by `-(K u + beta K du/dt)`. An implicit
//! step solves `(M + dt alpha M + (dt^2 + dt beta) K) dv = ...` with the coefficients alpha and beta of
//! [`RayleighDamping`](super::RayleighDamping).

use super::force::{
    load_gradients, material_gradient, spin_inverse, stiffness_volume, stretch_rate, to_corners, torque_free_stress,
    transposed,
};
use super::{CornerVectors, PackView, ViscoelasticLaw};
use crate::Real;
use crate::material::hooke::{Hooke, MANDEL, Matrix, from_voigt, product, symmetric_product};
use crate::shape_matching::{load_rotations, rotation_matrix};
use crate::simd::{F32x8, SimdF32x8, WIDTH, dispatch};
use glam::Mat3A;
use std::slice::{from_mut, from_ref};

/// Factorisation of the elasticity tensor, by which the 3 x 3 blocks of `K` follow from vectors of corners
/// ([`corner_factors`]).
///
/// The block of two corners maps the displacement of the second to the force on the first. It is linear in
/// `sum a b^T` over the factors, of vectors `a` of the first and `b` of the second corner, so the elements
/// around an edge are summed before it is formed.
#[derive(Clone, Debug, PartialEq)]
pub enum ElasticityFactors {
    /// One factor, whose vectors are the shape function gradients.
    Isotropic {
        /// Lamé's first parameter, Pa.
        lambda: Real,
        /// Shear modulus, Pa.
        mu: Real,
    },
    /// Six factors `S`, Pa^0.5: the energy density is half the sum of `(S : e)^2`, and vectors are `S g`.
    Anisotropic(Box<[Matrix<Real>; 6]>),
}

impl ElasticityFactors {
    /// Factorises the tensor of a law.
    pub fn new(hooke: &Hooke) -> Self {
        if let &Hooke::Isotropic { lambda, mu } = hooke {
            return Self::Isotropic { lambda, mu };
        }
        // From Mandel components: shears occur twice in a matrix.
        let shear_scale = |k: usize| if k < 3 { 1.0 } else { 1.0 / MANDEL[k] };
        let numbers = |row: [f64; 6]| std::array::from_fn(|k| (row[k] * shear_scale(k)) as Real);
        Self::Anisotropic(Box::new(hooke.mandel_sqrt().map(|row| from_voigt(numbers(row)))))
    }

    /// Number of factors.
    pub fn count(&self) -> usize {
        match self {
            Self::Isotropic { .. } => 1,
            Self::Anisotropic(factors) => factors.len(),
        }
    }

    /// Stiffness block, N/m, from `sum a b^T` over the factors.
    pub fn block(&self, sum: &Mat3A) -> Mat3A {
        match *self {
            Self::Isotropic { lambda, mu } => {
                let trace = sum.x_axis.x + sum.y_axis.y + sum.z_axis.z;
                *sum * lambda + (sum.transpose() + Mat3A::from_diagonal(glam::Vec3::splat(trace))) * mu
            }
            Self::Anisotropic(_) => *sum,
        }
    }

    fn tensor(&self, index: usize) -> Option<&Matrix<Real>> {
        match self {
            Self::Isotropic { .. } => None,
            Self::Anisotropic(factors) => factors.get(index),
        }
    }
}

dispatch! {
    /// Stiffness product `K u` at the corners of eight elements, N, for nodal displacements `u`, m.
    stiffness_product = stiffness_product_kernel [] [] (
        pack: &PackView,
        law: &ViscoelasticLaw,
        rotation: &[F32x8; 4],
        displacements: &[[f32; 4]],
        out: &mut CornerVectors,
    )
}

dispatch! {
    /// [`stiffness_product`] with rotations that follow the displacements, N: from the variation of the
    /// stretch `S`, not of `R^T F`.
    ///
    /// Its null space contains the rigid rotations of the strained element, and it exerts no torque.
    /// ([`stiffness_product`] has errors of both kinds in proportion to the strain: too much for a stiff
    /// fragment with hardly any mass.)
    stretch_stiffness_product = stretch_stiffness_product_kernel [] [] (
        pack: &PackView,
        law: &ViscoelasticLaw,
        points: &[[f32; 4]],
        rotation: &[F32x8; 4],
        displacements: &[[f32; 4]],
        out: &mut CornerVectors,
    )
}

dispatch! {
    /// Vectors of the corners of eight elements for one of the [`ElasticityFactors`], rotated with the
    /// elements and scaled by the square root of their volume.
    corner_factors = corner_factors_kernel [] [] (
        pack: &PackView,
        factors: &ElasticityFactors,
        index: usize,
        rotation: &[F32x8; 4],
        out: &mut CornerVectors,
    )
}

/// Off-diagonal 3 x 3 blocks of `K` for eight edges between nodes, by row, column and edge, N/m.
pub type EdgeBlocks = [[F32x8; 3]; 3];

dispatch! {
    /// Adds the contributions of edges to `K u` at their two ends: `B d` and `-B^T d`, where `d` is the
    /// displacement of the second end relative to the first.
    ///
    /// `ends` are the indices of both into `displacements` and `sums`.
    add_edge_products = add_edge_products_kernel [] [] (
        edges: &[EdgeBlocks],
        ends: &[[[u32; WIDTH]; 2]],
        displacements: &[[f32; 4]],
        sums: &mut [[f32; 4]],
    )
}

#[inline(always)]
fn add_edge_products_kernel<L: SimdF32x8>(
    edges: &[EdgeBlocks],
    ends: &[[[u32; WIDTH]; 2]],
    displacements: &[[f32; 4]],
    sums: &mut [[f32; 4]],
) {
    for k in 0..edges.len() {
        let [first, second] = &ends[k];
        let [x, y, z, _] = L::gather_rows(displacements, first);
        let [a, b, c, _] = L::gather_rows(displacements, second);
        let d = [a - x, b - y, c - z];
        let mut force = [L::zero(); 4];
        let mut reaction = [L::zero(); 4];
        for i in 0..3 {
            let [p, q, r] = [L::load(&edges[k][i][0]), L::load(&edges[k][i][1]), L::load(&edges[k][i][2])];
            force[i] = p * d[0] + q * d[1] + r * d[2];
            reaction[0] = reaction[0] - p * d[i];
            reaction[1] = reaction[1] - q * d[i];
            reaction[2] = reaction[2] - r * d[i];
        }
        let (force_rows, reaction_rows) = (L::to_rows(force), L::to_rows(reaction));
        for lane in 0..WIDTH {
            add_row(&mut sums[first[lane] as usize], &force_rows[lane]);
            add_row(&mut sums[second[lane] as usize], &reaction_rows[lane]);
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
fn stiffness_product_kernel<L: SimdF32x8>(
    pack: &PackView,
    law: &ViscoelasticLaw,
    rotation: &[F32x8; 4],
    displacements: &[[f32; 4]],
    out: &mut CornerVectors,
) {
    let g = load_gradients::<L>(from_ref(pack));
    let du = material_gradient(from_ref(pack), displacements, &g);
    let r = rotation_matrix(load_rotations::<L>(from_ref(rotation)));
    let mut h = product(&r, &from_voigt(law.hooke.stress(symmetric_product(&r, &du))));
    let scale = stiffness_volume::<L>(from_ref(pack));
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = scale * h[a][b];
        }
    }
    to_corners(&h, &g, from_mut(out));
}

#[inline(always)]
fn stretch_stiffness_product_kernel<L: SimdF32x8>(
    pack: &PackView,
    law: &ViscoelasticLaw,
    points: &[[f32; 4]],
    rotation: &[F32x8; 4],
    displacements: &[[f32; 4]],
    out: &mut CornerVectors,
) {
    let g = load_gradients::<L>(from_ref(pack));
    let r = rotation_matrix(load_rotations::<L>(from_ref(rotation)));
    let stretch = symmetric_product(&r, &material_gradient(from_ref(pack), points, &g));
    let inverse = spin_inverse(&stretch);
    let m = product(&transposed(&r), &material_gradient(from_ref(pack), displacements, &g));
    let stress = law.hooke.stress(stretch_rate(&m, &stretch, &inverse));
    let mut h = product(&r, &torque_free_stress(&stress, &stretch, &inverse));
    let scale = stiffness_volume::<L>(from_ref(pack));
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = scale * h[a][b];
        }
    }
    to_corners(&h, &g, from_mut(out));
}

#[inline(always)]
fn corner_factors_kernel<L: SimdF32x8>(
    pack: &PackView,
    factors: &ElasticityFactors,
    index: usize,
    rotation: &[F32x8; 4],
    out: &mut CornerVectors,
) {
    let g = load_gradients::<L>(from_ref(pack));
    let mut r = rotation_matrix(load_rotations::<L>(from_ref(rotation)));
    if let Some(tensor) = factors.tensor(index) {
        let mut lanes = [[L::zero(); 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                lanes[i][j] = L::splat(tensor[i][j]);
            }
        }
        r = product(&r, &lanes);
    }
    let scale = stiffness_volume::<L>(from_ref(pack)).sqrt();
    for a in 0..3 {
        for b in 0..3 {
            r[a][b] = scale * r[a][b];
        }
    }
    to_corners(&r, &g, from_mut(out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fem::{Element, ForceBatch, ReferencePack, ResponsePack, internal_forces};
    use crate::material::hooke::Hooke;
    use crate::simd::SimdLevel;
    use glam::Vec3;

    /// Pseudo-random vectors in [-1, 1]^3.
    fn scattered(k: usize) -> Vec3 {
        Vec3::new(k as f32, k as f32 + 0.3, k as f32 + 0.7).map(|x| (12.9898 * x).sin())
    }

    fn rows(points: [Vec3; 4]) -> [[f32; 4]; 4] {
        points.map(|x| x.extend(0.0).to_array())
    }

    /// Forces on the corners of the first of eight identical elements.
    fn first_lane(out: &CornerVectors) -> [Vec3; 4] {
        std::array::from_fn(|corner| Vec3::from_slice(&out[corner][0][..3]))
    }

    #[test]
    fn the_stretch_stiffness_has_no_forces_for_rigid_rotations_of_a_strained_element_and_no_torque() {
        let nodes = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let elements: Vec<Element> = (0..WIDTH).filter_map(|_| Element::new(nodes)).collect();
        assert_eq!(elements.len(), WIDTH);
        let reference = ReferencePack::new(&elements);
        let corners = std::array::from_fn(|corner| [corner as u32; WIDTH]);
        let pack = PackView { corners: &corners, reference: &reference, state: None };
        let law = ViscoelasticLaw { hooke: Hooke::isotropic(1.0, 0.3), damping_time: 0.0 };
        // Strains of about a third.
        let positions: [Vec3; 4] = std::array::from_fn(|k| nodes[k] + 0.3 * scattered(k));
        let points = rows(positions);
        let mut rotation = [[0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH], [1.0; WIDTH]];
        let (mut forces, mut response) = ([[[0.0; 4]; WIDTH]; 4], ResponsePack::default());
        let batch = ForceBatch {
            packs: from_ref(&pack),
            rotations: from_mut(&mut rotation),
            forces: from_mut(&mut forces),
            responses: from_mut(&mut response),
        };
        internal_forces(SimdLevel::detect(), batch, &law, &points, None);
        let forces_of = |displacements: [Vec3; 4]| {
            let mut out = [[[0.0; 4]; WIDTH]; 4];
            stretch_stiffness_product(
                SimdLevel::detect(),
                &pack,
                &law,
                &points,
                &rotation,
                &rows(displacements),
                &mut out,
            );
            first_lane(&out)
        };
        let work =
            |forces: [Vec3; 4], displacements: [Vec3; 4]| (0..4).map(|k| forces[k].dot(displacements[k])).sum::<f32>();
        let spin = Vec3::new(0.4, -0.7, 0.5);
        // Sums of some ten products of order 1 in f32.
        for force in forces_of(positions.map(|x| spin.cross(x))) {
            assert!(force.length() < 1e-5, "{force}");
        }
        let [one, other]: [[Vec3; 4]; 2] = [10, 20].map(|first| std::array::from_fn(|k| scattered(first + k)));
        let found = forces_of(one);
        let torque: Vec3 = (0..4).map(|k| positions[k].cross(found[k])).sum();
        assert!(torque.length() < 1e-5, "{torque}");
        assert!((work(found, other) - work(forces_of(other), one)).abs() < 1e-5);
        assert!(work(found, one) > 0.0);
        // With fixed rotations, both errors are of the order of the strain.
        let mut fixed = [[[0.0; 4]; WIDTH]; 4];
        stiffness_product(
            SimdLevel::detect(),
            &pack,
            &law,
            &rotation,
            &rows(positions.map(|x| spin.cross(x))),
            &mut fixed,
        );
        assert!(first_lane(&fixed).iter().any(|force| force.length() > 1e-2));
    }
}
