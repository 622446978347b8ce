//! The body-centred cubic lattice that tetrahedra are cut from.

use super::TetraError;
use crate::shape::{Bounds, Grid};
use glam::{DVec3, Vec3};
use phyxel::Real;

/// Neighbours of a node: six along the axes, eight along the diagonals of a cube.
pub(super) const WAYS: usize = 14;
/// The first of the ways along diagonals.
const SHORT: usize = 6;
/// Layers of nodes around the bounds, so that neighbours of neighbours of nodes inside a shape exist.
pub(super) const MARGIN: u32 = 2;
/// Largest number of nodes of a lattice.
pub(super) const LIMIT: usize = 1 << 26;

/// Two cubic grids, the second moved by half a spacing along each axis.
///
/// A node is a number, twice its place in its grid, plus one in the second grid. Ways `0..6` lead to nodes of
/// the same grid, one spacing away, along `+x, -x, +y, -y, +z, -z`; ways `6..14` lead to nodes of the other
/// grid, `sqrt(3)/2` spacings away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice {
    grids: [Grid; 2],
}

/// Nodes of the first grid on either side of the middle of bounds, and all nodes of a lattice around them.
fn count(bounds: &Bounds, spacing: Real) -> (DVec3, f64) {
    let sides = (0.5 * bounds.size().as_dvec3() / f64::from(spacing)).ceil() + f64::from(MARGIN);
    (sides, 2.0 * (2.0 * sides + 1.0).element_product())
}

impl Lattice {
    /// A lattice around `bounds` with a node in their middle; fails beyond `limit` nodes.
    pub fn new(bounds: &Bounds, spacing: Real, limit: usize) -> Result<Self, TetraError> {
        let (sides, nodes) = count(bounds, spacing);
        if nodes.is_nan() || nodes > limit as f64 {
            // A lattice takes more nodes than lie along its longest side.
            let mut enough = spacing.max(bounds.size().max_element() / limit as Real);
            while count(bounds, enough).1 > limit as f64 {
                enough *= 1.02;
            }
            return Err(TetraError::TooFine { spacing, nodes, limit, enough });
        }
        let counts = (2.0 * sides + 1.0).to_array().map(|count| count as u32);
        let origin = bounds.centre() - spacing * sides.as_vec3();
        let grid = |shift: Real| Grid { origin: origin + shift * spacing, step: spacing, counts };
        Ok(Self { grids: [grid(0.0), grid(0.5)] })
    }

    /// The grid of nodes with even numbers, and that of nodes with odd ones.
    pub fn grids(&self) -> &[Grid; 2] {
        &self.grids
    }

    /// Number of places in one grid.
    pub fn places(&self) -> usize {
        self.grids[0].counts.iter().map(|count| *count as usize).product()
    }

    /// The node at an index of a grid.
    pub fn node(&self, grid: usize, [x, y, z]: [u32; 3]) -> usize {
        let [nx, ny, _] = self.grids[0].counts.map(|count| count as usize);
        2 * (x as usize + nx * (y as usize + ny * z as usize)) + grid
    }

    /// The index of a node in its grid.
    pub fn index(&self, node: usize) -> [u32; 3] {
        let [nx, ny, _] = self.grids[0].counts.map(|count| count as usize);
        let place = node / 2;
        [place % nx, place / nx % ny, place / nx / ny].map(|i| i as u32)
    }

    /// Where a node is, m.
    pub fn position(&self, node: usize) -> Vec3 {
        self.grids[node % 2].point(self.index(node))
    }

    /// How far apart the numbers of neighbouring nodes of one grid are along each axis.
    pub fn strides(&self) -> [usize; 3] {
        let [nx, ny, _] = self.grids[0].counts.map(|count| count as usize);
        [2, 2 * nx, 2 * nx * ny]
    }

    /// The neighbour of a node that is not on the border.
    pub fn neighbour(&self, node: usize, way: usize) -> usize {
        let strides = self.strides();
        if way < SHORT {
            let stride = strides[way / 2];
            return if way % 2 == 1 { node - stride } else { node + stride };
        }
        let corner = way - SHORT;
        let beyond: usize = (0..3).filter(|axis| corner >> axis & 1 == 1).map(|axis| strides[axis]).sum();
        if node % 2 == 1 { node - 1 + beyond } else { node + 1 + beyond - strides.iter().sum::<usize>() }
    }

    /// The way that leads back.
    pub fn back(way: usize) -> usize {
        if way < SHORT { way ^ 1 } else { SHORT + ((way - SHORT) ^ 7) }
    }

    pub fn is_long(way: usize) -> bool {
        way < SHORT
    }

    /// Whether the coordinates of a node, counted in spacings, have an even sum. Ends of a long edge differ.
    pub fn is_even(&self, node: usize) -> bool {
        self.index(node).iter().fold(0, |sum, i| sum ^ i) & 1 == 0
    }

    /// The twelve tetrahedra whose first edge starts at a place of the first grid and runs along one of the
    /// axes: its ends, and two neighbours around it of the second grid. The place must not be on the border.
    pub fn tetrahedra(&self, place: usize) -> impl Iterator<Item = [usize; 4]> {
        let strides = self.strides();
        let start = 2 * place;
        (0..3).flat_map(move |axis| {
            let (u, v) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
            let ring = [start + 1, start + 1 - u, start + 1 - u - v, start + 1 - v];
            (0..4).map(move |i| [start, start + strides[axis], ring[i], ring[(i + 1) % 4]])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lattice() -> Result<Lattice, TetraError> {
        let bounds = Bounds { min: Vec3::splat(-1.0), max: Vec3::new(1.0, 2.0, 3.0) };
        Lattice::new(&bounds, 0.5, LIMIT)
    }

    #[test]
    fn ways_have_two_lengths_and_lead_back() -> Result<(), TetraError> {
        let lattice = lattice()?;
        for grid in [0, 1] {
            let node = lattice.node(grid, [3, 4, 5]);
            assert_eq!(lattice.index(node), [3, 4, 5]);
            let mut ends: Vec<usize> = (0..WAYS).map(|way| lattice.neighbour(node, way)).collect();
            for (way, end) in ends.iter().enumerate() {
                assert_eq!(lattice.neighbour(*end, Lattice::back(way)), node);
                let length = lattice.position(node).distance(lattice.position(*end)) / 0.5;
                let expected = if Lattice::is_long(way) { 1.0 } else { 0.75f32.sqrt() };
                // Coordinates of a few metres are exact to some 1e-7.
                assert!((length - expected).abs() < 1e-5);
                assert!(!Lattice::is_long(way) || lattice.is_even(node) != lattice.is_even(*end));
            }
            ends.sort_unstable();
            ends.dedup();
            assert_eq!(ends.len(), WAYS);
        }
        Ok(())
    }

    #[test]
    fn tetrahedra_of_a_place_have_the_volume_of_a_cell() -> Result<(), TetraError> {
        let lattice = lattice()?;
        let place = lattice.node(0, [3, 4, 5]) / 2;
        let volume: f32 = lattice
            .tetrahedra(place)
            .map(|nodes| {
                let [a, b, c, d] = nodes.map(|node| lattice.position(node));
                let volume = (b - a).cross(c - a).dot(d - a) / 6.0;
                // A twelfth of a cell of 1/2 cubed; rounding as above.
                assert!((volume.abs() - 0.125 / 12.0).abs() < 1e-6, "{volume}");
                volume.abs()
            })
            .sum();
        assert!((volume - 0.125).abs() < 1e-5);
        Ok(())
    }

    #[test]
    fn a_lattice_without_end_is_refused_with_a_spacing_that_works() -> Result<(), TetraError> {
        let bounds = Bounds { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
        let Err(TetraError::TooFine { enough, .. }) = Lattice::new(&bounds, 1e-4, LIMIT) else {
            return Err(TetraError::Unbounded);
        };
        assert!(Lattice::new(&bounds, enough, LIMIT).is_ok());
        Ok(())
    }
}
