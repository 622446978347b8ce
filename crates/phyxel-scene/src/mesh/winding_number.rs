//! Generalised winding number of a triangle mesh `[JKS13]`, by the fast hierarchical evaluation of `[BDS18]`.
//!
//! One inside a closed mesh, zero outside; in between near holes.

use super::bvh::{Bvh, MAX_DEPTH};
use glam::{Mat3, Vec3};
use phyxel::Real;

/// Distance, in radii of a group of triangles, beyond which its multipole expansion is used. `[BDS18]` use 2
/// with terms up to the third order; with terms up to the second this gives an error of one to three percent.
const FAR_FIELD_RADII: Real = 3.0;
const FOUR_PI: Real = 4.0 * std::f32::consts::PI;

/// Multipole moments of a group of triangles.
#[derive(Clone, Copy, Debug)]
struct MultipoleMoments {
    /// Area-weighted mean of the centroids, m.
    centre: Vec3,
    /// Squared distance beyond which the expansion is used, m2.
    far_field: Real,
    area: Real,
    /// Sum of area times normal, m2.
    dipole: Vec3,
    /// Sum of the outer products (centroid - centre) x (area times normal), m3.
    quadrupole: Mat3,
}

impl MultipoleMoments {
    const ZERO: Self =
        Self { centre: Vec3::ZERO, far_field: 0.0, area: 0.0, dipole: Vec3::ZERO, quadrupole: Mat3::ZERO };
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Solid angle of a triangle as a fraction of the full one, positive from behind `[vOS83]`.
fn solid_angle(point: Vec3, corners: &[Vec3; 3]) -> Real {
    let [a, b, c] = corners.map(|corner| corner - point);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let numerator = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * libm::atan2f(numerator, denominator) / FOUR_PI
}

/// Multipole moments of every node of a bounding volume hierarchy.
#[derive(Clone, Debug)]
pub(super) struct WindingField {
    moments: Vec<MultipoleMoments>,
}

impl WindingField {
    pub fn new(bvh: &Bvh) -> Self {
        let mut moments = vec![MultipoleMoments::ZERO; bvh.nodes.len()];
        for index in (0..bvh.nodes.len()).rev() {
            let node = &bvh.nodes[index];
            let mut total = match node.second {
                0 => combine_moments(bvh.triangles[node.range()].iter().map(triangle_moments), node.bounds.centre()),
                second => {
                    combine_moments([moments[index + 1], moments[second as usize]].into_iter(), node.bounds.centre())
                }
            };
            let corners = bvh.triangles[node.range()].iter().flatten();
            let radius = corners.map(|corner| corner.distance_squared(total.centre)).fold(0.0, Real::max);
            total.far_field = FAR_FIELD_RADII * FAR_FIELD_RADII * radius;
            moments[index] = total;
        }
        Self { moments }
    }

    /// Returns the winding number at `point`.
    pub fn winding_number(&self, bvh: &Bvh, point: Vec3) -> Real {
        let mut total = 0.0;
        let mut stack = [0u32; MAX_DEPTH];
        let mut stack_len = 1;
        while stack_len > 0 {
            stack_len -= 1;
            let index = stack[stack_len];
            let moments = &self.moments[index as usize];
            let node = &bvh.nodes[index as usize];
            if point.distance_squared(moments.centre) > moments.far_field {
                total += moments.winding(point);
            } else if node.second == 0 {
                total += bvh.triangles[node.range()].iter().map(|t| solid_angle(point, t)).sum::<Real>();
            } else {
                stack[stack_len] = node.second;
                stack[stack_len + 1] = index + 1;
                stack_len += 2;
            }
        }
        total
    }
}

fn triangle_moments([a, b, c]: &[Vec3; 3]) -> MultipoleMoments {
    let dipole = 0.5 * (*b - *a).cross(*c - *a);
    MultipoleMoments { centre: (*a + *b + *c) / 3.0, area: dipole.length(), dipole, ..MultipoleMoments::ZERO }
}

/// Combines the moments of groups about their common centre, or about `fallback` when they have no area.
fn combine_moments(groups: impl Iterator<Item = MultipoleMoments> + Clone, fallback: Vec3) -> MultipoleMoments {
    let area: Real = groups.clone().map(|group| group.area).sum();
    let weighted = groups.clone().map(|group| group.area * group.centre).sum::<Vec3>();
    let centre = if area > 0.0 { weighted / area } else { fallback };
    let start = MultipoleMoments { centre, area, ..MultipoleMoments::ZERO };
    groups.fold(start, |mut sum, group| {
        sum.dipole += group.dipole;
        sum.quadrupole += group.quadrupole + outer(group.centre - centre, group.dipole);
        sum
    })
}

impl MultipoleMoments {
    /// Winding number at `point` by the first two terms of the Taylor series of `sum n . (x - p) / (4 pi |x -
    /// p|^3)` about the centre.
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
    use crate::sample::SequentialRng;
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
        let tree = Bvh::new(&mesh);
        let winding = WindingField::new(&tree);
        let mut random = SequentialRng::new(9);
        let mut worst: f64 = 0.0;
        for _ in 0..2000 {
            let point = (random.uniform_vec3() * 2.0 - 1.0) * 1.5;
            let error = (f64::from(winding.winding_number(&tree, point)) - exact(&mesh, point)).abs();
            worst = worst.max(error);
        }
        // The first neglected term is at most about 1.5 / 3^2 of the contribution of a group at three radii, mostly far
        // less. It adds up to the most where a sphere is seen from its centre.
        assert!(worst < 0.035, "{worst}");
        assert!(winding.winding_number(&tree, Vec3::ZERO) > 0.9);
        // In the opening the number passes through one half.
        assert!(
            winding.winding_number(&tree, Vec3::Y * 0.7) > 0.5 && winding.winding_number(&tree, Vec3::Y * 1.0) < 0.5
        );
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
            let tree = Bvh::new(mesh);
            WindingField::new(&tree).winding_number(&tree, point)
        };
        // Sums of a dozen angles in single precision.
        assert!((number(&cube, Vec3::splat(0.1)) - 1.0).abs() < 1e-5);
        assert!(number(&cube, Vec3::splat(0.6)).abs() < 1e-5);
        assert!((number(&both, Vec3::splat(0.25)) - 2.0).abs() < 1e-5);
        assert!((number(&both, Vec3::splat(-0.25)) - 1.0).abs() < 1e-5);
        assert!(number(&both, Vec3::new(0.9, -0.4, 0.0)).abs() < 1e-5);
    }
}
