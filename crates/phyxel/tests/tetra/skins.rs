//! Skins: boundary faces, subdivided surfaces and embedded meshes.

use crate::block;
use crate::common::motion::{affine, assert_mesh_follows_affine_motion};
use crate::common::{BodyFixture, Lcg, WorldFixture, elastic, world_without_gravity};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::frame::FrameSkin;
use phyxel::model::TetraSettings;
use phyxel::skin::{Skin, SkinMesh, SmoothSurface, SubdivisionRule};
use std::sync::Arc;

#[test]
fn boundary_faces_are_closed_and_enclose_the_volume() {
    let body = NewBody { skin: Skin::Faces, ..block([4, 3, 2], 0.1, TetraSettings::default()) };
    let world = world_without_gravity(elastic(1.0e5, 0.3)).with_body(body.deformed(affine));
    let frame = world.frame();
    let skin = &frame.bodies[0].report.skin;
    assert_eq!((skin.kind.as_str(), skin.closed, skin.pieces, skin.genus), ("faces", Some(true), Some(1), Some(0)));
    // Two triangles for each of 52 faces of cells.
    assert_eq!((skin.triangles, skin.vertices), (104, 54));
    let grown = 1.2 * 0.8 * 1.1 + 0.3 * -0.1 * 0.2;
    assert!((skin.volume.unwrap() / (0.024 * grown) - 1.0).abs() < 1e-5, "{:?}", skin.volume);
}

/// Distinct corner normals at each vertex.
fn distinct_normals(skin: &FrameSkin) -> Vec<Vec<Vec3>> {
    let mut normals = vec![Vec::new(); skin.positions.len()];
    for (triangle, corner_normals) in skin.triangles.iter().zip(skin.corner_normals().unwrap()) {
        for (&vertex, normal) in triangle.iter().zip(corner_normals) {
            let known: &mut Vec<Vec3> = &mut normals[vertex as usize];
            if !known.contains(&normal) {
                known.push(normal);
            }
        }
    }
    normals
}

fn skin_of(body: NewBody) -> FrameSkin {
    world_without_gravity(elastic(1.0e5, 0.3)).with_body(body).frame().bodies.remove(0).skin.unwrap()
}

#[test]
fn a_box_has_sharp_edges_and_each_vertex_once() {
    let skin = skin_of(NewBody { skin: Skin::Faces, ..block([4, 3, 2], 0.1, TetraSettings::default()) });
    let half = Vec3::new(0.2, 0.15, 0.1);
    for (x, normals) in skin.positions.iter().zip(distinct_normals(&skin)) {
        // One normal for each side of the box that the vertex lies on: three at corners, two along edges.
        let sides = (0..3).filter(|&axis| x[axis].abs() > half[axis] - 1e-4).count();
        assert_eq!(normals.len(), sides, "{x}: {normals:?}");
        assert!(normals.iter().all(|normal| normal.abs().max_element() > 1.0 - 1e-6), "{normals:?}");
    }
    let sharp = skin.positions.iter().filter(|x| (0..3).all(|axis| x[axis].abs() > half[axis] - 1e-4));
    assert_eq!(sharp.count(), 8, "corners are not doubled");
}

#[test]
fn a_ball_and_a_smooth_skin_have_no_sharp_edges() {
    // A cube of 8 x 8 x 8 cells mapped to a ball: adjacent faces differ by an eighth of a right angle,
    // and by up to twice that where edges of the cube were; faces around a vertex by twice as much.
    let body = block([8, 8, 8], 0.1, TetraSettings::default());
    let round = |x: Vec3| x.normalize_or_zero() * x.abs().max_element();
    let ball = skin_of(NewBody { skin: Skin::Faces, ..body.clone().deformed(round) });
    let normals = distinct_normals(&ball);
    assert!(normals.iter().all(|normals| normals.len() == 1), "{:?}", normals.iter().map(Vec::len).max());
    let skin = Skin::Smooth(SmoothSurface { scheme: SubdivisionRule::Loop, levels: 1 });
    assert!(skin_of(NewBody { skin, ..body }).corner_normals().is_none());
}

#[test]
fn a_mesh_follows_an_affine_motion_exactly_inside_and_a_little_outside() {
    // Four weights and positions with seven digits each.
    assert_mesh_follows_affine_motion(block([4, 4, 4], 0.1, TetraSettings::default()), 0.22, 1e-6);
}

#[test]
fn vertices_at_nodes_follow_the_nodes() {
    let mut random = Lcg(4);
    let body = block([3, 3, 3], 0.1, TetraSettings::default()).deformed(|x| x + random.next_vector(0.02));
    // A vertex at each node must follow that node.
    let mesh = SkinMesh { positions: body.samples.clone(), triangles: vec![[0, 1, 2]] };
    let world =
        world_without_gravity(elastic(1.0e5, 0.3)).with_body(NewBody { skin: Skin::Mesh(Arc::new(mesh)), ..body });
    let frame = world.frame();
    let skin = frame.bodies[0].skin.as_ref().unwrap();
    for (i, position) in world.particles().position.iter().enumerate() {
        assert!(skin.positions[i].distance(*position) < 1e-6, "{i}");
    }
}

#[test]
fn subdivided_skins_have_four_triangles_per_face_and_level_and_follow_an_affine_motion() {
    for (scheme, levels) in [(SubdivisionRule::Loop, 1), (SubdivisionRule::Loop, 3), (SubdivisionRule::Butterfly, 2)] {
        let skin = Skin::Smooth(SmoothSurface { scheme, levels });
        let body = NewBody { skin, ..block([4, 3, 2], 0.1, TetraSettings::default()) };
        let report = |body: NewBody| {
            world_without_gravity(elastic(1.0e5, 0.3)).with_body(body).frame().bodies[0].report.skin.clone()
        };
        let (at_rest, deformed) = (report(body.clone()), report(body.deformed(affine)));
        assert_eq!((at_rest.kind.as_str(), at_rest.closed, at_rest.genus), ("smooth", Some(true), Some(0)));
        assert_eq!(at_rest.triangles, 104 << (2 * levels), "{scheme:?} {levels}");
        // Loop subdivision smooths edges. Weights are rounded to 6e-8, in sums over a thousand triangles.
        let volume = at_rest.volume.unwrap();
        assert!(volume > 0.01 && (volume < 0.024 || scheme == SubdivisionRule::Butterfly), "{volume}");
        let grown = 1.2 * 0.8 * 1.1 + 0.3 * -0.1 * 0.2;
        assert!((deformed.volume.unwrap() / (volume * grown) - 1.0).abs() < 1e-4, "{:?} of {volume}", deformed.volume);
    }
}

#[test]
fn smooth_skins_have_one_to_three_levels() {
    for levels in [0, 4] {
        let skin = Skin::Smooth(SmoothSurface { scheme: SubdivisionRule::Loop, levels });
        let body = NewBody { skin, ..block([2, 2, 2], 0.1, TetraSettings::default()) };
        let error = world_without_gravity(elastic(1.0e5, 0.3)).add_body(body).unwrap_err().to_string();
        assert!(error.contains("skin.levels") && error.contains(&levels.to_string()), "{error}");
    }
}
