//! Bars and beams: Young's modulus, Poisson's ratio, bending, frequencies, and their errors in
//! `validation/continuum.md`.

use crate::common::beams::*;
use crate::common::{BodyFixture, Lcg, WorldFixture, elastic, run_steps, set_body, world};
use crate::{cloud, with_integration};
use glam::Vec3;
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::commands::Setting;
use phyxel::model::continuum::Integration;

/// Sampling and time integration of a beam.
#[derive(Clone, Copy)]
struct PhyxelBeam {
    /// Phyxels across.
    across: u32,
    /// Largest displacement of a phyxel from the lattice along every axis, in spacings.
    jitter: f32,
    integration: Integration,
}

impl PhyxelBeam {
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

    /// PhyxelBeam along x whose first layer is fixed.
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
        let held = (0..count * count).collect();
        NewBody { held, ..cloud(samples, spacing, with_integration(self.integration)) }
    }

    fn world(self, gravity: Vec3) -> World {
        world(elastic(YOUNG as f32, POISSON as f32), gravity).with_body(self.body())
    }

    /// Mean displacement of a layer along an axis, m.
    fn displacement(self, world: &World, layer: u32, axis: usize) -> f64 {
        let size = (self.across * self.across) as usize;
        let particles = world.particles();
        let of = |i: usize| f64::from((particles.position[i] - particles.rest[i])[axis]);
        (layer as usize * size..(layer as usize + 1) * size).map(of).sum::<f64>() / size as f64
    }
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
    let (mut last, mut stops) = (0.0, 0);
    while stops < 3 {
        run_steps(world, dt, 1);
        let now = kinetic(world);
        if now < last {
            stops += 1;
            set_body(world, "body", Setting::Velocity(Vec3::ZERO));
        }
        last = if now < last { 0.0 } else { now };
        // Short waves make small maxima; let a tenth of the period pass.
        if last == 0.0 {
            run_steps(world, dt, (0.1 * period / f64::from(dt)) as usize);
        }
    }
    let count = (period / f64::from(dt)).round() as u32;
    let mut sum = 0.0;
    for _ in 0..count {
        run_steps(world, dt, 1);
        sum += quantity(world);
    }
    sum / f64::from(count)
}

impl Beam for PhyxelBeam {
    fn across(self) -> u32 {
        self.across
    }

    /// Measured in the middle third of its length.
    fn elastic_constants(self) -> (f64, f64) {
        let (length, spacing) = (self.length(), self.spacing());
        let period = longitudinal_period(length);
        let hanging = || self.world(Vec3::X * HANGING_GRAVITY as f32);
        let (low, high) = (self.layers() / 3, 2 * self.layers() / 3);
        let elongation = static_mean(&mut hanging(), period, |world| {
            self.displacement(world, high, 0) - self.displacement(world, low, 0)
        });
        let young = young_by_elongation(length, [low, high].map(|layer| f64::from(layer) * spacing), elongation);
        let (middle, size) = (self.layers() as usize / 2, (self.across * self.across) as usize);
        let contraction = static_mean(&mut hanging(), period, |world| {
            lateral_strain(world, (middle - 1) * size..(middle + 2) * size)
        });
        (young, poisson_by_contraction(length, middle as f64 * spacing, contraction))
    }

    fn deflection_ratio(self) -> f64 {
        let (last, length) = (self.layers() - 1, self.length());
        let mut world = self.world(Vec3::NEG_Y * BENDING_GRAVITY as f32);
        let found =
            -static_mean(&mut world, 1.0 / bending_frequency(length), |world| self.displacement(world, last, 1));
        found / deflection(length, f64::from(last) * self.spacing())
    }

    fn frequency_ratio(self) -> f64 {
        let world = self.world(Vec3::NEG_Y * BENDING_GRAVITY as f32);
        measured_frequency_ratio(world, self.length(), |world| self.displacement(world, self.layers() - 1, 1))
    }
}

const EXPLICIT: PhyxelBeam = PhyxelBeam { across: 8, jitter: 0.0, integration: Integration::Explicit };

#[test]
fn a_bar_has_the_young_s_modulus_and_poisson_s_ratio_of_its_material() {
    for jitter in [0.0, 0.15] {
        let (young, poisson) = PhyxelBeam { jitter, ..EXPLICIT }.elastic_constants();
        assert!((young / YOUNG - 1.0).abs() < 0.03, "jitter {jitter}: {young}");
        assert!((poisson / POISSON - 1.0).abs() < 0.03, "jitter {jitter}: {poisson}");
    }
}

#[test]
fn a_beam_bends_as_timoshenko_s() {
    for jitter in [0.0, 0.15] {
        let [coarse, fine] = [4, 8].map(|across| PhyxelBeam { across, jitter, ..EXPLICIT }.deflection_ratio() - 1.0);
        assert!(fine.abs() < 0.03 && fine.abs() < 0.5 * coarse.abs(), "jitter {jitter}: {coarse} and {fine}");
    }
}

#[test]
fn a_beam_rings_with_its_first_frequency() {
    let ratio = EXPLICIT.frequency_ratio();
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

/// Ratios of width and volume to those at rest, in the middle of a bar that is stretched by a twentieth
/// between grips.
fn stretched_bar(poisson: f32) -> (f64, f64) {
    let beam = PhyxelBeam { across: 6, ..EXPLICIT };
    let mut body = beam.body();
    let (layer, last) = (36, body.samples.len() as u32);
    body.held.extend(last - layer..last);
    let stretched = body.deformed(|x| x * Vec3::new(1.05, 1.0, 1.0));
    let mut world = world(elastic(YOUNG as f32, poisson), Vec3::ZERO).with_body(stretched);
    // The lateral oscillation has the period of the width.
    let period = 2.0 * EDGE / (YOUNG / DENSITY).sqrt();
    let width = 1.0 + static_mean(&mut world, 4.0 * period, |world| lateral_strain(world, 11 * 36..13 * 36));
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

const HEAD: &str = "# Continuum model against closed forms

Written by a test, which fails when its results no longer agree with this table. To rewrite it:

```
PHYXEL_BLESS=1 cargo nextest run -p phyxel --test continuum table
```

A beam four times as long as wide, Young's modulus 1e6 Pa, Poisson's ratio 0.3, density 1000 kg/m3, fixed in the first
layer of phyxels. Its elastic constants are measured in the middle third while it hangs by one end; its deflection is
that of the last layer under its own weight over Timoshenko's, its frequency the first bending frequency over the closed
form. Jittered phyxels are up to 0.15 spacings from the lattice along every axis. Errors in percent.

";

#[test]
fn the_table_agrees_with_the_results() {
    let series: [(&str, &[u32], PhyxelBeam); 3] = [
        ("regular, explicit", &[4, 6, 8, 12], EXPLICIT),
        ("jittered, explicit", &[4, 6, 8, 12], PhyxelBeam { jitter: 0.15, ..EXPLICIT }),
        ("regular, implicit", &[4, 6, 8], PhyxelBeam { integration: Integration::Implicit, ..EXPLICIT }),
    ];
    let beams = series
        .iter()
        .flat_map(|&(name, across, beam)| across.iter().map(move |&across| (name, PhyxelBeam { across, ..beam })));
    assert_table("continuum.md", HEAD, "samples, steps | phyxels across", beams);
}
