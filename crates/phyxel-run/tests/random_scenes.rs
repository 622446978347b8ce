//! Five hundred random valid scenes: no value stops being a number, nothing panics, no particle is lost.

use phyxel::step::{StageTimes, step};
use phyxel_scene::sample::SequentialRng;
use phyxel_scene::{BuildOptions, Scene};
use std::path::Path;

const SCENES: u64 = 500;

/// A number whose logarithm is spread evenly.
fn spread(random: &mut SequentialRng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(f64::from(random.uniform()))
}

fn pick<'a>(random: &mut SequentialRng, words: &[&'a str]) -> &'a str {
    words[random.below(words.len() as u64) as usize]
}

/// A shape of about this size, as a file writes it.
fn shape(random: &mut SequentialRng, size: f64) -> String {
    let [a, b, c] = [0, 1, 2].map(|_| size * f64::from(0.3 + random.uniform()));
    match random.below(7) {
        0 => format!("{{ kind = 'box', size = [{a:e}, {b:e}, {c:e}] }}"),
        1 => format!("{{ kind = 'sphere', radius = {a:e} }}"),
        2 => format!("{{ kind = 'ellipsoid', radii = [{a:e}, {b:e}, {c:e}] }}"),
        3 => format!("{{ kind = 'cylinder', radius = {a:e}, height = {b:e} }}"),
        4 => format!("{{ kind = 'capsule', radius = {a:e}, height = {b:e} }}"),
        5 => format!("{{ kind = 'torus', radius = {:e}, tube = {:e} }}", a + b, 0.5 * (a + b)),
        _ => format!("{{ kind = 'cone', radius = {a:e}, height = {b:e} }}"),
    }
}

fn body(random: &mut SequentialRng, number: u32, size: f64) -> String {
    let spacing = size * f64::from(0.25 + 0.5 * random.uniform());
    let at = [0, 1, 2].map(|_| size * f64::from(6.0 * random.uniform() - 3.0));
    let turn = [0, 1, 2].map(|_| 360.0 * random.uniform());
    let speed = spread(random, 1e-3, 1e2) * size;
    let clusters = [0, 1, 2].map(|_| 1 + random.below(3));
    let mut text = format!(
        "[[bodies]]\nname = 'body-{number}'\nmodel = 'shape'\nmaterial = 'matter'\nshape = {}\nspacing = {spacing:e}\n\
         sampler = '{}'\nplace = {{ at = [{:e}, {:e}, {:e}], turn = {turn:?} }}\nvelocity = [{speed:e}, {:e}, 0.0]\n\
         self_contact = {}\n[bodies.matching]\nmode = '{}'\nbeta = {}\nclusters = {clusters:?}\noverlap = {}\n\
         keep_volume = {}\n",
        shape(random, size),
        pick(random, &["lattice", "ccp", "poisson"]),
        at[0],
        at[1],
        at[2],
        -0.5 * speed,
        random.below(2) == 0,
        pick(random, &["rigid", "linear", "quadratic"]),
        random.uniform(),
        random.uniform(),
        random.below(2) == 0,
    );
    if random.below(2) == 0 {
        text += &format!("tau = {:e}\n", spread(random, 1e-7, 1e3));
    }
    if random.below(2) == 0 {
        text += &format!("damping_rate = {:e}\n", spread(random, 1e-3, 1e5));
    }
    text
}

/// A scene and the step it is run with, s.
fn scene(seed: u64) -> (String, f32) {
    let mut random = SequentialRng::new(seed);
    let size = spread(&mut random, 1e-4, 1e4);
    let gravity = spread(&mut random, 1e-3, 1e3);
    let mut text = format!(
        "version = 1\nduration = 1.0\nseed = {seed}\ngravity = [0.0, {:e}, 0.0]\n[materials.matter]\ndensity = {:e}\n\
         young_modulus = {:e}\ndamping = {}\nrestitution = {}\nfriction = {{ static = 0.9, kinetic = {} }}\n",
        -gravity,
        spread(&mut random, 1e-3, 1e5),
        spread(&mut random, 1.0, 1e12),
        random.uniform(),
        random.uniform(),
        0.9 * random.uniform(),
    );
    if random.below(2) == 0 {
        let creep = spread(&mut random, 1e-2, 1e4);
        text += &format!(
            "plasticity = {{ yield = {}, creep = {creep:e}, max = {} }}\n",
            0.2 * random.uniform(),
            random.uniform()
        );
    }
    for number in 0..1 + random.below(4) as u32 {
        text += &body(&mut random, number, size);
    }
    for number in 0..random.below(3) {
        let kind = if random.below(2) == 0 { "{ kind = 'plane' }".into() } else { shape(&mut random, 2.0 * size) };
        let below = -size * f64::from(4.0 * random.uniform());
        text += &format!(
            "[[obstacles]]\nname = 'obstacle-{number}'\nshape = {kind}\nplace = {{ at = [0.0, {below:e}, 0.0] }}\n\
             restitution = {}\nstickiness = {:e}\n",
            random.uniform(),
            spread(&mut random, 1e-3, 1e6),
        );
    }
    (text, spread(&mut random, 1e-8, 1e2) as f32)
}

/// Whether a scene was run; the reason if it failed.
fn survives(seed: u64) -> Result<bool, String> {
    let (text, dt) = scene(seed);
    let fail = |what: String| format!("seed {seed}, dt {dt:e}: {what}\n{text}");
    let scene = Scene::read(&text, "random.toml", Path::new(".")).map_err(|error| fail(error.to_string()))?;
    let options = BuildOptions { max_particles: 20_000, seed: None };
    let mut world = match scene.build(&options) {
        Ok(built) => built.world,
        // A shape may be too thin for its spacing: refused with a reason, which is no failure.
        Err(error) if error.to_string().contains("no sample") => return Ok(false),
        Err(error) => return Err(fail(error.to_string())),
    };
    let count = world.particles().len();
    for _ in 0..12 {
        step(&mut world, dt, &mut StageTimes::default()).map_err(|error| fail(error.to_string()))?;
    }
    let particles = world.particles();
    let finite = particles.position.iter().chain(&particles.velocity).all(|x| x.is_finite());
    match (finite, particles.len() == count) {
        (true, true) => Ok(true),
        (false, _) => Err(fail("a value is not a number".into())),
        (_, false) => Err(fail(format!("{count} particles became {}", particles.len()))),
    }
}

#[test]
fn five_hundred_random_scenes_stay_finite_and_lose_nothing() {
    let outcomes: Vec<Result<bool, String>> = (0..2 * SCENES).map(survives).collect();
    let failures: Vec<&String> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} scenes failed; the first:\n{}", failures.len(), failures[0]);
    let run = outcomes.iter().filter(|outcome| matches!(outcome, Ok(true))).count() as u64;
    assert!(run >= SCENES, "only {run} of the scenes had a particle");
}
