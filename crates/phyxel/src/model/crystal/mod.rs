//! Solids as matched lattices and incompressible SPH fluids.
//!
//! Solids follow `[WHP06]`, with the corrections and choices of `docs/crystal.md`: each solid particle
//! matches a closest packing to its present neighbours and pulls them to its sites; no neighbours are stored.
//! Fluids are in `docs/fluid.md`. One pressure keeps the volume fraction of all particles, solid or fluid, at
//! most 1.
//!
//! Numbering: `i` and `j` are particles of the world, `k` particles of the model (body after body), `s` and
//! `t` their indices in the order of search cells, in which neighbours are near each other in memory.

mod columns;
mod conduction;
mod fluid;
mod phase_change;
mod report;
mod settings;
mod solid;

pub use self::settings::{CrystalSettings, Docking, PhaseChangeSettings};

use self::solid::{LatticeForces, SolidConstants};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::contact::ContactContext;
use crate::heat::ConductionBlock;
use crate::material::Curve;
use crate::model::{BodyModel, BodyState, ContactReactions, ModelTraits, Moved, OwnRepulsion, View, ViewMut};
use crate::neighbours::{NeighbourTable, RadiusSearch};
use crate::parallel;
use crate::step::StepContext;
use crate::store::{Particles, Phase};
use glam::{Mat3, Quat, Vec3};
use phyxel_laws::lattice::{DockingLaw, Docks, LatticeFrame, NEAREST, nearest_site};
use phyxel_laws::linalg::rotation::fit_rotation;
use phyxel_laws::sph::{Cohesion, Kernel};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Particles per task.
const GRAIN: usize = 512;
/// Support of the SPH kernel, in particle spacings: about 33 neighbours.
pub(crate) const KERNEL_SUPPORT: Real = 1.78;
/// CFL number: fraction of the particle spacing by which particles may move in a step.
pub(crate) const CFL: f64 = 0.4;
/// Largest relative difference of spacings that is accepted: it arises where particle counts are rounded.
const SPACING_TOLERANCE: Real = 0.1;
/// Stable step of surface tension over `sqrt(rho D^3/sigma)`. Pairs at their rest distance have the stiffness
/// `8 sigma`, which makes the highest frequency of a particle among its neighbours 10 over that time; for
/// closer pairs it is three times as high.
const CAPILLARY_FACTOR: Real = 0.1;
/// Largest number of samples in the test for a closest packing.
const MAX_TESTED_SAMPLES: usize = 2048;
/// Search radius of that test, in particle spacings.
const NEAREST_REACH: Real = 1.2;
/// Largest distance of a sample from its site, in particle spacings: rounding, far from the origin.
const SITE_TOLERANCE: Real = 0.02;

/// A body of crystal or fluid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CrystalBody {
    id: BodyId,
    settings: CrystalSettings,
    count: usize,
    /// Object of particles that are added later.
    object: u32,
    /// Pairs broken by cracks since the start.
    broken: u64,
}

/// [`LatticeFrame`] of a particle in checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct StoredFrame {
    rotation: Quat,
    deformation: Mat3,
}

impl From<LatticeFrame> for StoredFrame {
    fn from(LatticeFrame { rotation, deformation }: LatticeFrame) -> Self {
        Self { rotation, deformation }
    }
}

impl From<StoredFrame> for LatticeFrame {
    fn from(StoredFrame { rotation, deformation }: StoredFrame) -> Self {
        Self { rotation, deformation }
    }
}

/// [`Docks`] of a particle in checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct StoredDocks {
    rates: [Real; NEAREST],
    occupied: u16,
}

impl StoredDocks {
    fn modify(&mut self, change: impl FnOnce(&mut Docks)) {
        let mut docks = Docks::from(*self);
        change(&mut docks);
        *self = docks.into();
    }
}

impl From<Docks> for StoredDocks {
    fn from(Docks { rates, occupied }: Docks) -> Self {
        Self { rates, occupied }
    }
}

impl From<StoredDocks> for Docks {
    fn from(StoredDocks { rates, occupied }: StoredDocks) -> Self {
        Self { rates, occupied }
    }
}

/// All bodies of crystal or fluid. Columns are in the order of bodies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CrystalModel {
    bodies: Vec<CrystalBody>,
    /// Pressure of each particle in the last step, Pa.
    pressures: Vec<Real>,
    /// Rotation and deformation of the lattice of each particle.
    lattice_frames: Vec<StoredFrame>,
    /// Object of each particle: only particles of the same object are matched.
    objects: Vec<u32>,
    /// Docks of each particle. They change only where docking is on.
    docks: Vec<StoredDocks>,
    /// Solid fraction of each particle: factor of its lattice forces, 0 to 1.
    solid_fractions: Vec<Real>,
    /// Highest speed in the last step, m/s.
    max_speed: Real,
    /// Steps taken.
    steps: u64,
    /// Number of the next object.
    next_object: u32,
    /// Iterations of the pressure solver in the last step.
    pressure_iterations: u32,
    /// Iterations of the viscosity solver in the last step.
    viscosity_iterations: u32,
    #[serde(skip)]
    derived: Option<Box<Derived>>,
}

/// Data that follow from settings and state and can be rebuilt at any time.
#[derive(Clone, Debug)]
struct Derived {
    kernel: Kernel,
    cohesion: Cohesion,
    constants: Vec<CrystalConstants>,
    /// Index of each particle in the world.
    indices: Vec<u32>,
    /// Body of each particle, as an index in the model.
    body_of: Vec<u32>,
    /// Index of each particle in the order of cells.
    sorted_index: Vec<u32>,
    /// Neighbours at the start of the step.
    table: NeighbourTable,
    lattice_forces: LatticeForces,
    /// Heat conduction between present neighbours.
    conduction: Option<ConductionBlock>,
}

/// Constants of a body and its material.
#[derive(Clone, Debug)]
struct CrystalConstants {
    range: Range<usize>,
    solid: SolidConstants,
    /// True if any particle has lattice forces.
    is_solid: bool,
    /// Volume of a particle, m3.
    volume: Real,
    /// kg/m3.
    density: Real,
    /// Pa s, over temperature.
    viscosity: Curve,
    /// Rate of velocity smoothing, 1/s.
    smoothing: Real,
    /// N/m.
    surface_tension: Real,
    /// Longest stable step of surface tension, s.
    capillary_step: f64,
}

impl CrystalConstants {
    /// Viscosity at an enthalpy (J/kg), Pa s.
    fn viscosity(&self, enthalpy: f64) -> Real {
        match self.viscosity.points() {
            [(_, viscosity)] => *viscosity,
            _ => self.viscosity.at(self.solid.heat.temperature(enthalpy)),
        }
    }
}

impl Derived {
    /// Constants of a particle as a solid.
    fn solid(&self, k: usize) -> &SolidConstants {
        &self.constants[self.body_of[k] as usize].solid
    }

    /// Constants of all bodies, each with the index of its first particle.
    fn bodies(&self) -> impl Iterator<Item = (usize, &CrystalConstants)> {
        let mut next = 0;
        self.constants.iter().map(move |body| {
            let first = next;
            next += body.range.len();
            (first, body)
        })
    }

    /// Docking law of a particle, if docking is on.
    fn docking(&self, k: usize) -> Option<&DockingLaw> {
        self.solid(k).docking.as_ref()
    }
}

/// Properties of the model.
pub(super) const TRAITS: ModelTraits =
    ModelTraits { own_repulsion: OwnRepulsion::Pressure, exchanges_particles: true, ..ModelTraits::SPHERES };

impl CrystalModel {
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: CrystalSettings) {
        let rotation = fit_rotation(&particles.rest[body.range()], &particles.position[body.range()]);
        let (object, solid_fraction) = (self.new_object(), if settings.phase == Phase::Solid { 1.0 } else { 0.0 });
        self.objects.resize(self.objects.len() + body.len(), object);
        self.solid_fractions.resize(self.solid_fractions.len() + body.len(), solid_fraction);
        let docks = Docks::all_occupied(&settings.docking.unwrap_or_default().into());
        self.docks.resize(self.docks.len() + body.len(), docks.into());
        self.bodies.push(CrystalBody { id, settings, count: body.len(), object, broken: 0 });
        self.pressures.resize(self.pressures.len() + body.len(), 0.0);
        self.lattice_frames.resize(self.lattice_frames.len() + body.len(), LatticeFrame::rotated(rotation).into());
        self.invalidate();
    }

    fn new_object(&mut self) -> u32 {
        self.next_object += 1;
        self.next_object - 1
    }

    fn derive(&self, view: &View) -> Derived {
        let mut first = 0;
        let mut constants: Vec<CrystalConstants> = Vec::with_capacity(self.bodies.len());
        for own in &self.bodies {
            let solid_fractions = &self.solid_fractions[first..first + own.count];
            first += own.count;
            constants.push(CrystalConstants {
                is_solid: solid_fractions.iter().any(|&fraction| fraction > 0.0),
                ..crystal_constants(own, view)
            });
        }
        let spacing = constants.iter().map(|body| body.solid.spacing).fold(0.0, Real::max);
        let kernel = Kernel::for_packing(spacing.max(Real::MIN_POSITIVE), KERNEL_SUPPORT);
        Derived {
            kernel,
            cohesion: Cohesion::new(&kernel, spacing.max(Real::MIN_POSITIVE)),
            indices: constants.iter().flat_map(|body| body.range.clone()).map(|i| i as u32).collect(),
            sorted_index: Vec::new(),
            body_of: (0..).zip(&self.bodies).flat_map(|(slot, own)| std::iter::repeat_n(slot, own.count)).collect(),
            constants,
            table: NeighbourTable::default(),
            lattice_forces: LatticeForces::default(),
            conduction: None,
        }
    }
}

impl BodyModel for CrystalModel {
    fn remove_body(&mut self, id: BodyId) {
        let Some(slot) = self.bodies.iter().position(|body| body.id == id) else { return };
        let first: usize = self.bodies[..slot].iter().map(|body| body.count).sum();
        let removed = first..first + self.bodies.remove(slot).count;
        self.pressures.drain(removed.clone());
        self.solid_fractions.drain(removed.clone());
        self.objects.drain(removed.clone());
        self.docks.drain(removed.clone());
        self.lattice_frames.drain(removed);
        self.invalidate();
    }

    fn invalidate(&mut self) {
        self.derived = None;
    }

    fn prepare(&mut self, view: &View) {
        if self.derived.is_none() {
            self.derived = Some(Box::new(self.derive(view)));
        }
    }

    /// Longest stable step, s. Needs [`prepare`](Self::prepare).
    fn stable_step(&self) -> f64 {
        let Some(derived) = self.derived.as_deref() else { return f64::INFINITY };
        let spacing = derived.constants.iter().map(|body| body.solid.spacing).fold(Real::INFINITY, Real::min);
        let solids = derived.constants.iter().filter(|body| body.is_solid);
        let elastic = solids.map(|body| body.solid.stable_step).fold(f64::INFINITY, f64::min);
        let stable = derived.constants.iter().map(|body| body.capillary_step).fold(elastic, f64::min);
        let max_speed = f64::from(self.max_speed);
        if max_speed > 0.0 { stable.min(CFL * f64::from(spacing) / max_speed) } else { stable }
    }

    /// Finds the neighbours of all particles.
    fn find_neighbours(&mut self, view: &View) {
        let Some(derived) = self.derived.as_deref_mut() else { return };
        let at = |k: usize| view.particles.position[derived.indices[k] as usize];
        let points = parallel::map(derived.indices.len(), GRAIN, at);
        let radius = search_radius(&self.bodies, derived);
        derived.table.update(&points, radius);
        derived.sorted_index.resize(points.len(), 0);
        for (s, &k) in derived.table.order.iter().enumerate() {
            derived.sorted_index[k as usize] = s as u32;
        }
    }

    /// Adds lattice forces and updates the lattices.
    fn exert_forces(&mut self, view: &mut ViewMut, context: &StepContext) {
        let Some(mut derived) = self.derived.take_if(|derived| !derived.indices.is_empty()) else { return };
        view.particles.force.resize(view.particles.mass.len(), Vec3::ZERO);
        if derived.constants.iter().any(|body| body.is_solid) {
            self.exert_lattice_forces(&mut derived, view.particles, context.dt);
        }
        self.derived = Some(derived);
    }

    fn rearrange(&mut self, moved: &Moved) {
        self.rearrange_columns(moved);
    }

    fn advance_velocities(
        &mut self,
        view: &mut ViewMut,
        previous: &[Vec3],
        contacts: &ContactContext,
        context: &StepContext,
    ) -> ContactReactions {
        self.advance_fluid(view.particles, previous, contacts, context);
        ContactReactions::default()
    }

    fn update_conduction(&mut self, view: &View) {
        self.update_conduction_graph(view);
    }

    fn conduction(&self) -> Vec<ConductionBlock> {
        self.derived.iter().filter_map(|derived| derived.conduction.clone()).collect()
    }

    fn change_phase(&mut self, view: &mut ViewMut, context: &StepContext) {
        self.change_phases(view, context);
    }

    fn body_states(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)> {
        self.summarise(view, strains)
    }
}

/// Search radius of neighbours, m.
fn search_radius(bodies: &[CrystalBody], derived: &Derived) -> Real {
    let solids = bodies.iter().zip(&derived.constants).filter(|(_, constants)| constants.is_solid);
    solids
        .map(|(own, constants)| own.settings.support * constants.solid.spacing)
        .fold(derived.kernel.support, Real::max)
}

fn crystal_constants(own: &CrystalBody, view: &View) -> CrystalConstants {
    let body = view.body(own.id);
    let material = view.material(own.id);
    let range = body.range();
    let mass = body.template.mass;
    let solid = SolidConstants::new(&own.settings, body, material, mass, &view.particles.rest[range.clone()]);
    let volume = match own.settings.phase {
        Phase::Solid => solid.lattice.volume(),
        Phase::Fluid | Phase::Gas => mass / material.density,
    };
    let (surface_tension, spacing) = (material.fluid.surface_tension, body.spacing);
    let capillary_step = if surface_tension > 0.0 {
        CAPILLARY_FACTOR * (material.density * spacing.powi(3) / surface_tension).sqrt()
    } else {
        Real::INFINITY
    };
    CrystalConstants {
        range,
        solid,
        is_solid: false,
        volume,
        density: material.density,
        viscosity: material.fluid.viscosity.clone(),
        smoothing: own.settings.smoothing,
        surface_tension,
        capillary_step: capillary_step.into(),
    }
}

/// Returns true if bodies with these particle spacings (m) may be in one world: all share one kernel.
pub(crate) fn spacings_match(a: Real, b: Real) -> bool {
    (a - b).abs() <= SPACING_TOLERANCE * a.max(b)
}

/// Returns true if samples are the sites of a closest packing along the axes of the body; tests some of them.
pub(crate) fn is_close_packed(samples: &[Vec3], spacing: Real) -> bool {
    let search = RadiusSearch::new(samples, NEAREST_REACH * spacing);
    let step = samples.len().div_ceil(MAX_TESTED_SAMPLES).max(1);
    samples.iter().step_by(step).all(|&sample| {
        let mut is_packed = true;
        search.visit(sample, |other, square| {
            let offset = (samples[other as usize] - sample) / spacing;
            if square > 0.0 && square < (NEAREST_REACH * spacing).powi(2) {
                is_packed &= nearest_site(offset).is_some_and(|site| site.position().distance(offset) < SITE_TOLERANCE);
            }
        });
        is_packed
    })
}
