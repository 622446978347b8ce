//! Fluids against theory and experiment, and `validation/fluid.md`, which says what is found.
//!
//! With `PHYXEL_BLESS=1` it is written anew, with its charts; otherwise what the tests find must be what it says.

use crate::chart::Chart;
use crate::common::{DOWN, run, world};
use crate::flow::{DISTANCE, liquid, plain};
use crate::fluid::{frames, placed, pool, tank};
use crate::{fluid, slope_of};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::{BodyId, Pose};
use phyxel::material::Friction;
use phyxel::obstacle::{Geometry, Key, Obstacle};
use std::fmt::Write;
use std::path::Path;

/// Numbers have three digits after the point at most; they are the same on every machine but for the last.
const ROUNDING: f64 = 0.0021;

/// Collapse of a column twice as high as wide: time over `sqrt(a/2g)` and front over `a`, table 2 of `[MM52]`.
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

Written by a test, which fails when what it finds is no longer what stands here. To write it anew:

```
PHYXEL_BLESS=1 cargo nextest run -p phyxel --test crystal table
```
";

fn wall(world: &mut World, name: &str, normal: Vec3, at: Vec3, friction: Friction) {
    let pose = Pose { at, turn: Quat::IDENTITY };
    let obstacle = Obstacle { friction, ..Obstacle::new(name, Geometry::HalfSpace { normal }, pose) };
    world.add_obstacle(obstacle).unwrap();
}

/// Fluid between plates, between walls that it slips along, pushed along x by a piston, against its own weight: so it stays together.
fn channel(viscosity: f32, speed: f32, half: f32, length: f32, weight: f32) -> World {
    let layer = DISTANCE / 2.0f32.sqrt();
    let mut world = world(liquid(viscosity, 0.0), Vec3::NEG_X * weight);
    let side = 3.5 * layer;
    wall(&mut world, "below", Vec3::Y, Vec3::Y * -half, Friction::default());
    wall(&mut world, "above", Vec3::NEG_Y, Vec3::Y * half, Friction::default());
    wall(&mut world, "back", Vec3::Z, Vec3::Z * -side, Friction::NONE);
    wall(&mut world, "front", Vec3::NEG_Z, Vec3::Z * side, Friction::NONE);
    let at = |time: f64| {
        let at = Vec3::X * (-0.5 * length - 0.5 * layer + speed * time as f32);
        Key { time, pose: Pose { at, turn: Quat::IDENTITY } }
    };
    let piston = Obstacle::new("piston", Geometry::HalfSpace { normal: Vec3::X }, Pose::default());
    world.add_obstacle(Obstacle { keys: vec![at(0.0), at(100.0)], friction: Friction::NONE, ..piston }).unwrap();
    let size = Vec3::new(length, 2.0 * half - layer, 2.0 * side - layer);
    world.add_body(plain(fluid("oil", size, DISTANCE))).unwrap();
    world
}

/// Heights (m) over the floor of a still pool with mean pressures (Pa), and the height of the pool (m).
fn pressures_of_pool() -> (Vec<(f64, f64)>, f64) {
    let mut world = pool();
    frames(&mut world, 90);
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
    let height = world.particles().len() as f64 * f64::from(DISTANCE).powi(3) / 2.0f64.sqrt() / 0.36;
    (strips.iter().filter(|strip| strip[2] > 0.0).map(|s| (s[0] / s[2], s[1] / s[2])).collect(), height)
}

/// Where the front of a collapsing column is, at many times; both without unit as `[MM52]` has them.
fn front_of_dam() -> Vec<(f64, f64)> {
    let (width, layer) = (0.2f32, 0.2f32 / 15.0);
    let mut world = world(liquid(0.001, 0.072), DOWN);
    tank(&mut world, 2.0, width);
    let size = Vec3::new(width - layer, 29.0 * layer, width - layer);
    let at = Vec3::new(-1.0 + 0.5 * width, 14.5 * layer, 0.0);
    world.add_body(placed(fluid("water", size, layer * 2.0f32.sqrt()), at)).unwrap();
    let scale = (2.0 * 9.81 / f64::from(width)).sqrt();
    let mut front = Vec::new();
    while world.time() * scale < 3.5 {
        let farthest = world.particles().position.iter().map(|x| x.x).fold(f32::NEG_INFINITY, f32::max);
        front.push((world.time() * scale, f64::from((farthest + 0.5 * layer + 1.0) / width)));
        run(&mut world, 0.00125, 4);
    }
    front
}

fn at(line: &[(f64, f64)], x: f64) -> f64 {
    let after = line.partition_point(|(a, _)| *a <= x).clamp(1, line.len() - 1);
    let [(x0, y0), (x1, y1)] = [line[after - 1], line[after]];
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

/// Flow between plates: strips with the distance from the middle over half the gap, velocity over the mean, and how many there are; and
/// the push it takes over what Poiseuille says.
fn flow_between_plates() -> (Vec<[f64; 3]>, f64) {
    let (viscosity, speed, weight) = (200.0f32, 0.05f32, 0.2f32);
    let half = 7.5 * DISTANCE / 2.0f32.sqrt();
    let mut world = channel(viscosity, speed, half, 1.2, weight);
    // The slowest part of the start fades by exp(-pi^2/4 nu t/d^2), in 0.14 s; that the front rolls over its own width takes longer.
    let dt = 0.002;
    run(&mut world, dt, 1000);
    let (mut fall, rounds) = (0.0, 600);
    let mut strips = [[0.0f64; 3]; 15];
    for _ in 0..rounds {
        run(&mut world, dt, 4);
        let (pressures, particles) = (world.pressures(BodyId(0)), world.particles());
        let middle = particles.position.iter().map(|x| x.x).sum::<f32>() / particles.len() as f32;
        let inside = |x: &Vec3| (x.x - middle).abs() < 0.3;
        for (x, v) in particles.position.iter().zip(&particles.velocity).filter(|(x, _)| inside(x)) {
            let across = x.y / half;
            let strip = &mut strips[((across + 1.0) * 7.5).clamp(0.0, 14.0) as usize];
            *strip = [strip[0] + f64::from(across), strip[1] + f64::from(v.x / speed), strip[2] + 1.0];
        }
        let there = particles.position.iter().zip(&pressures).filter(|(x, _)| inside(x) && x.y.abs() < 0.7 * half);
        fall -= slope_of(there.map(|(x, p)| (f64::from(x.x), f64::from(*p)))) / f64::from(rounds);
    }
    assert!(world.crystal_model().unwrap().viscosity_rounds() > 1, "such a viscosity is implicit");
    let expected = f64::from(3.0 * viscosity * speed / (half * half));
    let found = strips.iter().filter(|s| s[2] > 0.0).map(|s| [s[0] / s[2], s[1] / s[2], s[2]]).collect();
    (found, (fall - f64::from(1000.0 * weight)) / expected)
}

fn describe_pool(text: &mut String, files: &mut Vec<(&'static str, String)>) {
    let (found, height) = pressures_of_pool();
    let theory = |y: f64| 9810.0 * (height - y);
    text.push_str(
        "\n## A still pool\n\nWater 0.69 m deep in a tank 0.6 m wide, spacing 0.05 m, after 3 s: the pressure of particles at least two spacings \
         from the walls, over their height, mean of half a second. Expected is that of the weight above. In the lowest and the top \
         strip particles have fewer neighbours to pass pressure on to.\n\n![pressure over height](fluid-pool.svg)\n\n| height, m | expected, kPa | found, kPa |\n|---|---|---|\n",
    );
    for &(y, p) in &found {
        let _ = writeln!(text, "| {y:.3} | {:.3} | {:.3} |", theory(y) / 1000.0, p / 1000.0);
    }
    let inside = found.iter().copied().filter(|(y, _)| *y > 0.1 && *y < 0.7);
    let fall = -slope_of(inside) / 9810.0;
    let _ = writeln!(text, "\nThe fall of pressure with height is {fall:.3} of the weight.");
    assert!((fall - 1.0).abs() < 0.02, "{fall}");
    let chart = Chart {
        along: ("height, m", [0.0, 1.0]),
        up: ("pressure, kPa", [0.0, 10.0]),
        lines: vec![("weight above", vec![(0.0, theory(0.0) / 1000.0), (height, 0.0)])],
        points: vec![("found", found.iter().map(|(y, p)| (*y, p / 1000.0)).collect())],
    };
    files.push(("fluid-pool.svg", chart.svg()));
}

fn describe_dam(text: &mut String, files: &mut Vec<(&'static str, String)>) {
    let front = front_of_dam();
    text.push_str(
        "\n## A breaking dam\n\nA column twice as high as wide collapses, 15 layers wide. Front over width `Z` at the times `T = t sqrt(2g/a)`, beside table 2 \
         of Martin and Moyce [MM52]. What is found has their speed and is ahead by 0.2 in `T`; the difference arises before `T = 1.2`, and stays. \
         They had a diaphragm to remove first. The scatter of their points is about 0.1, so that it does not explain all of it.\n\n\
         ![front over time](fluid-dam.svg)\n\n| T | measured Z | found Z | found Z at T - 0.2 |\n|---|---|---|---|\n",
    );
    let (mut squares, mut count) = (0.0, 0.0);
    for (time, measured) in MEASURED {
        let (now, before) = (at(&front, time), at(&front, time - 0.2));
        let _ = writeln!(text, "| {time:.2} | {measured:.2} | {now:.2} | {before:.2} |");
        if time > 1.0 {
            (squares, count) = (squares + (before - measured).powi(2), count + 1.0);
        }
    }
    let off = f64::sqrt(squares / count);
    let _ = writeln!(
        text,
        "\nThe root of the mean square of what is found 0.2 earlier less what is measured is {off:.2} from `T = 1` on."
    );
    assert!(off < 0.1, "{off} from those that are measured, 0.2 later");
    let chart = Chart {
        along: ("T = t sqrt(2g/a)", [0.0, 3.5]),
        up: ("Z = x/a", [0.5, 5.0]),
        lines: vec![
            ("found", front.clone()),
            ("found, 0.2 later", front.iter().map(|(t, z)| (t + 0.2, *z)).filter(|(t, _)| *t < 3.5).collect()),
        ],
        points: vec![("Martin and Moyce 1952", MEASURED.to_vec())],
    };
    files.push(("fluid-dam.svg", chart.svg()));
}

fn describe_plates(text: &mut String, files: &mut Vec<(&'static str, String)>) {
    let (strips, push) = flow_between_plates();
    let theory = |across: f64| 1.5 * (1.0 - across * across);
    text.push_str(
        "\n## Flow between plates\n\nA piston pushes fluid of 200 Pa s between plates 15 layers apart, between walls that it slips along, at a mean of 0.05 m/s. Velocities \
         far from its ends, over the mean, beside Poiseuille's, in strips along the plates, mean of 4.8 s.\n\n![velocity across the gap](fluid-plates.svg)\n\n\
         | from the middle, half gaps | expected | found |\n|---|---|---|\n",
    );
    for &[across, found, _] in &strips {
        let _ = writeln!(text, "| {across:+.2} | {:.2} | {found:.2} |", theory(across));
    }
    let square: f64 = strips.iter().map(|&[across, found, count]| count * (found - theory(across)).powi(2)).sum();
    let off = (square / strips.iter().map(|strip| strip[2]).sum::<f64>()).sqrt() / 1.5;
    let _ = writeln!(
        text,
        "\nThey are off by {off:.3} of the fastest (root of the mean square). The push that it takes is {push:.2} of Poiseuille's."
    );
    assert!(off < 0.03, "velocities are off by {off} of the fastest");
    // Where exactly fluid starts to move along a wall is known to a tenth of a particle distance, which is 3 (0.1 D)/d of the push.
    assert!((push - 1.0).abs() < 0.06, "{push}");
    let curve = (-20..=20).map(|k| f64::from(k) / 20.0).map(|x| (x, theory(x)));
    let chart = Chart {
        along: ("from the middle, half gaps", [-1.0, 1.0]),
        up: ("velocity over the mean", [0.0, 2.0]),
        lines: vec![("Poiseuille", curve.collect())],
        points: vec![("found", strips.iter().map(|s| (s[0], s[1])).collect())],
    };
    files.push(("fluid-plates.svg", chart.svg()));
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(['|', ' ', '\n']).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn table_says_what_is_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation");
    let (mut found, mut files) = (HEAD.to_string(), Vec::new());
    describe_pool(&mut found, &mut files);
    describe_dam(&mut found, &mut files);
    describe_plates(&mut found, &mut files);
    if std::env::var_os("PHYXEL_BLESS").is_some() {
        std::fs::write(folder.join("fluid.md"), found).unwrap();
        files.into_iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        return;
    }
    let there = std::fs::read_to_string(folder.join("fluid.md")).unwrap_or_default();
    let (found_numbers, there_numbers) = (numbers(&found), numbers(&there));
    let same = found_numbers.len() == there_numbers.len()
        && found_numbers.iter().zip(&there_numbers).all(|(a, b)| (a - b).abs() <= ROUNDING);
    assert!(same, "validation/fluid.md says\n{there}\nbut found is\n{found}");
}
