//! Closed forms of a beam, and the rows of the tables that compare models with them.

use super::golden;
use phyxel::World;
use phyxel::step::{StageTimes, step};

pub const YOUNG: f64 = 1.0e6;
pub const POISSON: f64 = 0.3;
pub const DENSITY: f64 = 1000.0;
/// Edge of the section, m, and length over edge.
pub const EDGE: f64 = 0.2;
pub const SLENDER: u32 = 4;

/// Second moment of area, m4.
const INERTIA: f64 = EDGE * EDGE * EDGE * EDGE / 12.0;

fn shear_modulus() -> f64 {
    0.5 * YOUNG / (1.0 + POISSON)
}

/// Gravity under which beams bend, m/s2.
pub const BENDING_GRAVITY: f64 = 0.2;

/// Gravity along the axis of hanging bars, m/s2.
pub const HANGING_GRAVITY: f64 = 5.0;

/// Period of the longitudinal oscillation of a hanging bar, s.
pub fn longitudinal_period(length: f64) -> f64 {
    4.0 * length / (YOUNG / DENSITY).sqrt()
}

/// Young's modulus of a hanging bar by the elongation between two distances from its fixed end, m.
pub fn young_by_elongation(length: f64, [a, b]: [f64; 2], elongation: f64) -> f64 {
    DENSITY * HANGING_GRAVITY * (length * (b - a) - 0.5 * (b * b - a * a)) / elongation
}

/// Poisson's ratio of a hanging bar by its lateral strain at a distance from its fixed end, m.
pub fn poisson_by_contraction(length: f64, x: f64, lateral_strain: f64) -> f64 {
    -lateral_strain / (DENSITY * HANGING_GRAVITY * (length - x) / YOUNG)
}

/// Lateral strain of selected particles of a bar along x: slope of their displacements along y, by least squares.
pub fn lateral_strain(world: &World, particles: impl Iterator<Item = usize>) -> f64 {
    let columns = world.particles();
    let (mut sum, mut square) = (0.0, 0.0);
    for i in particles {
        let (y, moved) = (f64::from(columns.rest[i].y), f64::from(columns.position[i].y - columns.rest[i].y));
        (sum, square) = (sum + y * moved, square + y * y);
    }
    sum / square
}

/// First bending frequency of a Timoshenko cantilever, 1/s, by Dunkerley's formula: `1/f^2 = 1/f_b^2 + 1/f_s^2` from
/// the frequencies of pure bending and pure shear.
pub fn bending_frequency(length: f64) -> f64 {
    let area = EDGE * EDGE;
    let bending =
        1.8751f64.powi(2) / (2.0 * std::f64::consts::PI) * (YOUNG * INERTIA / (DENSITY * area * length.powi(4))).sqrt();
    let shear = (shear_modulus() / (1.2 * DENSITY)).sqrt() / (4.0 * length);
    1.0 / (1.0 / bending.powi(2) + 1.0 / shear.powi(2)).sqrt()
}

/// Deflection under its own weight of a Timoshenko cantilever at a distance from its fixed end, m.
pub fn deflection(length: f64, x: f64) -> f64 {
    let load = DENSITY * BENDING_GRAVITY * EDGE * EDGE;
    let bending =
        load * (6.0 * length * length * x * x - 4.0 * length * x.powi(3) + x.powi(4)) / (24.0 * YOUNG * INERTIA);
    bending + load * (length * x - 0.5 * x * x) / (shear_modulus() * EDGE * EDGE / 1.2)
}

/// First bending frequency of a cantilever that is released under its own weight, over the closed form.
pub fn measured_frequency_ratio(mut world: World, length: f64, height_of_end: impl Fn(&World) -> f64) -> f64 {
    let expected = 1.0 / bending_frequency(length);
    let dt = (expected / 400.0).min(world.stable_step()) as f32;
    // It oscillates between its rest shape and twice the static deflection: the lowest point is after half a period.
    let (mut lowest, mut when, mut time) = (0.0, 0.0, 0.0);
    while time < 0.8 * expected {
        step(&mut world, dt, &mut StageTimes::default()).unwrap();
        time += f64::from(dt);
        let now = height_of_end(&world);
        if now < lowest {
            (lowest, when) = (now, time);
        }
    }
    0.5 * expected / when
}

/// Discretisation of a beam, in experiments.
pub trait Beam: Copy {
    /// Cells or particles across.
    fn across(self) -> u32;
    /// Young's modulus, Pa, and Poisson's ratio of a bar that hangs by one end.
    fn elastic_constants(self) -> (f64, f64);
    /// Deflection of a cantilever under its own weight, over that of Timoshenko.
    fn deflection_ratio(self) -> f64;
    /// First bending frequency of a cantilever, over the closed form.
    fn frequency_ratio(self) -> f64;
}

/// Asserts that a document of beams, below its head, has the errors of these; `labels` name its first two columns.
pub fn assert_table<B: Beam>(document: &str, head: &str, labels: &str, beams: impl Iterator<Item = (&'static str, B)>) {
    let percent = |ratio: f64| format!("{:+.2}", 100.0 * (ratio - 1.0));
    let lines = beams.map(|(name, beam)| {
        let (young, poisson) = beam.elastic_constants();
        let ratios = [young / YOUNG, poisson / POISSON, beam.deflection_ratio(), beam.frequency_ratio()];
        format!("| {name} | {} | {} |\n", beam.across(), ratios.map(percent).join(" | "))
    });
    let labels = format!("| {labels} | Young's modulus | Poisson's ratio | deflection | frequency |\n");
    let text = format!("{head}{labels}|---|---|---|---|---|---|\n{}", lines.collect::<String>());
    // Errors are in percent with two decimals, the last of which may be rounded either way.
    golden::assert_agrees(document, &text, golden::within(0.02));
}
