//! Triangle surfaces: normals, topology, enclosed volume.

use crate::Real;
use crate::frame::Topology;
use crate::numerics::{Csr, UnionFind};
use crate::parallel;
use glam::{DVec3, Vec3};

/// Area-weighted unit normals at vertices; zero at vertices without a triangle.
pub(crate) fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| positions[i as usize]);
        let normal = (b - a).cross(c - a);
        triangle.iter().for_each(|&i| normals[i as usize] += normal);
    }
    parallel::for_each_chunk(&mut normals, 1 << 14, |_, chunk| {
        chunk.iter_mut().for_each(|normal| *normal = normal.normalize_or_zero());
    });
    normals
}

/// Unit normals at the corners of each triangle, for a surface with creases.
///
/// They are area-weighted over the triangles around the vertex whose normal is within `angle` (degrees) of
/// that of the corner's triangle. Corners with the same set of triangles have bitwise equal normals.
pub fn corner_normals(positions: &[Vec3], triangles: &[[u32; 3]], angle: Real) -> Vec<[Vec3; 3]> {
    let faces: Vec<Vec3> = triangles
        .iter()
        .map(|triangle| {
            let [a, b, c] = triangle.map(|i| positions[i as usize]);
            (b - a).cross(c - a)
        })
        .collect();
    let units: Vec<Vec3> = faces.iter().map(|face| face.normalize_or_zero()).collect();
    let incident = Csr::new(positions.len(), || triangles.as_flattened().iter().zip(0u32..).map(|(&i, k)| (i, k / 3)));
    let min_cosine = libm::cosf(angle.to_radians());
    parallel::map(triangles.len(), 1 << 10, |t| {
        triangles[t].map(|i| {
            let incident = incident.row(i as usize).iter().map(|&other| other as usize);
            let smooth = incident.filter(|&other| units[other].dot(units[t]) >= min_cosine);
            smooth.map(|other| faces[other]).sum::<Vec3>().try_normalize().unwrap_or(units[t])
        })
    })
}

/// Volume enclosed by outward-oriented triangles, m3 (divergence theorem).
pub(crate) fn enclosed_volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let point = |i: u32| -> DVec3 { positions[i as usize].as_dvec3() };
    triangles.iter().map(|&[a, b, c]| point(a).dot(point(b).cross(point(c)))).sum::<f64>() / 6.0
}

/// Connectivity of a triangle surface. Vertices are the same when their indices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfaceConnectivity {
    /// Vertices of triangles.
    pub vertices: usize,
    /// Undirected edges.
    pub edges: usize,
    /// Triangles.
    pub triangles: usize,
    /// Connected components (by shared vertices).
    pub components: usize,
    /// Edges that triangles do not traverse equally often in both directions.
    pub open_edges: usize,
    /// True if every edge joins two triangles that traverse it in opposite directions, and there are any.
    pub is_closed: bool,
}

impl SurfaceConnectivity {
    /// Counts vertices, edges and components.
    pub fn new(triangles: &[[u32; 3]]) -> Self {
        let count = triangles.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let (mut sets, mut is_used) = (UnionFind::new(count), vec![false; count]);
        // Half edges: both vertices, the smaller first, and whether it starts there.
        let mut half_edges: Vec<(u32, u32, bool)> = Vec::with_capacity(3 * triangles.len());
        for &[a, b, c] in triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                half_edges.push((from.min(to), from.max(to), from < to));
                sets.union([from, to]);
                is_used[from as usize] = true;
            }
        }
        parallel::sort_by_key(&mut half_edges, |&edge| edge);
        let (mut edges, mut open_edges, mut is_closed) = (0, 0, !triangles.is_empty());
        for edge in half_edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let forward = edge.iter().filter(|half_edge| half_edge.2).count();
            edges += 1;
            open_edges += usize::from(2 * forward != edge.len());
            is_closed &= (forward, edge.len()) == (1, 2);
        }
        let vertices = is_used.iter().filter(|is_used| **is_used).count();
        let components = sets.component_count() as usize - (count - vertices);
        Self { vertices, edges, triangles: triangles.len(), components, open_edges, is_closed }
    }

    /// Euler characteristic `V - E + F`.
    pub fn euler_characteristic(&self) -> i64 {
        self.vertices as i64 - self.edges as i64 + self.triangles as i64
    }
}

/// Topology from edges and Euler characteristic.
pub(crate) fn surface_topology(triangles: &[[u32; 3]]) -> Topology {
    let connectivity = SurfaceConnectivity::new(triangles);
    let SurfaceConnectivity { components, is_closed, .. } = connectivity;
    let genus = (is_closed && components == 1).then(|| (2 - connectivity.euler_characteristic()) / 2);
    Topology { closed: is_closed, pieces: components as u32, genus }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_laws::tet_topology::FACES;

    const CORNERS: [Vec3; 4] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    /// Faces of the tetrahedron.
    fn faces() -> [[u32; 3]; 4] {
        FACES.map(|face| face.map(|corner| corner as u32))
    }

    #[test]
    fn a_tetrahedron_is_closed_has_genus_0_and_a_sixth_of_the_cube() {
        assert_eq!(surface_topology(&faces()), Topology { closed: true, pieces: 1, genus: Some(0) });
        let connectivity = SurfaceConnectivity::new(&faces());
        assert_eq!((connectivity.vertices, connectivity.edges, connectivity.euler_characteristic()), (4, 6, 2));
        assert!((enclosed_volume(&CORNERS, &faces()) - 1.0 / 6.0).abs() < 1e-12);
        assert!(vertex_normals(&CORNERS, &faces())[0].dot(Vec3::splat(-1.0)) > 1.7);
    }

    #[test]
    fn corners_are_smooth_below_the_crease_angle_and_sharp_above() {
        // Faces of this tetrahedron meet at 90 and at 125.3 degrees.
        let sharp = corner_normals(&CORNERS, &faces(), 80.0);
        let flat = [Vec3::NEG_Z, Vec3::NEG_Y, Vec3::NEG_X, Vec3::splat(3f32.sqrt().recip())];
        for (corners, flat) in sharp.iter().zip(flat) {
            assert!(corners.iter().all(|normal| normal.distance(flat) < 1e-6), "{corners:?}");
        }
        let smooth = vertex_normals(&CORNERS, &faces());
        for (corners, face) in corner_normals(&CORNERS, &faces(), 180.0).iter().zip(faces()) {
            assert_eq!(*corners, face.map(|i| smooth[i as usize]));
        }
        // The three faces at the origin are within 100 degrees of each other, the fourth of none.
        let some = corner_normals(&CORNERS, &faces(), 100.0);
        assert!(some[0][0] == some[1][0] && some[0][0].dot(Vec3::splat(-1.0)) > 1.7);
        assert!(some[3][0].distance(flat[3]) < 1e-6);
    }

    #[test]
    fn a_missing_or_flipped_face_opens_it() {
        assert!(!surface_topology(&faces()[..3]).closed);
        assert_eq!(SurfaceConnectivity::new(&faces()[..3]).open_edges, 3);
        let [_, rest @ ..] = faces();
        assert!(!surface_topology(&[[0, 1, 2], rest[0], rest[1], rest[2]]).closed);
    }

    #[test]
    fn components_are_counted_and_isolated_vertices_ignored() {
        let apart: Vec<[u32; 3]> = faces().into_iter().chain(faces().map(|face| face.map(|i| i + 7))).collect();
        assert_eq!(surface_topology(&apart), Topology { closed: true, pieces: 2, genus: None });
        assert_eq!(surface_topology(&[]), Topology { closed: false, pieces: 0, genus: None });
    }

    #[test]
    fn a_torus_has_genus_1() {
        let n = 8;
        let at = |i: u32, j: u32| (i % n) * n + j % n;
        let quads = (0..n * n).map(|k| (k / n, k % n));
        let triangles: Vec<[u32; 3]> = quads
            .flat_map(|(i, j)| [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]])
            .collect();
        assert_eq!(surface_topology(&triangles), Topology { closed: true, pieces: 1, genus: Some(1) });
    }
}
