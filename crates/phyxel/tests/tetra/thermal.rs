//! Thermal effects: expansion, softening, conduction, heat of damping.

use crate::common::motion::BOTH;
use crate::common::thermal::*;
use crate::common::{BodyFixture, WorldFixture, elastic, run_steps, world_without_gravity};
use crate::{CELL, Cut, Mesh, block, implicit, with_integration};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::heating::{Exchange, Heating};
use phyxel::material::{HeatFromWork, Material, ThermalProperties};
use phyxel::model::TetraSettings;

#[test]
fn a_free_block_expands_without_stress() {
    // Numerical damping stops oscillations soon, but for rounding, which is worth a strain of 1e-6. The residual of the
    // first step, 1e-4 of the right-hand side, rotates it a little, and its bounding box grows with that.
    assert_free_expansion(block([4, 4, 4], CELL, implicit()), 5e-3, 400, 2e-4, 1e-5);
}

#[test]
fn a_temperature_dependent_modulus_acts_element_by_element() {
    // One half is cold; the other is warm, with half the stiffness: under the same force its strain is
    // twice as large.
    let bar = Mesh::block([16, 3, 3], CELL, Cut::Centred, 0.0).body(CELL, implicit());
    let ratio = strain_ratio_of_halves(bar, 0.79, [0.3, 0.6], 1e-2, 400);
    // Strain is linear in stretch, and without Poisson's ratio nothing depends on the sides; rounding of
    // 1e-7 m in 0.01 m.
    assert!((ratio / 2.0 - 1.0).abs() < 1e-3, "{ratio}");
}

#[test]
fn heat_conduction_agrees_with_the_fourier_series_and_conserves_heat() {
    // Twenty cells and 160 steps of first order; on irregular cells a few hundredths, also of the
    // initial heat.
    for (cut, jitter, tolerance) in [(Cut::Six, 0.0, 0.01), (Cut::Centred, 0.0, 0.01), (Cut::Centred, 0.15, 0.03)] {
        assert_conduction_follows_series(Mesh::block([20, 3, 3], 0.05, cut, jitter).body(0.05, implicit()), tolerance);
    }
}

#[test]
fn nodal_areas_add_up_to_the_surface() {
    // A box of 0.4 x 0.3 x 0.2 m, with a surface of 0.52 m2, loses heat by Newton's law of cooling.
    let heat =
        ThermalProperties { conductivity: Vec3::splat(1.0e3), specific_heat: 500.0, ..ThermalProperties::default() };
    let body = block([4, 3, 2], CELL, TetraSettings::default());
    let mut world = world_without_gravity(Material { heat, ..elastic(1.0e5, 0.3) })
        .with_body(NewBody { temperature: 100.0, ..body });
    let exchange = Some(Exchange { coefficient: 10.0, ambient: 0.0 });
    world.add_heating(Heating { exchange, ..Heating::new("air", "body") }).unwrap();
    let before = world.frame().totals.energy.heat;
    run_steps(&mut world, 1e-3, 1);
    let lost = (before - world.frame().totals.energy.heat) / 1e-3;
    // 10 W/(m2 K) x 0.52 m2 x 100 K; areas of f32.
    assert!((lost / 520.0 - 1.0).abs() < 1e-4, "{lost}");
}

#[test]
fn dissipated_energy_becomes_heat() {
    for integration in BOTH {
        let heat = ThermalProperties {
            from_work: HeatFromWork { damping: 1.0, ..HeatFromWork::default() },
            ..ThermalProperties::default()
        };
        let body = block([4, 2, 2], CELL, with_integration(integration)).deformed(|x| x * Vec3::new(1.1, 1.0, 1.0));
        let mut world = world_without_gravity(Material { heat, damping: 0.3, ..elastic(1.0e5, 0.3) }).with_body(body);
        let first = world.frame().totals.energy.elastic;
        run_steps(&mut world, 1e-4, 5000);
        let totals = world.frame().totals;
        let remaining = totals.energy.elastic + totals.energy.kinetic;
        let heat_made = totals.energy.heat;
        // Steps are of first order: of oscillations with w dt = 0.01 to 0.1, the scheme loses or gains
        // about a hundredth.
        let error = ((remaining + heat_made) / first - 1.0).abs();
        assert!(
            remaining < 0.1 * first && error < 0.05,
            "{integration:?}: {first} J became {remaining} J and {heat_made} J of heat"
        );
    }
}
