//! Heat transfer against closed forms, and its energy balance.

#[path = "../common/mod.rs"]
mod common;

mod balance;
mod closed_forms;
mod experiments;
mod mass_spring;
mod refusals;
mod surface;
mod table;

use experiments::{CUBES, ball_error, film_error, glow_error, plate_error, slab_error, stefan_error};

/// Order of convergence of an error when the spacing is reduced by a factor.
fn order(coarse: f64, fine: f64, factor: f64) -> f64 {
    (coarse / fine).abs().ln() / factor.ln()
}

#[test]
fn a_slab_follows_its_series_and_the_error_falls_with_the_square_of_the_spacing() {
    let [coarse, fine] = [8, 16].map(|count| slab_error(CUBES, count));
    assert!(coarse < 0.01, "{coarse}");
    assert!((order(coarse, fine, 2.0) - 2.0).abs() < 0.2, "errors {coarse} and {fine}");
}

#[test]
fn a_plate_that_conducts_better_along_one_axis_follows_the_product_of_two_series() {
    let [coarse, fine] = [8, 16].map(|count| plate_error(CUBES, count));
    assert!(coarse < 0.01, "{coarse}");
    assert!((order(coarse, fine, 2.0) - 2.0).abs() < 0.2, "errors {coarse} and {fine}");
}

#[test]
fn a_ball_follows_its_series_to_the_error_of_its_staircase() {
    // The surface of a ball of cells is known to about a cell. The mean temperature is 1 - (6/pi2) sum
    // exp(-n2 pi2 F)/n2 with F = D t/R2 = 0.05, so a relative error d of the radius is an error -2 d of the
    // time and changes the mean by 12 F sum exp(-n2 pi2 F) d = 0.46 d. A cell is 2/n of the radius.
    for across in [8, 16, 32] {
        let error = ball_error(across).abs();
        assert!(error < 0.46 * 2.0 / f64::from(across), "{across} across: {error}");
    }
}

#[test]
fn the_front_of_stefans_problem_is_where_it_should_be() {
    for count in [25, 100] {
        let [few, many] = [4 * count, 40 * count].map(|steps| stefan_error(count, steps));
        assert!(few.abs() < 0.05 && many.abs() < 0.05, "{count} cells: {few} and {many}");
    }
    // Ten cells melt per step: the iteration finds them for steps of any length. The step error is of first
    // order.
    let [longest, long] = [5, 10].map(|steps| stefan_error(100, steps));
    assert!(longest.abs() < 0.05 && long.abs() < 0.6 * longest.abs(), "{longest} and {long}");
}

#[test]
fn the_steady_profile_of_a_slab_between_a_wall_and_air_is_linear() {
    // The profile is linear, so cells of any size are exact; temperatures have 24 bits.
    for count in [1, 4, 16] {
        let error = film_error(count);
        assert!(error < 1e-6, "{count} cells: {error}");
    }
}

#[test]
fn a_radiating_cube_reaches_the_balance_of_source_and_radiation() {
    // Steps of a day, ten times the time constant each; the last digit of 24 bits may be off.
    assert!(glow_error(10).abs() < 1e-6, "{}", glow_error(10));
    assert!(glow_error(1).abs() < 0.01, "one step of any length is stable: {}", glow_error(1));
}
