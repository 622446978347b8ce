//! Five hundred rng valid scenes: all values stay finite, nothing panics, no particle is lost.

use phyxel::step::{StageTimes, step};
use phyxel_scene::sample::SequentialRng;
use phyxel_scene::{BuildOptions, Scene};
use std::path::Path;

const SCENES: u64 = 500;

/// Log-uniform rng number.
fn log_uniform(rng: &mut SequentialRng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(f64::from(rng.uniform()))
}

fn pick<'a>(rng: &mut SequentialRng, words: &[&'a str]) -> &'a str {
    words[rng.below(words.len() as u64) as usize]
}

/// Random shape of about a size, in the syntax of scene files.
fn shape(rng: &mut SequentialRng, size: f64) -> String {
    let [a, b, c] = [0, 1, 2].map(|_| size * f64::from(0.3 + rng.uniform()));
    match rng.below(7) {
        0 => format!("{{ kind = 'box', size = [{a:e}, {b:e}, {c:e}] }}"),
        1 => format!("{{ kind = 'sphere', radius = {a:e} }}"),
        2 => format!("{{ kind = 'ellipsoid', radii = [{a:e}, {b:e}, {c:e}] }}"),
        3 => format!("{{ kind = 'cylinder', radius = {a:e}, height = {b:e} }}"),
        4 => format!("{{ kind = 'capsule', radius = {a:e}, height = {b:e} }}"),
        5 => format!("{{ kind = 'torus', radius = {:e}, tube = {:e} }}", a + b, 0.5 * (a + b)),
        _ => format!("{{ kind = 'cone', radius = {a:e}, height = {b:e} }}"),
    }
}

fn body(rng: &mut SequentialRng, number: u32, size: f64) -> String {
    let spacing = size * f64::from(0.25 + 0.5 * rng.uniform());
    let at = [0, 1, 2].map(|_| size * f64::from(6.0 * rng.uniform() - 3.0));
    let rotation = [0, 1, 2].map(|_| 360.0 * rng.uniform());
    let speed = log_uniform(rng, 1e-3, 1e2) * size;
    let clusters = [0, 1, 2].map(|_| 1 + rng.below(3));
    let mut text = format!(
        "[[bodies]]\nname = 'body-{number}'\nmodel = 'shape_matching'\nmaterial = 'matter'\nshape = {}\n\
         spacing = {spacing:e}\nsampler = '{}'\nplace = {{ at = [{:e}, {:e}, {:e}], turn = {rotation:?} }}\n\
         velocity = [{speed:e}, {:e}, 0.0]\n\
         self_contact = {}\n[bodies.shape_matching]\nmode = '{}'\nbeta = {}\nclusters = {clusters:?}\noverlap = {}\n\
         keep_volume = {}\n",
        shape(rng, size),
        pick(rng, &["lattice", "ccp", "poisson"]),
        at[0],
        at[1],
        at[2],
        -0.5 * speed,
        rng.below(2) == 0,
        pick(rng, &["rigid", "linear", "quadratic"]),
        rng.uniform(),
        rng.uniform(),
        rng.below(2) == 0,
    );
    if rng.below(2) == 0 {
        text += &format!("tau = {:e}\n", log_uniform(rng, 1e-7, 1e3));
    }
    if rng.below(2) == 0 {
        text += &format!("damping_rate = {:e}\n", log_uniform(rng, 1e-3, 1e5));
    }
    text
}

/// Random scene and time step, s.
fn scene(seed: u64) -> (String, f32) {
    let mut rng = SequentialRng::new(seed);
    let size = log_uniform(&mut rng, 1e-4, 1e4);
    let gravity = log_uniform(&mut rng, 1e-3, 1e3);
    let mut text = format!(
        "version = 1\nduration = 1.0\nseed = {seed}\ngravity = [0.0, {:e}, 0.0]\n[materials.matter]\ndensity = {:e}\n\
         young_modulus = {:e}\ndamping = {}\nrestitution = {}\nfriction = {{ static = 0.9, kinetic = {} }}\n",
        -gravity,
        log_uniform(&mut rng, 1e-3, 1e5),
        log_uniform(&mut rng, 1.0, 1e12),
        rng.uniform(),
        rng.uniform(),
        0.9 * rng.uniform(),
    );
    if rng.below(2) == 0 {
        let creep = log_uniform(&mut rng, 1e-2, 1e4);
        text += &format!(
            "plasticity = {{ yield = {}, creep = {creep:e}, max = {} }}\n",
            0.2 * rng.uniform(),
            rng.uniform()
        );
    }
    for number in 0..1 + rng.below(4) as u32 {
        text += &body(&mut rng, number, size);
    }
    for number in 0..rng.below(3) {
        let kind = if rng.below(2) == 0 { "{ kind = 'plane' }".into() } else { shape(&mut rng, 2.0 * size) };
        let below = -size * f64::from(4.0 * rng.uniform());
        text += &format!(
            "[[obstacles]]\nname = 'obstacle-{number}'\nshape = {kind}\nplace = {{ at = [0.0, {below:e}, 0.0] }}\n\
             restitution = {}\nadhesion = {:e}\n",
            rng.uniform(),
            log_uniform(&mut rng, 1e-3, 1e6),
        );
    }
    (text, log_uniform(&mut rng, 1e-8, 1e2) as f32)
}

/// Runs a scene; returns false if it has no particle, and an error if it failed.
fn run_scene(seed: u64) -> Result<bool, String> {
    let (text, dt) = scene(seed);
    let failure = |what: String| format!("seed {seed}, dt {dt:e}: {what}\n{text}");
    let scene = Scene::read(&text, "random.toml", Path::new(".")).map_err(|error| failure(error.to_string()))?;
    let options = BuildOptions { max_particles: 20_000, seed: None };
    let mut world = match scene.build(&options) {
        Ok(built) => built.world,
        // A shape may be too thin for its spacing, which is refused and no failure.
        Err(error) if error.to_string().contains("no sample") => return Ok(false),
        Err(error) => return Err(failure(error.to_string())),
    };
    let count = world.particles().len();
    for _ in 0..12 {
        step(&mut world, dt, &mut StageTimes::default()).map_err(|error| failure(error.to_string()))?;
    }
    let particles = world.particles();
    let finite = particles.position.iter().chain(&particles.velocity).all(|x| x.is_finite());
    match (finite, particles.len() == count) {
        (true, true) => Ok(true),
        (false, _) => Err(failure("a value is not finite".into())),
        (_, false) => Err(failure(format!("{count} particles became {}", particles.len()))),
    }
}

#[test]
fn five_hundred_random_scenes_stay_finite_and_keep_their_particles() {
    let outcomes: Vec<Result<bool, String>> = (0..2 * SCENES).map(run_scene).collect();
    let failures: Vec<&String> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} scenes failed; the first:\n{}", failures.len(), failures[0]);
    let run = outcomes.iter().filter(|outcome| matches!(outcome, Ok(true))).count() as u64;
    assert!(run >= SCENES, "only {run} of the scenes had a particle");
}
