//! First pass over the neighbours: deformation gradient and stress.

use super::{
    DeformationGradient, NeighbourRow, NullProjector, Payload, PhyxelGroup, PhyxelMaterial, Reference,
    YOUNG_OVER_SHEAR, consecutive,
};
use crate::material::hooke::{
    Hooke, Matrix, cofactors, determinant, double_dot, from_voigt, green_strain, product, symmetric_product,
};
use crate::simd::{F32x8, SimdF32x8, WIDTH, dispatch};

dispatch! {
    /// Computes the payloads of eight phyxels for their neighbours, from deformation and stress, and their
    /// elastic strains.
    ///
    /// `stiffness_ratio` bounds the stiffness of each from above, over that at rest: it grows with stretch and
    /// stress.
    compute_payloads = compute_payloads_lanes [] [] (
        group: &PhyxelGroup,
        material: &PhyxelMaterial,
        points: &[[f32; 4]],
        payloads: &mut [Payload],
        elastic: &mut [F32x8; 6],
        stiffness_ratio: &mut F32x8,
    )
}

dispatch! {
    /// Computes the deformation gradients of eight phyxels.
    compute_deformation = compute_deformation_lanes [] [] (
        group: &PhyxelGroup,
        points: &[[f32; 4]],
        deformation: &mut DeformationGradient,
    )
}

dispatch! {
    /// Writes the payloads of the linearised forces: the derivative of [`compute_payloads`] at `deformation`, for
    /// displacement increments (m).
    ///
    /// `stress` enters the geometric stiffness. Without its compressive states and without the second
    /// derivative of the volume the tangent stiffness is positive semidefinite.
    linearise_stress = linearise_stress_lanes [] [] (
        group: &PhyxelGroup,
        material: &PhyxelMaterial,
        deformation: &DeformationGradient,
        stress: &[F32x8; 6],
        increments: &[[f32; 4]],
        payloads: &mut [Payload],
    )
}

/// `sum_j w_ij x_ij X_ij^T`.
#[inline(always)]
fn mixed_moments<L: SimdF32x8>(rows: &[NeighbourRow], points: &[[f32; 4]], x_i: [L; 3]) -> Matrix<L> {
    let mut moments = [[L::zero(); 3]; 3];
    for row in rows {
        let [x, y, z, _] = L::gather_rows(points, &row.index);
        let x_ij = [x - x_i[0], y - x_i[1], z - x_i[2]];
        let weighted_offset =
            [L::load(&row.weighted_offset[0]), L::load(&row.weighted_offset[1]), L::load(&row.weighted_offset[2])];
        for r in 0..3 {
            for c in 0..3 {
                moments[r][c] = moments[r][c] + x_ij[r] * weighted_offset[c];
            }
        }
    }
    moments
}

/// Positions of the eight phyxels themselves.
#[inline(always)]
fn own_position<L: SimdF32x8>(points: &[[f32; 4]], first: usize) -> [L; 3] {
    let [x, y, z, _] = L::gather_rows(points, &consecutive(first));
    [x, y, z]
}

#[inline(always)]
fn load6<L: SimdF32x8>(values: &[F32x8; 6]) -> [L; 6] {
    let [a, b, c, d, e, f] = values;
    [L::load(a), L::load(b), L::load(c), L::load(d), L::load(e), L::load(f)]
}

/// `J = (sum_j w_ij x_ij X_ij^T) A^-1`; the identity in the null space of `A`.
#[inline(always)]
fn deformation_gradient<L: SimdF32x8>(
    moments: &Matrix<L>,
    inverse_moments: &Matrix<L>,
    null_projector: Option<&NullProjector>,
) -> Matrix<L> {
    let mut j = product(moments, inverse_moments);
    if let Some(null_projector) = null_projector {
        let projector = from_voigt(load6::<L>(null_projector));
        for r in 0..3 {
            for c in 0..3 {
                j[r][c] = j[r][c] + projector[r][c];
            }
        }
    }
    j
}

#[inline(always)]
fn compute_deformation_lanes<L: SimdF32x8>(group: &PhyxelGroup, points: &[[f32; 4]], out: &mut DeformationGradient) {
    let inverse = from_voigt(load6::<L>(&group.reference.inverse_moments));
    let x_i = own_position(points, group.first);
    let j = deformation_gradient(&mixed_moments::<L>(group.rows, points, x_i), &inverse, group.null_projector);
    for r in 0..3 {
        for c in 0..3 {
            j[r][c].store(&mut out[r][c]);
        }
    }
}

/// Stiffness fraction, hourglass stiffness `s` (N/m) and damping of eight phyxels.
struct Coefficients<L> {
    stiffness: L,
    hourglass: L,
    damping: L,
}

impl<L: SimdF32x8> Coefficients<L> {
    #[inline(always)]
    fn new(group: &PhyxelGroup, material: &PhyxelMaterial) -> Self {
        let (reference, state) = (group.reference, group.state);
        let stiffness = match state {
            Some(state) => L::load(&state.stiffness_fraction),
            None => L::splat(1.0),
        };
        let ratio = L::load(&reference.volume_over_trace);
        let mut damping = L::splat(material.damping) * stiffness;
        if let Some(state) = state {
            damping = damping + L::splat(YOUNG_OVER_SHEAR) * L::load(&state.viscosity);
        }
        Self {
            stiffness,
            hourglass: L::splat(material.hourglass) * stiffness * ratio,
            // Dampers along the pairs, `c_ij = 6 (d_i + d_j) w_ij`, see
            // [`gather_forces`](super::gather_forces).
            damping: damping * ratio,
        }
    }
}

/// `a += factor b`.
#[inline(always)]
fn add_scaled<L: SimdF32x8>(a: &mut Matrix<L>, factor: L, b: &Matrix<L>) {
    for r in 0..3 {
        for c in 0..3 {
            a[r][c] = a[r][c] + factor * b[r][c];
        }
    }
}

#[inline(always)]
fn scale<L: SimdF32x8>(a: &mut Matrix<L>, factor: L) {
    for r in 0..3 {
        for c in 0..3 {
            a[r][c] = a[r][c] * factor;
        }
    }
}

/// Stores one column of eight payloads.
#[inline(always)]
fn store_column(payloads: &mut [Payload], column: usize, rows: [[f32; 4]; WIDTH]) {
    for lane in 0..WIDTH {
        payloads[lane].0[column] = rows[lane];
    }
}

/// Writes `R = V P A^-1 - s J`, the coefficients and the position to the payloads.
#[inline(always)]
fn write_payload<L: SimdF32x8>(
    reference: &Reference,
    inverse: &Matrix<L>,
    coefficients: &Coefficients<L>,
    (p, j): (&Matrix<L>, &Matrix<L>),
    position: [L; 3],
    payloads: &mut [Payload],
) {
    let volume = L::load(&reference.volume);
    let mut r = product(p, inverse);
    for a in 0..3 {
        for b in 0..3 {
            r[a][b] = volume * r[a][b] - coefficients.hourglass * j[a][b];
        }
    }
    let last = [coefficients.hourglass, coefficients.damping, L::zero()];
    for k in 0..3 {
        store_column(payloads, k, L::to_rows([r[0][k], r[1][k], r[2][k], last[k]]));
    }
    store_column(payloads, 3, L::to_rows([position[0], position[1], position[2], L::zero()]));
}

#[inline(always)]
fn compute_payloads_lanes<L: SimdF32x8>(
    group: &PhyxelGroup,
    material: &PhyxelMaterial,
    points: &[[f32; 4]],
    payloads: &mut [Payload],
    elastic: &mut [F32x8; 6],
    stiffness_ratio: &mut F32x8,
) {
    let (x_i, state) = (own_position::<L>(points, group.first), group.state);
    let inverse = from_voigt(load6::<L>(&group.reference.inverse_moments));
    let j = deformation_gradient(&mixed_moments(group.rows, points, x_i), &inverse, group.null_projector);
    let coefficients = Coefficients::<L>::new(group, material);
    let mut e = green_strain(&j);
    let two = L::splat(2.0);
    let stretch_squared_excess = two * (e[0] + e[1] + e[2]);
    if let Some(state) = state {
        let (plastic, thermal) = (load6::<L>(&state.plastic), L::load(&state.thermal_strain));
        for k in 0..6 {
            e[k] = if k < 3 { e[k] - plastic[k] - thermal } else { e[k] - plastic[k] };
        }
    }
    let mut square = L::zero();
    for k in 0..6 {
        e[k].store(&mut elastic[k]);
        square = square + if k < 3 { e[k] * e[k] } else { two * (e[k] * e[k]) };
    }
    // Bound of the tangent stiffness over that at rest: the larger of tr(F^T F) - 2, which is the squared
    // stretch in uniaxial tension, and 1 + 2 |E|.
    ((stretch_squared_excess.max(two * square.sqrt()) + L::splat(1.0)) * coefficients.stiffness).store(stiffness_ratio);
    let mut p = product(&j, &from_voigt(material.hooke.stress(e)));
    if material.volume_penalty != 0.0 {
        let cofactors = cofactors(&j);
        // The stress-free volume of a warm phyxel is (1 + 2 thermal strain)^(3/2).
        let mut volume = L::splat(1.0);
        if let Some(state) = state {
            let stretch_squared = L::splat(1.0) + two * L::load(&state.thermal_strain);
            volume = stretch_squared * stretch_squared.sqrt();
        }
        let pressure = L::splat(material.volume_penalty) * (determinant(&j, &cofactors) - volume);
        add_scaled(&mut p, pressure, &cofactors);
    }
    scale(&mut p, coefficients.stiffness);
    write_payload(group.reference, &inverse, &coefficients, (&p, &j), x_i, payloads);
}

#[inline(always)]
fn linearise_stress_lanes<L: SimdF32x8>(
    group: &PhyxelGroup,
    material: &PhyxelMaterial,
    deformation: &DeformationGradient,
    stress: &[F32x8; 6],
    increments: &[[f32; 4]],
    payloads: &mut [Payload],
) {
    let u_i = own_position::<L>(increments, group.first);
    let inverse = from_voigt(load6::<L>(&group.reference.inverse_moments));
    let coefficients = Coefficients::<L>::new(group, material);
    let mut j = [[L::zero(); 3]; 3];
    for r in 0..3 {
        for c in 0..3 {
            j[r][c] = L::load(&deformation[r][c]);
        }
    }
    let dj = product(&mixed_moments(group.rows, increments, u_i), &inverse);
    let ds = material.hooke.stress(symmetric_product(&j, &dj));
    let geometric = product(&dj, &from_voigt(load6::<L>(stress)));
    let mut p = product(&j, &from_voigt(ds));
    for r in 0..3 {
        for c in 0..3 {
            p[r][c] = p[r][c] + geometric[r][c];
        }
    }
    if material.volume_penalty != 0.0 {
        let cofactors = cofactors(&j);
        let pressure = L::splat(material.volume_penalty) * double_dot(&cofactors, &dj);
        add_scaled(&mut p, pressure, &cofactors);
    }
    scale(&mut p, coefficients.stiffness);
    write_payload(group.reference, &inverse, &coefficients, (&p, &dj), u_i, payloads);
}

/// Second Piola-Kirchhoff stress at an elastic strain, without the volume penalty, in Voigt order, Pa.
pub fn second_piola_stress(hooke: &Hooke, elastic: &[F32x8; 6]) -> [F32x8; 6] {
    let strain = load6::<crate::simd::Portable>(elastic);
    hooke.stress(strain).map(SimdF32x8::to_array)
}
