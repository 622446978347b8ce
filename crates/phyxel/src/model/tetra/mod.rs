//! Corotational finite elements: linear tetrahedra with plasticity, fracture and welding.
//!
//! After `[Gis07]`, with the corrections of [`phyxel_laws::fem`] and the choices of `docs/tetra.md`. A
//! particle of the store is a node, which joins corners of elements. Element data survive when nodes
//! split or weld; everything derived (node connectivity, boundary, heat conduction) is rebuilt.

mod assembly;
mod body;
mod conduction;
mod contact;
mod implicit;
mod report;
mod settings;
mod surface;
mod thermal;
mod topology;

pub(crate) use self::body::node_volumes;
pub use self::settings::TetraSettings;

use self::assembly::{ElementArrays, ElementLaw};
use self::body::TetBody;
use self::implicit::{Island, build_islands};
use self::topology::fracture::{FractureTest, NodeSplit};
use self::topology::ties::Tie;
use crate::Real;
use crate::body::{Body, BodyId};
use crate::commands::Setting;
use crate::contact::ContactContext;
use crate::contact::MeshContacts;
use crate::frame::FrameSkin;
use crate::heat::ConductionBlock;
use crate::heat::Link;
use crate::material::Material;
use crate::model::continuum::Integration;
use crate::model::damping::lowest_bar_frequency;
use crate::model::{
    BodyModel, BodyState, ContactGeometry, ContactReactions, CutPlane, ModelTraits, Moved, View, ViewMut,
};
use crate::parallel;
use crate::step::StepContext;
use crate::store::{Flags, Particles};
use crate::world::World;
use glam::Vec3;
use phyxel_laws::fem::{ResponsePack, StatePack, ViscoelasticLaw};
use phyxel_laws::material::hooke::Hooke;
use phyxel_laws::shape_matching::gain::damping_from_rate;
use phyxel_laws::tet_collision::CollisionDetector;
use phyxel_laws::time_integration::stable_step;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Particles per task.
const GRAIN: usize = 1024;
/// Fraction of the stability limit that an explicit step may take.
const SAFETY: f64 = 0.8;
/// Largest damping ratio of the highest frequency that the damping of a material may cause in explicit
/// steps; more would make steps short.
const MAX_DAMPING_RATIO: f64 = 1.0;
/// Shortest explicit step, s: with `Integration::Auto` bodies that need shorter ones are integrated
/// implicitly.
const MIN_EXPLICIT_STEP: f64 = 1e-4;

/// Model of all tetrahedral bodies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TetraModel {
    bodies: Vec<TetBody>,
    /// Ties between nodes of different bodies, ascending; no node has two.
    ties: Vec<Tie>,
    /// Nodes whose ties have failed and that have not been out of contact since, ascending.
    released: Vec<u32>,
    /// Derived data, rebuilt when the description or the connectivity changes.
    #[serde(skip)]
    cache: Option<Box<TetraCache>>,
    /// Workspace of contact detection.
    #[serde(skip)]
    collision_detector: CollisionDetector,
    /// Heat conduction within all bodies.
    #[serde(skip)]
    conduction: Vec<ConductionBlock>,
}

/// Derived data of all bodies, and results of the last step.
#[derive(Clone, Debug)]
struct TetraCache {
    arrays: ElementArrays,
    /// By body.
    bodies: Vec<BodyCache>,
    /// Ties that fail at the end of the step.
    failed_ties: Vec<Tie>,
}

/// Derived data of a body.
#[derive(Clone, Debug)]
struct BodyCache {
    law: ViscoelasticLaw,
    /// Bound of stress over strain, Pa.
    stiffness_bound: Real,
    /// Element states by pack; empty if no element differs from the body.
    states: Vec<StatePack>,
    /// Element responses of the last force evaluation by pack; empty if not needed.
    responses: Vec<ResponsePack>,
    /// Mass-proportional damping rate, 1/s.
    mass_damping: Real,
    /// Stable explicit step, s; infinite for implicit integration.
    stable_step: f64,
    is_implicit: bool,
    /// True if its material has a strength.
    can_fracture: bool,
    /// Nodes that split at the end of the step.
    splits: Vec<NodeSplit>,
    /// Velocities of the implicit solution, m/s.
    solved_velocities: Vec<Vec3>,
}

impl BodyCache {
    /// Returns true if damping forces are evaluated explicitly.
    fn has_explicit_damping(&self) -> bool {
        self.law.damping_time > 0.0 && !self.is_implicit
    }
}

/// Properties of the model.
pub(super) const TRAITS: ModelTraits = ModelTraits {
    geometry: ContactGeometry::Mesh,
    has_surface_particles: true,
    can_be_cut: true,
    ..ModelTraits::SPHERES
};

impl TetraModel {
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: TetraSettings) {
        self.bodies.push(TetBody::new(id, body, particles, settings));
        self.invalidate();
    }

    fn make_cache(&self, view: &View) -> TetraCache {
        let body_of = |tet_body: &TetBody| view.body(tet_body.id);
        let ranges: Vec<Range<usize>> = self.bodies.iter().map(|tet_body| body_of(tet_body).range()).collect();
        let body_cache = |tet_body: &TetBody| {
            let body = body_of(tet_body);
            tet_body.make_cache(body, &view.materials[body.material.0 as usize], view.particles)
        };
        let body_caches: Vec<BodyCache> = self.bodies.iter().map(body_cache).collect();
        let keeps_corner_forces = self.bodies.iter().zip(&body_caches).map(|(tet_body, body_cache)| {
            let heat = &view.materials[body_of(tet_body).material.0 as usize].heat;
            body_cache.can_fracture || heat.from_work.damping > 0.0
        });
        TetraCache {
            arrays: ElementArrays::new(&self.bodies, &ranges, &keeps_corner_forces.collect::<Vec<bool>>()),
            bodies: body_caches,
            failed_ties: Vec::new(),
        }
    }
}

impl BodyModel for TetraModel {
    fn remove_body(&mut self, id: BodyId) {
        self.bodies.retain(|body| body.id != id);
        self.invalidate();
    }

    fn rearrange(&mut self, moved: &Moved) {
        // Nodes of elements are removed only with their body.
        self.bodies.retain_mut(|tet_body| tet_body.rearrange(moved));
        self.rearrange_ties(moved);
        self.invalidate();
    }

    fn invalidate(&mut self) {
        (self.cache, self.conduction) = (None, Vec::new());
    }

    fn prepare(&mut self, view: &View) {
        if self.cache.is_some() {
            return;
        }
        let mut cache = self.make_cache(view);
        for (tet_body, body_cache) in self.bodies.iter_mut().zip(&mut cache.bodies) {
            let body = view.body(tet_body.id);
            body_cache.choose_integration(tet_body, body.range(), view.material(tet_body.id), view.particles);
            tet_body.ensure_surface(body.range());
        }
        self.cache = Some(Box::new(cache));
        self.conduction = self.find_conduction(view);
    }

    /// Heat conduction within the bodies.
    fn conduction(&self) -> Vec<ConductionBlock> {
        self.conduction.clone()
    }

    /// Stable time step, s. Requires [`prepare`](Self::prepare).
    fn stable_step(&self) -> f64 {
        let body_caches = self.cache.iter().flat_map(|cache| &cache.bodies);
        body_caches.map(|body_cache| body_cache.stable_step).fold(f64::INFINITY, f64::min)
    }

    /// Adds elastic and damping forces, applies plastic flow, tests for fracture, and records the
    /// dissipated heat.
    fn exert_forces(&mut self, view: &mut ViewMut, context: &StepContext) {
        let Some(cache) = self.cache.as_mut().filter(|cache| !cache.bodies.is_empty()) else { return };
        let TetraCache { arrays, bodies: body_caches, .. } = &mut **cache;
        view.particles.force.resize(view.particles.mass.len(), Vec3::ZERO);
        for (k, (tet_body, body_cache)) in self.bodies.iter_mut().zip(body_caches).enumerate() {
            let material = view.material(tet_body.id);
            arrays.load_positions(k, &view.particles.position);
            // Implicit steps damp with the velocities at their end.
            if body_cache.has_explicit_damping() {
                arrays.load_velocities(k, &view.particles.velocity[arrays.ranges[k].particles.clone()]);
            }
            let law = ElementLaw {
                law: &body_cache.law,
                states: &body_cache.states,
                has_damping: body_cache.has_explicit_damping(),
            };
            arrays.compute_internal_forces(k, tet_body, &law, &mut body_cache.responses);
            arrays.add_internal_forces(k, &mut view.particles.force);
            if body_cache.can_fracture {
                let (responses, stiffness_bound) = (&body_cache.responses, body_cache.stiffness_bound);
                let test = FractureTest {
                    body: k,
                    arrays,
                    tet_body,
                    material,
                    particles: view.particles,
                    responses,
                    stiffness_bound,
                };
                body_cache.splits = test.find_splits();
            }
            if body_cache.has_explicit_damping() {
                let dissipated =
                    |i: usize| body_cache.responses.get(i / 8).map_or(0.0, |response| response.dissipated_power[i % 8]);
                tet_body.add_damping_heat(material, view.particles, context.dt, dissipated);
            }
            tet_body.flow_plastically(body_cache, material, view.particles, context.dt);
        }
        let failed = self.find_failed_ties(&view.view());
        if let Some(cache) = &mut self.cache {
            cache.failed_ties = failed;
        }
    }

    /// Advances velocities: `v += dt (g + f/m)`, or the implicit solution for the end of the step.
    fn advance_velocities(
        &mut self,
        view: &mut ViewMut,
        previous: &[Vec3],
        contacts: &ContactContext,
        context: &StepContext,
    ) -> ContactReactions {
        let Some(cache) = &mut self.cache else { return ContactReactions::default() };
        let explicit = self.bodies.iter_mut().zip(&cache.arrays.ranges).zip(&cache.bodies);
        for ((tet_body, ranges), body_cache) in explicit.filter(|(_, body_cache)| !body_cache.is_implicit) {
            tet_body.inertia_is_lost = false;
            body_cache.advance_explicitly(ranges.particles.clone(), view.particles, previous, context);
        }
        let mut reactions = ContactReactions::default();
        for island in build_islands(cache, contacts.vertex_face_contacts, &self.ties) {
            let island = Island { bodies: &island, tet_bodies: &mut self.bodies, ties: &self.ties, cache };
            island.advance(view, previous, contacts, context, &mut reactions);
        }
        self.join_velocities(view.particles);
        reactions
    }

    /// Applies the contact impulses after the implicit solution to components of very stiff bodies as
    /// rigid bodies, since single nodes would strain the elements around them beyond any strength. Then
    /// joins the velocities of ties.
    fn update_after_contacts(&mut self, view: &mut ViewMut) {
        let Some(cache) = &self.cache else { return };
        for (k, body_cache) in cache.bodies.iter().enumerate().filter(|(_, body_cache)| body_cache.is_implicit) {
            cache.arrays.rigidify_contact_response(k, &body_cache.solved_velocities, view.particles);
        }
        self.join_velocities(view.particles);
    }

    fn find_mesh_contacts(&mut self, world: &World, dt: Real) -> MeshContacts {
        self.find_contacts(world, dt)
    }

    fn thermal_links(&self, world: &World) -> Vec<Link> {
        self.tie_links(world)
    }

    fn projected_area(&self, view: &View, particle: usize, direction: Vec3) -> Option<Real> {
        Some(self.projected_boundary_area(view, particle, direction))
    }

    fn update_thermal_state(&mut self, view: &View) {
        self.update_element_states(view);
    }

    fn change_topology(&mut self, world: &mut World) {
        self.change_connectivity(world);
    }

    fn cut(&mut self, id: BodyId, plane: CutPlane, world: &mut World) {
        self.cut_elements(id, plane, world);
    }

    fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
        self.change_setting(id, setting)
    }

    fn body_states(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)> {
        self.summarise(view, strains)
    }

    fn skins(&self, view: &View, values: [&[Real]; 2]) -> Vec<(BodyId, FrameSkin)> {
        self.boundary_skins(view, values)
    }
}

impl TetBody {
    fn make_cache(&self, body: &Body, material: &Material, particles: &Particles) -> BodyCache {
        let hooke = match &self.settings.stiffness {
            Some(stiffness) => Hooke::Anisotropic(**stiffness),
            None => Hooke::isotropic(material.max_young_modulus(), material.poisson_ratio),
        };
        BodyCache {
            stiffness_bound: hooke.max_eigenvalue() as Real,
            law: ViscoelasticLaw { hooke, damping_time: 0.0 },
            states: self.find_element_states(body, material, &particles.enthalpy),
            responses: Vec::new(),
            mass_damping: self.settings.mass_damping,
            stable_step: f64::INFINITY,
            is_implicit: false,
            can_fracture: self.can_fracture(material),
            splits: Vec::new(),
            solved_velocities: Vec::new(),
        }
    }
}

impl BodyCache {
    /// Chooses the damping and the integration scheme.
    fn choose_integration(
        &mut self,
        tet_body: &mut TetBody,
        range: Range<usize>,
        material: &Material,
        particles: &Particles,
    ) {
        let max_omega_squared = tet_body.find_max_eigenvalue(&self.law.hooke) / f64::from(material.density);
        let lowest_frequency =
            lowest_bar_frequency(&particles.rest[range], material.max_young_modulus(), material.density);
        // Stiffness-proportional damping with this time gives the lowest frequency the damping ratio of
        // the material.
        let requested = 2.0 * f64::from(material.damping) / lowest_frequency;
        let max_damping = 2.0 * MAX_DAMPING_RATIO / max_omega_squared.sqrt().max(1e-30);
        let specified = tet_body.settings.stiffness_damping.map(f64::from);
        let damping_time = specified.unwrap_or(requested.min(max_damping));
        let explicit_step = stable_step(max_omega_squared, damping_time * max_omega_squared, SAFETY);
        self.is_implicit = match tet_body.settings.integration {
            Integration::Auto => explicit_step < MIN_EXPLICIT_STEP,
            Integration::Explicit => false,
            Integration::Implicit => true,
        };
        self.stable_step = if self.is_implicit { f64::INFINITY } else { explicit_step };
        self.law.damping_time = if self.is_implicit { specified.unwrap_or(requested) } else { damping_time } as Real;
        let has_damping_heat = self.has_explicit_damping() && material.heat.from_work.damping > 0.0;
        let packs =
            if has_damping_heat || self.can_fracture || tet_body.may_yield(material) { tet_body.rest.len() } else { 0 };
        self.responses = vec![ResponsePack::default(); packs];
    }

    /// Advances velocities by symplectic Euler with mass-proportional damping.
    fn advance_explicitly(
        &self,
        range: Range<usize>,
        particles: &mut Particles,
        previous: &[Vec3],
        context: &StepContext,
    ) {
        let Particles { velocity, force, mass, flags, .. } = particles;
        let damping_factor = 1.0 - damping_from_rate(self.mass_damping.into(), context.dt.into()) as Real;
        parallel::for_each_chunk(&mut velocity[range.clone()], GRAIN, |first, velocities| {
            for (i, velocity) in (range.start + first..).zip(velocities) {
                let change = context.gravity * context.dt + force[i] * (context.dt / mass[i]);
                *velocity =
                    if flags[i].has(Flags::FIXED) { Vec3::ZERO } else { (previous[i] + change) * damping_factor };
            }
        });
    }
}
