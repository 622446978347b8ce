//! Obstacles in files.

use super::cursor::{Field, Reader};
use super::material::{read_color, read_friction};
use super::quantity::Quantity;
use super::read_name;
use super::shape::{Files, read_placement, read_shape};
use crate::scene::{ObstacleDescription, PlaceKey, pose_of};
use crate::shape::Placement;
use glam::Vec3;

/// One obstacle.
pub(super) fn read_obstacle(field: &Field, files: &mut Files) -> Option<ObstacleDescription> {
    let mut reader = field.table()?;
    let name = reader.need("name", || "a name of its own".into()).and_then(|field| read_name(&field));
    let shape = reader.need("shape", || "a shape".into()).and_then(|field| read_shape(&field, files));
    let place = reader.field("place");
    let keys = reader.field("keys");
    if let (Some(place), Some(_)) = (&place, &keys)
        && (place.node.child("at").is_some() || place.node.child("turn").is_some())
    {
        place.object("says where the obstacle is, and so does \"keys\"; keep one of them (\"scale\" may stay)");
    }
    let cell = reader.number("cell", Quantity::positive("m"));
    let friction = reader.field("friction").and_then(|field| read_friction(&field));
    let restitution = reader.number("restitution", Quantity::part());
    let stickiness = reader.number("stickiness", Quantity::not_negative("Pa"));
    let temperature = reader.number("temperature", Quantity::any("temperature"));
    let heat_capacity = reader.number("heat_capacity", Quantity::positive("J/K"));
    if heat_capacity.is_some() && !reader.has("temperature") {
        reader.object("has a heat_capacity without a temperature; say how warm it is at the start");
    }
    let active = reader.flag("active");
    let color = reader.field("color").and_then(|field| read_color(&field));
    let visible = reader.flag("visible");
    reader.finish();
    let place = place.and_then(|field| read_placement(&field));
    let keys = keys.and_then(|field| read_keys(&field));
    Some(ObstacleDescription {
        name: name?,
        shape: shape?,
        place: place.unwrap_or_default(),
        keys: keys.unwrap_or_default(),
        cell,
        friction: friction.unwrap_or_default(),
        restitution: restitution.unwrap_or(0.0),
        stickiness: stickiness.unwrap_or(0.0),
        temperature,
        heat_capacity,
        active: active.unwrap_or(true),
        color,
        visible: visible.unwrap_or(true),
    })
}

/// `[{ time = 0.0, at = [0, 0, 0] }, { time = 2.0, at = [0, 1, 0], turn = [0, 90, 0] }]`, times rising.
fn read_keys(field: &Field) -> Option<Vec<PlaceKey>> {
    let items = field.items()?;
    let keys: Vec<Option<PlaceKey>> = items.iter().map(|item| read_key(item.table()?)).collect();
    let mut last: Option<f64> = None;
    for (item, key) in items.iter().zip(&keys) {
        let Some(key) = key else { continue };
        if let Some(last) = last.filter(|last| key.time <= *last) {
            item.object(format!("has time {} after {last}, but times must rise (s)", key.time));
        }
        last = Some(key.time);
    }
    keys.into_iter().collect()
}

fn read_key(mut reader: Reader) -> Option<PlaceKey> {
    let time = reader.need("time", || Quantity::not_negative("s").noun());
    let time = time.and_then(|field| field.number(Quantity::not_negative("s")));
    let at = reader.vector("at", Quantity::any("m")).unwrap_or(Vec3::ZERO);
    let turn = reader.vector("turn", Quantity::any("degrees")).unwrap_or(Vec3::ZERO);
    reader.finish();
    Some(PlaceKey { time: time?, pose: pose_of(&Placement { at, turn, scale: 1.0 }) })
}
