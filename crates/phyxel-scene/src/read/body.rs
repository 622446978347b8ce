//! Bodies in files.

use super::copies::read_copies;
use super::cursor::{Field, TableReader};
use super::model::{read_model, read_model_name};
use super::quantity::Quantity;
use super::read_name;
use super::shape::{Files, read_placement, read_shape};
use super::skin::{SkinContext, read_skin};
use crate::sample::Sampler;
use crate::scene::{BodyDescription, Deformation, ModelDescription};
use crate::shape::Shape;
use glam::Vec3;
use phyxel::model::ModelKind;

const SAMPLERS: [(&str, Sampler); 3] =
    [("lattice", Sampler::Lattice), ("ccp", Sampler::Ccp), ("poisson", Sampler::Poisson)];

/// Reads a body. The name of its material is checked by the caller.
pub(super) fn read_body(field: &Field, files: &mut Files) -> Option<BodyDescription> {
    let mut reader = field.table()?;
    let name = reader.read_required("name", "a name of its own", read_name);
    let material = reader.read_required("material", "the name of a material or of a preset", Field::text);
    let model_name = read_model_name(&mut reader);
    let model = read_model(&mut reader, model_name, files);
    let is_imported = model_name == Some(ModelKind::Tetra) && names_tetra_file(field);
    let shape = read_body_shape(&mut reader, model.as_ref(), is_imported, files);
    let sampler = reader.read("sampler", |field| read_sampler(field, model_name));
    let place = reader.read("place", read_placement);
    let scale = place.as_ref().map_or(1.0, |place| place.scale);
    let spacing = if is_imported {
        reader.number("spacing", Quantity::positive("m")).or(mean_edge(model.as_ref()).map(|edge| edge * scale))
    } else {
        reader.require_number("spacing", Quantity::positive("m"))
    };
    let deform = reader.items("deform").iter().map(read_deformation).collect::<Vec<_>>();
    let velocity = reader.vector("velocity", Quantity::any("m/s"));
    let spin = reader.vector("spin", Quantity::any("rad/s"));
    let temperature = reader.number("temperature", Quantity::any("temperature"));
    let radius = reader.number("radius", Quantity::positive("m"));
    let context = SkinContext { model: model_name, spacing, is_imported };
    let skin = reader.read("skin", |field| read_skin(field, &context, files));
    let held = reader.items("held").iter().map(|item| read_shape(item, files)).collect::<Vec<_>>();
    let self_contact = reader.flag("self_contact");
    let copies = reader.read("copies", |field| read_copies(field, files));
    reader.finish();
    Some(BodyDescription {
        name: name?,
        model: model?,
        material: material?.to_string(),
        shape: shape?,
        spacing: spacing?,
        sampler: sampler.unwrap_or(default_sampler(model_name)),
        place: place.unwrap_or_default(),
        deform: deform.into_iter().flatten().collect(),
        velocity: velocity.unwrap_or(Vec3::ZERO),
        spin: spin.unwrap_or(Vec3::ZERO),
        temperature: temperature.unwrap_or(0.0),
        radius,
        skin: skin.unwrap_or_default(),
        held: held.into_iter().flatten().collect(),
        self_contact: self_contact.unwrap_or(false),
        copies,
    })
}

/// Default arrangement of particles: crystals are closest packings, which suit fluids too.
fn default_sampler(model: Option<ModelKind>) -> Sampler {
    match model {
        Some(ModelKind::Crystal | ModelKind::Fluid) => Sampler::Ccp,
        _ => Sampler::Lattice,
    }
}

/// Reads the arrangement of particles; mass-spring lattices have theirs at the corners of cells.
fn read_sampler(field: &Field, model: Option<ModelKind>) -> Option<Sampler> {
    let sampler = field.choice("sampler", &SAMPLERS)?;
    if model == Some(ModelKind::MassSpring) && sampler != Sampler::Lattice {
        let word = field.text()?;
        field.reject(format!("is \"{word}\", but a body of springs is a lattice; leave the sampler out"));
        return None;
    }
    if model == Some(ModelKind::Tetra) {
        field.reject("is given, but tetrahedra fill a shape by their own mesher; leave the sampler out");
        return None;
    }
    Some(sampler)
}

/// `{ axis = "x", by = "yy", amount = 0.3 }`.
fn read_deformation(field: &Field) -> Option<Deformation> {
    let mut reader = field.table()?;
    let axes = [("x", 0), ("y", 1), ("z", 2)];
    let products: [(&str, usize); 9] = std::array::from_fn(|product| (Deformation::PRODUCTS[product], product));
    let axis = reader.read_required("axis", "x, y or z", |field| field.choice("axis", &axes));
    let product = "a product of coordinates, such as xy";
    let product = reader.read_required("by", product, |field| field.choice("product", &products));
    let amount = reader.require_number("amount", Quantity::any("half lengths"));
    reader.finish();
    Some(Deformation { axis: axis?, product: product?, amount: amount? })
}

/// Returns true if the tetrahedra of a body come from a file, readable or not.
fn names_tetra_file(body: &Field) -> bool {
    body.peek("tetra").is_some_and(|tetra| tetra.peek("path").is_some())
}

/// Mean edge length of imported tetrahedra, m.
fn mean_edge(model: Option<&ModelDescription>) -> Option<f32> {
    let Some(ModelDescription::Tetra { mesh: Some(import), .. }) = model else { return None };
    Some(import.mesh.mean_edge())
}

/// Reads the shape of a body; fluids may start without one, and imported tetrahedra have their own.
fn read_body_shape(
    reader: &mut TableReader,
    model: Option<&ModelDescription>,
    is_imported: bool,
    files: &mut Files,
) -> Option<Option<Shape>> {
    let may_be_empty = model.is_some_and(|model| model.kind() == ModelKind::Fluid);
    if (may_be_empty || is_imported) && !reader.has("shape") {
        return Some(None);
    }
    if is_imported {
        reader.reject("has both a shape and tetrahedra of a file (tetra.path); leave one of them out");
        return None;
    }
    let shape = reader.read_required("shape", "a shape", |field| read_shape(field, files));
    if let Some(Shape::Plane { .. }) = shape {
        reader.reject("has the shape of a plane, which has no end; a body needs a shape with an end, such as a box");
        return None;
    }
    shape.map(Some)
}
