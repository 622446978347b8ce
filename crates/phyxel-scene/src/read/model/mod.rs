//! Models of bodies in files: the name, and the settings in the table of that name.

mod continuum;
mod crystal;
mod mass_spring;
mod shape_matching;
mod tetra;

pub(super) use continuum::read_integration;
pub(super) use shape_matching::read_mode;
pub(super) use tetra::check_melt_targets;

use super::cursor::TableReader;
use super::shape::Files;
use super::wording::list;
use crate::scene::{ClusterPlan, ModelDescription};
use continuum::read_continuum;
use crystal::read_crystal;
use mass_spring::read_mass_spring;
use phyxel::model::ModelKind;
use phyxel::store::Phase;
use shape_matching::read_shape_matching;
use tetra::read_tetra;

/// Reads the name of a model.
pub(super) fn read_model_name(reader: &mut TableReader) -> Option<ModelKind> {
    let words = ModelKind::ALL.map(|kind| (kind.name(), kind));
    let known = format!("one of {}", list(words.map(|(word, _)| word)));
    reader.read_required("model", known, |field| field.choice("model", &words))
}

/// Kind whose settings a body may have: crystals melt and fluids freeze, so each may have the table of the other.
fn settings_family(kind: ModelKind) -> ModelKind {
    if kind == ModelKind::Fluid { ModelKind::Crystal } else { kind }
}

/// Reads the settings of a model.
///
/// Crystals melt and fluids freeze, so that a body of either model may have the tables of both.
pub(super) fn read_model(reader: &mut TableReader, name: Option<ModelKind>, files: &Files) -> Option<ModelDescription> {
    let [continuum, crystal, fluid, shape_matching, mass_spring, tetra] = ModelKind::ALL.map(|owner| {
        let field = reader.field(owner.name())?;
        if name.is_some_and(|name| settings_family(name) != settings_family(owner)) {
            field.reject(format!("holds settings of the model \"{}\", which this body does not use", owner.name()));
            return None;
        }
        Some(field)
    });
    match name? {
        ModelKind::Continuum => {
            let settings = continuum.and_then(|field| read_continuum(&field));
            Some(settings.unwrap_or(ModelDescription::Continuum(Box::default())))
        }
        ModelKind::Crystal => Some(read_crystal(Phase::Solid, crystal.as_ref(), fluid.as_ref())),
        ModelKind::Fluid => Some(read_crystal(Phase::Fluid, crystal.as_ref(), fluid.as_ref())),
        ModelKind::ShapeMatching => {
            let settings = shape_matching.and_then(|field| read_shape_matching(&field));
            let default =
                || ModelDescription::ShapeMatching { clusters: ClusterPlan::default(), settings: Box::default() };
            Some(settings.unwrap_or_else(default))
        }
        ModelKind::MassSpring => {
            let settings = mass_spring.and_then(|field| read_mass_spring(&field));
            Some(settings.unwrap_or(ModelDescription::MassSpring { cell: None, settings: Box::default() }))
        }
        ModelKind::Tetra => match tetra {
            // Without its file a body has no shape.
            Some(field) => read_tetra(&field, files),
            None => Some(ModelDescription::Tetra { mesh: None, settings: Box::default() }),
        },
    }
}
