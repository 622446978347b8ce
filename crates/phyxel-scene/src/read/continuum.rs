//! Settings of a body of phyxels.

use super::cursor::Field;
use super::quantity::Quantity;
use crate::scene::ModelDescription;
use phyxel::model::ContinuumSettings;
use phyxel::model::continuum::{Integration, is_stable};

/// Reads the table `continuum` of a body.
pub(super) fn read_continuum(field: &Field) -> Option<ModelDescription> {
    let usual = ContinuumSettings::default();
    let mut reader = field.table()?;
    let support = reader.number("support", Quantity::between(1.2, 4.0, "mean distances of neighbours"));
    let hourglass = reader.number("hourglass", Quantity::not_negative("of Young's modulus"));
    let volume = reader.number("volume", Quantity::not_negative("of Young's modulus"));
    let stiffness = reader.field("stiffness").and_then(|field| read_stiffness(&field));
    let deviatoric = reader.flag("deviatoric");
    let flowing = reader.flag("flowing");
    let integration = reader.field("integration").and_then(|field| field.choice("way to integrate", &Integration::ALL));
    reader.finish();
    Some(ModelDescription::Continuum(Box::new(ContinuumSettings {
        support: support.unwrap_or(usual.support),
        hourglass: hourglass.unwrap_or(usual.hourglass),
        volume: volume.unwrap_or(usual.volume),
        stiffness: stiffness.map(Box::new),
        deviatoric: deviatoric.unwrap_or(usual.deviatoric),
        flowing: flowing.unwrap_or(usual.flowing),
        integration: integration.unwrap_or(usual.integration),
    })))
}

/// Six rows of six numbers, Pa, for a material that takes work for every strain.
pub(super) fn read_stiffness(field: &Field) -> Option<[[f32; 6]; 6]> {
    let rows = field.items()?;
    let mut matrix = [[0.0; 6]; 6];
    let shape = "but must be six rows of six numbers (Pa): stresses xx, yy, zz, yz, xz, xy from three stretches and three shears";
    if rows.len() != 6 {
        field.object(format!("is a list of {}, {shape}", rows.len()));
        return None;
    }
    for (row, values) in rows.iter().zip(&mut matrix) {
        let items = row.items()?;
        if items.len() != 6 {
            row.object(format!("is a list of {}, {shape}", items.len()));
            return None;
        }
        for (item, value) in items.iter().zip(values) {
            *value = item.number(Quantity::any("Pa"))? as f32;
        }
    }
    if !is_stable(&matrix) {
        field.object(
            "is not symmetric with positive eigenvalues only: some strain would take no work or give it away; for an isotropic material leave it out and give young_modulus and poisson_ratio".to_string(),
        );
        return None;
    }
    Some(matrix)
}
