//! Body-centred cubic (BCC) lattice of tetrahedra.

use super::TetraError;
use crate::shape::PointGrid;
use glam::{DVec3, Vec3};
use phyxel::Real;
use phyxel_laws::geometry::Aabb;

/// Number of neighbours of a node: six along the axes, eight along the diagonals of a cube.
pub(super) const NEIGHBOURS: usize = 14;
/// First of the diagonal directions, whose edges are short.
const FIRST_SHORT: usize = 6;
/// Layers of nodes around the bounds, so that neighbours of neighbours of nodes inside a shape exist.
pub(super) const MARGIN: u32 = 2;
/// Largest number of nodes of a lattice.
pub(super) const MAX_NODES: usize = 1 << 26;

/// BCC lattice: two cubic grids, the second shifted by half a spacing along each axis.
///
/// The index of a node is twice its site in its grid, plus one in the second grid. Directions `0..6` lead to nodes
/// of the same grid, one spacing away, along `+x, -x, +y, -y, +z, -z`; directions `6..14` lead to nodes of the
/// other grid, `sqrt(3)/2` spacings away.
#[derive(Clone, Copy, Debug)]
pub(super) struct BccLattice {
    grids: [PointGrid; 2],
}

/// Nodes of the first grid on either side of the centre of the bounds, and all nodes of a lattice around them.
fn count_nodes(bounds: &Aabb, spacing: Real) -> (DVec3, f64) {
    let sides = (0.5 * bounds.extent().as_dvec3() / f64::from(spacing)).ceil() + f64::from(MARGIN);
    (sides, 2.0 * (2.0 * sides + 1.0).element_product())
}

impl BccLattice {
    /// Lattice around `bounds` with a node at their centre; fails beyond `limit` nodes.
    pub fn new(bounds: &Aabb, spacing: Real, limit: usize) -> Result<Self, TetraError> {
        let (sides, nodes) = count_nodes(bounds, spacing);
        if nodes.is_nan() || nodes > limit as f64 {
            // A lattice has more nodes than lie along its longest side.
            let mut enough = spacing.max(bounds.extent().max_element() / limit as Real);
            while count_nodes(bounds, enough).1 > limit as f64 {
                enough *= 1.02;
            }
            return Err(TetraError::TooFine { spacing, nodes, limit, enough });
        }
        let counts = (2.0 * sides + 1.0).to_array().map(|count| count as u32);
        let origin = bounds.centre() - spacing * sides.as_vec3();
        let grid = |shift: Real| PointGrid { origin: origin + shift * spacing, step: spacing, counts };
        Ok(Self { grids: [grid(0.0), grid(0.5)] })
    }

    /// Grid of the nodes with even indices, and that of the nodes with odd ones.
    pub fn grids(&self) -> &[PointGrid; 2] {
        &self.grids
    }

    /// Number of sites of one grid.
    pub fn sites(&self) -> usize {
        self.grids[0].counts.iter().map(|count| *count as usize).product()
    }

    /// Node at a grid index.
    pub fn node(&self, grid: usize, [x, y, z]: [u32; 3]) -> usize {
        let [nx, ny, _] = self.grids[0].counts.map(|count| count as usize);
        2 * (x as usize + nx * (y as usize + ny * z as usize)) + grid
    }

    /// Grid index of a node.
    pub fn index(&self, node: usize) -> [u32; 3] {
        let [nx, ny, _] = self.grids[0].counts.map(|count| count as usize);
        let site = node / 2;
        [site % nx, site / nx % ny, site / nx / ny].map(|i| i as u32)
    }

    /// Position of a node, m.
    pub fn position(&self, node: usize) -> Vec3 {
        self.grids[node % 2].point(self.index(node))
    }

    /// Index strides of neighbouring nodes of one grid along each axis.
    pub fn strides(&self) -> [usize; 3] {
        let [nx, ny, _] = self.grids[0].counts.map(|count| count as usize);
        [2, 2 * nx, 2 * nx * ny]
    }

    /// Neighbour of a node in a direction. The node must not be on the border.
    pub fn neighbour(&self, node: usize, direction: usize) -> usize {
        let strides = self.strides();
        if direction < FIRST_SHORT {
            let stride = strides[direction / 2];
            return if direction % 2 == 1 { node - stride } else { node + stride };
        }
        let corner = direction - FIRST_SHORT;
        let shift: usize = (0..3).filter(|axis| corner >> axis & 1 == 1).map(|axis| strides[axis]).sum();
        if node % 2 == 1 { node - 1 + shift } else { node + 1 + shift - strides.iter().sum::<usize>() }
    }

    /// Opposite direction.
    pub fn opposite(direction: usize) -> usize {
        if direction < FIRST_SHORT { direction ^ 1 } else { FIRST_SHORT + ((direction - FIRST_SHORT) ^ 7) }
    }

    /// Returns true if edges in this direction are long.
    pub fn is_long(direction: usize) -> bool {
        direction < FIRST_SHORT
    }

    /// Returns true if the grid index of a node has an even sum. The ends of a long edge differ in parity.
    pub fn is_even(&self, node: usize) -> bool {
        self.index(node).iter().fold(0, |sum, i| sum ^ i) & 1 == 0
    }

    /// The twelve tetrahedra whose first edge starts at a site of the first grid and runs along one of the axes: its
    /// ends, and two neighbours around it of the second grid. The site must not be on the border.
    pub fn tetrahedra(&self, site: usize) -> impl Iterator<Item = [usize; 4]> {
        let strides = self.strides();
        let start = 2 * site;
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

    fn lattice() -> Result<BccLattice, TetraError> {
        let bounds = Aabb { min: Vec3::splat(-1.0), max: Vec3::new(1.0, 2.0, 3.0) };
        BccLattice::new(&bounds, 0.5, MAX_NODES)
    }

    #[test]
    fn directions_have_two_lengths_and_opposites() -> Result<(), TetraError> {
        let lattice = lattice()?;
        for grid in [0, 1] {
            let node = lattice.node(grid, [3, 4, 5]);
            assert_eq!(lattice.index(node), [3, 4, 5]);
            let mut ends: Vec<usize> = (0..NEIGHBOURS).map(|direction| lattice.neighbour(node, direction)).collect();
            for (direction, end) in ends.iter().enumerate() {
                assert_eq!(lattice.neighbour(*end, BccLattice::opposite(direction)), node);
                let length = lattice.position(node).distance(lattice.position(*end)) / 0.5;
                let expected = if BccLattice::is_long(direction) { 1.0 } else { 0.75f32.sqrt() };
                // Coordinates of a few metres are exact to some 1e-7.
                assert!((length - expected).abs() < 1e-5);
                assert!(!BccLattice::is_long(direction) || lattice.is_even(node) != lattice.is_even(*end));
            }
            ends.sort_unstable();
            ends.dedup();
            assert_eq!(ends.len(), NEIGHBOURS);
        }
        Ok(())
    }

    #[test]
    fn tetrahedra_of_a_site_have_the_volume_of_a_cell() -> Result<(), TetraError> {
        let lattice = lattice()?;
        let site = lattice.node(0, [3, 4, 5]) / 2;
        let volume: f32 = lattice
            .tetrahedra(site)
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
    fn too_fine_a_lattice_is_refused_with_a_spacing_that_works() -> Result<(), TetraError> {
        let bounds = Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
        let Err(TetraError::TooFine { enough, .. }) = BccLattice::new(&bounds, 1e-4, MAX_NODES) else {
            return Err(TetraError::Unbounded);
        };
        assert!(BccLattice::new(&bounds, enough, MAX_NODES).is_ok());
        Ok(())
    }
}
