//! How a body is shown.

use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is shown of a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Skin {
    /// Its particles, as spheres.
    #[default]
    Particles,
    /// A mesh that the body carries along.
    Mesh(Arc<SkinMesh>),
}

impl Skin {
    /// As scene files and reports write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Particles => "particles",
            Self::Mesh(_) => "mesh",
        }
    }
}

/// A mesh in the body's own frame at rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkinMesh {
    /// m.
    pub positions: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}
