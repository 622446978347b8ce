//! Exposed area of particles, measured by the heat of a flux.

use crate::common::{Lcg, run_steps};
use crate::experiments::{add_body, ball_cells, cells, plain, world};
use glam::Vec3;
use phyxel::heating::Heating;
use std::f64::consts::PI;

/// Exposed area of a body, m2: the heat of a flux of 1 W/m2 in a second.
fn area(samples: Vec<Vec3>, spacing: f32, volume: f64) -> f64 {
    let mut world = world(plain());
    add_body(&mut world, samples, spacing, volume, 0.0);
    world.add_heating(Heating { flux: 1.0, ..Heating::new("sun", "body") }).unwrap();
    run_steps(&mut world, 1.0, 1);
    world.frame().totals.heat_in
}

fn jittered(samples: Vec<Vec3>, amplitude: f32) -> Vec<Vec3> {
    let mut random = Lcg(7);
    samples.into_iter().map(|x| x + random.next_vector(amplitude)).collect()
}

/// Face-centred cubic packing in a ball of radius 1.
fn packed_ball(spacing: f32) -> Vec<Vec3> {
    let step = spacing / 2.0f32.sqrt();
    let count = (2.2 / step) as u32 | 1;
    let all = cells([count; 3], 1.0).into_iter().map(|x| x - 0.5 * count as f32);
    let sites = all.filter(|x| x.element_sum().round() as i32 % 2 == 0);
    sites.map(|x| x * step).filter(|x| x.length() < 1.0).collect()
}

/// Exposed area of a ball of radius 1 over the exact one.
fn ball_area(samples: Vec<Vec3>, spacing: f32) -> f64 {
    area(samples, spacing, 4.0 / 3.0 * PI) / (4.0 * PI)
}

#[test]
fn blocks_and_single_cells_of_a_lattice_expose_exactly_their_faces() {
    // Areas are 32-bit numbers.
    assert!((area(cells([4; 3], 0.25), 0.25, 1.0) / 6.0 - 1.0).abs() < 1e-6);
    assert!((area(cells([1; 3], 0.25), 0.25, 0.25f64.powi(3)) / (6.0 * 0.0625) - 1.0).abs() < 1e-6);
    assert!((area(cells([5, 1, 1], 0.1), 0.1, 0.005) / 0.22 - 1.0).abs() < 1e-6);
}

#[test]
fn irregular_samples_expose_the_surface_to_half_a_spacing() {
    for across in [16, 24] {
        let spacing = 2.0 / across as f32;
        // The surface of scattered points is known to half a spacing, 1/n of the radius: 2/n of the area.
        let tolerance = 2.0 / f64::from(across);
        let packed = ball_area(packed_ball(spacing), spacing);
        assert!((packed - 1.0).abs() < tolerance, "closest packing, {across} across: {packed}");
        for amplitude in [0.2, 0.3, 0.4] {
            let found = ball_area(jittered(ball_cells(across), amplitude * spacing), spacing);
            assert!((found - 1.0).abs() < tolerance, "jittered by {amplitude}, {across} across: {found}");
        }
    }
}

#[test]
fn a_ball_of_cubes_exposes_its_staircase() {
    // The projection on each of six sides is a disc of pi R2: 6 pi R2 in all, 1.5 times the area of the ball.
    let found = ball_area(ball_cells(24), 2.0 / 24.0);
    assert!((found - 1.5).abs() < 1.5 * 2.0 / 24.0, "{found}");
}
