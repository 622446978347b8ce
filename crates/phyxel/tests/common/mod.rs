//! Fixtures: materials, bodies and worlds for experiments.
#![allow(dead_code)]

use glam::Vec3;
use phyxel::body::{NewBody, Pose};
use phyxel::material::{Curve, Friction, Material};
use phyxel::model::mass_spring::Cell;
use phyxel::model::shape_matching::{Clusters, MatchingMode, ShapeMatchingSettings};
use phyxel::model::{MassSpringSettings, ModelSettings};
use phyxel::obstacle::{Geometry, Obstacle};
use phyxel::skin::Skin;
use phyxel::step::{StageTimes, step};
use phyxel::{Settings, World};
use std::sync::Arc;

/// Linear congruential generator.
pub struct Lcg(pub u64);

impl Lcg {
    pub fn next_unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
    pub fn next_vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.next_unit() - 0.5, self.next_unit() - 0.5, self.next_unit() - 0.5) * (2.0 * size)
    }
}

/// Points of a cubic lattice in a block, centred at the origin.
pub fn block(counts: [u32; 3], spacing: f32) -> Vec<Vec3> {
    let [nx, ny, nz] = counts;
    let all = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    let centre = Vec3::new((nx - 1) as f32, (ny - 1) as f32, (nz - 1) as f32) * 0.5;
    all.map(|[x, y, z]| (Vec3::new(x as f32, y as f32, z as f32) - centre) * spacing).collect()
}

pub const SPACING: f32 = 0.1;

/// Shape-matching body of density 1000 at rest at the origin.
pub fn body(name: &str, samples: Vec<Vec3>, settings: ShapeMatchingSettings) -> NewBody {
    NewBody {
        name: name.into(),
        material: "matter".into(),
        model: ModelSettings::ShapeMatching(settings),
        volume: samples.len() as f64 * f64::from(SPACING).powi(3),
        samples,
        start: None,
        spacing: SPACING,
        radius: None,
        pose: Pose::default(),
        velocity: Vec3::ZERO,
        spin: Vec3::ZERO,
        temperature: 0.0,
        held: vec![],
        self_contact: false,
        skin: Skin::Particles,
    }
}

/// Cells of a block with these counts along the axes, and their corners as samples, centred at the origin.
pub fn block_cells(counts: [u32; 3], edges: [f32; 3]) -> (Vec<Vec3>, Vec<Cell>) {
    let [nx, ny, nz] = counts;
    let number = |x: u32, y: u32, z: u32| x + (nx + 1) * (y + (ny + 1) * z);
    let all = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    let cells = all.map(|[x, y, z]| {
        std::array::from_fn(|k| number(x + (k as u32 & 1), y + (k as u32 >> 1 & 1), z + (k as u32 >> 2)))
    });
    let samples = block([nx + 1, ny + 1, nz + 1], 1.0).into_iter().map(|x| x * Vec3::from_array(edges));
    (samples.collect(), cells.collect())
}

/// Mass-spring block of density 1000 at rest at the origin.
pub fn spring_block(name: &str, counts: [u32; 3], edges: [f32; 3], settings: MassSpringSettings) -> NewBody {
    let (samples, cells) = block_cells(counts, edges);
    let volume = cells.len() as f64 * edges.iter().map(|edge| f64::from(*edge)).product::<f64>();
    let model = ModelSettings::MassSpring(MassSpringSettings { cells: Arc::new(cells), ..settings });
    let spacing = edges.into_iter().fold(f32::INFINITY, f32::min);
    NewBody { model, volume, spacing, ..body(name, samples, ShapeMatchingSettings::default()) }
}

pub fn default_material() -> Material {
    Material { name: "matter".into(), young_modulus: Curve::constant(1.0e6), ..Material::default() }
}

/// World without gravity.
pub fn world_without_gravity(material: Material) -> World {
    world(material, Vec3::ZERO)
}

pub fn world(material: Material, gravity: Vec3) -> World {
    let mut world = World::new(Settings { gravity, ..Settings::default() }).unwrap();
    world.add_material(material).unwrap();
    world
}

pub const DOWN: Vec3 = Vec3::new(0.0, -9.81, 0.0);

pub fn floor(friction: Friction, restitution: f32) -> Obstacle {
    let mut floor = Obstacle::new("floor", Geometry::HalfSpace { normal: Vec3::Y }, Pose::default());
    (floor.friction, floor.restitution) = (friction, restitution);
    floor
}

pub fn matching_settings(mode: MatchingMode, clusters: [u32; 3]) -> ShapeMatchingSettings {
    ShapeMatchingSettings { mode, clusters: Clusters::Counts(clusters), ..ShapeMatchingSettings::default() }
}

/// Advances by steps of equal length.
pub fn run_steps(world: &mut World, dt: f32, steps: usize) {
    for _ in 0..steps {
        step(world, dt, &mut StageTimes::default()).unwrap();
    }
}

pub fn mean_position(world: &World, body: usize) -> Vec3 {
    let range = world.bodies()[body].range();
    let count = range.len() as f32;
    world.particles().position[range].iter().sum::<Vec3>() / count
}

pub fn mean_velocity(world: &World, body: usize) -> Vec3 {
    let range = world.bodies()[body].range();
    let count = range.len() as f32;
    world.particles().velocity[range].iter().sum::<Vec3>() / count
}

pub fn max_strain(world: &World, body: usize) -> f64 {
    world.frame().bodies[body].report.strain_max
}

pub fn run_frames(world: &mut World, count: usize) {
    for _ in 0..count {
        world.advance_frame().unwrap();
    }
}
