//! Settings of a body of tetrahedra.

use super::continuum::read_stiffness;
use super::cursor::Field;
use super::quantity::Quantity;
use super::shape::Files;
use crate::scene::ModelDescription;
use phyxel::model::TetraSettings;
use phyxel::model::continuum::Integration;
use std::sync::Arc;

/// Reads the table `tetra` of a body.
pub(super) fn read_tetra(field: &Field, files: &Files) -> Option<ModelDescription> {
    let usual = TetraSettings::default();
    let mut reader = field.table()?;
    let path = reader.field("path");
    let stiffness = reader.field("stiffness").and_then(|field| read_stiffness(&field));
    let mass_damping = reader.number("mass_damping", Quantity::not_negative("1/s"));
    let stiffness_damping = reader.number("stiffness_damping", Quantity::not_negative("s"));
    let strength_force = reader.number("strength_force", Quantity::not_negative("N"));
    let deviatoric = reader.flag("deviatoric");
    let integration = reader.field("integration").and_then(|field| field.choice("way to integrate", &Integration::ALL));
    reader.finish();
    let mesh = match path {
        Some(path) => Some(Arc::new(files.tetrahedra(&path)?)),
        None => None,
    };
    let settings = TetraSettings {
        stiffness: stiffness.map(Box::new),
        mass_damping: mass_damping.unwrap_or(usual.mass_damping),
        stiffness_damping,
        strength_force,
        deviatoric: deviatoric.unwrap_or(usual.deviatoric),
        integration: integration.unwrap_or(usual.integration),
        ..usual
    };
    Some(ModelDescription::Tetra { mesh, settings: Box::new(settings) })
}
