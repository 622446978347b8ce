//! Bars and beams: Young's modulus, Poisson's ratio, bending, frequencies.

use crate::common::{Lcg, world};
use crate::{cloud, elastic};
use glam::Vec3;
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::commands::{Command, Setting, Target};
use phyxel::model::ContinuumSettings;
use phyxel::model::continuum::Integration;
use phyxel::step::{StageTimes, step};

pub const YOUNG: f64 = 1.0e6;
pub const POISSON: f64 = 0.3;
const DENSITY: f64 = 1000.0;
/// Edge of the section and length over edge, m.
const EDGE: f64 = 0.2;
const SLENDER: u32 = 4;

/// Sampling and time integration of a beam.
#[derive(Clone, Copy)]
pub struct Beam {
    /// Phyxels across.
    pub across: u32,
    /// Largest displacement of a phyxel from the lattice along every axis, in spacings.
    pub jitter: f32,
    pub integration: Integration,
}

impl Beam {
    fn spacing(self) -> f64 {
        EDGE / f64::from(self.across)
    }

    fn layers(self) -> u32 {
        SLENDER * self.across
    }

    /// Length from the fixed layer to the far end, m. Phyxels are at the centres of their cells.
    fn length(self) -> f64 {
        (f64::from(self.layers()) - 0.5) * self.spacing()
    }

    /// Beam along x whose first layer is fixed.
    fn body(self) -> NewBody {
        let (count, spacing) = (self.across, self.spacing() as f32);
        let (middle, mut random) = (0.5 * (count - 1) as f32, Lcg(9));
        let mut samples = Vec::new();
        for x in 0..self.layers() {
            for z in 0..count {
                for y in 0..count {
                    let position = Vec3::new(x as f32, y as f32 - middle, z as f32 - middle);
                    let is_end = x == 0 || x + 1 == self.layers();
                    samples.push((position + random.next_vector(if is_end { 0.0 } else { self.jitter })) * spacing);
                }
            }
        }
        let settings = ContinuumSettings { integration: self.integration, ..ContinuumSettings::default() };
        let held = (0..count * count).collect();
        NewBody { held, ..cloud(samples, spacing, settings) }
    }

    fn world(self, gravity: Vec3) -> World {
        let mut world = world(elastic(YOUNG as f32, POISSON as f32), gravity);
        world.add_body(self.body()).unwrap();
        world
    }

    /// Mean displacement of a layer along an axis, m.
    fn displacement(self, world: &World, layer: u32, axis: usize) -> f64 {
        let size = (self.across * self.across) as usize;
        let particles = world.particles();
        let of = |i: usize| f64::from((particles.position[i] - particles.rest[i])[axis]);
        (layer as usize * size..(layer as usize + 1) * size).map(of).sum::<f64>() / size as f64
    }

    /// First bending frequency of a Timoshenko beam, 1/s, by Dunkerley's formula:
    /// `1/f^2 = 1/f_b^2 + 1/f_s^2` from the frequencies of pure bending and pure shear.
    pub fn frequency(self) -> f64 {
        let (length, inertia, area) = (self.length(), EDGE.powi(4) / 12.0, EDGE * EDGE);
        let bending = 1.8751f64.powi(2) / (2.0 * std::f64::consts::PI)
            * (YOUNG * inertia / (DENSITY * area * length.powi(4))).sqrt();
        let shear = (shear_modulus() / (1.2 * DENSITY)).sqrt() / (4.0 * length);
        1.0 / (1.0 / bending.powi(2) + 1.0 / shear.powi(2)).sqrt()
    }
}

fn shear_modulus() -> f64 {
    0.5 * YOUNG / (1.0 + POISSON)
}

fn kinetic(world: &World) -> f64 {
    let particles = world.particles();
    let of = |(v, m): (&Vec3, &f32)| f64::from(*m) * f64::from(v.length_squared());
    particles.velocity.iter().zip(&particles.mass).map(of).sum()
}

/// Mean of a quantity of a world that oscillates about its equilibrium with a period (s).
///
/// Kinetic damping: velocities are zeroed at three maxima of the kinetic energy, which are near the
/// equilibrium; the remaining oscillation is averaged over a period.
fn static_mean(world: &mut World, period: f64, quantity: impl Fn(&World) -> f64) -> f64 {
    let dt = (period / 400.0).min(world.stable_step()) as f32;
    let mut times = StageTimes::default();
    let (mut last, mut stops) = (0.0, 0);
    while stops < 3 {
        step(world, dt, &mut times).unwrap();
        let now = kinetic(world);
        if now < last {
            stops += 1;
            let target = Target::Body("body".into());
            world.apply(Command::Set { target, setting: Setting::Velocity(Vec3::ZERO) }).unwrap();
        }
        last = if now < last { 0.0 } else { now };
        // Short waves make small maxima; let a tenth of the period pass.
        if last == 0.0 {
            (0..(0.1 * period / f64::from(dt)) as u32).for_each(|_| step(world, dt, &mut times).unwrap());
        }
    }
    let count = (period / f64::from(dt)).round() as u32;
    let mut sum = 0.0;
    for _ in 0..count {
        step(world, dt, &mut times).unwrap();
        sum += quantity(world);
    }
    sum / f64::from(count)
}

/// Young's modulus and Poisson's ratio of a bar that hangs by one end, from the middle third of its length.
pub fn elastic_constants(beam: Beam) -> (f64, f64) {
    let gravity = 5.0;
    let (length, spacing) = (beam.length(), beam.spacing());
    let period = 4.0 * length / (YOUNG / DENSITY).sqrt();
    let (low, high) = (beam.layers() / 3, 2 * beam.layers() / 3);
    let mut world = beam.world(Vec3::X * gravity as f32);
    let stretch =
        static_mean(&mut world, period, |world| beam.displacement(world, high, 0) - beam.displacement(world, low, 0));
    let [a, b] = [low, high].map(|layer| f64::from(layer) * spacing);
    let young = DENSITY * gravity * (length * (b - a) - 0.5 * (b * b - a * a)) / stretch;
    let middle = beam.layers() / 2;
    let mut world = beam.world(Vec3::X * gravity as f32);
    let lateral_strain = static_mean(&mut world, period, |world| {
        // Slope of the lateral displacements, by least squares.
        let (size, particles) = ((beam.across * beam.across) as usize, world.particles());
        let (mut sum, mut square) = (0.0, 0.0);
        for i in (middle as usize - 1) * size..(middle as usize + 2) * size {
            let (y, moved) = (f64::from(particles.rest[i].y), f64::from(particles.position[i].y - particles.rest[i].y));
            (sum, square) = (sum + y * moved, square + y * y);
        }
        -sum / square
    });
    let strain = DENSITY * gravity * (length - f64::from(middle) * spacing) / YOUNG;
    (young, lateral_strain / strain)
}

/// Deflection of the last layer of a cantilever under its own weight, over that of Timoshenko.
pub fn deflection_ratio(beam: Beam) -> f64 {
    let gravity = 0.2;
    let (last, length) = (beam.layers() - 1, beam.length());
    let mut world = beam.world(Vec3::NEG_Y * gravity as f32);
    let found = -static_mean(&mut world, 1.0 / beam.frequency(), |world| beam.displacement(world, last, 1));
    let (x, load, inertia) = (f64::from(last) * beam.spacing(), DENSITY * gravity * EDGE * EDGE, EDGE.powi(4) / 12.0);
    let bending =
        load * (6.0 * length * length * x * x - 4.0 * length * x.powi(3) + x.powi(4)) / (24.0 * YOUNG * inertia);
    let shear = load * (length * x - 0.5 * x * x) / (shear_modulus() * EDGE * EDGE / 1.2);
    found / (bending + shear)
}

/// First bending frequency of a cantilever that is released under its own weight, over the closed form.
pub fn frequency_ratio(beam: Beam) -> f64 {
    let mut world = beam.world(Vec3::NEG_Y * 0.2);
    let expected = 1.0 / beam.frequency();
    let dt = (expected / 400.0).min(world.stable_step()) as f32;
    let last = beam.layers() - 1;
    // It oscillates between its rest shape and twice the static deflection: the lowest point is after half
    // a period.
    let (mut lowest, mut when, mut time) = (0.0, 0.0, 0.0);
    while time < 0.8 * expected {
        step(&mut world, dt, &mut StageTimes::default()).unwrap();
        time += f64::from(dt);
        let now = beam.displacement(&world, last, 1);
        if now < lowest {
            (lowest, when) = (now, time);
        }
    }
    0.5 * expected / when
}

pub const EXPLICIT: Beam = Beam { across: 8, jitter: 0.0, integration: Integration::Explicit };

#[test]
fn a_bar_has_the_young_s_modulus_and_poisson_s_ratio_of_its_material() {
    for jitter in [0.0, 0.15] {
        let (young, poisson) = elastic_constants(Beam { jitter, ..EXPLICIT });
        assert!((young / YOUNG - 1.0).abs() < 0.03, "jitter {jitter}: {young}");
        assert!((poisson / POISSON - 1.0).abs() < 0.03, "jitter {jitter}: {poisson}");
    }
}

#[test]
fn a_beam_bends_as_timoshenko_s() {
    for jitter in [0.0, 0.15] {
        let [coarse, fine] = [4, 8].map(|across| deflection_ratio(Beam { across, jitter, ..EXPLICIT }) - 1.0);
        assert!(fine.abs() < 0.03 && fine.abs() < 0.5 * coarse.abs(), "jitter {jitter}: {coarse} and {fine}");
    }
}

#[test]
fn a_beam_rings_with_its_first_frequency() {
    let ratio = frequency_ratio(EXPLICIT);
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

/// Ratios of width and volume to those at rest, in the middle of a bar that is stretched by a twentieth
/// between grips.
fn stretched_bar(poisson: f32) -> (f64, f64) {
    let beam = Beam { across: 6, ..EXPLICIT };
    let mut body = beam.body();
    let (layer, last) = (36, body.samples.len() as u32);
    body.held.extend(last - layer..last);
    body.start = Some(body.samples.iter().map(|x| *x * Vec3::new(1.05, 1.0, 1.0)).collect());
    let mut world = world(elastic(YOUNG as f32, poisson), Vec3::ZERO);
    world.add_body(body).unwrap();
    // The lateral oscillation has the period of the width.
    let period = 2.0 * EDGE / (YOUNG / DENSITY).sqrt();
    let width = static_mean(&mut world, 4.0 * period, |world| {
        let particles = world.particles();
        let (mut sum, mut square) = (0.0, 0.0);
        for i in 11 * 36..13 * 36 {
            let [y, now] = [particles.rest[i].y, particles.position[i].y].map(f64::from);
            (sum, square) = (sum + y * now, square + y * y);
        }
        sum / square
    });
    (width, 1.05 * width * width)
}

#[test]
fn poisson_s_ratio_nothing_keeps_the_width_and_nearly_a_half_the_volume() {
    let (width, _) = stretched_bar(0.0);
    assert!((width - 1.0).abs() < 0.005, "{width}");
    // Green's strain of 0.05125 along and -0.49 of it across: sqrt(0.9498) of the width, 0.997 of the volume.
    let (_, volume) = stretched_bar(0.49);
    assert!((volume - 1.0).abs() < 0.02, "{volume}");
}
