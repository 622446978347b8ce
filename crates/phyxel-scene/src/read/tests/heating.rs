//! Heatings in files: valid ones are read, invalid ones are reported.

use super::{body_problems, material_problems, problems, read};
use crate::scene::Action;
use crate::{BuildOptions, Scene};
use glam::Vec3;
use phyxel::commands::{Region, Setting, Target};
use phyxel::heating::{Exchange, Radiation};

const EXAMPLE: &str = "version = 1
duration = 1.0
absolute_zero = 0.0
[materials.grain]
heat = { conductivity = [8.0, 0.5, 1.0] }
[[bodies]]
name = 'bar'
model = 'shape_matching'
material = 'grain'
spacing = 0.1
shape = { kind = 'box', size = [1, 0.2, 0.2] }
copies = { stack = 2, step = 1 }
[[obstacles]]
name = 'pan'
shape = { kind = 'plane' }
place = { at = [0, -3, 0] }
temperature = 400
heat_capacity = 1200
[[heating]]
name = 'torch'
target = 'bar'
region = { kind = 'box', size = [0.15, 1, 1], at = [-0.5, 0, 0] }
facing = [-2, 0, 0]
from = 0.25
until = 0.75
flux = 5000
[[heating]]
name = 'air'
target = 'bar'
active = false
temperature = 300
exchange = { coefficient = 25, ambient = 293 }
radiation = { emissivity = 0.9, ambient = 293 }
power = 1e4
[[events]]
at = 0.5
target = 'air'
set = { active = true, flux = 7, power = 0, exchange = false, radiation = { emissivity = 0.5, ambient = 0 }, \
temperature = 310 }
";

fn example() -> Scene {
    read(EXAMPLE).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn heatings_are_read_to_the_last_key() {
    let scene = example();
    assert_eq!(scene.absolute_zero, Some(0.0));
    assert_eq!(scene.materials[0].heat.conductivity, Vec3::new(8.0, 0.5, 1.0));
    assert_eq!(scene.obstacles[0].heat_capacity, Some(1200.0));
    let [torch, air] = &scene.heatings[..] else { panic!("two heatings") };
    assert_eq!((torch.body.as_str(), air.body.as_str()), ("bar", "bar"));
    let (torch, air) = (&torch.heating, &air.heating);
    assert_eq!((torch.name.as_str(), torch.flux), ("torch", 5000.0));
    assert_eq!((torch.from, torch.until, torch.active, torch.temperature), (0.25, Some(0.75), true, None));
    assert_eq!((torch.facing, air.facing), (Some(Vec3::NEG_X), None));
    assert_eq!((air.active, air.temperature, air.power), (false, Some(300.0), 1.0e4));
    assert_eq!(air.exchange, Some(Exchange { coefficient: 25.0, ambient: 293.0 }));
    assert_eq!(air.radiation, Some(Radiation { emissivity: 0.9, ambient: 293.0 }));
    let Action::Set(settings) = &scene.events[0].action else { panic!("a setting") };
    let named = |setting: Setting| (Target::Heating("air".into()), setting);
    let radiation = Some(Radiation { emissivity: 0.5, ambient: 0.0 });
    for setting in [
        Setting::Temperature(310.0),
        Setting::Active(true),
        Setting::Flux(7.0),
        Setting::Power(0.0),
        Setting::Exchange(None),
        Setting::Radiation(radiation),
    ] {
        assert!(settings.contains(&named(setting.clone())), "{setting:?}");
    }
}

#[test]
fn a_heating_means_all_copies_and_the_particles_of_its_region() {
    let built = example().build(&BuildOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(built.warnings, [] as [&str; 0]);
    let torch = &built.world.heatings()[0];
    assert_eq!(torch.bodies, ["bar-1", "bar-2"]);
    // The end layer of two by two particles.
    assert!(matches!(&torch.region, Region::Ids(samples) if samples.len() == 4));
    assert_eq!(built.world.heatings()[1].region, Region::All);
    assert_eq!(built.world.settings().absolute_zero, 0.0);
    let far = EXAMPLE.replace("at = [-0.5, 0, 0]", "at = [-5, 0, 0]");
    let built = read(&far).unwrap().build(&BuildOptions::default()).unwrap();
    assert_eq!(
        built.warnings,
        ["heating \"torch\": no particle of body \"bar\" lies in its region, which is in the body's own frame"]
    );
}

#[test]
fn heatings_that_make_no_sense_are_refused() {
    let heating = |lines: &str| body_problems(&format!("[[heating]]\nname = 'torch'\n{lines}"));
    for (lines, message) in [
        (
            "target = 'goop'",
            "9: heating[0] \"torch\": says nothing of the heat; give \"temperature\" (to keep it at), \"flux\" \
             (W/m2), \"exchange\", \"radiation\" or \"power\" (W/m3)",
        ),
        ("flux = 1", "9: heating[0] \"torch\": \"target\" is missing; it must be the name of a body"),
        ("target = 'wax'\nflux = 1", "11: heating[0] \"torch\".target: there is no body \"wax\" (known: goop)"),
        (
            "target = 'goop'\nflx = 1\npower = 1",
            "12: heating[0] \"torch\": unknown key \"flx\"; did you mean \"flux\"?",
        ),
        (
            "target = 'goop'\nflux = 1\nfrom = 2\nuntil = 1",
            "9: heating[0] \"torch\": ends at until = 1 s, but begins at from = 2 s; it must end later",
        ),
        (
            "target = 'goop'\nexchange = { coefficient = -1, ambient = 3 }",
            "12: heating[0] \"torch\".exchange.coefficient: is -1, but must be zero or positive (W/(m2 K))",
        ),
        (
            "target = 'goop'\nexchange = { coefficient = 1 }",
            "12: heating[0] \"torch\".exchange: \"ambient\" is missing; it must be a number (temperature)",
        ),
        (
            "target = 'goop'\nradiation = { emissivity = 1.5, ambient = 0 }",
            "12: heating[0] \"torch\".radiation.emissivity: is 1.5, but must be from 0 to 1",
        ),
        (
            "target = 'goop'\nradiation = { emissivity = 0.5, ambient = -300 }",
            "12: heating[0] \"torch\".radiation: has ambient = -300 below absolute zero, -273.15 in the scene's \
             scale; change it or \"absolute_zero\"",
        ),
        (
            "target = 'goop'\nflux = 1\nfacing = [0, 0, 0]",
            "13: heating[0] \"torch\".facing: is [0, 0, 0], but must have a length other than zero",
        ),
        ("target = 'goop'\npower = inf", "12: heating[0] \"torch\".power: is inf, but must be finite (W/m3)"),
    ] {
        assert_eq!(heating(lines), [format!("scenes/x.toml:{message}")]);
    }
    assert_eq!(
        body_problems("[[heating]]\nname = 'goop'\ntarget = 'goop'\nflux = 1"),
        ["scenes/x.toml:9: heating[0] \"goop\": has the name of bodies[0] \"goop\"; give each a name of its own"]
    );
    assert_eq!(
        heating("target = 'goop'\nflux = 1\n[[events]]\nat = 1\ntarget = 'torch'\nset = { velocity = [0, 0, 0] }"),
        ["scenes/x.toml:16: events[0].set: unknown key \"velocity\"; known keys: temperature, active, flux, \
          exchange, radiation, power"]
    );
}

#[test]
fn obstacles_with_a_heat_capacity_need_a_temperature() {
    let pan = |line: &str| problems(&format!("[[obstacles]]\nname = 'pan'\nshape = {{ kind = 'plane' }}\n{line}"));
    assert_eq!(
        pan("heat_capacity = 5"),
        ["scenes/x.toml:3: obstacles[0] \"pan\": has a heat_capacity without a temperature; say how warm it is at \
          the start"]
    );
    assert_eq!(
        pan("temperature = 1\nheat_capacity = 0"),
        ["scenes/x.toml:7: obstacles[0] \"pan\".heat_capacity: is 0, but must be positive (J/K)"]
    );
}

#[test]
fn heat_that_matter_cannot_have_is_refused() {
    for (line, message) in [
        ("heat = { conductivity = -1 }", "heat.conductivity: is -1, but must be zero or positive (W/(m K))"),
        ("heat = { conductivity = [1, -2, 1] }", "heat.conductivity[1]: is -2, but must be zero or positive (W/(m K))"),
        (
            "heat = { conductivity = [1, 2] }",
            "heat.conductivity: is a list of 2, but must be a list of three numbers (W/(m K))",
        ),
        ("heat = { specific_heat = 0 }", "heat.specific_heat: is 0, but must be positive (J/(kg K))"),
        ("heat = { specific_heat = -4 }", "heat.specific_heat: is -4, but must be positive (J/(kg K))"),
        ("heat = { latent = -5, melting = 3 }", "heat.latent: is -5, but must be zero or positive (J/kg)"),
        ("heat = { softening = 9, boiling = 9 }", "heat: has boiling = 9, but it must be above softening = 9"),
        ("young_modulus = [[5, 1], [4, 2]]", "young_modulus[1]: has temperature 4 after 5, but temperatures must rise"),
    ] {
        assert_eq!(material_problems(line), [format!("scenes/x.toml:4: materials.goop.{message}")]);
    }
}
