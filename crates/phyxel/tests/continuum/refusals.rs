//! Settings that the continuum model rejects.

use crate::block;
use crate::common::{elastic, world_without_gravity};
use phyxel::model::ContinuumSettings;

#[test]
fn wrong_settings_are_named() {
    let usual = ContinuumSettings::default;
    let mut asymmetric = [[0.0; 6]; 6];
    (0..6).for_each(|k| asymmetric[k][k] = 1.0e4);
    asymmetric[0][1] = 5.0e3;
    let mut indefinite = asymmetric;
    (indefinite[0][1], indefinite[1][0]) = (2.0e4, 2.0e4);
    let wrong = [
        (ContinuumSettings { support: 0.9, ..usual() }, "continuum.support"),
        (ContinuumSettings { hourglass: -1.0, ..usual() }, "continuum.hourglass"),
        (ContinuumSettings { volume_penalty: f32::NAN, ..usual() }, "continuum.volume_penalty"),
        (ContinuumSettings { stiffness: Some(Box::new(asymmetric)), ..usual() }, "continuum.stiffness"),
        (ContinuumSettings { stiffness: Some(Box::new(indefinite)), ..usual() }, "continuum.stiffness"),
    ];
    for (settings, field) in wrong {
        let mut world = world_without_gravity(elastic(1.0e5, 0.3));
        let error = world.add_body(block([3, 3, 3], 0.1, 0.0, settings)).unwrap_err().to_string();
        assert!(error.contains(field) && error.contains("body"), "{error}");
    }
}

#[test]
fn matter_without_stiffness_and_sheets_are_refused_with_the_remedy() {
    let mut world = world_without_gravity(elastic(0.0, 0.3));
    let error = world.add_body(block([3, 3, 3], 0.1, 0.0, ContinuumSettings::default())).unwrap_err().to_string();
    assert!(error.contains("young_modulus") && error.contains("\"body\""), "{error}");
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    let error = world.add_body(block([9, 9, 1], 0.1, 0.0, ContinuumSettings::default())).unwrap_err().to_string();
    assert!(error.contains("81 of 81 phyxels") && error.contains("spacing smaller than 0.1"), "{error}");
    // Two layers span space.
    world.add_body(block([9, 9, 2], 0.1, 0.0, ContinuumSettings::default())).unwrap();
    assert_eq!(world.frame().bodies[0].report.degenerate, Some(0));
}
