//! Isosurface stuffing: tetrahedral meshing of an implicit surface `[LS07]`.
//!
//! All tetrahedra inside have the same size; the grading towards the interior of the paper is omitted, since
//! fracture may expose any of it.

mod lattice;
mod stencil;
mod surface;
#[cfg(test)]
mod tests;

use super::{MeshDefects, TetraError, TetraMesh, TetraQuality};
use crate::shape::{Shape, points_within};
use glam::Vec3;
use lattice::{BccLattice, MARGIN, MAX_NODES};
use phyxel::{Real, parallel};
use phyxel_laws::geometry::Aabb;
use stencil::NodeKey;
use surface::CutSurface;

/// Tolerance of a crossing, as a fraction of its edge.
const ROOT_TOLERANCE: Real = 1e-5;
/// Largest number of distance evaluations along one edge. Bisection alone reaches the tolerance in 17.
const MAX_EVALUATIONS: usize = 24;
/// Largest lattice in the search for a spacing that works, nodes.
const MAX_SEARCH_NODES: usize = 1 << 20;

/// Tetrahedral mesh of a shape, with its quality.
#[derive(Clone, Debug, PartialEq)]
pub struct TetraFill {
    /// Mesh.
    pub mesh: TetraMesh,
    /// Quality of the mesh.
    pub quality: TetraQuality,
    /// Defects of the triangle meshes that the shape is made of.
    pub defects: MeshDefects,
}

/// Fills a shape with tetrahedra whose long interior edges are `spacing` long, m; the short ones are 0.87 of it.
///
/// There are about 12 tetrahedra per spacing cubed. Boundary nodes lie on the surface of the shape, features sharper
/// than the spacing are cut off, and parts thinner than about half of it are lost. All dihedral angles are between
/// 10.7 and 164.8 degrees, for any shape.
pub fn fill(shape: &Shape, spacing: Real) -> Result<TetraFill, TetraError> {
    if !(spacing.is_finite() && spacing > 0.0) {
        return Err(TetraError::BadSpacing { spacing });
    }
    shape.check()?;
    let bounds = shape.bounds().ok_or(TetraError::Unbounded)?;
    let lattice = BccLattice::new(&bounds, spacing, MAX_NODES)?;
    let surface = locate_surface(shape, &lattice);
    if !surface.has_inside() {
        return Err(empty_error(shape, &bounds, spacing));
    }
    let mesh = isosurface_stuffing(&surface);
    let quality = TetraQuality::of(&mesh);
    Ok(TetraFill { mesh, quality, defects: MeshDefects::of_shape(shape) })
}

fn locate_surface<'a>(shape: &Shape, lattice: &'a BccLattice) -> CutSurface<'a> {
    // Meshes with holes may report points outside their bounds as inside; everything is outside near the border.
    let counts = lattice.grids()[0].counts;
    let clear = |index: &[u32; 3]| (0..3).all(|axis| (MARGIN..counts[axis] - MARGIN).contains(&index[axis]));
    let nodes = |grid: usize| {
        let found = points_within(shape, &lattice.grids()[grid], 0.0);
        found.into_iter().filter(clear).map(move |index| lattice.node(grid, index)).collect::<Vec<_>>()
    };
    let mut inside = [nodes(0), nodes(1)].concat();
    inside.sort_unstable();
    CutSurface::new(lattice, &inside, |from, to| find_crossing(shape, from, to))
}

/// Fraction of the edge from an inside to an outside point at which the surface is crossed.
///
/// Regula falsi with the Illinois rule. Where the distance jumps, as at a hole of a mesh, it becomes bisection.
fn find_crossing(shape: &Shape, inside: Vec3, outside: Vec3) -> Real {
    let small = ROOT_TOLERANCE * inside.distance(outside);
    let (mut low, mut high): (Real, Real) = (0.0, 1.0);
    let (mut at_low, mut at_high) = (shape.distance(inside), shape.distance(outside));
    if at_low >= -small {
        return low;
    }
    if at_high <= small {
        return high;
    }
    let mut last_inside = None;
    for _ in 0..MAX_EVALUATIONS {
        // Clamped, so that the bracket shrinks with each evaluation however small the value of an end.
        let secant = (at_low / (at_low - at_high)).clamp(0.01, 0.99);
        let middle = low + secant * (high - low);
        let value = shape.distance(inside.lerp(outside, middle));
        if value.abs() <= small || high - low <= ROOT_TOLERANCE {
            return middle;
        }
        let is_inside = value < 0.0;
        let damping = if last_inside == Some(is_inside) { 0.5 } else { 1.0 };
        if is_inside {
            (low, at_low, at_high) = (middle, value, damping * at_high);
        } else {
            (high, at_high, at_low) = (middle, value, damping * at_low);
        }
        last_inside = Some(is_inside);
    }
    0.5 * (low + high)
}

/// Cuts all tetrahedra of the lattice at the surface and collects the inside parts.
fn isosurface_stuffing(surface: &CutSurface) -> TetraMesh {
    let lattice = surface.lattice;
    let [nx, ny, nz] = lattice.grids()[0].counts.map(|count| count as usize);
    // Rows along x; the outermost nodes are outside and belong to no tetrahedron of the result.
    let pieces: Vec<[NodeKey; 4]> = parallel::map_ranges((ny - 2) * (nz - 2), 16, |rows| {
        let mut pieces = Vec::new();
        for row in rows {
            let start = nx * (1 + row % (ny - 2) + ny * (1 + row / (ny - 2)));
            for site in start + 1..start + nx - 1 {
                lattice.tetrahedra(site).for_each(|nodes| stencil::cut(surface, nodes, &mut pieces));
            }
        }
        pieces
    })
    .concat();
    let mut keys: Vec<NodeKey> = pieces.iter().flatten().copied().collect();
    parallel::sort_by_key(&mut keys, |key| *key);
    keys.dedup();
    let positions = parallel::map(keys.len(), 1024, |node| stencil::position(surface, keys[node]));
    let elements = parallel::map(pieces.len(), 1024, |piece| {
        // Every key was collected above.
        pieces[piece].map(|key| keys.binary_search(&key).unwrap_or(0) as u32)
    });
    let mut mesh = TetraMesh { positions, elements };
    mesh.orient_elements();
    mesh
}

/// Error for a spacing at which nothing remains, with a spacing that works, if one can be found.
fn empty_error(shape: &Shape, bounds: &Aabb, spacing: Real) -> TetraError {
    let works = |spacing: Real| {
        let lattice = BccLattice::new(bounds, spacing, MAX_SEARCH_NODES);
        lattice.map(|lattice| locate_surface(shape, &lattice).has_inside())
    };
    // A node remains only where the shape extends 0.285 spacings to either side of it.
    let mut coarse = spacing.min(2.0 * bounds.extent().max_element());
    let mut fine = coarse;
    loop {
        match works(fine) {
            Ok(true) => break,
            Ok(false) => (fine, coarse) = (0.5 * fine, fine),
            Err(_) => return TetraError::Empty { spacing, finest: coarse },
        }
    }
    for _ in 0..8 {
        let middle = 0.5 * (fine + coarse);
        if matches!(works(middle), Ok(true)) { fine = middle } else { coarse = middle }
    }
    let short = rounded_down(fine);
    TetraError::TooCoarse { spacing, largest: if matches!(works(short), Ok(true)) { short } else { fine } }
}

/// Rounds a positive number down to three digits.
fn rounded_down(value: Real) -> Real {
    let unit = libm::pow(10.0, libm::floor(libm::log10(f64::from(value))) - 2.0);
    (libm::floor(f64::from(value) / unit) * unit) as Real
}
