//! Where a picture is taken from.

use glam::{Vec3, Vec3A};
use phyxel::Frame;

/// A camera; y is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it is, m.
    pub eye: Vec3,
    /// The point in the middle of the picture, m.
    pub target: Vec3,
    /// Angle from the lower to the upper edge of the picture, degrees.
    pub field_of_view: f32,
}

impl Camera {
    /// A view from the front, the right and above that shows everything but endless floors.
    pub fn around(frame: &Frame) -> Self {
        let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for body in frame.bodies.iter().filter(|body| !body.particles.is_empty()) {
            let [low, high] = body.report.bounds.map(|corner| Vec3::from_array(corner.map(|x| x as f32)));
            (min, max) = (min.min(low), max.max(high));
        }
        if min.cmpgt(max).any() || !(max - min).is_finite() {
            (min, max) = (Vec3::splat(-0.5), Vec3::splat(0.5));
        }
        let (target, radius) = (0.5 * (min + max), (0.5 * (max - min).length()).max(1e-6));
        let field_of_view = 35.0_f32;
        let away = radius / (0.5 * field_of_view.to_radians()).sin();
        Self { eye: target + away * Vec3::new(0.55, 0.42, 0.92).normalize(), target, field_of_view }
    }
}

/// A camera made ready for a size of picture.
pub(crate) struct Lens {
    pub eye: Vec3A,
    forward: Vec3A,
    right: Vec3A,
    up: Vec3A,
    size: [f32; 2],
    /// Width of a pixel at distance 1.
    pub pixel: f32,
}

impl Lens {
    pub fn new(camera: &Camera, width: u32, height: u32) -> Self {
        let forward = (camera.target - camera.eye).try_normalize().unwrap_or(Vec3::NEG_Z);
        let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
        let up = right.cross(forward);
        let tall = (0.5 * camera.field_of_view.to_radians()).tan();
        let pixel = 2.0 * tall / height as f32;
        Self {
            eye: camera.eye.into(),
            forward: forward.into(),
            right: (right * pixel).into(),
            up: (up * pixel).into(),
            size: [width as f32, height as f32],
            pixel,
        }
    }

    /// Direction of the ray through a point of the picture, in pixels from the upper left corner.
    pub fn direction(&self, x: f32, y: f32) -> Vec3A {
        let (x, y) = (x - 0.5 * self.size[0], 0.5 * self.size[1] - y);
        (self.forward + self.right * x + self.up * y).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_go_through_the_target_and_the_edges() {
        let camera = Camera { eye: Vec3::new(0.0, 0.0, 5.0), target: Vec3::ZERO, field_of_view: 90.0 };
        let lens = Lens::new(&camera, 200, 100);
        assert!(lens.direction(100.0, 50.0).distance(Vec3A::NEG_Z) < 1e-6);
        let top = lens.direction(100.0, 0.0);
        assert!((top.y / -top.z - 1.0).abs() < 1e-5 && top.x.abs() < 1e-6);
        let right = lens.direction(200.0, 50.0);
        assert!((right.x / -right.z - 2.0).abs() < 1e-5);
    }

    #[test]
    fn a_camera_that_looks_straight_down_has_a_picture_too() {
        let camera = Camera { eye: Vec3::Y, target: Vec3::ZERO, field_of_view: 40.0 };
        assert!(Lens::new(&camera, 10, 10).direction(1.0, 1.0).is_finite());
    }

    #[test]
    fn an_empty_frame_has_a_camera() {
        let camera = Camera::around(&Frame::default());
        assert!(camera.eye.is_finite() && camera.eye.distance(camera.target) > 0.5);
    }
}
