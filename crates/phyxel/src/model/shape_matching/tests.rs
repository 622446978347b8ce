//! Temperature within a body, by cluster.

use super::{Clusters, ShapeMatchingSettings};
use crate::body::NewBody;
use crate::material::{Curve, Material, ThermalProperties};
use crate::model::ModelSettings;
use crate::step::{StageTimes, step};
use crate::{Real, Settings, World};
use glam::Vec3;

const SPACING: Real = 0.1;
const LAYERS: usize = 16;

/// Bar that hangs from its uppermost layer.
fn hanging_bar(material: Material) -> World {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_material(material).unwrap();
    let position = |i: usize| Vec3::new((i % 2) as Real, (i / 4) as Real, (i / 2 % 2) as Real) * SPACING;
    let samples: Vec<Vec3> = (0..4 * LAYERS).map(position).collect();
    let clusters = Clusters::Counts([1, 4, 1]);
    let settings = ShapeMatchingSettings { clusters, beta: 0.0, ..ShapeMatchingSettings::default() };
    let held = (4 * LAYERS as u32 - 4..4 * LAYERS as u32).collect();
    let bar = NewBody::new("bar", ModelSettings::ShapeMatching(settings), samples, SPACING);
    world.add_body(NewBody { held, ..bar }).unwrap();
    world
}

/// Heats the layers of a range.
fn heat_layers(world: &mut World, layers: std::ops::Range<usize>, temperature: Real) {
    let heat = world.materials[0].heat;
    world.particles.enthalpy[4 * layers.start..4 * layers.end].fill(heat.enthalpy(temperature));
    world.models.each_mut().for_each(|model| model.invalidate());
}

fn run_to_rest(world: &mut World) {
    (0..4000).for_each(|_| step(world, 1e-3, &mut StageTimes::default()).unwrap());
}

/// Elongations of the lower and the upper half, m.
fn elongations(world: &World) -> [Real; 2] {
    let y = |layer: usize| world.particles.position[4 * layer].y;
    let longer = |low: usize, high: usize| y(high) - y(low) - (high - low) as Real * SPACING;
    [longer(0, 6), longer(9, 15)]
}

/// Heat without conduction: temperatures stay.
fn insulator(heat: ThermalProperties) -> ThermalProperties {
    ThermalProperties { conductivity: Vec3::ZERO, ..heat }
}

#[test]
fn a_bar_is_soft_where_it_is_hot() {
    let young_modulus = Curve::new(vec![(0.0, 1.0e6), (100.0, 1.0e5)]).unwrap();
    let material =
        Material { young_modulus, damping: 1.0, heat: insulator(ThermalProperties::default()), ..Material::default() };
    let elongations_heated = |layers: std::ops::Range<usize>| {
        let mut world = hanging_bar(material.clone());
        heat_layers(&mut world, layers, 100.0);
        run_to_rest(&mut world);
        elongations(&world)
    };
    let (cold, low, high) = (elongations_heated(0..0), elongations_heated(0..8), elongations_heated(8..16));
    // A tenth of the stiffness, ten times the stretch; clusters at the seam are in between.
    assert!(low[0] > 5.0 * cold[0] && (low[1] / cold[1] - 1.0).abs() < 0.2, "{cold:?} {low:?}");
    assert!(high[1] > 5.0 * cold[1] && (high[0] / cold[0] - 1.0).abs() < 0.2, "{cold:?} {high:?}");
}

#[test]
fn a_bar_grows_where_it_is_hot() {
    let heat = insulator(ThermalProperties { expansion: 1e-4, ..ThermalProperties::default() });
    let mut world = hanging_bar(Material { damping: 1.0, heat, ..Material::default() });
    run_to_rest(&mut world);
    let cold = elongations(&world);
    heat_layers(&mut world, 8..16, 100.0);
    run_to_rest(&mut world);
    let warm = elongations(&world);
    let [low, high] = [warm[0] - cold[0], warm[1] - cold[1]].map(|grown| grown / (1e-4 * 100.0 * 0.6));
    // Of the two clusters of a half, the one at the seam has a layer in five or six of the other half.
    assert!(low.abs() < 0.1 && (high - 1.0).abs() < 0.1, "{low} {high}");
}

#[test]
fn a_bar_flows_only_where_it_is_soft() {
    let heat = insulator(ThermalProperties {
        softening: Some(40.0),
        melting: Some(60.0),
        softened: 0.5,
        ..ThermalProperties::default()
    });
    let mut world = hanging_bar(Material { young_modulus: 1.0e6.into(), damping: 1.0, heat, ..Material::default() });
    heat_layers(&mut world, 8..16, 59.0);
    run_to_rest(&mut world);
    world.settings.gravity = Vec3::ZERO;
    heat_layers(&mut world, 8..16, 0.0);
    run_to_rest(&mut world);
    let remaining = elongations(&world);
    assert!(remaining[0].abs() < 1e-3 && remaining[1] > 0.02, "{remaining:?}");
}

#[test]
fn temperature_costs_no_parameters_where_nothing_depends_on_it() {
    let mut world = hanging_bar(Material {
        heat: ThermalProperties { conductivity: Vec3::splat(10.0), ..ThermalProperties::default() },
        ..Material::default()
    });
    heat_layers(&mut world, 8..16, 100.0);
    step(&mut world, 1e-3, &mut StageTimes::default()).unwrap();
    let thermal = &world.models().shape_matching.derived.as_ref().unwrap().thermal;
    assert_eq!((thermal.params.len(), thermal.has_stretch(), thermal.yield_laws.len()), (1, false, 0));
}
