//! Solids bounded by triangle meshes: inside test, signed distance, volume.

use super::{MeshError, TriangleMesh, bvh::Bvh, winding_number::WindingField};
use glam::Vec3;
use phyxel::Real;
use phyxel_laws::geometry::Aabb;
use std::{fmt, sync::OnceLock};

/// Relative difference up to which the volume by the divergence theorem is trusted over the volume by octree
/// cells. Cells of 1/32 are good to about one percent.
const VOLUME_TOLERANCE: f64 = 0.03;

/// Closest point of a mesh to a query point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// The point, m.
    pub point: Vec3,
    /// Index of a triangle that it lies on.
    pub triangle: usize,
}

/// Triangle mesh with an inside test by generalised winding numbers.
///
/// Inside is where the winding number exceeds one half: holes are closed by a surface in the air, and
/// components that intersect each other are one solid.
pub struct MeshSolid {
    mesh: TriangleMesh,
    bounds: Aabb,
    bvh: Bvh,
    winding_field: WindingField,
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
    /// Builds the acceleration structures of a mesh. Fails when the mesh does not pass [`TriangleMesh::check`].
    pub fn new(mesh: TriangleMesh) -> Result<Self, MeshError> {
        mesh.check()?;
        let bounds = mesh.bounds().ok_or(MeshError::NoTriangles)?;
        let tree = Bvh::new(&mesh);
        let winding = WindingField::new(&tree);
        let open_edges = mesh.open_edges();
        Ok(Self { mesh, bounds, bvh: tree, winding_field: winding, open_edges, volume: OnceLock::new() })
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// Axis-aligned bounding box of the mesh.
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// Returns true if the mesh is closed and consistently oriented.
    pub fn is_closed(&self) -> bool {
        self.open_edges == 0
    }

    /// Winding number at `point`: one inside, zero outside, in between near holes.
    pub fn winding_number(&self, point: Vec3) -> Real {
        self.winding_field.winding_number(&self.bvh, point)
    }

    /// Returns true if `point` is inside.
    pub fn contains(&self, point: Vec3) -> bool {
        self.winding_number(point) > 0.5
    }

    /// Returns the point of the mesh closest to `point`.
    pub fn closest(&self, point: Vec3) -> ClosestPoint {
        let (closest, slot) = self.bvh.closest(point);
        ClosestPoint { point: closest, triangle: self.bvh.triangle_ids[slot] as usize }
    }

    /// Signed distance to the mesh, negative inside, m.
    pub fn distance(&self, point: Vec3) -> Real {
        let distance = self.bvh.closest(point).0.distance(point);
        if self.contains(point) { -distance } else { distance }
    }

    /// Unit gradient of the signed distance.
    pub fn gradient(&self, point: Vec3) -> Vec3 {
        self.distance_and_gradient(point).1
    }

    /// Signed distance, m, and its unit gradient, by one query.
    pub(crate) fn distance_and_gradient(&self, point: Vec3) -> (Real, Vec3) {
        let (closest, slot) = self.bvh.closest(point);
        let away = point - closest;
        let distance = away.length();
        let signed = if self.contains(point) { -distance } else { distance };
        // Closer than rounding, only the triangle defines the direction.
        if distance <= 1e-6 * self.bounds.extent().max_element() {
            let [a, b, c] = self.bvh.triangles[slot];
            return (signed, (b - a).cross(c - a).normalize_or(Vec3::Y));
        }
        (signed, away.normalize_or(Vec3::Y) * signed.signum())
    }

    /// Volume of the inside, m3, computed once. `octree_volume` integrates it on cells of 1/8 of the bounds that
    /// are halved a given number of times.
    ///
    /// The divergence theorem is exact for sound meshes. Where the mesh has holes or intersects itself, the
    /// octree disagrees, and is right.
    pub(crate) fn volume(&self, octree_volume: impl Fn(u32) -> f64) -> f64 {
        *self.volume.get_or_init(|| {
            let summed = self.mesh.volume();
            let agrees_with = |integrated: f64| (summed - integrated).abs() <= VOLUME_TOLERANCE * integrated;
            match self.is_closed() {
                true if agrees_with(octree_volume(2)) => summed,
                true => octree_volume(4),
                // Without a continuous distance to cull by, every further level takes four times as long.
                false => octree_volume(3),
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
        assert!((solid.winding_number(Vec3::ZERO) - 5.0 / 6.0).abs() < 1e-5);
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
