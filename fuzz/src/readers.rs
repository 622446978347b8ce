//! Fuzzing of all file readers. Errors are fine, panics are not.
//!
//! This file is part of two crates: the fuzz targets, and the test that replays their findings.

use phyxel::World;
use phyxel::step::{StageTimes, step};
use phyxel_scene::import::mesh::{MeshFormat, read_bytes};
use phyxel_scene::import::tetra::{self, TetraSource};
use phyxel_scene::{BuildOptions, Scene, SkinDescription};
use std::path::Path;

/// Largest number of particles of a world.
const MAX_PARTICLES: usize = 2_000;
/// Cells along the longest side of distance grids and surfaces.
const CELLS_PER_SIDE: f32 = 16.0;
/// Length of the time step, s.
const STEP: f32 = 1.0 / 120.0;

/// Reads bytes with the reader of a target; returns false if there is no such target.
pub fn read(target: &str, bytes: &[u8]) -> bool {
    match target {
        "scene" => read_scene(bytes),
        "obj" => read_mesh(MeshFormat::Obj, bytes),
        "ply" => read_mesh(MeshFormat::Ply, bytes),
        "stl" => read_mesh(MeshFormat::Stl, bytes),
        "gltf" => read_mesh(MeshFormat::Gltf, bytes),
        "msh" => read_tetrahedra(TetraSource::Msh(bytes)),
        "vtk" => read_tetrahedra(TetraSource::Vtk(bytes)),
        "vtu" => read_tetrahedra(TetraSource::Vtu(bytes)),
        "tetgen" => {
            // Two files, one after the other, with a zero between them.
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            let (nodes, rest) = bytes.split_at(end);
            read_tetrahedra(TetraSource::Tetgen { nodes, elements: rest.get(1..).unwrap_or_default() });
        }
        _ => return false,
    }
    true
}

/// Reads a mesh and checks that it is consistent.
fn read_mesh(format: MeshFormat, bytes: &[u8]) {
    match read_bytes(format, bytes) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mesh) => {
            let count = mesh.positions.len();
            assert!(mesh.triangles.iter().flatten().all(|&index| (index as usize) < count), "an index out of range");
            assert!(mesh.positions.iter().all(|position| position.is_finite()), "a vertex that is not finite");
        }
    }
}

/// Reads tetrahedra and checks that they are consistent.
fn read_tetrahedra(source: TetraSource) {
    match tetra::read_bytes(source) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(import) => {
            let (nodes, elements) = (&import.mesh.positions, &import.mesh.elements);
            let inside = |index: &u32| (*index as usize) < nodes.len();
            assert!(elements.iter().flatten().all(inside), "an index out of range");
            assert!(nodes.iter().all(|node| node.is_finite()), "a node that is not finite");
            assert!((0..elements.len()).all(|i| import.mesh.element_volume(i) > 0.0), "an inverted element");
        }
    }
}

/// Reads a scene; if it is small, builds it, takes one step and checks the result.
fn read_scene(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Scene::read(text, "fuzz.toml", Path::new("no-such-folder")) {
        Err(errors) => assert!(!errors.problems.is_empty() && !errors.to_string().is_empty()),
        Ok(mut scene) => {
            coarsen(&mut scene);
            match scene.build(&BuildOptions { max_particles: MAX_PARTICLES, ..BuildOptions::default() }) {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(built) => try_step(built.world),
            }
        }
    }
}

/// Limits the resolution of distance grids and surfaces, which might exhaust the memory.
fn coarsen(scene: &mut Scene) {
    for obstacle in &mut scene.obstacles {
        if let Some(bounds) = obstacle.shape.bounds() {
            let min_cell = bounds.extent().max_element() * obstacle.place.scale / CELLS_PER_SIDE;
            obstacle.cell = Some(obstacle.cell.unwrap_or(min_cell).max(min_cell)).filter(|&cell| cell > 0.0);
        }
    }
    for drain in &mut scene.drains {
        if let Some(bounds) = drain.region.bounds() {
            let min_cell = bounds.extent().max_element() / CELLS_PER_SIDE;
            drain.cell = Some(drain.cell.unwrap_or(min_cell).max(min_cell)).filter(|&cell| cell > 0.0);
        }
    }
    for body in &mut scene.bodies {
        let detail = match &mut body.skin {
            SkinDescription::Mesh { cell, .. } => cell,
            SkinDescription::Surfels { spacing, .. } => spacing,
            SkinDescription::Particles
            | SkinDescription::Faces
            | SkinDescription::Smooth(_)
            | SkinDescription::Isosurface { .. } => continue,
        };
        if let Some(bounds) = body.shape.as_ref().and_then(|shape| shape.bounds()) {
            let min_cell = bounds.extent().max_element() * body.place.scale / CELLS_PER_SIDE;
            *detail = Some(detail.unwrap_or(0.5 * body.spacing).max(min_cell));
        }
    }
}

/// Takes one step. It may fail with an error, but must then restore the world.
fn try_step(mut world: World) {
    if let Err(error) = step(&mut world, STEP, &mut StageTimes::default()) {
        assert!(!error.to_string().is_empty());
    }
    assert!(world.particles().position.iter().all(|position| position.is_finite()), "a position that is not finite");
    let frame = world.frame();
    assert_eq!(frame.particles.position.len(), world.particles().len());
}
