//! Bars and beams: Young's modulus, Poisson's ratio, bending, eigenfrequencies.

use crate::common::world;
use crate::{Cut, Mesh, elastic};
use glam::Vec3;
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::model::TetraSettings;
use phyxel::model::continuum::Integration;
use phyxel::step::{StageTimes, step};

pub const YOUNG: f64 = 1.0e6;
pub const POISSON: f64 = 0.3;
const DENSITY: f64 = 1000.0;
/// Edge of the section and length over edge, m.
const EDGE: f64 = 0.2;
const SLENDER: u32 = 4;
const LENGTH: f64 = EDGE * SLENDER as f64;

/// Discretisation of a beam.
#[derive(Clone, Copy)]
pub struct Beam {
    /// Cells across.
    pub across: u32,
    pub cut: Cut,
    /// Largest displacement of an inner node along every axis, in cells.
    pub jitter: f32,
}

impl Beam {
    /// Beam along x, clamped at its first end.
    fn body(self, integration: Integration) -> NewBody {
        let cell = EDGE as f32 / self.across as f32;
        let counts = [SLENDER * self.across, self.across, self.across];
        let mesh = Mesh::block(counts, cell, self.cut, self.jitter);
        let end = -0.5 * LENGTH as f32 + 0.1 * cell;
        let held = (0..mesh.nodes.len() as u32).filter(|&node| mesh.nodes[node as usize].x < end).collect();
        let settings = TetraSettings { integration, ..TetraSettings::default() };
        NewBody { held, ..mesh.body(cell, settings) }
    }

    fn world(self, gravity: Vec3, integration: Integration) -> World {
        let mut world = world(elastic(YOUNG as f32, POISSON as f32), gravity);
        world.add_body(self.body(integration)).unwrap();
        world
    }

    /// The beam at rest under gravity.
    ///
    /// Backward Euler with four steps to a period keeps less than 0.6 of an oscillation in each, and less
    /// of faster ones.
    fn at_rest(self, gravity: Vec3, period: f64) -> World {
        let mut world = self.world(gravity, Integration::Implicit);
        for _ in 0..40 {
            step(&mut world, (0.25 * period) as f32, &mut StageTimes::default()).unwrap();
        }
        world
    }

    /// First bending frequency of a Timoshenko beam, 1/s: that of Euler-Bernoulli, reduced by shear after
    /// Dunkerley, `1/f^2 = 1/f_b^2 + 1/f_s^2`.
    pub fn frequency(self) -> f64 {
        let (inertia, area) = (EDGE.powi(4) / 12.0, EDGE * EDGE);
        let bending = 1.8751f64.powi(2) / (2.0 * std::f64::consts::PI)
            * (YOUNG * inertia / (DENSITY * area * LENGTH.powi(4))).sqrt();
        let shear = (shear_modulus() / (1.2 * DENSITY)).sqrt() / (4.0 * LENGTH);
        1.0 / (1.0 / bending.powi(2) + 1.0 / shear.powi(2)).sqrt()
    }
}

fn shear_modulus() -> f64 {
    0.5 * YOUNG / (1.0 + POISSON)
}

/// Mean displacement along an axis of the nodes of a cross section at `x`, m.
fn mean_displacement(world: &World, x: f64, axis: usize) -> f64 {
    let particles = world.particles();
    let near = |i: &usize| (f64::from(particles.rest[*i].x) - x).abs() < 1e-4;
    let moves: Vec<f64> = (0..particles.len())
        .filter(near)
        .map(|i| f64::from((particles.position[i] - particles.rest[i])[axis]))
        .collect();
    moves.iter().sum::<f64>() / moves.len() as f64
}

/// Young's modulus and Poisson's ratio of a bar that hangs by one end, measured in the middle of its length.
pub fn constants(beam: Beam) -> (f64, f64) {
    let gravity = 5.0;
    let period = 4.0 * LENGTH / (YOUNG / DENSITY).sqrt();
    let world = beam.at_rest(Vec3::X * gravity as f32, period);
    // At a quarter and three quarters of the length from the clamp, where nodes lie for any even number
    // across.
    let [a, b] = [0.25 * LENGTH, 0.75 * LENGTH];
    let stretch = mean_displacement(&world, b - 0.5 * LENGTH, 0) - mean_displacement(&world, a - 0.5 * LENGTH, 0);
    let young = DENSITY * gravity * (LENGTH * (b - a) - 0.5 * (b * b - a * a)) / stretch;
    // The slope of displacements across, by least squares.
    let particles = world.particles();
    let (mut sum, mut square) = (0.0, 0.0);
    for i in (0..particles.len()).filter(|&i| particles.rest[i].x.abs() < 0.25 * EDGE as f32) {
        let (y, displacement) =
            (f64::from(particles.rest[i].y), f64::from(particles.position[i].y - particles.rest[i].y));
        (sum, square) = (sum + y * displacement, square + y * y);
    }
    let strain = DENSITY * gravity * 0.5 * LENGTH / YOUNG;
    (young, -sum / square / strain)
}

/// Tip deflection of a cantilever under its own weight, over that of a Timoshenko beam.
pub fn deflection_ratio(beam: Beam) -> f64 {
    let gravity = 0.2;
    let world = beam.at_rest(Vec3::NEG_Y * gravity as f32, 1.0 / beam.frequency());
    let (load, inertia) = (DENSITY * gravity * EDGE * EDGE, EDGE.powi(4) / 12.0);
    let bent = load * LENGTH.powi(4) / (8.0 * YOUNG * inertia);
    let sheared = 0.5 * load * LENGTH * LENGTH / (shear_modulus() * EDGE * EDGE / 1.2);
    -mean_displacement(&world, 0.5 * LENGTH, 1) / (bent + sheared)
}

/// First bending frequency of a cantilever that is released under its own weight, over the closed form.
pub fn frequency_ratio(beam: Beam) -> f64 {
    let mut world = beam.world(Vec3::NEG_Y * 0.2, Integration::Explicit);
    let expected = 1.0 / beam.frequency();
    let dt = (expected / 400.0).min(world.stable_step()) as f32;
    // It oscillates between its rest shape and twice the deflection: the time of the lowest point is half
    // a period.
    let (mut lowest, mut when, mut time) = (0.0, 0.0, 0.0);
    while time < 0.8 * expected {
        step(&mut world, dt, &mut StageTimes::default()).unwrap();
        time += f64::from(dt);
        let now = mean_displacement(&world, 0.5 * LENGTH, 1);
        if now < lowest {
            (lowest, when) = (now, time);
        }
    }
    0.5 * expected / when
}

#[test]
fn a_bar_has_the_young_s_modulus_and_poisson_s_ratio_of_its_material() {
    for (cut, jitter) in [(Cut::Six, 0.0), (Cut::Centred, 0.0), (Cut::Centred, 0.15)] {
        let (young, poisson) = constants(Beam { across: 4, cut, jitter });
        // Linear elements are exact for uniform strain; only within a width of the clamp they are too stiff.
        assert!((young / YOUNG - 1.0).abs() < 0.03, "{cut:?}, {jitter}: {young}");
        assert!((poisson / POISSON - 1.0).abs() < 0.03, "{cut:?}, {jitter}: {poisson}");
    }
}

#[test]
fn a_beam_bends_as_timoshenko_s() {
    for (cut, jitter) in [(Cut::Six, 0.0), (Cut::Centred, 0.0), (Cut::Centred, 0.15)] {
        let [coarse, fine] = [4, 8].map(|across| deflection_ratio(Beam { across, cut, jitter }) - 1.0);
        // Linear tetrahedra are too stiff in bending, by an error of second order in their size. Six per
        // cell, all along one diagonal, are the stiffest. The closed form neglects that the clamp
        // prevents lateral contraction, which is worth 2 %.
        assert!(coarse < 0.0 && fine.abs() < 0.5 * coarse.abs(), "{cut:?}, {jitter}: {coarse} and {fine}");
        assert!(cut == Cut::Six || fine.abs() < 0.05, "{cut:?}, {jitter}: {fine}");
    }
}

#[test]
fn a_beam_rings_with_its_first_frequency() {
    let ratio = frequency_ratio(Beam { across: 8, cut: Cut::Centred, jitter: 0.0 });
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}
