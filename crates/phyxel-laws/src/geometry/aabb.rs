//! Axis-aligned bounding boxes.

use crate::Real;
use glam::Vec3;

/// Axis-aligned bounding box (AABB) of points, in m unless said otherwise. Its faces belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Corner with the smallest coordinates.
    pub min: Vec3,
    /// Corner with the largest coordinates.
    pub max: Vec3,
}

impl Aabb {
    /// Box of no points, from plus to minus infinity: the neutral element of the union.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Bounding box of points; [`EMPTY`](Self::EMPTY) without any.
    #[inline]
    pub fn from_points(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, Self::including)
    }

    /// The box, or `None` if it contains no point.
    pub fn non_empty(self) -> Option<Self> {
        self.min.cmple(self.max).all().then_some(self)
    }

    /// Smallest box that contains this one and `point`.
    #[inline]
    pub fn including(self, point: Vec3) -> Self {
        Self { min: self.min.min(point), max: self.max.max(point) }
    }

    /// Smallest box that contains this one and `other`.
    #[inline]
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Intersection of two boxes; `None` if they are disjoint.
    pub fn intersection(self, other: Self) -> Option<Self> {
        Self { min: self.min.max(other.min), max: self.max.min(other.max) }.non_empty()
    }

    /// The box with every face offset outwards by `margin`.
    #[inline]
    pub fn inflated(self, margin: Real) -> Self {
        Self { min: self.min - margin, max: self.max + margin }
    }

    /// Centre.
    #[inline]
    pub fn centre(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    /// Edge lengths along x, y and z.
    #[inline]
    pub fn extent(&self) -> Vec3 {
        self.max - self.min
    }

    /// Radius of the sphere around the centre through the corners.
    #[inline]
    pub fn circumradius(&self) -> Real {
        0.5 * self.extent().length()
    }

    /// Returns true if both corners are finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.min.is_finite() && self.max.is_finite()
    }

    /// Returns true if `point` is inside or on the border.
    #[inline]
    pub fn contains(&self, point: Vec3) -> bool {
        (point.cmpge(self.min) & point.cmple(self.max)).all()
    }

    /// Returns true if the boxes have a point in common.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        (self.min.cmple(other.max) & self.max.cmpge(other.min)).all()
    }

    /// Squared distance from `point` to the box, zero inside.
    #[inline]
    pub fn distance_squared(&self, point: Vec3) -> Real {
        (self.min - point).max(point - self.max).max(Vec3::ZERO).length_squared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Aabb = Aabb { min: Vec3::ZERO, max: Vec3::ONE };

    #[test]
    fn a_box_around_points_touches_the_outermost_of_them() {
        let aabb = Aabb::from_points([Vec3::new(1.0, -2.0, 0.0), Vec3::new(-1.0, 5.0, 0.5)]);
        assert_eq!(aabb, Aabb { min: Vec3::new(-1.0, -2.0, 0.0), max: Vec3::new(1.0, 5.0, 0.5) });
        assert_eq!(Aabb::from_points([]), Aabb::EMPTY);
        assert_eq!(Aabb::from_points([Vec3::X]).non_empty(), Some(Aabb { min: Vec3::X, max: Vec3::X }));
    }

    #[test]
    fn the_empty_box_is_neutral_in_a_union_and_overlaps_nothing() {
        assert_eq!(Aabb::EMPTY.union(UNIT), UNIT);
        assert_eq!((Aabb::EMPTY.non_empty(), UNIT.intersection(Aabb::EMPTY)), (None, None));
        assert!(!Aabb::EMPTY.overlaps(&UNIT) && !Aabb::EMPTY.contains(Vec3::ZERO) && !Aabb::EMPTY.is_finite());
    }

    #[test]
    fn boxes_that_touch_overlap_in_a_face() {
        let beside = Aabb { min: Vec3::X, max: Vec3::new(2.0, 1.0, 1.0) };
        assert!(UNIT.overlaps(&beside) && !UNIT.inflated(-0.1).overlaps(&beside));
        assert_eq!(UNIT.intersection(beside), Some(Aabb { min: Vec3::X, max: Vec3::ONE }));
        assert_eq!(UNIT.inflated(-0.1).intersection(beside), None);
    }

    #[test]
    fn the_squared_distance_is_zero_inside_and_pythagoras_outside() {
        assert_eq!(UNIT.distance_squared(Vec3::splat(0.3)), 0.0);
        assert_eq!(UNIT.distance_squared(Vec3::new(4.0, -4.0, 0.5)), 25.0);
        assert!(UNIT.contains(Vec3::ONE) && !UNIT.inflated(-0.1).contains(Vec3::ONE));
        assert_eq!(UNIT.union(UNIT.inflated(1.0)).extent(), Vec3::splat(3.0));
        assert_eq!((UNIT.centre(), UNIT.circumradius()), (Vec3::splat(0.5), 0.5 * 3f32.sqrt()));
    }
}
