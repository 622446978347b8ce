//! Emitters: inlets that add particles to a fluid body.
//!
//! Particles are emitted in the square layers of a face-centred cubic packing; every second layer is offset
//! by half a spacing. A layer is created whenever the stream has advanced by one layer spacing, at the
//! position that a stream of constant velocity gives it at the end of the step. Particles within a kernel
//! support of the mouth are driven at the velocity of the stream; then they are released.

use crate::Real;
use crate::body::{Body, BodyId, ParticleTemplate};
use crate::error::WorldError;
use crate::frame::Amount;
use crate::material::Material;
use crate::model::crystal::KERNEL_SUPPORT;
use crate::store::{Flags, Particle, Phase};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Maximum number of particles in a layer.
const MAX_LAYER_PARTICLES: f64 = 65_536.0;
/// Maximum number of layers emitted in a step; a step with more is refused as too long.
pub(crate) const MAX_LAYERS_PER_STEP: f64 = 64.0;
/// Offset of a layer from the centre along both tangents, in spacings; alternating sign.
const LAYER_OFFSET: f64 = 0.25;
/// Maximum coordinate, m: farther from the origin `f32` does not resolve the layers.
const MAX_COORDINATE: Real = 1.0e7;

/// Source of particles for a fluid body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Emitter {
    /// Unique name.
    pub name: String,
    /// Name of the fluid body that grows.
    pub body: String,
    /// Shape of the mouth.
    pub mouth: Mouth,
    /// Centre of the mouth, m.
    pub position: Vec3,
    /// Direction of the stream, unit length.
    pub direction: Vec3,
    /// Speed of the stream, m/s.
    pub speed: Real,
    /// Temperature of emitted particles, in the scene's scale.
    pub temperature: Real,
    /// Start of emission, s.
    pub from: f64,
    /// End of emission, s; `None` is unlimited.
    pub until: Option<f64>,
    /// Maximum number of emitted particles; `None` is unlimited.
    pub max_particles: Option<u64>,
    /// False suspends emission.
    pub active: bool,
}

/// Shape of the mouth of an emitter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Mouth {
    /// Disc.
    Disc {
        /// m.
        radius: Real,
    },
    /// Rectangle with a horizontal first side; for vertical streams this is the x axis.
    Rectangle {
        /// Lengths of the sides, m.
        size: [Real; 2],
    },
}

impl Mouth {
    /// Its area, m2.
    pub fn area(&self) -> f64 {
        match self {
            Self::Disc { radius } => std::f64::consts::PI * f64::from(*radius).powi(2),
            Self::Rectangle { size: [a, b] } => f64::from(*a) * f64::from(*b),
        }
    }

    /// Number of rows of particles along each side of a rectangle.
    fn rows(size: [Real; 2], spacing: Real) -> [f64; 2] {
        size.map(|side| (f64::from(side) / f64::from(spacing)).round())
    }

    /// Number of particles in a layer: its area over the squared spacing (m), rounded.
    pub fn particle_count(&self, spacing: Real) -> f64 {
        match self {
            Self::Disc { .. } => (self.area() / f64::from(spacing).powi(2)).round(),
            Self::Rectangle { size } => Self::rows(*size, spacing).iter().product(),
        }
    }

    /// Particles of a layer in its plane, in spacings, sorted by distance from the centre. Every second layer
    /// is mirrored.
    fn points(&self, spacing: Real) -> Vec<[f64; 2]> {
        let mut points = Vec::new();
        match self {
            Self::Disc { radius } => {
                let half_width = (f64::from(*radius) / f64::from(spacing)).ceil() as i64 + 1;
                let line = || (-half_width..=half_width).map(|i| i as f64 + LAYER_OFFSET);
                points.extend(line().flat_map(|x| line().map(move |y| [x, y])));
            }
            Self::Rectangle { size } => {
                let [a, b] = Self::rows(*size, spacing);
                let line = |count: f64| (0..count as i64).map(move |i| i as f64 - 0.5 * (count - 1.0) + LAYER_OFFSET);
                points.extend(line(a).flat_map(|x| line(b).map(move |y| [x, y])));
            }
        }
        // The sort is stable: at equal distance the order of rows decides.
        points.sort_by(|[a, b], [c, d]| (a * a + b * b).total_cmp(&(c * c + d * d)));
        points.truncate(self.particle_count(spacing) as usize);
        points
    }
}

impl Emitter {
    /// Emitter with a disc-shaped mouth and no end.
    pub fn new(name: impl Into<String>, body: impl Into<String>, radius: Real, position: Vec3, velocity: Vec3) -> Self {
        Self {
            name: name.into(),
            body: body.into(),
            mouth: Mouth::Disc { radius },
            position,
            direction: velocity.normalize_or(Vec3::NEG_Y),
            speed: velocity.length(),
            temperature: 0.0,
            from: 0.0,
            until: None,
            max_particles: None,
            active: true,
        }
    }

    /// Velocity of the stream, m/s.
    pub fn velocity(&self) -> Vec3 {
        self.direction * self.speed
    }

    /// Two unit tangents of the mouth; the first is horizontal.
    fn tangents(&self) -> [Vec3; 2] {
        let first = Vec3::Y.cross(self.direction).normalize_or(Vec3::X);
        [first, self.direction.cross(first)]
    }

    /// Positions of the particles of a layer at `distance` (m) from the mouth, m.
    pub(crate) fn layer_positions(&self, spacing: Real, mirrored: bool, distance: f64) -> Vec<Vec3> {
        let [a, b] = self.tangents().map(|side| side.as_dvec3());
        let centre = self.position.as_dvec3() + self.direction.as_dvec3() * distance;
        let step = f64::from(spacing) * if mirrored { -1.0 } else { 1.0 };
        let position = |[x, y]: [f64; 2]| (centre + (a * x + b * y) * step).as_vec3();
        self.mouth.points(spacing).into_iter().map(position).collect()
    }

    /// Validates the settings for a body of this spacing, m.
    pub(crate) fn validate(&self, spacing: Real) -> Result<(), WorldError> {
        let owner = || format!("emitter \"{}\"", self.name);
        let check = |good, field, value: &dyn std::fmt::Debug, requirement| {
            WorldError::require(good, owner, field, format_args!("{value:?}"), requirement)
        };
        let in_range = |x: Vec3| x.is_finite() && x.abs().max_element() <= MAX_COORDINATE;
        check(in_range(self.position), "at", &self.position, "finite and within 1e7 m of the origin")?;
        check(self.direction.is_normalized(), "direction", &self.direction, "a unit vector")?;
        let speed = self.speed;
        check(
            speed > 0.0 && speed <= MAX_COORDINATE,
            "speed",
            &speed,
            "positive and below 1e7 m/s; stop it with active = false",
        )?;
        check(self.temperature.is_finite(), "temperature", &self.temperature, "finite")?;
        check(self.from.is_finite(), "from", &self.from, "finite")?;
        check(self.until.is_none_or(|until| until > self.from), "until", &self.until, "later than from")?;
        let any = self.max_particles != Some(0);
        let rule = "at least 1; leave the emitter out if it is not to emit anything";
        check(any, "max_particles", &self.max_particles, rule)?;
        let count = self.mouth.particle_count(spacing);
        if count.is_nan() || count < 1.0 {
            return Err(WorldError::NarrowMouth { emitter: self.name.clone(), area: self.mouth.area(), spacing });
        }
        let rule = "at most 65536 particles wide; make the mouth smaller or the spacing larger";
        check(count <= MAX_LAYER_PARTICLES, "mouth", &count, rule)
    }
}

/// Emitted layer whose particles are still driven.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Layer {
    /// Id of its first particle within the body; those of the others follow.
    first_id: u32,
    /// Number of particles.
    count: u32,
    /// Distance from the mouth, m.
    distance: f64,
}

impl Layer {
    /// Ids of its particles within the body.
    fn ids(&self) -> std::ops::Range<u32> {
        self.first_id..self.first_id + self.count
    }
}

/// Emitter with the state of its stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EmitterState {
    pub emitter: Emitter,
    /// The body that it fills; it may have been removed.
    pub body: BodyId,
    /// Emitted since the start by all emitters of this name.
    pub emitted: Amount,
    /// Particles emitted by the present emitter of this name.
    count: u64,
    /// Time up to which the stream is integrated, s.
    time: f64,
    /// Distance that the stream has moved since the last layer, m.
    distance_since_layer: f64,
    /// Number of emitted layers.
    layer_count: u64,
    /// Driven layers, oldest first.
    driven_layers: Vec<Layer>,
}

/// Changes that an emitter makes in a step.
pub(crate) struct Emission {
    /// New particles.
    pub particles: Vec<Particle>,
    /// Ids within the body of existing particles that are no longer driven.
    pub released: Vec<u32>,
}

impl EmitterState {
    pub fn new(emitter: Emitter, body: BodyId, time: f64) -> Self {
        Self {
            emitter,
            body,
            emitted: Amount::default(),
            count: 0,
            time,
            distance_since_layer: 0.0,
            layer_count: 0,
            driven_layers: Vec::new(),
        }
    }

    /// Replaces the emitter by another of the same name; the total is kept.
    pub fn restart(&mut self, emitter: Emitter, body: BodyId, time: f64) {
        *self = Self { emitted: self.emitted, ..Self::new(emitter, body, time) };
    }

    /// Bits that identify the state, for hashes.
    pub fn fingerprint(&self) -> [u64; 4] {
        [self.time.to_bits(), self.distance_since_layer.to_bits(), self.layer_count, self.emitted.particles]
    }

    /// Ids within the body of the driven particles.
    pub fn driven_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.driven_layers.iter().flat_map(Layer::ids)
    }

    /// Returns true if it emits at a time, or may emit later (s).
    pub fn is_emitting(&self, time: f64) -> bool {
        let emitter = &self.emitter;
        let over = emitter.until.is_some_and(|until| time >= until);
        emitter.active && !over && emitter.max_particles.is_none_or(|max| self.count < max)
    }

    /// Number of layers emitted in `dt` seconds.
    pub fn layers_in(&self, dt: f64, body: &Body, material: &Material) -> f64 {
        f64::from(self.emitter.speed) * dt / layer_spacing(body, material)
    }

    /// Advances the stream to the time `end` (s).
    pub fn advance(&mut self, end: f64, body: &Body, material: &Material) -> Emission {
        let distances = self.new_layers(end, layer_spacing(body, material));
        let (template, enthalpy) = (body.template, material.heat.enthalpy(self.emitter.temperature));
        let (velocity, support) = (self.emitter.velocity(), f64::from(KERNEL_SUPPORT * body.spacing));
        let mut emitted: Vec<Particle> = Vec::new();
        for distance in distances {
            let first_id = body.next_id + emitted.len() as u32;
            let mirrored = !self.layer_count.is_multiple_of(2);
            let mut positions = self.emitter.layer_positions(body.spacing, mirrored, distance);
            let remaining = self.emitter.max_particles.map_or(u64::MAX, |max| max - self.count);
            positions.truncate(remaining.try_into().unwrap_or(usize::MAX));
            let count = positions.len() as u32;
            self.layer_count += 1;
            self.count += u64::from(count);
            self.emitted.add(count.into(), template.mass.into(), enthalpy);
            self.driven_layers.push(Layer { first_id, count, distance });
            let body = self.body;
            let particle = |(id, position)| fluid_particle(position, velocity, enthalpy, template, body, id);
            emitted.extend((first_id..).zip(positions).map(particle));
        }
        let ended = !self.is_emitting(end);
        let is_released = |layer: &Layer| ended || layer.distance >= support;
        let released: Vec<u32> =
            self.driven_layers.iter().filter(|layer| is_released(layer)).flat_map(Layer::ids).collect();
        self.driven_layers.retain(|layer| !is_released(layer));
        // Ids increase: those of existing particles come first.
        let (existing, new) = released.split_at(released.partition_point(|&id| id < body.next_id));
        for &id in new {
            let particle = &mut emitted[(id - body.next_id) as usize];
            particle.flags = particle.flags.with(Flags::DRIVEN, false);
        }
        Emission { particles: emitted, released: existing.to_vec() }
    }

    /// Distances from the mouth at the time `end` (s) of the layers emitted until then, `spacing` (m) apart; m.
    fn new_layers(&mut self, end: f64, spacing: f64) -> Vec<f64> {
        let (emitter, last) = (&self.emitter, std::mem::replace(&mut self.time, end));
        let (start, stop) = (last.max(emitter.from), emitter.until.map_or(end, |until| until.min(end)));
        let speed = f64::from(emitter.speed);
        self.driven_layers.iter_mut().for_each(|layer| layer.distance += speed * (end - last));
        if !self.is_emitting(start) || stop <= start {
            return Vec::new();
        }
        let moved = speed * (stop - start);
        let mut distances = Vec::new();
        let mut next = spacing - self.distance_since_layer;
        while next <= moved {
            distances.push(speed * (end - start) - next);
            next += spacing;
        }
        self.distance_since_layer = moved - (next - spacing);
        distances
    }
}

/// Distance of layers, m, from conservation of volume: the volume of a layer is mouth area times layer spacing.
pub(crate) fn layer_spacing(body: &Body, material: &Material) -> f64 {
    f64::from(body.template.mass) / f64::from(material.density) / f64::from(body.spacing).powi(2)
}

fn fluid_particle(
    position: Vec3,
    velocity: Vec3,
    enthalpy: f64,
    template: ParticleTemplate,
    body: BodyId,
    id: u32,
) -> Particle {
    Particle {
        position,
        velocity,
        rest: position,
        mass: template.mass,
        radius: template.radius,
        enthalpy,
        phase: Phase::Fluid,
        body,
        id,
        flags: Flags::default().with(Flags::DRIVEN, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tap(radius: Real) -> Emitter {
        Emitter::new("tap", "water", radius, Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, -0.5, 0.0))
    }

    #[test]
    fn layers_are_congruent_and_form_a_closest_packing() {
        for mouth in [Mouth::Disc { radius: 0.043 }, Mouth::Rectangle { size: [0.08, 0.031] }] {
            let emitter = Emitter { mouth, direction: Vec3::new(0.6, -0.8, 0.0), ..tap(1.0) };
            let spacing = 0.01;
            let layer_spacing = f64::from(spacing) * std::f64::consts::FRAC_1_SQRT_2;
            let layers =
                [emitter.layer_positions(spacing, false, layer_spacing), emitter.layer_positions(spacing, true, 0.0)];
            assert_eq!(layers[0].len(), layers[1].len());
            let area = layers[0].len() as f64 * 1e-4;
            // Half a particle of a disc, half a row on each side of a rectangle.
            assert!((area - mouth.area()).abs() <= 0.5e-4 * 9.0, "{area} {}", mouth.area());
            let all: Vec<Vec3> = layers.concat();
            for (i, a) in all.iter().enumerate() {
                let near = all.iter().skip(i + 1).map(|b| a.distance(*b)).fold(Real::INFINITY, Real::min);
                // Rounding of positions of 1 m to 32 bits.
                assert!(near > spacing - 1e-6, "{near}");
            }
            let inside = &layers[0][0];
            let nearest = layers[1].iter().filter(|b| b.distance(*inside) < spacing + 1e-6).count();
            assert_eq!(nearest, 4, "each has four neighbours in the next layer");
        }
    }

    #[test]
    fn layer_positions_do_not_depend_on_the_time_steps() {
        let spacing = 0.01;
        let integrate = |times: &[f64]| {
            let mut stream = EmitterState::new(Emitter { from: 0.013, ..tap(0.05) }, BodyId(0), 0.0);
            let last = times[times.len() - 1];
            let emitted = |end: f64, stream: &mut EmitterState| {
                let distances = stream.new_layers(end, spacing);
                distances.into_iter().map(|distance| distance + 0.5 * (last - end)).collect::<Vec<f64>>()
            };
            times.iter().flat_map(|&end| emitted(end, &mut stream)).collect::<Vec<f64>>()
        };
        let (one, many) = (integrate(&[0.1]), integrate(&[0.01, 0.02, 0.0337, 0.034, 0.08, 0.1]));
        // 43.5 mm in layers of 10 mm: the first has moved 33.5 mm.
        assert_eq!(one.len(), 4);
        for (layer, (a, b)) in one.iter().zip(&many).enumerate() {
            let exact = 0.0335 - layer as f64 * spacing;
            assert!((a - exact).abs() < 1e-12 && (b - exact).abs() < 1e-12, "{one:?} {many:?}");
        }
        assert_eq!(one.len(), many.len());
    }
}
