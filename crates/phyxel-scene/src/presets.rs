//! Material presets: textbook values, with their sources in `presets.toml`.

use crate::document::{Value, parse};
use crate::error::Problem;
use crate::read::{Problems, TableReader, read_material};
use phyxel::material::Material;
use std::sync::OnceLock;

const TEXT: &str = include_str!("presets.toml");

/// All presets, in the order of their file.
pub fn all() -> &'static [Material] {
    static PRESETS: OnceLock<Vec<Material>> = OnceLock::new();
    PRESETS.get_or_init(|| read_presets().0)
}

/// Names of all presets.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    all().iter().map(|material| material.name.as_str())
}

/// Returns the preset with a name.
pub fn material(name: &str) -> Option<Material> {
    all().iter().find(|material| material.name == name).cloned()
}

fn read_presets() -> (Vec<Material>, Vec<Problem>) {
    let table = match parse(TEXT) {
        Ok(table) => table,
        Err(problems) => return (Vec::new(), problems),
    };
    let problems = Problems::default();
    let read = |entry: &crate::document::Entry| {
        let Value::Table(table) = &entry.node.value else { return None };
        let reader = TableReader::nested(table, entry.key.clone(), entry.line, &problems);
        Some(read_material(reader, Material { name: entry.key.clone(), ..Material::default() }, &[]))
    };
    let materials = table.entries.iter().filter_map(read).collect();
    (materials, problems.take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_reads_without_a_problem() {
        let (materials, problems) = read_presets();
        assert_eq!(problems, []);
        assert_eq!(materials.len(), 15);
    }

    #[test]
    fn every_preset_is_taken_by_a_world() {
        let mut world = phyxel::World::new(phyxel::Settings::default()).unwrap();
        for preset in all() {
            world.add_material(preset.clone()).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn every_preset_says_how_dense_how_stiff_and_which_colour_it_is() {
        let table = parse(TEXT).unwrap();
        for entry in &table.entries {
            for key in ["density", "young_modulus", "poisson_ratio", "damping", "friction", "heat", "color"] {
                assert!(entry.node.child(key).is_some(), "{} says no {key}", entry.key);
            }
        }
    }

    #[test]
    fn what_melts_can_flow_and_has_no_stiffness_left() {
        for preset in all() {
            let Some(melting) = preset.heat.melting else { continue };
            assert!(preset.fluid.viscosity.at(0.0) > 0.0);
            let curve = &preset.young_modulus;
            assert!(curve.points().len() == 1 || curve.at(melting) == 0.0, "{}", preset.name);
        }
    }

    #[test]
    fn unknown_presets_are_none() {
        assert!(material("unobtainium").is_none());
        assert_eq!(material("steel").map(|steel| steel.density), Some(7850.0));
        assert_eq!(names().next(), Some("rubber"));
    }
}
