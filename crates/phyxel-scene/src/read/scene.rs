//! Top level of a scene file.

use super::body::read_body;
use super::cursor::{Field, Problems, TableReader, read_all};
use super::event::read_event;
use super::expectation::read_expectation;
use super::flow::{read_bounds, read_drain, read_emitter};
use super::heating::read_heating;
use super::material::read_named_material;
use super::model::check_melt_targets;
use super::obstacle::read_obstacle;
use super::quantity::Quantity;
use super::shape::Files;
use super::target::{SceneNames, material_of_event};
use super::wording::format_number;
use crate::document::{Table, Value};
use crate::presets;
use crate::scene::{BodyDescription, Camera, Expectation, Scene, StepDescription, VERSION};
use phyxel::material::Material;
use phyxel::model::ModelKind;
use phyxel::world::{MAX_CONTACT_ITERATIONS, Settings};
use std::collections::HashMap;
use std::path::Path;

/// Items of the lists of a file.
struct ItemFields<'a> {
    bodies: Vec<Field<'a>>,
    obstacles: Vec<Field<'a>>,
    heatings: Vec<Field<'a>>,
    emitters: Vec<Field<'a>>,
    drains: Vec<Field<'a>>,
    events: Vec<Field<'a>>,
}

impl<'a> ItemFields<'a> {
    fn read(reader: &mut TableReader<'a>) -> Self {
        Self {
            bodies: reader.items("bodies"),
            obstacles: reader.items("obstacles"),
            heatings: reader.items("heating"),
            emitters: reader.items("emitters"),
            drains: reader.items("drains"),
            events: reader.items("events"),
        }
    }

    fn names(&self, materials: &[Material], absolute_zero: Option<f32>) -> SceneNames {
        SceneNames {
            bodies: names_of(&self.bodies),
            obstacles: names_of(&self.obstacles),
            materials: materials.iter().map(|material| material.name.clone()).collect(),
            heatings: names_of(&self.heatings),
            emitters: names_of(&self.emitters),
            drains: names_of(&self.drains),
            absolute_zero,
        }
    }

    /// Reads the bodies and checks the names of their copies.
    fn read_bodies(&self, files: &mut Files) -> Vec<Option<BodyDescription>> {
        let bodies: Vec<_> = self.bodies.iter().map(|field| read_body(field, files)).collect();
        check_copy_names(&self.bodies, &bodies);
        bodies
    }
}

/// Reads a whole file. Mistakes are added to `problems`; a scene with problems must not be used.
pub(super) fn read_scene(table: &Table, name: String, folder: &Path, problems: &Problems) -> Option<Scene> {
    let mut reader = TableReader::new(table, problems);
    let mut files = Files::new(folder);
    read_version(&mut reader);
    let title = reader.read("title", Field::text).map(str::to_string);
    let (duration, frame_rate) = read_times(&mut reader);
    let seed = reader.read("seed", read_seed);
    let gravity = reader.vector("gravity", Quantity::any("m/s2"));
    let camera = reader.read("camera", read_camera);
    let poster = reader.number_f64("poster", Quantity::not_negative("s"));
    let contact_conductance = reader.number("contact_conductance", Quantity::positive("W/(m2 K)"));
    let absolute_zero = reader.number("absolute_zero", Quantity::any("temperature"));
    let bounds = read_bounds(&mut reader);
    let step = reader.read("step", read_step);

    let fields = ItemFields::read(&mut reader);
    let mut materials = read_materials(&mut reader);
    add_presets_in_use(&mut materials, &fields.bodies, &fields.events);
    let names = fields.names(&materials, absolute_zero);
    check_body_materials(&fields.bodies, &names);
    check_names(&[&fields.bodies, &fields.obstacles, &fields.heatings, &fields.emitters, &fields.drains]);

    let bodies = fields.read_bodies(&mut files);
    let obstacles = read_all(&fields.obstacles, |field| read_obstacle(field, &mut files));
    let heatings = read_all(&fields.heatings, |field| read_heating(field, &names, &mut files, absolute_zero));
    let emitters = read_all(&fields.emitters, |field| read_emitter(field, &names, &bodies));
    let drains = read_all(&fields.drains, |field| read_drain(field, &names, &mut files));
    check_empty_bodies(&fields.bodies, &bodies, &fields.emitters);
    check_melt_targets(&fields.bodies, &bodies);
    let events = read_all(&fields.events, |field| read_event(field, &names, &mut files));
    let bodies: Option<Vec<BodyDescription>> = bodies.into_iter().collect();
    let expectations = read_expectations(&mut reader, bodies.as_deref());
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
        bodies: bodies?,
        obstacles: obstacles?,
        heatings: heatings?,
        emitters: emitters?,
        drains: drains?,
        bounds,
        events: events?,
        expectations: expectations?,
    })
}

/// Reads the expectations; with a body missing, their names cannot be checked.
fn read_expectations(reader: &mut TableReader, bodies: Option<&[BodyDescription]>) -> Option<Vec<Expectation>> {
    match bodies {
        Some(bodies) => read_all(&reader.items("expect"), |field| read_expectation(field, bodies)),
        None => reader.field("expect").map(|_| Vec::new()),
    }
}

fn read_version(reader: &mut TableReader) {
    let Some(field) = reader.require("version", format!("{VERSION}")) else { return };
    if let Some(version) = field.count(0)
        && version != VERSION
    {
        field.reject(format!("is {version}, but this program reads version {VERSION}; write version = {VERSION}"));
    }
}

fn read_times(reader: &mut TableReader) -> (Option<f64>, f64) {
    let field = reader.require("duration", Quantity::positive("s").noun());
    let duration = field.as_ref().and_then(|field| field.number_f64(Quantity::positive("s")));
    let rate = reader.number_f64("frame_rate", Quantity::positive("1/s")).unwrap_or(Settings::default().frame_rate);
    if let (Some(field), Some(duration)) = (field, duration)
        && duration * rate > f64::from(u32::MAX)
    {
        let frames = format_number(duration * rate);
        field.reject(format!("makes {frames} frames at {rate} frames per second, too many to count; make it shorter"));
    }
    (duration, rate)
}

fn read_seed(field: &Field) -> Option<u64> {
    let found = match field.node.value {
        Value::Integer(seed) if seed >= 0 => return Some(seed as u64),
        Value::Integer(seed) => seed.to_string(),
        _ => field.node.describe(),
    };
    field.reject(format!("is {found}, but must be a whole number from 0"));
    None
}

fn read_camera(field: &Field) -> Option<Camera> {
    let mut reader = field.table()?;
    let eye = reader.require_vector("eye", Quantity::any("m"));
    let target = reader.require_vector("target", Quantity::any("m"));
    let angle = reader.number("field_of_view", Quantity::between(0.0, 180.0, "degrees"));
    reader.finish();
    let (eye, target) = (eye?, target?);
    if (target - eye).try_normalize().is_none() {
        field.reject(format!("has eye and target at the same position {eye}; move one of them"));
    }
    Some(Camera { eye, target, field_of_view: angle.unwrap_or(35.0) })
}

fn read_step(field: &Field) -> Option<StepDescription> {
    let mut reader = field.table()?;
    let step = StepDescription {
        substeps: reader.count("substeps", 1),
        max_step: reader.number_f64("max_step", Quantity::positive("s")),
        max_substeps: reader.count("max_substeps", 1),
        contact_iterations: reader.read("contact_iterations", |field| field.count_within(1..=MAX_CONTACT_ITERATIONS)),
    };
    reader.finish();
    Some(step)
}

fn read_materials(reader: &mut TableReader) -> Vec<Material> {
    let fields = reader.read("materials", Field::entries).unwrap_or_default();
    let known: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let read = |(name, field): &(&str, Field)| {
        if *name == "world" {
            field.reject("is named \"world\", which events use for the world itself; choose another name");
        }
        // A material with a mistake keeps its name, so that bodies of it are not rejected too.
        read_named_material(name, field, &known).unwrap_or(Material { name: name.to_string(), ..Material::default() })
    };
    fields.iter().map(read).collect()
}

/// Adds the presets that bodies and events name directly.
fn add_presets_in_use(materials: &mut Vec<Material>, bodies: &[Field], events: &[Field]) {
    let of_bodies = bodies.iter().filter_map(|body| body.node.child_text("material"));
    let of_events = events.iter().filter_map(material_of_event);
    for name in of_bodies.chain(of_events) {
        if !materials.iter().any(|material| material.name == name)
            && let Some(preset) = presets::material(name)
        {
            materials.push(preset);
        }
    }
}

fn names_of(fields: &[Field]) -> Vec<String> {
    let names = fields.iter().filter_map(|field| field.node.child_text("name"));
    names.map(str::to_string).collect()
}

/// Checks that every body names a material of the scene or a preset.
fn check_body_materials(bodies: &[Field], names: &SceneNames) {
    let presets = presets::names().map(|name: &str| name);
    let known: Vec<&str> = names.materials.iter().map(String::as_str).chain(presets).collect();
    for field in bodies.iter().filter_map(|body| body.peek("material")) {
        if let Some(name) = field.node.text()
            && !names.materials.iter().any(|material| material == name)
        {
            field.unknown_name("material", name, known.iter().copied());
        }
    }
}

/// Checks that a body without a shape has an emitter, or a body that melts into it.
fn check_empty_bodies(fields: &[Field], bodies: &[Option<BodyDescription>], emitters: &[Field]) {
    let is_supplied = |body: &BodyDescription| {
        let mut names = emitters.iter().filter_map(|emitter| emitter.node.child_text("body"));
        names.any(|name| body.makes(name)) || bodies.iter().flatten().any(|other| other.melts_into(body))
    };
    for (field, body) in fields.iter().zip(bodies) {
        let is_empty = |body: &&BodyDescription| body.shape.is_none() && body.model.kind() == ModelKind::Fluid;
        if body.as_ref().filter(is_empty).is_some_and(|body| !is_supplied(body)) {
            field.reject(
                "has no shape, and no emitter pours into it; give it a shape, an emitter or a body that melts into it",
            );
        }
    }
}

/// Checks that names of bodies, obstacles, heatings, emitters and drains are unique, so that events can refer to them.
fn check_names(fields: &[&[Field]]) {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    for field in fields.iter().copied().flatten() {
        let Some(name) = field.node.child_text("name") else { continue };
        match seen.get(name) {
            Some(first) => field.reject(format!("has the name of {first}; give each a name of its own")),
            None => drop(seen.insert(name, &field.path)),
        }
    }
}

/// Checks that no body has the name of a copy of another one.
fn check_copy_names(fields: &[Field], bodies: &[Option<BodyDescription>]) {
    let copied = bodies.iter().flatten().filter(|body| body.copies.is_some());
    for body in copied {
        for (field, other) in fields.iter().zip(bodies) {
            if let Some(other) = other
                && other.name != body.name
                && other.copies.is_none()
                && body.makes(&other.name)
            {
                field.reject(format!("has the name of a copy of \"{}\"; give it another name", body.name));
            }
        }
    }
}
