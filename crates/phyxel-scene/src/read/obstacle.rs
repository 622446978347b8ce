//! Obstacles in files.

use super::cursor::{Field, TableReader};
use super::material::{read_color, read_friction};
use super::quantity::Quantity;
use super::read_name;
use super::shape::{Files, read_placement, read_shape};
use crate::scene::{ObstacleDescription, PoseKeyframe, pose_of};
use crate::shape::Placement;
use glam::Vec3;

/// Reads an obstacle.
pub(super) fn read_obstacle(field: &Field, files: &mut Files) -> Option<ObstacleDescription> {
    let mut reader = field.table()?;
    let name = reader.read_required("name", "a name of its own", read_name);
    let shape = reader.read_required("shape", "a shape", |field| read_shape(field, files));
    let place = reader.field("place");
    let keyframes = reader.field("keyframes");
    if let (Some(place), Some(_)) = (&place, &keyframes)
        && (place.node.child("at").is_some() || place.node.child("turn").is_some())
    {
        place.reject("says where the obstacle is, and so does \"keyframes\"; keep one of them (\"scale\" may stay)");
    }
    let cell = reader.number("cell", Quantity::positive("m"));
    let friction = reader.read("friction", read_friction);
    let restitution = reader.number("restitution", Quantity::fraction());
    let adhesion = reader.number("adhesion", Quantity::not_negative("Pa"));
    let temperature = reader.number("temperature", Quantity::any("temperature"));
    let heat_capacity = reader.number("heat_capacity", Quantity::positive("J/K"));
    if heat_capacity.is_some() && !reader.has("temperature") {
        reader.reject("has a heat_capacity without a temperature; say how warm it is at the start");
    }
    let active = reader.flag("active");
    let color = reader.read("color", read_color);
    let visible = reader.flag("visible");
    reader.finish();
    let place = place.and_then(|field| read_placement(&field));
    let keyframes = keyframes.and_then(|field| read_keyframes(&field));
    Some(ObstacleDescription {
        name: name?,
        shape: shape?,
        place: place.unwrap_or_default(),
        keyframes: keyframes.unwrap_or_default(),
        cell,
        friction: friction.unwrap_or_default(),
        restitution: restitution.unwrap_or(0.0),
        adhesion: adhesion.unwrap_or(0.0),
        temperature,
        heat_capacity,
        active: active.unwrap_or(true),
        color,
        visible: visible.unwrap_or(true),
    })
}

/// Reads `[{ time = 0.0, at = [0, 0, 0] }, { time = 2.0, at = [0, 1, 0], turn = [0, 90, 0] }]`, times rising.
fn read_keyframes(field: &Field) -> Option<Vec<PoseKeyframe>> {
    let items = field.items()?;
    let keyframes: Vec<Option<PoseKeyframe>> = items.iter().map(|item| read_keyframe(item.table()?)).collect();
    let mut last: Option<f64> = None;
    for (item, keyframe) in items.iter().zip(&keyframes) {
        let Some(keyframe) = keyframe else { continue };
        if let Some(last) = last.filter(|last| keyframe.time <= *last) {
            item.reject(format!("has time {} after {last}, but times must rise (s)", keyframe.time));
        }
        last = Some(keyframe.time);
    }
    keyframes.into_iter().collect()
}

fn read_keyframe(mut reader: TableReader) -> Option<PoseKeyframe> {
    let time = reader.require_number_f64("time", Quantity::not_negative("s"));
    let at = reader.vector("at", Quantity::any("m")).unwrap_or(Vec3::ZERO);
    let turn = reader.vector("turn", Quantity::any("degrees")).unwrap_or(Vec3::ZERO);
    reader.finish();
    Some(PoseKeyframe { time: time?, pose: pose_of(&Placement { at, turn, scale: 1.0 }) })
}
