//! Settings of tetrahedral finite elements in files.

use super::continuum::{read_integration, read_stiffness};
use crate::read::cursor::Field;
use crate::read::quantity::Quantity;
use crate::read::shape::Files;
use crate::scene::{BodyDescription, ModelDescription};
use phyxel::model::ModelKind;
use phyxel::model::TetraSettings;
use std::f32::consts::SQRT_2;
use std::sync::Arc;

/// Range of the mass ratio of a fluid particle to a node, so that drops have a similar resolution.
const MASS_RATIO_RANGE: [f32; 2] = [0.25, 2.0];

/// Checks the fluids that tetrahedra melt into.
pub(in crate::read) fn check_melt_targets(fields: &[Field], bodies: &[Option<BodyDescription>]) {
    let melting = fields.iter().zip(bodies).filter_map(|(field, body)| Some((field, body.as_ref()?)));
    for (field, body) in melting {
        let ModelDescription::Tetra { settings, .. } = &body.model else { continue };
        let (Some(name), Some(tetra)) = (&settings.melts_into, field.peek("tetra")) else { continue };
        let Some(target) = tetra.peek("melts_into") else { continue };
        let known = || bodies.iter().flatten().filter(|body| is_fluid(body)).map(|body| body.name.as_str());
        let Some(fluid) = bodies.iter().flatten().find(|other| other.makes(name)) else {
            target.unknown_name("fluid", name, known());
            continue;
        };
        // Two nodes per cell of the lattice, and sqrt(2) particles per spacing cubed of the packing.
        let mass_ratio = SQRT_2 * (fluid.spacing / body.spacing).powi(3);
        if !is_fluid(fluid) {
            target.reject(format!("is \"{name}\", which is no fluid; name a body with model = \"fluid\""));
        } else if fluid.material != body.material {
            let own = (&fluid.material, &body.material);
            target.reject(format!("is \"{name}\" of \"{}\", but must be of \"{}\" as the body is", own.0, own.1));
        } else if !(MASS_RATIO_RANGE[0]..=MASS_RATIO_RANGE[1]).contains(&mass_ratio) {
            let [min, max] = MASS_RATIO_RANGE.map(|ratio| body.spacing * (ratio / SQRT_2).cbrt());
            let spacing = fluid.spacing;
            target.reject(format!(
                "is \"{name}\" with a spacing of {spacing}, but drops of nodes need one from {min:.3} to {max:.3} (m)"
            ));
        }
    }
}

fn is_fluid(body: &BodyDescription) -> bool {
    body.model.kind() == ModelKind::Fluid
}

/// Reads the table `tetra` of a body.
pub(super) fn read_tetra(field: &Field, files: &Files) -> Option<ModelDescription> {
    let default = TetraSettings::default();
    let mut reader = field.table()?;
    let path = reader.field("path");
    let settings = TetraSettings {
        stiffness: reader.read("stiffness", read_stiffness).map(Box::new),
        mass_damping: reader.number("mass_damping", Quantity::not_negative("1/s")).unwrap_or(default.mass_damping),
        stiffness_damping: reader.number("stiffness_damping", Quantity::not_negative("s")),
        strength_force: reader.number("strength_force", Quantity::positive("N")),
        melts_into: reader.read("melts_into", Field::text).map(str::to_string),
        deviatoric: reader.flag("deviatoric").unwrap_or(default.deviatoric),
        integration: reader.read("integration", read_integration).unwrap_or(default.integration),
        ..default
    };
    reader.finish();
    let mesh = match path {
        Some(path) => Some(Arc::new(files.tetrahedra(&path)?)),
        None => None,
    };
    Some(ModelDescription::Tetra { mesh, settings: Box::new(settings) })
}
