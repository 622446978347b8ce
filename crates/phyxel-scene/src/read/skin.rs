//! Skins of bodies in files.

use super::cursor::{Field, TableReader};
use super::quantity::Quantity;
use super::shape::Files;
use crate::mesh::TriangleMesh;
use crate::scene::SkinDescription;
use phyxel::model::ModelKind;
use phyxel::skin::{SmoothSurface, SubdivisionRule};
use std::sync::Arc;

/// Smallest cell of an isosurface, in spacings: finer ones only resolve the roundness of single particles.
const MIN_CELL: f32 = 0.1;
/// Largest number of smoothing iterations of an isosurface.
const MAX_SMOOTHING: u32 = 100;

/// Properties of the body that its skin must suit.
pub(super) struct SkinContext {
    pub model: Option<ModelKind>,
    pub spacing: Option<f32>,
    /// True if the body is an imported tetrahedral mesh.
    pub is_imported: bool,
}

#[derive(Clone, Copy)]
enum SkinKind {
    Particles,
    Mesh,
    Isosurface,
    Surfels,
    Faces,
    Smooth,
}

const KINDS: [(&str, SkinKind); 6] = [
    ("particles", SkinKind::Particles),
    ("mesh", SkinKind::Mesh),
    ("isosurface", SkinKind::Isosurface),
    ("surfels", SkinKind::Surfels),
    ("faces", SkinKind::Faces),
    ("smooth", SkinKind::Smooth),
];

/// Reads `{ kind = "particles" }`, `{ kind = "faces" }`, `{ kind = "mesh", path = "fine.obj", cell = 0.01 }`,
/// `{ kind = "isosurface", cell = 0.01, smoothing = 8 }`, `{ kind = "surfels", path = "fine.obj", spacing = 0.01 }`
/// or `{ kind = "smooth", scheme = "loop", levels = 1 }`.
pub(super) fn read_skin(field: &Field, context: &SkinContext, files: &mut Files) -> Option<SkinDescription> {
    let mut reader = field.table()?;
    let kind = match reader.require("kind", "particles, mesh, isosurface, surfels, faces or smooth") {
        Some(kind) => kind.choice("kind of skin", &KINDS)?,
        None => SkinKind::Particles,
    };
    match kind {
        SkinKind::Particles => {
            reader.finish();
            Some(SkinDescription::Particles)
        }
        SkinKind::Faces => {
            reader.finish();
            require_tetrahedra(field, "faces", context);
            Some(SkinDescription::Faces)
        }
        SkinKind::Smooth => {
            let smooth = read_smooth(&mut reader);
            reader.finish();
            require_tetrahedra(field, "smooth", context);
            Some(SkinDescription::Smooth(smooth))
        }
        SkinKind::Mesh => read_mesh(reader, field, context, files),
        SkinKind::Isosurface => Some(read_isosurface(reader, field, context)),
        SkinKind::Surfels => read_surfels(reader, field, context, files),
    }
}

/// Rejects skins of boundary faces on other models.
fn require_tetrahedra(field: &Field, skin: &str, context: &SkinContext) {
    if let Some(model) = context.model.filter(|model| *model != ModelKind::Tetra) {
        let name = model.name();
        field.reject(format!(
            "is \"{skin}\", which only the model \"tetra\" has, and this body has \"{name}\"; use \"isosurface\""
        ));
    }
}

fn read_mesh(
    mut reader: TableReader,
    field: &Field,
    context: &SkinContext,
    files: &mut Files,
) -> Option<SkinDescription> {
    let cell = reader.number("cell", Quantity::positive("m"));
    let reason = match context.model {
        Some(ModelKind::MassSpring) => Some("as it may melt"),
        Some(ModelKind::Crystal | ModelKind::Fluid) => Some("as its neighbours change"),
        _ => None,
    };
    if let (Some(model), Some(reason)) = (context.model, reason) {
        let name = model.name();
        field.reject(format!(
            "is a mesh, which a body of the model \"{name}\" cannot carry, {reason}; use \"isosurface\""
        ));
    }
    let mesh = read_carried_mesh(reader, files)?;
    if mesh.is_none() && context.is_imported {
        field.reject(
            "is a mesh without a path, but tetrahedra of a file have no shape to take it from; use \"faces\", or give \
             a path",
        );
    }
    Some(SkinDescription::Mesh { mesh, cell })
}

fn read_isosurface(mut reader: TableReader, field: &Field, context: &SkinContext) -> SkinDescription {
    let cell = reader.number("cell", Quantity::positive("m"));
    let smoothing = reader.read("smoothing", |field| field.count_within(0..=MAX_SMOOTHING));
    reader.finish();
    if let (Some(cell), Some(spacing)) = (cell, context.spacing)
        && !(MIN_CELL * spacing..=spacing).contains(&cell)
    {
        field.reject(format!(
            "has cell = {cell} m for particles {spacing} m apart, but must have one between a tenth of that and all \
             of it"
        ));
    }
    SkinDescription::Isosurface { cell, smoothing }
}

fn read_surfels(
    mut reader: TableReader,
    field: &Field,
    context: &SkinContext,
    files: &mut Files,
) -> Option<SkinDescription> {
    if let Some(model) = context.model.filter(|model| *model != ModelKind::Continuum) {
        let name = model.name();
        let remedy = match model {
            ModelKind::ShapeMatching => "\"mesh\" or \"isosurface\"",
            ModelKind::Tetra => "\"mesh\" or \"faces\"",
            _ => "\"isosurface\"",
        };
        field.reject(format!(
            "is \"surfels\", which only the model \"continuum\" carries, and this body has \"{name}\"; use {remedy}"
        ));
    }
    let spacing = reader.number("spacing", Quantity::positive("m"));
    let mesh = read_carried_mesh(reader, files)?;
    Some(SkinDescription::Surfels { mesh, spacing })
}

/// Reads scheme and levels of a subdivision surface.
fn read_smooth(reader: &mut TableReader) -> SmoothSurface {
    let scheme = reader.read("scheme", |field| field.choice("scheme of a smooth skin", &SubdivisionRule::ALL));
    let levels = reader.read("levels", |field| field.count_within(1..=SmoothSurface::MAX_LEVELS));
    SmoothSurface { scheme: scheme.unwrap_or_default(), levels: levels.unwrap_or(1) }
}

/// Reads the optional `path` of the mesh of an embedded skin; it must be the last key.
fn read_carried_mesh(mut reader: TableReader, files: &mut Files) -> Option<Option<Arc<TriangleMesh>>> {
    let mesh = reader.read_valid("path", |path| files.mesh(path).map(Arc::new));
    reader.finish();
    mesh
}
