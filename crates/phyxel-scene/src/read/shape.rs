//! Shapes in files: `{ kind = "box", size = [1, 1, 1], at = [0, 1, 0] }`.

use super::cursor::{Field, Reader};
use super::quantity::Quantity;
use crate::mesh::{MeshSolid, TriangleMesh, read as read_mesh_file};
use crate::shape::{Placement, Shape};
use crate::tetra::{Reading, read as read_tetrahedra};
use glam::Vec3;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that a scene names; each is read once.
pub(super) struct Files {
    folder: PathBuf,
    solids: HashMap<PathBuf, Option<Arc<MeshSolid>>>,
}

impl Files {
    /// Looks below a folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), solids: HashMap::new() }
    }

    /// The mesh in the file that a field names.
    pub fn mesh(&self, field: &Field) -> Option<TriangleMesh> {
        let name = field.text()?;
        read_mesh_file(&self.folder.join(name)).map_err(|error| field.object(format!("\"{name}\": {error}"))).ok()
    }

    /// The tetrahedra in the file that a field names.
    pub fn tetrahedra(&self, field: &Field) -> Option<Reading> {
        read_tetrahedra(&self.folder.join(field.text()?)).map_err(|error| field.object(error.to_string())).ok()
    }

    /// The solid that the mesh in the file that a field names encloses.
    fn solid(&mut self, field: &Field) -> Option<Arc<MeshSolid>> {
        let path = self.folder.join(field.text()?);
        if let Some(solid) = self.solids.get(&path) {
            return solid.clone();
        }
        let mesh = self.mesh(field);
        let solid = mesh.and_then(|mesh| MeshSolid::new(mesh).map_err(|error| field.object(error.to_string())).ok());
        let solid = solid.map(Arc::new);
        self.solids.insert(path, solid.clone());
        solid
    }
}

/// The kinds of shapes.
#[derive(Clone, Copy)]
enum Kind {
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

const KINDS: [(&str, Kind); 13] = [
    ("box", Kind::Box),
    ("sphere", Kind::Sphere),
    ("ellipsoid", Kind::Ellipsoid),
    ("cylinder", Kind::Cylinder),
    ("cone", Kind::Cone),
    ("capsule", Kind::Capsule),
    ("torus", Kind::Torus),
    ("plane", Kind::Plane),
    ("mesh", Kind::Mesh),
    ("union", Kind::Union),
    ("intersection", Kind::Intersection),
    ("difference", Kind::Difference),
    ("smooth_union", Kind::SmoothUnion),
];

const LENGTH: Quantity = Quantity::positive("m");

/// A shape.
pub(super) fn read_shape(field: &Field, files: &mut Files) -> Option<Shape> {
    let mut reader = field.table()?;
    let shape = read_shape_keys(&mut reader, files);
    if kind_is_known(&mut reader) {
        reader.finish();
    }
    shape
}

/// Whether the keys of a shape can be told apart from unknown ones.
pub(super) fn kind_is_known(reader: &mut Reader) -> bool {
    let kind = reader.field("kind");
    kind.is_none_or(|kind| KINDS.iter().any(|(word, _)| kind.node.text() == Some(word)))
}

/// The shape in a table that may hold other things too.
pub(super) fn read_shape_keys(reader: &mut Reader, files: &mut Files) -> Option<Shape> {
    let placement = read_placement_keys(reader);
    let kind = reader.need("kind", || format!("one of {}", super::words::listed(KINDS.map(|(word, _)| word))));
    let shape = match kind?.choice("kind of shape", &KINDS)? {
        Kind::Mesh => Shape::Mesh(files.solid(&reader.need("path", || "the path of a mesh file".into())?)?),
        kind @ (Kind::Union | Kind::Intersection | Kind::Difference | Kind::SmoothUnion) => {
            read_combination(reader, kind, files)?
        }
        kind => read_primitive(reader, kind)?,
    };
    if let Err(error) = shape.check() {
        reader.object(error.to_string());
        return None;
    }
    Some(if placement == Placement::default() { shape } else { shape.placed(placement) })
}

fn read_primitive(reader: &mut Reader, kind: Kind) -> Option<Shape> {
    Some(match kind {
        Kind::Box => Shape::Box { size: reader.need_vector("size", LENGTH)? },
        Kind::Sphere => Shape::Sphere { radius: reader.need_number("radius", LENGTH)? },
        Kind::Ellipsoid => Shape::Ellipsoid { radii: reader.need_vector("radii", LENGTH)? },
        Kind::Cylinder => {
            let (radius, height) = (reader.need_number("radius", LENGTH), reader.need_number("height", LENGTH));
            Shape::Cylinder { radius: radius?, height: height? }
        }
        Kind::Cone => {
            let radius = reader.need_number("radius", Quantity::not_negative("m"));
            let top_radius = reader.number("top_radius", Quantity::not_negative("m")).unwrap_or(0.0);
            let height = reader.need_number("height", LENGTH);
            Shape::Cone { radius: radius?, top_radius, height: height? }
        }
        Kind::Capsule => {
            let radius = reader.need_number("radius", LENGTH);
            let height = reader.need_number("height", Quantity::not_negative("m"));
            Shape::Capsule { radius: radius?, height: height? }
        }
        Kind::Torus => {
            let (radius, tube) = (reader.need_number("radius", LENGTH), reader.need_number("tube", LENGTH));
            Shape::Torus { radius: radius?, tube: tube? }
        }
        // Only planes are left; what is combined or read from a file is read elsewhere.
        _ => {
            let normal = reader.field("normal").map(|field| field.direction());
            Shape::Plane { normal: normal.unwrap_or(Some(Vec3::Y))? }
        }
    })
}

fn read_combination(reader: &mut Reader, kind: Kind, files: &mut Files) -> Option<Shape> {
    if let Kind::Difference = kind {
        let base = reader.need("base", || "a shape".into()).and_then(|field| read_shape(&field, files));
        let cuts = read_parts(reader, "cuts", files);
        return Some(Shape::Difference { base: Box::new(base?), cuts: cuts? });
    }
    let parts = read_parts(reader, "parts", files);
    Some(match kind {
        Kind::Union => Shape::Union(parts?),
        Kind::Intersection => Shape::Intersection(parts?),
        _ => {
            let blend = reader.need_number("blend", Quantity::not_negative("m"));
            Shape::SmoothUnion { parts: parts?, blend: blend? }
        }
    })
}

/// All shapes of a list; `None` if one of them is wrong or there are none.
fn read_parts(reader: &mut Reader, key: &'static str, files: &mut Files) -> Option<Vec<Shape>> {
    let field = reader.need(key, || "a list of shapes".into())?;
    let items = field.items()?;
    if items.is_empty() {
        field.object("is empty, but must hold at least one shape");
        return None;
    }
    let shapes: Vec<Option<Shape>> = items.iter().map(|item| read_shape(item, files)).collect();
    shapes.into_iter().collect()
}

/// `{ at = [0, 1, 0], turn = [0, 90, 0], scale = 2 }`.
pub(super) fn read_placement(field: &Field) -> Option<Placement> {
    let mut reader = field.table()?;
    let placement = read_placement_keys(&mut reader);
    reader.finish();
    Some(placement)
}

/// A placement in a table that may hold other things too.
pub(super) fn read_placement_keys(reader: &mut Reader) -> Placement {
    Placement {
        at: reader.vector("at", Quantity::any("m")).unwrap_or(Vec3::ZERO),
        turn: reader.vector("turn", Quantity::any("degrees")).unwrap_or(Vec3::ZERO),
        scale: reader.number("scale", Quantity::positive("")).unwrap_or(1.0),
    }
}
