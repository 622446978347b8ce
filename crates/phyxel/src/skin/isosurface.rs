//! A surface around particles, by the crate `splashsurf_lib`.
//!
//! The surface is a level of the particles' own density, normalised so that a filled region has density 1, found on
//! a grid of cells by marching cubes and smoothed. Without particles, or where the crate cannot lay a surface, there
//! is none.

use super::{Isosurface, Matter};
use crate::Real;
use crate::frame::FrameSkin;
use crate::parallel;
use crate::surface::{topology, vertex_normals};
use glam::Vec3;
use splashsurf_lib::mesh::Mesh3d;
use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::postprocessing::par_laplacian_smoothing_inplace;
use splashsurf_lib::{GridDecompositionParameters, Parameters, SpatialDecomposition, reconstruct_surface};
use std::sync::Arc;

/// Reach of a particle's density, in spacings.
const REACH: Real = 2.0;
/// Density of the surface. A particle's own cube of one spacing belongs to the body, so a flat surface is to lie half
/// a spacing outside the last layer. Particles there count for more than their cube, as they are normalised by their own,
/// lower density: that is why it is not a half.
const LEVEL: Real = 0.58;
/// Strength of a round of smoothing towards the mean of the neighbours, and of the round back that follows it and
/// keeps the volume (Taubin 1995).
const FORWARD: Real = 0.5;
const BACK: Real = -0.52;

/// Lays a surface around particles.
pub(crate) fn surround(matter: &Matter, settings: &Isosurface) -> Option<FrameSkin> {
    let points: Vec<Vector3<Real>> = matter.positions.iter().map(|p| Vector3::new(p.x, p.y, p.z)).collect();
    let mut parameters = Parameters::new(0.5 * matter.spacing, REACH * matter.spacing, settings.cell);
    parameters.iso_surface_threshold = LEVEL;
    // The way for small domains, which this switches off, numbers the vertices as its threads come along.
    let decomposition =
        GridDecompositionParameters { subdomain_num_cubes_per_dim: cells_along(matter, settings), auto_disable: false };
    parameters.spatial_decomposition = SpatialDecomposition::UniformGrid(decomposition);
    // With several threads, parts of the space come in the order in which these find them now and then; each border is then from another side.
    let lay = || reconstruct_surface::<i64, Real>(&points, &parameters);
    let mut mesh = parallel::with_threads(Some(1), lay).ok()?.mesh;
    let around = mesh.vertex_vertex_connectivity();
    let weights = vec![1.0; mesh.vertices.len()];
    for _ in 0..settings.smoothing {
        for strength in [FORWARD, BACK] {
            par_laplacian_smoothing_inplace(&mut mesh, &around, 1, strength, &weights);
        }
    }
    let positions: Vec<Vec3> = mesh.vertices.iter().map(|p| Vec3::new(p.x, p.y, p.z)).collect();
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|corners| corners.map(|corner| corner as u32)).collect();
    if triangles.is_empty() || positions.iter().any(|position| !position.is_finite()) {
        return None;
    }
    let topology = topology(&triangles);
    let normals = vertex_normals(&positions, &triangles);
    let velocities = matter.velocities_at(&positions);
    Some(matter.colour(FrameSkin {
        positions,
        normals,
        velocities,
        temperatures: Vec::new(),
        strains: Vec::new(),
        triangles: Arc::new(triangles),
        axes: Vec::new(),
        crease: None,
        topology,
    }))
}

/// Cells along the edge of the parts that the space is cut into: all it takes for a small body, and not too many.
fn cells_along(matter: &Matter, settings: &Isosurface) -> u32 {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = matter.positions.iter().fold(start, |(min, max), &x| (min.min(x), max.max(x)));
    let extent = (max - min).max_element() + 2.0 * REACH * matter.spacing;
    ((extent / settings.cell).ceil() as u32).clamp(8, 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::enclosed_volume;

    const SPACING: Real = 0.1;

    fn block(counts: [usize; 3], at: Vec3) -> Vec<Vec3> {
        let [nx, ny, nz] = counts;
        let place = |i: usize| Vec3::new((i % nx) as Real, (i / nx % ny) as Real, (i / (nx * ny)) as Real);
        (0..nx * ny * nz).map(|i| at + SPACING * place(i)).collect()
    }

    fn lay(positions: &[Vec3]) -> FrameSkin {
        let count = positions.len();
        let velocities: Vec<Vec3> = positions.iter().map(|p| Vec3::new(p.y, 0.0, 1.0)).collect();
        let temperatures: Vec<Real> = positions.iter().map(|p| p.x).collect();
        let strains = vec![0.25; count];
        let matter = Matter {
            positions,
            velocities: &velocities,
            temperatures: &temperatures,
            strains: &strains,
            spacing: SPACING,
        };
        surround(&matter, &Isosurface::for_spacing(SPACING)).unwrap()
    }

    fn volume(skin: &FrameSkin) -> f64 {
        enclosed_volume(&skin.positions, &skin.triangles)
    }

    #[test]
    fn a_block_gets_a_closed_skin_with_its_volume() {
        let skin = lay(&block([10, 12, 14], Vec3::ZERO));
        assert!(skin.topology.closed);
        assert_eq!((skin.topology.pieces, skin.topology.genus), (1, Some(0)));
        // Edges are rounded by about half a spacing: what a quarter of a round of that radius leaves of a square,
        // along 144 spacings of edges.
        let full = 10.0 * 12.0 * 14.0 * 1e-3;
        let rounded = 144.0 * 0.25 * (1.0 - std::f64::consts::FRAC_PI_4) * 1e-3;
        let ratio = volume(&skin) / (full - rounded);
        assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
        let flat = skin.positions.iter().filter(|x| (x.y - 0.55).abs() < 0.2 && (x.z - 0.65).abs() < 0.2);
        for x in flat {
            let outside = (x.x - 0.45).abs() - 0.45;
            assert!((outside / SPACING - 0.5).abs() < 0.05, "{outside}");
        }
        let outward = skin
            .positions
            .iter()
            .zip(&skin.normals)
            .filter(|(x, n)| (**x - Vec3::new(0.45, 0.55, 0.65)).dot(**n) > 0.0);
        assert_eq!(outward.count(), skin.positions.len());
    }

    #[test]
    fn values_of_the_matter_are_carried_to_the_skin() {
        let skin = lay(&block([10, 12, 14], Vec3::ZERO));
        for (v, x) in skin.positions.iter().enumerate() {
            assert!((skin.temperatures[v] - x.x).abs() < 1.01 * SPACING, "{x} {}", skin.temperatures[v]);
            assert!((skin.velocities[v] - Vec3::new(x.y, 0.0, 1.0)).length() < 1.01 * SPACING);
        }
        assert_eq!(skin.strains, vec![0.25; skin.positions.len()]);
    }

    #[test]
    fn parts_and_rings_are_told_apart() {
        let parts = [block([4; 3], Vec3::ZERO), block([4; 3], Vec3::X)].concat();
        assert_eq!(lay(&parts).topology, crate::frame::Topology { closed: true, pieces: 2, genus: None });
        let mut ring = block([12, 3, 12], Vec3::ZERO);
        ring.retain(|x| (x.x - 0.55).abs().max((x.z - 0.55).abs()) > 0.31);
        assert_eq!(lay(&ring).topology.genus, Some(1));
    }

    #[test]
    fn the_skin_is_the_same_on_any_number_of_threads() {
        for counts in [[6, 6, 6], [40, 8, 40], [150, 2, 150]] {
            let mut positions = block(counts, Vec3::ZERO);
            positions.iter_mut().enumerate().for_each(|(i, x)| x.y += 0.03 * (i as Real * 0.37).sin());
            let lay = |threads| crate::parallel::with_threads(Some(threads), || lay(&positions));
            let alone = lay(1);
            for threads in [2, 3, 8] {
                let other = lay(threads);
                assert!(alone.triangles == other.triangles, "{counts:?}, {threads} threads");
                assert!(alone.positions.iter().zip(&other.positions).all(|(a, b)| a.to_array() == b.to_array()));
            }
        }
    }

    #[test]
    fn one_particle_is_a_drop_and_none_is_nothing() {
        let drop = lay(&[Vec3::splat(3.0)]);
        assert!(drop.topology.closed && volume(&drop) > 0.0);
        let nothing = Matter { positions: &[], velocities: &[], temperatures: &[], strains: &[], spacing: SPACING };
        assert!(surround(&nothing, &Isosurface::for_spacing(SPACING)).is_none());
    }
}
