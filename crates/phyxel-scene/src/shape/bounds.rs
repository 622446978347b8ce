//! Axis-aligned bounding boxes.

use glam::Vec3;
use phyxel::Real;

/// Axis-aligned bounding box (AABB) from `min` to `max`, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Corner with the smallest coordinates, m.
    pub min: Vec3,
    /// Corner with the largest coordinates, m.
    pub max: Vec3,
}

impl Bounds {
    /// Bounding box of `points`, or `None` when there are none.
    pub fn of_points(points: impl IntoIterator<Item = Vec3>) -> Option<Self> {
        let mut points = points.into_iter();
        let first = points.next()?;
        let start = Self { min: first, max: first };
        Some(points.fold(start, |bounds, point| bounds.including(point)))
    }

    /// Smallest box that contains this one and `point`.
    pub fn including(self, point: Vec3) -> Self {
        Self { min: self.min.min(point), max: self.max.max(point) }
    }

    /// Smallest box that contains this one and `other`.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box with every face offset outwards by `margin`, m.
    pub fn expanded(self, margin: Real) -> Self {
        Self { min: self.min - margin, max: self.max + margin }
    }

    /// Centre, m.
    pub fn centre(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    /// Edge lengths along x, y and z, m.
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// Returns true if `point` is inside or on the border.
    pub fn contains(&self, point: Vec3) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }

    /// Squared distance from `point` to the box, zero inside, m2.
    pub fn distance_squared(&self, point: Vec3) -> Real {
        (self.min - point).max(point - self.max).max(Vec3::ZERO).length_squared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_around_points_touches_the_outermost_of_them() {
        let bounds = Bounds::of_points([Vec3::new(1.0, -2.0, 0.0), Vec3::new(-1.0, 5.0, 0.5)]);
        assert_eq!(bounds, Some(Bounds { min: Vec3::new(-1.0, -2.0, 0.0), max: Vec3::new(1.0, 5.0, 0.5) }));
        assert_eq!(Bounds::of_points([]), None);
    }

    #[test]
    fn the_squared_distance_is_zero_inside_and_pythagoras_outside() {
        let bounds = Bounds { min: Vec3::ZERO, max: Vec3::ONE };
        assert_eq!(bounds.distance_squared(Vec3::splat(0.3)), 0.0);
        assert_eq!(bounds.distance_squared(Vec3::new(4.0, -4.0, 0.5)), 25.0);
        assert!(bounds.contains(Vec3::ONE) && !bounds.expanded(-0.1).contains(Vec3::ONE));
        assert_eq!(bounds.union(bounds.expanded(1.0)).size(), Vec3::splat(3.0));
        assert_eq!(bounds.centre(), Vec3::splat(0.5));
    }
}
