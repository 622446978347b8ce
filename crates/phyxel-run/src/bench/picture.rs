//! Benchmarks of rendering and of skins.

use super::shape_matching::{SPACING, blocks};
use super::{BenchError, Measurement, Row};
use phyxel::skin::{Isosurface, Skin};
use phyxel::{Frame, parallel};
use phyxel_render::{RenderSettings, render};
use phyxel_scene::{BuildOptions, Scene};
use std::time::Instant;

const REPETITIONS: usize = 5;

/// Renders pictures of a pile of skins.
pub(super) fn pictures(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let scene = Scene::load("shape-pile", &[])?;
    let frame = scene.build(&BuildOptions::default())?.world.frame();
    let triangles =
        frame.bodies.iter().filter_map(|body| body.skin.as_ref()).map(|skin| skin.triangles.len()).sum::<usize>();
    let view = RenderSettings::default();
    for &threads in threads {
        let (seconds, picture) = repeat(threads, || render(&frame, &view));
        let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&picture.rgb));
        let what = "a preview of 1280x720 pixels";
        let measured = Measurement { name: "picture", what, threads, published: None };
        emit(measured.row((triangles as u64, "triangle"), seconds, hash));
    }
    Ok(())
}

/// Reconstructs the isosurface of many particles.
pub(super) fn skins(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let skin = Skin::Isosurface(Isosurface::for_spacing(SPACING));
    let world = blocks(1, [50, 50, 40], [1, 1, 1], skin)?;
    for &threads in threads {
        let (seconds, frame) = repeat(threads, || world.frame());
        let count = world.particles().len();
        let figure = "0.35 s for 100,000 particles on two cores, at the cell size the crate recommends";
        let what = "a frame with its isosurface";
        let measured = Measurement { name: "skin", what, threads, published: Some(figure) };
        emit(measured.row((count as u64, "particle"), seconds, hash_of_skins(&frame)));
    }
    Ok(())
}

fn hash_of_skins(frame: &Frame) -> String {
    let mut bytes = Vec::new();
    for skin in frame.bodies.iter().filter_map(|body| body.skin.as_ref()) {
        skin.positions.iter().flat_map(|x| x.to_array()).for_each(|x| bytes.extend(x.to_bits().to_le_bytes()));
    }
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes))
}

/// Times repetitions after a warm-up; returns times (s) and the last result.
fn repeat<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> (Vec<f64>, T) {
    parallel::with_threads(Some(threads), || {
        let mut result = work();
        let mut seconds = Vec::with_capacity(REPETITIONS);
        for _ in 0..REPETITIONS {
            let start = Instant::now();
            result = work();
            seconds.push(start.elapsed().as_secs_f64());
        }
        (seconds, result)
    })
}
