//! What events may change, and the settings that may change at run time.

use super::body::MODES;
use super::cursor::{Field, Reader};
use super::flow::SPEED;
use super::heating::{FLUX, POWER, read_exchange, read_radiation};
use super::material::{
    POISSON, read_cohesion, read_friction, read_plasticity, read_strength, read_viscosity, read_young_modulus,
};
use super::quantity::Quantity;
use crate::document::Value;
use phyxel::command::{Setting, Target};
use phyxel::model::continuum::Integration;

/// The names of a scene.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Of bodies, as the file writes them.
    pub bodies: Vec<String>,
    /// Of obstacles.
    pub obstacles: Vec<String>,
    /// Of materials, presets in use included.
    pub materials: Vec<String>,
    /// Of heatings.
    pub heatings: Vec<String>,
    /// Of emitters.
    pub emitters: Vec<String>,
    /// Of drains.
    pub drains: Vec<String>,
    /// The temperature at which nothing radiates any more, if the file says it.
    pub absolute_zero: Option<f32>,
}

/// Kinds of things that have settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    World,
    Body,
    Obstacle,
    Material,
    Heating,
    Emitter,
    Drain,
}

/// Settings that may change, and what has them.
const SETTINGS: [(&str, &[Kind]); 31] = [
    ("gravity", &[Kind::World]),
    ("temperature", &[Kind::Body, Kind::Obstacle, Kind::Heating, Kind::Emitter]),
    ("velocity", &[Kind::Body]),
    ("speed", &[Kind::Emitter]),
    ("material", &[Kind::Body]),
    ("mode", &[Kind::Body]),
    ("beta", &[Kind::Body]),
    ("tau", &[Kind::Body]),
    ("damping_rate", &[Kind::Body]),
    ("refreeze", &[Kind::Body]),
    ("flowing", &[Kind::Body]),
    ("deviatoric", &[Kind::Body]),
    ("integration", &[Kind::Body]),
    ("friction", &[Kind::Obstacle, Kind::Material]),
    ("restitution", &[Kind::Obstacle, Kind::Material]),
    ("stickiness", &[Kind::Obstacle]),
    ("active", &[Kind::Obstacle, Kind::Heating, Kind::Emitter, Kind::Drain]),
    ("young_modulus", &[Kind::Material]),
    ("poisson_ratio", &[Kind::Material]),
    ("damping", &[Kind::Material]),
    ("strength", &[Kind::Material]),
    ("plasticity", &[Kind::Material]),
    ("viscosity", &[Kind::Material]),
    ("cohesion", &[Kind::Material]),
    ("softening", &[Kind::Material]),
    ("melting", &[Kind::Material]),
    ("boiling", &[Kind::Material]),
    ("flux", &[Kind::Heating]),
    ("exchange", &[Kind::Heating]),
    ("radiation", &[Kind::Heating]),
    ("power", &[Kind::Heating]),
];

impl Names {
    /// Everything an event may name.
    fn all(&self) -> impl Iterator<Item = &str> + Clone {
        let named = self.bodies.iter().chain(&self.obstacles).chain(&self.heatings).chain(&self.emitters);
        let named = named.chain(&self.drains).chain(&self.materials);
        named.map(String::as_str).chain(std::iter::once("world"))
    }

    /// The kinds of things that have this name; a body and its material often share one.
    fn kinds(&self, name: &str) -> Vec<Kind> {
        let has = |names: &[String]| names.iter().any(|other| other == name);
        let kinds = [
            (Kind::World, name == "world"),
            (Kind::Body, has(&self.bodies)),
            (Kind::Obstacle, has(&self.obstacles)),
            (Kind::Material, has(&self.materials)),
            (Kind::Heating, has(&self.heatings)),
            (Kind::Emitter, has(&self.emitters)),
            (Kind::Drain, has(&self.drains)),
        ];
        kinds.iter().filter(|(_, there)| *there).map(|(kind, _)| *kind).collect()
    }

    /// The body that a field names.
    pub fn body(&self, field: &Field) -> Option<String> {
        let name = field.text()?;
        let found = self.bodies.iter().find(|body| *body == name);
        if found.is_none() {
            field.unknown("body", name, self.bodies.iter().map(String::as_str));
        }
        found.cloned()
    }
}

/// The settings of an event, each with the thing it belongs to.
pub(super) fn read_settings(target: &Field, set: &Field, names: &Names) -> Option<Vec<(Target, Setting)>> {
    let name = target.text()?;
    let kinds = names.kinds(name);
    if kinds.is_empty() {
        target.unknown("body, obstacle, material, heating, emitter or drain", name, names.all());
        return None;
    }
    let mut reader = set.table()?;
    let mut settings = Vec::new();
    for (key, owners) in SETTINGS {
        let Some(kind) = kinds.iter().find(|kind| owners.contains(kind)) else { continue };
        let Some(field) = reader.field(key) else { continue };
        if let Some(setting) = read_setting(key, &field, names) {
            settings.push((target_of(*kind, name), setting));
        }
    }
    if matches!(&set.node.value, Value::Table(table) if table.entries.is_empty()) {
        set.object("is empty; say at least one setting and its new value");
    }
    reader.finish();
    Some(settings)
}

fn target_of(kind: Kind, name: &str) -> Target {
    match kind {
        Kind::World => Target::World,
        Kind::Body => Target::Body(name.to_string()),
        Kind::Obstacle => Target::Obstacle(name.to_string()),
        Kind::Material => Target::Material(name.to_string()),
        Kind::Heating => Target::Heating(name.to_string()),
        Kind::Emitter => Target::Emitter(name.to_string()),
        Kind::Drain => Target::Drain(name.to_string()),
    }
}

fn read_setting(key: &str, field: &Field, names: &Names) -> Option<Setting> {
    let number = |quantity: Quantity| field.number(quantity).map(|number| number as f32);
    Some(match key {
        "gravity" => Setting::Gravity(field.vector(Quantity::any("m/s2"))?),
        "temperature" => Setting::Temperature(number(Quantity::any("temperature"))?),
        "velocity" => Setting::Velocity(field.vector(Quantity::any("m/s"))?),
        "speed" => Setting::Speed(number(SPEED)?),
        "material" => Setting::Material(read_material_name(field, names)?),
        "mode" => Setting::Mode(field.choice("mode", &MODES)?),
        "beta" => Setting::Beta(number(Quantity::part())?),
        "tau" => Setting::Tau(read_own_or_material(field, Quantity::not_negative("s"))?),
        "damping_rate" => Setting::DampingRate(read_own_or_material(field, Quantity::not_negative("1/s"))?),
        "refreeze" => Setting::Refreeze(field.flag()?),
        "flowing" => Setting::Flowing(field.flag()?),
        "deviatoric" => Setting::Deviatoric(field.flag()?),
        "integration" => Setting::Integration(field.choice("way to integrate", &Integration::ALL)?),
        "friction" => Setting::Friction(read_friction(field)?),
        "restitution" => Setting::Restitution(number(Quantity::part())?),
        "stickiness" => Setting::Stickiness(number(Quantity::not_negative("Pa"))?),
        "active" => Setting::Active(field.flag()?),
        "young_modulus" => Setting::YoungModulus(read_young_modulus(field)?),
        "poisson_ratio" => Setting::PoissonRatio(number(POISSON)?),
        "damping" => Setting::Damping(number(Quantity::not_negative(""))?),
        "strength" => Setting::Strength(read_strength(field)?),
        "plasticity" => Setting::Plasticity(read_plasticity(field)?),
        "viscosity" => Setting::Viscosity(read_viscosity(field)?),
        "cohesion" => Setting::Cohesion(read_cohesion(field)?),
        "softening" => Setting::Softening(read_point_or_never(field)?),
        "melting" => Setting::Melting(read_point_or_never(field)?),
        "boiling" => Setting::Boiling(read_point_or_never(field)?),
        "flux" => Setting::Flux(number(FLUX)?),
        "exchange" => Setting::Exchange(read_exchange(field)?),
        "radiation" => Setting::Radiation(read_radiation(field, names.absolute_zero)?),
        "power" => Setting::Power(number(POWER)?),
        _ => return None,
    })
}

/// A temperature, or `false` for what never happens.
fn read_point_or_never(field: &Field) -> Option<Option<f32>> {
    if field.node.value == Value::Flag(false) {
        return Some(None);
    }
    field.number(Quantity::any("temperature")).map(|number| Some(number as f32))
}

/// A number, or `"material"` for what follows from the material.
fn read_own_or_material(field: &Field, quantity: Quantity) -> Option<Option<f32>> {
    match field.node.text() {
        Some(_) => field.choice("choice", &[("material", None)]),
        None => field.number(quantity).map(|number| Some(number as f32)),
    }
}

/// The name of a material of the scene.
pub(super) fn read_material_name(field: &Field, names: &Names) -> Option<String> {
    let name = field.text()?;
    let found = names.materials.iter().find(|material| *material == name);
    if found.is_none() {
        field.unknown("material", name, names.materials.iter().map(String::as_str));
    }
    found.cloned()
}

/// Materials that the settings of events name, before anything is known of them.
pub(super) fn material_in_settings<'a>(event: &Field<'a>) -> Option<&'a str> {
    event.node.child("set")?.child("material")?.text()
}

/// The table of an event or of a command, with the body it is about.
pub(super) fn read_target_body(reader: &mut Reader, names: &Names) -> Option<String> {
    let field = reader.need("target", || "the name of a body".into())?;
    names.body(&field)
}
