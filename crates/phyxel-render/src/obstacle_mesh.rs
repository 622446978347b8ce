//! Triangle meshes of obstacles.

use glam::Vec3;
use phyxel::obstacle::{DistanceGrid, Geometry};
use phyxel::skin::{CREASE_ANGLE, corner_normals};
use std::collections::HashMap;
use std::f32::consts::{FRAC_PI_2, TAU};

/// Segments of a circle.
const SEGMENTS: u32 = 64;
/// Rings of a hemisphere.
const RINGS: u32 = 16;

/// Triangle mesh with normals, in the frame of the obstacle.
#[derive(Clone, Debug, Default)]
pub struct SurfaceMesh {
    /// Vertices, m.
    pub positions: Vec<Vec3>,
    /// Unit vectors, outward.
    pub normals: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Tessellates the surface of an obstacle; `None` for half spaces and spheres, which are rendered without triangles.
pub fn tessellate(geometry: &Geometry) -> Option<SurfaceMesh> {
    match geometry {
        Geometry::HalfSpace { .. } | Geometry::Sphere { .. } => None,
        Geometry::Box { size } => Some(cuboid(*size * 0.5)),
        Geometry::Capsule { radius, height } => Some(capsule(*radius, 0.5 * height)),
        Geometry::Cylinder { radius, height } => Some(cylinder(*radius, 0.5 * height)),
        Geometry::Cone { radius, height } => Some(cone(*radius, 0.5 * height)),
        Geometry::Mesh { positions, triangles } => Some(creased_mesh(positions, triangles)),
        Geometry::Grid(grid) => Some(surface_nets(grid)),
    }
}

/// Box with half sides.
fn cuboid(half: Vec3) -> SurfaceMesh {
    let mut mesh = SurfaceMesh::default();
    for axis in 0..3 {
        for sign in [1.0, -1.0] {
            let mut normal = Vec3::ZERO;
            normal[axis] = sign;
            let mut tangent = Vec3::ZERO;
            tangent[(axis + 1) % 3] = 1.0;
            let bitangent = normal.cross(tangent);
            let first = mesh.positions.len() as u32;
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                mesh.positions.push((normal + tangent * a + bitangent * b) * half);
                mesh.normals.push(normal);
            }
            mesh.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    mesh
}

/// Point of a profile and its normal, each by distance from the axis and height.
type ProfilePoint = ([f32; 2], [f32; 2]);

/// Surface of revolution of a profile about the y axis. The profile runs upwards; points in pairs are edges.
fn revolve(profile: &[ProfilePoint]) -> SurfaceMesh {
    let mut mesh = SurfaceMesh::default();
    for (point, normal) in profile {
        for segment in 0..=SEGMENTS {
            let (sin, cos) = libm::sincosf(TAU * segment as f32 / SEGMENTS as f32);
            mesh.positions.push(Vec3::new(point[0] * cos, point[1], point[0] * sin));
            mesh.normals.push(Vec3::new(normal[0] * cos, normal[1], normal[0] * sin).normalize_or_zero());
        }
    }
    for row in 0..profile.len().saturating_sub(1) as u32 {
        for segment in 0..SEGMENTS {
            let a = row * (SEGMENTS + 1) + segment;
            let above = a + SEGMENTS + 1;
            mesh.triangles.extend([[a, above, a + 1], [a + 1, above, above + 1]]);
        }
    }
    mesh
}

/// Capsule about the y axis; `half` is half the height of its cylinder.
fn capsule(radius: f32, half: f32) -> SurfaceMesh {
    let profile_point = |k: u32, sign: f32| {
        let (sin, cos) = libm::sincosf(FRAC_PI_2 * k as f32 / RINGS as f32);
        ([radius * cos, sign * (half + radius * sin)], [cos, sign * sin])
    };
    let profile: Vec<ProfilePoint> =
        (0..=RINGS).rev().map(|k| profile_point(k, -1.0)).chain((0..=RINGS).map(|k| profile_point(k, 1.0))).collect();
    revolve(&profile)
}

/// Cylinder about the y axis.
fn cylinder(radius: f32, half: f32) -> SurfaceMesh {
    let (low, high) = ([0.0, -1.0], [0.0, 1.0]);
    revolve(&[
        ([0.0, -half], low),
        ([radius, -half], low),
        ([radius, -half], [1.0, 0.0]),
        ([radius, half], [1.0, 0.0]),
        ([radius, half], high),
        ([0.0, half], high),
    ])
}

/// Cone about the y axis, with its apex at the top.
fn cone(radius: f32, half: f32) -> SurfaceMesh {
    let side_normal = [2.0 * half, radius];
    revolve(&[
        ([0.0, -half], [0.0, -1.0]),
        ([radius, -half], [0.0, -1.0]),
        ([radius, -half], side_normal),
        ([0.0, half], side_normal),
    ])
}

/// Mesh with interpolated normals and sharp edges.
fn creased_mesh(positions: &[Vec3], triangles: &[[u32; 3]]) -> SurfaceMesh {
    let mut mesh = SurfaceMesh::default();
    for (triangle, normals) in triangles.iter().zip(corner_normals(positions, triangles, CREASE_ANGLE)) {
        let first = mesh.positions.len() as u32;
        mesh.positions.extend(triangle.map(|i| positions[i as usize]));
        mesh.normals.extend(normals);
        mesh.triangles.push([first, first + 1, first + 2]);
    }
    mesh
}

/// Zero level set of a distance grid by naive surface nets `[Gib98]`: a vertex in each cell that the surface crosses,
/// and a quadrilateral for each grid edge that it crosses.
fn surface_nets(grid: &DistanceGrid) -> SurfaceMesh {
    let [nx, ny, nz] = grid.counts.map(|n| n as usize);
    let at = |x: usize, y: usize, z: usize| grid.values[x + nx * (y + ny * z)];
    let mut mesh = SurfaceMesh::default();
    let mut cell_vertices: HashMap<[usize; 3], u32> = HashMap::new();
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let corners: [f32; 8] = std::array::from_fn(|k| at(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)));
                let inside = corners.iter().filter(|&&value| value < 0.0).count();
                if (1..8).contains(&inside) {
                    let (offset, normal) = cell_vertex(&corners);
                    cell_vertices.insert([x, y, z], mesh.positions.len() as u32);
                    let position = Vec3::new(x as f32, y as f32, z as f32) + offset;
                    mesh.positions.push(grid.origin + grid.cell * position);
                    mesh.normals.push(normal);
                }
            }
        }
    }
    let mut cells: Vec<([usize; 3], u32)> = cell_vertices.iter().map(|(cell, vertex)| (*cell, *vertex)).collect();
    cells.sort_unstable_by_key(|(_, vertex)| *vertex);
    for (cell, vertex) in cells {
        for axis in 0..3 {
            let mut neighbour = cell;
            neighbour[axis] += 1;
            let (value, neighbour_value) =
                (at(cell[0], cell[1], cell[2]), at(neighbour[0], neighbour[1], neighbour[2]));
            if (value < 0.0) != (neighbour_value < 0.0) {
                add_quad(&mut mesh, &cell_vertices, cell, vertex, axis, value < 0.0);
            }
        }
    }
    mesh
}

/// Adds the quadrilateral dual to the grid edge from the lowest corner of a cell along an axis, if the four cells
/// around the edge have vertices.
fn add_quad(
    mesh: &mut SurfaceMesh,
    cell_vertices: &HashMap<[usize; 3], u32>,
    cell: [usize; 3],
    vertex: u32,
    axis: usize,
    is_outward: bool,
) {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    if cell[u] == 0 || cell[v] == 0 {
        return;
    }
    let vertex_before = |by_u: usize, by_v: usize| {
        let mut other = cell;
        other[u] -= by_u;
        other[v] -= by_v;
        cell_vertices.get(&other).copied()
    };
    if let (Some(a), Some(b), Some(c)) = (vertex_before(1, 0), vertex_before(1, 1), vertex_before(0, 1)) {
        let quad = if is_outward { [vertex, a, b, c] } else { [vertex, c, b, a] };
        mesh.triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
    }
}

/// Mean of the points where the edges of a cell cross the surface, in units of the cell, and the unit gradient.
fn cell_vertex(corners: &[f32; 8]) -> (Vec3, Vec3) {
    let corner = |k: usize| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32);
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    let mut gradient = Vec3::ZERO;
    for axis in 0..3 {
        for a in (0..8).filter(|a| a & (1 << axis) == 0) {
            let b = a | 1 << axis;
            gradient[axis] += corners[b] - corners[a];
            if (corners[a] < 0.0) != (corners[b] < 0.0) {
                sum += corner(a).lerp(corner(b), corners[a] / (corners[a] - corners[b]));
                count += 1.0;
            }
        }
    }
    (sum / count, gradient.normalize_or(Vec3::Y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn volume(mesh: &SurfaceMesh) -> f32 {
        let signed_volume = |[a, b, c]: [u32; 3]| {
            let [a, b, c] = [a, b, c].map(|i| mesh.positions[i as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        mesh.triangles.iter().map(|triangle| signed_volume(*triangle)).sum()
    }

    fn normals_match_winding(mesh: &SurfaceMesh) -> bool {
        mesh.triangles.iter().all(|[a, b, c]| {
            let [p, q, r] = [a, b, c].map(|&i| mesh.positions[i as usize]);
            let face_normal = (q - p).cross(r - p);
            [a, b, c].iter().all(|&&i| mesh.normals[i as usize].dot(face_normal) >= -1e-6)
        })
    }

    #[test]
    fn meshes_face_outward_and_have_the_volumes_of_their_shapes() {
        let pi = std::f32::consts::PI;
        let shapes = [
            (Geometry::Box { size: Vec3::new(1.0, 2.0, 3.0) }, 6.0),
            (Geometry::Capsule { radius: 1.0, height: 2.0 }, 2.0 * pi + 4.0 / 3.0 * pi),
            (Geometry::Cylinder { radius: 1.0, height: 2.0 }, 2.0 * pi),
            (Geometry::Cone { radius: 1.0, height: 3.0 }, pi),
        ];
        for (geometry, expected) in shapes {
            let mesh = tessellate(&geometry).unwrap();
            // 64 segments lose 0.2 % of the area of a circle, and 16 rings as much of the volume of a sphere.
            assert!((volume(&mesh) / expected - 1.0).abs() < 0.006, "{geometry:?}: {}", volume(&mesh));
            assert!(normals_match_winding(&mesh), "{geometry:?}");
        }
    }

    #[test]
    fn surface_nets_approximate_a_sphere() {
        let n = 33;
        let at = |i: usize| Vec3::new((i % n) as f32, (i / n % n) as f32, (i / (n * n)) as f32) * 0.1 - 1.6;
        let values = (0..n * n * n).map(|i| at(i).length() - 1.0).collect();
        let grid = DistanceGrid { origin: Vec3::splat(-1.6), cell: 0.1, counts: [n as u32; 3], values };
        let mesh = tessellate(&Geometry::Grid(Arc::new(grid))).unwrap();
        let exact = 4.0 / 3.0 * std::f32::consts::PI;
        assert!((volume(&mesh) / exact - 1.0).abs() < 0.02, "{}", volume(&mesh));
        assert!(mesh.positions.iter().zip(&mesh.normals).all(|(x, n)| x.normalize().dot(*n) > 0.99));
        assert!(normals_match_winding(&mesh));
    }

    #[test]
    fn meshes_keep_sharp_edges() {
        let corners = cuboid(Vec3::ONE);
        let shared: Vec<Vec3> =
            (0..8).map(|k| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32) * 2.0 - 1.0).collect();
        let index_of = |x: Vec3| shared.iter().position(|y| *y == x).unwrap() as u32;
        let triangles: Vec<[u32; 3]> =
            corners.triangles.iter().map(|t| t.map(|i| index_of(corners.positions[i as usize]))).collect();
        let creased = creased_mesh(&shared, &triangles);
        assert!(creased.normals.iter().all(|normal| normal.abs().max_element() > 0.999), "a cube keeps its edges");
    }
}
