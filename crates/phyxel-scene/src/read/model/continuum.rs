//! Settings of the point-based continuum in files.

use crate::read::cursor::Field;
use crate::read::quantity::Quantity;
use crate::scene::ModelDescription;
use phyxel::model::ContinuumSettings;
use phyxel::model::continuum::{Integration, is_positive_definite};

/// Reads the table `continuum` of a body.
pub(super) fn read_continuum(field: &Field) -> Option<ModelDescription> {
    let default = ContinuumSettings::default();
    let mut reader = field.table()?;
    let support = reader.number("support", Quantity::between(1.2, 4.0, "mean distances of neighbours"));
    let hourglass = reader.number("hourglass", Quantity::not_negative("of Young's modulus"));
    let volume_penalty = reader.number("volume_penalty", Quantity::not_negative("of Young's modulus"));
    let stiffness = reader.field("stiffness").and_then(|field| read_stiffness(&field));
    let deviatoric = reader.flag("deviatoric");
    let flowing = reader.flag("flowing");
    let integration =
        reader.field("integration").and_then(|field| field.choice("integration scheme", &Integration::ALL));
    reader.finish();
    Some(ModelDescription::Continuum(Box::new(ContinuumSettings {
        support: support.unwrap_or(default.support),
        hourglass: hourglass.unwrap_or(default.hourglass),
        volume_penalty: volume_penalty.unwrap_or(default.volume_penalty),
        stiffness: stiffness.map(Box::new),
        deviatoric: deviatoric.unwrap_or(default.deviatoric),
        flowing: flowing.unwrap_or(default.flowing),
        integration: integration.unwrap_or(default.integration),
    })))
}

/// Reads a stiffness matrix of six rows of six numbers, Pa, which must be symmetric and positive definite.
pub(super) fn read_stiffness(field: &Field) -> Option<[[f32; 6]; 6]> {
    let rows = field.items()?;
    let mut matrix = [[0.0; 6]; 6];
    let expected = "but must be six rows of six numbers (Pa): stresses xx, yy, zz, yz, xz, xy from three stretches \
        and three shears";
    if rows.len() != 6 {
        field.reject(format!("is a list of {}, {expected}", rows.len()));
        return None;
    }
    for (row, values) in rows.iter().zip(&mut matrix) {
        let items = row.items()?;
        if items.len() != 6 {
            row.reject(format!("is a list of {}, {expected}", items.len()));
            return None;
        }
        for (item, value) in items.iter().zip(values) {
            *value = item.number(Quantity::any("Pa"))? as f32;
        }
    }
    if !is_positive_definite(&matrix) {
        field.reject(
            "is not symmetric positive definite: some strain would have no energy or a negative one; for an isotropic \
             material leave it out and give young_modulus and poisson_ratio"
                .to_string(),
        );
        return None;
    }
    Some(matrix)
}
