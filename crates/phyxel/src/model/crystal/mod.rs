//! Crystals without stored neighbours, and fluids.
//!
//! After `[WHP06]`, with the corrections and choices of `docs/crystal.md`. Solid particles ask how a closest packing would
//! lie among their present neighbours, and pull them there. All particles, solid or fluid, keep each other from filling more
//! room than they have: one pressure for all of them.

mod change;
mod coarse;
mod fluid;
mod fracture;
mod growth;
mod pressure;
mod rub;
mod settings;
mod solid;
mod state;

pub use self::settings::{Change, CrystalSettings, Docking};

use self::fluid::Fullness;
use self::solid::{Pulls, Solid};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::grid::{Neighbourhood, Surroundings};
use crate::heat::{Face, Link, Ways};
use crate::material::{Curve, Material};
use crate::parallel;
use crate::particles::{Particles, Phase};
use crate::step::StepContext;
use glam::{DMat3, Mat3, Quat, Vec3};
use phyxel_laws::crystal::{DockingLaw, Docks, NEAREST, Pose, nearest_site};
use phyxel_laws::rotation::nearest_rotation;
use phyxel_laws::sph::{Attraction, Kernel};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Particles per task.
const GRAIN: usize = 512;
/// Support of the smooth weight of pressure, in particle distances: about 33 neighbours.
pub(crate) const SMOOTH: Real = 1.78;
/// Particles may move by this part of their distance in a step.
pub(crate) const FARTHEST: f64 = 0.4;
/// Largest difference of particle distances that counts as none, as a part: that of rounded counts of particles.
const ALIKE: Real = 0.1;
/// Step over `sqrt(rho D^3/sigma)` in which surface tension is stable: pairs at their usual distance are as stiff as 8 of `sigma`,
/// which makes the fastest swing of a particle among its neighbours 10 over that time, and of closer ones three times as fast.
const RIPPLE: Real = 0.1;
/// Samples that are looked at to tell whether they are a closest packing.
const MOST_TRIED: usize = 2048;
/// How far from them neighbours are looked at, in particle distances.
const NEXT: Real = 1.2;
/// Particles are at a surface where fullness changes by this part in a particle distance, or more: without order it is 0.1 inside.
const EXPOSED: Real = 0.25;
/// How far from its site a sample may be, in particle distances: rounding, far from the origin.
const OFF_SITE: Real = 0.02;

/// A body of crystal or fluid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CrystalBody {
    id: BodyId,
    settings: CrystalSettings,
    count: usize,
    /// Object of particles that join it.
    object: u32,
    /// Pairs that cracks have parted since the start.
    broken: u64,
}

/// How the lattice of a particle lies, as [`Pose`] has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Lie {
    rotation: Quat,
    shape: Mat3,
}

impl From<Pose> for Lie {
    fn from(Pose { rotation, shape }: Pose) -> Self {
        Self { rotation, shape }
    }
}

impl From<Lie> for Pose {
    fn from(Lie { rotation, shape }: Lie) -> Self {
        Self { rotation, shape }
    }
}

/// The docks of a particle, as [`Docks`] has them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Dock {
    rates: [Real; NEAREST],
    held: u16,
}

impl Dock {
    fn change(&mut self, change: impl FnOnce(&mut Docks)) {
        let mut docks = Docks::from(*self);
        change(&mut docks);
        *self = docks.into();
    }
}

impl From<Docks> for Dock {
    fn from(Docks { rates, held }: Docks) -> Self {
        Self { rates, held }
    }
}

impl From<Dock> for Docks {
    fn from(Dock { rates, held }: Dock) -> Self {
        Self { rates, held }
    }
}

/// Crystals and fluids of all bodies that are made of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CrystalModel {
    bodies: Vec<CrystalBody>,
    /// Pressure of each particle in the last step, Pa, body after body.
    pressures: Vec<Real>,
    /// How the lattice of each particle lies, body after body.
    poses: Vec<Lie>,
    /// Object of each particle: only particles of one are matched.
    objects: Vec<u32>,
    /// Docks of each particle. They change only where docking is on.
    docks: Vec<Dock>,
    /// Part of the forces of a solid that each particle has, 0 to 1.
    shares: Vec<Real>,
    /// Fastest particle of the last step, m/s.
    fastest: Real,
    /// Steps taken.
    steps: u64,
    /// Number of the next object.
    next_object: u32,
    /// Products that the pressure of the last step took.
    rounds: u32,
    /// Products that its viscosity took.
    rubs: u32,
    #[serde(skip)]
    derived: Option<Box<Derived>>,
}

/// What follows from description and state and may be made anew at any time. Particles are numbered body after body.
#[derive(Clone, Debug)]
struct Derived {
    kernel: Kernel,
    attraction: Attraction,
    matter: Vec<Matter>,
    /// Number of each particle in the world.
    indices: Vec<u32>,
    /// Body of each particle, by place in the model.
    owners: Vec<u32>,
    /// Place of each particle in the order of cells.
    places: Vec<u32>,
    /// Neighbours at the start of the step.
    around: Surroundings,
    pulls: Pulls,
    ways: Arc<Ways>,
}

/// What follows from a body and its material.
#[derive(Clone, Debug)]
struct Matter {
    range: Range<usize>,
    solid: Solid,
    /// Whether any of it has forces of a solid.
    is_solid: bool,
    /// Volume of a particle, m3.
    volume: Real,
    /// kg/m3.
    density: Real,
    /// Pa s, over temperature.
    viscosity: Curve,
    /// Rate of smoothing, 1/s.
    smoothing: Real,
    /// Surface tension, N/m.
    tension: Real,
    /// Longest step in which it is stable, s.
    ripple: f64,
}

impl Matter {
    /// Viscosity at an enthalpy (J/kg), Pa s.
    fn viscosity(&self, enthalpy: f64) -> Real {
        match self.viscosity.points() {
            [(_, viscosity)] => *viscosity,
            _ => self.viscosity.at(self.solid.heat.temperature(enthalpy)),
        }
    }
}

impl Derived {
    /// How a particle is as a solid.
    fn solid(&self, k: usize) -> &Solid {
        &self.matter[self.owners[k] as usize].solid
    }

    /// Bodies, each with the number of its first particle.
    fn bodies(&self) -> impl Iterator<Item = (usize, &Matter)> {
        let mut next = 0;
        self.matter.iter().map(move |matter| {
            let first = next;
            next += matter.range.len();
            (first, matter)
        })
    }

    /// How the docks of a particle follow its neighbours, if they do.
    fn docking(&self, k: usize) -> Option<&DockingLaw> {
        self.solid(k).docking.as_ref()
    }
}

impl CrystalModel {
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: CrystalSettings) {
        let turn = turn_of(&particles.rest[body.range()], &particles.position[body.range()]);
        let (object, share) = (self.new_object(), if settings.phase == Phase::Solid { 1.0 } else { 0.0 });
        self.objects.resize(self.objects.len() + body.len(), object);
        self.shares.resize(self.shares.len() + body.len(), share);
        let docks = Docks::grown(&settings.docking.unwrap_or_default().into());
        self.docks.resize(self.docks.len() + body.len(), docks.into());
        self.bodies.push(CrystalBody { id, settings, count: body.len(), object, broken: 0 });
        self.pressures.resize(self.pressures.len() + body.len(), 0.0);
        self.poses.resize(self.poses.len() + body.len(), Pose::turned(turn).into());
        self.refresh();
    }

    fn new_object(&mut self) -> u32 {
        self.next_object += 1;
        self.next_object - 1
    }

    pub(crate) fn refresh(&mut self) {
        self.derived = None;
    }

    pub(crate) fn remove_body(&mut self, id: BodyId) {
        let Some(place) = self.bodies.iter().position(|body| body.id == id) else { return };
        let first: usize = self.bodies[..place].iter().map(|body| body.count).sum();
        let gone = first..first + self.bodies.remove(place).count;
        self.pressures.drain(gone.clone());
        self.shares.drain(gone.clone());
        self.objects.drain(gone.clone());
        self.docks.drain(gone.clone());
        self.poses.drain(gone);
        self.refresh();
    }

    pub(crate) fn prepare(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        if self.derived.is_none() {
            self.derived = Some(Box::new(self.derive(bodies, materials, particles)));
        }
    }

    fn derive(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Derived {
        let mut first = 0;
        let mut matter: Vec<Matter> = Vec::with_capacity(self.bodies.len());
        for own in &self.bodies {
            let shares = &self.shares[first..first + own.count];
            first += own.count;
            matter.push(Matter {
                is_solid: shares.iter().any(|&share| share > 0.0),
                ..describe(own, bodies, materials, particles)
            });
        }
        let distance = matter.iter().map(|matter| matter.solid.distance).fold(0.0, Real::max);
        let kernel = Kernel::for_packing(distance.max(Real::MIN_POSITIVE), SMOOTH);
        Derived {
            kernel,
            attraction: Attraction::new(&kernel, distance.max(Real::MIN_POSITIVE)),
            indices: matter.iter().flat_map(|matter| matter.range.clone()).map(|i| i as u32).collect(),
            places: Vec::new(),
            owners: (0..).zip(&self.bodies).flat_map(|(place, own)| std::iter::repeat_n(place, own.count)).collect(),
            matter,
            around: Surroundings::default(),
            pulls: Pulls::default(),
            ways: Arc::default(),
        }
    }

    /// Longest stable step, s. Needs what [`prepare`](Self::prepare) makes.
    pub(crate) fn stable_step(&self) -> f64 {
        let Some(derived) = self.derived.as_deref() else { return f64::INFINITY };
        let distance = derived.matter.iter().map(|matter| matter.solid.distance).fold(Real::INFINITY, Real::min);
        let solids = derived.matter.iter().filter(|matter| matter.is_solid);
        let elastic = solids.map(|matter| matter.solid.stable).fold(f64::INFINITY, f64::min);
        let elastic = derived.matter.iter().map(|matter| matter.ripple).fold(elastic, f64::min);
        let fastest = f64::from(self.fastest);
        if fastest > 0.0 { elastic.min(FARTHEST * f64::from(distance) / fastest) } else { elastic }
    }

    /// Looks for neighbours of all particles.
    pub(crate) fn find_neighbours(&mut self, particles: &Particles) {
        let Some(derived) = self.derived.as_deref_mut() else { return };
        let at = |k: usize| particles.position[derived.indices[k] as usize];
        let points = parallel::map(derived.indices.len(), GRAIN, at);
        let far = reach(&self.bodies, derived);
        derived.around.find(&points, far);
        derived.places.resize(points.len(), 0);
        for (place, &k) in derived.around.order.iter().enumerate() {
            derived.places[k as usize] = place as u32;
        }
    }

    /// Adds the forces of crystals, and lets their lattices follow.
    pub(crate) fn exert_forces(&mut self, particles: &mut Particles, context: &StepContext) {
        let Some(mut derived) = self.derived.take() else { return };
        particles.force.resize(particles.mass.len(), Vec3::ZERO);
        if derived.matter.iter().any(|matter| matter.is_solid) {
            self.pull(&mut derived, particles, context.dt);
        }
        self.derived = Some(derived);
    }

    /// Ways for heat between present neighbours: `2 k V_i V_j |grad W|/r` over the moment of the kernel, which is `div(k grad T)` of
    /// smoothed particles (`[Bro85]`), and over the mean fullness, as at surfaces there are fewer of them.
    pub(crate) fn find_ways(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        let Some(derived) = self.derived.as_deref_mut() else { return };
        let conductivities: Vec<Real> = self
            .bodies
            .iter()
            .map(|own| materials[bodies[own.id.0 as usize].material.0 as usize].heat.mean_conductivity())
            .collect();
        let (around, order) = (&derived.around, &derived.around.order);
        let points: Vec<[Real; 4]> = parallel::map(order.len(), GRAIN, |place| {
            let k = order[place] as usize;
            let volume = derived.matter[derived.owners[k] as usize].volume;
            particles.position[derived.indices[k] as usize].extend(volume).to_array()
        });
        let Fullness { filled, .. } = fluid::measure(derived, &points);
        let parts = parallel::map_ranges(order.len(), GRAIN, |range| {
            let mut links = Vec::new();
            for place in range {
                let k = order[place] as usize;
                let (i, own) = (derived.indices[k], derived.owners[k] as usize);
                for &other in around.of(place).iter().flatten().filter(|&&other| other as usize > place) {
                    let k = order[other as usize] as usize;
                    let (j, theirs) = (derived.indices[k], derived.owners[k] as usize);
                    let (a, b) = (conductivities[own], conductivities[theirs]);
                    let both = if a + b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 };
                    let apart = particles.position[i as usize].distance(particles.position[j as usize]);
                    let volumes = derived.matter[own].volume * derived.matter[theirs].volume;
                    let full = 0.5 * (filled[place][3] + filled[other as usize][3]) * derived.kernel.moment();
                    let conductance = -2.0 * both * volumes * derived.kernel.slope(apart) / full;
                    if conductance > 0.0 {
                        links.push(Link { particles: [i, j], conductance });
                    }
                }
            }
            links
        });
        let faces = find_faces(derived, &filled, &conductivities);
        derived.ways = Arc::new(Ways { links: parts.concat(), faces });
    }

    pub(crate) fn ways(&self) -> Option<&Arc<Ways>> {
        self.derived.as_deref().map(|derived| &derived.ways)
    }
}

/// How far neighbours are looked for, m.
fn reach(bodies: &[CrystalBody], derived: &Derived) -> Real {
    let solids = bodies.iter().zip(&derived.matter).filter(|(_, matter)| matter.is_solid);
    solids.map(|(own, matter)| own.settings.support * matter.solid.distance).fold(derived.kernel.support, Real::max)
}

/// Faces that particles expose, out of the matter: `2 V |grad C|` over the moment of the kernel. Particles are on one side of
/// a surface only, where `C` falls by half: these add up to its area. Walls are not in `C` here, so that matter along
/// them counts as exposed.
fn find_faces(derived: &Derived, filled: &[[Real; 4]], conductivities: &[Real]) -> Vec<Face> {
    let order = &derived.around.order;
    let parts = parallel::map_ranges(order.len(), GRAIN, |range| {
        let mut faces = Vec::new();
        for place in range {
            let k = order[place] as usize;
            let own = derived.owners[k] as usize;
            let gradient = Vec3::new(filled[place][0], filled[place][1], filled[place][2]);
            let (steep, distance) = (gradient.length(), derived.matter[own].solid.distance);
            if steep * distance > EXPOSED {
                let resistance = 0.5 * distance / conductivities[own].max(Real::MIN_POSITIVE);
                let area = 2.0 * derived.matter[own].volume * steep / derived.kernel.moment();
                faces.push(Face { particle: derived.indices[k], normal: -gradient / steep, area, resistance });
            }
        }
        faces
    });
    parts.concat()
}

fn describe(own: &CrystalBody, bodies: &[Body], materials: &[Material], particles: &Particles) -> Matter {
    let body = &bodies[own.id.0 as usize];
    let material = &materials[body.material.0 as usize];
    let range = body.range();
    let mass = body.grain.mass;
    let solid = Solid::new(&own.settings, body, material, mass, &particles.rest[range.clone()]);
    let volume = match own.settings.phase {
        Phase::Solid => solid.lattice.volume(),
        Phase::Fluid | Phase::Gas => mass / material.density,
    };
    let (tension, distance) = (material.fluid.surface_tension, body.spacing);
    let ripple =
        if tension > 0.0 { RIPPLE * (material.density * distance.powi(3) / tension).sqrt() } else { Real::INFINITY };
    Matter {
        range,
        solid,
        is_solid: false,
        volume,
        density: material.density,
        viscosity: material.fluid.viscosity.clone(),
        smoothing: own.settings.smoothing,
        tension,
        ripple: ripple.into(),
    }
}

/// The turn that takes a shape at rest nearest to where it is.
fn turn_of(rest: &[Vec3], now: &[Vec3]) -> Quat {
    let middle =
        |points: &[Vec3]| points.iter().map(|x| x.as_dvec3()).sum::<glam::DVec3>() / points.len().max(1) as f64;
    let (from, to) = (middle(rest), middle(now));
    let mut sum = DMat3::ZERO;
    for (a, b) in rest.iter().zip(now) {
        let (a, b) = (a.as_dvec3() - from, b.as_dvec3() - to);
        sum += DMat3::from_cols(b * a.x, b * a.y, b * a.z);
    }
    nearest_rotation(sum, Quat::IDENTITY)
}

/// Whether bodies with these particle distances (m) may be in one world: all share one smooth weight.
pub(crate) fn are_alike(a: Real, b: Real) -> bool {
    (a - b).abs() <= ALIKE * a.max(b)
}

/// Whether samples are the sites of a closest packing along the own axes, as far as some of them tell.
pub(crate) fn is_packed(samples: &[Vec3], spacing: Real) -> bool {
    let near = Neighbourhood::new(samples, NEXT * spacing);
    let step = samples.len().div_ceil(MOST_TRIED).max(1);
    samples.iter().step_by(step).all(|&sample| {
        let mut packed = true;
        near.visit(sample, |other, square| {
            let way = (samples[other as usize] - sample) / spacing;
            if square > 0.0 && square < (NEXT * spacing).powi(2) {
                packed &= nearest_site(way).is_some_and(|site| site.position().distance(way) < OFF_SITE);
            }
        });
        packed
    })
}
