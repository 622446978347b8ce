//! Emitters: mouths that pour particles into a fluid body.
//!
//! A stream leaves the mouth in layers of a closest packing, square ones, with every second layer shifted by half. A layer is born
//! when the stream has moved by one, and stands where a stream of constant velocity has it.

use crate::Real;
use crate::body::{Body, BodyId, Grain};
use crate::error::WorldError;
use crate::frame::Amount;
use crate::material::Material;
use crate::model::crystal::SMOOTH;
use crate::particles::{Flags, Particle, Phase};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Most particles of a layer.
const WIDEST: f64 = 65_536.0;
/// Most layers that are born in a step: a step in which more are is far too long.
pub(crate) const MOST_LAYERS: f64 = 64.0;
/// Layers of two kinds lie this far from the middle, in particle distances, on opposite sides.
const SHIFT: f64 = 0.25;
/// Emitters far from the origin would have no room between layers, m.
const FARTHEST: Real = 1.0e7;

/// Pours particles into a fluid body of the model `crystal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Emitter {
    /// Unique name.
    pub name: String,
    /// Name of the fluid body that grows.
    pub body: String,
    /// Form of the opening.
    pub mouth: Mouth,
    /// Middle of the opening, m.
    pub at: Vec3,
    /// Where the stream goes, unit length.
    pub direction: Vec3,
    /// Speed of the stream, m/s.
    pub speed: Real,
    /// Of what comes out, in the scene's scale.
    pub temperature: Real,
    /// When it begins, s.
    pub from: f64,
    /// When it ends, s; `None` goes on for ever.
    pub until: Option<f64>,
    /// Most particles that come out; `None` has no end.
    pub most: Option<u64>,
    /// Whether it pours at the moment.
    pub active: bool,
}

/// Form of an opening.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Mouth {
    /// Round.
    Disc {
        /// m.
        radius: Real,
    },
    /// With a level first side; for streams straight up or down that is the x axis.
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

    /// Rows of particles along the sides of a rectangle.
    fn rows(size: [Real; 2], spacing: Real) -> [f64; 2] {
        size.map(|side| (f64::from(side) / f64::from(spacing)).round())
    }

    /// Particles of a layer: its area in squares of the spacing (m), rounded.
    pub fn count(&self, spacing: Real) -> f64 {
        match self {
            Self::Disc { .. } => (self.area() / f64::from(spacing).powi(2)).round(),
            Self::Rectangle { size } => Self::rows(*size, spacing).iter().product(),
        }
    }

    /// Particles of a layer in its plane, in spacings, the nearest to the middle first. Those of every second layer lie opposite.
    fn points(&self, spacing: Real) -> Vec<[f64; 2]> {
        let mut points = Vec::new();
        match self {
            Self::Disc { radius } => {
                let reach = (f64::from(*radius) / f64::from(spacing)).ceil() as i64 + 1;
                let line = || (-reach..=reach).map(|i| i as f64 + SHIFT);
                points.extend(line().flat_map(|x| line().map(move |y| [x, y])));
            }
            Self::Rectangle { size } => {
                let [a, b] = Self::rows(*size, spacing);
                let line = |count: f64| (0..count as i64).map(move |i| i as f64 - 0.5 * (count - 1.0) + SHIFT);
                points.extend(line(a).flat_map(|x| line(b).map(move |y| [x, y])));
            }
        }
        // A stable sort: of those that are as near, the order of rows decides.
        points.sort_by(|[a, b], [c, d]| (a * a + b * b).total_cmp(&(c * c + d * d)));
        points.truncate(self.count(spacing) as usize);
        points
    }
}

impl Emitter {
    /// A round mouth that pours for ever.
    pub fn new(name: impl Into<String>, body: impl Into<String>, radius: Real, at: Vec3, velocity: Vec3) -> Self {
        Self {
            name: name.into(),
            body: body.into(),
            mouth: Mouth::Disc { radius },
            at,
            direction: velocity.normalize_or(Vec3::NEG_Y),
            speed: velocity.length(),
            temperature: 0.0,
            from: 0.0,
            until: None,
            most: None,
            active: true,
        }
    }

    /// Of the stream, m/s.
    pub fn velocity(&self) -> Vec3 {
        self.direction * self.speed
    }

    /// Two directions across the stream; the first is level.
    fn across(&self) -> [Vec3; 2] {
        let first = Vec3::Y.cross(self.direction).normalize_or(Vec3::X);
        [first, self.direction.cross(first)]
    }

    /// Places of the particles of a layer whose middle has gone `way` (m) from the mouth, m.
    pub(crate) fn layer(&self, spacing: Real, shifted: bool, way: f64) -> Vec<Vec3> {
        let [a, b] = self.across().map(|side| side.as_dvec3());
        let middle = self.at.as_dvec3() + self.direction.as_dvec3() * way;
        let step = f64::from(spacing) * if shifted { -1.0 } else { 1.0 };
        let place = |[x, y]: [f64; 2]| (middle + (a * x + b * y) * step).as_vec3();
        self.mouth.points(spacing).into_iter().map(place).collect()
    }

    /// Whether its numbers make sense for a body of this particle distance, m.
    pub(crate) fn validate(&self, spacing: Real) -> Result<(), WorldError> {
        let owner = || format!("emitter \"{}\"", self.name);
        let check = |good, field, value: &dyn std::fmt::Debug, must| {
            WorldError::require(good, owner, field, format_args!("{value:?}"), must)
        };
        let placed = |x: Vec3| x.is_finite() && x.abs().max_element() <= FARTHEST;
        check(placed(self.at), "at", &self.at, "finite and within 1e7 m of the origin")?;
        check(self.direction.is_normalized(), "direction", &self.direction, "a unit vector")?;
        let speed = self.speed;
        check(
            speed > 0.0 && speed <= FARTHEST,
            "speed",
            &speed,
            "positive and below 1e7 m/s; stop it with active = false",
        )?;
        check(self.temperature.is_finite(), "temperature", &self.temperature, "finite")?;
        check(self.from.is_finite(), "from", &self.from, "finite")?;
        check(self.until.is_none_or(|until| until > self.from), "until", &self.until, "later than from")?;
        check(self.most != Some(0), "most", &self.most, "at least 1; leave the emitter out if nothing is to come")?;
        let count = self.mouth.count(spacing);
        if count.is_nan() || count < 1.0 {
            return Err(WorldError::NarrowMouth { emitter: self.name.clone(), area: self.mouth.area(), spacing });
        }
        let rule = "at most 65536 particles wide; make the mouth smaller or the spacing larger";
        check(count <= WIDEST, "mouth", &count, rule)
    }
}

/// Layers that have not gone far enough to be pushed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Layer {
    /// Number of its first particle within the body; the others follow.
    first: u32,
    count: u32,
    /// Distance from the mouth, m.
    way: f64,
}

impl Layer {
    /// Numbers of its particles within the body.
    fn samples(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }
}

/// An emitter at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stream {
    pub emitter: Emitter,
    /// The body that grows; it may have been removed.
    pub body: BodyId,
    /// What came out under its name so far.
    pub poured: Amount,
    /// Particles that came out of the present emitter of that name.
    count: u64,
    /// Time up to which the stream was followed, s.
    since: f64,
    /// How far the stream has moved since the last layer, m.
    phase: f64,
    /// Layers so far.
    layers: u64,
    /// Layers near the mouth, the oldest first.
    young: Vec<Layer>,
}

/// What an emitter does in a step.
pub(crate) struct Pouring {
    pub newborn: Vec<Particle>,
    /// Numbers within the body of particles that were guided and are no longer.
    pub freed: Vec<u32>,
}

impl Stream {
    pub fn new(emitter: Emitter, body: BodyId, time: f64) -> Self {
        let young = Vec::new();
        Self { emitter, body, poured: Amount::default(), count: 0, since: time, phase: 0.0, layers: 0, young }
    }

    /// Begins anew with another emitter of the same name.
    pub fn restart(&mut self, emitter: Emitter, body: BodyId, time: f64) {
        *self = Self { poured: self.poured, ..Self::new(emitter, body, time) };
    }

    /// The stream in bytes that tell one state from another.
    pub fn fingerprint(&self) -> [u64; 4] {
        [self.since.to_bits(), self.phase.to_bits(), self.layers, self.poured.particles]
    }

    /// Numbers within the body of particles that are guided.
    pub fn guided(&self) -> impl Iterator<Item = u32> + '_ {
        self.young.iter().flat_map(Layer::samples)
    }

    /// Whether it pours at a time, or will.
    pub fn runs(&self, time: f64) -> bool {
        let emitter = &self.emitter;
        let over = emitter.until.is_some_and(|until| time >= until);
        emitter.active && !over && emitter.most.is_none_or(|most| self.count < most)
    }

    /// Layers that are born in `dt` seconds while it pours.
    pub fn layers_in(&self, dt: f64, body: &Body, material: &Material) -> f64 {
        f64::from(self.emitter.speed) * dt / gap(body, material)
    }

    /// Follows the stream to the time `end` (s).
    pub fn advance(&mut self, end: f64, body: &Body, material: &Material) -> Pouring {
        let ways = self.follow(end, gap(body, material));
        let (grain, enthalpy) = (body.grain, material.heat.enthalpy(self.emitter.temperature));
        let (velocity, support) = (self.emitter.velocity(), f64::from(SMOOTH * body.spacing));
        let mut newborn: Vec<Particle> = Vec::new();
        for way in ways {
            let first = body.born + newborn.len() as u32;
            let mut places = self.emitter.layer(body.spacing, !self.layers.is_multiple_of(2), way);
            let left = self.emitter.most.map_or(u64::MAX, |most| most - self.count);
            places.truncate(left.try_into().unwrap_or(usize::MAX));
            let count = places.len() as u32;
            self.layers += 1;
            self.count += u64::from(count);
            self.poured.add(count.into(), grain.mass.into(), enthalpy);
            self.young.push(Layer { first, count, way });
            let id = self.body;
            let at = |(sample, at)| drop_at(at, velocity, enthalpy, grain, id, sample);
            newborn.extend((first..).zip(places).map(at));
        }
        let stops = !self.runs(end);
        let goes_free = |layer: &Layer| stops || layer.way >= support;
        let free: Vec<u32> = self.young.iter().filter(|layer| goes_free(layer)).flat_map(Layer::samples).collect();
        self.young.retain(|layer| !goes_free(layer));
        // Numbers rise: those of particles that are there already come first.
        let (freed, at_once) = free.split_at(free.partition_point(|&sample| sample < body.born));
        for &sample in at_once {
            let particle = &mut newborn[(sample - body.born) as usize];
            particle.flags = particle.flags.with(Flags::GUIDED, false);
        }
        Pouring { newborn, freed: freed.to_vec() }
    }

    /// How far the layers have gone at `end` (s) that are born until then, `gap` (m) after each other.
    fn follow(&mut self, end: f64, gap: f64) -> Vec<f64> {
        let (emitter, last) = (&self.emitter, std::mem::replace(&mut self.since, end));
        let (start, stop) = (last.max(emitter.from), emitter.until.map_or(end, |until| until.min(end)));
        let speed = f64::from(emitter.speed);
        self.young.iter_mut().for_each(|layer| layer.way += speed * (end - last));
        if !self.runs(start) || stop <= start {
            return Vec::new();
        }
        let moved = speed * (stop - start);
        let mut ways = Vec::new();
        let mut next = gap - self.phase;
        while next <= moved {
            ways.push(speed * (end - start) - next);
            next += gap;
        }
        self.phase = moved - (next - gap);
        ways
    }
}

/// Distance of layers, m: a layer holds the volume that the stream moves by it.
pub(crate) fn gap(body: &Body, material: &Material) -> f64 {
    f64::from(body.grain.mass) / f64::from(material.density) / f64::from(body.spacing).powi(2)
}

fn drop_at(at: Vec3, velocity: Vec3, enthalpy: f64, grain: Grain, body: BodyId, sample: u32) -> Particle {
    Particle {
        position: at,
        velocity,
        rest: at,
        mass: grain.mass,
        radius: grain.radius,
        enthalpy,
        phase: Phase::Fluid,
        body,
        sample,
        flags: Flags::default().with(Flags::GUIDED, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tap(radius: Real) -> Emitter {
        Emitter::new("tap", "water", radius, Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, -0.5, 0.0))
    }

    #[test]
    fn layers_are_a_closest_packing_and_all_alike() {
        for mouth in [Mouth::Disc { radius: 0.043 }, Mouth::Rectangle { size: [0.08, 0.031] }] {
            let emitter = Emitter { mouth, direction: Vec3::new(0.6, -0.8, 0.0), ..tap(1.0) };
            let spacing = 0.01;
            let gap = f64::from(spacing) * std::f64::consts::FRAC_1_SQRT_2;
            let layers = [emitter.layer(spacing, false, gap), emitter.layer(spacing, true, 0.0)];
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
            assert_eq!(nearest, 4, "each lies in the hollow of four");
        }
    }

    #[test]
    fn a_layer_stands_where_the_stream_has_it_however_time_is_cut() {
        let gap = 0.01;
        let follow = |times: &[f64]| {
            let mut stream = Stream::new(Emitter { from: 0.013, ..tap(0.05) }, BodyId(0), 0.0);
            let last = times[times.len() - 1];
            let born = |end: f64, stream: &mut Stream| {
                let ways = stream.follow(end, gap);
                ways.into_iter().map(|way| way + 0.5 * (last - end)).collect::<Vec<f64>>()
            };
            times.iter().flat_map(|&end| born(end, &mut stream)).collect::<Vec<f64>>()
        };
        let (whole, cut) = (follow(&[0.1]), follow(&[0.01, 0.02, 0.0337, 0.034, 0.08, 0.1]));
        // 43.5 mm in layers of 10 mm: the first has gone 33.5 mm.
        assert_eq!(whole.len(), 4);
        for (layer, (a, b)) in whole.iter().zip(&cut).enumerate() {
            let exact = 0.0335 - layer as f64 * gap;
            assert!((a - exact).abs() < 1e-12 && (b - exact).abs() < 1e-12, "{whole:?} {cut:?}");
        }
        assert_eq!(whole.len(), cut.len());
    }
}
