//! Meshes with an inside.

use super::{MeshError, TriangleMesh, bvh::Tree, winding::Winding};
use crate::shape::Bounds;
use glam::Vec3;
use phyxel::Real;
use std::{fmt, sync::OnceLock};

/// When the volumes by triangles and by counting agree this well, the former is taken. Counting on cells of
/// 1/32 is good to about one percent.
const SOUND: f64 = 0.03;

/// The point of a mesh that is closest to another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// The point, m.
    pub point: Vec3,
    /// Number of a triangle that it is on.
    pub triangle: usize,
}

/// A mesh that tells inside from outside.
///
/// Inside is where the mesh winds around more than half: holes are closed by a surface in the air, and
/// pieces that cut through each other are one solid.
pub struct MeshSolid {
    mesh: TriangleMesh,
    bounds: Bounds,
    tree: Tree,
    winding: Winding,
    open_edges: usize,
    volume: OnceLock<f64>,
}

impl fmt::Debug for MeshSolid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeshSolid")
            .field("vertices", &self.mesh.positions.len())
            .field("triangles", &self.mesh.triangles.len())
            .field("bounds", &self.bounds)
            .field("open_edges", &self.open_edges)
            .finish()
    }
}

impl MeshSolid {
    /// Prepares a mesh for questions. Fails when the mesh does not pass [`TriangleMesh::check`].
    pub fn new(mesh: TriangleMesh) -> Result<Self, MeshError> {
        mesh.check()?;
        let bounds = mesh.bounds().ok_or(MeshError::NoTriangles)?;
        let tree = Tree::new(&mesh);
        let winding = Winding::new(&tree);
        let open_edges = mesh.open_edges();
        Ok(Self { mesh, bounds, tree, winding, open_edges, volume: OnceLock::new() })
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// The smallest box around the mesh.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Whether the mesh has no holes and all its triangles face the same way.
    pub fn is_closed(&self) -> bool {
        self.open_edges == 0
    }

    /// How often the mesh winds around `point`: one inside, zero outside, in between near holes.
    pub fn winding(&self, point: Vec3) -> Real {
        self.winding.number(&self.tree, point)
    }

    /// Whether `point` is inside.
    pub fn contains(&self, point: Vec3) -> bool {
        self.winding(point) > 0.5
    }

    /// The point of the mesh that is closest to `point`.
    pub fn closest(&self, point: Vec3) -> Closest {
        let (closest, place) = self.tree.closest(point);
        Closest { point: closest, triangle: self.tree.numbers[place] as usize }
    }

    /// Distance to the mesh, negative inside, m.
    pub fn distance(&self, point: Vec3) -> Real {
        let distance = self.tree.closest(point).0.distance(point);
        if self.contains(point) { -distance } else { distance }
    }

    /// Unit vector in which the distance grows fastest.
    pub fn gradient(&self, point: Vec3) -> Vec3 {
        self.sense(point).1
    }

    /// The distance, m and its gradient, in one go.
    pub(crate) fn sense(&self, point: Vec3) -> (Real, Vec3) {
        let (closest, place) = self.tree.closest(point);
        let away = point - closest;
        let distance = away.length();
        let signed = if self.contains(point) { -distance } else { distance };
        // Nearer than rounding, only the triangle knows the direction.
        if distance <= 1e-6 * self.bounds.size().max_element() {
            let [a, b, c] = self.tree.triangles[place];
            return (signed, (b - a).cross(c - a).normalize_or(Vec3::Y));
        }
        (signed, away.normalize_or(Vec3::Y) * signed.signum())
    }

    /// Volume of the inside, m3, worked out once; `count` measures it on cells of 1/8 of the mesh that are
    /// halved as often as it is told.
    ///
    /// The sum over the triangles is exact for sound meshes. Where the mesh has holes or cuts through
    /// itself, counting tells something else, and is right.
    pub(crate) fn volume(&self, count: impl Fn(u32) -> f64) -> f64 {
        *self.volume.get_or_init(|| {
            let summed = self.mesh.volume();
            let agrees = |counted: f64| (summed - counted).abs() <= SOUND * counted;
            match self.is_closed() {
                true if agrees(count(2)) => summed,
                true => count(4),
                // Without closed sheets to leap from, every further level takes four times as long.
                false => count(3),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::fixtures;
    use crate::shape::Shape;
    use std::sync::Arc;

    fn opened() -> TriangleMesh {
        let mut cube = fixtures::cube(Vec3::ZERO);
        cube.triangles.truncate(10);
        cube
    }

    #[test]
    fn a_cube_of_triangles_measures_like_a_box() -> Result<(), MeshError> {
        let solid = MeshSolid::new(fixtures::cube(Vec3::ZERO))?;
        let block = Shape::Box { size: Vec3::ONE };
        for i in 0..1000 {
            let i = i as Real;
            let point = Vec3::new((i * 0.37).sin(), (i * 0.71).sin(), (i * 1.3).sin()) * 0.9;
            assert!((solid.distance(point) - block.distance(point)).abs() < 1e-6, "at {point}");
            assert_eq!(solid.contains(point), block.contains(point));
        }
        assert_eq!(solid.gradient(Vec3::X), Vec3::X);
        assert_eq!(solid.gradient(Vec3::X * 0.3), Vec3::X);
        assert_eq!(solid.gradient(Vec3::new(0.5, 0.1, 0.2)), Vec3::X);
        assert!(solid.is_closed());
        Ok(())
    }

    #[test]
    fn a_cube_without_a_face_still_has_an_inside() -> Result<(), MeshError> {
        let solid = MeshSolid::new(opened())?;
        assert!(!solid.is_closed());
        // The face at z = 1/2 is missing; from the centre it would fill a sixth of the view.
        assert!((solid.winding(Vec3::ZERO) - 5.0 / 6.0).abs() < 1e-5);
        assert!(solid.contains(Vec3::ZERO) && solid.contains(Vec3::splat(-0.45)));
        assert!(!solid.contains(Vec3::Z * 0.6) && !solid.contains(Vec3::X * 0.6));
        // A flat hole is closed by a flat surface: behind it the missing face fills less than half of the view.
        let volume = Shape::Mesh(Arc::new(solid)).volume();
        assert!((volume - 1.0).abs() < 0.01, "{volume}");
        Ok(())
    }

    #[test]
    fn cubes_in_each_other_count_once() -> Result<(), MeshError> {
        let both = fixtures::both(&fixtures::cube(Vec3::ZERO), &fixtures::cube(Vec3::splat(0.5)));
        let solid = MeshSolid::new(both)?;
        assert!(solid.contains(Vec3::splat(0.25)) && solid.contains(Vec3::splat(-0.25)));
        assert!(solid.contains(Vec3::splat(0.75)) && !solid.contains(Vec3::new(0.9, -0.4, 0.0)));
        // 1 + 1 - 1/8, by counting cells of 1/85.
        let volume = Shape::Mesh(Arc::new(solid)).volume();
        assert!((volume - 1.875).abs() < 0.01, "{volume}");
        Ok(())
    }

    #[test]
    fn a_mesh_with_a_bad_index_is_refused() {
        let mut cube = fixtures::cube(Vec3::ZERO);
        cube.triangles[0][0] = 8;
        assert!(matches!(MeshSolid::new(cube), Err(MeshError::BadIndex { .. })));
    }
}
