//! Fixtures: materials, bodies and worlds for experiments, and what is measured of them.
#![allow(dead_code)]

pub mod beams;
pub mod determinism;
pub mod golden;
pub mod motion;
pub mod thermal;

use glam::{DVec3, Vec3};
use phyxel::body::{NewBody, Pose};
use phyxel::commands::{Command, Setting, Target};
use phyxel::material::{Curve, Friction, Material};
use phyxel::model::mass_spring::Cell;
use phyxel::model::shape_matching::{Clusters, MatchingMode, ShapeMatchingSettings};
use phyxel::model::{CrystalSettings, MassSpringSettings, ModelSettings};
use phyxel::obstacle::{Geometry, Obstacle};
use phyxel::step::{StageTimes, step};
use phyxel::store::Phase;
use phyxel::{Settings, World};
use std::sync::Arc;

/// Linear congruential generator; the golden tables depend on its numbers.
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

/// Name of the material of bodies.
pub const MATERIAL: &str = "matter";

/// Body at rest at the origin, with a cube of the spacing for each sample.
pub fn new_body(name: &str, model: ModelSettings, samples: Vec<Vec3>, spacing: f32) -> NewBody {
    NewBody { material: MATERIAL.into(), ..NewBody::new(name, model, samples, spacing) }
}

/// Shape-matching body at rest at the origin.
pub fn body(name: &str, samples: Vec<Vec3>, settings: ShapeMatchingSettings) -> NewBody {
    new_body(name, ModelSettings::ShapeMatching(settings), samples, SPACING)
}

/// Fluid body without particles.
pub fn empty_fluid(name: &str, spacing: f32) -> NewBody {
    let fluid = CrystalSettings { phase: Phase::Fluid, ..CrystalSettings::default() };
    new_body(name, ModelSettings::Crystal(fluid), Vec::new(), spacing)
}

/// Changes of a new body, one after the other.
pub trait BodyFixture {
    /// The body at a position.
    fn at(self, position: Vec3) -> Self;
    /// The body with its initial positions a map of its rest positions, in its frame.
    fn deformed(self, map: impl FnMut(Vec3) -> Vec3) -> Self;
    /// The body with samples fixed that are selected by their rest positions.
    fn fixed_where(self, is_fixed: impl Fn(Vec3) -> bool) -> Self;
}

impl BodyFixture for NewBody {
    fn at(self, position: Vec3) -> Self {
        NewBody { pose: Pose { position, ..self.pose }, ..self }
    }

    fn deformed(self, map: impl FnMut(Vec3) -> Vec3) -> Self {
        NewBody { start: Some(self.samples.iter().copied().map(map).collect()), ..self }
    }

    fn fixed_where(self, is_fixed: impl Fn(Vec3) -> bool) -> Self {
        NewBody { held: select(&self.samples, is_fixed), ..self }
    }
}

/// Indices of selected samples.
pub fn select(samples: &[Vec3], is_selected: impl Fn(Vec3) -> bool) -> Vec<u32> {
    (0..samples.len() as u32).filter(|&i| is_selected(samples[i as usize])).collect()
}

/// Pose without rotation.
pub fn pose_at(position: Vec3) -> Pose {
    Pose { position, ..Pose::default() }
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

/// Mass-spring block at rest at the origin.
pub fn spring_block(name: &str, counts: [u32; 3], edges: [f32; 3], settings: MassSpringSettings) -> NewBody {
    let (samples, cells) = block_cells(counts, edges);
    let volume = cells.len() as f64 * edges.iter().map(|edge| f64::from(*edge)).product::<f64>();
    let model = ModelSettings::MassSpring(MassSpringSettings { cells: Arc::new(cells), ..settings });
    let spacing = edges.into_iter().fold(f32::INFINITY, f32::min);
    NewBody { volume, ..new_body(name, model, samples, spacing) }
}

/// Material of density 1000.
pub fn default_material() -> Material {
    Material { name: MATERIAL.into(), young_modulus: Curve::constant(1.0e6), ..Material::default() }
}

/// Elastic material of density 1000 without damping.
pub fn elastic(young: f32, poisson: f32) -> Material {
    Material { young_modulus: young.into(), poisson_ratio: poisson, damping: 0.0, ..default_material() }
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

/// Additions to a new world, one after the other.
pub trait WorldFixture {
    fn with_body(self, body: NewBody) -> Self;
    fn with_obstacle(self, obstacle: Obstacle) -> Self;
}

impl WorldFixture for World {
    fn with_body(mut self, body: NewBody) -> Self {
        self.add_body(body).unwrap();
        self
    }

    fn with_obstacle(mut self, obstacle: Obstacle) -> Self {
        self.add_obstacle(obstacle).unwrap();
        self
    }
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

pub fn run_frames(world: &mut World, count: usize) {
    for _ in 0..count {
        world.advance_frame().unwrap();
    }
}

/// Changes a setting.
pub fn set(world: &mut World, target: Target, setting: Setting) {
    world.apply(Command::Set { target, setting }).unwrap();
}

/// Changes a setting of a body.
pub fn set_body(world: &mut World, name: &str, setting: Setting) {
    set(world, Target::Body(name.into()), setting);
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

/// Extents of the first body along the axes, m.
pub fn size(world: &World) -> [f64; 3] {
    let [low, high] = world.frame().bodies[0].report.bounds;
    [0, 1, 2].map(|axis| high[axis] - low[axis])
}

/// Momentum and angular momentum about the origin.
pub fn momenta(world: &World) -> (DVec3, DVec3) {
    let totals = world.frame().totals;
    (totals.momentum.into(), totals.angular_momentum.into())
}

pub fn momentum(world: &World) -> DVec3 {
    momenta(world).0
}

/// Mechanical energy, J.
pub fn mechanical_energy(world: &World) -> f64 {
    let energy = world.frame().totals.energy;
    energy.kinetic + energy.elastic + energy.gravity
}

/// Heat of the particles of a body, J.
pub fn heat_of(world: &World, body: usize) -> f64 {
    let particles = world.particles();
    world.bodies()[body].range().map(|i| f64::from(particles.mass[i]) * particles.enthalpy[i]).sum()
}

/// Relative error of the heat balance.
pub fn balance_error(world: &World) -> f64 {
    world.frame().totals.balance_error.abs()
}
