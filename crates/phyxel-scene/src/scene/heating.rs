//! Heatings as a scene file describes them.

use crate::shape::Shape;
use phyxel::heating::Heating;

/// Thermal boundary condition or source of a body and all its copies.
#[derive(Clone, Debug)]
pub struct HeatingDescription {
    /// The heating, for all particles of the body.
    pub heating: Heating,
    /// Name of the body, as the file writes it.
    pub body: String,
    /// Region of the particles in the local frame at rest; `None` means all.
    pub region: Option<Shape>,
}
