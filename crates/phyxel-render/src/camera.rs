//! Cameras: position and field of view, and the rays through pixels.

use glam::{Vec3, Vec3A};
use phyxel::Frame;

/// Perspective camera; y is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position, m.
    pub eye: Vec3,
    /// Point at the centre of the picture, m.
    pub target: Vec3,
    /// Vertical field of view, degrees.
    pub field_of_view: f32,
}

impl Camera {
    /// Camera in front of, to the right of and above the bodies of a frame that shows all of them.
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
        let distance = radius / (0.5 * field_of_view.to_radians()).sin();
        Self { eye: target + distance * Vec3::new(0.55, 0.42, 0.92).normalize(), target, field_of_view }
    }
}

/// Pinhole camera for a resolution.
pub(crate) struct PinholeCamera {
    pub eye: Vec3A,
    forward: Vec3A,
    right: Vec3A,
    up: Vec3A,
    resolution: [f32; 2],
    /// Width of a pixel at unit distance.
    pub pixel_size: f32,
}

impl PinholeCamera {
    pub fn new(camera: &Camera, width: u32, height: u32) -> Self {
        let forward = (camera.target - camera.eye).try_normalize().unwrap_or(Vec3::NEG_Z);
        let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
        let up = right.cross(forward);
        let half_height = (0.5 * camera.field_of_view.to_radians()).tan();
        let pixel_size = 2.0 * half_height / height as f32;
        Self {
            eye: camera.eye.into(),
            forward: forward.into(),
            right: (right * pixel_size).into(),
            up: (up * pixel_size).into(),
            resolution: [width as f32, height as f32],
            pixel_size,
        }
    }

    /// Unit direction of the ray through a point of the picture, in pixels from the upper left corner.
    pub fn ray_direction(&self, x: f32, y: f32) -> Vec3A {
        let (x, y) = (x - 0.5 * self.resolution[0], 0.5 * self.resolution[1] - y);
        (self.forward + self.right * x + self.up * y).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_pass_through_the_target_and_the_edges() {
        let camera = Camera { eye: Vec3::new(0.0, 0.0, 5.0), target: Vec3::ZERO, field_of_view: 90.0 };
        let pinhole = PinholeCamera::new(&camera, 200, 100);
        assert!(pinhole.ray_direction(100.0, 50.0).distance(Vec3A::NEG_Z) < 1e-6);
        let top = pinhole.ray_direction(100.0, 0.0);
        assert!((top.y / -top.z - 1.0).abs() < 1e-5 && top.x.abs() < 1e-6);
        let right = pinhole.ray_direction(200.0, 50.0);
        assert!((right.x / -right.z - 2.0).abs() < 1e-5);
    }

    #[test]
    fn cameras_may_look_straight_down() {
        let camera = Camera { eye: Vec3::Y, target: Vec3::ZERO, field_of_view: 40.0 };
        assert!(PinholeCamera::new(&camera, 10, 10).ray_direction(1.0, 1.0).is_finite());
    }

    #[test]
    fn an_empty_frame_has_a_camera() {
        let camera = Camera::around(&Frame::default());
        assert!(camera.eye.is_finite() && camera.eye.distance(camera.target) > 0.5);
    }
}
