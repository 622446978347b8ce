//! Poisson-disk sampling of surfaces by surfels.

use super::{SampleError, SequentialRng};
use crate::hash_grid::HashGrid;
use crate::mesh::TriangleMesh;
use glam::Vec3;
use phyxel::Real;
use phyxel::skin::Surfels;

/// Minimum distance of two points, in spacings. Random sequential addition of discs saturates at a coverage of 0.547
/// `[Fed80]`: one per spacing squared are `sqrt(0.547 * 4/pi) = 0.835` apart. Stopping earlier, a little less.
const MIN_DISTANCE: Real = 0.81;
/// Largest edge of the pieces that triangles are subdivided into, in spacings. Each gets one dart.
const MAX_PIECE_EDGE: Real = 0.35;
/// Radius of the discs, in spacings: together they cover every flat surface. No point of a piece is farther from its
/// centroid than two thirds of its longest edge, and where a dart is rejected another is within the minimum distance.
pub(super) const SURFEL_RADIUS: Real = MIN_DISTANCE + MAX_PIECE_EDGE * 2.0 / 3.0;
/// Passes of dart throwing; in each, one of so many pieces gets its dart, so that neighbours come in random order.
const PASSES: u64 = 8;
/// Cosine above which two normals belong to one side of a body; darts on another side do not conflict.
const SAME_SIDE_COS: Real = 0.7;
/// One percent for the rounding of counts and of the message.
const MARGIN: f64 = 1.01;

/// Scatters about one surfel per square of `spacing` metres over a surface, at most `limit` of them.
///
/// The result depends on the arguments only.
pub(crate) fn scatter_surfels(
    mesh: &TriangleMesh,
    spacing: Real,
    seed: u64,
    limit: usize,
) -> Result<Surfels, SampleError> {
    if !(spacing.is_finite() && spacing > 0.0) {
        return Err(SampleError::BadSpacing { spacing });
    }
    let (area, edge) = (mesh.area(), f64::from(spacing));
    let longest = (0..mesh.triangles.len()).map(|t| longest_edge(&mesh.corners(t)).1).fold(0.0, Real::max);
    // Needles without area take darts too.
    let enough = (area / limit.max(1) as f64).sqrt().max(f64::from(longest) / limit.max(1) as f64);
    if enough.is_nan() || enough > edge {
        let expected = (area / (edge * edge)).max(f64::from(longest) / edge);
        return Err(SampleError::TooManySurfels { expected, limit, spacing, enough: (MARGIN * enough) as Real });
    }
    let board = throw_darts(mesh, spacing, &SequentialRng::new(seed), limit);
    let count = board.positions.len();
    if count > limit {
        let enough = MARGIN * edge * (count as f64 / limit.max(1) as f64).sqrt();
        return Err(SampleError::TooManySurfels { expected: count as f64, limit, spacing, enough: enough as Real });
    }
    if area <= 0.0 || count == 0 {
        return Err(SampleError::NoArea);
    }
    Ok(Surfels::round(board.positions, &board.normals, SURFEL_RADIUS * spacing))
}

/// Throws darts at the centroids of all pieces and accepts those without conflict. Stops at one more than `limit`.
fn throw_darts(mesh: &TriangleMesh, spacing: Real, random: &SequentialRng, limit: usize) -> SurfaceBoard {
    let mut board = SurfaceBoard::new(MIN_DISTANCE * spacing);
    for pass in 0..PASSES {
        for triangle in 0..mesh.triangles.len() {
            let corners = mesh.corners(triangle);
            let doubled_normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            let Some(normal) = doubled_normal.try_normalize() else { continue };
            let random = random.fork(triangle as u64);
            for_each_piece(corners, MAX_PIECE_EDGE * spacing, |number, middle| {
                if random.fork(number).below(PASSES) == pass && board.positions.len() <= limit {
                    board.stick(middle, normal);
                }
            });
        }
    }
    board
}

/// Local index of the longest edge of a triangle, and its length, m.
fn longest_edge(corners: &[Vec3; 3]) -> (usize, Real) {
    let length = |side: usize| corners[side].distance(corners[(side + 1) % 3]);
    (1..3).fold((0, length(0)), |longest, side| if length(side) > longest.1 { (side, length(side)) } else { longest })
}

/// Bisects a triangle across its longest edge, recursively, until no edge is longer than `length`; visits the number
/// and the centroid of each piece.
fn for_each_piece(corners: [Vec3; 3], length: Real, mut visit: impl FnMut(u64, Vec3)) {
    let mut stack = vec![(corners, 1_u64)];
    while let Some((corners, number)) = stack.pop() {
        let (side, longest) = longest_edge(&corners);
        let [from, to, tip] = [0, 1, 2].map(|k| corners[(side + k) % 3]);
        let between = 0.5 * (from + to);
        // Far from the origin there may be no float between two others.
        if longest <= length || between == from || between == to {
            visit(number, (from + to + tip) / 3.0);
        } else {
            let number = number.wrapping_mul(2);
            stack.push(([from, between, tip], number));
            stack.push(([between, to, tip], number.wrapping_add(1)));
        }
    }
}

/// Accepted darts.
struct SurfaceBoard {
    distance: Real,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Indices of the darts, in cells with an edge of two distances.
    grid: HashGrid<u32>,
}

impl SurfaceBoard {
    fn new(distance: Real) -> Self {
        Self { distance, positions: Vec::new(), normals: Vec::new(), grid: HashGrid::new(2.0 * distance) }
    }

    /// Accepts a dart if no other on its side is too close.
    fn stick(&mut self, point: Vec3, normal: Vec3) {
        if !self.has_room(point, normal) {
            return;
        }
        self.grid.insert(point, self.positions.len() as u32);
        self.positions.push(point);
        self.normals.push(normal);
    }

    fn has_room(&self, point: Vec3, normal: Vec3) -> bool {
        !self.grid.around(point, self.distance).any(|index| {
            let k = *index as usize;
            let too_close = self.positions[k].distance_squared(point) < self.distance * self.distance;
            too_close && self.normals[k].dot(normal) > SAME_SIDE_COS
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use std::f64::consts::PI;

    /// A square of one metre, of triangles about as long as `edge`.
    fn sheet(edge: f32) -> TriangleMesh {
        let n = (1.0 / edge).round() as u32;
        let positions = (0..(n + 1) * (n + 1)).map(|i| Vec3::new((i % (n + 1)) as f32, 0.0, (i / (n + 1)) as f32));
        let fields = (0..n * n).map(|i| i % n + (n + 1) * (i / n));
        let triangles = fields.flat_map(|a| [[a, a + n + 1, a + 1], [a + 1, a + n + 1, a + n + 2]]);
        TriangleMesh { positions: positions.map(|x| x / n as f32).collect(), triangles: triangles.collect() }
    }

    fn sphere(cell: f32) -> TriangleMesh {
        Shape::Sphere { radius: 1.0 }.surface(cell).unwrap()
    }

    /// Points for each square of the spacing.
    fn ratio(mesh: &TriangleMesh, spacing: f32) -> f64 {
        let count = scatter_surfels(mesh, spacing, 1, 1 << 20).unwrap().positions.len();
        count as f64 * f64::from(spacing * spacing) / mesh.area()
    }

    #[test]
    fn the_count_is_that_of_squares_of_the_spacing_whatever_the_triangles() {
        // A sphere has no rim. The coverage scatters by a hundredth at these numbers; the rest is that the
        // set of candidate darts is finite, which takes some from the last pass and orders the first.
        for (cell, spacing) in [(0.02, 0.05), (0.05, 0.05), (0.1, 0.05), (0.1, 0.03)] {
            let ratio = ratio(&sphere(cell), spacing);
            assert!((ratio - 1.0).abs() < 0.05, "{cell} {spacing}: {ratio}");
        }
        // At a rim half of the disc of a dart is outside, as if the sheet were wider by up to half a distance all
        // round: (1 + 0.81 * 0.05)^2 = 1.08.
        for edge in [0.01, 0.1, 1.0] {
            let ratio = ratio(&sheet(edge), 0.05);
            assert!(ratio > 0.97 && ratio < 1.12, "{edge}: {ratio}");
        }
    }

    #[test]
    fn discs_cover_every_point_of_a_flat_surface_and_none_is_too_close() {
        let spacing = 0.05;
        let surfels = scatter_surfels(&sheet(0.3), spacing, 3, 1 << 20).unwrap();
        let mut random = SequentialRng::new(9);
        for _ in 0..5000 {
            let point = Vec3::new(random.uniform(), 0.0, random.uniform());
            let nearest = surfels.positions.iter().map(|x| x.distance(point)).fold(f32::INFINITY, f32::min);
            assert!(nearest < SURFEL_RADIUS * spacing, "{point}: {nearest}");
        }
        for (i, a) in surfels.positions.iter().enumerate() {
            assert!(surfels.positions[..i].iter().all(|b| a.distance(*b) >= MIN_DISTANCE * spacing));
        }
        for [a, b] in surfels.axes {
            assert!((a.cross(b) / (SURFEL_RADIUS * spacing).powi(2)).distance(Vec3::Y) < 1e-5, "{a} {b}");
        }
    }

    #[test]
    fn points_lie_on_the_surface_and_look_out_of_it() {
        let surfels = scatter_surfels(&sphere(0.05), 0.05, 1, 1 << 20).unwrap();
        for (x, [a, b]) in surfels.positions.iter().zip(&surfels.axes) {
            // Chords of a twentieth of the radius are (0.05)^2/8 deep; corners of cells make them up to three
            // times as long.
            assert!((x.length() - 1.0).abs() < 3e-3, "{x}");
            assert!(a.cross(*b).normalize().dot(x.normalize()) > 0.99, "{x}");
        }
    }

    #[test]
    fn both_sides_of_a_thin_plate_get_their_own() {
        let plate = Shape::Box { size: Vec3::new(1.0, 0.03, 1.0) }.surface(0.02).unwrap();
        let surfels = scatter_surfels(&plate, 0.05, 1, 1 << 20).unwrap();
        let above = surfels.axes.iter().filter(|[a, b]| a.cross(*b).normalize().y > 0.9).count();
        let below = surfels.axes.iter().filter(|[a, b]| a.cross(*b).normalize().y < -0.9).count();
        assert!(above.min(below) > 390 && above.max(below) < 450, "{above} {below}");
    }

    #[test]
    fn the_same_seed_gives_the_same_points() {
        let mesh = sphere(0.1);
        let spread = |seed| scatter_surfels(&mesh, 0.1, seed, 1 << 20).unwrap();
        assert_eq!(spread(5), spread(5));
        assert_ne!(spread(5), spread(6));
    }

    #[test]
    fn too_many_points_and_surfaces_without_area_are_refused() {
        let refused =
            |mesh: &TriangleMesh, spacing, limit| scatter_surfels(mesh, spacing, 1, limit).unwrap_err().to_string();
        let error = refused(&sphere(0.1), 0.001, 10_000);
        let expected = sphere(0.1).area() / f64::from(0.001_f32).powi(2);
        assert!((expected / (4e6 * PI) - 1.0).abs() < 0.01);
        assert!(error.contains(&format!("about {expected:.0}, more")) && error.contains("limit of 10000"), "{error}");
        // As large as the message says is enough.
        let SampleError::TooManySurfels { enough, .. } = scatter_surfels(&sphere(0.1), 0.001, 1, 10_000).unwrap_err()
        else {
            panic!("{error}");
        };
        assert!(scatter_surfels(&sphere(0.1), 1.02 * enough, 1, 10_000).is_ok());
        let line = |length: f32| TriangleMesh {
            positions: vec![Vec3::ZERO, length * Vec3::X, 2.0 * length * Vec3::X],
            triangles: vec![[0, 1, 2]],
        };
        assert!(refused(&line(1.0), 0.1, 100).contains("no area"));
        assert!(refused(&line(1e6), 0.1, 100).contains("surfels"));
        assert!(refused(&sphere(0.1), 0.0, 100).contains("greater than zero"));
        assert!(refused(&sphere(0.1), f32::NAN, 100).contains("greater than zero"));
    }
}
