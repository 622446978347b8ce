//! Surface reconstruction from particles, by the crate `splashsurf_lib`.
//!
//! The surface is an isosurface of the SPH density, normalised to 1 in a filled region. It is extracted by
//! marching cubes and smoothed (Taubin 1995). There is none without particles or if the reconstruction fails.

use super::{Isosurface, PointSamples};
use crate::Real;
use crate::frame::FrameSkin;
use crate::geometry::{surface_topology, vertex_normals};
use crate::numerics::Aabb;
use crate::parallel;
use glam::Vec3;
use splashsurf_lib::mesh::Mesh3d;
use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::postprocessing::par_laplacian_smoothing_inplace;
use splashsurf_lib::{GridDecompositionParameters, Parameters, SpatialDecomposition, reconstruct_surface};
use std::sync::Arc;

/// Support radius of the density kernel, in spacings.
const SUPPORT_RADIUS: Real = 2.0;
/// Iso-value of the density.
///
/// A particle represents a cube of one spacing, so a flat surface should be half a spacing outside the last
/// layer. The value is above 1/2, as particles there are normalised by their own, lower density.
const ISO_VALUE: Real = 0.58;
/// Factors of the shrinking and the inflating step of Taubin smoothing, which together preserve the volume.
const TAUBIN_LAMBDA: Real = 0.5;
const TAUBIN_MU: Real = -0.52;

/// Reconstructs the surface of particles.
pub(crate) fn reconstruct(samples: &PointSamples, settings: &Isosurface) -> Option<FrameSkin> {
    let points: Vec<Vector3<Real>> = samples.positions.iter().map(|p| Vector3::new(p.x, p.y, p.z)).collect();
    let mut parameters = Parameters::new(0.5 * samples.spacing, SUPPORT_RADIUS * samples.spacing, settings.cell);
    parameters.iso_surface_threshold = ISO_VALUE;
    // The code path for small domains, which this disables, numbers vertices in the order of thread completion.
    let decomposition = GridDecompositionParameters {
        subdomain_num_cubes_per_dim: subdomain_cells(samples, settings),
        auto_disable: false,
    };
    parameters.spatial_decomposition = SpatialDecomposition::UniformGrid(decomposition);
    // With several threads the order of the subdomains may vary, and with it the triangulation at their borders.
    let run = || reconstruct_surface::<i64, Real>(&points, &parameters);
    let mut mesh = parallel::with_threads(Some(1), run).ok()?.mesh;
    let adjacency = mesh.vertex_vertex_connectivity();
    let weights = vec![1.0; mesh.vertices.len()];
    for _ in 0..settings.smoothing {
        for factor in [TAUBIN_LAMBDA, TAUBIN_MU] {
            par_laplacian_smoothing_inplace(&mut mesh, &adjacency, 1, factor, &weights);
        }
    }
    let positions: Vec<Vec3> = mesh.vertices.iter().map(|p| Vec3::new(p.x, p.y, p.z)).collect();
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|corners| corners.map(|corner| corner as u32)).collect();
    if triangles.is_empty() || positions.iter().any(|position| !position.is_finite()) {
        return None;
    }
    let topology = surface_topology(&triangles);
    let normals = vertex_normals(&positions, &triangles);
    let velocities = samples.velocities_at(&positions);
    Some(samples.add_attributes(FrameSkin {
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

/// Number of cells along the edge of a subdomain: the whole extent of a small body, within limits.
fn subdomain_cells(samples: &PointSamples, settings: &Isosurface) -> u32 {
    let aabb = Aabb::from_points(samples.positions.iter().copied());
    let extent = aabb.extent().max_element() + 2.0 * SUPPORT_RADIUS * samples.spacing;
    ((extent / settings.cell).ceil() as u32).clamp(8, 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::enclosed_volume;

    const SPACING: Real = 0.1;

    fn block(counts: [usize; 3], origin: Vec3) -> Vec<Vec3> {
        let [nx, ny, nz] = counts;
        let cell = |i: usize| Vec3::new((i % nx) as Real, (i / nx % ny) as Real, (i / (nx * ny)) as Real);
        (0..nx * ny * nz).map(|i| origin + SPACING * cell(i)).collect()
    }

    fn reconstruct_block(positions: &[Vec3]) -> FrameSkin {
        let count = positions.len();
        let velocities: Vec<Vec3> = positions.iter().map(|p| Vec3::new(p.y, 0.0, 1.0)).collect();
        let temperatures: Vec<Real> = positions.iter().map(|p| p.x).collect();
        let strains = vec![0.25; count];
        let samples = PointSamples {
            positions,
            velocities: &velocities,
            temperatures: &temperatures,
            strains: &strains,
            spacing: SPACING,
        };
        reconstruct(&samples, &Isosurface::for_spacing(SPACING)).unwrap()
    }

    fn volume(skin: &FrameSkin) -> f64 {
        enclosed_volume(&skin.positions, &skin.triangles)
    }

    #[test]
    fn a_block_gets_a_closed_skin_with_its_volume() {
        let skin = reconstruct_block(&block([10, 12, 14], Vec3::ZERO));
        assert!(skin.topology.closed);
        assert_eq!((skin.topology.pieces, skin.topology.genus), (1, Some(0)));
        // Edges are rounded with a radius of about half a spacing: a square minus a quarter disc of that
        // radius, along 144 spacings of edges.
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
    fn attributes_of_the_particles_are_interpolated_at_the_skin() {
        let skin = reconstruct_block(&block([10, 12, 14], Vec3::ZERO));
        for (v, x) in skin.positions.iter().enumerate() {
            assert!((skin.temperatures[v] - x.x).abs() < 1.01 * SPACING, "{x} {}", skin.temperatures[v]);
            assert!((skin.velocities[v] - Vec3::new(x.y, 0.0, 1.0)).length() < 1.01 * SPACING);
        }
        assert_eq!(skin.strains, vec![0.25; skin.positions.len()]);
    }

    #[test]
    fn components_and_handles_are_counted() {
        let parts = [block([4; 3], Vec3::ZERO), block([4; 3], Vec3::X)].concat();
        assert_eq!(reconstruct_block(&parts).topology, crate::frame::Topology { closed: true, pieces: 2, genus: None });
        let mut ring = block([12, 3, 12], Vec3::ZERO);
        ring.retain(|x| (x.x - 0.55).abs().max((x.z - 0.55).abs()) > 0.31);
        assert_eq!(reconstruct_block(&ring).topology.genus, Some(1));
    }

    #[test]
    fn the_skin_is_the_same_on_any_number_of_threads() {
        for counts in [[6, 6, 6], [40, 8, 40], [150, 2, 150]] {
            let mut positions = block(counts, Vec3::ZERO);
            positions.iter_mut().enumerate().for_each(|(i, x)| x.y += 0.03 * (i as Real * 0.37).sin());
            let reconstruct_block =
                |threads| crate::parallel::with_threads(Some(threads), || reconstruct_block(&positions));
            let alone = reconstruct_block(1);
            for threads in [2, 3, 8] {
                let other = reconstruct_block(threads);
                assert!(alone.triangles == other.triangles, "{counts:?}, {threads} threads");
                assert!(alone.positions.iter().zip(&other.positions).all(|(a, b)| a.to_array() == b.to_array()));
            }
        }
    }

    #[test]
    fn one_particle_is_a_drop_and_none_is_nothing() {
        let drop = reconstruct_block(&[Vec3::splat(3.0)]);
        assert!(drop.topology.closed && volume(&drop) > 0.0);
        let nothing =
            PointSamples { positions: &[], velocities: &[], temperatures: &[], strains: &[], spacing: SPACING };
        assert!(reconstruct(&nothing, &Isosurface::for_spacing(SPACING)).is_none());
    }
}
