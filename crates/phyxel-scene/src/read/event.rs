//! Events in files: `set` changes settings, `do` is a deed.

use super::cursor::{Field, Reader};
use super::quantity::Quantity;
use super::shape::{Files, read_shape};
use super::target::{Names, read_settings, read_target_body};
use crate::scene::{Action, Event};
use crate::shape::Shape;
use glam::Vec3;

/// What can be done to a body.
#[derive(Clone, Copy)]
enum Deed {
    Push,
    Warm,
    Hold,
    ReleaseHold,
    Drag,
    Release,
    Cut,
    Remove,
}

const DEEDS: [(&str, Deed); 8] = [
    ("push", Deed::Push),
    ("warm", Deed::Warm),
    ("hold", Deed::Hold),
    ("release-hold", Deed::ReleaseHold),
    ("drag", Deed::Drag),
    ("release", Deed::Release),
    ("cut", Deed::Cut),
    ("remove", Deed::Remove),
];

/// One event.
pub(super) fn read_event(field: &Field, names: &Names, files: &mut Files) -> Option<Event> {
    let mut reader = field.table()?;
    let at = reader.need("at", || Quantity::not_negative("s").noun());
    let at = at.and_then(|field| field.number(Quantity::not_negative("s")));
    let (set, deed) = (reader.field("set"), reader.field("do"));
    let action = match (set, deed) {
        (Some(set), None) => read_set(&mut reader, &set, names),
        (None, Some(deed)) => match deed.choice("deed", &DEEDS) {
            Some(deed) => read_deed(&mut reader, deed, names, files),
            // Without knowing the deed its arguments cannot be told from unknown keys.
            None => return None,
        },
        (Some(_), Some(_)) => {
            reader.object("says both \"set\" and \"do\"; make two events of it");
            return None;
        }
        (None, None) => {
            reader.field("target");
            let deeds = super::words::listed(DEEDS.map(|(word, _)| word));
            reader.object(format!("says neither \"set\" (settings to change) nor \"do\" (one of {deeds})"));
            None
        }
    };
    reader.finish();
    Some(Event { at: at?, action: action? })
}

fn read_set(reader: &mut Reader, set: &Field, names: &Names) -> Option<Action> {
    let target =
        reader.need("target", || "the name of a body, an obstacle, a material or a heating, or \"world\"".into())?;
    read_settings(&target, set, names).map(Action::Set)
}

fn read_deed(reader: &mut Reader, deed: Deed, names: &Names, files: &mut Files) -> Option<Action> {
    let body = read_target_body(reader, names);
    match deed {
        Deed::Push => {
            let velocity = reader.need_vector("velocity", Quantity::any("m/s"));
            let region = read_region(reader, files)?;
            Some(Action::Push { body: body?, region, velocity: velocity? })
        }
        Deed::Warm => {
            let temperature = reader.need_number("temperature", Quantity::any("temperature"));
            let region = read_region(reader, files)?;
            Some(Action::Warm { body: body?, region, temperature: temperature? })
        }
        Deed::Hold | Deed::ReleaseHold => {
            let region = read_region(reader, files)?;
            Some(Action::Hold { body: body?, region, on: matches!(deed, Deed::Hold) })
        }
        Deed::Drag => read_drag(reader, body),
        Deed::Release => Some(Action::Release { body: body? }),
        Deed::Cut => {
            let point = reader.vector("point", Quantity::any("m"));
            let normal = reader.need("normal", || "three numbers".into()).and_then(|field| field.direction());
            Some(Action::Cut { body: body?, point: point.unwrap_or(Vec3::ZERO), normal: normal? })
        }
        Deed::Remove => Some(Action::Remove { body: body? }),
    }
}

/// The region of a deed, if it names one; `None` if it names one that is wrong.
fn read_region(reader: &mut Reader, files: &mut Files) -> Option<Option<Shape>> {
    match reader.field("region") {
        Some(field) => read_shape(&field, files).map(Some),
        None => Some(None),
    }
}

fn read_drag(reader: &mut Reader, body: Option<String>) -> Option<Action> {
    let point = reader.vector("point", Quantity::any("m"));
    let to = reader.need_vector("to", Quantity::any("m"));
    let tau = reader.need_number("tau", Quantity::positive("s"));
    let limit = reader.need_number("limit", Quantity::positive("N"));
    Some(Action::Drag { body: body?, point: point.unwrap_or(Vec3::ZERO), to: to?, tau: tau?, limit: limit? })
}
