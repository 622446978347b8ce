//! Materials as `UsdPreviewSurface`, which every USD reader supports.

use super::crate_file::{Value, ValueRep, ValueType};
use super::layer::{Layer, Prim, UNIFORM};
use super::names::UniqueNames;
use super::tables::{PathId, SpecType};
use crate::error::FileError;
use crate::sink::appearance::Appearance;
use glam::Vec3;

/// Writes a material for each appearance below `world`; returns their paths.
pub(super) fn write_materials(
    layer: &mut Layer,
    world: &mut Prim,
    appearances: &[&Appearance],
) -> Result<Vec<PathId>, FileError> {
    if appearances.is_empty() {
        return Ok(Vec::new());
    }
    let mut group = layer.prim(world, "Looks", "Scope");
    let mut names = UniqueNames::new(&[]);
    let mut paths = Vec::new();
    for appearance in appearances {
        paths.push(write_material(layer, &mut group, &names.unique(&appearance.name), appearance)?);
    }
    layer.close(group, SpecType::Prim)?;
    Ok(paths)
}

fn write_material(
    layer: &mut Layer,
    group: &mut Prim,
    name: &str,
    appearance: &Appearance,
) -> Result<PathId, FileError> {
    let mut material = layer.prim(group, name, "Material");
    let mut shader = layer.prim(&mut material, "Surface", "Shader");
    let id = layer.tables.token_value("UsdPreviewSurface");
    layer.attribute(&mut shader, "info:id", "token", &[UNIFORM, ("default", id)]);
    let color = Vec3::from(appearance.linear_color());
    let (color, _) = layer.file.write_value(&Value::Vector(color), None)?;
    layer.attribute(&mut shader, "inputs:diffuseColor", "color3f", &[("default", color)]);
    let inputs = [
        ("inputs:roughness", appearance.finish.roughness()),
        ("inputs:metallic", appearance.finish.metalness()),
        ("inputs:opacity", 1.0 - appearance.transmission()),
        ("inputs:ior", appearance.refractive_index()),
    ];
    for (name, value) in inputs {
        layer.attribute(
            &mut shader,
            name,
            "float",
            &[("default", ValueRep::inlined(ValueType::Float, value.to_bits()))],
        );
    }
    let output = layer.attribute(&mut shader, "outputs:surface", "token", &[]);
    let connection = layer.paths(&[output])?;
    layer.attribute(&mut material, "outputs:surface", "token", &[("connectionPaths", connection)]);
    let path = material.path;
    layer.close(shader, SpecType::Prim)?;
    layer.close(material, SpecType::Prim)?;
    Ok(path)
}
