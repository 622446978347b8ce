//! Assembly of frames, totals and state hashes.

use crate::body::{Body, BodyId};
use crate::frame::{
    BodyReport, Energy, Frame, FrameBody, FrameObstacle, FrameParticles, FrameSkin, PhaseCounts, SkinReport, Span,
    Totals,
};
use crate::geometry::enclosed_volume;
use crate::model::BodyState;
use crate::numerics::Aabb;
use crate::parallel;
use crate::skin::{Isosurface, PointSamples, Skin, reconstruct};
use crate::store::Phase;
use crate::world::World;
use glam::{DVec3, Vec3};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::Xxh3;

impl World {
    /// Present state for output.
    pub fn frame(&self) -> Frame {
        let (bodies, materials, particles) = (&self.bodies, &self.materials, &self.particles);
        let mut strain = vec![0.0; particles.len()];
        let states: BTreeMap<BodyId, BodyState> =
            self.models.each().flat_map(|model| model.body_states(&self.view(), &mut strain)).collect();
        let temperature = self.temperatures();
        let mut skins: BTreeMap<BodyId, FrameSkin> =
            (self.models.each()).flat_map(|model| model.skins(&self.view(), [&temperature, &strain])).collect();
        let mut frame_bodies = Vec::new();
        for (index, body) in bodies.iter().enumerate().filter(|(_, body)| !body.removed) {
            let id = BodyId(index as u32);
            let material = &materials[body.material.0 as usize];
            let range = body.range();
            let samples = PointSamples {
                positions: &particles.position[range.clone()],
                velocities: &particles.velocity[range.clone()],
                temperatures: &temperature[range.clone()],
                strains: &strain[range.clone()],
                spacing: body.spacing,
            };
            let skin = match &body.skin {
                Skin::Isosurface(settings) => reconstruct_condensed(&samples, &particles.phase[range], settings),
                _ => skins
                    .remove(&id)
                    .map(|skin| if skin.strains.is_empty() { samples.add_attributes(skin) } else { skin }),
            };
            let state = states.get(&id).copied().unwrap_or_default();
            let report = self.body_report(body, state, &temperature[body.range()], skin.as_ref());
            let (name, color, finish) = (material.name.clone(), material.color, material.finish);
            let particles = body.range();
            frame_bodies.push(FrameBody { report, material: name, color, finish, particles, skin });
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
            totals: self.totals(states.values().map(|state| state.elastic_energy).sum()),
            bodies: frame_bodies,
            obstacles: self.frame_obstacles(),
        }
    }

    /// Relative error of the heat balance: initial plus supplied minus present heat, over the largest of the three.
    fn heat_balance_error(&self, present: f64) -> f64 {
        let largest = self.initial_heat.abs().max(self.heat_in.abs()).max(present.abs());
        if largest > 0.0 { (self.initial_heat + self.heat_in - present) / largest } else { 0.0 }
    }

    /// Temperatures of all particles, in the scene's scale.
    pub(crate) fn temperatures(&self) -> Vec<f32> {
        let particles = &self.particles;
        parallel::map(particles.len(), 1 << 14, |i| {
            let body = &self.bodies[particles.body[i].0 as usize];
            self.materials[body.material.0 as usize].heat.temperature(particles.enthalpy[i])
        })
    }

    fn frame_obstacles(&self) -> Vec<FrameObstacle> {
        let active = self.obstacles.iter().filter(|obstacle| obstacle.active);
        active
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

    /// Report of a body, given temperatures of its particles.
    fn body_report(&self, body: &Body, state: BodyState, temperature: &[f32], skin: Option<&FrameSkin>) -> BodyReport {
        let particles = &self.particles;
        let mut span = Span { min: f64::INFINITY, mean: 0.0, max: f64::NEG_INFINITY };
        let (mut mass, mut centre, mut momentum) = (0.0, DVec3::ZERO, DVec3::ZERO);
        let mut bounds = Aabb::EMPTY;
        for i in body.range() {
            let m = f64::from(particles.mass[i]);
            let t = f64::from(temperature[i - body.particles.start as usize]);
            mass += m;
            centre += m * particles.position[i].as_dvec3();
            momentum += m * particles.velocity[i].as_dvec3();
            bounds = bounds.including(particles.position[i]);
            span = Span { min: span.min.min(t), mean: span.mean + m * t, max: span.max.max(t) };
        }
        span.mean /= mass;
        if body.is_empty() {
            bounds = Aabb { min: Vec3::NAN, max: Vec3::NAN };
            span = Span { min: f64::NAN, mean: f64::NAN, max: f64::NAN };
        }
        BodyReport {
            name: body.name.clone(),
            model: body.model,
            particles: count_phases(&particles.phase[body.range()]),
            pieces: state.pieces,
            centre: (centre / mass).to_array(),
            bounds: [bounds.min, bounds.max].map(|corner| corner.as_dvec3().to_array()),
            velocity: (momentum / mass).to_array(),
            temperature: span,
            strain_max: state.strain_max,
            solver_iterations: state.solver_iterations,
            degenerate: state.degenerate,
            tetrahedra: state.tetrahedra,
            broken: state.broken,
            merged: state.merged,
            skin: skin_report(body, skin),
        }
    }

    /// Totals of the world, summed in index order.
    fn totals(&self, elastic: f64) -> Totals {
        let particles = &self.particles;
        let gravity = self.settings.gravity.as_dvec3();
        let partial_sums = parallel::map_ranges(particles.len(), 1 << 14, |range| {
            let mut sum = Sums::default();
            for i in range {
                let m = f64::from(particles.mass[i]);
                let (x, v) = (particles.position[i].as_dvec3(), particles.velocity[i].as_dvec3());
                sum.mass += m;
                sum.momentum += m * v;
                sum.angular_momentum += m * x.cross(v);
                sum.kinetic += 0.5 * m * v.length_squared();
                sum.potential -= m * gravity.dot(x);
                sum.heat += m * particles.enthalpy[i];
            }
            sum
        });
        let mut sums = partial_sums.into_iter().fold(Sums::default(), Sums::add);
        sums.heat += (0..self.obstacles.len()).map(|obstacle| self.heat_of_obstacle(obstacle)).sum::<f64>();
        Totals {
            particles: count_phases(&particles.phase),
            mass: sums.mass,
            momentum: sums.momentum.to_array(),
            angular_momentum: sums.angular_momentum.to_array(),
            energy: Energy { kinetic: sums.kinetic, elastic, gravity: sums.potential, heat: sums.heat },
            heat_in: self.heat_in,
            emitted: self.emitted(),
            removed: self.removed(),
            balance_error: self.heat_balance_error(sums.heat),
        }
    }

    /// Hash of the state, bit for bit; the same for any number of threads.
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
        self.obstacle_temperature.iter().for_each(|x| hash.update(&x.to_bits().to_le_bytes()));
        let emitters = self.emitters.iter().flat_map(|state| state.fingerprint());
        emitters.for_each(|x| hash.update(&x.to_le_bytes()));
        hash.update(&crate::checkpoint::encode_models(&self.models));
        format!("{:032x}", hash.digest128())
    }
}

/// Reconstructs the surface of solid and fluid particles.
fn reconstruct_condensed(samples: &PointSamples, phases: &[Phase], settings: &Isosurface) -> Option<FrameSkin> {
    if !phases.contains(&Phase::Gas) {
        return reconstruct(samples, settings);
    }
    let condensed: Vec<usize> = (0..phases.len()).filter(|&i| phases[i] != Phase::Gas).collect();
    let select = |column: &[f32]| condensed.iter().map(|&i| column[i]).collect::<Vec<_>>();
    let select_vectors = |column: &[Vec3]| condensed.iter().map(|&i| column[i]).collect::<Vec<_>>();
    reconstruct(
        &PointSamples {
            positions: &select_vectors(samples.positions),
            velocities: &select_vectors(samples.velocities),
            temperatures: &select(samples.temperatures),
            strains: &select(samples.strains),
            spacing: samples.spacing,
        },
        settings,
    )
}

#[derive(Default)]
struct Sums {
    mass: f64,
    momentum: DVec3,
    angular_momentum: DVec3,
    kinetic: f64,
    potential: f64,
    heat: f64,
}

impl Sums {
    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            momentum: self.momentum + other.momentum,
            angular_momentum: self.angular_momentum + other.angular_momentum,
            kinetic: self.kinetic + other.kinetic,
            potential: self.potential + other.potential,
            heat: self.heat + other.heat,
        }
    }
}

fn count_phases(phases: &[Phase]) -> PhaseCounts {
    let count = |phase: Phase| phases.iter().filter(|&&other| other == phase).count() as u64;
    PhaseCounts { solid: count(Phase::Solid), fluid: count(Phase::Fluid), gas: count(Phase::Gas) }
}

fn skin_report(body: &Body, skin: Option<&FrameSkin>) -> SkinReport {
    let Some(skin) = skin else {
        let kind = Skin::Particles.name().to_string();
        return SkinReport { kind, vertices: 0, triangles: 0, closed: None, pieces: None, genus: None, volume: None };
    };
    // Surfels have no connectivity and enclose no volume.
    let has_faces = !skin.triangles.is_empty();
    SkinReport {
        kind: body.skin.name().to_string(),
        vertices: skin.positions.len() as u64,
        triangles: skin.triangles.len() as u64,
        closed: has_faces.then_some(skin.topology.closed),
        pieces: has_faces.then_some(skin.topology.pieces),
        genus: skin.topology.genus,
        volume: has_faces.then(|| enclosed_volume(&skin.positions, &skin.triangles)),
    }
}
