//! Settings of a body of springs.

use super::pair_table::PairTable;
use crate::Real;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A cell of a lattice: its corners as numbers of samples, x fastest, then y, then z.
pub type Cell = [u32; 8];

/// Settings of one body of springs that melts into molecules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpringSettings {
    /// Box-shaped cells between the samples; all of one size at rest. Together they are the body.
    pub cells: Arc<Vec<Cell>>,
    /// How stiff the body is along x, y and z of its own frame, as parts of Young's modulus.
    pub weights: [Real; 3],
    /// Conductivity of the diagonals of faces, W/(m K), beside that of the material along the edges.
    pub diagonal_conductivity: Real,
    /// Whether molecules that are near each other and cold make new springs.
    pub refreeze: bool,
    /// How molecules of the melt attract and repel each other.
    pub molecules: Molecules,
    /// How molecules move as a gas.
    pub gas: Gas,
}

impl Default for SpringSettings {
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

/// How molecules attract and repel each other (`[TPF89]` eqs. 11 to 13). Lengths are in sizes of a molecule, the edge of
/// a cube that holds its mass at the density of the material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Molecules {
    /// Exponents `a` of the attraction and `b` of the repulsion.
    pub exponents: [Real; 2],
    /// Length `zeta` by which the attraction is blunted, sizes.
    pub bluntness: Real,
    /// Collision exponent `p` inside a radius of one size.
    pub collision: Real,
    /// Strengths `alpha` and `beta` as the source has them, in SI units (N m^(a-1)/kg2, N m^(b-1)/kg2). `None` takes those
    /// for which the melt has the density and the bulk modulus of the material.
    pub strengths: Option<[Real; 2]>,
    /// Distance at which forces are gone, sizes.
    pub cutoff: Real,
    /// How forces are added up.
    pub summation: Summation,
}

impl Default for Molecules {
    /// Exponents 4 and 8. The source's 2 and 4 need its endless sums: cut off, they have several densities without pressure.
    fn default() -> Self {
        Self {
            exponents: [4.0, 8.0],
            bluntness: 0.0,
            collision: 0.0,
            strengths: None,
            cutoff: 2.0,
            summation: Summation::Cutoff,
        }
    }
}

impl Molecules {
    /// Whether a melt with this law can rest without pressure, so that strengths can follow from its bulk modulus.
    pub fn can_balance(&self) -> bool {
        PairTable::can_balance(self)
    }
}

/// How the forces of many molecules on one are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Summation {
    /// Those within the cut-off, fading towards it.
    #[default]
    Cutoff,
    /// All; far ones in groups (Barnes and Hut), where a group is smaller than `opening` times its distance.
    Tree {
        /// 0 opens all groups, 1 is coarse.
        opening: Real,
    },
    /// All, one by one.
    Exact,
}

/// How molecules move above the boiling point: they no longer attract each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gas {
    /// Repulsion as a multiple of that of the melt.
    pub repulsion: Real,
    /// Lift by the air around it, in weights: 1 floats, more rises.
    pub lift: Real,
    /// Rate at which the air around it takes its motion away, 1/s.
    pub drag: Real,
}

impl Default for Gas {
    fn default() -> Self {
        Self { repulsion: 2.0, lift: 0.0, drag: 0.0 }
    }
}
