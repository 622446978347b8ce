//! Temperature: expansion, softening, conduction.

use crate::block;
use crate::common::thermal::*;
use crate::with_integration;
use phyxel::model::ContinuumSettings;
use phyxel::model::continuum::Integration;

#[test]
fn a_free_block_grows_by_its_expansion_without_strain() {
    let body = block([5, 5, 5], 0.1, 0.2, ContinuumSettings::default());
    assert_free_expansion(body, 5e-4, 6000, 1e-3, 1e-3);
}

#[test]
fn a_curve_of_young_s_modulus_applies_phyxel_by_phyxel() {
    // Cold at one end, warm and half as stiff at the other: under the same force the warm half stretches twice as far.
    // Layers at 0.25 and 0.55 m are well inside each half.
    let bar = block([16, 4, 4], 0.1, 0.0, ContinuumSettings::default());
    let ratio = strain_ratio_of_halves(bar, 0.7, [0.25, 0.55], 3e-4, 8000);
    // Strains of 3 and 7 %: Green's strain is not linear, which is worth some hundredths.
    assert!((ratio / 2.0 - 1.0).abs() < 0.06, "{ratio}");
}

#[test]
fn heat_flows_between_neighbours_as_the_series_says_and_none_is_lost() {
    // Twenty cells and 160 first-order steps; irregular cells add a few hundredths.
    for (jitter, tolerance) in [(0.0, 0.01), (0.15, 0.05)] {
        let bar = block([20, 3, 3], 0.05, jitter, with_integration(Integration::Implicit));
        assert_conduction_follows_series(bar, tolerance);
    }
}
