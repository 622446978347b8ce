//! Emitters, drains and bounds in files.

use super::cursor::{Field, TableReader};
use super::heating::read_window;
use super::quantity::Quantity;
use super::read_name;
use super::shape::{Files, read_shape};
use super::target::SceneNames;
use crate::scene::{BodyDescription, DrainDescription, EmitterDescription};
use phyxel::emission::Bounds;
use phyxel::emission::{Emitter, Mouth};

pub(super) const SPEED: Quantity = Quantity::positive("m/s");

/// Reads an emitter. `bodies` are those of the scene, `None` for invalid ones.
pub(super) fn read_emitter(
    field: &Field,
    names: &SceneNames,
    bodies: &[Option<BodyDescription>],
) -> Option<EmitterDescription> {
    let mut reader = field.table()?;
    let name = reader.read_required("name", "a name of its own", read_name);
    let body = reader.read_required("body", "the name of a fluid body", |field| read_one_body(field, names, bodies));
    let mouth = "{ kind = \"disc\", radius } or { kind = \"rectangle\", size }";
    let mouth = reader.read_required("mouth", mouth, read_mouth);
    let at = reader.require_vector("at", Quantity::any("m"));
    let direction = reader.read_valid("direction", Field::direction);
    let speed = reader.require_number("speed", SPEED);
    let temperature = reader.number("temperature", Quantity::any("temperature"));
    let (from, until) = read_window(&mut reader);
    let max_particles = reader.count("max_particles", 1);
    let active = reader.flag("active");
    reader.finish();
    let emitter = Emitter {
        name: name?,
        body: body?,
        mouth: mouth?,
        position: at?,
        direction: direction?.unwrap_or(glam::Vec3::NEG_Y),
        speed: speed?,
        temperature: temperature.unwrap_or(0.0),
        from,
        until,
        max_particles: max_particles.map(u64::from),
        active: active.unwrap_or(true),
    };
    Some(EmitterDescription { emitter, temperature })
}

/// Reads the name of a single body; of one with copies, that of a copy.
fn read_one_body(field: &Field, names: &SceneNames, bodies: &[Option<BodyDescription>]) -> Option<String> {
    let name = field.text()?;
    if bodies.iter().flatten().any(|body| body.makes(name)) {
        return Some(name.to_string());
    }
    if let Some(body) = bodies.iter().flatten().find(|body| body.name == name) {
        field.reject(format!("is \"{name}\", which has copies; name one of them, such as \"{}\"", body.name_of(0)));
        return None;
    }
    names.body(field)
}

/// Reads `{ kind = "disc", radius = 0.02 }` or `{ kind = "rectangle", size = [0.1, 0.02] }`.
fn read_mouth(field: &Field) -> Option<Mouth> {
    let mut reader = field.table()?;
    let kinds = [("disc", true), ("rectangle", false)];
    let kind = reader.require("kind", "disc or rectangle")?;
    let mouth = if kind.choice("kind of mouth", &kinds)? {
        reader.require_number("radius", Quantity::positive("m")).map(|radius| Mouth::Disc { radius })
    } else {
        reader.read_required("size", "two lengths (m)", read_side_lengths).map(|size| Mouth::Rectangle { size })
    };
    reader.finish();
    mouth
}

/// Reads two lengths.
fn read_side_lengths(field: &Field) -> Option<[f32; 2]> {
    let [a, b] = field.array("two sides of a rectangle (m)")?.map(|item| item.number(Quantity::positive("m")));
    Some([a?, b?])
}

/// Reads a drain.
pub(super) fn read_drain(field: &Field, names: &SceneNames, files: &mut Files) -> Option<DrainDescription> {
    let mut reader = field.table()?;
    let name = reader.read_required("name", "a name of its own", read_name);
    let region = reader.read_required("region", "a shape", |field| read_shape(field, files));
    let bodies = reader.read_valid("bodies", |field| read_bodies(field, names));
    let cell = reader.number("cell", Quantity::positive("m"));
    let active = reader.flag("active");
    reader.finish();
    let bodies = bodies?.unwrap_or_default();
    Some(DrainDescription { name: name?, region: region?, bodies, cell, active: active.unwrap_or(true) })
}

fn read_bodies(field: &Field, names: &SceneNames) -> Option<Vec<String>> {
    let items = field.items()?;
    if items.is_empty() {
        field.reject("is empty; name at least one body, or leave it out for all crystals and fluids");
        return None;
    }
    items.iter().map(|item| names.body(item)).collect()
}

/// Reads `{ min = [-1, -1, -1], max = [1, 2, 1] }`.
pub(super) fn read_bounds(reader: &mut TableReader) -> Option<Bounds> {
    let field = reader.field("bounds")?;
    let mut reader = field.table()?;
    let min = reader.require_vector("min", Quantity::any("m"));
    let max = reader.require_vector("max", Quantity::any("m"));
    reader.finish();
    let bounds = Bounds { min: min?, max: max? };
    if !bounds.min.cmplt(bounds.max).all() {
        let Bounds { min, max } = bounds;
        field.reject(format!("goes from {min} to {max}, but min must be below max along every axis (m)"));
    }
    Some(bounds)
}
