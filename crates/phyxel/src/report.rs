//! Seeing a world: frames, totals, hashes.

use crate::body::{Body, BodyId};
use crate::frame::{
    BodyReport, Energy, Frame, FrameBody, FrameObstacle, FrameParticles, FrameSkin, PhaseCounts, SkinReport, Span,
    Totals,
};
use crate::model::BodyState;
use crate::parallel;
use crate::particles::Phase;
use crate::skin::{Isosurface, Matter, Skin, surround};
use crate::surface;
use crate::world::World;
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::Xxh3;

impl World {
    /// Everything there is to see at this moment.
    pub fn frame(&self) -> Frame {
        let (bodies, materials, particles) = (&self.bodies, &self.materials, &self.particles);
        let mut strain = vec![0.0; particles.len()];
        let states: BTreeMap<BodyId, BodyState> =
            self.models.iter().flat_map(|model| model.states(bodies, materials, particles, &mut strain)).collect();
        let temperature = self.temperatures();
        let mut skins: BTreeMap<BodyId, FrameSkin> = (self.models.iter())
            .flat_map(|model| model.skins(bodies, materials, particles, [&temperature, &strain]))
            .collect();
        let mut shown = Vec::new();
        for (number, body) in bodies.iter().enumerate().filter(|(_, body)| !body.removed) {
            let id = BodyId(number as u32);
            let material = &materials[body.material.0 as usize];
            let range = body.range();
            let matter = Matter {
                positions: &particles.position[range.clone()],
                velocities: &particles.velocity[range.clone()],
                temperatures: &temperature[range.clone()],
                strains: &strain[range.clone()],
                spacing: body.spacing,
            };
            let skin = match &body.skin {
                Skin::Isosurface(settings) => surround_condensed(&matter, &particles.phase[range], settings),
                _ => skins.remove(&id).map(|skin| if skin.strains.is_empty() { matter.colour(skin) } else { skin }),
            };
            let state = states.get(&id).copied().unwrap_or_default();
            let report = self.report_body(body, state, &temperature[body.range()], skin.as_ref());
            let (name, color, finish) = (material.name.clone(), material.color, material.finish);
            let particles = body.range();
            shown.push(FrameBody { report, material: name, color, finish, particles, skin });
        }
        Frame {
            index: self.frame,
            time: self.time,
            steps: self.steps,
            particles: FrameParticles {
                position: particles.position.clone(),
                velocity: particles.velocity.clone(),
                radius: particles.radius.clone(),
                mass: particles.mass.clone(),
                temperature,
                strain,
                phase: particles.phase.clone(),
            },
            totals: self.total_up(states.values().map(|state| state.elastic).sum()),
            bodies: shown,
            obstacles: self.show_obstacles(),
        }
    }

    /// Part of the heat that is there too much or too little: what was there first and what came in, less what is there
    /// now, relative to the largest of the three.
    fn balance_error(&self, now: f64) -> f64 {
        let largest = self.heat_first.abs().max(self.heat_in.abs()).max(now.abs());
        if largest > 0.0 { (self.heat_first + self.heat_in - now) / largest } else { 0.0 }
    }

    /// Temperatures of all particles, in the scene's scale.
    pub(crate) fn temperatures(&self) -> Vec<f32> {
        let particles = &self.particles;
        parallel::map(particles.len(), 1 << 14, |i| {
            let body = &self.bodies[particles.body[i].0 as usize];
            self.materials[body.material.0 as usize].heat.temperature(particles.enthalpy[i])
        })
    }

    fn show_obstacles(&self) -> Vec<FrameObstacle> {
        let there = self.obstacles.iter().filter(|obstacle| obstacle.active);
        there
            .map(|obstacle| FrameObstacle {
                name: obstacle.name.clone(),
                geometry: obstacle.geometry.clone(),
                pose: obstacle.pose(self.time),
                color: obstacle.color,
                temperature: obstacle.temperature,
                visible: obstacle.visible,
            })
            .collect()
    }

    fn report_body(&self, body: &Body, state: BodyState, temperature: &[f32], skin: Option<&FrameSkin>) -> BodyReport {
        let particles = &self.particles;
        let mut span = Span { min: f64::INFINITY, mean: 0.0, max: f64::NEG_INFINITY };
        let (mut mass, mut centre, mut momentum) = (0.0, DVec3::ZERO, DVec3::ZERO);
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for i in body.range() {
            let m = f64::from(particles.mass[i]);
            let t = f64::from(temperature[i - body.particles.start as usize]);
            mass += m;
            centre += m * particles.position[i].as_dvec3();
            momentum += m * particles.velocity[i].as_dvec3();
            (low, high) = (low.min(particles.position[i]), high.max(particles.position[i]));
            span = Span { min: span.min.min(t), mean: span.mean + m * t, max: span.max.max(t) };
        }
        span.mean /= mass;
        if body.is_empty() {
            (low, high) = (Vec3::NAN, Vec3::NAN);
            span = Span { min: f64::NAN, mean: f64::NAN, max: f64::NAN };
        }
        BodyReport {
            name: body.name.clone(),
            model: body.model,
            particles: count_phases(&particles.phase[body.range()]),
            pieces: state.pieces,
            centre: (centre / mass).to_array(),
            bounds: [low.as_dvec3().to_array(), high.as_dvec3().to_array()],
            velocity: (momentum / mass).to_array(),
            temperature: span,
            strain_max: state.strain_max,
            solver_rounds: state.solver_rounds,
            degenerate: state.degenerate,
            tetrahedra: state.tetrahedra,
            broken: state.broken,
            merged: state.merged,
            skin: report_skin(body, skin),
        }
    }

    /// Sums over the world, in index order.
    fn total_up(&self, elastic: f64) -> Totals {
        let particles = &self.particles;
        let gravity = self.settings.gravity.as_dvec3();
        let parts = parallel::map_ranges(particles.len(), 1 << 14, |range| {
            let mut sum = Sums::default();
            for i in range {
                let m = f64::from(particles.mass[i]);
                let (x, v) = (particles.position[i].as_dvec3(), particles.velocity[i].as_dvec3());
                sum.mass += m;
                sum.momentum += m * v;
                sum.spin += m * x.cross(v);
                sum.kinetic += 0.5 * m * v.length_squared();
                sum.height -= m * gravity.dot(x);
                sum.heat += m * particles.enthalpy[i];
            }
            sum
        });
        let mut all = parts.into_iter().fold(Sums::default(), Sums::add);
        all.heat += (0..self.obstacles.len()).map(|obstacle| self.heat_of_obstacle(obstacle)).sum::<f64>();
        Totals {
            particles: count_phases(&particles.phase),
            mass: all.mass,
            momentum: all.momentum.to_array(),
            angular_momentum: all.spin.to_array(),
            energy: Energy { kinetic: all.kinetic, elastic, gravity: all.height, heat: all.heat },
            heat_in: self.heat_in,
            emitted: self.emitted(),
            removed: self.removed(),
            balance_error: self.balance_error(all.heat),
        }
    }

    /// A fingerprint of the state: equal for equal bits, on any number of threads.
    pub fn state_hash(&self) -> String {
        let mut hash = Xxh3::new();
        let particles = &self.particles;
        hash.update(&self.time.to_bits().to_le_bytes());
        hash.update(&self.steps.to_le_bytes());
        for column in [&particles.position, &particles.velocity] {
            column.iter().for_each(|v| v.to_array().iter().for_each(|x| hash.update(&x.to_bits().to_le_bytes())));
        }
        particles.enthalpy.iter().for_each(|x| hash.update(&x.to_bits().to_le_bytes()));
        for i in 0..particles.len() {
            hash.update(&[particles.phase[i] as u8, particles.flags[i].bits()]);
            hash.update(&particles.body[i].0.to_le_bytes());
        }
        self.obstacle_warmth.iter().for_each(|x| hash.update(&x.to_bits().to_le_bytes()));
        let streams = self.streams.iter().flat_map(|stream| stream.fingerprint());
        streams.for_each(|x| hash.update(&x.to_le_bytes()));
        hash.update(&crate::checkpoint::encode_models(&self.models));
        format!("{:032x}", hash.digest128())
    }
}

/// A surface around what is not gas.
fn surround_condensed(matter: &Matter, phases: &[Phase], settings: &Isosurface) -> Option<FrameSkin> {
    if !phases.contains(&Phase::Gas) {
        return surround(matter, settings);
    }
    let kept: Vec<usize> = (0..phases.len()).filter(|&i| phases[i] != Phase::Gas).collect();
    let pick = |column: &[f32]| kept.iter().map(|&i| column[i]).collect::<Vec<_>>();
    let pick_vectors = |column: &[Vec3]| kept.iter().map(|&i| column[i]).collect::<Vec<_>>();
    surround(
        &Matter {
            positions: &pick_vectors(matter.positions),
            velocities: &pick_vectors(matter.velocities),
            temperatures: &pick(matter.temperatures),
            strains: &pick(matter.strains),
            spacing: matter.spacing,
        },
        settings,
    )
}

#[derive(Default)]
struct Sums {
    mass: f64,
    momentum: DVec3,
    spin: DVec3,
    kinetic: f64,
    height: f64,
    heat: f64,
}

impl Sums {
    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            momentum: self.momentum + other.momentum,
            spin: self.spin + other.spin,
            kinetic: self.kinetic + other.kinetic,
            height: self.height + other.height,
            heat: self.heat + other.heat,
        }
    }
}

fn count_phases(phases: &[Phase]) -> PhaseCounts {
    let count = |wanted: Phase| phases.iter().filter(|&&phase| phase == wanted).count() as u64;
    PhaseCounts { solid: count(Phase::Solid), fluid: count(Phase::Fluid), gas: count(Phase::Gas) }
}

fn report_skin(body: &Body, skin: Option<&FrameSkin>) -> SkinReport {
    let Some(skin) = skin else {
        let kind = Skin::Particles.name().to_string();
        return SkinReport { kind, vertices: 0, triangles: 0, closed: None, pieces: None, genus: None, volume: None };
    };
    // Discs hang together no more than points do, and enclose nothing.
    let has_faces = !skin.triangles.is_empty();
    SkinReport {
        kind: body.skin.name().to_string(),
        vertices: skin.positions.len() as u64,
        triangles: skin.triangles.len() as u64,
        closed: has_faces.then_some(skin.topology.closed),
        pieces: has_faces.then_some(skin.topology.pieces),
        genus: skin.topology.genus,
        volume: has_faces.then(|| surface::enclosed_volume(&skin.positions, &skin.triangles)),
    }
}
