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

/// Reader of the new value of a setting.
type SettingReader = fn(&Field, &SceneNames) -> Option<Setting>;

const BODY: &[TargetKind] = &[TargetKind::Body];
const MATERIAL: &[TargetKind] = &[TargetKind::Material];
const HEATING: &[TargetKind] = &[TargetKind::Heating];
const SURFACE: &[TargetKind] = &[TargetKind::Obstacle, TargetKind::Material];
const WARM: &[TargetKind] = &[TargetKind::Body, TargetKind::Obstacle, TargetKind::Heating, TargetKind::Emitter];
const SWITCHABLE: &[TargetKind] = &[TargetKind::Obstacle, TargetKind::Heating, TargetKind::Emitter, TargetKind::Drain];
const TEMPERATURE: Quantity = Quantity::any("temperature");

/// Settings that may change, the targets that have them, and their readers.
const SETTINGS: [(&str, &[TargetKind], SettingReader); 31] = [
    ("gravity", &[TargetKind::World], |field, _| field.vector(Quantity::any("m/s2")).map(Setting::Gravity)),
    ("temperature", WARM, |field, _| field.number(TEMPERATURE).map(Setting::Temperature)),
    ("velocity", BODY, |field, _| field.vector(Quantity::any("m/s")).map(Setting::Velocity)),
    ("speed", &[TargetKind::Emitter], |field, _| field.number(SPEED).map(Setting::Speed)),
    ("material", BODY, |field, names| read_known_name(field, "material", &names.materials).map(Setting::Material)),
    ("mode", BODY, |field, _| read_mode(field).map(Setting::Mode)),
    ("beta", BODY, |field, _| field.number(Quantity::fraction()).map(Setting::Beta)),
    ("tau", BODY, |field, _| read_or_from_material(field, Quantity::not_negative("s")).map(Setting::Tau)),
    ("damping_rate", BODY, |field, _| {
        read_or_from_material(field, Quantity::not_negative("1/s")).map(Setting::DampingRate)
    }),
    ("refreeze", BODY, |field, _| field.flag().map(Setting::Refreeze)),
    ("flowing", BODY, |field, _| field.flag().map(Setting::Flowing)),
    ("deviatoric", BODY, |field, _| field.flag().map(Setting::Deviatoric)),
    ("integration", BODY, |field, _| read_integration(field).map(Setting::Integration)),
    ("friction", SURFACE, |field, _| read_friction(field).map(Setting::Friction)),
    ("restitution", SURFACE, |field, _| field.number(Quantity::fraction()).map(Setting::Restitution)),
    ("adhesion", &[TargetKind::Obstacle], |field, _| field.number(Quantity::not_negative("Pa")).map(Setting::Adhesion)),
    ("active", SWITCHABLE, |field, _| field.flag().map(Setting::Active)),
    ("young_modulus", MATERIAL, |field, _| read_young_modulus(field).map(Setting::YoungModulus)),
    ("poisson_ratio", MATERIAL, |field, _| field.number(POISSON).map(Setting::PoissonRatio)),
    ("damping", MATERIAL, |field, _| field.number(Quantity::not_negative("")).map(Setting::Damping)),
    ("strength", MATERIAL, |field, _| read_strength(field).map(Setting::Strength)),
    ("plasticity", MATERIAL, |field, _| read_plasticity(field).map(Setting::Plasticity)),
    ("viscosity", MATERIAL, |field, _| read_viscosity(field).map(Setting::Viscosity)),
    ("cohesion", MATERIAL, |field, _| read_cohesion(field).map(Setting::Cohesion)),
    ("softening", MATERIAL, |field, _| read_transition_temperature(field).map(Setting::Softening)),
    ("melting", MATERIAL, |field, _| read_transition_temperature(field).map(Setting::Melting)),
    ("boiling", MATERIAL, |field, _| read_transition_temperature(field).map(Setting::Boiling)),
    ("flux", HEATING, |field, _| field.number(FLUX).map(Setting::Flux)),
    ("exchange", HEATING, |field, _| read_exchange(field).map(Setting::Exchange)),
    ("radiation", HEATING, |field, names| read_radiation(field, names.absolute_zero).map(Setting::Radiation)),
    ("power", HEATING, |field, _| field.number(POWER).map(Setting::Power)),
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
    for (key, owners, read) in SETTINGS {
        let Some(kind) = kinds.iter().find(|kind| owners.contains(kind)) else { continue };
        let setting = reader.read(key, |field| read(field, names));
        settings.extend(setting.map(|setting| (target_of(*kind, name), setting)));
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

/// Reads a transition temperature, or `false` for never.
fn read_transition_temperature(field: &Field) -> Option<Option<f32>> {
    field.unless_false(|field| field.number(TEMPERATURE))
}

/// Reads a number, or `"material"` to follow the material.
fn read_or_from_material(field: &Field, quantity: Quantity) -> Option<Option<f32>> {
    match field.node.text() {
        Some(_) => field.choice("choice", &[("material", None)]),
        None => field.number(quantity).map(Some),
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
