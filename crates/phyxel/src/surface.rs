//! Triangle surfaces: normals, closedness, handles, volume.

use crate::frame::Topology;
use crate::parallel;
use glam::{DVec3, Vec3};
use std::collections::HashMap;

/// Unit normals at vertices, each triangle weighted by its area. Zero where there is no triangle.
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

/// Volume enclosed by outward triangles, m3.
pub(crate) fn enclosed_volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let point = |i: u32| -> DVec3 { positions[i as usize].as_dvec3() };
    triangles.iter().map(|&[a, b, c]| point(a).dot(point(b).cross(point(c)))).sum::<f64>() / 6.0
}

/// Looks at the edges of a surface.
pub(crate) fn topology(triangles: &[[u32; 3]]) -> Topology {
    let mut edges: HashMap<(u32, u32), (u32, i32)> = HashMap::new();
    let mut parent: HashMap<u32, u32> = HashMap::new();
    for &[a, b, c] in triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (edge, way) = if from < to { ((from, to), 1) } else { ((to, from), -1) };
            let entry = edges.entry(edge).or_default();
            *entry = (entry.0 + 1, entry.1 + way);
            let (x, y) = (root(&mut parent, from), root(&mut parent, to));
            parent.insert(x.max(y), x.min(y));
        }
    }
    let vertices: Vec<u32> = parent.keys().copied().collect();
    let pieces = vertices.iter().filter(|&&v| root(&mut parent, v) == v).count();
    let closed = !triangles.is_empty() && edges.values().all(|&(count, ways)| count == 2 && ways == 0);
    let euler = vertices.len() as i64 - edges.len() as i64 + triangles.len() as i64;
    Topology { closed, pieces: pieces as u32, genus: (closed && pieces == 1).then_some((2 - euler) / 2) }
}

fn root(parent: &mut HashMap<u32, u32>, mut vertex: u32) -> u32 {
    loop {
        let up = *parent.entry(vertex).or_insert(vertex);
        if up == vertex {
            return vertex;
        }
        let further = parent[&up];
        parent.insert(vertex, further);
        vertex = up;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Vec3; 4] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    #[test]
    fn a_tetrahedron_is_closed_has_no_handle_and_a_sixth_of_the_cube() {
        assert_eq!(topology(&FACES), Topology { closed: true, pieces: 1, genus: Some(0) });
        assert!((enclosed_volume(&CORNERS, &FACES) - 1.0 / 6.0).abs() < 1e-12);
        assert!(vertex_normals(&CORNERS, &FACES)[0].dot(Vec3::splat(-1.0)) > 1.7);
    }

    #[test]
    fn a_missing_or_turned_face_opens_it() {
        assert!(!topology(&FACES[..3]).closed);
        assert!(!topology(&[[0, 1, 2], FACES[1], FACES[2], FACES[3]]).closed);
    }

    #[test]
    fn a_torus_has_one_handle() {
        let n = 8;
        let at = |i: u32, j: u32| (i % n) * n + j % n;
        let quads = (0..n * n).map(|k| (k / n, k % n));
        let triangles: Vec<[u32; 3]> = quads
            .flat_map(|(i, j)| [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]])
            .collect();
        assert_eq!(topology(&triangles), Topology { closed: true, pieces: 1, genus: Some(1) });
    }
}
