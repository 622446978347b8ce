//! Events in files: `set` changes settings, `do` is an action on a body.

use super::cursor::{Field, TableReader};
use super::quantity::Quantity;
use super::shape::{Files, read_shape};
use super::target::{SceneNames, read_settings, read_target_body};
use crate::scene::{Action, Event};
use crate::shape::Shape;
use glam::Vec3;

/// Actions on a body.
#[derive(Clone, Copy)]
enum ActionKind {
    Push,
    Warm,
    Hold,
    ReleaseHold,
    Drag,
    Release,
    Cut,
    Remove,
}

const ACTIONS: [(&str, ActionKind); 8] = [
    ("push", ActionKind::Push),
    ("warm", ActionKind::Warm),
    ("hold", ActionKind::Hold),
    ("release-hold", ActionKind::ReleaseHold),
    ("drag", ActionKind::Drag),
    ("release", ActionKind::Release),
    ("cut", ActionKind::Cut),
    ("remove", ActionKind::Remove),
];

/// Reads an event.
pub(super) fn read_event(field: &Field, names: &SceneNames, files: &mut Files) -> Option<Event> {
    let mut reader = field.table()?;
    let at = reader.require_number_f64("at", Quantity::not_negative("s"));
    let (set, action) = (reader.field("set"), reader.field("do"));
    let action = match (set, action) {
        (Some(set), None) => read_set(&mut reader, &set, names),
        (None, Some(action)) => match action.choice("action", &ACTIONS) {
            Some(kind) => read_action(&mut reader, kind, names, files),
            // Without the action its arguments cannot be told from unknown keys.
            None => return None,
        },
        (Some(_), Some(_)) => {
            reader.reject("says both \"set\" and \"do\"; make two events of it");
            return None;
        }
        (None, None) => {
            reader.field("target");
            let known = super::wording::list(ACTIONS.map(|(word, _)| word));
            reader.reject(format!("says neither \"set\" (settings to change) nor \"do\" (one of {known})"));
            None
        }
    };
    reader.finish();
    Some(Event { at: at?, action: action? })
}

fn read_set(reader: &mut TableReader, set: &Field, names: &SceneNames) -> Option<Action> {
    let target = reader.require("target", "the name of a body, an obstacle, a material or a heating, or \"world\"")?;
    read_settings(&target, set, names).map(Action::Set)
}

fn read_action(reader: &mut TableReader, kind: ActionKind, names: &SceneNames, files: &mut Files) -> Option<Action> {
    let body = read_target_body(reader, names);
    match kind {
        ActionKind::Push => {
            let velocity = reader.require_vector("velocity", Quantity::any("m/s"));
            let region = read_region(reader, files)?;
            Some(Action::Push { body: body?, region, velocity: velocity? })
        }
        ActionKind::Warm => {
            let temperature = reader.require_number("temperature", Quantity::any("temperature"));
            let region = read_region(reader, files)?;
            Some(Action::Warm { body: body?, region, temperature: temperature? })
        }
        ActionKind::Hold | ActionKind::ReleaseHold => {
            let region = read_region(reader, files)?;
            Some(Action::Hold { body: body?, region, on: matches!(kind, ActionKind::Hold) })
        }
        ActionKind::Drag => read_drag(reader, body),
        ActionKind::Release => Some(Action::Release { body: body? }),
        ActionKind::Cut => {
            let point = reader.vector("point", Quantity::any("m"));
            let normal = reader.read_required("normal", "three numbers", Field::direction);
            Some(Action::Cut { body: body?, point: point.unwrap_or(Vec3::ZERO), normal: normal? })
        }
        ActionKind::Remove => Some(Action::Remove { body: body? }),
    }
}

/// Reads the optional region of an action; `None` if it is invalid.
fn read_region(reader: &mut TableReader, files: &mut Files) -> Option<Option<Shape>> {
    reader.read_valid("region", |field| read_shape(field, files))
}

fn read_drag(reader: &mut TableReader, body: Option<String>) -> Option<Action> {
    let point = reader.vector("point", Quantity::any("m"));
    let to = reader.require_vector("to", Quantity::any("m"));
    let tau = reader.require_number("tau", Quantity::positive("s"));
    let limit = reader.require_number("limit", Quantity::positive("N"));
    Some(Action::Drag { body: body?, point: point.unwrap_or(Vec3::ZERO), to: to?, tau: tau?, limit: limit? })
}
