//! The top of a scene file.

use super::body::read_body;
use super::cursor::{Field, Problems, Reader};
use super::event::read_event;
use super::expectation::read_expectation;
use super::flow::{read_bounds, read_drain, read_emitter};
use super::heating::read_heating;
use super::material::read_named_material;
use super::obstacle::read_obstacle;
use super::quantity::Quantity;
use super::shape::Files;
use super::target::{Names, material_in_settings};
use super::tetra::check_melts;
use super::words::written;
use crate::document::{Node, Table, Value};
use crate::presets;
use crate::scene::{BodyDescription, Camera, Scene, StepDescription, VERSION};
use phyxel::material::Material;
use phyxel::model::ModelKind;
use phyxel::world::{MOST_CONTACT_ROUNDS, Settings};
use std::collections::HashMap;
use std::path::Path;

/// Reads a whole file. What is wrong goes to `problems`; a scene that comes with problems is not to be used.
pub(super) fn read_scene(table: &Table, name: String, folder: &Path, problems: &Problems) -> Option<Scene> {
    let mut reader = Reader::new(table, problems);
    let mut files = Files::new(folder);
    read_version(&mut reader);
    let title = reader.field("title").and_then(|field| field.text()).map(str::to_string);
    let (duration, frame_rate) = read_times(&mut reader);
    let seed = reader.field("seed").and_then(|field| read_seed(&field));
    let gravity = reader.vector("gravity", Quantity::any("m/s2"));
    let camera = reader.field("camera").and_then(|field| read_camera(&field));
    let poster = reader.precise("poster", Quantity::not_negative("s"));
    let contact_conductance = reader.number("contact_conductance", Quantity::positive("W/(m2 K)"));
    let absolute_zero = reader.number("absolute_zero", Quantity::any("temperature"));
    let bounds = read_bounds(&mut reader);
    let step = reader.field("step").and_then(|field| read_step(&field));

    let body_fields = reader.items("bodies");
    let obstacle_fields = reader.items("obstacles");
    let heating_fields = reader.items("heating");
    let emitter_fields = reader.items("emitters");
    let drain_fields = reader.items("drains");
    let event_fields = reader.items("events");
    let mut materials = read_materials(&mut reader);
    add_presets_in_use(&mut materials, &body_fields, &event_fields);
    let names = Names {
        bodies: names_of(&body_fields),
        obstacles: names_of(&obstacle_fields),
        materials: materials.iter().map(|material| material.name.clone()).collect(),
        heatings: names_of(&heating_fields),
        emitters: names_of(&emitter_fields),
        drains: names_of(&drain_fields),
        absolute_zero,
    };
    check_body_materials(&body_fields, &names);
    check_names(&[&body_fields, &obstacle_fields, &heating_fields, &emitter_fields, &drain_fields]);

    let bodies: Vec<_> = body_fields.iter().map(|field| read_body(field, &mut files)).collect();
    check_copies_names(&body_fields, &bodies);
    let obstacles: Vec<_> = obstacle_fields.iter().map(|field| read_obstacle(field, &mut files)).collect();
    let heatings: Vec<_> =
        heating_fields.iter().map(|field| read_heating(field, &names, &mut files, absolute_zero)).collect();
    let emitters: Vec<_> = emitter_fields.iter().map(|field| read_emitter(field, &names, &bodies)).collect();
    let drains: Vec<_> = drain_fields.iter().map(|field| read_drain(field, &names, &mut files)).collect();
    check_growth(&body_fields, &bodies, &emitter_fields);
    check_melts(&body_fields, &bodies);
    let events: Vec<_> = event_fields.iter().map(|field| read_event(field, &names, &mut files)).collect();
    let sound: Option<Vec<BodyDescription>> = bodies.into_iter().collect();
    let expectations: Vec<_> = match &sound {
        Some(bodies) => reader.items("expect").iter().map(|field| read_expectation(field, bodies)).collect(),
        // With a body missing, names in expectations cannot be judged.
        None => reader.field("expect").map(|_| Vec::new()).unwrap_or_default(),
    };
    reader.finish();
    Some(Scene {
        title: title.unwrap_or_else(|| name.clone()),
        name,
        duration: duration?,
        frame_rate,
        seed: seed.unwrap_or(0),
        gravity: gravity.unwrap_or(Settings::default().gravity),
        camera,
        poster,
        contact_conductance,
        absolute_zero,
        step: step.unwrap_or_default(),
        materials,
        bodies: sound?,
        obstacles: obstacles.into_iter().collect::<Option<_>>()?,
        heatings: heatings.into_iter().collect::<Option<_>>()?,
        emitters: emitters.into_iter().collect::<Option<_>>()?,
        drains: drains.into_iter().collect::<Option<_>>()?,
        bounds,
        events: events.into_iter().collect::<Option<_>>()?,
        expectations: expectations.into_iter().collect::<Option<_>>()?,
    })
}

fn read_version(reader: &mut Reader) {
    let Some(field) = reader.need("version", || format!("{VERSION}")) else { return };
    if let Some(version) = field.count(0)
        && version != VERSION
    {
        field.object(format!("is {version}, but this program reads version {VERSION}; write version = {VERSION}"));
    }
}

fn read_times(reader: &mut Reader) -> (Option<f64>, f64) {
    let field = reader.need("duration", || Quantity::positive("s").noun());
    let duration = field.as_ref().and_then(|field| field.number(Quantity::positive("s")));
    let rate = reader.precise("frame_rate", Quantity::positive("1/s")).unwrap_or(Settings::default().frame_rate);
    if let (Some(field), Some(duration)) = (field, duration)
        && duration * rate > f64::from(u32::MAX)
    {
        let frames = written(duration * rate);
        field.object(format!("makes {frames} frames at {rate} frames per second, too many to count; make it shorter"));
    }
    (duration, rate)
}

fn read_seed(field: &Field) -> Option<u64> {
    match field.node.value {
        Value::Integer(seed) if seed >= 0 => Some(seed as u64),
        Value::Integer(seed) => {
            field.object(format!("is {seed}, but must be a whole number from 0"));
            None
        }
        _ => {
            field.object(format!("is {}, but must be a whole number from 0", field.node.describe()));
            None
        }
    }
}

fn read_camera(field: &Field) -> Option<Camera> {
    let mut reader = field.table()?;
    let eye = reader.need_vector("eye", Quantity::any("m"));
    let target = reader.need_vector("target", Quantity::any("m"));
    let angle = reader.number("field_of_view", Quantity::between(0.0, 180.0, "degrees"));
    reader.finish();
    let (eye, target) = (eye?, target?);
    if (target - eye).try_normalize().is_none() {
        field.object(format!("has eye and target at the same place {eye}; move one of them"));
    }
    Some(Camera { eye, target, field_of_view: angle.unwrap_or(35.0) })
}

fn read_step(field: &Field) -> Option<StepDescription> {
    let mut reader = field.table()?;
    let step = StepDescription {
        substeps: reader.count("substeps", 1),
        max_step: reader.precise("max_step", Quantity::positive("s")),
        max_substeps: reader.count("max_substeps", 1),
        contact_rounds: reader.field("contact_rounds").and_then(|field| field.count_within(1..=MOST_CONTACT_ROUNDS)),
    };
    reader.finish();
    Some(step)
}

fn read_materials(reader: &mut Reader) -> Vec<Material> {
    let fields = reader.field("materials").and_then(|field| field.named()).unwrap_or_default();
    let known: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let read = |(name, field): &(&str, Field)| {
        if *name == "world" {
            field.object("is named \"world\", which events use for the world itself; choose another name");
        }
        // A material with a mistake still has its name, so that bodies made of it are not blamed too.
        read_named_material(name, field, &known).unwrap_or(Material { name: name.to_string(), ..Material::default() })
    };
    fields.iter().map(read).collect()
}

/// Presets may be named without defining a material of their own.
fn add_presets_in_use(materials: &mut Vec<Material>, bodies: &[Field], events: &[Field]) {
    let of_bodies = bodies.iter().filter_map(|body| body.node.child("material").and_then(Node::text));
    let of_events = events.iter().filter_map(material_in_settings);
    for name in of_bodies.chain(of_events) {
        if !materials.iter().any(|material| material.name == name)
            && let Some(preset) = presets::material(name)
        {
            materials.push(preset);
        }
    }
}

fn names_of(fields: &[Field]) -> Vec<String> {
    let names = fields.iter().filter_map(|field| field.node.child("name").and_then(Node::text));
    names.map(str::to_string).collect()
}

/// Every body names a material of the scene or a preset.
fn check_body_materials(bodies: &[Field], names: &Names) {
    let presets = presets::names().map(|name: &str| name);
    let known: Vec<&str> = names.materials.iter().map(String::as_str).chain(presets).collect();
    for field in bodies.iter().filter_map(|body| body.peek("material")) {
        if let Some(name) = field.node.text()
            && !names.materials.iter().any(|material| material == name)
        {
            field.unknown("material", name, known.iter().copied());
        }
    }
}

/// A body without a shape needs an emitter, or something that melts into it.
fn check_growth(fields: &[Field], bodies: &[Option<BodyDescription>], emitters: &[Field]) {
    let named = |body: &BodyDescription| {
        let mut names = emitters.iter().filter_map(|emitter| emitter.node.child("body").and_then(Node::text));
        names.any(|name| body.makes(name)) || bodies.iter().flatten().any(|other| other.melts_into(body))
    };
    for (field, body) in fields.iter().zip(bodies) {
        let is_open = |body: &&BodyDescription| body.shape.is_none() && body.model.kind() == ModelKind::Crystal;
        if body.as_ref().filter(is_open).is_some_and(|body| !named(body)) {
            field.object(
                "has no shape, and no emitter pours into it; give it a shape, an emitter or a body that melts into it",
            );
        }
    }
}

/// Bodies, obstacles, heatings, emitters and drains share one set of names, so that events can tell them apart.
fn check_names(fields: &[&[Field]]) {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    for field in fields.iter().copied().flatten() {
        let Some(name) = field.node.child("name").and_then(Node::text) else { continue };
        match seen.get(name) {
            Some(first) => field.object(format!("has the name of {first}; give each a name of its own")),
            None => drop(seen.insert(name, &field.path)),
        }
    }
}

/// No body has the name that a copy of another one gets.
fn check_copies_names(fields: &[Field], bodies: &[Option<BodyDescription>]) {
    let copied = bodies.iter().flatten().filter(|body| body.copies.is_some());
    for body in copied {
        for (field, other) in fields.iter().zip(bodies) {
            if let Some(other) = other
                && other.name != body.name
                && other.copies.is_none()
                && body.makes(&other.name)
            {
                field.object(format!("has the name of a copy of \"{}\"; give it another name", body.name));
            }
        }
    }
}
