//! Sampling by hexahedral cells with a particle at each corner.

use super::{SampleError, Samples, check_count};
use crate::shape::Shape;
use glam::Vec3;
use phyxel::model::mass_spring::Cell;
use phyxel::{Real, parallel};
use std::collections::HashMap;

/// Cells per task.
const GRAIN: usize = 4096;

/// Fills a shape with the box-shaped cells whose centres are inside, and particles at their corners, ordered by z,
/// then y, then x.
///
/// A box whose edges are multiples of the cell becomes exactly these cells; any other extent is rounded.
pub(crate) fn fill_cells(shape: &Shape, edges: [Real; 3], limit: usize) -> Result<(Samples, Vec<Cell>), SampleError> {
    let spacing = edges.into_iter().fold(Real::INFINITY, Real::min);
    if !edges.iter().all(|edge| edge.is_finite() && *edge > 0.0) {
        return Err(SampleError::BadSpacing { spacing });
    }
    shape.check()?;
    let bounds = shape.bounds().ok_or(SampleError::Unbounded)?;
    let volume = shape.volume();
    check_count(volume / edges.iter().map(|edge| f64::from(*edge)).product::<f64>(), spacing, limit)?;
    let edge = Vec3::from_array(edges);
    let counts = (bounds.extent() / edge).round().max(Vec3::ONE);
    if counts.as_dvec3().element_product() > MAX_CANDIDATES {
        return Err(SampleError::NoInside);
    }
    let first = bounds.centre() - 0.5 * edge * counts;
    let counts = counts.to_array().map(|count| count as usize);
    let [nx, ny, nz] = counts;
    let index_of = |k: usize| [k % nx, k / nx % ny, k / (nx * ny)];
    let centre_of = |k: usize| first + edge * (Vec3::from_array(index_of(k).map(|i| i as Real)) + 0.5);
    let inside = parallel::map(nx * ny * nz, GRAIN, |k| shape.contains(centre_of(k)));
    let selected: Vec<[usize; 3]> = (0..inside.len()).filter(|&k| inside[k]).map(index_of).collect();
    if selected.is_empty() {
        let thinnest = bounds.extent().as_dvec3().min_element().max(f64::MIN_POSITIVE);
        let largest = (0.5 * thinnest.min(edge.as_dvec3().min_element())) as Real;
        return Err(SampleError::Empty { spacing, largest });
    }
    let (positions, cells) =
        number_corners(&selected, counts, |corner| first + edge * Vec3::from_array(corner.map(|i| i as Real)));
    check_count(positions.len() as f64, spacing, limit)?;
    Ok((Samples { positions, volume, spacing }, cells))
}

/// Largest number of candidate cells around a shape.
const MAX_CANDIDATES: f64 = 1e9;

/// Returns the shared corners of cells, each once, and the cells as corner indices.
fn number_corners(
    cells: &[[usize; 3]],
    counts: [usize; 3],
    position: impl Fn([usize; 3]) -> Vec3,
) -> (Vec<Vec3>, Vec<Cell>) {
    let (row, sheet) = (counts[0] + 1, (counts[0] + 1) * (counts[1] + 1));
    let corner = |cell: &[usize; 3], k: usize| [cell[0] + (k & 1), cell[1] + (k >> 1 & 1), cell[2] + (k >> 2)];
    let key = |corner: [usize; 3]| corner[0] + row * corner[1] + sheet * corner[2];
    let mut keys: Vec<usize> = cells.iter().flat_map(|cell| (0..8).map(move |k| key(corner(cell, k)))).collect();
    keys.sort_unstable();
    keys.dedup();
    let positions = keys.iter().map(|&key| position([key % row, key % sheet / row, key / sheet])).collect();
    let numbers: HashMap<usize, u32> = keys.iter().enumerate().map(|(number, &key)| (key, number as u32)).collect();
    let numbered = cells.iter().map(|cell| std::array::from_fn(|k| numbers[&key(corner(cell, k))])).collect();
    (positions, numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_of_whole_cells_has_particles_at_all_corners() {
        let shape = Shape::Box { size: Vec3::new(0.4, 0.4, 0.9) };
        let (samples, cells) = fill_cells(&shape, [0.1; 3], 10_000).unwrap();
        assert_eq!((samples.positions.len(), cells.len()), (5 * 5 * 10, 4 * 4 * 9));
        let (min, max) = (samples.positions[0], samples.positions[249]);
        assert!(min.distance(Vec3::new(-0.2, -0.2, -0.45)) < 1e-6 && max.distance(-min) < 1e-6);
        for cell in &cells {
            let at = |k: usize| samples.positions[cell[k] as usize];
            assert!((at(7) - at(0)).distance(Vec3::splat(0.1)) < 1e-6);
            assert!((at(1) - at(0)).distance(0.1 * Vec3::X) < 1e-6 && (at(4) - at(0)).distance(0.1 * Vec3::Z) < 1e-6);
        }
    }

    #[test]
    fn cells_may_be_boxes_and_shapes_round() {
        let (samples, cells) = fill_cells(&Shape::Sphere { radius: 0.5 }, [0.05, 0.06, 0.055], 100_000).unwrap();
        let volume = cells.len() as f64 * 0.05 * 0.06 * 0.055;
        assert!((volume / samples.volume - 1.0).abs() < 0.03, "{volume}");
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        let ball = Shape::Sphere { radius: 0.5 };
        assert!(matches!(fill_cells(&ball, [0.0, 0.1, 0.1], 100), Err(SampleError::BadSpacing { .. })));
        assert!(matches!(fill_cells(&ball, [0.01; 3], 100), Err(SampleError::TooMany { .. })));
        let thin = Shape::Torus { radius: 1.0, tube: 0.01 };
        assert!(matches!(fill_cells(&thin, [1.0; 3], 100), Err(SampleError::Empty { .. })));
    }
}
