//! Heating and cooling as a scene file describes it.

use crate::shape::Shape;
use glam::Vec3;
use phyxel::heating::{Exchange, Radiation};

/// Heat that a body, and all its copies, is given or loses. See [`phyxel::heating::Heating`].
#[derive(Clone, Debug)]
pub struct HeatingDescription {
    /// Unique name.
    pub name: String,
    /// Name of a body, as the file writes it.
    pub body: String,
    /// Which particles, in the body's own frame at rest; `None` means all.
    pub region: Option<Shape>,
    /// Which way the faces that count look, in the body's own frame at rest, unit length; `None` means all.
    pub facing: Option<Vec3>,
    /// When it begins, s.
    pub from: f64,
    /// When it ends, s; `None` goes on for ever.
    pub until: Option<f64>,
    /// Whether it works at the start.
    pub active: bool,
    /// Temperature at which the particles are kept, in the scene's scale.
    pub temperature: Option<f32>,
    /// Heat that flows in through the surface, W/m2.
    pub flux: f32,
    /// Exchange with surrounding air or water.
    pub exchange: Option<Exchange>,
    /// Exchange by radiation with distant surroundings.
    pub radiation: Option<Radiation>,
    /// Heat that arises inside, W/m3.
    pub power: f32,
}
