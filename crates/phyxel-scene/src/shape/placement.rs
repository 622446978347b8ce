//! Placement of shapes: similarity transforms.

use glam::{Quat, Vec3};
use phyxel::Real;

/// Similarity transform: uniform scale, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Position of the origin of the shape, m.
    pub at: Vec3,
    /// Rotation about the fixed x axis, then y, then z, degrees: `R = Rz Ry Rx`.
    pub turn: Vec3,
    /// Uniform scale factor; greater than zero.
    pub scale: Real,
}

impl Default for Placement {
    fn default() -> Self {
        Self { at: Vec3::ZERO, turn: Vec3::ZERO, scale: 1.0 }
    }
}

impl Placement {
    /// A pure translation.
    pub fn at(at: Vec3) -> Self {
        Self { at, ..Self::default() }
    }

    /// Rotation as a quaternion.
    pub fn rotation(&self) -> Quat {
        let angles = Vec3::new(self.turn.x.to_radians(), self.turn.y.to_radians(), self.turn.z.to_radians());
        Quat::from_rotation_z(angles.z) * Quat::from_rotation_y(angles.y) * Quat::from_rotation_x(angles.x)
    }

    /// Transforms a point from the local to the outer frame, m.
    pub fn point(&self, point: Vec3) -> Vec3 {
        self.rotation() * (self.scale * point) + self.at
    }

    /// Transforms a point from the outer to the local frame, m.
    pub fn inverse_point(&self, point: Vec3) -> Vec3 {
        let moved = point - self.at;
        if self.turn == Vec3::ZERO {
            return moved / self.scale;
        }
        (self.rotation().inverse() * moved) / self.scale
    }

    /// Rotates a direction from the local to the outer frame.
    pub fn direction(&self, direction: Vec3) -> Vec3 {
        self.rotation() * direction
    }

    /// Rotates a direction from the outer to the local frame.
    pub fn inverse_direction(&self, direction: Vec3) -> Vec3 {
        if self.turn == Vec3::ZERO {
            return direction;
        }
        self.rotation().inverse() * direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rotations of unit vectors in single precision: a few units in the last place.
    const TOLERANCE: Real = 1e-6;

    #[test]
    fn rotations_are_applied_about_x_then_y_then_z() {
        let placement = Placement { turn: Vec3::new(90.0, 90.0, 0.0), ..Placement::default() };
        // y --x--> z --y--> x
        assert!(placement.direction(Vec3::Y).distance(Vec3::X) < TOLERANCE);
        let placement = Placement { turn: Vec3::new(0.0, 90.0, 90.0), ..Placement::default() };
        // z --y--> x --z--> y
        assert!(placement.direction(Vec3::Z).distance(Vec3::Y) < TOLERANCE);
    }

    #[test]
    fn the_inverse_transform_restores_the_point() {
        let placement = Placement { at: Vec3::new(1.0, 2.0, 3.0), turn: Vec3::new(20.0, -70.0, 130.0), scale: 2.5 };
        let point = Vec3::new(0.3, -0.7, 0.2);
        assert!(placement.inverse_point(placement.point(point)).distance(point) < 4.0 * TOLERANCE);
        assert!(placement.inverse_direction(placement.direction(point)).distance(point) < 4.0 * TOLERANCE);
        assert!((placement.point(point) - placement.point(Vec3::ZERO)).length() - 2.5 * point.length() < 1e-5);
    }
}
