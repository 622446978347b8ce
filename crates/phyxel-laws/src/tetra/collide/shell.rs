//! The surface of a body as spheres of other matter meet it: the places of its faces that are near a point, and the points that are in
//! its elements.
//!
//! A sphere alone has no edges from which `[HTKMG04]` could hand depths inwards. It does not need them: its centre is outside until it is
//! in by a whole radius, so that the nearest place of the surface is the way that it came.

use super::geometry::{Shape, nearest_on_triangle};
use super::{Cells, bounds};
use crate::Real;
use glam::{DVec3, Vec3};

/// Faces of a surface, sorted by where they are.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    corners: Vec<[Vec3; 3]>,
    boxes: Vec<[Vec3; 2]>,
    /// Of length 1, or nothing.
    normals: Vec<Vec3>,
    cells: Cells,
}

/// The place of a face that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// Which face.
    pub face: u32,
    /// Parts of its three corners there: from 0 to 1, with sum 1.
    pub parts: [Real; 3],
    /// From there to the point, m.
    pub way: DVec3,
}

impl Shell {
    /// Of faces by their corners, counter-clockwise seen from outside, for points that look about as far as `reach`, m.
    pub fn new(corners: Vec<[Vec3; 3]>, reach: Real) -> Self {
        let boxes: Vec<[Vec3; 2]> = corners.iter().map(|corners| bounds(*corners)).collect();
        let sizes =
            boxes.iter().map(|[low, high]| f64::from((*high - *low).max_element())).filter(|size| size.is_finite());
        let (sum, count) = sizes.fold((0.0, 0u32), |(sum, count), size| (sum + size, count + 1));
        let mean = (sum / f64::from(count.max(1))) as Real;
        let size = mean.max(2.0 * reach);
        let mut cells = Cells::default();
        if size > 0.0 && size.is_finite() {
            cells.sort_boxes(size, (0..).zip(boxes.iter().copied()));
        }
        let normal = |[a, b, c]: &[Vec3; 3]| (*b - *a).cross(*c - *a).normalize_or_zero();
        let normals = corners.iter().map(normal).collect();
        Self { corners, boxes, normals, cells }
    }

    /// Calls `see` with the place of every face that is within reach of a point, m. One may come more than once.
    pub fn visit(&self, point: Vec3, reach: Real, mut see: impl FnMut(Foot)) {
        let [low, high] = [point - reach, point + reach];
        if self.corners.is_empty() || !(low.is_finite() && high.is_finite()) {
            return;
        }
        self.cells.boxes_near([low, high], |face| {
            let [least, most] = self.boxes[face as usize];
            let height = (point - self.corners[face as usize][0]).dot(self.normals[face as usize]);
            // Heights are rounded by much less than this.
            if !(least.cmple(high) & most.cmpge(low)).all() || height.abs() > 1.001 * reach {
                return;
            }
            let foot = self.foot(face, point);
            if foot.way.length_squared() <= f64::from(reach) * f64::from(reach) {
                see(foot);
            }
        });
    }

    /// The place of the surface that is nearest to a point, of the faces that are wanted. Among those that are as near, the first.
    pub fn nearest(&self, point: Vec3, is_wanted: impl Fn(u32) -> bool) -> Option<Foot> {
        let mut nearest: Option<(f64, Foot)> = None;
        let around = self.cells.size();
        let reaches =
            std::iter::successors(Some(around), |reach| Some(2.0 * reach)).take_while(|reach| reach.is_finite());
        // Each look is eight times as large, until it sees all.
        for reach in reaches.take(SURROUNDINGS).chain([Real::INFINITY]) {
            let see = |foot: Foot| {
                let off = foot.way.length_squared();
                if is_wanted(foot.face) && nearest.is_none_or(|(least, known)| (off, foot.face) < (least, known.face)) {
                    nearest = Some((off, foot));
                }
            };
            if reach.is_finite() {
                self.visit(point, reach, see);
            } else {
                (0..self.corners.len() as u32).map(|face| self.foot(face, point)).for_each(see);
            }
            if nearest.is_some() {
                break;
            }
        }
        nearest.map(|(_, foot)| foot)
    }

    /// Out of the body, of length 1; nothing for a face without area.
    pub fn normal(&self, face: u32) -> DVec3 {
        let [a, b, c] = self.corners[face as usize].map(Vec3::as_dvec3);
        (b - a).cross(c - a).normalize_or_zero()
    }

    fn foot(&self, face: u32, point: Vec3) -> Foot {
        let corners = self.corners[face as usize].map(Vec3::as_dvec3);
        let (parts, _) = nearest_on_triangle(point.as_dvec3(), corners);
        let place = (0..3).map(|k| f64::from(parts[k]) * corners[k]).sum::<DVec3>();
        Foot { face, parts, way: point.as_dvec3() - place }
    }
}

/// How often [`Shell::nearest`] looks at what is around before it looks at all.
const SURROUNDINGS: usize = 4;

/// Points with numbers, sorted by where they are, that elements are asked for.
#[derive(Clone, Debug, Default)]
pub struct Points {
    cells: Cells,
}

impl Points {
    /// For elements of about this size, m.
    pub fn new(size: Real, points: impl Iterator<Item = (u32, Vec3)>) -> Self {
        let mut cells = Cells::default();
        let is_sound = size > 0.0 && size.is_finite();
        cells.sort_points(if is_sound { size } else { 1.0 }, points);
        Self { cells }
    }

    /// Calls `see` with the number of each point that is inside an element or on its border. One may come more than once.
    pub fn visit_inside(&self, corners: [Vec3; 4], mut see: impl FnMut(u32)) {
        let [low, high] = bounds(corners);
        if !(low.is_finite() && high.is_finite()) {
            return;
        }
        let mut shape = None;
        self.cells.points_in([low, high], |number, place| {
            let shape = shape.get_or_insert_with(|| Shape::new(corners));
            if shape.parts_inside(place).is_some() {
                see(number);
            }
        });
    }
}
