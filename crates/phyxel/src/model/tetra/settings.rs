//! Settings of a body of tetrahedra.

use crate::Real;
use crate::model::continuum::Integration;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Settings of one body of tetrahedra.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TetraSettings {
    /// The samples at the four corners of each. Seen from the fourth, the first three run counter-clockwise:
    /// `(b-a) x (c-a) . (d-a) > 0`.
    pub elements: Arc<Vec<[u32; 4]>>,
    /// Elastic law that is not the same in all directions, Pa: six stresses (xx, yy, zz, yz, xz, xy) from three
    /// stretches and three shears. The material's Young's modulus, as a part of its largest value, scales it.
    pub stiffness: Option<Box<[[Real; 6]; 6]>>,
    /// Rate at which motion through space dies out, 1/s: damping in proportion to mass.
    pub mass_damping: Real,
    /// Time by which stress is ahead of strain, s: damping in proportion to stiffness. From the material's damping if `None`.
    pub stiffness_damping: Option<Real>,
    /// Constraint force at which corners part, N, as in the source, instead of the material's strength.
    pub strength_force: Option<Real>,
    /// Name of a fluid of the model `crystal`, of the same material, that molten elements become; without it they stay elements that creep.
    pub melts_into: Option<String>,
    /// Whether plastic flow keeps the volume: only the part of the strain without trace flows.
    pub deviatoric: bool,
    /// How steps are taken.
    pub integration: Integration,
}
