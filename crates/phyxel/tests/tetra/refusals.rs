//! Invalid tetrahedral bodies.

use crate::block;
use crate::common::{elastic, world_without_gravity};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::model::{ModelSettings, TetraSettings};
use phyxel::skin::{Skin, Surfels};
use std::sync::Arc;

fn refused(body: NewBody) -> String {
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    world.add_body(body).unwrap_err().to_string()
}

fn with(change: impl FnOnce(&mut Vec<[u32; 4]>)) -> NewBody {
    let mut body = block([1, 1, 1], 0.1, TetraSettings::default());
    if let ModelSettings::Tetra(settings) = &mut body.model {
        change(Arc::make_mut(&mut settings.elements));
    }
    body
}

#[test]
fn invalid_elements_are_named_by_index() {
    for (body, expected) in [
        (with(Vec::clear), "\"body\": tetra.elements"),
        (
            with(|elements| elements[3][1] = 99),
            "tetra.elements is Some(3), but it must be made of the body's own samples",
        ),
        (
            with(|elements| elements[5].swap(0, 1)),
            "tetra.elements is Some(5), but it must be neither flat nor inside out",
        ),
        (with(|elements| elements[2][0] = elements[2][1]), "tetra.elements is Some(2), but it must be neither flat"),
        (with(|elements| elements.truncate(1)), "samples is Some("),
    ] {
        let found = refused(body);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn unsupported_skins_are_refused_and_so_are_face_skins_of_other_models() {
    let surfels = Skin::Surfels(Arc::new(Surfels::round(vec![Vec3::ZERO], &[Vec3::Y], 0.1)));
    let found = refused(NewBody { skin: surfels, ..block([1, 1, 1], 0.1, TetraSettings::default()) });
    assert!(found.contains("particles, faces, smooth, mesh or isosurface"), "{found}");
    let other = crate::common::body("body", crate::common::block([2, 2, 2], 0.1), Default::default());
    let found = refused(NewBody { skin: Skin::Faces, ..other });
    assert!(found.contains("only bodies of tetrahedra have faces"), "{found}");
}

#[test]
fn damping_strength_and_stiffness_must_be_valid() {
    let body = |settings| block([1, 1, 1], 0.1, settings);
    let found = refused(body(TetraSettings { mass_damping: -1.0, ..TetraSettings::default() }));
    assert!(found.contains("tetra.mass_damping is -1.0, but it must be at least 0"), "{found}");
    let found = refused(body(TetraSettings { stiffness_damping: Some(f32::NAN), ..TetraSettings::default() }));
    assert!(found.contains("tetra.stiffness_damping"), "{found}");
    let found = refused(body(TetraSettings { stiffness: Some(Box::new([[1.0; 6]; 6])), ..TetraSettings::default() }));
    assert!(found.contains("tetra.stiffness"), "{found}");
    for force in [0.0, -1.0, f32::NAN] {
        let found = refused(body(TetraSettings { strength_force: Some(force), ..TetraSettings::default() }));
        assert!(
            found.contains(&format!("tetra.strength_force is Some({force:?}), but it must be positive")),
            "{found}"
        );
    }
    let mut world = world_without_gravity(elastic(0.0, 0.3));
    let found = world.add_body(body(TetraSettings::default())).unwrap_err().to_string();
    assert!(found.contains("material \"matter\" of the body of tetrahedra \"body\""), "{found}");
}
