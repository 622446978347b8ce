//! Fracture and cutting.

use crate::common::determinism::{assert_reproducible, resumed};
use crate::common::motion::BOTH;
use crate::common::{BodyFixture, WorldFixture, elastic, heat_of, momentum, run_steps, world_without_gravity};
use crate::{CELL, Cut, Mesh, explicit, with_integration};
use glam::Vec3;
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::commands::Command;
use phyxel::frame::Topology;
use phyxel::material::{Curve, Material, ThermalProperties};
use phyxel::model::TetraSettings;
use phyxel::model::continuum::Integration;
use phyxel::skin::{Skin, SmoothSurface, SubdivisionRule};

fn brittle(strength: f32) -> Material {
    Material { strength: Some(Curve::constant(strength)), ..elastic(1.0e6, 0.0) }
}

/// Bar along x with a uniform strain between two planes, and unstrained elsewhere.
fn stretched(counts: [u32; 3], cut: Cut, planes: [f32; 2], strain: f32, settings: TetraSettings) -> NewBody {
    let map = |x: Vec3| x + strain * (x.x.clamp(planes[0], planes[1]) - planes[0]) * Vec3::X;
    let body = Mesh::block(counts, CELL, cut, 0.1).body(CELL, settings).deformed(map);
    NewBody { skin: Skin::Faces, ..body }
}

/// Uniformly stretched bar after a step.
fn stretched_bar(cut: Cut, material: Material, settings: TetraSettings) -> World {
    let mut world = world_without_gravity(material).with_body(stretched([8, 3, 3], cut, [-1.0, 1.0], 1e-3, settings));
    run_steps(&mut world, 1e-5, 1);
    world
}

#[test]
fn uniform_tension_fractures_just_above_the_strength_and_not_just_below() {
    // 1 MPa times 0.001 is 1 kPa. Stress is per reference area, 0.1 % off, and a strain of 1e-3 has four
    // digits in f32.
    for cut in [Cut::Six, Cut::Centred] {
        for integration in BOTH {
            let settings = with_integration(integration);
            let broken =
                |strength: f32| stretched_bar(cut, brittle(strength), settings.clone()).frame().bodies[0].report.broken;
            assert_eq!(broken(1010.0), 0, "{cut:?} {integration:?}");
            assert!(broken(990.0) > 0, "{cut:?} {integration:?}");
        }
    }
}

#[test]
fn compression_fractures_nothing_unless_strength_is_a_force() {
    let squeezed = |material: Material, settings: TetraSettings| {
        let bar = stretched([8, 3, 3], Cut::Six, [-1.0, 1.0], -1e-3, settings);
        let mut world = world_without_gravity(material).with_body(bar);
        run_steps(&mut world, 1e-5, 1);
        world.frame().bodies[0].report.broken
    };
    assert_eq!(squeezed(brittle(100.0), explicit()), 0);
    // A face is half of the 0.01 m2 of a cell, of which a third counts: 1.67 N. Jitter makes it up to 1.2
    // x 1.2 times as much.
    let with_force = |force: f32| TetraSettings { strength_force: Some(force), ..explicit() };
    assert_eq!(squeezed(elastic(1.0e6, 0.0), with_force(2.5)), 0);
    assert!(squeezed(elastic(1.0e6, 0.0), with_force(1.6)) > 0);
}

#[test]
fn a_strength_that_falls_with_temperature_fractures_the_warm_body() {
    let strength = Some(Curve::new(vec![(0.0, 2000.0), (100.0, 500.0)]).unwrap());
    let heat = ThermalProperties { specific_heat: 1000.0, ..ThermalProperties::default() };
    let at = |temperature: f32| {
        let bar = stretched([8, 3, 3], Cut::Six, [-1.0, 1.0], 1e-3, explicit());
        let mut world = world_without_gravity(Material { strength: strength.clone(), heat, ..elastic(1.0e6, 0.0) })
            .with_body(NewBody { temperature, ..bar });
        run_steps(&mut world, 1e-5, 1);
        world.frame().bodies[0].report.broken
    };
    // 1 kPa is reached at 66.7 degrees.
    assert_eq!(at(64.0), 0);
    assert!(at(70.0) > 0);
}

/// Bar that tears in its middle: two unstrained halves with a stretched layer between.
fn torn(strength: f32, integration: Integration) -> World {
    let heat =
        ThermalProperties { specific_heat: 100.0, conductivity: Vec3::splat(10.0), ..ThermalProperties::default() };
    let body = stretched([10, 3, 3], Cut::Centred, [-0.1, 0.1], 0.1, with_integration(integration));
    world_without_gravity(Material { heat, ..brittle(strength) }).with_body(NewBody { temperature: 20.0, ..body })
}

/// Number of nodes more than half a cell outside the stretched layer.
fn nodes_outside_layer(world: &World) -> usize {
    world.particles().rest.iter().filter(|rest| rest.x.abs() > 0.15).count()
}

#[test]
fn a_tearing_bar_conserves_mass_momentum_heat_and_volume() {
    for integration in BOTH {
        let mut world = torn(9.0e4, integration);
        let first = world.frame();
        let (count, mass) = (first.bodies[0].report.tetrahedra.unwrap().count, first.totals.mass);
        let volume = first.bodies[0].report.skin.volume.unwrap();
        let heat = heat_of(&world, 0);
        let (outside, mut last) = (nodes_outside_layer(&world), 1);
        for _ in 0..150 {
            run_steps(&mut world, 2e-4, 1);
            let frame = world.frame();
            let report = &frame.bodies[0].report;
            assert_eq!(report.skin.closed, Some(true));
            assert_eq!(report.tetrahedra.unwrap().count, count);
            assert!(report.pieces >= last, "{} after {last}", report.pieces);
            last = report.pieces;
        }
        let frame = world.frame();
        let report = &frame.bodies[0].report;
        assert!(report.pieces >= 2, "{} pieces, {} broken", report.pieces, report.broken);
        // Waves of half the tension, below the strength, run out from the crack: outside the layer
        // nothing fractures.
        assert_eq!(nodes_outside_layer(&world), outside);
        // The mass of a node is rounded once for each split, to 6e-8 of it.
        assert!((frame.totals.mass / mass - 1.0).abs() < 1e-6, "{} of {mass}", frame.totals.mass);
        assert!((heat_of(&world, 0) / heat - 1.0).abs() < 1e-6);
        // 90 kg at 1 m/s, rounded by 6e-8 in each of 150 steps; the linear solver stops at 1e-4 of the
        // right-hand side.
        let rounding = if integration == Integration::Explicit { 1e-3 } else { 1e-2 };
        assert!(momentum(&world).length() < rounding, "{}", momentum(&world));
        // The layer stretched by a tenth is a fiftieth of the volume, and springs back.
        let found = report.skin.volume.unwrap();
        assert!((found / (volume / 1.02) - 1.0).abs() < 0.01, "{found} of {volume}");
    }
}

#[test]
fn splitting_keeps_the_surface_closed_around_the_same_volume() {
    // After one step, positions with and without fracture agree.
    let (weak, strong) = (
        stretched_bar(Cut::Centred, brittle(500.0), explicit()),
        stretched_bar(Cut::Centred, elastic(1.0e6, 0.0), explicit()),
    );
    let skins = [&weak, &strong].map(|world| world.frame().bodies[0].report.skin.clone());
    assert!(weak.particles().len() > strong.particles().len());
    assert_eq!(skins[0].closed, Some(true));
    assert!((skins[0].volume.unwrap() / skins[1].volume.unwrap() - 1.0).abs() < 1e-6);
}

#[test]
fn a_cut_body_has_two_components_and_the_same_mass() {
    for cut in [Cut::Six, Cut::Centred] {
        let mut world = world_without_gravity(elastic(1.0e6, 0.3));
        let body = Mesh::block([4, 3, 3], CELL, cut, 0.1).body(CELL, explicit());
        world.add_body(NewBody { skin: Skin::Faces, ..body }).unwrap();
        let (before, mass) = (world.particles().len(), world.frame().totals.mass);
        let plane = Command::Cut { body: "body".into(), point: Vec3::ZERO, normal: Vec3::X };
        world.apply(plane.clone()).unwrap();
        let report = world.frame().bodies[0].report.clone();
        assert_eq!((report.pieces, report.skin.pieces, report.skin.closed), (2, Some(2), Some(true)), "{cut:?}");
        // At least the 4 x 4 nodes in the plane are split.
        assert!(world.particles().len() >= before + 16);
        assert!((world.frame().totals.mass / mass - 1.0).abs() < 1e-6);
        // A second cut there changes nothing.
        let after = world.particles().len();
        world.apply(plane).unwrap();
        assert_eq!(world.particles().len(), after);
        run_steps(&mut world, 1e-4, 10);
    }
}

#[test]
fn smooth_skins_follow_fracture() {
    let mut world = world_without_gravity(brittle(9.0e4));
    let skin = Skin::Smooth(SmoothSurface { scheme: SubdivisionRule::Loop, levels: 2 });
    let body = stretched([10, 3, 3], Cut::Centred, [-0.1, 0.1], 0.1, explicit());
    world.add_body(NewBody { skin, ..body }).unwrap();
    run_steps(&mut world, 2e-4, 60);
    let report = &world.frame().bodies[0].report;
    assert!(report.pieces > 1 && report.skin.pieces == Some(report.pieces), "{} {:?}", report.pieces, report.skin);
    assert_eq!(report.skin.closed, Some(true));
}

/// Contents of a skin: positions, velocities and normals; triangles; topology.
type SkinContents = ([Vec<Vec3>; 3], Vec<[u32; 3]>, Topology);

fn skin_contents(world: &World) -> Vec<SkinContents> {
    let skins = world.frame().bodies.into_iter().filter_map(|body| body.skin);
    skins
        .map(|skin| ([skin.positions, skin.velocities, skin.normals], skin.triangles.to_vec(), skin.topology))
        .collect()
}

#[test]
fn incrementally_updated_surfaces_equal_rebuilt_ones() {
    let loops = |levels: u32| Skin::Smooth(SmoothSurface { scheme: SubdivisionRule::Loop, levels });
    let butterfly = Skin::Smooth(SmoothSurface { scheme: SubdivisionRule::Butterfly, levels: 1 });
    let mut world = world_without_gravity(brittle(5.0e4));
    // New nodes of one body shift those of the others in the store.
    for (k, skin) in [Skin::Faces, loops(2), butterfly, loops(1)].into_iter().enumerate() {
        let body = stretched([8, 3, 3], Cut::Centred, [-0.1, 0.1], 0.07 + 0.01 * k as f32, explicit());
        world.add_body(NewBody { name: format!("bar {k}"), skin, ..body.at(2.0 * k as f32 * Vec3::Y) }).unwrap();
    }
    let mut changes = 0;
    for k in 0..60 {
        let before = world.particles().len();
        run_steps(&mut world, 2e-4, 1 + k % 3);
        changes += usize::from(world.particles().len() > before);
        let (updated, rebuilt) = (skin_contents(&world), skin_contents(&world.clone()));
        assert!(updated == rebuilt, "after {k} frames");
        assert!(updated == skin_contents(&resumed(&world)), "resumed after {k} frames");
    }
    assert!(changes > 10, "{changes}");
}

#[test]
fn fracture_is_bitwise_equal_for_any_threads_and_after_resuming() {
    let advance = |world: &mut World, _| run_steps(world, 2e-4, 1);
    for integration in BOTH {
        assert_reproducible(
            || torn(2.0e4, integration),
            (60, 7),
            advance,
            |world| {
                assert!(world.frame().bodies[0].report.broken > 0);
                world.state_hash()
            },
        );
    }
}
