//! What a body of phyxels does not accept.

use crate::common::space;
use crate::{block, elastic};
use phyxel::model::ContinuumSettings;

#[test]
fn wrong_settings_are_named() {
    let usual = ContinuumSettings::default;
    let mut uneven = [[0.0; 6]; 6];
    (0..6).for_each(|k| uneven[k][k] = 1.0e4);
    uneven[0][1] = 5.0e3;
    let mut giving = uneven;
    (giving[0][1], giving[1][0]) = (2.0e4, 2.0e4);
    let wrong = [
        (ContinuumSettings { support: 0.9, ..usual() }, "continuum.support"),
        (ContinuumSettings { hourglass: -1.0, ..usual() }, "continuum.hourglass"),
        (ContinuumSettings { volume: f32::NAN, ..usual() }, "continuum.volume"),
        (ContinuumSettings { stiffness: Some(Box::new(uneven)), ..usual() }, "continuum.stiffness"),
        (ContinuumSettings { stiffness: Some(Box::new(giving)), ..usual() }, "continuum.stiffness"),
    ];
    for (settings, field) in wrong {
        let mut world = space(elastic(1.0e5, 0.3));
        let error = world.add_body(block([3, 3, 3], 0.1, 0.0, settings)).unwrap_err().to_string();
        assert!(error.contains(field) && error.contains("body"), "{error}");
    }
}

#[test]
fn matter_without_stiffness_and_sheets_are_refused_with_the_remedy() {
    let mut world = space(elastic(0.0, 0.3));
    let error = world.add_body(block([3, 3, 3], 0.1, 0.0, ContinuumSettings::default())).unwrap_err().to_string();
    assert!(error.contains("young_modulus") && error.contains("\"body\""), "{error}");
    let mut world = space(elastic(1.0e5, 0.3));
    let error = world.add_body(block([9, 9, 1], 0.1, 0.0, ContinuumSettings::default())).unwrap_err().to_string();
    assert!(error.contains("81 of 81 phyxels") && error.contains("spacing smaller than 0.1"), "{error}");
    // Two layers span space.
    world.add_body(block([9, 9, 2], 0.1, 0.0, ContinuumSettings::default())).unwrap();
    assert_eq!(world.frame().bodies[0].report.degenerate, Some(0));
}
