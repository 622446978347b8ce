//! Emitters and drains as a scene file describes them.

use crate::shape::Shape;
use phyxel::emission::Emitter;

/// Emitter into a fluid body.
#[derive(Clone, Debug)]
pub struct EmitterDescription {
    /// The emitter; its temperature is valid only if the file gives one.
    pub emitter: Emitter,
    /// Temperature in the scene's scale; that of the body if `None`.
    pub temperature: Option<f32>,
}

/// Region that removes particles of crystals and fluids.
#[derive(Clone, Debug)]
pub struct DrainDescription {
    /// Unique name.
    pub name: String,
    /// Region in the world frame.
    pub region: Shape,
    /// Names of bodies, as the file writes them; none means all crystals and fluids.
    pub bodies: Vec<String>,
    /// Cell of the distance grid for shapes without an analytic geometry, m.
    pub cell: Option<f32>,
    /// True if it is active at the start.
    pub active: bool,
}
