//! Frames to pictures, by tracing rays on the CPU.
//!
//! [`render`] draws a [`Frame`] as a [`View`] asks for it: skins as triangles with smooth normals,
//! particles as balls, surfels as discs, obstacles as what they are, in the light of a soft sun and a sky. The same
//! frame and view give the same bits on any number of threads. The crate knows frames only, reads and writes no
//! files and needs no display.

mod camera;
mod colour;
mod forms;
mod geometry;
mod legend;
mod light;
mod passes;
mod picture;
mod sampling;
mod shade;
mod stage;
mod view;

pub use camera::Camera;
pub use colour::Range;
pub use forms::{Form, surface};
pub use picture::Picture;
pub use view::{Colouring, Quality, UnknownColouring, View};

use phyxel::Frame;

/// Draws a frame.
pub fn render(frame: &Frame, view: &View) -> Picture {
    let stage = stage::Stage::new(frame, view);
    let mut picture = passes::draw(&stage, view);
    if let Some(range) = stage.range {
        legend::draw(&mut picture, view.colouring, range);
    }
    picture
}
