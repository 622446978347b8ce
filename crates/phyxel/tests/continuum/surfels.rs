//! Surfels embedded in phyxels.

use crate::block;
use crate::common::determinism::resumed;
use crate::common::{BodyFixture, DOWN, Lcg, WorldFixture, elastic, floor, world, world_without_gravity};
use glam::{Mat3, Quat, Vec3};
use phyxel::World;
use phyxel::body::{NewBody, Pose};
use phyxel::checkpoint::encode;
use phyxel::frame::FrameSkin;
use phyxel::material::{Friction, Material, Plasticity};
use phyxel::model::shape_matching::ShapeMatchingSettings;
use phyxel::model::{ContinuumSettings, ModelSettings};
use phyxel::skin::{Skin, Surfels};
use std::sync::Arc;

/// Surfels at random positions in a block with random normals.
fn random_surfels(count: usize) -> (Surfels, Vec<Vec3>) {
    let mut random = Lcg(33);
    let positions = (0..count).map(|_| random.next_vector(0.32)).collect();
    let normals: Vec<Vec3> = (0..count).map(|_| random.next_vector(1.0).normalize()).collect();
    (Surfels::round(positions, &normals, 0.02), normals)
}

fn frame_skin(world: &World) -> FrameSkin {
    world.frame().bodies[0].skin.clone().unwrap()
}

#[test]
fn surfels_follow_an_affine_motion_exactly_and_stay_across_their_normals() {
    let (surfels, normals) = random_surfels(300);
    let shear = Mat3::from_cols(Vec3::new(1.2, 0.0, 0.2), Vec3::new(0.5, 0.8, 0.0), Vec3::new(0.0, -0.3, 1.1));
    let pose = Pose { position: Vec3::new(0.4, 0.1, -0.2), rotation: Quat::from_rotation_y(1.0) };
    let body = block([6, 6, 6], 0.1, 0.3, ContinuumSettings::default()).deformed(|x| shear * x);
    let skin = Skin::Surfels(Arc::new(surfels.clone()));
    let world = world_without_gravity(elastic(1.0e5, 0.3)).with_body(NewBody { pose, skin, ..body });
    let skin = frame_skin(&world);
    let map = Mat3::from_quat(pose.rotation) * shear;
    let (mut position_error, mut normal_error, mut tilt, mut axis_error) = (0.0_f32, 0.0_f32, 0.0_f32, 0.0_f32);
    for (v, rest) in normals.iter().enumerate() {
        position_error = position_error.max(skin.positions[v].distance(pose.position + map * surfels.positions[v]));
        let normal = (map.inverse().transpose() * *rest).normalize();
        normal_error = normal_error.max(skin.normals[v].distance(normal));
        for (axis, rest) in skin.axes[v].iter().zip(surfels.axes[v]) {
            tilt = tilt.max(skin.normals[v].dot(axis.normalize()).abs());
            axis_error = axis_error.max(axis.distance(map * rest) / rest.length());
        }
    }
    // Deformation gradients have six digits and act over 0.2 m; axes and normals have no lever arm.
    assert!(
        position_error < 1e-5 && normal_error < 1e-5 && axis_error < 1e-5,
        "{position_error} {normal_error} {axis_error}"
    );
    // A cross product is orthogonal to its factors to round-off.
    assert!(tilt < 1e-6, "{tilt}");
}

#[test]
fn surfels_claim_neither_triangles_nor_a_volume() {
    let (surfels, _) = random_surfels(40);
    let body = block([4, 4, 4], 0.1, 0.0, ContinuumSettings::default());
    let world = world_without_gravity(elastic(1.0e5, 0.3))
        .with_body(NewBody { skin: Skin::Surfels(Arc::new(surfels)), ..body });
    let report = world.frame().bodies[0].report.skin.clone();
    assert_eq!((report.kind.as_str(), report.vertices, report.triangles), ("surfels", 40, 0));
    assert_eq!((report.closed, report.pieces, report.genus, report.volume), (None, None, None, None));
    let skin = frame_skin(&world);
    assert!(skin.triangles.is_empty() && !skin.topology.closed);
    assert_eq!([skin.axes.len(), skin.normals.len(), skin.velocities.len(), skin.temperatures.len()], [40; 4]);
}

/// Drops a soft block that flows and updates its reference configuration; returns its skin at the end and
/// the state hash.
fn flowing_block(is_resumed: bool) -> (FrameSkin, String) {
    let plasticity = Some(Plasticity { yield_strain: 0.05.into(), creep: 20.0, max: 10.0 });
    let material = Material { plasticity, damping: 0.3, ..elastic(2.0e4, 0.3) };
    let settings = ContinuumSettings { flowing: true, ..ContinuumSettings::default() };
    let body = block([5, 5, 5], 0.1, 0.1, settings).at(0.4 * Vec3::Y);
    let mut world = world(material, DOWN)
        .with_body(NewBody { skin: Skin::Surfels(Arc::new(random_surfels(200).0)), ..body })
        .with_obstacle(floor(Friction::default(), 0.0));
    let before = encode(&world).len();
    for k in 0..12 {
        if is_resumed && k % 4 == 2 {
            world = resumed(&world);
        }
        world.advance_frame().unwrap();
    }
    // 36 bytes for each surfel in a reference configuration of its own; everything else that is new is less.
    assert!(encode(&world).len() > before + 36 * 200);
    (frame_skin(&world), world.state_hash())
}

#[test]
fn surfels_follow_what_flows_and_come_out_the_same_when_resumed() {
    let (skin, hash) = flowing_block(false);
    let (other, same) = flowing_block(true);
    assert_eq!(hash, same);
    assert!(skin.positions == other.positions && skin.axes == other.axes && skin.normals == other.normals);
    // They moved down with the block, rotated and stretched with it, and are still discs.
    let (at_rest, normals) = random_surfels(200);
    let lower = skin.positions.iter().zip(&at_rest.positions).filter(|(now, rest)| now.y < rest.y + 0.4).count();
    assert!(lower > 150, "{lower}");
    assert!(skin.normals.iter().zip(&normals).any(|(now, rest)| now.dot(*rest) < 0.99));
    for (axes, normal) in skin.axes.iter().zip(&skin.normals) {
        assert!(axes.iter().all(|axis| axis.length() > 0.004 && axis.length() < 0.1), "{axes:?}");
        assert!((normal.length() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn other_models_and_broken_surfels_are_refused() {
    let usual = || block([3, 3, 3], 0.1, 0.0, ContinuumSettings::default());
    let refused = |body: NewBody| world_without_gravity(elastic(1.0e5, 0.3)).add_body(body).unwrap_err().to_string();
    let (surfels, _) = random_surfels(8);
    let skin = Skin::Surfels(Arc::new(surfels.clone()));
    let error =
        refused(NewBody { model: ModelSettings::ShapeMatching(ShapeMatchingSettings::default()), skin, ..usual() });
    assert!(error.contains("skin") && error.contains("surfels") && error.contains("mesh or isosurface"), "{error}");
    let mut short = surfels.clone();
    short.axes.pop();
    let error = refused(NewBody { skin: Skin::Surfels(Arc::new(short)), ..usual() });
    assert!(error.contains("skin.axes") && error.contains('7'), "{error}");
    let mut lost = surfels;
    lost.positions[3].y = f32::NAN;
    let error = refused(NewBody { skin: Skin::Surfels(Arc::new(lost)), ..usual() });
    assert!(error.contains("skin.positions") && error.contains("NaN"), "{error}");
}
