//! Settings of mass-spring lattices: valid ones are read, invalid ones are reported.

use super::{problems, read};
use crate::scene::ModelDescription;
use phyxel::model::mass_spring::Summation;

/// A body of springs with more lines.
fn mass_spring_problems(lines: &str) -> Vec<String> {
    problems(&format!(
        "[[bodies]]\nname = 'a'\nmodel = 'mass_spring'\nmaterial = 'wax'\nspacing = 1\n\
         shape = {{ kind = 'sphere', radius = 4 }}\n{lines}"
    ))
}

#[test]
fn settings_of_springs_are_read() {
    let text = "version = 1\nduration = 1\n[[bodies]]\nname = 'a'\nmodel = 'mass_spring'\nmaterial = 'wax'\n\
        spacing = 1\n\
        shape = { kind = 'sphere', radius = 4 }\n\
        mass_spring = { cell = [1, 1.1, 0.9], weights = [2, 1, 1], refreeze = true, \
        diagonal_conductivity = 3, molecules = { exponents = [2, 4], attraction = 1, repulsion = 1e4, summation = \
        'tree', \
        opening_angle = 0.7, cutoff = 4 }, gas = { lift = 1.5 } }";
    let scene = read(text).unwrap();
    let ModelDescription::MassSpring { cell, settings } = &scene.bodies[0].model else { panic!() };
    assert_eq!((*cell, settings.weights, settings.refreeze), (Some([1.0, 1.1, 0.9]), [2.0, 1.0, 1.0], true));
    let molecules = settings.molecules;
    assert_eq!((molecules.exponents, molecules.strengths, molecules.cutoff), ([2.0, 4.0], Some([1.0, 1.0e4]), 4.0));
    assert_eq!(molecules.summation, Summation::Tree { opening_angle: 0.7 });
    assert_eq!((settings.gas.lift, settings.gas.repulsion), (1.5, 2.0));
    assert_eq!(mass_spring_problems(""), [""; 0]);
}

#[test]
fn wrong_settings_of_springs_are_named() {
    let start = "scenes/x.toml:9: bodies[0] \"a\"";
    for (lines, problem) in [
        (
            "shape_matching = {}",
            ".shape_matching: holds settings of the model \"shape_matching\", which this body does not use",
        ),
        ("sampler = 'ccp'", ".sampler: is \"ccp\", but a body of springs is a lattice; leave the sampler out"),
        ("mass_spring = { cell = [2, 1, 1] }", ".mass_spring.cell: is [2, 1, 1], too far from a cube"),
        (
            "mass_spring = { cell = [1, 1] }",
            ".mass_spring.cell: is a list of 2, but must be a list of three numbers (m)",
        ),
        (
            "mass_spring = { molecules = { exponents = [4, 2] } }",
            "exponents: is [4, 2], but the repulsion must have the larger",
        ),
        ("mass_spring = { molecules = { attraction = 1 } }", "has one of \"attraction\" and \"repulsion\"; give both"),
        (
            "mass_spring = { molecules = { opening_angle = 0.5 } }",
            "has \"opening_angle\", which only summation = \"tree\" uses",
        ),
        ("mass_spring = { gas = 3 }", ".mass_spring.gas: is the number 3, but must be a table"),
        ("skin = { kind = 'mesh' }", ".skin: is a mesh, which a body of the model \"mass_spring\" cannot carry"),
    ] {
        let found = mass_spring_problems(lines);
        assert!(found.len() == 1 && found[0].starts_with(start) && found[0].contains(problem), "{lines}: {found:?}");
    }
}
