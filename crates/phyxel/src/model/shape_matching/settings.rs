//! Settings of the shape-matching model.

use crate::Real;
use crate::model::ModelKind;
use serde::{Deserialize, Serialize};

/// Deformation modes that the goal shape may follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchingMode {
    /// Rotation only (`[MHTG05]` section 3.3).
    Rigid,
    /// Stretch and shear in addition (section 4.2).
    #[default]
    Linear,
    /// Bending and twist in addition (section 4.3).
    Quadratic,
}

/// Clusters of the samples of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Clusters {
    /// Numbers of overlapping regions along x, y and z of the body frame.
    Counts([u32; 3]),
    /// Overlapping cubical regions of about this edge, m.
    Size(Real),
    /// Given groups of samples, for instance one per tetrahedron of a mesh.
    Groups(Vec<Vec<u32>>),
}

impl Default for Clusters {
    fn default() -> Self {
        Self::Counts([1, 1, 1])
    }
}

/// Settings of one body for shape matching. `mode`, `beta`, `tau` and `damping_rate` may change at run time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShapeMatchingSettings {
    /// Deformation modes that the goal shape follows.
    pub mode: MatchingMode,
    /// Fraction of the deformation that the goal shape follows, 0 (none) to 1 (no restoring force).
    pub beta: Real,
    /// Clusters of samples that are matched together.
    pub clusters: Clusters,
    /// Overlap of a region with its neighbour, as a fraction of its size, 0 to 1.
    pub overlap: Real,
    /// Time constant, s: a deformation oscillates with period `2 pi tau`. 0 is as stiff as the step allows.
    /// `None` takes the lowest longitudinal mode of a bar as long as a cluster, from Young's modulus and
    /// density of the material.
    pub tau: Option<Real>,
    /// Decay rate of non-rigid motion, 1/s. `None` follows the material's damping.
    pub damping_rate: Option<Real>,
    /// True if the linear term of the goal conserves the volume.
    pub keep_volume: bool,
}

impl Default for ShapeMatchingSettings {
    fn default() -> Self {
        Self {
            mode: MatchingMode::default(),
            beta: 0.5,
            clusters: Clusters::default(),
            overlap: 0.25,
            tau: None,
            damping_rate: None,
            keep_volume: true,
        }
    }
}

impl ShapeMatchingSettings {
    /// Kind of the model.
    pub(crate) fn kind(&self) -> ModelKind {
        ModelKind::ShapeMatching
    }
}
