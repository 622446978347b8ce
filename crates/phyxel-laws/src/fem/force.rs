//! Internal forces of linear tetrahedra, eight or sixteen at a time.

use super::{CornerVectors, PackCorners, ReferencePack};
use crate::Real;
use crate::material::hooke::{Hooke, Matrix, VOIGT, from_voigt, product, symmetric_product};
use crate::shape_matching::{load_rotations, polar_rotation_elements, rotation_matrix};
use crate::simd::{F32x8, PackVector, SimdF32x8, SimdFloat, SimdLevel, dispatch};
use std::slice::from_ref;

/// State of eight elements: what may differ within a body and change in time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct StatePack {
    /// Plastic strain, in Voigt order.
    pub plastic_strain: [F32x8; 6],
    /// Isotropic thermal strain.
    pub thermal_strain: F32x8,
    /// Stiffness as a fraction of that of the body.
    pub stiffness_scale: F32x8,
}

/// No plastic or thermal strain, full stiffness.
const NEUTRAL: StatePack =
    StatePack { plastic_strain: [[0.0; 8]; 6], thermal_strain: [0.0; 8], stiffness_scale: [1.0; 8] };

impl Default for StatePack {
    /// No plastic or thermal strain, full stiffness.
    fn default() -> Self {
        NEUTRAL
    }
}

/// Input data of eight elements.
#[derive(Clone, Copy, Debug)]
pub struct PackView<'a> {
    /// Nodes.
    pub corners: &'a PackCorners,
    /// Reference configurations.
    pub reference: &'a ReferencePack,
    /// State; `None` if all elements of the body have the default state.
    pub state: Option<&'a StatePack>,
}

/// Viscoelastic law of a body, after Kelvin and Voigt: `s = C (e + damping_time de/dt)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViscoelasticLaw {
    /// Elasticity tensor.
    pub hooke: Hooke,
    /// Stiffness-proportional damping coefficient, s; see [`RayleighDamping`](super::RayleighDamping).
    pub damping_time: Real,
}

/// Elastic strain and dissipation of eight elements.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct ResponsePack {
    /// Elastic strain in Voigt order, in the corotated frame.
    pub elastic_strain: [F32x8; 6],
    /// Power dissipated by damping, W.
    pub dissipated_power: F32x8,
}

impl Default for ResponsePack {
    fn default() -> Self {
        Self { elastic_strain: [[0.0; 8]; 6], dissipated_power: [0.0; 8] }
    }
}

/// Zero forces.
const NO_FORCES: CornerVectors = [[[0.0; 4]; 8]; 4];

/// Packs of eight elements with their inputs and outputs.
pub struct ForceBatch<'a> {
    /// Inputs.
    pub packs: &'a [PackView<'a>],
    /// Rotations (quaternions x, y, z, w): of the last step on entry, of this one on return. They are
    /// state: for the same positions with another history they may differ in their last bits, and in
    /// inverted elements by more.
    pub rotations: &'a mut [[F32x8; 4]],
    /// Forces on the corners, N.
    pub forces: &'a mut [CornerVectors],
    /// Strains and dissipation.
    pub responses: &'a mut [ResponsePack],
}

/// Computes the internal forces on the corners of elements from positions of nodes, m, and, if damped,
/// velocities, m/s.
///
/// Packs are processed two at a time.
pub fn internal_forces(
    level: SimdLevel,
    batch: ForceBatch,
    law: &ViscoelasticLaw,
    points: &[[f32; 4]],
    velocities: Option<&[[f32; 4]]>,
) {
    match velocities {
        Some(velocities) => dispatch_forces::<true>(level, batch, law, points, velocities),
        None => dispatch_forces::<false>(level, batch, law, points, &[]),
    }
}

dispatch! {
    in pairs
    /// [`internal_forces`] with damping as a compile-time choice.
    dispatch_forces = internal_forces_kernel [const DAMPED: bool] [DAMPED] (
        batch: ForceBatch,
        law: &ViscoelasticLaw,
        points: &[[f32; 4]],
        velocities: &[[f32; 4]],
    )
}

#[inline(always)]
fn internal_forces_kernel<B: PackVector, const DAMPED: bool>(
    batch: ForceBatch,
    law: &ViscoelasticLaw,
    points: &[[f32; 4]],
    velocities: &[[f32; 4]],
) {
    let ForceBatch { packs, rotations, forces, responses } = batch;
    for first in (0..packs.len()).step_by(2) {
        let pair = first..first + 2;
        // An odd last pack is paired with itself, so that there is one code path for all.
        let is_alone = pair.end > packs.len();
        let mut spare = ([rotations[first]; 2], [NO_FORCES; 2], [ResponsePack::default(); 2]);
        let (packs, pair_rotations, pair_forces, pair_responses) = if is_alone {
            (&[packs[first]; 2][..], &mut spare.0[..], &mut spare.1[..], &mut spare.2[..])
        } else {
            (&packs[pair.clone()], &mut rotations[pair.clone()], &mut forces[pair.clone()], &mut responses[pair])
        };
        let batch = ForceBatch { packs, rotations: pair_rotations, forces: pair_forces, responses: pair_responses };
        pack_forces::<B, DAMPED>(batch, law, points, velocities);
        if is_alone {
            (rotations[first], forces[first], responses[first]) = (spare.0[0], spare.1[0], spare.2[0]);
        }
    }
}

dispatch! {
    /// Elastic energy of eight elements with given rotations, J: `V e : C : e/2`.
    elastic_energy = elastic_energy_kernel [] [] (
        pack: &PackView,
        law: &ViscoelasticLaw,
        points: &[[f32; 4]],
        rotation: &[F32x8; 4],
        energy: &mut F32x8,
    )
}

/// Determinant of the Hessian `tr(M) I - M`, for `F` of norm 1, below which rotations by Newton's method
/// would be dominated by f32 rounding: a thousandth of the value of undeformed elements.
const MIN_DETERMINANT: f32 = 1.5e-3;

// Loops instead of closures: a closure's body is not compiled with the target features of the kernel.

#[inline(always)]
pub(super) fn load_gradients<B: PackVector>(packs: &[PackView]) -> Matrix<B> {
    let mut g = [[B::zero(); 3]; 3];
    for k in 0..3 {
        for c in 0..3 {
            g[k][c] = B::load_from(packs, |pack| &pack.reference.gradients[k][c]);
        }
    }
    g
}

/// Gradient of a nodal field in the reference configuration: `sum_k (x_k - x_0) g_k^T`.
#[inline(always)]
pub(super) fn material_gradient<B: PackVector>(packs: &[PackView], values: &[[f32; 4]], g: &Matrix<B>) -> Matrix<B> {
    let [x, y, z, _] = B::gather_rows_from(values, packs, |pack| &pack.corners[0]);
    let mut f = [[B::zero(); 3]; 3];
    for k in 0..3 {
        let [a, b, c, _] = B::gather_rows_from(values, packs, |pack| &pack.corners[k + 1]);
        let edge = [a - x, b - y, c - z];
        for r in 0..3 {
            for c in 0..3 {
                f[r][c] = f[r][c] + edge[r] * g[k][c];
            }
        }
    }
    f
}

/// Reference volume times the fraction of the body's stiffness.
#[inline(always)]
pub(super) fn stiffness_volume<B: PackVector>(packs: &[PackView]) -> B {
    let volume = B::load_from(packs, |pack| &pack.reference.volume);
    volume * B::load_from(packs, |pack| &pack.state.unwrap_or(&NEUTRAL).stiffness_scale)
}

/// Writes the corner vectors `h g_k`.
#[inline(always)]
pub(super) fn to_corners<B: PackVector>(h: &Matrix<B>, g: &Matrix<B>, out: &mut [CornerVectors]) {
    let mut first = [B::zero(); 3];
    for k in 0..3 {
        let mut force = [B::zero(); 3];
        for r in 0..3 {
            force[r] = h[r][0] * g[k][0] + h[r][1] * g[k][1] + h[r][2] * g[k][2];
            first[r] = first[r] - force[r];
        }
        B::store_rows_to([force[0], force[1], force[2], B::zero()], out, |out| &mut out[k + 1]);
    }
    B::store_rows_to([first[0], first[1], first[2], B::zero()], out, |out| &mut out[0]);
}

/// Elastic strain `S - I - e_plastic - e_thermal I`.
#[inline(always)]
fn elastic_strain<B: PackVector>(stretch: &[B; 6], packs: &[PackView]) -> [B; 6] {
    let mut e = *stretch;
    for k in 0..3 {
        e[k] = e[k] - B::splat(1.0);
    }
    if packs[0].state.is_some() {
        let thermal = B::load_from(packs, |pack| &pack.state.unwrap_or(&NEUTRAL).thermal_strain);
        for k in 0..6 {
            let plastic = B::load_from(packs, |pack| &pack.state.unwrap_or(&NEUTRAL).plastic_strain[k]);
            e[k] = if k < 3 { e[k] - plastic - thermal } else { e[k] - plastic };
        }
    }
    e
}

/// Double contraction `a : b` of two symmetric matrices in Voigt order.
#[inline(always)]
fn double_dot<L: SimdFloat>(a: &[L; 6], b: &[L; 6]) -> L {
    let mut sum = L::zero();
    for k in 0..6 {
        let term = a[k] * b[k];
        sum = sum + if k < 3 { term } else { term + term };
    }
    sum
}

/// Twice the axial vector of the skew part of a matrix.
#[inline(always)]
fn twice_axial_vector<L: SimdFloat>(m: &Matrix<L>) -> [L; 3] {
    [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
}

/// Inverse of `tr(S) I - S` in Voigt order, which maps to the spin of the rotation; 0 where the rotation is
/// undetermined.
///
/// For inverted elements it is scaled by `max(0, 1 + det S/det(tr(S) I - S))`. With stretches `1, 1, -t`
/// the rotation would follow the corners `1/(1 - t)` times as fast as it should, and damping would be
/// stiffer by as much; the scale is 0 where that is twice. The dissipated power still is
/// [`ResponsePack::dissipated_power`], and a torque remains.
#[inline(always)]
pub(super) fn spin_inverse<L: SimdFloat>(s: &[L; 6]) -> [L; 6] {
    let (zero, one) = (L::zero(), L::splat(1.0));
    let h = [s[1] + s[2], s[0] + s[2], s[0] + s[1]];
    // The off-diagonal entries are those of -S.
    let [yz, xz, xy] = [zero - s[3], zero - s[4], zero - s[5]];
    let c = [h[1] * h[2] - yz * yz, h[0] * h[2] - xz * xz, h[0] * h[1] - xy * xy];
    let d = [xy * xz - h[0] * yz, xy * yz - h[1] * xz, xz * yz - h[2] * xy];
    let determinant = h[0] * c[0] + xy * d[2] + xz * d[1];
    let square = double_dot(s, s);
    let bound = L::splat(MIN_DETERMINANT) * (square * square.sqrt());
    let inverse = determinant.select_gt(bound, one.div(determinant.select_gt(bound, determinant, one)), zero);
    let volume = s[0] * (s[1] * s[2] - yz * yz) - xy * (xy * s[2] + yz * xz) - xz * (xy * yz + s[1] * xz);
    let inversion = volume.select_gt(zero, zero, volume) * inverse;
    let inverse = inverse * (one + inversion).max(zero);
    [c[0] * inverse, c[1] * inverse, c[2] * inverse, d[0] * inverse, d[1] * inverse, d[2] * inverse]
}

/// Product of a symmetric matrix in Voigt order and a vector.
#[inline(always)]
fn symmetric_times<L: SimdFloat>(s: &[L; 6], v: [L; 3]) -> [L; 3] {
    [
        s[0] * v[0] + s[5] * v[1] + s[4] * v[2],
        s[5] * v[0] + s[1] * v[1] + s[3] * v[2],
        s[4] * v[0] + s[3] * v[1] + s[2] * v[2],
    ]
}

/// Rate of `S` from `M = R^T dF/dt`: the symmetric part of `M - [omega] S`, with
/// `(tr(S) I - S) omega = 2 axial(skew M)`.
#[inline(always)]
pub(super) fn stretch_rate<L: SimdFloat>(m: &Matrix<L>, stretch: &[L; 6], inverse: &[L; 6]) -> [L; 6] {
    let [x, y, z] = symmetric_times(inverse, twice_axial_vector(m));
    let zero = L::zero();
    let spin = [[zero, zero - z, y], [z, zero, zero - x], [zero - y, x, zero]];
    let rotated = product(&spin, &from_voigt(*stretch));
    let mut rate = [L::zero(); 6];
    for k in 0..6 {
        let (i, j) = VOIGT[k];
        let twice = (m[i][j] - rotated[i][j]) + (m[j][i] - rotated[j][i]);
        rate[k] = L::splat(0.5) * twice;
    }
    rate
}

#[inline(always)]
pub(super) fn transposed<L: SimdFloat>(m: &Matrix<L>) -> Matrix<L> {
    [[m[0][0], m[1][0], m[2][0]], [m[0][1], m[1][1], m[2][1]], [m[0][2], m[1][2], m[2][2]]]
}

/// Stress plus the skew part that the variation of the rotation adds, so that it exerts no torque on the
/// element: its power is that of the stress at [`stretch_rate`].
#[inline(always)]
pub(super) fn torque_free_stress<L: SimdFloat>(stress: &[L; 6], stretch: &[L; 6], inverse: &[L; 6]) -> Matrix<L> {
    let mut whole = from_voigt(*stress);
    let [x, y, z] = symmetric_times(inverse, twice_axial_vector(&product(&whole, &from_voigt(*stretch))));
    whole[0][1] = whole[0][1] + z;
    whole[1][0] = whole[1][0] - z;
    whole[0][2] = whole[0][2] - y;
    whole[2][0] = whole[2][0] + y;
    whole[1][2] = whole[1][2] + x;
    whole[2][1] = whole[2][1] - x;
    whole
}

#[inline(always)]
fn pack_forces<B: PackVector, const DAMPED: bool>(
    batch: ForceBatch,
    law: &ViscoelasticLaw,
    points: &[[f32; 4]],
    velocities: &[[f32; 4]],
) {
    let ForceBatch { packs, rotations, forces, responses } = batch;
    let g = load_gradients::<B>(packs);
    let f = material_gradient(packs, points, &g);
    let r = polar_rotation_elements(f, rotations, MIN_DETERMINANT);
    let stretch = symmetric_product(&r, &f);
    let e = elastic_strain(&stretch, packs);
    for k in 0..6 {
        e[k].store_to(responses, |response| &mut response.elastic_strain[k]);
    }
    let scale: B = stiffness_volume(packs);
    let mut stress = law.hooke.stress(e);
    let mut whole = from_voigt(stress);
    let mut dissipated = B::zero();
    let is_coaxial = packs[0].state.is_none() && matches!(law.hooke, Hooke::Isotropic { .. }) && !DAMPED;
    if !is_coaxial {
        let inverse = spin_inverse(&stretch);
        if DAMPED {
            let m = product(&transposed(&r), &material_gradient(packs, velocities, &g));
            let rate = stretch_rate(&m, &stretch, &inverse);
            let damping_time = B::splat(law.damping_time);
            let viscous = law.hooke.stress(rate);
            for k in 0..6 {
                stress[k] = stress[k] + damping_time * viscous[k];
            }
            dissipated = scale * (damping_time * double_dot(&viscous, &rate));
        }
        whole = torque_free_stress(&stress, &stretch, &inverse);
    }
    dissipated.store_to(responses, |response| &mut response.dissipated_power);
    let mut h = product(&r, &whole);
    let minus = B::zero() - scale;
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = minus * h[a][b];
        }
    }
    to_corners(&h, &g, forces);
}

#[inline(always)]
fn elastic_energy_kernel<L: SimdF32x8>(
    pack: &PackView,
    law: &ViscoelasticLaw,
    points: &[[f32; 4]],
    rotation: &[F32x8; 4],
    energy: &mut F32x8,
) {
    let packs = from_ref(pack);
    let g = load_gradients::<L>(packs);
    let f = material_gradient(packs, points, &g);
    let r = rotation_matrix(load_rotations::<L>(from_ref(rotation)));
    let e = elastic_strain(&symmetric_product(&r, &f), packs);
    let scale = L::splat(0.5) * stiffness_volume(packs);
    (scale * double_dot(&law.hooke.stress(e), &e)).store(energy);
}
