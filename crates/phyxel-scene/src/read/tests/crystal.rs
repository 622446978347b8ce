//! Settings of crystals and fluids: valid ones are read, invalid ones are reported.

use super::problems;
use crate::{BuildOptions, Scene};
use phyxel::model::ModelKind;
use phyxel::store::Phase;
use std::path::Path;

/// A crystal with more lines.
fn scene(lines: &str) -> String {
    scene_of("crystal", lines)
}

fn scene_of(model: &str, lines: &str) -> String {
    format!(
        "\n[materials.m]\nyoung_modulus = 1e5\n[[bodies]]\nname = \"a\"\nmodel = \"{model}\"\nmaterial = \"m\"\n\
         shape = {{ kind = \"box\", size = [0.4, 0.4, 0.4] }}\nspacing = 0.1\n{lines}\n"
    )
}

#[test]
fn wrong_settings_of_crystals_are_named() {
    for lines in
        ["crystal = { support = 1.5 }\nfluid = { smoothing = 0 }", "crystal = { docking = { rate = 50, decay = 200 } }"]
    {
        for model in ["crystal", "fluid"] {
            assert_eq!(problems(&scene_of(model, lines)), Vec::<String>::new());
        }
    }
    for (lines, expected) in [
        ("crystal = { support = 3 }", ".crystal.support: is 3"),
        ("fluid = { smoothing = -1 }", ".fluid.smoothing: is -1"),
        ("crystal = { smoothing = 1 }", ".crystal: unknown key \"smoothing\""),
        ("crystal = { phase = \"fluid\" }", ".crystal: unknown key \"phase\""),
        ("crystal = { change = { melting = -2 } }", ".crystal.change.melting: is -2"),
        ("crystal = { change = { freezing = -2 } }", ".crystal.change.freezing: is -2"),
        ("crystal = { change = { rate = 2 } }", ".crystal.change: unknown key \"rate\""),
        ("crystal = { docking = { rate = 0 } }", ".crystal.docking.rate: is 0"),
        ("crystal = { docking = { decay = -1 } }", ".crystal.docking.decay: is -1"),
        ("crystal = { docking = { change = 1 } }", ".crystal.docking: unknown key \"change\""),
        ("crystal = { change = { fewest = 1 } }", ".crystal.change: unknown key \"fewest\""),
        ("continuum = { flowing = true }", ".continuum: holds settings of the model \"continuum\""),
        ("skin = { kind = \"mesh\" }", ".skin: is a mesh, which a body of the model \"crystal\" cannot carry"),
        ("skin = { kind = \"surfels\" }", ".skin: is \"surfels\", which only the model \"continuum\" carries"),
    ] {
        let found = problems(&scene(lines));
        assert!(found.len() == 1 && found[0].contains(expected), "{lines}: {found:?}");
    }
}

fn built(model: &str, lines: &str) -> Result<phyxel::World, String> {
    let text = format!("version = 1\nduration = 1\n{}", scene_of(model, lines));
    let scene = Scene::read(&text, "x.toml", Path::new(".")).map_err(|error| error.to_string())?;
    let built = scene.build(&BuildOptions::default()).map_err(|error| error.to_string())?;
    Ok(built.world)
}

#[test]
fn crystals_are_closest_packings_and_fluids_may_be_anything() -> Result<(), String> {
    let world = built("crystal", "")?;
    assert_eq!(world.bodies()[0].model, ModelKind::Crystal);
    assert!(world.particles().phase.iter().all(|&phase| phase == Phase::Solid));
    // Five layers of half of 5 x 5 sites each, and one in the middle: 63 of 125.
    assert_eq!(world.particles().len(), 63);
    let error = built("crystal", "sampler = \"lattice\"").unwrap_err();
    assert!(error.contains("body \"a\"") && error.contains("sampler = \"ccp\""), "{error}");
    for sampler in ["lattice", "poisson", "ccp"] {
        let world = built("fluid", &format!("sampler = \"{sampler}\""))?;
        assert!(world.particles().phase.iter().all(|&phase| phase == Phase::Fluid));
    }
    Ok(())
}
