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

/// Maximum number of linear iterations; every system here converges in fewer.
const MAX_LINEAR_ITERATIONS: usize = 2000;

pub const POISSON: f32 = 0.3;
/// kg/m3.
pub const DENSITY: f32 = 1000.0;

/// Simulated problem: isotropic material, undamped except for the default damping of an engine.
pub struct Problem<'a> {
    pub mesh: &'a Mesh,
    /// Indices of fixed nodes.
    pub fixed: Vec<u32>,
    /// Pa.
    pub young_modulus: f32,
    /// m/s2.
    pub gravity: Vec3,
    /// Initial angular velocity about the centre, rad/s.
    pub spin: Vec3,
    /// Time step, s.
    pub dt: f32,
}

/// Body in an engine.
pub trait Engine {
    /// Advances by one step on this thread.
    fn step(&mut self) -> Result<()>;
    /// Positions of the nodes, m.
    fn positions(&self) -> Vec<Vec3>;
}

/// Phyxel with implicit integration.
pub struct Phyxel {
    world: World,
    dt: f32,
}

impl Phyxel {
    pub fn new(problem: &Problem) -> Result<Self> {
        let elements = Arc::new(problem.mesh.elements.clone());
        let settings = TetraSettings { elements, integration: Integration::Implicit, ..TetraSettings::default() };
        let mut world = World::new(Settings { gravity: problem.gravity, ..Settings::default() })?;
        world.add_material(Material {
            young_modulus: problem.young_modulus.into(),
            poisson_ratio: POISSON,
            density: DENSITY,
            damping: 0.0,
            ..Material::default()
        })?;
        world.add_body(NewBody {
            name: "body".into(),
            material: Material::default().name,
            model: ModelSettings::Tetra(settings),
            samples: problem.mesh.nodes.clone(),
            start: None,
            volume: problem.mesh.node_volumes().iter().sum(),
            spacing: problem.mesh.cell,
            radius: None,
            pose: Pose::default(),
            velocity: Vec3::ZERO,
            spin: problem.spin,
            temperature: 0.0,
            held: problem.fixed.clone(),
            self_contact: false,
            skin: Skin::Particles,
        })?;
        Ok(Self { world, dt: problem.dt })
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

/// Soft-body solver of Rapier.
#[derive(Clone, Copy, PartialEq)]
pub enum RapierSolver {
    /// Implicit finite elements with default settings: sub-steps, each with few conjugate-gradient iterations.
    Fem,
    /// Implicit finite elements in one step, solved to the default tolerance.
    FemConverged,
    /// Constraints with default settings.
    Constraints,
}

/// Rapier.
pub struct Rapier {
    world: PhysicsWorld,
    body: SoftBodyHandle,
}

impl Rapier {
    pub fn new(problem: &Problem, solver: RapierSolver) -> Self {
        let mut world = PhysicsWorld { gravity: problem.gravity, ..PhysicsWorld::default() };
        world.integration_parameters.dt = problem.dt;
        if solver == RapierSolver::FemConverged {
            world.integration_parameters.num_solver_iterations = 1;
            world.integration_parameters.soft_bodies.fem.max_linear_iterations = MAX_LINEAR_ITERATIONS;
        }
        let default = SoftBodyMaterial::default();
        let masses = problem.mesh.node_volumes().into_iter().map(|volume| DENSITY * volume as f32);
        let builder = SoftBodyBuilder::default()
            .positions(problem.mesh.nodes.clone())
            .masses(masses.collect())
            .pinned_particles(problem.fixed.iter().copied())
            .cells(problem.mesh.elements.clone())
            .cell_model(SoftBodyCellModel::Corotational)
            .solver(if solver == RapierSolver::Constraints { SoftBodySolver::Constraints } else { SoftBodySolver::Fem })
            .material(SoftBodyMaterial {
                young_modulus: problem.young_modulus,
                poisson_ratio: POISSON,
                elastic_damping_ratio: if solver == RapierSolver::FemConverged {
                    0.0
                } else {
                    default.elastic_damping_ratio
                },
                ..default
            })
            .no_surface_collider()
            .can_sleep(false);
        let body = world.insert_soft_body(builder);
        for (node, position) in problem.mesh.nodes.iter().enumerate() {
            world.soft_bodies[body].set_particle_velocity(node, problem.spin.cross(*position));
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
