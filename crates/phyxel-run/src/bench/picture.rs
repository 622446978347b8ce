//! Benchmarks of what is shown: skins around particles, pictures.

use super::{BenchError, Row, median_and_minimum};
use glam::Vec3;
use phyxel::body::{NewBody, Pose};
use phyxel::material::Material;
use phyxel::model::ModelSettings;
use phyxel::model::shape::ShapeSettings;
use phyxel::skin::{Isosurface, Skin};
use phyxel::{Frame, Settings, World, parallel};
use phyxel_render::{View, render};
use phyxel_scene::{BuildOptions, Scene};
use std::time::Instant;

const REPETITIONS: usize = 5;

/// Pictures of a heap of skins.
pub(super) fn pictures(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let scene = Scene::load("shape-pile", &[])?;
    let frame = scene.build(&BuildOptions::default())?.world.frame();
    let triangles = frame.bodies.iter().filter_map(|body| body.skin.as_ref()).map(|skin| skin.triangles.len()).sum();
    let view = View::default();
    for &threads in threads {
        let (seconds, picture) = repeat(threads, || render(&frame, &view));
        let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&picture.rgb));
        let measured = "a preview of 1280x720 pixels";
        row(summarise("picture", measured, threads, (triangles, "triangle"), seconds, hash, None));
    }
    Ok(())
}

/// A surface around many particles.
pub(super) fn skins(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let world = block([50, 50, 40])?;
    for &threads in threads {
        let (seconds, frame) = repeat(threads, || world.frame());
        let count = world.particles().len();
        let figure = "0.35 s for 100,000 particles on two cores, at the cell size the crate recommends";
        let measured = "a frame with its isosurface";
        row(summarise("skin", measured, threads, (count, "particle"), seconds, fingerprint(&frame), Some(figure)));
    }
    Ok(())
}

/// A block of particles with an isosurface.
fn block(counts: [u32; 3]) -> Result<World, BenchError> {
    let spacing = 0.02;
    let [nx, ny, nz] = counts;
    let mut world = World::new(Settings::default())?;
    world.add_material(Material::default())?;
    let place = |i: u32| Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / (nx * ny)) as f32);
    let samples: Vec<Vec3> = (0..nx * ny * nz).map(|i| place(i) * spacing).collect();
    world.add_body(NewBody {
        name: "block".into(),
        material: Material::default().name,
        model: ModelSettings::Shape(ShapeSettings::default()),
        volume: samples.len() as f64 * f64::from(spacing).powi(3),
        samples,
        start: None,
        spacing,
        radius: None,
        pose: Pose::default(),
        velocity: Vec3::ZERO,
        spin: Vec3::ZERO,
        temperature: 0.0,
        held: vec![],
        self_contact: false,
        skin: Skin::Isosurface(Isosurface::for_spacing(spacing)),
    })?;
    Ok(world)
}

fn fingerprint(frame: &Frame) -> String {
    let mut bytes = Vec::new();
    for skin in frame.bodies.iter().filter_map(|body| body.skin.as_ref()) {
        skin.positions.iter().flat_map(|x| x.to_array()).for_each(|x| bytes.extend(x.to_bits().to_le_bytes()));
    }
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes))
}

/// Durations of some repetitions after one that does not count, and what came out.
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

fn summarise(
    name: &str,
    measured: &'static str,
    threads: usize,
    (elements, element): (usize, &'static str),
    seconds: Vec<f64>,
    state_hash: String,
    published: Option<&str>,
) -> Row {
    let repetitions = seconds.len();
    let (median, minimum) = median_and_minimum(seconds);
    Row {
        name: name.to_string(),
        measured,
        threads,
        elements: elements as u64,
        element,
        repetitions,
        median,
        minimum,
        per_element: median / elements.max(1) as f64,
        state_hash,
        published: published.map(str::to_string),
    }
}
