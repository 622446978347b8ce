//! Settings of a mass-spring body.

use super::pair_table::PairTable;
use crate::Real;
use crate::model::ModelKind;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Cell of a lattice: sample indices of its corners, x fastest, then y, then z.
pub type Cell = [u32; 8];

/// Settings of a mass-spring body, which melts into molecules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MassSpringSettings {
    /// Box-shaped cells between the samples, all of one size at rest; their union is the body.
    pub cells: Arc<Vec<Cell>>,
    /// Stiffness along x, y and z of the body frame as multiples of Young's modulus.
    pub weights: [Real; 3],
    /// Conductivity of the face diagonals, W/(m K), in addition to that of the material along the edges.
    pub diagonal_conductivity: Real,
    /// True if cold molecules near each other form new springs.
    pub refreeze: bool,
    /// Pair law of the melt.
    pub molecules: Molecules,
    /// Behaviour as a gas.
    pub gas: Gas,
}

impl Default for MassSpringSettings {
    fn default() -> Self {
        Self {
            cells: Arc::default(),
            weights: [1.0; 3],
            diagonal_conductivity: 0.0,
            refreeze: false,
            molecules: Molecules::default(),
            gas: Gas::default(),
        }
    }
}

/// Pair law of molecules (`[TPF89]` eqs. 11 to 13). Lengths are in sizes of a molecule: the edge of a cube of
/// its mass at the density of the material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Molecules {
    /// Exponents `a` of the attraction and `b` of the repulsion.
    pub exponents: [Real; 2],
    /// Softening length `zeta` of the attraction, sizes.
    pub softening: Real,
    /// Collision exponent `p` inside a radius of one size.
    pub collision: Real,
    /// Strengths `alpha` and `beta` of `[TPF89]`, in SI units (N m^(a-1)/kg2, N m^(b-1)/kg2). `None`
    /// calibrates them to the density and the bulk modulus of the material.
    pub strengths: Option<[Real; 2]>,
    /// Cut-off distance, sizes.
    pub cutoff: Real,
    /// Summation of the forces.
    pub summation: Summation,
}

impl Default for Molecules {
    /// Exponents 4 and 8. The 2 and 4 of `[TPF89]` need infinite sums: cut off, they have several densities
    /// of zero pressure.
    fn default() -> Self {
        Self {
            exponents: [4.0, 8.0],
            softening: 0.0,
            collision: 0.0,
            strengths: None,
            cutoff: 2.0,
            summation: Summation::Cutoff,
        }
    }
}

impl Molecules {
    /// Returns true if a melt with this law has a stable density of zero pressure, to which strengths can be
    /// calibrated.
    pub fn has_equilibrium_density(&self) -> bool {
        PairTable::has_equilibrium_density(self)
    }
}

/// Summation of the pair forces on a molecule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Summation {
    /// Molecules within the cut-off, with a switching function.
    #[default]
    Cutoff,
    /// All molecules; distant groups as monopoles (Barnes and Hut) where a cell is smaller than
    /// `opening_angle` times its distance.
    Tree {
        /// 0 opens every cell, 1 is coarse.
        opening_angle: Real,
    },
    /// All molecules, by direct summation.
    Exact,
}

/// Behaviour of molecules above the boiling point: no attraction, buoyancy and drag.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gas {
    /// Repulsion as a multiple of that of the melt.
    pub repulsion: Real,
    /// Buoyancy of the surrounding air in units of weight: 1 floats, more rises.
    pub lift: Real,
    /// Rate of air drag, 1/s.
    pub drag: Real,
}

impl Default for Gas {
    fn default() -> Self {
        Self { repulsion: 2.0, lift: 0.0, drag: 0.0 }
    }
}

impl MassSpringSettings {
    /// Kind of the model.
    pub(crate) fn kind(&self) -> ModelKind {
        ModelKind::MassSpring
    }
}
