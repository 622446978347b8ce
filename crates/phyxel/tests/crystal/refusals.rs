//! Invalid settings are rejected by name.

use crate::common::{elastic, world_without_gravity};
use crate::{crystal_body, fluid_body, liquid, packed_body};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::material::{Material, ThermalProperties};
use phyxel::model::crystal::{Docking, PhaseChangeSettings};
use phyxel::model::{CrystalSettings, ModelSettings};
use phyxel::skin::{Skin, SkinMesh};
use phyxel::store::Phase;

fn first_error(bodies: &[NewBody], young_modulus: f32) -> String {
    let mut world = world_without_gravity(elastic(young_modulus, 0.0));
    let mut added = bodies.iter().map(|body| world.add_body(body.clone()));
    let error = added.find_map(Result::err);
    error.expect("one of the bodies is rejected").to_string()
}

#[test]
fn invalid_bodies_are_rejected_by_name() {
    let good = crystal_body("ice", Vec3::splat(0.3), 0.1);
    let with = |settings| packed_body("ice", Vec3::splat(0.3), 0.1, settings);
    let error = first_error(&[good.clone(), crystal_body("snow", Vec3::splat(0.3), 0.05)], 1.0e5);
    assert!(
        error.contains("snow") && error.contains("0.05") && error.contains("ice") && error.contains("0.1"),
        "{error}"
    );
    let error = first_error(&[NewBody { samples: crate::common::block([4, 4, 4], 0.1), ..good.clone() }], 1.0e5);
    assert!(error.contains("ice") && error.contains("ccp"), "{error}");
    let error = first_error(std::slice::from_ref(&good), 0.0);
    assert!(error.contains("young_modulus") && error.contains("ice"), "{error}");
    let error = first_error(&[with(CrystalSettings { support: 3.0, ..CrystalSettings::default() })], 1.0e5);
    assert!(error.contains("crystal.support") && error.contains("3.0"), "{error}");
    let error = first_error(&[with(CrystalSettings { smoothing: -1.0, ..CrystalSettings::default() })], 1.0e5);
    assert!(error.contains("crystal.smoothing"), "{error}");
    let error = first_error(&[with(CrystalSettings { phase: Phase::Gas, ..CrystalSettings::default() })], 1.0e5);
    assert!(error.contains("crystal.phase"), "{error}");
    let docking =
        |rate, decay| CrystalSettings { docking: Some(Docking { rate, decay }), ..CrystalSettings::default() };
    for (settings, name) in [(docking(0.0, 1.0), "crystal.docking.rate"), (docking(1.0, -1.0), "crystal.docking.decay")]
    {
        let error = first_error(&[with(settings)], 1.0e5);
        assert!(error.contains(name), "{error}");
    }
    let colder = |freezing_point| CrystalSettings {
        change: PhaseChangeSettings { freezing_point, ..PhaseChangeSettings::default() },
        ..CrystalSettings::default()
    };
    let mut world = world_without_gravity(Material {
        heat: ThermalProperties { melting: Some(10.0), ..ThermalProperties::default() },
        ..elastic(1.0e5, 0.0)
    });
    let error = world.add_body(with(colder(Some(12.0)))).unwrap_err().to_string();
    assert!(error.contains("ice") && error.contains("freezing_point") && error.contains("12"), "{error}");
    world.add_body(with(colder(Some(10.0)))).unwrap();
    let error = first_error(
        &[with(CrystalSettings {
            change: PhaseChangeSettings { freezing: -1.0, ..PhaseChangeSettings::default() },
            ..CrystalSettings::default()
        })],
        1.0e5,
    );
    assert!(error.contains("crystal.change.freezing"), "{error}");
    let error = first_error(&[NewBody { skin: Skin::Mesh(SkinMesh::default().into()), ..good }], 1.0e5);
    assert!(error.contains("skin") && error.contains("isosurface"), "{error}");
}

#[test]
fn a_fluid_accepts_any_samples_and_needs_no_stiffness() {
    let mut world = world_without_gravity(liquid());
    let samples = crate::common::block([4, 4, 4], 0.1);
    let volume = samples.len() as f64 * 1e-3;
    let water = fluid_body("water", Vec3::splat(0.3), 0.1);
    assert!(matches!(&water.model, ModelSettings::Crystal(settings) if settings.phase == Phase::Fluid));
    world.add_body(NewBody { samples, volume, ..water }).unwrap();
}
