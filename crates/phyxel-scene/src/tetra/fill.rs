//! Tetrahedra that fill a shape: isosurface stuffing, `[LS07]`.
//!
//! All tetrahedra inside have the same size; the sizes that grow towards the middle of a body in the paper are
//! not made here, since a body that breaks may show any of its inside.

use super::lattice::{LIMIT, Lattice, MARGIN};
use super::stencil::{self, Key};
use super::surface::Surface;
use super::{Flaws, Quality, TetraError, TetraMesh};
use crate::shape::{Bounds, Shape, points_within};
use glam::Vec3;
use phyxel::{Real, parallel};

/// A crossing is found to this part of its edge.
const ACCURACY: Real = 1e-5;
/// Most questions for the distance along one edge. Halving alone gets to the accuracy in 17.
const QUESTIONS: usize = 24;
/// Largest number of nodes of a lattice in the search for a spacing that works.
const SEARCH_LIMIT: usize = 1 << 20;

/// A shape filled with tetrahedra.
#[derive(Clone, Debug, PartialEq)]
pub struct Filling {
    /// The tetrahedra.
    pub mesh: TetraMesh,
    /// How good they are.
    pub quality: Quality,
    /// What is wrong with the triangle meshes that the shape is made from.
    pub flaws: Flaws,
}

/// Fills a shape with tetrahedra whose long edges inside are `spacing` long, m; their short ones are 0.87 of it.
///
/// There are about 12 tetrahedra per spacing cubed. Corners of the outside lie on the surface of the shape, edges and
/// tips sharper than the spacing are cut off, and parts thinner than about half of it are lost. All dihedral angles
/// are between 10.7 and 164.8 degrees, whatever the shape.
pub fn fill(shape: &Shape, spacing: Real) -> Result<Filling, TetraError> {
    if !(spacing.is_finite() && spacing > 0.0) {
        return Err(TetraError::BadSpacing { spacing });
    }
    shape.check()?;
    let bounds = shape.bounds().ok_or(TetraError::Unbounded)?;
    let lattice = Lattice::new(&bounds, spacing, LIMIT)?;
    let surface = find_surface(shape, &lattice);
    if !surface.has_inside() {
        return Err(refuse(shape, &bounds, spacing));
    }
    let mesh = stuff(&surface);
    let quality = Quality::of(&mesh);
    Ok(Filling { mesh, quality, flaws: Flaws::of_shape(shape) })
}

fn find_surface<'a>(shape: &Shape, lattice: &'a Lattice) -> Surface<'a> {
    // Meshes with holes may say that something outside their bounds is inside; all is outside near the border.
    let counts = lattice.grids()[0].counts;
    let clear = |index: &[u32; 3]| (0..3).all(|axis| (MARGIN..counts[axis] - MARGIN).contains(&index[axis]));
    let nodes = |grid: usize| {
        let found = points_within(shape, &lattice.grids()[grid], 0.0);
        found.into_iter().filter(clear).map(move |index| lattice.node(grid, index)).collect::<Vec<_>>()
    };
    let mut inside = [nodes(0), nodes(1)].concat();
    inside.sort_unstable();
    Surface::find(lattice, &inside, |from, to| cross(shape, from, to))
}

/// Part of the way from a point inside to one outside at which the surface is crossed.
///
/// False position that halves the value of an end that stays. Where the distance jumps, as at a hole of a mesh, this
/// becomes halving of the way.
fn cross(shape: &Shape, inside: Vec3, outside: Vec3) -> Real {
    let small = ACCURACY * inside.distance(outside);
    let (mut low, mut high): (Real, Real) = (0.0, 1.0);
    let (mut at_low, mut at_high) = (shape.distance(inside), shape.distance(outside));
    if at_low >= -small {
        return low;
    }
    if at_high <= small {
        return high;
    }
    let mut was_inside = None;
    for _ in 0..QUESTIONS {
        // However small the value of an end, some of the rest is gone with each question.
        let part = (at_low / (at_low - at_high)).clamp(0.01, 0.99);
        let middle = low + part * (high - low);
        let value = shape.distance(inside.lerp(outside, middle));
        if value.abs() <= small || high - low <= ACCURACY {
            return middle;
        }
        let is_inside = value < 0.0;
        let stays = if was_inside == Some(is_inside) { 0.5 } else { 1.0 };
        if is_inside {
            (low, at_low, at_high) = (middle, value, stays * at_high);
        } else {
            (high, at_high, at_low) = (middle, value, stays * at_low);
        }
        was_inside = Some(is_inside);
    }
    0.5 * (low + high)
}

/// What is left of all tetrahedra of the lattice.
pub(super) fn stuff(surface: &Surface) -> TetraMesh {
    let lattice = surface.lattice;
    let [nx, ny, nz] = lattice.grids()[0].counts.map(|count| count as usize);
    // Rows along x; the outermost nodes are outside and belong to no tetrahedron that counts.
    let pieces: Vec<[Key; 4]> = parallel::map_ranges((ny - 2) * (nz - 2), 16, |rows| {
        let mut pieces = Vec::new();
        for row in rows {
            let start = nx * (1 + row % (ny - 2) + ny * (1 + row / (ny - 2)));
            for place in start + 1..start + nx - 1 {
                lattice.tetrahedra(place).for_each(|nodes| stencil::cut(surface, nodes, &mut pieces));
            }
        }
        pieces
    })
    .concat();
    let mut keys: Vec<Key> = pieces.iter().flatten().copied().collect();
    parallel::sort_by_key(&mut keys, |key| *key);
    keys.dedup();
    let positions = parallel::map(keys.len(), 1024, |node| stencil::position(surface, keys[node]));
    let elements = parallel::map(pieces.len(), 1024, |piece| {
        // Every key was collected above.
        pieces[piece].map(|key| keys.binary_search(&key).unwrap_or(0) as u32)
    });
    let mut mesh = TetraMesh { positions, elements };
    mesh.turn_outwards();
    mesh
}

/// The error for a spacing at which nothing is left, with one that works, if it can be found.
fn refuse(shape: &Shape, bounds: &Bounds, spacing: Real) -> TetraError {
    let works = |spacing: Real| {
        let lattice = Lattice::new(bounds, spacing, SEARCH_LIMIT);
        lattice.map(|lattice| find_surface(shape, &lattice).has_inside())
    };
    // A node stays only where the shape reaches 0.285 spacings to either side of it.
    let mut coarse = spacing.min(2.0 * bounds.size().max_element());
    let mut fine = coarse;
    loop {
        match works(fine) {
            Ok(true) => break,
            Ok(false) => (fine, coarse) = (0.5 * fine, fine),
            Err(_) => return TetraError::Empty { spacing, least: coarse },
        }
    }
    for _ in 0..8 {
        let middle = 0.5 * (fine + coarse);
        if matches!(works(middle), Ok(true)) { fine = middle } else { coarse = middle }
    }
    let short = rounded_down(fine);
    TetraError::TooCoarse { spacing, largest: if matches!(works(short), Ok(true)) { short } else { fine } }
}

/// The number with three digits that is not above a positive one.
fn rounded_down(value: Real) -> Real {
    let unit = libm::pow(10.0, libm::floor(libm::log10(f64::from(value))) - 2.0);
    (libm::floor(f64::from(value) / unit) * unit) as Real
}
