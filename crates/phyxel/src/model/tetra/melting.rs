//! Elements that melt: their matter goes over into a fluid of the model `crystal`.

use super::TetraModel;
use super::body::Tetras;
use crate::Real;
use crate::body::{Body, BodyId};
use crate::material::Material;
use crate::particles::{Flags, Particle, Particles, Phase};
use glam::{DVec3, Vec3};

/// What melting changes in the store.
#[derive(Default)]
pub(crate) struct Melted {
    /// Particles that are gone, rising within a body.
    pub gone: Vec<u32>,
    /// Drops that come in their place, body after body.
    pub drops: Vec<Particle>,
}

/// Matter on its way from nodes into drops.
#[derive(Clone, Copy, Debug, Default)]
struct Melt {
    /// kg.
    mass: f64,
    /// kg m/s.
    momentum: DVec3,
    /// J.
    heat: f64,
}

impl Melt {
    fn add(&mut self, particles: &Particles, i: usize) {
        let mass = f64::from(particles.mass[i]);
        self.mass += mass;
        self.momentum += mass * particles.velocity[i].as_dvec3();
        self.heat += mass * particles.enthalpy[i];
    }

    /// Takes a part of it away, by mass.
    fn take(&mut self, mass: f64) -> Self {
        let part = if self.mass > 0.0 { (mass / self.mass).min(1.0) } else { 0.0 };
        let taken = Self { mass: part * self.mass, momentum: part * self.momentum, heat: part * self.heat };
        self.mass -= taken.mass;
        self.momentum -= taken.momentum;
        self.heat -= taken.heat;
        taken
    }

    fn drop_at(self, at: Vec3, pool: &Body, id: BodyId) -> Particle {
        Particle {
            position: at,
            velocity: (self.momentum / self.mass).as_vec3(),
            rest: at,
            mass: self.mass as Real,
            radius: pool.grain.radius,
            enthalpy: self.heat / self.mass,
            phase: Phase::Fluid,
            body: id,
            sample: 0,
            flags: Flags::default(),
        }
    }
}

impl TetraModel {
    /// Lets elements go of which all nodes are molten, in bodies that melt into a fluid. Nodes without elements become drops of it.
    ///
    /// Drops have the mass that the fluid's particles have. What a node has beside that goes on to the next, and in the end to the nearest node that
    /// stays: mass, momentum and heat are only handed on.
    pub(crate) fn melt(&mut self, bodies: &[Body], materials: &[Material], particles: &mut Particles) -> Melted {
        let (mut melted, mut is_less) = (Melted::default(), false);
        for tetras in &mut self.bodies {
            let body = &bodies[tetras.id.0 as usize];
            let Some(pool) = tetras.pool(bodies) else { continue };
            let heat = &materials[body.material.0 as usize].heat;
            let is_molten = |node: u32| heat.molten(particles.enthalpy[node as usize]) >= 1.0;
            let is_solid = |nodes: &[u32; 4]| !nodes.iter().all(|&node| is_molten(node));
            let kept: Vec<usize> = (0..tetras.elements.len()).filter(|&i| is_solid(&tetras.elements[i])).collect();
            if kept.len() < tetras.elements.len() {
                is_less = true;
                tetras.keep(&kept);
                tetras.let_go(body, (pool, &bodies[pool.0 as usize]), particles, &mut melted);
            }
        }
        if is_less {
            self.bodies.retain(|tetras| !tetras.elements.is_empty());
            self.refresh();
        }
        melted.drops.sort_by_key(|drop| drop.body);
        melted
    }

    /// Whether any body melts into a fluid.
    pub(crate) fn may_melt(&self) -> bool {
        self.bodies.iter().any(|tetras| tetras.settings.melts_into.is_some())
    }
}

impl Tetras {
    /// The fluid that it melts into, if it does.
    fn pool(&self, bodies: &[Body]) -> Option<BodyId> {
        let name = self.settings.melts_into.as_ref()?;
        let place = bodies.iter().position(|body| !body.removed && body.name == *name)?;
        Some(BodyId(place as u32))
    }

    /// Makes drops of the nodes that no element has any more.
    fn let_go(&self, body: &Body, (id, pool): (BodyId, &Body), particles: &mut Particles, melted: &mut Melted) {
        let first = body.range().start;
        let mut is_used = vec![false; body.len()];
        self.elements.iter().flatten().for_each(|&node| is_used[node as usize - first] = true);
        let grain = f64::from(pool.grain.mass);
        let (mut melt, mut last) = (Melt::default(), None);
        for i in body.range().filter(|i| !is_used[i - first]) {
            melt.add(particles, i);
            melted.gone.push(i as u32);
            last = Some(i);
            let at = particles.position[i];
            let mut count = 0;
            // A rounding error less than a grain is one.
            while melt.mass >= 0.999_999 * grain {
                let place = at + 0.5 * pool.spacing * spread(count);
                melted.drops.push(melt.take(grain).drop_at(place, pool, id));
                count += 1;
            }
        }
        let Some(last) = last.filter(|_| melt.mass > 0.0) else { return };
        let at = particles.position[last];
        let off = |i: &usize| particles.position[*i].distance_squared(at);
        let nearest = body.range().filter(|i| is_used[i - first]).min_by(|a, b| off(a).total_cmp(&off(b)));
        match nearest {
            Some(node) => {
                melt.add(particles, node);
                particles.mass[node] = melt.mass as Real;
                particles.velocity[node] = (melt.momentum / melt.mass).as_vec3();
                particles.enthalpy[node] = melt.heat / melt.mass;
            }
            // Nothing is left of the body: the last drop is smaller, or larger.
            None => melted.drops.push(melt.drop_at(at, pool, id)),
        }
    }
}

/// Directions in which drops of one node lie around it; the first at it.
fn spread(count: usize) -> Vec3 {
    const WAYS: [Vec3; 7] = [Vec3::ZERO, Vec3::Y, Vec3::X, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Z, Vec3::NEG_Y];
    WAYS[count % WAYS.len()]
}
