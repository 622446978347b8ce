//! Materials in files.

use super::cursor::{Field, TableReader, read_all};
use super::quantity::Quantity;
use crate::document::Value;
use crate::presets;
use glam::Vec3;
use phyxel::material::{
    Curve, Finish, FluidProperties, Friction, HeatFromWork, Material, Plasticity, Sticky, ThermalProperties,
};

const PRESSURE: Quantity = Quantity::positive("Pa");
pub(super) const POISSON: Quantity = Quantity::between(-1.0, 0.5, "");

/// Reads a material: its preset, if any, with the changes it makes. `known` are the names of all materials of the file.
pub(super) fn read_named_material(name: &str, field: &Field, known: &[&str]) -> Option<Material> {
    let mut reader = field.table()?;
    let preset = reader.read("preset", |field| {
        let word = field.text()?;
        let preset = presets::material(word);
        if preset.is_none() {
            field.unknown_name("preset", word, presets::names());
        }
        preset
    });
    let start = preset.unwrap_or_default();
    Some(read_material(reader, Material { name: name.to_string(), ..start }, known))
}

/// Reads a material on the basis of another one.
pub(crate) fn read_material(mut reader: TableReader, start: Material, known: &[&str]) -> Material {
    let sticky = reader.read("sticky", |field| read_sticky(field, &start.name, known));
    let material = Material {
        name: start.name,
        density: reader.number("density", Quantity::positive("kg/m3")).unwrap_or(start.density),
        young_modulus: reader.read("young_modulus", read_young_modulus).unwrap_or(start.young_modulus),
        poisson_ratio: reader.number("poisson_ratio", POISSON).unwrap_or(start.poisson_ratio),
        damping: reader.number("damping", Quantity::not_negative("")).unwrap_or(start.damping),
        strength: reader.read("strength", read_strength).unwrap_or(start.strength),
        sticky: sticky.unwrap_or(start.sticky),
        plasticity: reader.read("plasticity", read_plasticity).unwrap_or(start.plasticity),
        friction: reader.read("friction", read_friction).unwrap_or(start.friction),
        restitution: reader.number("restitution", Quantity::fraction()).unwrap_or(start.restitution),
        heat: reader.read("heat", |field| read_heat(field, start.heat)).unwrap_or(start.heat),
        fluid: reader.read("fluid", |field| read_fluid(field, start.fluid.clone())).unwrap_or(start.fluid),
        color: reader.read("color", read_color).unwrap_or(start.color),
        finish: reader.read("finish", |field| field.choice("finish", &Finish::ALL)).unwrap_or(start.finish),
    };
    reader.finish();
    material
}

/// Reads Young's modulus, which must be positive at one temperature at least.
pub(super) fn read_young_modulus(field: &Field) -> Option<Curve> {
    let curve = read_curve(field, PRESSURE, "Pa")?;
    if curve.all(|value| value == 0.0) {
        field.reject("is zero at every temperature, but must be positive (Pa) at one of them");
        return None;
    }
    Some(curve)
}

/// Reads a number, or a curve of non-negative values over temperature: `[[0.0, 2.0e4], [8.0, 0.0]]`.
fn read_curve(field: &Field, quantity: Quantity, unit: &'static str) -> Option<Curve> {
    if !matches!(field.node.value, Value::List(_)) {
        return field.number(quantity).map(Curve::constant);
    }
    let named = if unit.is_empty() { "value" } else { unit };
    let items = field.items()?;
    if items.is_empty() {
        field.reject(format!("is an empty curve, but must have at least one point [temperature, {named}]"));
    }
    let points = read_all(&items, |item| read_curve_point(item, unit, named))?;
    if let Some(pair) = points.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
        let (before, after) = (points[pair].0, points[pair + 1].0);
        items[pair + 1].reject(format!("has temperature {after} after {before}, but temperatures must rise"));
        return None;
    }
    Curve::new(points)
}

fn read_curve_point(item: &Field, unit: &'static str, named: &str) -> Option<(f32, f32)> {
    let [temperature, value] = item.array(&format!("a point [temperature, {named}]"))?;
    let temperature = temperature.number(Quantity::any("temperature"));
    let value = value.number(Quantity::not_negative(unit));
    Some((temperature?, value?))
}

/// Reads a stress or a curve of stresses, or `false` for unbreakable.
pub(super) fn read_strength(field: &Field) -> Option<Option<Curve>> {
    field.unless_false(|field| read_curve(field, PRESSURE, "Pa"))
}

/// Reads names of materials, `{ with = [names], above = temperature }`, or `false` for not sticky.
fn read_sticky(field: &Field, own: &str, known: &[&str]) -> Option<Option<Sticky>> {
    field.unless_false(|field| match field.node.value {
        Value::Table(_) => {
            let mut reader = field.table()?;
            let with = reader.require("with", "a list of materials");
            let above = reader.number("above", Quantity::any("temperature"));
            reader.finish();
            Some(Sticky { with: read_partners(&with?, own, known)?, above })
        }
        _ => read_partners(field, own, known).map(Sticky::to),
    })
}

/// Reads names of materials or presets, at least one; its own is allowed.
fn read_partners(field: &Field, own: &str, known: &[&str]) -> Option<Vec<String>> {
    let items = field.items()?;
    if items.is_empty() {
        field.reject(format!("is an empty list, but must name what it sticks to: [\"{own}\"]"));
        return None;
    }
    let name = |item: &Field| {
        let name = item.text()?;
        if name != own && !known.contains(&name) && presets::material(name).is_none() {
            item.unknown_name("material", name, known.iter().copied());
            return None;
        }
        Some(name.to_string())
    };
    read_all(&items, name)
}

/// Reads `{ yield = 0.05, creep = 5.0, max = 0.5 }`, or `false` for elastic.
pub(super) fn read_plasticity(field: &Field) -> Option<Option<Plasticity>> {
    field.unless_false(|field| {
        let mut reader = field.table()?;
        let strain = Quantity::not_negative("");
        let yield_strain = reader.read_required("yield", strain.noun(), |field| read_curve(field, strain, ""));
        let creep = reader.require_number("creep", Quantity::positive("1/s"));
        let max = reader.require_number("max", Quantity::positive(""));
        reader.finish();
        Some(Plasticity { yield_strain: yield_strain?, creep: creep?, max: max? })
    })
}

/// Reads one number for both, or `{ static = 0.8, kinetic = 0.6 }`.
pub(super) fn read_friction(field: &Field) -> Option<Friction> {
    let quantity = Quantity::not_negative("");
    if !matches!(field.node.value, Value::Table(_)) {
        let both = field.number(quantity)?;
        return Some(Friction { r#static: both, kinetic: both });
    }
    let mut reader = field.table()?;
    let at_rest = reader.require_number("static", quantity);
    let sliding = reader.number("kinetic", quantity);
    reader.finish();
    let at_rest = at_rest?;
    let sliding = sliding.unwrap_or(at_rest);
    if sliding > at_rest {
        field
            .reject(format!("has kinetic = {sliding} above static = {at_rest}; sliding friction cannot be the larger"));
        return None;
    }
    Some(Friction { r#static: at_rest, kinetic: sliding })
}

fn read_heat(field: &Field, start: ThermalProperties) -> Option<ThermalProperties> {
    let mut reader = field.table()?;
    let temperature = Quantity::any("temperature");
    let heat = ThermalProperties {
        conductivity: reader.read("conductivity", read_conductivity).unwrap_or(start.conductivity),
        specific_heat: reader.number("specific_heat", Quantity::positive("J/(kg K)")).unwrap_or(start.specific_heat),
        softening: reader.number("softening", temperature).or(start.softening),
        melting: reader.number("melting", temperature).or(start.melting),
        boiling: reader.number("boiling", temperature).or(start.boiling),
        latent: reader.number("latent", Quantity::not_negative("J/kg")).unwrap_or(start.latent),
        expansion: reader.number("expansion", Quantity::any("1/K")).unwrap_or(start.expansion),
        softened: reader.number("softened", Quantity::fraction()).unwrap_or(start.softened),
        from_work: reader.read("from_work", read_from_work).unwrap_or(start.from_work),
    };
    reader.finish();
    check_phases(field, &heat);
    Some(heat)
}

/// Reads one fraction for all kinds of work, or `{ plastic = 0.9, friction = 0.5, damping = 1.0 }`.
fn read_from_work(field: &Field) -> Option<HeatFromWork> {
    if !matches!(field.node.value, Value::Table(_)) {
        let fraction = field.number(Quantity::fraction())?;
        return Some(HeatFromWork { plastic: fraction, friction: fraction, damping: fraction });
    }
    let mut reader = field.table()?;
    let mut fraction = |key| reader.number(key, Quantity::fraction()).unwrap_or(0.0);
    let fractions =
        HeatFromWork { plastic: fraction("plastic"), friction: fraction("friction"), damping: fraction("damping") };
    reader.finish();
    Some(fractions)
}

/// Reads one number, or three along the local axes of a body: `[8.0, 0.5, 0.5]`.
fn read_conductivity(field: &Field) -> Option<Vec3> {
    let quantity = Quantity::not_negative("W/(m K)");
    match field.node.value {
        Value::List(_) => field.vector(quantity),
        _ => field.number(quantity).map(Vec3::splat),
    }
}

/// Checks the order of softening, melting and boiling.
fn check_phases(field: &Field, heat: &ThermalProperties) {
    if let (Some(softening), Some(melting)) = (heat.softening, heat.melting)
        && softening > melting
    {
        field.reject(format!("has melting = {melting} below softening = {softening}; matter softens before it melts"));
    }
    if let (Some(melting), Some(boiling)) = (heat.melting, heat.boiling)
        && melting >= boiling
    {
        field.reject(format!("has boiling = {boiling}, but it must be above melting = {melting}"));
    }
    if let (Some(softening), Some(boiling), None) = (heat.softening, heat.boiling, heat.melting)
        && softening >= boiling
    {
        field.reject(format!("has boiling = {boiling}, but it must be above softening = {softening}"));
    }
    if heat.latent > 0.0 && heat.melting.is_none() {
        field.reject(format!("has latent = {} without melting; give the temperature at which it melts", heat.latent));
    }
}

/// Reads a number or a curve.
pub(super) fn read_viscosity(field: &Field) -> Option<Curve> {
    read_curve(field, Quantity::not_negative("Pa s"), "Pa s")
}

/// Reads a number or a curve.
pub(super) fn read_cohesion(field: &Field) -> Option<Curve> {
    read_curve(field, Quantity::not_negative(""), "")
}

fn read_fluid(field: &Field, start: FluidProperties) -> Option<FluidProperties> {
    let mut reader = field.table()?;
    let fluid = FluidProperties {
        viscosity: reader.read("viscosity", read_viscosity).unwrap_or(start.viscosity),
        cohesion: reader.read("cohesion", read_cohesion).unwrap_or(start.cohesion),
        surface_tension: reader
            .number("surface_tension", Quantity::not_negative("N/m"))
            .unwrap_or(start.surface_tension),
        bulk_modulus: reader.number("bulk_modulus", PRESSURE).or(start.bulk_modulus),
    };
    reader.finish();
    Some(fluid)
}

/// Reads `"#rrggbb"`.
pub(super) fn read_color(field: &Field) -> Option<[f32; 3]> {
    let text = field.text()?;
    let digits = text.strip_prefix('#').filter(|rest| rest.len() == 6 && rest.bytes().all(|it| it.is_ascii_hexdigit()));
    let Some(number) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
        field.reject(format!("is {text:?}, but must be a colour such as \"#f2d16b\" (red, green, blue)"));
        return None;
    };
    Some([16, 8, 0].map(|shift| (number >> shift & 0xff) as f32 / 255.0))
}
