//! Triangle surfaces: normals, topology, enclosed volume.

use crate::Real;
use crate::frame::Topology;
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
    // Triangles around each vertex, as compressed rows in index order.
    let mut offsets = vec![0; positions.len() + 1];
    triangles.as_flattened().iter().for_each(|&i| offsets[i as usize + 1] += 1);
    (1..offsets.len()).for_each(|i| offsets[i] += offsets[i - 1]);
    let (mut next, mut incident) = (offsets.clone(), vec![0; 3 * triangles.len()]);
    for (corner, &i) in triangles.as_flattened().iter().enumerate() {
        incident[next[i as usize]] = corner / 3;
        next[i as usize] += 1;
    }
    let min_cosine = libm::cosf(angle.to_radians());
    parallel::map(triangles.len(), 1 << 10, |t| {
        triangles[t].map(|i| {
            let incident = &incident[offsets[i as usize]..offsets[i as usize + 1]];
            let smooth = incident.iter().filter(|&&other| units[other].dot(units[t]) >= min_cosine);
            smooth.map(|&other| faces[other]).sum::<Vec3>().try_normalize().unwrap_or(units[t])
        })
    })
}

/// Volume enclosed by outward-oriented triangles, m3 (divergence theorem).
pub(crate) fn enclosed_volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let point = |i: u32| -> DVec3 { positions[i as usize].as_dvec3() };
    triangles.iter().map(|&[a, b, c]| point(a).dot(point(b).cross(point(c)))).sum::<f64>() / 6.0
}

/// Topology from edges and Euler characteristic.
pub(crate) fn surface_topology(triangles: &[[u32; 3]]) -> Topology {
    let count = triangles.iter().flatten().max().map_or(0, |&last| last as usize + 1);
    // Union-find over vertices; those without a triangle have no parent.
    let mut parent = vec![u32::MAX; count];
    // Half edges: both vertices, the smaller first, and whether it starts there.
    let mut edges: Vec<(u32, u32, bool)> = Vec::with_capacity(3 * triangles.len());
    for &[a, b, c] in triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            edges.push((from.min(to), from.max(to), from < to));
            let (x, y) = (find_root(&mut parent, from), find_root(&mut parent, to));
            parent[x.max(y) as usize] = x.min(y);
        }
    }
    parallel::sort_by_key(&mut edges, |&edge| edge);
    let undirected = || edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let closed = !triangles.is_empty() && undirected().all(|edge| edge.len() == 2 && edge[0].2 != edge[1].2);
    let vertices = parent.iter().filter(|&&vertex| vertex != u32::MAX).count();
    let pieces = (0..count as u32).filter(|&vertex| parent[vertex as usize] == vertex).count();
    let euler = vertices as i64 - undirected().count() as i64 + triangles.len() as i64;
    Topology { closed, pieces: pieces as u32, genus: (closed && pieces == 1).then_some((2 - euler) / 2) }
}

/// Root of the component of a vertex, which is added if it has no parent.
fn find_root(parent: &mut [u32], mut vertex: u32) -> u32 {
    if parent[vertex as usize] == u32::MAX {
        parent[vertex as usize] = vertex;
    }
    while parent[vertex as usize] != vertex {
        let grandparent = parent[parent[vertex as usize] as usize];
        parent[vertex as usize] = grandparent;
        vertex = grandparent;
    }
    vertex
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Vec3; 4] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    #[test]
    fn a_tetrahedron_is_closed_has_genus_0_and_a_sixth_of_the_cube() {
        assert_eq!(surface_topology(&FACES), Topology { closed: true, pieces: 1, genus: Some(0) });
        assert!((enclosed_volume(&CORNERS, &FACES) - 1.0 / 6.0).abs() < 1e-12);
        assert!(vertex_normals(&CORNERS, &FACES)[0].dot(Vec3::splat(-1.0)) > 1.7);
    }

    #[test]
    fn corners_are_smooth_below_the_crease_angle_and_sharp_above() {
        // Faces of this tetrahedron meet at 90 and at 125.3 degrees.
        let sharp = corner_normals(&CORNERS, &FACES, 80.0);
        let flat = [Vec3::NEG_Z, Vec3::NEG_Y, Vec3::NEG_X, Vec3::splat(3f32.sqrt().recip())];
        for (corners, flat) in sharp.iter().zip(flat) {
            assert!(corners.iter().all(|normal| normal.distance(flat) < 1e-6), "{corners:?}");
        }
        let smooth = vertex_normals(&CORNERS, &FACES);
        for (corners, face) in corner_normals(&CORNERS, &FACES, 180.0).iter().zip(FACES) {
            assert_eq!(*corners, face.map(|i| smooth[i as usize]));
        }
        // The three faces at the origin are within 100 degrees of each other, the fourth of none.
        let some = corner_normals(&CORNERS, &FACES, 100.0);
        assert!(some[0][0] == some[1][0] && some[0][0].dot(Vec3::splat(-1.0)) > 1.7);
        assert!(some[3][0].distance(flat[3]) < 1e-6);
    }

    #[test]
    fn a_missing_or_flipped_face_opens_it() {
        assert!(!surface_topology(&FACES[..3]).closed);
        assert!(!surface_topology(&[[0, 1, 2], FACES[1], FACES[2], FACES[3]]).closed);
    }

    #[test]
    fn components_are_counted_and_isolated_vertices_ignored() {
        let apart: Vec<[u32; 3]> = FACES.iter().chain(&FACES.map(|face| face.map(|i| i + 7))).copied().collect();
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
