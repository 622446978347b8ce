//! Heatings as a scene file describes them.

use crate::shape::Shape;
use glam::Vec3;
use phyxel::heating::{Exchange, Radiation};

/// Thermal boundary condition or source of a body and all its copies. See [`phyxel::heating::Heating`].
#[derive(Clone, Debug)]
pub struct HeatingDescription {
    /// Unique name.
    pub name: String,
    /// Name of a body, as the file writes it.
    pub body: String,
    /// Region of the particles in the local frame at rest; `None` means all.
    pub region: Option<Shape>,
    /// Outward unit direction of the affected faces in the local frame at rest; `None` means all.
    pub facing: Option<Vec3>,
    /// Start, s.
    pub from: f64,
    /// End, s; `None` is unlimited.
    pub until: Option<f64>,
    /// True if it is active at the start.
    pub active: bool,
    /// Prescribed temperature of the particles (Dirichlet), in the scene's scale.
    pub temperature: Option<f32>,
    /// Heat flux into the surface (Neumann), W/m2.
    pub flux: f32,
    /// Convective exchange with the surroundings (Robin).
    pub exchange: Option<Exchange>,
    /// Radiative exchange with distant surroundings.
    pub radiation: Option<Radiation>,
    /// Volumetric heat source, W/m3.
    pub power: f32,
}
