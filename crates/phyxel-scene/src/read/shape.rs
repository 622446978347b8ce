//! Shapes in files: `{ kind = "box", size = [1, 1, 1], at = [0, 1, 0] }`.

use super::cursor::{Field, TableReader, read_all};
use super::quantity::Quantity;
use crate::import::{mesh, tetra};
use crate::mesh::{MeshSolid, TriangleMesh};
use crate::shape::{Placement, Shape};
use glam::Vec3;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that a scene refers to; each solid is read once.
pub(super) struct Files {
    folder: PathBuf,
    solids: HashMap<PathBuf, Option<Arc<MeshSolid>>>,
}

impl Files {
    /// Resolves paths relative to a folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), solids: HashMap::new() }
    }

    /// Reads the mesh file that a field names.
    pub fn mesh(&self, field: &Field) -> Option<TriangleMesh> {
        let name = field.text()?;
        mesh::read(&self.folder.join(name)).map_err(|error| field.reject(format!("\"{name}\": {error}"))).ok()
    }

    /// Reads the file of tetrahedra that a field names.
    pub fn tetrahedra(&self, field: &Field) -> Option<tetra::TetraImport> {
        tetra::read(&self.folder.join(field.text()?)).map_err(|error| field.reject(error.to_string())).ok()
    }

    /// Reads the mesh file that a field names as a solid.
    fn solid(&mut self, field: &Field) -> Option<Arc<MeshSolid>> {
        let path = self.folder.join(field.text()?);
        if let Some(solid) = self.solids.get(&path) {
            return solid.clone();
        }
        let mesh = self.mesh(field);
        let solid = mesh.and_then(|mesh| MeshSolid::new(mesh).map_err(|error| field.reject(error.to_string())).ok());
        let solid = solid.map(Arc::new);
        self.solids.insert(path, solid.clone());
        solid
    }
}

/// Kinds of shapes.
#[derive(Clone, Copy)]
enum ShapeKind {
    Box,
    Sphere,
    Ellipsoid,
    Cylinder,
    Cone,
    Capsule,
    Torus,
    Plane,
    Mesh,
    Union,
    Intersection,
    Difference,
    SmoothUnion,
}

const KINDS: [(&str, ShapeKind); 13] = [
    ("box", ShapeKind::Box),
    ("sphere", ShapeKind::Sphere),
    ("ellipsoid", ShapeKind::Ellipsoid),
    ("cylinder", ShapeKind::Cylinder),
    ("cone", ShapeKind::Cone),
    ("capsule", ShapeKind::Capsule),
    ("torus", ShapeKind::Torus),
    ("plane", ShapeKind::Plane),
    ("mesh", ShapeKind::Mesh),
    ("union", ShapeKind::Union),
    ("intersection", ShapeKind::Intersection),
    ("difference", ShapeKind::Difference),
    ("smooth_union", ShapeKind::SmoothUnion),
];

const LENGTH: Quantity = Quantity::positive("m");

/// Reads a shape.
pub(super) fn read_shape(field: &Field, files: &mut Files) -> Option<Shape> {
    let mut reader = field.table()?;
    let shape = read_shape_keys(&mut reader, files);
    if kind_is_known(&mut reader) {
        reader.finish();
    }
    shape
}

/// Returns true if the kind of a shape, and so its keys, are known.
pub(super) fn kind_is_known(reader: &mut TableReader) -> bool {
    let kind = reader.field("kind");
    kind.is_none_or(|kind| KINDS.iter().any(|(word, _)| kind.node.text() == Some(word)))
}

/// Reads a shape from a table that may have other keys too.
pub(super) fn read_shape_keys(reader: &mut TableReader, files: &mut Files) -> Option<Shape> {
    let placement = read_placement_keys(reader);
    let kind = reader.require("kind", format!("one of {}", super::wording::list(KINDS.map(|(word, _)| word))));
    let shape = match kind?.choice("kind of shape", &KINDS)? {
        ShapeKind::Mesh => Shape::Mesh(files.solid(&reader.require("path", "the path of a mesh file")?)?),
        kind @ (ShapeKind::Union | ShapeKind::Intersection | ShapeKind::Difference | ShapeKind::SmoothUnion) => {
            read_combination(reader, kind, files)?
        }
        kind => read_primitive(reader, kind)?,
    };
    if let Err(error) = shape.check() {
        reader.reject(error.to_string());
        return None;
    }
    Some(if placement == Placement::default() { shape } else { shape.placed(placement) })
}

fn read_primitive(reader: &mut TableReader, kind: ShapeKind) -> Option<Shape> {
    Some(match kind {
        ShapeKind::Box => Shape::Box { size: reader.require_vector("size", LENGTH)? },
        ShapeKind::Sphere => Shape::Sphere { radius: reader.require_number("radius", LENGTH)? },
        ShapeKind::Ellipsoid => Shape::Ellipsoid { radii: reader.require_vector("radii", LENGTH)? },
        ShapeKind::Cylinder => {
            let (radius, height) = (reader.require_number("radius", LENGTH), reader.require_number("height", LENGTH));
            Shape::Cylinder { radius: radius?, height: height? }
        }
        ShapeKind::Cone => {
            let radius = reader.require_number("radius", Quantity::not_negative("m"));
            let top_radius = reader.number("top_radius", Quantity::not_negative("m")).unwrap_or(0.0);
            let height = reader.require_number("height", LENGTH);
            Shape::Cone { radius: radius?, top_radius, height: height? }
        }
        ShapeKind::Capsule => {
            let radius = reader.require_number("radius", LENGTH);
            let height = reader.require_number("height", Quantity::not_negative("m"));
            Shape::Capsule { radius: radius?, height: height? }
        }
        ShapeKind::Torus => {
            let (radius, tube) = (reader.require_number("radius", LENGTH), reader.require_number("tube", LENGTH));
            Shape::Torus { radius: radius?, tube: tube? }
        }
        // Only planes remain; combinations and meshes are read elsewhere.
        _ => {
            let normal = reader.read_valid("normal", Field::direction)?;
            Shape::Plane { normal: normal.unwrap_or(Vec3::Y) }
        }
    })
}

fn read_combination(reader: &mut TableReader, kind: ShapeKind, files: &mut Files) -> Option<Shape> {
    if let ShapeKind::Difference = kind {
        let base = reader.read_required("base", "a shape", |field| read_shape(field, files));
        let cuts = read_parts(reader, "cuts", files);
        return Some(Shape::Difference { base: Box::new(base?), cuts: cuts? });
    }
    let parts = read_parts(reader, "parts", files);
    Some(match kind {
        ShapeKind::Union => Shape::Union(parts?),
        ShapeKind::Intersection => Shape::Intersection(parts?),
        _ => {
            let blend = reader.require_number("blend", Quantity::not_negative("m"));
            Shape::SmoothUnion { parts: parts?, blend: blend? }
        }
    })
}

/// Reads a list of shapes; `None` if it is empty or one of them is invalid.
fn read_parts(reader: &mut TableReader, key: &'static str, files: &mut Files) -> Option<Vec<Shape>> {
    let field = reader.require(key, "a list of shapes")?;
    let items = field.items()?;
    if items.is_empty() {
        field.reject("is empty, but must hold at least one shape");
        return None;
    }
    read_all(&items, |item| read_shape(item, files))
}

/// Reads `{ at = [0, 1, 0], turn = [0, 90, 0], scale = 2 }`.
pub(super) fn read_placement(field: &Field) -> Option<Placement> {
    let mut reader = field.table()?;
    let placement = read_placement_keys(&mut reader);
    reader.finish();
    Some(placement)
}

/// Reads a placement from a table that may have other keys too.
pub(super) fn read_placement_keys(reader: &mut TableReader) -> Placement {
    Placement {
        at: reader.vector("at", Quantity::any("m")).unwrap_or(Vec3::ZERO),
        turn: reader.vector("turn", Quantity::any("degrees")).unwrap_or(Vec3::ZERO),
        scale: reader.number("scale", Quantity::positive("")).unwrap_or(1.0),
    }
}
