//! Blocks of tetrahedra, shared by all engines.

use glam::Vec3;

/// Tetrahedral mesh.
pub struct Mesh {
    /// m.
    pub nodes: Vec<Vec3>,
    pub elements: Vec<[u32; 4]>,
    /// Edge of a cell, m.
    pub cell: f32,
}

impl Mesh {
    /// Block of cubic cells, centred at the origin, five elements per cell.
    pub fn five_per_cell(counts: [u32; 3], cell: f32) -> Self {
        let [nx, ny, _] = counts;
        let node = |[x, y, z]: [u32; 3]| x + (nx + 1) * (y + (ny + 1) * z);
        let elements = cells(counts).flat_map(|[x, y, z]| {
            // Every other cell is mirrored, so that the diagonals of shared faces match.
            let odd = (x + y + z) % 2;
            let at = |k: u32| node([x + ((k ^ odd) & 1), y + (k >> 1 & 1), z + (k >> 2)]);
            [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]].map(|corners| corners.map(at))
        });
        Self::new(corners(counts).collect(), elements.collect(), cell)
    }

    /// Block of cubic cells, centred at the origin, with a node at the centre of each cell: four elements per interior
    /// face, two per boundary face.
    pub fn cell_centred(counts: [u32; 3], cell: f32) -> Self {
        let [nx, ny, nz] = counts;
        let corner = |[x, y, z]: [u32; 3]| x + (nx + 1) * (y + (ny + 1) * z);
        let centre = |[x, y, z]: [u32; 3]| (nx + 1) * (ny + 1) * (nz + 1) + x + nx * (y + ny * z);
        let mut elements = Vec::new();
        for index in cells(counts) {
            for (axis, side) in (0..3).flat_map(|axis| [(axis, 0), (axis, 1)]) {
                let at = |a: u32, b: u32| {
                    let mut at = index;
                    at[axis] += side;
                    at[(axis + 1) % 3] += a;
                    at[(axis + 2) % 3] += b;
                    corner(at)
                };
                let ring = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
                let apex = centre(index);
                let is_boundary = if side == 0 { index[axis] == 0 } else { index[axis] + 1 == counts[axis] };
                if is_boundary {
                    let k = (index.iter().sum::<u32>() % 2) as usize;
                    elements.push([apex, ring[k], ring[k + 1], ring[k + 2]]);
                    elements.push([apex, ring[k], ring[k + 2], ring[(k + 3) % 4]]);
                } else if side == 1 {
                    let mut next = index;
                    next[axis] += 1;
                    (0..4).for_each(|k| elements.push([apex, centre(next), ring[k], ring[(k + 1) % 4]]));
                }
            }
        }
        let centres = cells(counts).map(|index| centred(counts, index, 0.5));
        Self::new(corners(counts).chain(centres).collect(), elements, cell)
    }

    /// From nodes in units of cells; the orientation of inverted elements is flipped.
    fn new(nodes: Vec<Vec3>, mut elements: Vec<[u32; 4]>, cell: f32) -> Self {
        for element in &mut elements {
            let [a, b, c, d] = element.map(|node| nodes[node as usize]);
            if (b - a).cross(c - a).dot(d - a) < 0.0 {
                element.swap(2, 3);
            }
        }
        Self { nodes: nodes.into_iter().map(|node| node * cell).collect(), elements, cell }
    }

    /// Lumped volume of each node, m3: a quarter of each adjacent element.
    pub fn node_volumes(&self) -> Vec<f64> {
        let mut volumes = vec![0.0; self.nodes.len()];
        for element in &self.elements {
            let [a, b, c, d] = element.map(|node| self.nodes[node as usize].as_dvec3());
            let quarter = (b - a).cross(c - a).dot(d - a) / 24.0;
            element.iter().for_each(|&node| volumes[node as usize] += quarter);
        }
        volumes
    }
}

fn cells([nx, ny, nz]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..nx * ny * nz).map(move |k| [k % nx, k / nx % ny, k / (nx * ny)])
}

fn corners(counts: [u32; 3]) -> impl Iterator<Item = Vec3> {
    cells(counts.map(|count| count + 1)).map(move |index| centred(counts, index, 0.0))
}

/// Position of a cell corner (shift 0) or centre (shift 0.5) in units of cells, centred at the origin.
fn centred(counts: [u32; 3], index: [u32; 3], shift: f32) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|axis| index[axis] as f32 + shift - 0.5 * counts[axis] as f32))
}
