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
        settings.support = support.unwrap_or(settings.support);
        settings.change = reader.read("change", read_phase_change).unwrap_or(settings.change);
        settings.docking = reader.read("docking", read_docking);
        reader.finish();
    }
    if let Some(mut reader) = fluid.and_then(|field| field.table()) {
        settings.smoothing = reader.number("smoothing", Quantity::not_negative("1/s")).unwrap_or(settings.smoothing);
        reader.finish();
    }
    ModelDescription::Crystal(Box::new(settings))
}

/// Reads the rates at which sites of the lattice accept neighbours.
fn read_docking(field: &Field) -> Option<Docking> {
    let default = Docking::default();
    let mut reader = field.table()?;
    let docking = Docking {
        rate: reader.number("rate", Quantity::positive("1/s")).unwrap_or(default.rate),
        decay: reader.number("decay", Quantity::not_negative("1/s2")).unwrap_or(default.decay),
    };
    reader.finish();
    Some(docking)
}

/// Reads the rates and conditions of melting and freezing.
fn read_phase_change(field: &Field) -> Option<PhaseChangeSettings> {
    let default = PhaseChangeSettings::default();
    let rate = Quantity::not_negative("1/(s K)");
    let mut reader = field.table()?;
    let settings = PhaseChangeSettings {
        melting: reader.number("melting", rate).unwrap_or(default.melting),
        freezing: reader.number("freezing", rate).unwrap_or(default.freezing),
        freezing_point: reader.number("freezing_point", Quantity::any("temperature")),
        min_neighbours: reader.number("min_neighbours", Quantity::any("neighbours")).unwrap_or(default.min_neighbours),
        max_speed: reader.number("max_speed", Quantity::positive("m/s")).unwrap_or(default.max_speed),
        fade_time: reader.number("fade_time", Quantity::not_negative("s")).unwrap_or(default.fade_time),
    };
    reader.finish();
    Some(settings)
}
