//! Grids for contact between tetrahedral bodies and spheres: closest points on surface faces, and points
//! inside elements.
//!
//! A single sphere has no edges along which `[HTKMG04]` could propagate depths. It does not need them: its
//! centre is outside until it penetrates by a whole radius, so that the closest point of the surface is
//! where it entered.

use super::SpatialHash;
use super::geometry::BarycentricMap;
use crate::Real;
use crate::geometry::{Aabb, project_on_triangle};
use glam::{DVec3, Vec3};

/// Surface faces in a spatial hash, for closest-point queries.
#[derive(Clone, Debug, Default)]
pub struct SurfaceGrid {
    corners: Vec<[Vec3; 3]>,
    boxes: Vec<Aabb>,
    /// Unit normals; zero for degenerate faces.
    normals: Vec<Vec3>,
    cells: SpatialHash,
}

/// Closest point on a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// Face.
    pub face: u32,
    /// Barycentric weights of its corners: from 0 to 1, with sum 1.
    pub barycentric: [Real; 3],
    /// Vector from there to the query point, m.
    pub offset: DVec3,
}

impl SurfaceGrid {
    /// Grid of faces by their corners, counter-clockwise seen from outside, for queries of about `radius`, m.
    pub fn new(corners: Vec<[Vec3; 3]>, radius: Real) -> Self {
        let boxes: Vec<Aabb> = corners.iter().map(|corners| Aabb::from_points(*corners)).collect();
        let sizes = boxes.iter().map(|aabb| f64::from(aabb.extent().max_element())).filter(|size| size.is_finite());
        let (sum, count) = sizes.fold((0.0, 0u32), |(sum, count), size| (sum + size, count + 1));
        let mean = (sum / f64::from(count.max(1))) as Real;
        let size = mean.max(2.0 * radius);
        let mut cells = SpatialHash::default();
        if size > 0.0 && size.is_finite() {
            cells.sort_boxes(size, (0..).zip(boxes.iter().copied()));
        }
        let normal = |[a, b, c]: &[Vec3; 3]| (*b - *a).cross(*c - *a).normalize_or_zero();
        let normals = corners.iter().map(normal).collect();
        Self { corners, boxes, normals, cells }
    }

    /// Calls `visit` with the closest point of every face within `radius` of a point, m, possibly more than
    /// once.
    pub fn visit(&self, point: Vec3, radius: Real, mut visit: impl FnMut(ClosestPoint)) {
        let around = Aabb { min: point - radius, max: point + radius };
        if self.corners.is_empty() || !around.is_finite() {
            return;
        }
        self.cells.boxes_near(around, |face| {
            let height = (point - self.corners[face as usize][0]).dot(self.normals[face as usize]);
            // Rounding of heights is far below this margin.
            if !self.boxes[face as usize].overlaps(&around) || height.abs() > 1.001 * radius {
                return;
            }
            let closest_point = self.closest_on_face(face, point);
            if closest_point.offset.length_squared() <= f64::from(radius) * f64::from(radius) {
                visit(closest_point);
            }
        });
    }

    /// Closest point on the selected faces; of equally close ones, that on the first face.
    pub fn closest(&self, point: Vec3, is_selected: impl Fn(u32) -> bool) -> Option<ClosestPoint> {
        let mut nearest: Option<(f64, ClosestPoint)> = None;
        let initial = self.cells.size();
        let radii =
            std::iter::successors(Some(initial), |radius| Some(2.0 * radius)).take_while(|radius| radius.is_finite());
        // Each search covers eight times the volume, until the last takes all faces.
        for radius in radii.take(MAX_DOUBLINGS).chain([Real::INFINITY]) {
            let visit = |closest_point: ClosestPoint| {
                let distance_squared = closest_point.offset.length_squared();
                if is_selected(closest_point.face)
                    && nearest.is_none_or(|(least, known)| (distance_squared, closest_point.face) < (least, known.face))
                {
                    nearest = Some((distance_squared, closest_point));
                }
            };
            if radius.is_finite() {
                self.visit(point, radius, visit);
            } else {
                (0..self.corners.len() as u32).map(|face| self.closest_on_face(face, point)).for_each(visit);
            }
            if nearest.is_some() {
                break;
            }
        }
        nearest.map(|(_, closest_point)| closest_point)
    }

    /// Outward unit normal; zero for a face without area.
    pub fn normal(&self, face: u32) -> DVec3 {
        let [a, b, c] = self.corners[face as usize].map(Vec3::as_dvec3);
        (b - a).cross(c - a).normalize_or_zero()
    }

    fn closest_on_face(&self, face: u32, point: Vec3) -> ClosestPoint {
        let corners = self.corners[face as usize].map(Vec3::as_dvec3);
        let (barycentric, _) = project_on_triangle(point.as_dvec3(), corners);
        let closest = (0..3).map(|k| f64::from(barycentric[k]) * corners[k]).sum::<DVec3>();
        ClosestPoint { face, barycentric, offset: point.as_dvec3() - closest }
    }
}

/// Number of local searches of [`SurfaceGrid::closest`], with doubled radius each, before all faces are tested.
const MAX_DOUBLINGS: usize = 4;

/// Numbered points in a spatial hash, for point-in-tetrahedron queries.
#[derive(Clone, Debug, Default)]
pub struct PointGrid {
    cells: SpatialHash,
}

impl PointGrid {
    /// Grid for elements of about this size, m.
    pub fn new(size: Real, points: impl Iterator<Item = (u32, Vec3)>) -> Self {
        let mut cells = SpatialHash::default();
        let is_valid = size > 0.0 && size.is_finite();
        cells.sort_points(if is_valid { size } else { 1.0 }, points);
        Self { cells }
    }

    /// Calls `visit` with the number of each point inside an element or on its boundary, possibly more than
    /// once.
    pub fn visit_inside(&self, corners: [Vec3; 4], mut visit: impl FnMut(u32)) {
        let aabb = Aabb::from_points(corners);
        if !aabb.is_finite() {
            return;
        }
        let mut map = None;
        self.cells.points_in(aabb, |number, position| {
            let map = map.get_or_insert_with(|| BarycentricMap::new(corners));
            if map.barycentric_inside(position).is_some() {
                visit(number);
            }
        });
    }
}
