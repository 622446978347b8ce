//! Obstacles as triangles.

use glam::Vec3;
use phyxel::obstacle::{DistanceGrid, Geometry};
use phyxel::skin::{CREASE_ANGLE, corner_normals};
use std::collections::HashMap;
use std::f32::consts::{FRAC_PI_2, TAU};

/// Sides of what is round.
const SIDES: u32 = 64;
/// Rows of a half ball.
const ROWS: u32 = 16;

/// A surface in its own frame.
#[derive(Clone, Debug, Default)]
pub struct Form {
    /// m.
    pub positions: Vec<Vec3>,
    /// Unit vectors, outward.
    pub normals: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// The surface of an obstacle; `None` for planes and balls, which need no triangles.
pub fn surface(geometry: &Geometry) -> Option<Form> {
    match geometry {
        Geometry::HalfSpace { .. } | Geometry::Sphere { .. } => None,
        Geometry::Box { size } => Some(cuboid(*size * 0.5)),
        Geometry::Capsule { radius, height } => Some(capsule(*radius, 0.5 * height)),
        Geometry::Cylinder { radius, height } => Some(cylinder(*radius, 0.5 * height)),
        Geometry::Cone { radius, height } => Some(cone(*radius, 0.5 * height)),
        Geometry::Mesh { positions, triangles } => Some(mesh(positions, triangles)),
        Geometry::Grid(grid) => Some(level(grid)),
    }
}

fn cuboid(half: Vec3) -> Form {
    let mut form = Form::default();
    for axis in 0..3 {
        for sign in [1.0, -1.0] {
            let mut normal = Vec3::ZERO;
            normal[axis] = sign;
            let mut across = Vec3::ZERO;
            across[(axis + 1) % 3] = 1.0;
            let up = normal.cross(across);
            let first = form.positions.len() as u32;
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                form.positions.push((normal + across * a + up * b) * half);
                form.normals.push(normal);
            }
            form.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    form
}

/// A point of an outline, and the normal there: distance from the axis, height.
type Outline = ([f32; 2], [f32; 2]);

/// The surface that an outline sweeps when it turns about y; outlines run upwards, points in pairs make an edge.
fn turned(outline: &[Outline]) -> Form {
    let mut form = Form::default();
    for (point, normal) in outline {
        for side in 0..=SIDES {
            let (sin, cos) = libm::sincosf(TAU * side as f32 / SIDES as f32);
            form.positions.push(Vec3::new(point[0] * cos, point[1], point[0] * sin));
            form.normals.push(Vec3::new(normal[0] * cos, normal[1], normal[0] * sin).normalize_or_zero());
        }
    }
    for row in 0..outline.len().saturating_sub(1) as u32 {
        for side in 0..SIDES {
            let a = row * (SIDES + 1) + side;
            let above = a + SIDES + 1;
            form.triangles.extend([[a, above, a + 1], [a + 1, above, above + 1]]);
        }
    }
    form
}

fn capsule(radius: f32, half: f32) -> Form {
    let row = |k: u32, sign: f32| {
        let (sin, cos) = libm::sincosf(FRAC_PI_2 * k as f32 / ROWS as f32);
        ([radius * cos, sign * (half + radius * sin)], [cos, sign * sin])
    };
    let outline: Vec<Outline> = (0..=ROWS).rev().map(|k| row(k, -1.0)).chain((0..=ROWS).map(|k| row(k, 1.0))).collect();
    turned(&outline)
}

fn cylinder(radius: f32, half: f32) -> Form {
    let (low, high) = ([0.0, -1.0], [0.0, 1.0]);
    turned(&[
        ([0.0, -half], low),
        ([radius, -half], low),
        ([radius, -half], [1.0, 0.0]),
        ([radius, half], [1.0, 0.0]),
        ([radius, half], high),
        ([0.0, half], high),
    ])
}

fn cone(radius: f32, half: f32) -> Form {
    let slope = [2.0 * half, radius];
    turned(&[
        ([0.0, -half], [0.0, -1.0]),
        ([radius, -half], [0.0, -1.0]),
        ([radius, -half], slope),
        ([0.0, half], slope),
    ])
}

/// A mesh with smooth normals, but sharp edges.
fn mesh(positions: &[Vec3], triangles: &[[u32; 3]]) -> Form {
    let mut form = Form::default();
    for (triangle, normals) in triangles.iter().zip(corner_normals(positions, triangles, CREASE_ANGLE)) {
        let first = form.positions.len() as u32;
        form.positions.extend(triangle.map(|i| positions[i as usize]));
        form.normals.extend(normals);
        form.triangles.push([first, first + 1, first + 2]);
    }
    form
}

/// The surface where distances on a grid are zero, by naive surface nets (Gibson 1998): a point in each cell that the
/// surface passes, a face across each edge.
fn level(grid: &DistanceGrid) -> Form {
    let [nx, ny, nz] = grid.counts.map(|n| n as usize);
    let at = |x: usize, y: usize, z: usize| grid.values[x + nx * (y + ny * z)];
    let mut form = Form::default();
    let mut points: HashMap<[usize; 3], u32> = HashMap::new();
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let corners: [f32; 8] = std::array::from_fn(|k| at(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)));
                let inside = corners.iter().filter(|&&value| value < 0.0).count();
                if (1..8).contains(&inside) {
                    let (offset, normal) = cell_point(&corners);
                    points.insert([x, y, z], form.positions.len() as u32);
                    let place = Vec3::new(x as f32, y as f32, z as f32) + offset;
                    form.positions.push(grid.origin + grid.cell * place);
                    form.normals.push(normal);
                }
            }
        }
    }
    let mut cells: Vec<([usize; 3], u32)> = points.iter().map(|(cell, point)| (*cell, *point)).collect();
    cells.sort_unstable_by_key(|(_, point)| *point);
    for (cell, point) in cells {
        for axis in 0..3 {
            let mut end = cell;
            end[axis] += 1;
            let (here, there) = (at(cell[0], cell[1], cell[2]), at(end[0], end[1], end[2]));
            if (here < 0.0) != (there < 0.0) {
                add_face(&mut form, &points, cell, point, axis, here < 0.0);
            }
        }
    }
    form
}

/// The face across the edge from the lowest corner of a cell along an axis, if the four cells around have points.
fn add_face(
    form: &mut Form,
    points: &HashMap<[usize; 3], u32>,
    cell: [usize; 3],
    point: u32,
    axis: usize,
    outward: bool,
) {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    if cell[u] == 0 || cell[v] == 0 {
        return;
    }
    let back = |by_u: usize, by_v: usize| {
        let mut other = cell;
        other[u] -= by_u;
        other[v] -= by_v;
        points.get(&other).copied()
    };
    if let (Some(a), Some(b), Some(c)) = (back(1, 0), back(1, 1), back(0, 1)) {
        let quad = if outward { [point, a, b, c] } else { [point, c, b, a] };
        form.triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
    }
}

/// Mean of the places where a cell's edges cross the surface, and the direction in which the distance grows.
fn cell_point(corners: &[f32; 8]) -> (Vec3, Vec3) {
    let place = |k: usize| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32);
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    let mut slope = Vec3::ZERO;
    for axis in 0..3 {
        for a in (0..8).filter(|a| a & (1 << axis) == 0) {
            let b = a | 1 << axis;
            slope[axis] += corners[b] - corners[a];
            if (corners[a] < 0.0) != (corners[b] < 0.0) {
                sum += place(a).lerp(place(b), corners[a] / (corners[a] - corners[b]));
                count += 1.0;
            }
        }
    }
    (sum / count, slope.normalize_or(Vec3::Y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn volume(form: &Form) -> f32 {
        let part = |[a, b, c]: [u32; 3]| {
            let [a, b, c] = [a, b, c].map(|i| form.positions[i as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        form.triangles.iter().map(|triangle| part(*triangle)).sum()
    }

    fn agrees_with_its_faces(form: &Form) -> bool {
        form.triangles.iter().all(|[a, b, c]| {
            let [p, q, r] = [a, b, c].map(|&i| form.positions[i as usize]);
            let flat = (q - p).cross(r - p);
            [a, b, c].iter().all(|&&i| form.normals[i as usize].dot(flat) >= -1e-6)
        })
    }

    #[test]
    fn forms_face_outward_and_have_their_volumes() {
        let pi = std::f32::consts::PI;
        let forms = [
            (Geometry::Box { size: Vec3::new(1.0, 2.0, 3.0) }, 6.0),
            (Geometry::Capsule { radius: 1.0, height: 2.0 }, 2.0 * pi + 4.0 / 3.0 * pi),
            (Geometry::Cylinder { radius: 1.0, height: 2.0 }, 2.0 * pi),
            (Geometry::Cone { radius: 1.0, height: 3.0 }, pi),
        ];
        for (geometry, expected) in forms {
            let form = surface(&geometry).unwrap();
            // 64 sides lose two thousandths of a circle, and 16 rows as much of a ball.
            assert!((volume(&form) / expected - 1.0).abs() < 0.006, "{geometry:?}: {}", volume(&form));
            assert!(agrees_with_its_faces(&form), "{geometry:?}");
        }
    }

    #[test]
    fn distances_become_a_surface() {
        let n = 33;
        let at = |i: usize| Vec3::new((i % n) as f32, (i / n % n) as f32, (i / (n * n)) as f32) * 0.1 - 1.6;
        let values = (0..n * n * n).map(|i| at(i).length() - 1.0).collect();
        let grid = DistanceGrid { origin: Vec3::splat(-1.6), cell: 0.1, counts: [n as u32; 3], values };
        let form = surface(&Geometry::Grid(Arc::new(grid))).unwrap();
        let ball = 4.0 / 3.0 * std::f32::consts::PI;
        assert!((volume(&form) / ball - 1.0).abs() < 0.02, "{}", volume(&form));
        assert!(form.positions.iter().zip(&form.normals).all(|(x, n)| x.normalize().dot(*n) > 0.99));
        assert!(agrees_with_its_faces(&form));
    }

    #[test]
    fn a_mesh_is_smooth_but_for_its_edges() {
        let corners = cuboid(Vec3::ONE);
        let shared: Vec<Vec3> =
            (0..8).map(|k| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32) * 2.0 - 1.0).collect();
        let number = |x: Vec3| shared.iter().position(|y| *y == x).unwrap() as u32;
        let triangles: Vec<[u32; 3]> =
            corners.triangles.iter().map(|t| t.map(|i| number(corners.positions[i as usize]))).collect();
        let form = mesh(&shared, &triangles);
        assert!(form.normals.iter().all(|normal| normal.abs().max_element() > 0.999), "a cube keeps its edges");
    }
}
