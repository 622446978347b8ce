//! Settings of a body of tetrahedra.

use super::continuum::read_stiffness;
use super::cursor::Field;
use super::quantity::Quantity;
use super::shape::Files;
use crate::scene::{BodyDescription, ModelDescription};
use phyxel::model::TetraSettings;
use phyxel::model::continuum::Integration;
use phyxel::particles::Phase;
use std::f32::consts::SQRT_2;
use std::sync::Arc;

/// Mass of a fluid's particle over that of a node, least and most: what drops are made of should be about as large.
const GRAINS: [f32; 2] = [0.25, 2.0];

/// Checks the fluids that tetrahedra melt into.
pub(super) fn check_melts(fields: &[Field], bodies: &[Option<BodyDescription>]) {
    let melting = fields.iter().zip(bodies).filter_map(|(field, body)| Some((field, body.as_ref()?)));
    for (field, body) in melting {
        let ModelDescription::Tetra { settings, .. } = &body.model else { continue };
        let (Some(name), Some(tetra)) = (&settings.melts_into, field.peek("tetra")) else { continue };
        let Some(place) = tetra.peek("melts_into") else { continue };
        let known = || bodies.iter().flatten().filter(|body| is_fluid(body)).map(|body| body.name.as_str());
        let Some(pool) = bodies.iter().flatten().find(|pool| pool.makes(name)) else {
            place.unknown("fluid", name, known());
            continue;
        };
        // Two nodes to a cell of the lattice, and root two particles to a cube of the packing.
        let grain = SQRT_2 * (pool.spacing / body.spacing).powi(3);
        if !is_fluid(pool) {
            place.object(format!(
                "is \"{name}\", which is no fluid; name a body with crystal = {{ phase = \"fluid\" }}"
            ));
        } else if pool.material != body.material {
            let own = (&pool.material, &body.material);
            place.object(format!("is \"{name}\" of \"{}\", but must be of \"{}\" as the body is", own.0, own.1));
        } else if !(GRAINS[0]..=GRAINS[1]).contains(&grain) {
            let [least, most] = GRAINS.map(|grain| body.spacing * (grain / SQRT_2).cbrt());
            let spacing = pool.spacing;
            place.object(format!(
                "is \"{name}\" with a spacing of {spacing}, but drops of nodes need one from {least:.3} to {most:.3} (m)"
            ));
        }
    }
}

fn is_fluid(body: &BodyDescription) -> bool {
    matches!(&body.model, ModelDescription::Crystal(settings) if settings.phase == Phase::Fluid)
}

/// Reads the table `tetra` of a body.
pub(super) fn read_tetra(field: &Field, files: &Files) -> Option<ModelDescription> {
    let usual = TetraSettings::default();
    let mut reader = field.table()?;
    let path = reader.field("path");
    let stiffness = reader.field("stiffness").and_then(|field| read_stiffness(&field));
    let mass_damping = reader.number("mass_damping", Quantity::not_negative("1/s"));
    let stiffness_damping = reader.number("stiffness_damping", Quantity::not_negative("s"));
    let strength_force = reader.number("strength_force", Quantity::positive("N"));
    let melts_into = reader.field("melts_into").and_then(|field| field.text()).map(str::to_string);
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
        melts_into,
        deviatoric: deviatoric.unwrap_or(usual.deviatoric),
        integration: integration.unwrap_or(usual.integration),
        ..usual
    };
    Some(ModelDescription::Tetra { mesh, settings: Box::new(settings) })
}
