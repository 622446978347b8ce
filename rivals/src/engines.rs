//! The engines, each with one body of tetrahedra.

use crate::mesh::Mesh;
use anyhow::Result;
use glam::Vec3;
use phyxel::body::{NewBody, Pose};
use phyxel::material::Material;
use phyxel::model::continuum::Integration;
use phyxel::model::{ModelSettings, TetraSettings};
use phyxel::skin::Skin;
use phyxel::step::{StageTimes, step};
use phyxel::{Settings, World};
use rapier3d::prelude::{
    PhysicsWorld, SoftBodyBuilder, SoftBodyCellModel, SoftBodyHandle, SoftBodyMaterial, SoftBodySolver,
};
use std::sync::Arc;

/// Rounds in which every system here is solved.
const ENOUGH_ROUNDS: usize = 2000;

pub const POISSON: f32 = 0.3;
/// kg/m3.
pub const DENSITY: f32 = 1000.0;

/// What is simulated: matter that is the same in all directions, and not damped but where an engine comes with damping.
pub struct Task<'a> {
    pub mesh: &'a Mesh,
    /// Nodes that are held.
    pub held: Vec<u32>,
    /// Pa.
    pub young_modulus: f32,
    /// m/s2.
    pub gravity: Vec3,
    /// Around the middle, rad/s.
    pub spin: Vec3,
    /// Step, s.
    pub dt: f32,
}

/// A body in an engine.
pub trait Engine {
    /// Takes one step on this thread.
    fn step(&mut self) -> Result<()>;
    /// Where nodes are, m.
    fn positions(&self) -> Vec<Vec3>;
}

/// Phyxel with implicit steps.
pub struct Phyxel {
    world: World,
    dt: f32,
}

impl Phyxel {
    pub fn new(task: &Task) -> Result<Self> {
        let elements = Arc::new(task.mesh.elements.clone());
        let settings = TetraSettings { elements, integration: Integration::Implicit, ..TetraSettings::default() };
        let mut world = World::new(Settings { gravity: task.gravity, ..Settings::default() })?;
        world.add_material(Material {
            young_modulus: task.young_modulus.into(),
            poisson_ratio: POISSON,
            density: DENSITY,
            damping: 0.0,
            ..Material::default()
        })?;
        world.add_body(NewBody {
            name: "body".into(),
            material: Material::default().name,
            model: ModelSettings::Tetra(settings),
            samples: task.mesh.nodes.clone(),
            start: None,
            volume: task.mesh.node_volumes().iter().sum(),
            spacing: task.mesh.cell,
            radius: None,
            pose: Pose::default(),
            velocity: Vec3::ZERO,
            spin: task.spin,
            temperature: 0.0,
            held: task.held.clone(),
            self_contact: false,
            skin: Skin::Particles,
        })?;
        Ok(Self { world, dt: task.dt })
    }
}

impl Engine for Phyxel {
    fn step(&mut self) -> Result<()> {
        Ok(step(&mut self.world, self.dt, &mut StageTimes::default())?)
    }

    fn positions(&self) -> Vec<Vec3> {
        self.world.particles().position.clone()
    }
}

/// How Rapier is set.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    /// Implicit finite elements as they come: sub-steps, each with few rounds of conjugate gradients.
    Fem,
    /// Implicit finite elements in one step that is solved, to its own tolerance.
    FemSolved,
    /// Rows of constraints as they come.
    Rows,
}

/// Rapier.
pub struct Rapier {
    world: PhysicsWorld,
    body: SoftBodyHandle,
}

impl Rapier {
    pub fn new(task: &Task, way: Way) -> Self {
        let mut world = PhysicsWorld { gravity: task.gravity, ..PhysicsWorld::default() };
        world.integration_parameters.dt = task.dt;
        if way == Way::FemSolved {
            world.integration_parameters.num_solver_iterations = 1;
            world.integration_parameters.soft_bodies.fem.max_linear_iterations = ENOUGH_ROUNDS;
        }
        let as_it_comes = SoftBodyMaterial::default();
        let masses = task.mesh.node_volumes().into_iter().map(|volume| DENSITY * volume as f32);
        let builder = SoftBodyBuilder::default()
            .positions(task.mesh.nodes.clone())
            .masses(masses.collect())
            .pinned_particles(task.held.iter().copied())
            .cells(task.mesh.elements.clone())
            .cell_model(SoftBodyCellModel::Corotational)
            .solver(if way == Way::Rows { SoftBodySolver::Constraints } else { SoftBodySolver::Fem })
            .material(SoftBodyMaterial {
                young_modulus: task.young_modulus,
                poisson_ratio: POISSON,
                elastic_damping_ratio: if way == Way::FemSolved { 0.0 } else { as_it_comes.elastic_damping_ratio },
                ..as_it_comes
            })
            .no_surface_collider()
            .can_sleep(false);
        let body = world.insert_soft_body(builder);
        for (node, at) in task.mesh.nodes.iter().enumerate() {
            world.soft_bodies[body].set_particle_velocity(node, task.spin.cross(*at));
        }
        Self { world, body }
    }
}

impl Engine for Rapier {
    fn step(&mut self) -> Result<()> {
        self.world.step();
        Ok(())
    }

    fn positions(&self) -> Vec<Vec3> {
        self.world.soft_bodies[self.body].particle_positions().collect()
    }
}
