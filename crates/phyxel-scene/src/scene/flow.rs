//! Emitters and drains as a scene file describes them.

use crate::shape::Shape;
use phyxel::emitter::Emitter;

/// A mouth that pours into a fluid body.
#[derive(Clone, Debug)]
pub struct EmitterDescription {
    /// The emitter; its temperature counts if the file says one.
    pub emitter: Emitter,
    /// In the scene's scale; that of the body if `None`.
    pub temperature: Option<f32>,
}

/// A region that takes particles of crystals and fluids away.
#[derive(Clone, Debug)]
pub struct DrainDescription {
    /// Unique name.
    pub name: String,
    /// Its form in the world's frame.
    pub region: Shape,
    /// Names of bodies, as the file writes them; none means all of the model `crystal`.
    pub bodies: Vec<String>,
    /// Fineness with which shapes that the engine does not know are sampled, m.
    pub cell: Option<f32>,
    /// Whether it works at the start.
    pub active: bool,
}
