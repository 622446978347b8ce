//! Settings of a body that is moved by shape matching.

use crate::Real;
use serde::{Deserialize, Serialize};

/// How far the goal shape may bend away from the rest shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShapeMode {
    /// Turn only (`[MHTG05]` section 3.3).
    Rigid,
    /// Stretch and shear too (section 4.2).
    #[default]
    Linear,
    /// Bend and twist too (section 4.3).
    Quadratic,
}

/// How the samples of a body are grouped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Clusters {
    /// So many overlapping regions along x, y and z of the body's own frame.
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

/// Settings of one body for shape matching. The settings but `clusters` may change at run time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShapeSettings {
    /// Kinds of deformation the goal shape follows.
    pub mode: ShapeMode,
    /// Part of the deformation that the goal shape follows, 0 (none) to 1 (no tendency back).
    pub beta: Real,
    /// Groups of samples that are matched together.
    pub clusters: Clusters,
    /// How far a region reaches into its neighbour, as a part of its own size, 0 to 1.
    pub overlap: Real,
    /// Time constant of the pull, s: a deformation swings with period 2 pi tau. 0 is as stiff as the step
    /// allows. `None` takes the slowest stretching motion of a bar as long as a cluster, from Young's modulus
    /// and density of the material.
    pub tau: Option<Real>,
    /// Rate at which motion that is not rigid dies away, 1/s. `None` follows the material's damping.
    pub damping_rate: Option<Real>,
    /// Whether the linear part of the goal keeps the volume.
    pub keep_volume: bool,
}

impl Default for ShapeSettings {
    fn default() -> Self {
        Self {
            mode: ShapeMode::default(),
            beta: 0.5,
            clusters: Clusters::default(),
            overlap: 0.25,
            tau: None,
            damping_rate: None,
            keep_volume: true,
        }
    }
}
