//! Quality measures of tetrahedral meshes.

use super::{GRAIN, TetraMesh};
use glam::DVec3;
use phyxel::parallel;
use phyxel_laws::fem::EDGES;
use phyxel_laws::tet_topology::FACES;
use std::fmt;

/// Quality measures of a tetrahedral mesh, and repairs that were made to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetraQuality {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of elements.
    pub elements: usize,
    /// Volume of all elements, m3.
    pub volume: f64,
    /// Smallest dihedral angle, degrees; 70.5 in a regular element.
    pub min_dihedral: f64,
    /// Largest dihedral angle, degrees.
    pub max_dihedral: f64,
    /// Largest aspect ratio, of longest edge to smallest height, normalised to 1 in a regular element.
    pub worst_aspect: f64,
    /// Inverted elements, whose orientation was corrected by swapping two corners.
    pub inverted: usize,
    /// Unused nodes that were removed.
    pub unused: usize,
}

/// Smallest and largest dihedral angle, radians, and aspect ratio of an element.
type ElementMeasures = (f64, f64, f64);

fn worst_of(a: ElementMeasures, b: ElementMeasures) -> ElementMeasures {
    (a.0.min(b.0), a.1.max(b.1), a.2.max(b.2))
}

/// Measures of an element. Angles are computed by `atan2`, which is accurate near 0 and 180 degrees too.
fn measure(corners: [DVec3; 4]) -> ElementMeasures {
    // Twice the area of each face, pointing outwards.
    let normals = FACES.map(|[a, b, c]| (corners[b] - corners[a]).cross(corners[c] - corners[a]));
    let mut worst = (f64::INFINITY, 0.0, 0.0);
    for (i, j) in EDGES {
        let (a, b): (DVec3, DVec3) = (normals[i], normals[j]);
        let angle = libm::atan2(a.cross(b).length(), -a.dot(b));
        worst = worst_of(worst, (angle, angle, 0.0));
    }
    let longest = EDGES.iter().map(|(i, j)| corners[*i].distance(corners[*j])).fold(0.0, f64::max);
    let largest_face = normals.iter().map(|normal| normal.length()).fold(0.0, f64::max);
    let six_volumes = normals[0].dot(corners[0] - corners[3]).abs();
    // The height on a face is six volumes over twice its area; it is sqrt(2/3) of an edge in a regular element.
    let aspect = longest * largest_face / six_volumes * libm::sqrt(2.0 / 3.0);
    worst_of(worst, (f64::INFINITY, 0.0, aspect))
}

/// Smallest dihedral angle of an element of either orientation, radians.
pub(super) fn min_dihedral(corners: [DVec3; 4]) -> f64 {
    measure(corners).0
}

impl TetraQuality {
    /// Measures a mesh that nothing had to be done to. Without elements, the angles are not meaningful.
    pub fn of(mesh: &TetraMesh) -> Self {
        let ranges = parallel::map_ranges(mesh.elements.len(), GRAIN, |range| {
            range.map(|element| measure(mesh.corners(element))).fold((f64::INFINITY, 0.0, 0.0), worst_of)
        });
        let (min, max, worst_aspect) = ranges.into_iter().fold((f64::INFINITY, 0.0, 0.0), worst_of);
        Self {
            nodes: mesh.positions.len(),
            elements: mesh.elements.len(),
            volume: mesh.volume(),
            min_dihedral: min.to_degrees(),
            max_dihedral: max.to_degrees(),
            worst_aspect,
            inverted: 0,
            unused: 0,
        }
    }
}

impl fmt::Display for TetraQuality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} tetrahedra over {} nodes, {:.4e} m3, dihedral angles from {:.1} to {:.1} degrees, worst aspect {:.2}",
            self.elements, self.nodes, self.volume, self.min_dihedral, self.max_dihedral, self.worst_aspect
        )?;
        if self.inverted > 0 {
            write!(f, ", {} inverted elements reoriented", self.inverted)?;
        }
        if self.unused > 0 {
            write!(f, ", {} unused nodes removed", self.unused)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_regular_element_has_the_textbook_angle_and_aspect_one() {
        let positions =
            vec![Vec3::ONE, Vec3::new(1.0, -1.0, -1.0), Vec3::new(-1.0, 1.0, -1.0), Vec3::new(-1.0, -1.0, 1.0)];
        let quality = TetraQuality::of(&TetraMesh { positions, elements: vec![[0, 1, 2, 3]] });
        // All coordinates are exact, so that only the rounding of doubles is left.
        let angle = libm::acos(1.0 / 3.0).to_degrees();
        assert!((quality.min_dihedral - angle).abs() < 1e-9 && (quality.max_dihedral - angle).abs() < 1e-9);
        assert!((quality.worst_aspect - 1.0).abs() < 1e-9);
        assert!((quality.volume.abs() - 8.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn the_corner_of_a_cube_has_right_angles() {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let quality = TetraQuality::of(&TetraMesh { positions, elements: vec![[0, 1, 2, 3]] });
        assert!((quality.max_dihedral - 90.0).abs() < 1e-9);
        assert!((quality.min_dihedral - libm::acos(1.0 / libm::sqrt(3.0)).to_degrees()).abs() < 1e-9);
        assert!((quality.volume - 1.0 / 6.0).abs() < 1e-12);
        // sqrt(2) over a height of 1/sqrt(3), times sqrt(2/3).
        assert!((quality.worst_aspect - 2.0).abs() < 1e-9);
        assert!(quality.to_string().starts_with("1 tetrahedra over 4 nodes, 1.6667e-1 m3"));
    }
}
