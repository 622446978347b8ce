//! Settings of a body of crystal or fluid.

use super::cursor::Field;
use super::quantity::Quantity;
use crate::scene::ModelDescription;
use phyxel::model::CrystalSettings;
use phyxel::particles::Phase;

/// Reads the table `crystal` of a body.
pub(super) fn read_crystal(field: &Field) -> Option<ModelDescription> {
    let usual = CrystalSettings::default();
    let mut reader = field.table()?;
    let phases = [("solid", Phase::Solid), ("fluid", Phase::Fluid)];
    let phase = reader.field("phase").and_then(|field| field.choice("phase", &phases));
    let support = reader.number("support", Quantity::between(1.3, 2.1, "particle distances"));
    let smoothing = reader.number("smoothing", Quantity::not_negative("1/s"));
    reader.finish();
    Some(ModelDescription::Crystal(Box::new(CrystalSettings {
        phase: phase.unwrap_or(usual.phase),
        support: support.unwrap_or(usual.support),
        smoothing: smoothing.unwrap_or(usual.smoothing),
    })))
}
