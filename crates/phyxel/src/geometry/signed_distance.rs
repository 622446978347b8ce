//! Signed distances to shapes: closed forms for half-spaces and boxes, `parry3d` for other primitives and
//! meshes, trilinear interpolation for grids.

use crate::Real;
use crate::obstacle::{DistanceGrid, Geometry};
use glam::Vec3;
use parry3d::query::{PointProjection, PointQuery};
use parry3d::shape::{Ball, Capsule, Cone, Cylinder, SharedShape, TriMesh, TriMeshFlags};
use std::sync::Arc;

/// Shape prepared for distance queries.
#[derive(Clone)]
pub(crate) enum Collider {
    HalfSpace {
        normal: Vec3,
    },
    /// Box, by its half extents.
    Box {
        half: Vec3,
    },
    Shape(SharedShape),
    Mesh(Arc<TriMesh>),
    Grid(Arc<DistanceGrid>),
}

impl std::fmt::Debug for Collider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::HalfSpace { .. } => "Collider::HalfSpace",
            Self::Box { .. } => "Collider::Box",
            Self::Mesh(_) => "Collider::Mesh",
            Self::Shape(_) => "Collider::Shape",
            Self::Grid(_) => "Collider::Grid",
        })
    }
}

/// Signed distance to a surface and the outward normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SignedDistance {
    /// m; negative inside.
    pub distance: Real,
    /// Outward unit normal: the gradient of the distance.
    pub normal: Vec3,
}

impl Collider {
    /// Prepares a shape; `None` for a mesh without a valid triangle.
    pub fn new(geometry: &Geometry) -> Option<Self> {
        let shape = match geometry {
            Geometry::HalfSpace { normal } => return Some(Self::HalfSpace { normal: *normal }),
            Geometry::Box { size } => return Some(Self::Box { half: *size * 0.5 }),
            Geometry::Sphere { radius } => SharedShape::new(Ball::new(*radius)),
            Geometry::Capsule { radius, height } => SharedShape::new(Capsule::new_y(0.5 * height, *radius)),
            Geometry::Cylinder { radius, height } => SharedShape::new(Cylinder::new(0.5 * height, *radius)),
            Geometry::Cone { radius, height } => SharedShape::new(Cone::new(0.5 * height, *radius)),
            Geometry::Mesh { positions, triangles } => {
                let flags = TriMeshFlags::ORIENTED
                    | TriMeshFlags::MERGE_DUPLICATE_VERTICES
                    | TriMeshFlags::DELETE_DEGENERATE_TRIANGLES
                    | TriMeshFlags::DELETE_DUPLICATE_TRIANGLES;
                let mesh = TriMesh::with_flags(positions.to_vec(), triangles.to_vec(), flags).ok()?;
                return Some(Self::Mesh(Arc::new(mesh)));
            }
            Geometry::Grid(grid) => return Some(Self::Grid(grid.clone())),
        };
        Some(Self::Shape(shape))
    }

    /// Signed distance at a point in the local frame, if it is at most `max_distance`; points inside always have one.
    pub fn signed_distance(&self, point: Vec3, max_distance: Real) -> Option<SignedDistance> {
        let found = match self {
            Self::HalfSpace { normal } => SignedDistance { distance: point.dot(*normal), normal: *normal },
            Self::Box { half } => box_distance(*half, point, max_distance)?,
            Self::Shape(shape) => projected_distance(&**shape, point, shape.project_local_point(point, false)),
            // A mesh may be large, so the search is bounded. The sign comes from the nearest triangle.
            Self::Mesh(mesh) => {
                let radius = max_distance.max(max_depth(mesh));
                projected_distance(&**mesh, point, mesh.project_local_point_with_max_dist(point, false, radius)?)
            }
            Self::Grid(grid) => grid.signed_distance(point),
        };
        (found.distance <= max_distance).then_some(found)
    }
}

/// Signed distance to a box around the origin.
fn box_distance(half: Vec3, point: Vec3, max_distance: Real) -> Option<SignedDistance> {
    let beyond = point.abs() - half;
    if beyond.max_element() > max_distance {
        return None;
    }
    let sign = Vec3::ONE.copysign(point);
    // Inside, the normal is that of the nearest face.
    let nearest = [Vec3::X, Vec3::Y, Vec3::Z][beyond.max_position()];
    if beyond.max_element() > 0.0 {
        let out = beyond.max(Vec3::ZERO);
        return Some(SignedDistance { distance: out.length(), normal: sign * out.normalize_or(nearest) });
    }
    Some(SignedDistance { distance: beyond.max_element(), normal: sign * nearest })
}

/// Signed distance and normal from the nearest point of a surface.
fn projected_distance(shape: &dyn PointQuery, point: Vec3, nearest: PointProjection) -> SignedDistance {
    let out = if nearest.is_inside { nearest.point - point } else { point - nearest.point };
    let length = out.length();
    let normal = if length > 1e-6 * (1.0 + point.length()) { out / length } else { distance_gradient(shape, point) };
    SignedDistance { distance: if nearest.is_inside { -length } else { length }, normal }
}

/// Normalised gradient of the distance by central differences; for points on the surface.
fn distance_gradient(shape: &dyn PointQuery, point: Vec3) -> Vec3 {
    let step = 1e-4 * (1.0 + point.length());
    let distance = |at: Vec3| {
        let nearest = shape.project_local_point(at, false);
        let length = at.distance(nearest.point);
        if nearest.is_inside { -length } else { length }
    };
    let difference = |e: Vec3| distance(point + e * step) - distance(point - e * step);
    let gradient = [Vec3::X, Vec3::Y, Vec3::Z].map(difference);
    Vec3::from_array(gradient).try_normalize().unwrap_or(Vec3::Y)
}

/// Upper bound of the depth of points inside a mesh, m.
fn max_depth(mesh: &TriMesh) -> Real {
    mesh.local_aabb().extents().min_element()
}

impl DistanceGrid {
    /// Returns true if the sizes are consistent and all values are finite.
    pub fn is_valid(&self) -> bool {
        let count = self.counts.iter().map(|&n| n as usize).product::<usize>();
        self.counts.iter().all(|&n| n >= 2)
            && self.values.len() == count
            && self.cell > 0.0
            && self.cell.is_finite()
            && self.origin.is_finite()
            && self.values.iter().all(|value| value.is_finite())
    }

    /// Signed distance at a point.
    ///
    /// Outside the grid it is a lower bound: the surface is inside the grid, so the path to the grid and the
    /// path from there to the surface meet at a right angle or an obtuse one.
    fn signed_distance(&self, point: Vec3) -> SignedDistance {
        let top = Vec3::from_array(self.counts.map(|n| (n - 1) as Real));
        let coordinates = (point - self.origin) / self.cell;
        let clamped = coordinates.clamp(Vec3::ZERO, top);
        let found = self.interpolate(clamped, top);
        if clamped == coordinates {
            return found;
        }
        let (away, beyond) = ((coordinates - clamped) * self.cell, found.distance.max(0.0));
        let distance = (away.length_squared() + beyond * beyond).sqrt();
        SignedDistance { distance, normal: (away + found.normal * beyond).try_normalize().unwrap_or(found.normal) }
    }

    /// Trilinear interpolation of the distance and its gradient, at a point in cells from the first corner.
    fn interpolate(&self, coordinates: Vec3, top: Vec3) -> SignedDistance {
        let base = coordinates.floor().min(top - Vec3::ONE);
        let [u, v, w] = (coordinates - base).to_array();
        let [i, j, k] = base.to_array().map(|x| x as usize);
        let [nx, ny] = [self.counts[0] as usize, self.counts[1] as usize];
        let c = |x: usize, y: usize, z: usize| self.values[(i + x) + nx * ((j + y) + ny * (k + z))];
        let mix = |a: Real, b: Real, t: Real| a + (b - a) * t;
        let x00 = [c(0, 0, 0), c(1, 0, 0)];
        let x10 = [c(0, 1, 0), c(1, 1, 0)];
        let x01 = [c(0, 0, 1), c(1, 0, 1)];
        let x11 = [c(0, 1, 1), c(1, 1, 1)];
        let along = |row: [Real; 2]| mix(row[0], row[1], u);
        let [a, b, d, e] = [along(x00), along(x10), along(x01), along(x11)];
        let distance = mix(mix(a, b, v), mix(d, e, v), w);
        let dx = mix(mix(x00[1] - x00[0], x10[1] - x10[0], v), mix(x01[1] - x01[0], x11[1] - x11[0], v), w);
        let gradient = Vec3::new(dx, mix(b - a, e - d, w), mix(d, e, v) - mix(a, b, v));
        SignedDistance { distance, normal: gradient.try_normalize().unwrap_or(Vec3::Y) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(geometry: &Geometry, point: Vec3, distance: Real, normal: Vec3) {
        let found = Collider::new(geometry).unwrap().signed_distance(point, 100.0).unwrap();
        assert!((found.distance - distance).abs() < 1e-5, "{geometry:?}: {found:?}");
        assert!((found.normal - normal).length() < 1e-3, "{geometry:?}: {found:?}");
    }

    #[test]
    fn distances_and_normals_are_those_of_the_shapes() {
        check(&Geometry::HalfSpace { normal: Vec3::Y }, Vec3::new(3.0, 0.5, 1.0), 0.5, Vec3::Y);
        check(&Geometry::HalfSpace { normal: Vec3::Y }, Vec3::new(3.0, -0.5, 1.0), -0.5, Vec3::Y);
        check(&Geometry::Box { size: Vec3::splat(2.0) }, Vec3::new(3.0, 0.2, 0.0), 2.0, Vec3::X);
        check(&Geometry::Box { size: Vec3::splat(2.0) }, Vec3::new(0.9, 0.2, 0.0), -0.1, Vec3::X);
        check(&Geometry::Sphere { radius: 1.0 }, Vec3::new(0.0, 0.0, 2.0), 1.0, Vec3::Z);
        check(&Geometry::Capsule { radius: 0.5, height: 2.0 }, Vec3::new(0.0, 2.0, 0.0), 0.5, Vec3::Y);
        check(&Geometry::Cylinder { radius: 0.5, height: 2.0 }, Vec3::new(1.0, 0.9, 0.0), 0.5, Vec3::X);
        check(&Geometry::Cone { radius: 1.0, height: 2.0 }, Vec3::new(0.0, -2.0, 0.0), 1.0, Vec3::NEG_Y);
        // On the surface the normal is found by differences.
        check(&Geometry::Box { size: Vec3::splat(2.0) }, Vec3::new(1.0, 0.2, 0.0), 0.0, Vec3::X);
    }

    #[test]
    fn a_mesh_knows_its_inside() {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let mesh = Geometry::Mesh { positions: Arc::new(positions), triangles: Arc::new(triangles) };
        check(&mesh, Vec3::new(0.3, 0.3, -1.0), 1.0, Vec3::NEG_Z);
        check(&mesh, Vec3::new(0.2, 0.2, 0.05), -0.05, Vec3::NEG_Z);
        assert!(Collider::new(&mesh).unwrap().signed_distance(Vec3::splat(9.0), 0.1).is_none());
        assert!(Collider::new(&Geometry::Mesh { positions: Arc::default(), triangles: Arc::default() }).is_none());
    }

    #[test]
    fn a_grid_is_exact_for_a_plane() {
        let counts = [5, 5, 5];
        let at = |i: usize| Vec3::new((i % 5) as Real, (i / 5 % 5) as Real, (i / 25) as Real) * 0.5;
        let normal = Vec3::new(1.0, 2.0, 2.0) / 3.0;
        let values = (0..125).map(|i| at(i).dot(normal) - 0.7).collect();
        let grid = DistanceGrid { origin: Vec3::ZERO, cell: 0.5, counts, values };
        assert!(grid.is_valid());
        for point in [Vec3::new(0.1, 0.7, 1.9), Vec3::new(2.0, 2.0, 2.0), Vec3::ZERO] {
            check(&Geometry::Grid(Arc::new(grid.clone())), point, point.dot(normal) - 0.7, normal);
        }
        let outside = grid.signed_distance(Vec3::new(-0.3, 1.0, 1.0));
        assert!((outside.distance - (0.3f32 * 0.3 + 0.4 * 0.4).sqrt()).abs() < 0.3, "{outside:?}");
    }

    #[test]
    fn outside_its_grid_the_distance_is_a_lower_bound() {
        let at = |i: usize| Vec3::new((i % 9) as Real, (i / 9 % 9) as Real, (i / 81) as Real) * 0.3 - 1.2;
        let values = (0..729).map(|i| at(i).length() - 1.0).collect();
        let grid = DistanceGrid { origin: Vec3::splat(-1.2), cell: 0.3, counts: [9; 3], values };
        for point in [Vec3::new(5.0, 0.0, 0.0), Vec3::new(1.3, 1.0, -0.4), Vec3::new(-3.0, 2.0, 9.0)] {
            let found = grid.signed_distance(point);
            let exact = point.length() - 1.0;
            // The error of linear interpolation for a ball is cell^2/4 at most.
            assert!(found.distance <= exact + 0.03 && found.distance > 0.9 * exact - 0.1, "{point}: {found:?}");
            assert!(found.normal.dot(point.normalize()) > 0.9, "{point}: {found:?}");
        }
    }
}
