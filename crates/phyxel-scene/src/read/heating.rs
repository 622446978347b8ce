//! Heating and cooling in files.

use super::cursor::{Field, TableReader};
use super::quantity::Quantity;
use super::read_name;
use super::shape::{Files, read_shape};
use super::target::{SceneNames, read_target_body};
use crate::scene::HeatingDescription;
use phyxel::heating::{Exchange, Heating, Radiation};
use phyxel::world::Settings;

pub(super) const FLUX: Quantity = Quantity::any("W/m2");
pub(super) const POWER: Quantity = Quantity::any("W/m3");

/// Reads a heating. `zero` is absolute zero in the scene's scale.
pub(super) fn read_heating(
    field: &Field,
    names: &SceneNames,
    files: &mut Files,
    zero: Option<f32>,
) -> Option<HeatingDescription> {
    let mut reader = field.table()?;
    let name = reader.read_required("name", "a name of its own", read_name);
    let body = read_target_body(&mut reader, names);
    let region = reader.read_valid("region", |field| read_shape(field, files));
    let facing = reader.read("facing", Field::direction);
    let (from, until) = read_window(&mut reader);
    let active = reader.flag("active");
    let temperature = reader.number("temperature", Quantity::any("temperature"));
    let flux = reader.number("flux", FLUX);
    let exchange = reader.read("exchange", read_exchange);
    let radiation = reader.read("radiation", |field| read_radiation(field, zero));
    let power = reader.number("power", POWER);
    check_conditions(&mut reader);
    reader.finish();
    let (name, body) = (name?, body?);
    let heating = Heating {
        facing,
        from,
        until,
        active: active.unwrap_or(true),
        temperature,
        flux: flux.unwrap_or(0.0),
        exchange: exchange.flatten(),
        radiation: radiation.flatten(),
        power: power.unwrap_or(0.0),
        ..Heating::new(name, &body)
    };
    Some(HeatingDescription { heating, body, region: region? })
}

/// Reads the time interval in which something is active, s.
pub(super) fn read_window(reader: &mut TableReader) -> (f64, Option<f64>) {
    let from = reader.number_f64("from", Quantity::not_negative("s")).unwrap_or(0.0);
    let until = reader.number_f64("until", Quantity::positive("s"));
    if let Some(until) = until.filter(|until| *until <= from) {
        reader.reject(format!("ends at until = {until} s, but begins at from = {from} s; it must end later"));
    }
    (from, until)
}

/// Checks that there is a thermal boundary condition or source.
fn check_conditions(reader: &mut TableReader) {
    if !["temperature", "flux", "exchange", "radiation", "power"].iter().any(|key| reader.has(key)) {
        reader.reject(
            "says nothing of the heat; give \"temperature\" (to keep it at), \"flux\" (W/m2), \"exchange\", \
             \"radiation\" or \"power\" (W/m3)",
        );
    }
}

/// Reads `{ coefficient = 25.0, ambient = 20.0 }`, or `false` for none.
pub(super) fn read_exchange(field: &Field) -> Option<Option<Exchange>> {
    field.unless_false(|field| {
        let mut reader = field.table()?;
        let coefficient = reader.require_number("coefficient", Quantity::not_negative("W/(m2 K)"));
        let ambient = reader.require_number("ambient", Quantity::any("temperature"));
        reader.finish();
        Some(Exchange { coefficient: coefficient?, ambient: ambient? })
    })
}

/// Reads `{ emissivity = 0.9, ambient = 20.0 }`, or `false` for none.
pub(super) fn read_radiation(field: &Field, zero: Option<f32>) -> Option<Option<Radiation>> {
    field.unless_false(|field| {
        let mut reader = field.table()?;
        let emissivity = reader.require_number("emissivity", Quantity::fraction());
        let ambient = reader.require_number("ambient", Quantity::any("temperature"));
        reader.finish();
        let zero = zero.unwrap_or(Settings::default().absolute_zero);
        if let Some(ambient) = ambient.filter(|ambient| *ambient < zero) {
            field.reject(format!(
                "has ambient = {ambient} below absolute zero, {zero} in the scene's scale; change it or \
                 \"absolute_zero\""
            ));
        }
        Some(Radiation { emissivity: emissivity?, ambient: ambient? })
    })
}
