//! Mass-spring model: a lattice of springs that conducts heat, softens, and melts into molecules with pair
//! forces.
//!
//! After `[TPF89]`, with the corrections and choices of `docs/mass-spring.md`.
//! Symplectic (semi-implicit) Euler; the model
//! bounds the stable step.

mod barnes_hut;
mod conduction;
mod pair_interactions;
mod pair_table;
mod phase_change;
mod report;
mod settings;
mod spring_forces;
mod spring_graph;
mod stability;
mod verlet_list;

pub use self::settings::{Cell, Gas, MassSpringSettings, Molecules, Summation};

use self::barnes_hut::BarnesHutTree;
use self::pair_interactions::{PairInteractions, PairParticle};
use self::pair_table::PairTable;
use self::spring_forces::Stiffness;
use self::spring_graph::SpringGraph;
use self::stability::{FrequencyBounds, MoleculeLimits};
use self::verlet_list::{Candidate, Role, VerletList};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::commands::Setting;
use crate::contact::ContactContext;
use crate::heat::{ConductionBlock, ConductionGraph};
use crate::material::{Material, ThermalProperties};
use crate::model::damping::lowest_bar_frequency;
use crate::model::{BodyModel, BodyState, ContactReactions, CutPlane, ModelTraits, Moved, OwnRepulsion, View, ViewMut};
use crate::parallel;
use crate::step::StepContext;
use crate::store::{Flags, Particles, Phase};
use crate::world::World;
use glam::Vec3;
pub use phyxel_laws::mass_spring::lattice::POISSON_RATIO;
use phyxel_laws::mass_spring::lattice::isotropic_springs;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Particles per task.
const GRAIN: usize = 1024;
/// Spring strain beyond which spring directions may differ from those at rest.
const LARGE_STRAIN: Real = 0.25;
/// Largest damping ratio of the highest frequency of a lattice. Larger ratios would shorten the step.
const MAX_DAMPING_RATIO: f64 = 2.0;

/// Body of the model: a spring lattice, of which some springs may have melted or broken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SpringLattice {
    id: BodyId,
    settings: MassSpringSettings,
    graph: SpringGraph,
    omega_squared: FrequencyBounds,
    /// Initial `omega_squared.rest_directions`, which sets the damping.
    initial_omega_squared: f64,
    /// True if springs are strained by more than [`LARGE_STRAIN`].
    is_large_strain: bool,
    broken: u64,
    merged: u64,
}

impl SpringLattice {
    /// Upper bound on squared angular frequencies at present, for a Young's modulus of 1 Pa, 1/s2.
    fn max_omega_squared(&self) -> f64 {
        if self.is_large_strain { self.omega_squared.any_direction } else { self.omega_squared.rest_directions }
    }
}

/// Mass-spring model of all its bodies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MassSpringModel {
    bodies: Vec<SpringLattice>,
    molecule_limits: MoleculeLimits,
    #[serde(skip)]
    cache: Option<Box<MassSpringCache>>,
}

/// Data derived from description and state; it can be rebuilt at any time.
#[derive(Clone, Debug, Default)]
struct MassSpringCache {
    constants: Vec<LatticeConstants>,
    /// Heat conduction between molecules.
    molecular_conduction: Option<ConductionBlock>,
    /// Particles of the Verlet list at the start of the step.
    pair_particles: Vec<PairParticle>,
    /// Role of each particle of the model when the Verlet list was built.
    roles: Vec<Role>,
    list: VerletList,
}

/// Constants of a body and its material.
#[derive(Clone, Debug)]
struct LatticeConstants {
    range: Range<usize>,
    /// Size of each particle: the edge of a cube of its mass at the density of the material, m.
    sizes: Vec<Real>,
    /// Stiffness-proportional Rayleigh damping: damping force over rate of elastic force, s.
    rayleigh_damping: Real,
    /// Upper bound on squared angular frequencies with the largest Young's modulus of the material, 1/s2.
    max_omega_squared: f64,
    table: PairTable,
    /// Conduction along springs and faces of the solid; `None` after springs were removed or added.
    conduction: Option<Arc<ConductionGraph>>,
}

/// Properties of the model.
pub(super) const TRAITS: ModelTraits = ModelTraits {
    own_repulsion: OwnRepulsion::Molten,
    has_surface_particles: true,
    can_be_cut: true,
    ..ModelTraits::SPHERES
};

impl MassSpringModel {
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: MassSpringSettings) {
        let rest = &particles.rest[body.range()];
        let springs = isotropic_springs(cell_size(&settings, rest).unwrap_or([body.spacing; 3]));
        let graph = match springs {
            Some(springs) => SpringGraph::from_cells(&settings.cells, &springs, settings.weights, rest),
            None => SpringGraph::from_springs(rest.len(), &[]),
        };
        let omega_squared = stability::frequency_bounds(&graph, rest, &particles.mass[body.range()]);
        self.bodies.push(SpringLattice {
            id,
            settings,
            graph,
            omega_squared,
            initial_omega_squared: omega_squared.rest_directions,
            is_large_strain: false,
            broken: 0,
            merged: 0,
        });
        self.invalidate();
    }

    fn build_cache(&self, view: &View) -> MassSpringCache {
        let constants = self.bodies.iter().map(|lattice| {
            let body = view.body(lattice.id);
            lattice_constants(lattice, body, view.material(lattice.id), view.particles)
        });
        MassSpringCache { constants: constants.collect(), ..MassSpringCache::default() }
    }

    /// Largest cut-off of all bodies, sizes.
    fn max_cutoff(&self) -> Real {
        self.bodies.iter().map(|body| body.settings.molecules.cutoff).fold(verlet_list::DPD_CUTOFF, Real::max)
    }

    /// Role of each particle, body after body.
    fn find_roles(&self, cache: &MassSpringCache, view: &View) -> Vec<Role> {
        let mut roles = Vec::new();
        for (lattice, constants) in self.bodies.iter().zip(&cache.constants) {
            let heat = view.material(lattice.id).heat;
            roles.extend(parallel::map(constants.range.len(), GRAIN, |k| {
                let i = constants.range.start + k;
                match view.particles.phase[i] {
                    Phase::Solid if is_soft(&heat, view.particles.enthalpy[i]) => Role::Soft,
                    Phase::Solid => Role::Solid,
                    Phase::Fluid | Phase::Gas => Role::Molecule,
                }
            }));
        }
        roles
    }

    /// Adds pair forces, accumulates the heat of viscosity and updates the stability limits of molecules.
    fn exert_pair_forces(&mut self, cache: &mut MassSpringCache, view: &mut ViewMut, context: &StepContext) {
        self.molecule_limits = MoleculeLimits::default();
        cache.pair_particles.clear();
        if cache.list.particles.is_empty() {
            return;
        }
        let pair_particles = self.gather_pair_particles(cache, &view.view());
        let laws = self.pair_laws(&cache.constants);
        let pairs = PairInteractions { list: &cache.list, particles: &pair_particles, laws: &laws };
        let mut sums = pairs.sums();
        for (slot, (table, summation)) in laws.iter().enumerate() {
            let opening_angle = match summation {
                Summation::Cutoff => continue,
                Summation::Tree { opening_angle } => Some(*opening_angle),
                Summation::Exact => None,
            };
            let tree = BarnesHutTree::new(&pair_particles, barnes_hut::molecules_of(&pair_particles, slot as u32));
            tree.forces(table, opening_angle).into_iter().for_each(|(k, force)| sums[k as usize].force += force);
        }
        let heat_fraction = |i: u32| {
            let body = &view.bodies[view.particles.body[i as usize].0 as usize];
            f64::from(view.materials[body.material.0 as usize].heat.from_work.damping) * f64::from(context.dt)
        };
        let heats: Vec<f64> = cache
            .list
            .particles
            .iter()
            .zip(&sums)
            .map(|(&i, sum)| heat_fraction(i) * f64::from(sum.dissipation))
            .collect();
        if heats.iter().any(|&heat| heat > 0.0) {
            let dissipated = view.particles.heat_made_mut();
            cache.list.particles.iter().zip(&heats).for_each(|(&i, heat)| dissipated[i as usize] += heat);
        }
        for ((&i, particle), sum) in cache.list.particles.iter().zip(&pair_particles).zip(&sums) {
            view.particles.force[i as usize] += sum.force;
            let mass = f64::from(particle.mass);
            self.molecule_limits.omega_squared =
                self.molecule_limits.omega_squared.max(2.0 * f64::from(sum.stiffness) / mass);
            self.molecule_limits.damping_rate =
                self.molecule_limits.damping_rate.max(2.0 * f64::from(sum.damping) / mass);
            self.molecule_limits.approach_rate = self.molecule_limits.approach_rate.max(sum.approach_rate.into());
        }
        cache.pair_particles = pair_particles;
    }

    fn pair_laws<'a>(&self, constants: &'a [LatticeConstants]) -> Vec<(&'a PairTable, Summation)> {
        let summation = self.bodies.iter().map(|body| body.settings.molecules.summation);
        constants.iter().map(|constants| &constants.table).zip(summation).collect()
    }

    fn gather_pair_particles(&self, cache: &MassSpringCache, view: &View) -> Vec<PairParticle> {
        let slot_of = |i: usize| cache.constants.partition_point(|constants| constants.range.end <= i);
        let offsets: Vec<usize> = cache
            .constants
            .iter()
            .scan(0, |next, constants| {
                let offset = *next;
                *next += constants.range.len();
                Some(offset)
            })
            .collect();
        parallel::map(cache.list.particles.len(), GRAIN, |k| {
            let i = cache.list.particles[k] as usize;
            let slot = slot_of(i);
            let constants = &cache.constants[slot];
            let local = i - constants.range.start;
            let material = view.material(self.bodies[slot].id);
            let temperature = material.heat.temperature(view.particles.enthalpy[i]);
            let factors = match view.particles.phase[i] {
                Phase::Gas => [0.0, self.bodies[slot].settings.gas.repulsion.sqrt()],
                _ => [material.fluid.cohesion.at(temperature).sqrt(), 1.0],
            };
            PairParticle {
                position: view.particles.position[i],
                velocity: view.particles.velocity[i],
                mass: view.particles.mass[i],
                size: constants.sizes[local],
                role: cache.roles[offsets[slot] + local],
                body: slot as u32,
                factors,
                viscosity: material.fluid.viscosity.at(temperature),
                conductivity: material.heat.mean_conductivity(),
            }
        })
    }
}

impl BodyModel for MassSpringModel {
    /// Removes a body. Indices are local to bodies, so other bodies are not affected.
    fn remove_body(&mut self, id: BodyId) {
        self.bodies.retain(|body| body.id != id);
        self.invalidate();
    }

    fn invalidate(&mut self) {
        self.cache = None;
    }

    fn prepare(&mut self, view: &View) {
        if self.cache.is_none() {
            self.cache = Some(Box::new(self.build_cache(view)));
        }
    }

    /// Rebuilds the Verlet list if there are soft particles or molecules and the list is no longer valid.
    fn find_neighbours(&mut self, view: &View) {
        let Some(mut cache) = self.cache.take() else { return };
        let roles = self.find_roles(&cache, view);
        if roles.iter().all(|&role| role == Role::Solid) {
            (cache.list, cache.roles) = Default::default();
        } else {
            let is_valid = cache.roles == roles && cache.list.is_valid(|i| view.particles.position[i as usize]);
            if !is_valid {
                let candidates = gather_candidates(&cache.constants, &roles, view.particles);
                cache.list = VerletList::build(&candidates, self.max_cutoff());
                cache.roles = roles;
            }
        }
        self.cache = Some(cache);
    }

    /// Adds spring and pair forces and accumulates the heat of damping.
    fn exert_forces(&mut self, view: &mut ViewMut, context: &StepContext) {
        let Some(mut cache) = self.cache.take_if(|cache| !cache.constants.is_empty()) else { return };
        view.particles.force.resize(view.particles.mass.len(), Vec3::ZERO);
        for (lattice, constants) in self.bodies.iter_mut().zip(&mut cache.constants) {
            let body = view.body(lattice.id);
            let material = view.material(lattice.id);
            let enthalpy = &view.particles.enthalpy[constants.range.clone()];
            let stiffness = Stiffness::new(material, body.rest_temperature, enthalpy);
            let range = constants.range.clone();
            let max_strain = spring_forces::add_forces(
                &lattice.graph,
                range,
                constants.rayleigh_damping,
                &stiffness,
                view.particles,
            );
            lattice.is_large_strain = max_strain > LARGE_STRAIN;
            constants.max_omega_squared = lattice.max_omega_squared() * f64::from(material.max_young_modulus());
            if material.heat.from_work.damping > 0.0 {
                let fraction = f64::from(material.heat.from_work.damping) * f64::from(context.dt);
                spring_forces::accumulate_damping_heat(
                    &lattice.graph,
                    constants.range.clone(),
                    constants.rayleigh_damping,
                    &stiffness,
                    view.particles,
                    fraction,
                );
            }
        }
        self.exert_pair_forces(&mut cache, view, context);
        self.cache = Some(cache);
    }

    /// Advances velocities by `v += dt (g + f/m)`, `[TPF89]` eq. 19; gas has buoyancy and drag.
    fn advance_velocities(
        &mut self,
        view: &mut ViewMut,
        previous: &[Vec3],
        _contacts: &ContactContext,
        context: &StepContext,
    ) -> ContactReactions {
        let Some(cache) = self.cache.as_deref() else { return ContactReactions::default() };
        let Particles { velocity, force, mass, flags, phase, .. } = &mut *view.particles;
        for (lattice, constants) in self.bodies.iter().zip(&cache.constants) {
            let gas = lattice.settings.gas;
            let decay = libm::expf(-gas.drag * context.dt);
            let start = constants.range.start;
            parallel::for_each_chunk(&mut velocity[constants.range.clone()], GRAIN, |first, velocities| {
                for (k, velocity) in velocities.iter_mut().enumerate() {
                    let i = start + first + k;
                    let dv = force[i] * (context.dt / mass[i]);
                    *velocity = if flags[i].has(Flags::FIXED) {
                        Vec3::ZERO
                    } else if phase[i] == Phase::Gas {
                        (previous[i] + dv + context.gravity * ((1.0 - gas.lift) * context.dt)) * decay
                    } else {
                        previous[i] + dv + context.gravity * context.dt
                    };
                }
            });
        }
        ContactReactions::default()
    }

    /// Updates the conduction graph: links along springs, rebuilt only after springs were removed or added,
    /// and links between molecules.
    fn update_conduction(&mut self, view: &View) {
        let Some(mut cache) = self.cache.take() else { return };
        let laws = self.pair_laws(&cache.constants);
        let molecular =
            PairInteractions { list: &cache.list, particles: &cache.pair_particles, laws: &laws }.conduction_links();
        cache.molecular_conduction = conduction::molecular_block(&cache.constants, molecular);
        for (lattice, constants) in self.bodies.iter().zip(&mut cache.constants) {
            constants.conduction.get_or_insert_with(|| {
                let heat = &view.material(lattice.id).heat;
                let graph = conduction::spring_conduction(lattice, constants.range.clone(), heat, view.particles);
                Arc::new(graph)
            });
        }
        self.cache = Some(cache);
    }

    /// Links between molecules, then those along the springs of each body.
    fn conduction(&self) -> Vec<ConductionBlock> {
        let Some(cache) = self.cache.as_deref() else { return Vec::new() };
        let springs = cache.constants.iter().filter_map(|constants| {
            Some(ConductionBlock { first: constants.range.start, graph: constants.conduction.clone()? })
        });
        cache.molecular_conduction.iter().cloned().chain(springs).collect()
    }

    fn rearrange(&mut self, _moved: &Moved) {
        self.invalidate();
    }

    fn stable_step(&self) -> f64 {
        self.stable_spring_step()
    }

    fn change_phase(&mut self, view: &mut ViewMut, context: &StepContext) {
        self.change_phases(view, context);
    }

    fn cut(&mut self, id: BodyId, plane: CutPlane, world: &mut World) {
        self.cut_springs(id, plane, &world.view());
    }

    fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
        self.change_setting(id, setting)
    }

    fn body_states(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)> {
        self.summarise(view, strains)
    }
}

/// Returns true if a solid has begun to soften.
fn is_soft(heat: &ThermalProperties, enthalpy: f64) -> bool {
    heat.softness(heat.temperature(enthalpy), heat.liquid_fraction(enthalpy)) > 0.0
}

/// Returns true if no lattice of cells with these edges is isotropic.
pub fn is_too_flat(cell: [Real; 3]) -> bool {
    isotropic_springs(cell).is_none()
}

/// Edge lengths of the cells of a body, m.
fn cell_size(settings: &MassSpringSettings, rest: &[Vec3]) -> Option<[Real; 3]> {
    let cell = settings.cells.first()?;
    let corner = |k: usize| rest[cell[k] as usize];
    Some([1, 2, 4].map(|k| corner(0).distance(corner(k))))
}

fn lattice_constants(
    lattice: &SpringLattice,
    body: &Body,
    material: &Material,
    particles: &Particles,
) -> LatticeConstants {
    let range = body.range();
    let masses = &particles.mass[range.clone()];
    let sizes: Vec<Real> = masses.iter().map(|mass| libm::cbrtf(mass / material.density)).collect();
    let young = material.max_young_modulus();
    let initial = lattice.initial_omega_squared * f64::from(young);
    let lowest = lowest_bar_frequency(&particles.rest[range.clone()], young, material.density);
    // Gives the lowest frequency the requested damping ratio.
    let requested = 2.0 * f64::from(material.damping) / lowest;
    let max = 2.0 * MAX_DAMPING_RATIO / initial.sqrt().max(1e-30);
    let bulk = material.melt_bulk_modulus(POISSON_RATIO);
    LatticeConstants {
        table: PairTable::new(&lattice.settings.molecules, bulk, body.spacing),
        conduction: None,
        range,
        sizes,
        rayleigh_damping: requested.min(max) as Real,
        max_omega_squared: lattice.max_omega_squared() * f64::from(young),
    }
}

/// Candidates of the Verlet list.
///
/// Where a pair law has a length unit of its own, every particle gets the largest one as its size, so that no
/// force ends before its cut-off.
fn gather_candidates(constants: &[LatticeConstants], roles: &[Role], particles: &Particles) -> Vec<Candidate> {
    let lengths = constants.iter().filter_map(|constants| constants.table.fixed_length());
    let min_size = lengths.fold(0.0, Real::max);
    let largest = constants.iter().flat_map(|constants| &constants.sizes).copied().fold(min_size, Real::max);
    let effective_size = |size: Real| if min_size > 0.0 { largest } else { size };
    let sized = constants
        .iter()
        .flat_map(|constants| constants.range.clone().zip(constants.sizes.iter().map(|&size| effective_size(size))));
    sized
        .zip(roles)
        .map(|((i, size), &role)| Candidate { particle: i as u32, position: particles.position[i], size, role })
        .collect()
}
