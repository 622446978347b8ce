//! Giving bytes to everything that reads files. Errors are fine, panics are not.
//!
//! This file is part of two crates: the fuzz targets, and the test that replays their finds.

use phyxel::World;
use phyxel::step::{StageTimes, step};
use phyxel_scene::mesh::{Format, read_bytes};
use phyxel_scene::tetra::{self, Source};
use phyxel_scene::{BuildOptions, Scene, SkinDescription};
use std::path::Path;

/// Most particles of a world that is built.
const PARTICLES: usize = 2_000;
/// Cells along the longest side of what is sampled on a grid.
const CELLS: f32 = 16.0;
/// Length of the one step that is taken, s.
const STEP: f32 = 1.0 / 120.0;

/// Reads bytes with the reader of a target; false if there is no such target.
pub fn read(target: &str, bytes: &[u8]) -> bool {
    match target {
        "scene" => read_scene(bytes),
        "obj" => read_mesh(Format::Obj, bytes),
        "ply" => read_mesh(Format::Ply, bytes),
        "stl" => read_mesh(Format::Stl, bytes),
        "gltf" => read_mesh(Format::Gltf, bytes),
        "msh" => read_tetrahedra(Source::Msh(bytes)),
        "vtk" => read_tetrahedra(Source::Vtk(bytes)),
        "vtu" => read_tetrahedra(Source::Vtu(bytes)),
        "tetgen" => {
            // Two files, one after the other, with a zero between them.
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            let (nodes, rest) = bytes.split_at(end);
            read_tetrahedra(Source::Tetgen { nodes, elements: rest.get(1..).unwrap_or_default() });
        }
        _ => return false,
    }
    true
}

/// Reads a mesh. What is read must hold together.
fn read_mesh(format: Format, bytes: &[u8]) {
    match read_bytes(format, bytes) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mesh) => {
            let count = mesh.positions.len();
            assert!(mesh.triangles.iter().flatten().all(|&index| (index as usize) < count), "an index out of range");
            assert!(mesh.positions.iter().all(|position| position.is_finite()), "a vertex that is not finite");
        }
    }
}

/// Reads tetrahedra. What is read must hold together.
fn read_tetrahedra(source: Source) {
    match tetra::read_bytes(source) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(reading) => {
            let (nodes, elements) = (&reading.mesh.positions, &reading.mesh.elements);
            let inside = |index: &u32| (*index as usize) < nodes.len();
            assert!(elements.iter().flatten().all(inside), "an index out of range");
            assert!(nodes.iter().all(|node| node.is_finite()), "a node that is not finite");
            assert!((0..elements.len()).all(|i| reading.mesh.element_volume(i) > 0.0), "an element inside out");
        }
    }
}

/// Reads a scene; if it is small, builds it, takes one step and looks at the result.
fn read_scene(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Scene::read(text, "fuzz.toml", Path::new("no-such-folder")) {
        Err(errors) => assert!(!errors.problems.is_empty() && !errors.to_string().is_empty()),
        Ok(mut scene) => {
            coarsen(&mut scene);
            match scene.build(&BuildOptions { max_particles: PARTICLES, ..BuildOptions::default() }) {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(built) => try_step(built.world),
            }
        }
    }
}

/// Keeps grids of distances and surfaces small: they may be fine enough to fill the memory of a machine.
fn coarsen(scene: &mut Scene) {
    for obstacle in &mut scene.obstacles {
        if let Some(bounds) = obstacle.shape.bounds() {
            let least = bounds.size().max_element() * obstacle.place.scale / CELLS;
            obstacle.cell = Some(obstacle.cell.unwrap_or(least).max(least)).filter(|&cell| cell > 0.0);
        }
    }
    for drain in &mut scene.drains {
        if let Some(bounds) = drain.region.bounds() {
            let least = bounds.size().max_element() / CELLS;
            drain.cell = Some(drain.cell.unwrap_or(least).max(least)).filter(|&cell| cell > 0.0);
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
            let least = bounds.size().max_element() * body.place.scale / CELLS;
            *detail = Some(detail.unwrap_or(0.5 * body.spacing).max(least));
        }
    }
}

/// Takes one step. It may fail with a reason, but then the world is as good as before.
fn try_step(mut world: World) {
    if let Err(error) = step(&mut world, STEP, &mut StageTimes::default()) {
        assert!(!error.to_string().is_empty());
    }
    assert!(world.particles().position.iter().all(|position| position.is_finite()), "a position that is no number");
    let frame = world.frame();
    assert_eq!(frame.particles.position.len(), world.particles().len());
}
