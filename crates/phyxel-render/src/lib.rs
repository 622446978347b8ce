//! Ray tracer on the CPU: pictures of frames.
//!
//! [`render`] draws a [`Frame`] by its [`RenderSettings`]: skins as triangles with smooth normals, particles as
//! spheres, surfels as discs, obstacles by their shapes, lit by an extended sun and a sky. The same frame and settings
//! give the same bits on any number of threads. The crate knows frames only, reads and writes no files and needs no
//! display.

mod bvh;
mod camera;
mod colour;
mod legend;
mod light;
mod obstacle_mesh;
mod passes;
mod picture;
mod primitives;
mod sampling;
mod scene;
mod settings;
mod shade;

pub use camera::Camera;
pub use colour::ColourRange;
pub use obstacle_mesh::{SurfaceMesh, tessellate};
pub use picture::Picture;
pub use settings::{Colouring, Quality, RenderSettings, UnknownColouring};

use phyxel::Frame;

/// Renders a frame.
pub fn render(frame: &Frame, settings: &RenderSettings) -> Picture {
    let scene = scene::RenderScene::new(frame, settings);
    let mut picture = passes::render_pixels(&scene, settings);
    if let Some(range) = scene.range {
        legend::draw(&mut picture, settings.colouring, range);
    }
    picture
}
