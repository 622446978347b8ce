//! Distances from obstacles: closed forms for planes and boxes, the geometry crate `parry3d` for the rest, or a grid.

use crate::Real;
use crate::obstacle::{DistanceGrid, Geometry};
use glam::Vec3;
use parry3d::query::{PointProjection, PointQuery};
use parry3d::shape::{Ball, Capsule, Cone, Cylinder, SharedShape, TriMesh, TriMeshFlags};
use std::sync::Arc;

/// The form of an obstacle, ready for questions.
#[derive(Clone)]
pub(crate) enum Collider {
    HalfSpace {
        normal: Vec3,
    },
    /// Half its size.
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

/// Signed distance from a surface and the direction out of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearness {
    /// m; negative inside.
    pub distance: Real,
    /// Unit vector.
    pub normal: Vec3,
}

impl Collider {
    /// `None` where a mesh has no usable triangle.
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

    /// Nearness of the surface, if it is within `reach` of the point (own frame) or the point is inside.
    pub fn nearness(&self, point: Vec3, reach: Real) -> Option<Nearness> {
        let found = match self {
            Self::HalfSpace { normal } => Nearness { distance: point.dot(*normal), normal: *normal },
            Self::Box { half } => box_nearness(*half, point, reach)?,
            Self::Shape(shape) => project(&**shape, point, shape.project_local_point(point, false)),
            // A mesh may be large: look no further than asked. Inside is found by the nearest triangle.
            Self::Mesh(mesh) => {
                let most = reach.max(mesh_depth(mesh));
                project(&**mesh, point, mesh.project_local_point_with_max_dist(point, false, most)?)
            }
            Self::Grid(grid) => grid.nearness(point),
        };
        (found.distance <= reach).then_some(found)
    }
}

/// Nearness of a box around the origin.
fn box_nearness(half: Vec3, point: Vec3, reach: Real) -> Option<Nearness> {
    let beyond = point.abs() - half;
    if beyond.max_element() > reach {
        return None;
    }
    let sign = Vec3::ONE.copysign(point);
    // Inside, the nearest face is the way out.
    let nearest = [Vec3::X, Vec3::Y, Vec3::Z][beyond.max_position()];
    if beyond.max_element() > 0.0 {
        let out = beyond.max(Vec3::ZERO);
        return Some(Nearness { distance: out.length(), normal: sign * out.normalize_or(nearest) });
    }
    Some(Nearness { distance: beyond.max_element(), normal: sign * nearest })
}

/// Distance and direction from the nearest point of a surface.
fn project(shape: &dyn PointQuery, point: Vec3, nearest: PointProjection) -> Nearness {
    let out = if nearest.is_inside { nearest.point - point } else { point - nearest.point };
    let length = out.length();
    let normal = if length > 1e-6 * (1.0 + point.length()) { out / length } else { steepest(shape, point) };
    Nearness { distance: if nearest.is_inside { -length } else { length }, normal }
}

/// Direction in which the distance grows, by differences; for points on the surface.
fn steepest(shape: &dyn PointQuery, point: Vec3) -> Vec3 {
    let step = 1e-4 * (1.0 + point.length());
    let distance = |at: Vec3| {
        let nearest = shape.project_local_point(at, false);
        let length = at.distance(nearest.point);
        if nearest.is_inside { -length } else { length }
    };
    let slope = [Vec3::X, Vec3::Y, Vec3::Z].map(|e| distance(point + e * step) - distance(point - e * step));
    Vec3::from_array(slope).try_normalize().unwrap_or(Vec3::Y)
}

/// Deepest that a point can be inside a mesh, m.
fn mesh_depth(mesh: &TriMesh) -> Real {
    mesh.local_aabb().extents().min_element()
}

impl DistanceGrid {
    /// Whether sizes fit and all values are finite.
    pub fn is_valid(&self) -> bool {
        let count = self.counts.iter().map(|&n| n as usize).product::<usize>();
        self.counts.iter().all(|&n| n >= 2)
            && self.values.len() == count
            && self.cell > 0.0
            && self.cell.is_finite()
            && self.origin.is_finite()
            && self.values.iter().all(|value| value.is_finite())
    }

    /// Nearness of the surface. Outside the grid the distance is the least that it can be: the surface is in the grid, so
    /// the way to the grid and that from there make a right angle or a wider one.
    fn nearness(&self, point: Vec3) -> Nearness {
        let top = Vec3::from_array(self.counts.map(|n| (n - 1) as Real));
        let place = (point - self.origin) / self.cell;
        let inside = place.clamp(Vec3::ZERO, top);
        let found = self.nearness_inside(inside, top);
        if inside == place {
            return found;
        }
        let (away, beyond) = ((place - inside) * self.cell, found.distance.max(0.0));
        let distance = (away.length_squared() + beyond * beyond).sqrt();
        Nearness { distance, normal: (away + found.normal * beyond).try_normalize().unwrap_or(found.normal) }
    }

    /// The same for a place in the grid, in cells from its first corner.
    fn nearness_inside(&self, place: Vec3, top: Vec3) -> Nearness {
        let base = place.floor().min(top - Vec3::ONE);
        let [u, v, w] = (place - base).to_array();
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
        let slope_x = mix(mix(x00[1] - x00[0], x10[1] - x10[0], v), mix(x01[1] - x01[0], x11[1] - x11[0], v), w);
        let slope = Vec3::new(slope_x, mix(b - a, e - d, w), mix(d, e, v) - mix(a, b, v));
        Nearness { distance, normal: slope.try_normalize().unwrap_or(Vec3::Y) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(geometry: &Geometry, point: Vec3, distance: Real, normal: Vec3) {
        let found = Collider::new(geometry).unwrap().nearness(point, 100.0).unwrap();
        assert!((found.distance - distance).abs() < 1e-5, "{geometry:?}: {found:?}");
        assert!((found.normal - normal).length() < 1e-3, "{geometry:?}: {found:?}");
    }

    #[test]
    fn distances_and_normals_are_those_of_the_forms() {
        check(&Geometry::HalfSpace { normal: Vec3::Y }, Vec3::new(3.0, 0.5, 1.0), 0.5, Vec3::Y);
        check(&Geometry::HalfSpace { normal: Vec3::Y }, Vec3::new(3.0, -0.5, 1.0), -0.5, Vec3::Y);
        check(&Geometry::Box { size: Vec3::splat(2.0) }, Vec3::new(3.0, 0.2, 0.0), 2.0, Vec3::X);
        check(&Geometry::Box { size: Vec3::splat(2.0) }, Vec3::new(0.9, 0.2, 0.0), -0.1, Vec3::X);
        check(&Geometry::Sphere { radius: 1.0 }, Vec3::new(0.0, 0.0, 2.0), 1.0, Vec3::Z);
        check(&Geometry::Capsule { radius: 0.5, height: 2.0 }, Vec3::new(0.0, 2.0, 0.0), 0.5, Vec3::Y);
        check(&Geometry::Cylinder { radius: 0.5, height: 2.0 }, Vec3::new(1.0, 0.9, 0.0), 0.5, Vec3::X);
        check(&Geometry::Cone { radius: 1.0, height: 2.0 }, Vec3::new(0.0, -2.0, 0.0), 1.0, Vec3::NEG_Y);
        // On the surface itself the direction is found by differences.
        check(&Geometry::Box { size: Vec3::splat(2.0) }, Vec3::new(1.0, 0.2, 0.0), 0.0, Vec3::X);
    }

    #[test]
    fn a_mesh_knows_its_inside() {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let mesh = Geometry::Mesh { positions: Arc::new(positions), triangles: Arc::new(triangles) };
        check(&mesh, Vec3::new(0.3, 0.3, -1.0), 1.0, Vec3::NEG_Z);
        check(&mesh, Vec3::new(0.2, 0.2, 0.05), -0.05, Vec3::NEG_Z);
        assert!(Collider::new(&mesh).unwrap().nearness(Vec3::splat(9.0), 0.1).is_none());
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
        let outside = grid.nearness(Vec3::new(-0.3, 1.0, 1.0));
        assert!((outside.distance - (0.3f32 * 0.3 + 0.4 * 0.4).sqrt()).abs() < 0.3, "{outside:?}");
    }

    #[test]
    fn outside_its_grid_a_form_is_as_near_as_it_can_be_and_never_farther_than_it_is() {
        let at = |i: usize| Vec3::new((i % 9) as Real, (i / 9 % 9) as Real, (i / 81) as Real) * 0.3 - 1.2;
        let values = (0..729).map(|i| at(i).length() - 1.0).collect();
        let grid = DistanceGrid { origin: Vec3::splat(-1.2), cell: 0.3, counts: [9; 3], values };
        for point in [Vec3::new(5.0, 0.0, 0.0), Vec3::new(1.3, 1.0, -0.4), Vec3::new(-3.0, 2.0, 9.0)] {
            let found = grid.nearness(point);
            let exact = point.length() - 1.0;
            // Linear interpolation of a ball bulges by cell^2/4 at most.
            assert!(found.distance <= exact + 0.03 && found.distance > 0.9 * exact - 0.1, "{point}: {found:?}");
            assert!(found.normal.dot(point.normalize()) > 0.9, "{point}: {found:?}");
        }
    }
}
