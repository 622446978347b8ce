//! How often a mesh winds around a point: the generalised winding number of `[JKS13]`, evaluated as in
//! `[BDS18]`.
//!
//! One inside a closed mesh, zero outside; in between near holes.

use super::bvh::{DEPTH, Tree};
use glam::{Mat3, Vec3};
use phyxel::Real;

/// A group of triangles farther away than this many of its radii acts as one. `[BDS18]` use 2 with terms up
/// to the third order; with terms up to the second this gives an error of one to three percent.
const FAR: Real = 3.0;
const FOUR_PI: Real = 4.0 * std::f32::consts::PI;

/// A group of triangles, seen from far away.
#[derive(Clone, Copy, Debug)]
struct Moments {
    /// Mean of the centres, weighted by area, m.
    centre: Vec3,
    /// Squared distance from which the group acts as one, m2.
    far: Real,
    area: Real,
    /// Sum of area times normal, m2.
    dipole: Vec3,
    /// Sum of (centre of triangle - centre) x (area times normal), as an outer product, m3.
    quadrupole: Mat3,
}

impl Moments {
    const NONE: Self = Self { centre: Vec3::ZERO, far: 0.0, area: 0.0, dipole: Vec3::ZERO, quadrupole: Mat3::ZERO };
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Part of the full solid angle under which a triangle is seen, positive from behind. `[vOS83]`.
fn solid_angle(point: Vec3, corners: &[Vec3; 3]) -> Real {
    let [a, b, c] = corners.map(|corner| corner - point);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let over = a.dot(b.cross(c));
    let under = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * libm::atan2f(over, under) / FOUR_PI
}

/// Moments of every node of a tree.
#[derive(Clone, Debug)]
pub(super) struct Winding {
    moments: Vec<Moments>,
}

impl Winding {
    pub fn new(tree: &Tree) -> Self {
        let mut moments = vec![Moments::NONE; tree.nodes.len()];
        for index in (0..tree.nodes.len()).rev() {
            let node = &tree.nodes[index];
            let mut sum = match node.second {
                0 => gather(tree.triangles[node.range()].iter().map(of_triangle), node.bounds.centre()),
                second => gather([moments[index + 1], moments[second as usize]].into_iter(), node.bounds.centre()),
            };
            let corners = tree.triangles[node.range()].iter().flatten();
            let radius = corners.map(|corner| corner.distance_squared(sum.centre)).fold(0.0, Real::max);
            sum.far = FAR * FAR * radius;
            moments[index] = sum;
        }
        Self { moments }
    }

    /// The winding number around `point`.
    pub fn number(&self, tree: &Tree, point: Vec3) -> Real {
        let mut total = 0.0;
        let mut stack = [0u32; DEPTH];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let index = stack[height];
            let moments = &self.moments[index as usize];
            let node = &tree.nodes[index as usize];
            if point.distance_squared(moments.centre) > moments.far {
                total += moments.winding(point);
            } else if node.second == 0 {
                total += tree.triangles[node.range()].iter().map(|t| solid_angle(point, t)).sum::<Real>();
            } else {
                stack[height] = node.second;
                stack[height + 1] = index + 1;
                height += 2;
            }
        }
        total
    }
}

fn of_triangle([a, b, c]: &[Vec3; 3]) -> Moments {
    let dipole = 0.5 * (*b - *a).cross(*c - *a);
    Moments { centre: (*a + *b + *c) / 3.0, area: dipole.length(), dipole, ..Moments::NONE }
}

/// The sum of groups, about their common centre or `fallback` when they have no area.
fn gather(parts: impl Iterator<Item = Moments> + Clone, fallback: Vec3) -> Moments {
    let area: Real = parts.clone().map(|part| part.area).sum();
    let weighted = parts.clone().map(|part| part.area * part.centre).sum::<Vec3>();
    let centre = if area > 0.0 { weighted / area } else { fallback };
    let start = Moments { centre, area, ..Moments::NONE };
    parts.fold(start, |mut sum, part| {
        sum.dipole += part.dipole;
        sum.quadrupole += part.quadrupole + outer(part.centre - centre, part.dipole);
        sum
    })
}

impl Moments {
    /// The first two terms of the Taylor series of `sum n . (x - p) / (4 pi |x - p|^3)` about the centre.
    fn winding(&self, point: Vec3) -> Real {
        let arm = self.centre - point;
        let inverse = 1.0 / arm.length_squared();
        let cubed = inverse * inverse.sqrt();
        let quadrupole = &self.quadrupole;
        let trace = quadrupole.x_axis.x + quadrupole.y_axis.y + quadrupole.z_axis.z;
        let along = arm.dot(*quadrupole * arm);
        (self.dipole.dot(arm) + trace - 3.0 * along * inverse) * cubed / FOUR_PI
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{TriangleMesh, fixtures};
    use crate::sample::Random;
    use glam::DVec3;

    fn exact(mesh: &TriangleMesh, point: Vec3) -> f64 {
        let angle = |triangle: usize| {
            let [a, b, c] = mesh.corners(triangle).map(|corner| corner.as_dvec3() - point.as_dvec3());
            let (la, lb, lc): (f64, f64, f64) = (a.length(), b.length(), c.length());
            let under = la * lb * lc + DVec3::dot(a, b) * lc + b.dot(c) * la + c.dot(a) * lb;
            2.0 * a.dot(b.cross(c)).atan2(under)
        };
        (0..mesh.triangles.len()).map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
    }

    /// A sphere of radius one with a hole around its top.
    fn pot() -> TriangleMesh {
        let (around, down) = (60u32, 40u32);
        let position = |i: u32| {
            let (angle, fall) = ((i % around) as Real / around as Real, (i / around) as Real / down as Real);
            let (angle, fall) = (std::f32::consts::TAU * angle, 0.6 + 2.5 * fall);
            Vec3::new(fall.sin() * angle.cos(), fall.cos(), -fall.sin() * angle.sin())
        };
        let mut mesh = TriangleMesh { positions: (0..around * (down + 1)).map(position).collect(), triangles: vec![] };
        for i in 0..around * down {
            let (row, next) = (i / around * around, (i + 1) % around);
            let [a, b, c, d] = [i, i + around, row + around + next, row + next];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
        mesh
    }

    #[test]
    fn the_tree_agrees_with_the_exact_sum() {
        let mesh = pot();
        let tree = Tree::new(&mesh);
        let winding = Winding::new(&tree);
        let mut random = Random::new(9);
        let mut worst: f64 = 0.0;
        for _ in 0..2000 {
            let point = (Vec3::new(random.unit(), random.unit(), random.unit()) * 2.0 - 1.0) * 1.5;
            let error = (f64::from(winding.number(&tree, point)) - exact(&mesh, point)).abs();
            worst = worst.max(error);
        }
        // The first term left out is at most about 1.5 / 3^2 of the share of a group at three radii, mostly far
        // less. It adds up to the most where a sphere is seen from its centre.
        assert!(worst < 0.035, "{worst}");
        assert!(winding.number(&tree, Vec3::ZERO) > 0.9);
        // In the opening the number passes through one half.
        assert!(winding.number(&tree, Vec3::Y * 0.7) > 0.5 && winding.number(&tree, Vec3::Y * 1.0) < 0.5);
    }

    #[test]
    fn a_triangle_seen_from_its_plane_has_no_angle() {
        let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
        assert_eq!(solid_angle(Vec3::new(3.0, 2.0, 0.0), &triangle), 0.0);
        // Just behind it, it fills half the view.
        assert!((solid_angle(Vec3::new(0.3, 0.3, -1e-4), &triangle) - 0.5).abs() < 1e-3);
    }

    #[test]
    fn a_cube_is_wound_around_once_and_two_in_each_other_twice() {
        let cube = fixtures::cube(Vec3::ZERO);
        let both = fixtures::both(&cube, &fixtures::cube(Vec3::splat(0.5)));
        let number = |mesh: &TriangleMesh, point: Vec3| {
            let tree = Tree::new(mesh);
            Winding::new(&tree).number(&tree, point)
        };
        // Sums of a dozen angles in single precision.
        assert!((number(&cube, Vec3::splat(0.1)) - 1.0).abs() < 1e-5);
        assert!(number(&cube, Vec3::splat(0.6)).abs() < 1e-5);
        assert!((number(&both, Vec3::splat(0.25)) - 2.0).abs() < 1e-5);
        assert!((number(&both, Vec3::splat(-0.25)) - 1.0).abs() < 1e-5);
        assert!(number(&both, Vec3::new(0.9, -0.4, 0.0)).abs() < 1e-5);
    }
}
