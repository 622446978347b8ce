//! Settings of crystals and fluids in files.

use crate::read::cursor::Field;
use crate::read::quantity::Quantity;
use crate::scene::ModelDescription;
use phyxel::model::CrystalSettings;
use phyxel::model::crystal::{Docking, PhaseChangeSettings};
use phyxel::store::Phase;

/// Reads the tables `crystal` and `fluid` of a body that starts in a phase, if it has them.
pub(super) fn read_crystal(phase: Phase, crystal: Option<&Field>, fluid: Option<&Field>) -> ModelDescription {
    let mut settings = CrystalSettings { phase, ..CrystalSettings::default() };
    if let Some(mut reader) = crystal.and_then(|field| field.table()) {
        let support = reader.number("support", Quantity::between(1.3, 2.1, "particle distances"));
        let change = reader.field("change").and_then(|field| read_phase_change(&field));
        settings.docking = reader.field("docking").and_then(|field| read_docking(&field));
        reader.finish();
        settings.support = support.unwrap_or(settings.support);
        settings.change = change.unwrap_or(settings.change);
    }
    if let Some(mut reader) = fluid.and_then(|field| field.table()) {
        let smoothing = reader.number("smoothing", Quantity::not_negative("1/s"));
        reader.finish();
        settings.smoothing = smoothing.unwrap_or(settings.smoothing);
    }
    ModelDescription::Crystal(Box::new(settings))
}

/// Reads the rates at which sites of the lattice accept neighbours.
fn read_docking(field: &Field) -> Option<Docking> {
    let default = Docking::default();
    let mut reader = field.table()?;
    let rate = reader.number("rate", Quantity::positive("1/s"));
    let decay = reader.number("decay", Quantity::not_negative("1/s2"));
    reader.finish();
    Some(Docking { rate: rate.unwrap_or(default.rate), decay: decay.unwrap_or(default.decay) })
}

/// Reads the rates and conditions of melting and freezing.
fn read_phase_change(field: &Field) -> Option<PhaseChangeSettings> {
    let default = PhaseChangeSettings::default();
    let mut reader = field.table()?;
    let melting = reader.number("melting", Quantity::not_negative("1/(s K)"));
    let freezing = reader.number("freezing", Quantity::not_negative("1/(s K)"));
    let freezing_point = reader.number("freezing_point", Quantity::any("temperature"));
    let min_neighbours = reader.number("min_neighbours", Quantity::any("neighbours"));
    let max_speed = reader.number("max_speed", Quantity::positive("m/s"));
    let fade_time = reader.number("fade_time", Quantity::not_negative("s"));
    reader.finish();
    Some(PhaseChangeSettings {
        melting: melting.unwrap_or(default.melting),
        freezing: freezing.unwrap_or(default.freezing),
        freezing_point,
        min_neighbours: min_neighbours.unwrap_or(default.min_neighbours),
        max_speed: max_speed.unwrap_or(default.max_speed),
        fade_time: fade_time.unwrap_or(default.fade_time),
    })
}
