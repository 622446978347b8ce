//! Materials as `UsdPreviewSurface`, which every reader of the format knows.

use super::layer::{Layer, Prim, UNIFORM};
use super::names::Names;
use super::tables::{PathId, SpecKind};
use super::value::{Kind, Rep, Value};
use crate::error::FileError;
use crate::sink::look::Look;
use glam::Vec3;

/// Writes a material for each look below `world` and tells their paths.
pub(super) fn write_looks(layer: &mut Layer, world: &mut Prim, looks: &[&Look]) -> Result<Vec<PathId>, FileError> {
    if looks.is_empty() {
        return Ok(Vec::new());
    }
    let mut group = layer.prim(world, "Looks", "Scope");
    let mut names = Names::new(&[]);
    let mut paths = Vec::new();
    for look in looks {
        paths.push(write_look(layer, &mut group, &names.unique(&look.name), look)?);
    }
    layer.close(group, SpecKind::Prim)?;
    Ok(paths)
}

fn write_look(layer: &mut Layer, group: &mut Prim, name: &str, look: &Look) -> Result<PathId, FileError> {
    let mut material = layer.prim(group, name, "Material");
    let mut shader = layer.prim(&mut material, "Surface", "Shader");
    let id = layer.tables.token("UsdPreviewSurface");
    layer.attribute(&mut shader, "info:id", "token", &[UNIFORM, ("default", id)]);
    let color = Vec3::from(look.linear_color());
    let (color, _) = layer.file.put(&Value::Vector(color), None)?;
    layer.attribute(&mut shader, "inputs:diffuseColor", "color3f", &[("default", color)]);
    let numbers = [
        ("inputs:roughness", look.finish.roughness()),
        ("inputs:metallic", look.finish.metalness()),
        ("inputs:opacity", 1.0 - look.transmission()),
        ("inputs:ior", look.refraction()),
    ];
    for (name, value) in numbers {
        layer.attribute(&mut shader, name, "float", &[("default", Rep::here(Kind::Float, value.to_bits()))]);
    }
    let output = layer.attribute(&mut shader, "outputs:surface", "token", &[]);
    let connection = layer.paths(&[output])?;
    layer.attribute(&mut material, "outputs:surface", "token", &[("connectionPaths", connection)]);
    let path = material.path;
    layer.close(shader, SpecKind::Prim)?;
    layer.close(material, SpecKind::Prim)?;
    Ok(path)
}
