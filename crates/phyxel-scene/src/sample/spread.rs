//! Points spread evenly over a surface.

use super::{Random, SampleError};
use crate::mesh::TriangleMesh;
use glam::Vec3;
use phyxel::Real;
use phyxel::skin::Surfels;
use std::collections::HashMap;

/// Least distance of two points, in spacings. Darts thrown at a plane until none fits fill 0.547 of it with discs of that
/// diameter `[Fed80]`: one for each spacing squared are `sqrt(0.547 * 4/pi) = 0.835` apart. Giving up earlier, a little less.
const DISTANCE: Real = 0.81;
/// Triangles are cut into pieces that are no longer than this, in spacings. Each is a place for a dart.
const PIECE: Real = 0.35;
/// Radius of the discs, in spacings: together they cover every flat surface. No point of a piece is farther from its middle
/// than two thirds of its longest side, and where a dart finds no room another is nearer than the least distance.
pub(super) const RADIUS: Real = DISTANCE + PIECE * 2.0 / 3.0;
/// Rounds of throwing; in each, one of so many pieces gets its dart. So neighbours come in no order.
const ROUNDS: u64 = 8;
/// Normals with a larger product belong to one side of a body; darts on another do not take room away.
const SAME_SIDE: Real = 0.7;
/// One percent for the rounding of counts and of the message.
const MARGIN: f64 = 1.01;

/// Spreads about one surfel for each square of `spacing` metres over a surface, `limit` of them at most.
///
/// The result depends on the arguments only.
pub(crate) fn spread(mesh: &TriangleMesh, spacing: Real, seed: u64, limit: usize) -> Result<Surfels, SampleError> {
    if !(spacing.is_finite() && spacing > 0.0) {
        return Err(SampleError::BadSpacing { spacing });
    }
    let (area, edge) = (mesh.area(), f64::from(spacing));
    let longest = (0..mesh.triangles.len()).map(|t| longest_side(&mesh.corners(t)).1).fold(0.0, Real::max);
    // Along a needle without area there is room too.
    let enough = (area / limit.max(1) as f64).sqrt().max(f64::from(longest) / limit.max(1) as f64);
    if enough.is_nan() || enough > edge {
        let expected = (area / (edge * edge)).max(f64::from(longest) / edge);
        return Err(SampleError::TooManySurfels { expected, limit, spacing, enough: (MARGIN * enough) as Real });
    }
    let board = throw_darts(mesh, spacing, &Random::new(seed), limit);
    let count = board.positions.len();
    if count > limit {
        let enough = MARGIN * edge * (count as f64 / limit.max(1) as f64).sqrt();
        return Err(SampleError::TooManySurfels { expected: count as f64, limit, spacing, enough: enough as Real });
    }
    if area <= 0.0 || count == 0 {
        return Err(SampleError::NoArea);
    }
    Ok(Surfels::round(board.positions, &board.normals, RADIUS * spacing))
}

/// Throws darts at the middles of all pieces; those stick that find room. Ends early with one more than allowed.
fn throw_darts(mesh: &TriangleMesh, spacing: Real, random: &Random, limit: usize) -> Board {
    let mut board = Board::new(DISTANCE * spacing);
    for round in 0..ROUNDS {
        for triangle in 0..mesh.triangles.len() {
            let corners = mesh.corners(triangle);
            let across = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            let Some(normal) = across.try_normalize() else { continue };
            let random = random.fork(triangle as u64);
            for_each_piece(corners, PIECE * spacing, |number, middle| {
                if random.fork(number).below(ROUNDS) == round && board.positions.len() <= limit {
                    board.stick(middle, normal);
                }
            });
        }
    }
    board
}

/// The side of a triangle, counted from its first corner, that is longest, and its length, m.
fn longest_side(corners: &[Vec3; 3]) -> (usize, Real) {
    let length = |side: usize| corners[side].distance(corners[(side + 1) % 3]);
    (1..3).fold((0, length(0)), |longest, side| if length(side) > longest.1 { (side, length(side)) } else { longest })
}

/// Cuts a triangle across its longest side, and its parts again, until no side is longer than `length`; hands over a number
/// and the middle of each piece.
fn for_each_piece(corners: [Vec3; 3], length: Real, mut take: impl FnMut(u64, Vec3)) {
    let mut parts = vec![(corners, 1_u64)];
    while let Some((corners, number)) = parts.pop() {
        let (side, longest) = longest_side(&corners);
        let [from, to, tip] = [0, 1, 2].map(|k| corners[(side + k) % 3]);
        let between = 0.5 * (from + to);
        // Far from the origin there may be no number between two others.
        if longest <= length || between == from || between == to {
            take(number, (from + to + tip) / 3.0);
        } else {
            let number = number.wrapping_mul(2);
            parts.push(([from, between, tip], number));
            parts.push(([between, to, tip], number.wrapping_add(1)));
        }
    }
}

/// The darts that stick, findable by place.
struct Board {
    distance: Real,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// The latest dart in each cell with an edge of two distances.
    latest: HashMap<[i64; 3], u32>,
    /// The dart before in the same cell.
    before: Vec<Option<u32>>,
}

impl Board {
    fn new(distance: Real) -> Self {
        Self { distance, positions: Vec::new(), normals: Vec::new(), latest: HashMap::new(), before: Vec::new() }
    }

    fn cell(&self, point: Vec3) -> [i64; 3] {
        (point / (2.0 * self.distance)).to_array().map(|x| x.floor() as i64)
    }

    /// Keeps a dart if no other on its side is too near.
    fn stick(&mut self, point: Vec3, normal: Vec3) {
        if !self.has_room(point, normal) {
            return;
        }
        let number = self.positions.len() as u32;
        self.positions.push(point);
        self.normals.push(normal);
        let before = self.latest.insert(self.cell(point), number);
        self.before.push(before);
    }

    fn has_room(&self, point: Vec3, normal: Vec3) -> bool {
        let [low, high] = [-self.distance, self.distance].map(|way| self.cell(point + way));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let mut next = self.latest.get(&[x, y, z]).copied();
                    while let Some(number) = next {
                        let k = number as usize;
                        let near = self.positions[k].distance_squared(point) < self.distance * self.distance;
                        if near && self.normals[k].dot(normal) > SAME_SIDE {
                            return false;
                        }
                        next = self.before[k];
                    }
                }
            }
        }
        true
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
        let count = spread(mesh, spacing, 1, 1 << 20).unwrap().positions.len();
        count as f64 * f64::from(spacing * spacing) / mesh.area()
    }

    #[test]
    fn the_count_is_that_of_squares_of_the_spacing_whatever_the_triangles() {
        // A sphere has no rim. What darts fill varies by a part in a hundred at these numbers; what is left open is that
        // places for darts are not endless, which takes some from the last round and gives order to the first.
        for (cell, spacing) in [(0.02, 0.05), (0.05, 0.05), (0.1, 0.05), (0.1, 0.03)] {
            let ratio = ratio(&sphere(cell), spacing);
            assert!((ratio - 1.0).abs() < 0.05, "{cell} {spacing}: {ratio}");
        }
        // At a rim half of the room of a dart is outside. That is as if the sheet were wider by up to half a distance all
        // round: (1 + 0.81 * 0.05)^2 = 1.08.
        for edge in [0.01, 0.1, 1.0] {
            let ratio = ratio(&sheet(edge), 0.05);
            assert!(ratio > 0.97 && ratio < 1.12, "{edge}: {ratio}");
        }
    }

    #[test]
    fn discs_cover_every_point_of_a_flat_surface_and_none_is_crowded() {
        let spacing = 0.05;
        let surfels = spread(&sheet(0.3), spacing, 3, 1 << 20).unwrap();
        let mut random = Random::new(9);
        for _ in 0..5000 {
            let point = Vec3::new(random.unit(), 0.0, random.unit());
            let nearest = surfels.positions.iter().map(|x| x.distance(point)).fold(f32::INFINITY, f32::min);
            assert!(nearest < RADIUS * spacing, "{point}: {nearest}");
        }
        for (i, a) in surfels.positions.iter().enumerate() {
            assert!(surfels.positions[..i].iter().all(|b| a.distance(*b) >= DISTANCE * spacing));
        }
        for [a, b] in surfels.axes {
            assert!((a.cross(b) / (RADIUS * spacing).powi(2)).distance(Vec3::Y) < 1e-5, "{a} {b}");
        }
    }

    #[test]
    fn points_lie_on_the_surface_and_look_out_of_it() {
        let surfels = spread(&sphere(0.05), 0.05, 1, 1 << 20).unwrap();
        for (x, [a, b]) in surfels.positions.iter().zip(&surfels.axes) {
            // Chords of a twentieth of the radius are (0.05)^2/8 deep; corners of cells make them up to three times as long.
            assert!((x.length() - 1.0).abs() < 3e-3, "{x}");
            assert!(a.cross(*b).normalize().dot(x.normalize()) > 0.99, "{x}");
        }
    }

    #[test]
    fn both_sides_of_a_thin_plate_get_their_own() {
        let plate = Shape::Box { size: Vec3::new(1.0, 0.03, 1.0) }.surface(0.02).unwrap();
        let surfels = spread(&plate, 0.05, 1, 1 << 20).unwrap();
        let above = surfels.axes.iter().filter(|[a, b]| a.cross(*b).normalize().y > 0.9).count();
        let below = surfels.axes.iter().filter(|[a, b]| a.cross(*b).normalize().y < -0.9).count();
        assert!(above.min(below) > 390 && above.max(below) < 450, "{above} {below}");
    }

    #[test]
    fn the_same_seed_gives_the_same_points() {
        let mesh = sphere(0.1);
        let spread = |seed| spread(&mesh, 0.1, seed, 1 << 20).unwrap();
        assert_eq!(spread(5), spread(5));
        assert_ne!(spread(5), spread(6));
    }

    #[test]
    fn too_many_points_and_surfaces_without_area_are_refused() {
        let refused = |mesh: &TriangleMesh, spacing, limit| spread(mesh, spacing, 1, limit).unwrap_err().to_string();
        let error = refused(&sphere(0.1), 0.001, 10_000);
        let expected = sphere(0.1).area() / f64::from(0.001_f32).powi(2);
        assert!((expected / (4e6 * PI) - 1.0).abs() < 0.01);
        assert!(error.contains(&format!("about {expected:.0}, more")) && error.contains("limit of 10000"), "{error}");
        // As large as the message says is enough.
        let SampleError::TooManySurfels { enough, .. } = spread(&sphere(0.1), 0.001, 1, 10_000).unwrap_err() else {
            panic!("{error}");
        };
        assert!(spread(&sphere(0.1), 1.02 * enough, 1, 10_000).is_ok());
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
