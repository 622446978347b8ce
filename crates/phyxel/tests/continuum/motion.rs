//! Motion: implicit steps, drops, momentum, skins, resuming.

use crate::common::determinism::assert_reproducible;
use crate::common::motion::*;
use crate::common::{BodyFixture, DOWN, WorldFixture, elastic, floor, world};
use crate::{block, with_integration};
use glam::Vec3;
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::commands::{Command, Region};
use phyxel::material::{Friction, Material, ThermalProperties};
use phyxel::model::ContinuumSettings;
use phyxel::model::continuum::Integration;

/// Regular blocks of these counts, by their integration.
fn blocks(counts: [u32; 3]) -> impl Fn(Integration) -> NewBody {
    move |integration| block(counts, 0.1, 0.0, with_integration(integration))
}

#[test]
fn explicit_and_implicit_steps_agree_when_they_are_short() {
    assert_integrations_agree(blocks([8, 4, 4]), 0.8, 3200);
}

#[test]
fn explicit_motion_keeps_its_energy_and_implicit_motion_loses_it() {
    assert_energy_is_conserved_or_dissipated(blocks([8, 4, 4]), 40);
}

#[test]
fn free_motion_keeps_momentum_and_angular_momentum() {
    assert_free_motion_conserves_momenta(|integration| block([5, 4, 3], 0.1, 0.2, with_integration(integration)));
}

#[test]
fn stiff_matter_is_dropped_with_steps_of_a_hundredth_of_a_second() {
    // Contact follows the solve: in a step all but the lowest of six layers fall by g dt^2 = 1e-3 m before
    // the floor acts on them, so that it sags by six times that over the spacing of 0.1 m. Its weight alone
    // strains it by 1e-4.
    assert_rests_after_fall(blocks([6, 6, 6])(Integration::Implicit), 1000, 0.08, 0.05);
}

#[test]
fn automatic_steps_are_explicit_for_soft_and_implicit_for_stiff_matter() {
    assert_integration_follows_stiffness(&block([4, 4, 4], 0.1, 0.0, ContinuumSettings::default()));
}

/// Warm block above a hot floor, that yields and melts.
fn melting_block() -> World {
    let heat = ThermalProperties {
        conductivity: Vec3::splat(5.0),
        specific_heat: 100.0,
        softening: Some(5.0),
        melting: Some(20.0),
        expansion: 1e-3,
        ..ThermalProperties::default()
    };
    let mut hot = floor(Friction::default(), 0.0);
    hot.temperature = Some(60.0);
    let body = block([6, 6, 6], 0.1, 0.1, ContinuumSettings::default()).at(0.45 * Vec3::Y);
    let mut world = world(Material { heat, damping: 0.1, ..elastic(2.0e4, 0.3) }, DOWN)
        .with_body(NewBody { temperature: 10.0, ..body })
        .with_obstacle(hot);
    let region = Region::Ids((0..72).collect());
    world.apply(Command::Warm { body: "body".into(), region, temperature: 30.0 }).unwrap();
    world
}

#[test]
fn threads_and_resuming_change_no_bit() {
    let advance = |world: &mut World, _| _ = world.advance_frame().unwrap();
    assert_reproducible(melting_block, (12, 4), advance, |world| {
        let phases = world.frame().bodies[0].report.particles;
        assert!(phases.fluid > 0 && phases.solid > 0, "{phases:?}");
        world.state_hash()
    });
}

#[test]
fn a_mesh_follows_an_affine_motion_exactly() {
    // Deformation gradients have six digits and act over 0.2 m.
    let body = block([6, 6, 6], 0.1, 0.3, ContinuumSettings::default());
    assert_mesh_follows_affine_motion(body, 0.32, 1e-5);
}

#[test]
fn steps_that_are_too_long_are_refused_with_the_one_that_is_stable() {
    // Waves of sqrt(1.35e6/1000) = 37 m/s take 2.7 ms from one phyxel to the next.
    assert_unstable_steps_are_refused(&blocks([4, 4, 4])(Integration::Explicit), [5e-4, 5e-3]);
}

#[test]
fn a_dragged_body_hangs_from_the_pointer_and_falls_when_released() {
    assert_hangs_from_drag(blocks([3, 3, 3]));
}
