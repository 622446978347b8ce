//! Settings of the point-based continuum in files.

use crate::read::cursor::Field;
use crate::read::quantity::Quantity;
use crate::scene::ModelDescription;
use phyxel::model::ContinuumSettings;
use phyxel::model::continuum::{Integration, is_positive_definite};

/// Reads the table `continuum` of a body.
pub(super) fn read_continuum(field: &Field) -> Option<ModelDescription> {
    let default = ContinuumSettings::default();
    let modulus = Quantity::not_negative("of Young's modulus");
    let mut reader = field.table()?;
    let settings = ContinuumSettings {
        support: reader
            .number("support", Quantity::between(1.2, 4.0, "mean distances of neighbours"))
            .unwrap_or(default.support),
        hourglass: reader.number("hourglass", modulus).unwrap_or(default.hourglass),
        volume_penalty: reader.number("volume_penalty", modulus).unwrap_or(default.volume_penalty),
        stiffness: reader.read("stiffness", read_stiffness).map(Box::new),
        deviatoric: reader.flag("deviatoric").unwrap_or(default.deviatoric),
        flowing: reader.flag("flowing").unwrap_or(default.flowing),
        integration: reader.read("integration", read_integration).unwrap_or(default.integration),
    };
    reader.finish();
    Some(ModelDescription::Continuum(Box::new(settings)))
}

/// Reads the name of an integration scheme.
pub(in crate::read) fn read_integration(field: &Field) -> Option<Integration> {
    field.choice("integration scheme", &Integration::ALL)
}

/// Reads a stiffness matrix of six rows of six numbers, Pa, which must be symmetric and positive definite.
pub(super) fn read_stiffness(field: &Field) -> Option<[[f32; 6]; 6]> {
    let must = "six rows of six numbers (Pa): stresses xx, yy, zz, yz, xz, xy from three stretches and three shears";
    let rows: [_; 6] = field.array(must)?;
    let mut matrix = [[0.0; 6]; 6];
    for (row, values) in rows.iter().zip(&mut matrix) {
        let items: [_; 6] = row.array(must)?;
        for (item, value) in items.iter().zip(values) {
            *value = item.number(Quantity::any("Pa"))?;
        }
    }
    if !is_positive_definite(&matrix) {
        field.reject(
            "is not symmetric positive definite: some strain would have no energy or a negative one; for an isotropic \
             material leave it out and give young_modulus and poisson_ratio",
        );
        return None;
    }
    Some(matrix)
}
