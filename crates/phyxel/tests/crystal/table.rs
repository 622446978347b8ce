//! Fluids against theory and experiment: the tables and charts of `validation/fluid.md`.
//!
//! With `PHYXEL_BLESS=1` the test rewrites the document and its charts.

use crate::chart::Chart;
use crate::common::{BodyFixture, DOWN, golden, pose_at, run_frames, run_steps, world};
use crate::fluid::{add_tank, pool};
use crate::viscosity::{SPACING, fluid_material, without_smoothing};
use crate::{fitted_slope, fluid_body};
use glam::Vec3;
use phyxel::World;
use phyxel::body::{BodyId, Pose};
use phyxel::material::Friction;
use phyxel::obstacle::{Geometry, Keyframe, Obstacle};
use std::fmt::Write;

/// Collapse of a column of width `a` and twice that height: time over `sqrt(a/2g)` and front over `a`, table
/// 2 of `[MM52]`.
const MEASURED: [(f64, f64); 15] = [
    (0.41, 1.11),
    (0.84, 1.22),
    (1.19, 1.44),
    (1.43, 1.67),
    (1.63, 1.89),
    (1.83, 2.11),
    (1.98, 2.33),
    (2.20, 2.56),
    (2.32, 2.78),
    (2.51, 3.00),
    (2.65, 3.22),
    (2.83, 3.44),
    (2.98, 3.67),
    (3.11, 3.89),
    (3.33, 4.11),
];

const HEAD: &str = "# Fluids against theory and experiment

Written by a test, which fails when its results no longer agree with this document. To rewrite it:

```
PHYXEL_BLESS=1 cargo nextest run -p phyxel --test crystal table
```
";

fn add_wall(world: &mut World, name: &str, normal: Vec3, position: Vec3, friction: Friction) {
    let obstacle = Obstacle { friction, ..Obstacle::new(name, Geometry::HalfSpace { normal }, pose_at(position)) };
    world.add_obstacle(obstacle).unwrap();
}

/// Fluid between no-slip plates and free-slip side walls, driven along x by a piston against a body force
/// that holds it together.
fn channel(viscosity: f32, speed: f32, half: f32, length: f32, weight: f32) -> World {
    let layer = SPACING / 2.0f32.sqrt();
    let mut world = world(fluid_material(viscosity, 0.0), Vec3::NEG_X * weight);
    let side = 3.5 * layer;
    add_wall(&mut world, "below", Vec3::Y, Vec3::Y * -half, Friction::default());
    add_wall(&mut world, "above", Vec3::NEG_Y, Vec3::Y * half, Friction::default());
    add_wall(&mut world, "back", Vec3::Z, Vec3::Z * -side, Friction::NONE);
    add_wall(&mut world, "front", Vec3::NEG_Z, Vec3::Z * side, Friction::NONE);
    let keyframe = |time: f64| {
        let position = Vec3::X * (-0.5 * length - 0.5 * layer + speed * time as f32);
        Keyframe { time, pose: pose_at(position) }
    };
    let piston = Obstacle::new("piston", Geometry::HalfSpace { normal: Vec3::X }, Pose::default());
    world
        .add_obstacle(Obstacle { keyframes: vec![keyframe(0.0), keyframe(100.0)], friction: Friction::NONE, ..piston })
        .unwrap();
    let size = Vec3::new(length, 2.0 * half - layer, 2.0 * side - layer);
    world.add_body(without_smoothing(fluid_body("oil", size, SPACING))).unwrap();
    world
}

/// Heights (m) above the floor of a pool at rest with mean pressures (Pa), and the depth of the pool (m).
fn pressures_of_pool() -> (Vec<(f64, f64)>, f64) {
    let mut world = pool();
    run_frames(&mut world, 90);
    let mut strips = [[0.0f64; 3]; 9];
    for _ in 0..30 {
        world.advance_frame().unwrap();
        let pressures = world.pressures(BodyId(0));
        for (x, p) in world.particles().position.iter().zip(pressures) {
            if x.x.abs().max(x.z.abs()) < 0.2 && x.y < 0.9 {
                let strip = &mut strips[(x.y / 0.1) as usize];
                *strip = [strip[0] + f64::from(x.y), strip[1] + f64::from(p), strip[2] + 1.0];
            }
        }
    }
    let height = world.particles().len() as f64 * f64::from(SPACING).powi(3) / 2.0f64.sqrt() / 0.36;
    (strips.iter().filter(|strip| strip[2] > 0.0).map(|s| (s[0] / s[2], s[1] / s[2])).collect(), height)
}

/// Front of a collapsing column over time, both dimensionless as in `[MM52]`.
fn front_of_dam() -> Vec<(f64, f64)> {
    let (width, layer) = (0.2f32, 0.2f32 / 15.0);
    let mut world = world(fluid_material(0.001, 0.072), DOWN);
    add_tank(&mut world, 2.0, width);
    let size = Vec3::new(width - layer, 29.0 * layer, width - layer);
    let at = Vec3::new(-1.0 + 0.5 * width, 14.5 * layer, 0.0);
    world.add_body(fluid_body("water", size, layer * 2.0f32.sqrt()).at(at)).unwrap();
    let scale = (2.0 * 9.81 / f64::from(width)).sqrt();
    let mut front = Vec::new();
    while world.time() * scale < 3.5 {
        let farthest = world.particles().position.iter().map(|x| x.x).fold(f32::NEG_INFINITY, f32::max);
        front.push((world.time() * scale, f64::from((farthest + 0.5 * layer + 1.0) / width)));
        run_steps(&mut world, 0.00125, 4);
    }
    front
}

/// Linear interpolation.
fn interpolate(line: &[(f64, f64)], x: f64) -> f64 {
    let after = line.partition_point(|(a, _)| *a <= x).clamp(1, line.len() - 1);
    let [(x0, y0), (x1, y1)] = [line[after - 1], line[after]];
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

/// Strips of a channel flow, with the distance from the middle over half the gap, the velocity over its mean,
/// and the number of samples; and the pressure gradient over Poiseuille's.
fn flow_between_plates() -> (Vec<[f64; 3]>, f64) {
    let (viscosity, speed, weight) = (200.0f32, 0.05f32, 0.2f32);
    let half = 7.5 * SPACING / 2.0f32.sqrt();
    let mut world = channel(viscosity, speed, half, 1.2, weight);
    // The slowest transient decays as exp(-pi^2/4 nu t/d^2), in 0.14 s; the front takes longer to roll over
    // its width.
    let dt = 0.002;
    run_steps(&mut world, dt, 1000);
    let (mut gradient, samples) = (0.0, 600);
    let mut strips = [[0.0f64; 3]; 15];
    for _ in 0..samples {
        run_steps(&mut world, dt, 4);
        let (pressures, particles) = (world.pressures(BodyId(0)), world.particles());
        let middle = particles.position.iter().map(|x| x.x).sum::<f32>() / particles.len() as f32;
        let inside = |x: &Vec3| (x.x - middle).abs() < 0.3;
        for (x, v) in particles.position.iter().zip(&particles.velocity).filter(|(x, _)| inside(x)) {
            let across = x.y / half;
            let strip = &mut strips[((across + 1.0) * 7.5).clamp(0.0, 14.0) as usize];
            *strip = [strip[0] + f64::from(across), strip[1] + f64::from(v.x / speed), strip[2] + 1.0];
        }
        let core = particles.position.iter().zip(&pressures).filter(|(x, _)| inside(x) && x.y.abs() < 0.7 * half);
        gradient -= fitted_slope(core.map(|(x, p)| (f64::from(x.x), f64::from(*p)))) / f64::from(samples);
    }
    assert!(world.models().crystal.viscosity_iterations() > 1, "such a viscosity needs implicit steps");
    let expected = f64::from(3.0 * viscosity * speed / (half * half));
    let profile = strips.iter().filter(|s| s[2] > 0.0).map(|s| [s[0] / s[2], s[1] / s[2], s[2]]).collect();
    (profile, (gradient - f64::from(1000.0 * weight)) / expected)
}

const POOL: &str = "
## Hydrostatic pressure

Water 0.69 m deep in a tank 0.6 m wide, spacing 0.05 m, after 3 s: pressure over height of particles at least
two spacings from the walls, averaged over half a second. The expected pressure is that of the weight above.
In the lowest and the top strip particles have fewer neighbours that transmit pressure.

![pressure over height](fluid-pool.svg)

| height, m | expected, kPa | computed, kPa |
|---|---|---|
";

fn describe_pool(text: &mut String, files: &mut Vec<(&'static str, String)>) {
    let (computed, depth) = pressures_of_pool();
    let theory = |y: f64| 9810.0 * (depth - y);
    text.push_str(POOL);
    for &(y, p) in &computed {
        let _ = writeln!(text, "| {y:.3} | {:.3} | {:.3} |", theory(y) / 1000.0, p / 1000.0);
    }
    let inside = computed.iter().copied().filter(|(y, _)| *y > 0.1 && *y < 0.7);
    let gradient = -fitted_slope(inside) / 9810.0;
    let _ = writeln!(text, "\nThe pressure gradient is {gradient:.3} of the hydrostatic one.");
    assert!((gradient - 1.0).abs() < 0.02, "{gradient}");
    let chart = Chart {
        x_axis: ("height, m", [0.0, 1.0]),
        y_axis: ("pressure, kPa", [0.0, 10.0]),
        lines: vec![("hydrostatic", vec![(0.0, theory(0.0) / 1000.0), (depth, 0.0)])],
        points: vec![("computed", computed.iter().map(|(y, p)| (*y, p / 1000.0)).collect())],
    };
    files.push(("fluid-pool.svg", chart.svg()));
}

const DAM: &str = "
## Dam break

A column twice as high as wide collapses, resolved by 15 layers across. Front over width `Z` at the times `T =
t sqrt(2g/a)`, beside table 2 of Martin and Moyce [MM52]. The computed front has their speed and is ahead by
0.2 in `T`; the difference arises before `T = 1.2`, and stays. In the experiment a diaphragm had to be removed
first. The scatter of its points is about 0.1, so that it does not explain all of it.

![front over time](fluid-dam.svg)

| T | measured Z | computed Z | computed Z at T - 0.2 |
|---|---|---|---|
";

fn describe_dam(text: &mut String, files: &mut Vec<(&'static str, String)>) {
    let front = front_of_dam();
    text.push_str(DAM);
    let (mut squares, mut count) = (0.0, 0.0);
    for (time, measured) in MEASURED {
        let (now, before) = (interpolate(&front, time), interpolate(&front, time - 0.2));
        let _ = writeln!(text, "| {time:.2} | {measured:.2} | {now:.2} | {before:.2} |");
        if time > 1.0 {
            (squares, count) = (squares + (before - measured).powi(2), count + 1.0);
        }
    }
    let rms = f64::sqrt(squares / count);
    let _ = writeln!(
        text,
        "\nThe root mean square difference of the front 0.2 earlier and the measured one is {rms:.2} from `T = 1` on."
    );
    assert!(rms < 0.1, "{rms} from the measured front, 0.2 later");
    let chart = Chart {
        x_axis: ("T = t sqrt(2g/a)", [0.0, 3.5]),
        y_axis: ("Z = x/a", [0.5, 5.0]),
        lines: vec![
            ("computed", front.clone()),
            ("computed, 0.2 later", front.iter().map(|(t, z)| (t + 0.2, *z)).filter(|(t, _)| *t < 3.5).collect()),
        ],
        points: vec![("Martin and Moyce 1952", MEASURED.to_vec())],
    };
    files.push(("fluid-dam.svg", chart.svg()));
}

const PLATES: &str = "
## Plane Poiseuille flow

A piston drives fluid of 200 Pa s between plates 15 layers apart, with free-slip side walls, at a mean of 0.05
m/s. Velocity far from the ends over the mean, beside Poiseuille's profile, in strips along the plates,
averaged over 4.8 s.

![velocity across the gap](fluid-plates.svg)

| from the middle, half gaps | expected | computed |
|---|---|---|
";

fn describe_plates(text: &mut String, files: &mut Vec<(&'static str, String)>) {
    let (strips, gradient) = flow_between_plates();
    let theory = |across: f64| 1.5 * (1.0 - across * across);
    text.push_str(PLATES);
    for &[across, computed, _] in &strips {
        let _ = writeln!(text, "| {across:+.2} | {:.2} | {computed:.2} |", theory(across));
    }
    let square: f64 = strips.iter().map(|&[across, v, count]| count * (v - theory(across)).powi(2)).sum();
    let rms = (square / strips.iter().map(|strip| strip[2]).sum::<f64>()).sqrt() / 1.5;
    let _ = writeln!(
        text,
        "\nThe root mean square error is {rms:.3} of the largest velocity. The driving pressure gradient is \
         {gradient:.2} of Poiseuille's."
    );
    assert!(rms < 0.03, "the error of velocities is {rms} of the largest");
    // The position of the no-slip plane is known to a tenth of a spacing, which is 3 (0.1 D)/d of the
    // pressure gradient.
    assert!((gradient - 1.0).abs() < 0.06, "{gradient}");
    let curve = (-20..=20).map(|k| f64::from(k) / 20.0).map(|x| (x, theory(x)));
    let chart = Chart {
        x_axis: ("from the middle, half gaps", [-1.0, 1.0]),
        y_axis: ("velocity over the mean", [0.0, 2.0]),
        lines: vec![("Poiseuille", curve.collect())],
        points: vec![("computed", strips.iter().map(|s| (s[0], s[1])).collect())],
    };
    files.push(("fluid-plates.svg", chart.svg()));
}

#[test]
fn the_tables_agree_with_the_results() {
    let (mut results, mut files) = (HEAD.to_string(), Vec::new());
    describe_pool(&mut results, &mut files);
    describe_dam(&mut results, &mut files);
    describe_plates(&mut results, &mut files);
    files.iter().for_each(|(name, text)| _ = golden::bless(name, text));
    // Numbers have at most three decimals, the last of which may be rounded either way.
    golden::assert_agrees("fluid.md", &results, golden::within(0.0021));
}
