//! What is refused, by name.

use crate::common::space;
use crate::{crystal, elastic, fluid, packed};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::material::{Heat, Material};
use phyxel::model::crystal::{Change, Docking};
use phyxel::model::{CrystalSettings, ModelSettings};
use phyxel::particles::Phase;
use phyxel::skin::{Skin, SkinMesh};

fn refused(bodies: &[NewBody], young: f32) -> String {
    let mut world = space(elastic(young));
    let mut added = bodies.iter().map(|body| world.add_body(body.clone()));
    let error = added.find_map(Result::err);
    error.expect("one of the bodies is refused").to_string()
}

#[test]
fn bodies_that_make_no_sense_are_refused_by_name() {
    let good = crystal("ice", Vec3::splat(0.3), 0.1);
    let with = |settings| packed("ice", Vec3::splat(0.3), 0.1, settings);
    let error = refused(&[good.clone(), crystal("snow", Vec3::splat(0.3), 0.05)], 1.0e5);
    assert!(
        error.contains("snow") && error.contains("0.05") && error.contains("ice") && error.contains("0.1"),
        "{error}"
    );
    let error = refused(&[NewBody { samples: crate::common::block([4, 4, 4], 0.1), ..good.clone() }], 1.0e5);
    assert!(error.contains("ice") && error.contains("ccp"), "{error}");
    let error = refused(std::slice::from_ref(&good), 0.0);
    assert!(error.contains("young_modulus") && error.contains("ice"), "{error}");
    let error = refused(&[with(CrystalSettings { support: 3.0, ..CrystalSettings::default() })], 1.0e5);
    assert!(error.contains("crystal.support") && error.contains("3.0"), "{error}");
    let error = refused(&[with(CrystalSettings { smoothing: -1.0, ..CrystalSettings::default() })], 1.0e5);
    assert!(error.contains("crystal.smoothing"), "{error}");
    let error = refused(&[with(CrystalSettings { phase: Phase::Gas, ..CrystalSettings::default() })], 1.0e5);
    assert!(error.contains("crystal.phase"), "{error}");
    let docking =
        |rate, change| CrystalSettings { docking: Some(Docking { rate, change }), ..CrystalSettings::default() };
    for (settings, name) in
        [(docking(0.0, 1.0), "crystal.docking.rate"), (docking(1.0, -1.0), "crystal.docking.change")]
    {
        let error = refused(&[with(settings)], 1.0e5);
        assert!(error.contains(name), "{error}");
    }
    let colder = |freezing_point| CrystalSettings {
        change: Change { freezing_point, ..Change::default() },
        ..CrystalSettings::default()
    };
    let mut world = space(Material { heat: Heat { melting: Some(10.0), ..Heat::default() }, ..elastic(1.0e5) });
    let error = world.add_body(with(colder(Some(12.0)))).unwrap_err().to_string();
    assert!(error.contains("ice") && error.contains("freezing_point") && error.contains("12"), "{error}");
    world.add_body(with(colder(Some(10.0)))).unwrap();
    let error = refused(
        &[with(CrystalSettings {
            change: Change { freezing: -1.0, ..Change::default() },
            ..CrystalSettings::default()
        })],
        1.0e5,
    );
    assert!(error.contains("crystal.change.freezing"), "{error}");
    let error = refused(&[NewBody { skin: Skin::Mesh(SkinMesh::default().into()), ..good }], 1.0e5);
    assert!(error.contains("skin") && error.contains("isosurface"), "{error}");
}

#[test]
fn a_fluid_may_be_sampled_in_any_way_and_needs_no_stiffness() {
    let mut world = space(elastic(0.0));
    let samples = crate::common::block([4, 4, 4], 0.1);
    let volume = samples.len() as f64 * 1e-3;
    let water = fluid("water", Vec3::splat(0.3), 0.1);
    assert!(matches!(&water.model, ModelSettings::Crystal(settings) if settings.phase == Phase::Fluid));
    world.add_body(NewBody { samples, volume, ..water }).unwrap();
}
