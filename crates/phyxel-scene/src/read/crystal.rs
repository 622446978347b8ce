//! Settings of a body of crystal or fluid.

use super::cursor::Field;
use super::quantity::Quantity;
use crate::scene::ModelDescription;
use phyxel::model::CrystalSettings;
use phyxel::model::crystal::{Change, Docking};
use phyxel::particles::Phase;

/// Reads the table `crystal` of a body.
pub(super) fn read_crystal(field: &Field) -> Option<ModelDescription> {
    let usual = CrystalSettings::default();
    let mut reader = field.table()?;
    let phases = [("solid", Phase::Solid), ("fluid", Phase::Fluid)];
    let phase = reader.field("phase").and_then(|field| field.choice("phase", &phases));
    let support = reader.number("support", Quantity::between(1.3, 2.1, "particle distances"));
    let smoothing = reader.number("smoothing", Quantity::not_negative("1/s"));
    let change = reader.field("change").and_then(|field| read_change(&field));
    let docking = reader.field("docking").and_then(|field| read_docking(&field));
    reader.finish();
    Some(ModelDescription::Crystal(Box::new(CrystalSettings {
        phase: phase.unwrap_or(usual.phase),
        support: support.unwrap_or(usual.support),
        smoothing: smoothing.unwrap_or(usual.smoothing),
        change: change.unwrap_or(usual.change),
        docking,
    })))
}

/// How readily sites take neighbours.
fn read_docking(field: &Field) -> Option<Docking> {
    let usual = Docking::default();
    let mut reader = field.table()?;
    let rate = reader.number("rate", Quantity::positive("1/s"));
    let change = reader.number("change", Quantity::not_negative("1/s2"));
    reader.finish();
    Some(Docking { rate: rate.unwrap_or(usual.rate), change: change.unwrap_or(usual.change) })
}

/// How it melts and freezes.
fn read_change(field: &Field) -> Option<Change> {
    let usual = Change::default();
    let mut reader = field.table()?;
    let melting = reader.number("melting", Quantity::not_negative("1/(s K)"));
    let freezing = reader.number("freezing", Quantity::not_negative("1/(s K)"));
    let freezing_point = reader.number("freezing_point", Quantity::any("temperature"));
    let fewest = reader.number("fewest", Quantity::any("neighbours"));
    let fastest = reader.number("fastest", Quantity::positive("m/s"));
    let fading = reader.number("fading", Quantity::not_negative("s"));
    reader.finish();
    Some(Change {
        melting: melting.unwrap_or(usual.melting),
        freezing: freezing.unwrap_or(usual.freezing),
        freezing_point,
        fewest: fewest.unwrap_or(usual.fewest),
        fastest: fastest.unwrap_or(usual.fastest),
        fading: fading.unwrap_or(usual.fading),
    })
}
