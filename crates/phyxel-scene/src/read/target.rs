//! Targets of events and the settings that may change at run time.

use super::cursor::{Field, TableReader};
use super::flow::SPEED;
use super::heating::{FLUX, POWER, read_exchange, read_radiation};
use super::material::{
    POISSON, read_cohesion, read_friction, read_plasticity, read_strength, read_viscosity, read_young_modulus,
};
use super::model::{read_integration, read_mode};
use super::quantity::Quantity;
use crate::document::Value;
use phyxel::commands::{Setting, Target};

/// Names that a scene defines.
#[derive(Clone, Debug, Default)]
pub(super) struct SceneNames {
    /// Names of bodies, as the file writes them.
    pub bodies: Vec<String>,
    /// Names of obstacles.
    pub obstacles: Vec<String>,
    /// Names of materials, presets in use included.
    pub materials: Vec<String>,
    /// Names of heatings.
    pub heatings: Vec<String>,
    /// Names of emitters.
    pub emitters: Vec<String>,
    /// Names of drains.
    pub drains: Vec<String>,
    /// Absolute zero in the scene's scale, if the file gives it.
    pub absolute_zero: Option<f32>,
}

/// Kinds of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetKind {
    World,
    Body,
    Obstacle,
    Material,
    Heating,
    Emitter,
    Drain,
}

/// Settings that may change, and the targets that have them.
const SETTINGS: [(&str, &[TargetKind]); 31] = [
    ("gravity", &[TargetKind::World]),
    ("temperature", &[TargetKind::Body, TargetKind::Obstacle, TargetKind::Heating, TargetKind::Emitter]),
    ("velocity", &[TargetKind::Body]),
    ("speed", &[TargetKind::Emitter]),
    ("material", &[TargetKind::Body]),
    ("mode", &[TargetKind::Body]),
    ("beta", &[TargetKind::Body]),
    ("tau", &[TargetKind::Body]),
    ("damping_rate", &[TargetKind::Body]),
    ("refreeze", &[TargetKind::Body]),
    ("flowing", &[TargetKind::Body]),
    ("deviatoric", &[TargetKind::Body]),
    ("integration", &[TargetKind::Body]),
    ("friction", &[TargetKind::Obstacle, TargetKind::Material]),
    ("restitution", &[TargetKind::Obstacle, TargetKind::Material]),
    ("adhesion", &[TargetKind::Obstacle]),
    ("active", &[TargetKind::Obstacle, TargetKind::Heating, TargetKind::Emitter, TargetKind::Drain]),
    ("young_modulus", &[TargetKind::Material]),
    ("poisson_ratio", &[TargetKind::Material]),
    ("damping", &[TargetKind::Material]),
    ("strength", &[TargetKind::Material]),
    ("plasticity", &[TargetKind::Material]),
    ("viscosity", &[TargetKind::Material]),
    ("cohesion", &[TargetKind::Material]),
    ("softening", &[TargetKind::Material]),
    ("melting", &[TargetKind::Material]),
    ("boiling", &[TargetKind::Material]),
    ("flux", &[TargetKind::Heating]),
    ("exchange", &[TargetKind::Heating]),
    ("radiation", &[TargetKind::Heating]),
    ("power", &[TargetKind::Heating]),
];

impl SceneNames {
    /// All names that an event may refer to.
    fn all(&self) -> impl Iterator<Item = &str> + Clone {
        let named = self.bodies.iter().chain(&self.obstacles).chain(&self.heatings).chain(&self.emitters);
        let named = named.chain(&self.drains).chain(&self.materials);
        named.map(String::as_str).chain(std::iter::once("world"))
    }

    /// Kinds of targets with this name; a body and its material often share one.
    fn kinds(&self, name: &str) -> Vec<TargetKind> {
        let has = |names: &[String]| names.iter().any(|other| other == name);
        let kinds = [
            (TargetKind::World, name == "world"),
            (TargetKind::Body, has(&self.bodies)),
            (TargetKind::Obstacle, has(&self.obstacles)),
            (TargetKind::Material, has(&self.materials)),
            (TargetKind::Heating, has(&self.heatings)),
            (TargetKind::Emitter, has(&self.emitters)),
            (TargetKind::Drain, has(&self.drains)),
        ];
        kinds.iter().filter(|(_, exists)| *exists).map(|(kind, _)| *kind).collect()
    }

    /// Reads the name of a body.
    pub fn body(&self, field: &Field) -> Option<String> {
        read_known_name(field, "body", &self.bodies)
    }
}

/// Reads the settings of an event, each with its target.
pub(super) fn read_settings(target: &Field, set: &Field, names: &SceneNames) -> Option<Vec<(Target, Setting)>> {
    let name = target.text()?;
    let kinds = names.kinds(name);
    if kinds.is_empty() {
        target.unknown_name("body, obstacle, material, heating, emitter or drain", name, names.all());
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
        set.reject("is empty; say at least one setting and its new value");
    }
    reader.finish();
    Some(settings)
}

fn target_of(kind: TargetKind, name: &str) -> Target {
    match kind {
        TargetKind::World => Target::World,
        TargetKind::Body => Target::Body(name.to_string()),
        TargetKind::Obstacle => Target::Obstacle(name.to_string()),
        TargetKind::Material => Target::Material(name.to_string()),
        TargetKind::Heating => Target::Heating(name.to_string()),
        TargetKind::Emitter => Target::Emitter(name.to_string()),
        TargetKind::Drain => Target::Drain(name.to_string()),
    }
}

fn read_setting(key: &str, field: &Field, names: &SceneNames) -> Option<Setting> {
    let number = |quantity: Quantity| field.number(quantity).map(|number| number as f32);
    Some(match key {
        "gravity" => Setting::Gravity(field.vector(Quantity::any("m/s2"))?),
        "temperature" => Setting::Temperature(number(Quantity::any("temperature"))?),
        "velocity" => Setting::Velocity(field.vector(Quantity::any("m/s"))?),
        "speed" => Setting::Speed(number(SPEED)?),
        "material" => Setting::Material(read_known_name(field, "material", &names.materials)?),
        "mode" => Setting::Mode(read_mode(field)?),
        "beta" => Setting::Beta(number(Quantity::fraction())?),
        "tau" => Setting::Tau(read_or_from_material(field, Quantity::not_negative("s"))?),
        "damping_rate" => Setting::DampingRate(read_or_from_material(field, Quantity::not_negative("1/s"))?),
        "refreeze" => Setting::Refreeze(field.flag()?),
        "flowing" => Setting::Flowing(field.flag()?),
        "deviatoric" => Setting::Deviatoric(field.flag()?),
        "integration" => Setting::Integration(read_integration(field)?),
        "friction" => Setting::Friction(read_friction(field)?),
        "restitution" => Setting::Restitution(number(Quantity::fraction())?),
        "adhesion" => Setting::Adhesion(number(Quantity::not_negative("Pa"))?),
        "active" => Setting::Active(field.flag()?),
        "young_modulus" => Setting::YoungModulus(read_young_modulus(field)?),
        "poisson_ratio" => Setting::PoissonRatio(number(POISSON)?),
        "damping" => Setting::Damping(number(Quantity::not_negative(""))?),
        "strength" => Setting::Strength(read_strength(field)?),
        "plasticity" => Setting::Plasticity(read_plasticity(field)?),
        "viscosity" => Setting::Viscosity(read_viscosity(field)?),
        "cohesion" => Setting::Cohesion(read_cohesion(field)?),
        "softening" => Setting::Softening(read_transition_temperature(field)?),
        "melting" => Setting::Melting(read_transition_temperature(field)?),
        "boiling" => Setting::Boiling(read_transition_temperature(field)?),
        "flux" => Setting::Flux(number(FLUX)?),
        "exchange" => Setting::Exchange(read_exchange(field)?),
        "radiation" => Setting::Radiation(read_radiation(field, names.absolute_zero)?),
        "power" => Setting::Power(number(POWER)?),
        _ => return None,
    })
}

/// Reads a transition temperature, or `false` for never.
fn read_transition_temperature(field: &Field) -> Option<Option<f32>> {
    field.unless_false(|field| field.number(Quantity::any("temperature"))).map(|number| number.map(|t| t as f32))
}

/// Reads a number, or `"material"` to follow the material.
fn read_or_from_material(field: &Field, quantity: Quantity) -> Option<Option<f32>> {
    match field.node.text() {
        Some(_) => field.choice("choice", &[("material", None)]),
        None => field.number(quantity).map(|number| Some(number as f32)),
    }
}

/// Reads one of the known names of something.
fn read_known_name(field: &Field, what: &str, known: &[String]) -> Option<String> {
    let name = field.text()?;
    let found = known.iter().find(|known| *known == name);
    if found.is_none() {
        field.unknown_name(what, name, known.iter().map(String::as_str));
    }
    found.cloned()
}

/// Name of the material that an event sets, unchecked.
pub(super) fn material_of_event<'a>(event: &Field<'a>) -> Option<&'a str> {
    event.node.child("set")?.child_text("material")
}

/// Reads the body that is the target of an action or a heating.
pub(super) fn read_target_body(reader: &mut TableReader, names: &SceneNames) -> Option<String> {
    reader.read_required("target", "the name of a body", |field| names.body(field))
}
