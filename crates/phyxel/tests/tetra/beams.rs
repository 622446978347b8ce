//! Bars and beams: Young's modulus, Poisson's ratio, bending, eigenfrequencies, and their errors in
//! `validation/tetra.md`.

use crate::common::beams::*;
use crate::common::{BodyFixture, WorldFixture, elastic, run_steps, world};
use crate::{Cut, Mesh, with_integration};
use glam::Vec3;
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::model::continuum::Integration;

const LENGTH: f64 = EDGE * SLENDER as f64;

/// Discretisation of a beam.
#[derive(Clone, Copy)]
struct TetraBeam {
    /// Cells across.
    across: u32,
    cut: Cut,
    /// Largest displacement of an inner node along every axis, in cells.
    jitter: f32,
}

impl TetraBeam {
    /// TetraBeam along x, clamped at its first end.
    fn body(self, integration: Integration) -> NewBody {
        let cell = EDGE as f32 / self.across as f32;
        let counts = [SLENDER * self.across, self.across, self.across];
        let end = -0.5 * LENGTH as f32 + 0.1 * cell;
        let mesh = Mesh::block(counts, cell, self.cut, self.jitter);
        mesh.body(cell, with_integration(integration)).fixed_where(|x| x.x < end)
    }

    fn world(self, gravity: Vec3, integration: Integration) -> World {
        world(elastic(YOUNG as f32, POISSON as f32), gravity).with_body(self.body(integration))
    }

    /// The beam at rest under gravity.
    ///
    /// Backward Euler with four steps to a period keeps less than 0.6 of an oscillation in each, and less
    /// of faster ones.
    fn at_rest(self, gravity: Vec3, period: f64) -> World {
        let mut world = self.world(gravity, Integration::Implicit);
        run_steps(&mut world, (0.25 * period) as f32, 40);
        world
    }
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

impl Beam for TetraBeam {
    fn across(self) -> u32 {
        self.across
    }

    /// Measured in the middle of its length.
    fn elastic_constants(self) -> (f64, f64) {
        let world = self.at_rest(Vec3::X * HANGING_GRAVITY as f32, longitudinal_period(LENGTH));
        // At a quarter and three quarters of the length from the clamp, where nodes lie for any even number
        // across.
        let ends = [0.25 * LENGTH, 0.75 * LENGTH];
        let [a, b] = ends.map(|x| mean_displacement(&world, x - 0.5 * LENGTH, 0));
        let young = young_by_elongation(LENGTH, ends, b - a);
        let rest = &world.particles().rest;
        let middle = (0..rest.len()).filter(|&i| rest[i].x.abs() < 0.25 * EDGE as f32);
        (young, poisson_by_contraction(LENGTH, 0.5 * LENGTH, lateral_strain(&world, middle)))
    }

    fn deflection_ratio(self) -> f64 {
        let world = self.at_rest(Vec3::NEG_Y * BENDING_GRAVITY as f32, 1.0 / bending_frequency(LENGTH));
        -mean_displacement(&world, 0.5 * LENGTH, 1) / deflection(LENGTH, LENGTH)
    }

    fn frequency_ratio(self) -> f64 {
        let world = self.world(Vec3::NEG_Y * BENDING_GRAVITY as f32, Integration::Explicit);
        measured_frequency_ratio(world, LENGTH, |world| mean_displacement(world, 0.5 * LENGTH, 1))
    }
}

#[test]
fn a_bar_has_the_young_s_modulus_and_poisson_s_ratio_of_its_material() {
    for (cut, jitter) in [(Cut::Six, 0.0), (Cut::Centred, 0.0), (Cut::Centred, 0.15)] {
        let (young, poisson) = TetraBeam { across: 4, cut, jitter }.elastic_constants();
        // Linear elements are exact for uniform strain; only within a width of the clamp they are too stiff.
        assert!((young / YOUNG - 1.0).abs() < 0.03, "{cut:?}, {jitter}: {young}");
        assert!((poisson / POISSON - 1.0).abs() < 0.03, "{cut:?}, {jitter}: {poisson}");
    }
}

#[test]
fn a_beam_bends_as_timoshenko_s() {
    for (cut, jitter) in [(Cut::Six, 0.0), (Cut::Centred, 0.0), (Cut::Centred, 0.15)] {
        let [coarse, fine] = [4, 8].map(|across| TetraBeam { across, cut, jitter }.deflection_ratio() - 1.0);
        // Linear tetrahedra are too stiff in bending, by an error of second order in their size. Six per
        // cell, all along one diagonal, are the stiffest. The closed form neglects that the clamp
        // prevents lateral contraction, which is worth 2 %.
        assert!(coarse < 0.0 && fine.abs() < 0.5 * coarse.abs(), "{cut:?}, {jitter}: {coarse} and {fine}");
        assert!(cut == Cut::Six || fine.abs() < 0.05, "{cut:?}, {jitter}: {fine}");
    }
}

#[test]
fn a_beam_rings_with_its_first_frequency() {
    let ratio = TetraBeam { across: 8, cut: Cut::Centred, jitter: 0.0 }.frequency_ratio();
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}

const HEAD: &str = "# Tetrahedra against closed forms

Written by a test, which fails when its results differ from this table. To write it again:

```
PHYXEL_BLESS=1 cargo nextest run -p phyxel --test tetra table
```

A cantilever four times as long as wide with Young's modulus 1e6 Pa, Poisson's ratio 0.3 and density 1000
kg/m3. Its elastic constants are measured in the middle half while it hangs by the clamp. The deflection is
that of its tip under self-weight, over that of a Timoshenko beam; the frequency is the first in bending, over
the closed form. Cubic cells are divided into six tetrahedra around a diagonal, or around their centres as the
mesher does (body-centred cubic). Jittered inner nodes are displaced by up to 0.15 cells along every axis.
Linear tetrahedra are too stiff in bending, by an error that falls with the square of their size. Errors in
percent.

";

#[test]
fn the_table_agrees_with_the_results() {
    let series = [
        ("six per cell", Cut::Six, 0.0),
        ("body-centred", Cut::Centred, 0.0),
        ("body-centred, jittered", Cut::Centred, 0.15),
    ];
    let beams = series
        .iter()
        .flat_map(|&(name, cut, jitter)| [2, 4, 6, 8].map(|across| (name, TetraBeam { across, cut, jitter })));
    assert_table("tetra.md", HEAD, "mesh | cells across", beams);
}
