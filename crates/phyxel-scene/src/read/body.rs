//! Bodies in files.

use super::continuum::read_continuum;
use super::copies::read_copies;
use super::crystal::read_crystal;
use super::cursor::{Field, Reader};
use super::lattice::read_lattice;
use super::quantity::Quantity;
use super::read_name;
use super::shape::{Files, read_placement, read_shape};
use super::tetra::read_tetra;
use crate::document::Value;
use crate::mesh::TriangleMesh;
use crate::sample::Sampler;
use crate::scene::{BodyDescription, ClusterPlan, Deformation, ModelDescription, SkinDescription};
use crate::shape::Shape;
use glam::Vec3;
use phyxel::model::ModelKind;
use phyxel::model::shape::{ShapeMode, ShapeSettings};
use phyxel::skin::{Smooth, SmoothScheme};
use std::sync::Arc;

pub(super) const MODES: [(&str, ShapeMode); 3] =
    [("rigid", ShapeMode::Rigid), ("linear", ShapeMode::Linear), ("quadratic", ShapeMode::Quadratic)];

const SAMPLERS: [(&str, Sampler); 3] =
    [("lattice", Sampler::Lattice), ("ccp", Sampler::Ccp), ("poisson", Sampler::Poisson)];

/// One body. The name of its material is checked by whoever knows the materials.
pub(super) fn read_body(field: &Field, files: &mut Files) -> Option<BodyDescription> {
    let mut reader = field.table()?;
    let name = reader.need("name", || "a name of its own".into()).and_then(|field| read_name(&field));
    let material = reader.need("material", || "the name of a material or of a preset".into());
    let material = material.and_then(|field| field.text());
    let kind = read_model_kind(&mut reader);
    let model = read_model(&mut reader, kind, files);
    let is_meshed = kind == Some(ModelKind::Tetra) && names_tetrahedra(field);
    let shape = read_body_shape(&mut reader, model.as_ref(), is_meshed, files);
    let sampler = reader.field("sampler").and_then(|field| read_sampler(&field, kind));
    let place = reader.field("place").and_then(|field| read_placement(&field));
    let scale = place.as_ref().map_or(1.0, |place| place.scale);
    let spacing = if is_meshed {
        reader.number("spacing", Quantity::positive("m")).or(meshed_edge(model.as_ref()).map(|edge| edge * scale))
    } else {
        reader.need_number("spacing", Quantity::positive("m"))
    };
    let deform = reader.items("deform").iter().map(read_deformation).collect::<Vec<_>>();
    let velocity = reader.vector("velocity", Quantity::any("m/s"));
    let spin = reader.vector("spin", Quantity::any("rad/s"));
    let temperature = reader.number("temperature", Quantity::any("temperature"));
    let radius = reader.number("radius", Quantity::positive("m"));
    let wearer = Wearer { model: kind, spacing, is_meshed };
    let skin = reader.field("skin").and_then(|field| read_skin(&field, &wearer, files));
    let held = reader.items("held").iter().map(|item| read_shape(item, files)).collect::<Vec<_>>();
    let self_contact = reader.flag("self_contact");
    let copies = reader.field("copies").and_then(|field| read_copies(&field, files));
    reader.finish();
    Some(BodyDescription {
        name: name?,
        model: model?,
        material: material?.to_string(),
        shape: shape?,
        spacing: spacing?,
        sampler: sampler.unwrap_or(usual_sampler(kind)),
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

/// How particles are arranged if the file does not say: crystals are closest packings, and fluids lie best as such.
fn usual_sampler(kind: Option<ModelKind>) -> Sampler {
    if kind == Some(ModelKind::Crystal) { Sampler::Ccp } else { Sampler::Lattice }
}

/// How particles are arranged; springs need the corners of cells.
fn read_sampler(field: &Field, kind: Option<ModelKind>) -> Option<Sampler> {
    let sampler = field.choice("sampler", &SAMPLERS)?;
    if kind == Some(ModelKind::Spring) && sampler != Sampler::Lattice {
        let word = field.text()?;
        field.object(format!("is \"{word}\", but a body of springs is a lattice; leave the sampler out"));
        return None;
    }
    if kind == Some(ModelKind::Tetra) {
        field.object("is given, but tetrahedra have their own way to fill a shape; leave the sampler out");
        return None;
    }
    Some(sampler)
}

fn read_model_kind(reader: &mut Reader) -> Option<ModelKind> {
    let words = ModelKind::ALL.map(|kind| (kind.name(), kind));
    let known = || format!("one of {}", super::words::listed(words.map(|(word, _)| word)));
    reader.need("model", known)?.choice("model", &words)
}

/// `{ axis = "x", by = "yy", amount = 0.3 }`.
fn read_deformation(field: &Field) -> Option<Deformation> {
    let mut reader = field.table()?;
    let axes = [("x", 0), ("y", 1), ("z", 2)];
    let products: [(&str, usize); 9] = std::array::from_fn(|by| (Deformation::PRODUCTS[by], by));
    let axis = reader.need("axis", || "x, y or z".into()).and_then(|field| field.choice("axis", &axes));
    let by = reader.need("by", || "a product of coordinates, such as xy".into());
    let by = by.and_then(|field| field.choice("product", &products));
    let amount = reader.need_number("amount", Quantity::any("half lengths"));
    reader.finish();
    Some(Deformation { axis: axis?, by: by?, amount: amount? })
}

/// Whether a body's tetrahedra come from a file, be it readable or not.
fn names_tetrahedra(body: &Field) -> bool {
    body.peek("tetra").is_some_and(|tetra| tetra.peek("path").is_some())
}

/// Mean length of the edges of tetrahedra from a file, m.
fn meshed_edge(model: Option<&ModelDescription>) -> Option<f32> {
    let Some(ModelDescription::Tetra { mesh: Some(reading), .. }) = model else { return None };
    Some(reading.mesh.mean_edge())
}

/// The shape of a body; a fluid that grows may have none, and tetrahedra of a file have their own.
fn read_body_shape(
    reader: &mut Reader,
    model: Option<&ModelDescription>,
    is_meshed: bool,
    files: &mut Files,
) -> Option<Option<Shape>> {
    let grows =
        matches!(model, Some(ModelDescription::Crystal(settings)) if settings.phase == phyxel::particles::Phase::Fluid);
    if (grows || is_meshed) && !reader.has("shape") {
        return Some(None);
    }
    if is_meshed {
        reader.object("has both a shape and tetrahedra of a file (tetra.path); leave one of them out");
        return None;
    }
    let shape = reader.need("shape", || "a shape".into()).and_then(|field| read_shape(&field, files));
    if let Some(Shape::Plane { .. }) = shape {
        reader.object("has the shape of a plane, which has no end; a body needs a shape with an end, such as a box");
        return None;
    }
    shape.map(Some)
}

/// Settings of a model stand in a table of their own: `matching` for shape matching, because a body's `shape` is
/// its geometry, and `lattice` for springs.
fn read_model(reader: &mut Reader, kind: Option<ModelKind>, files: &Files) -> Option<ModelDescription> {
    let tables = [
        ("continuum", ModelKind::Continuum),
        ("crystal", ModelKind::Crystal),
        ("matching", ModelKind::Shape),
        ("lattice", ModelKind::Spring),
        ("tetra", ModelKind::Tetra),
    ];
    let [continuum, crystal, matching, lattice, tetra] = tables.map(|(table, owner)| {
        let field = reader.field(table)?;
        if kind.is_some_and(|kind| kind != owner) {
            field.object(format!("holds settings of the model \"{}\", which this body does not use", owner.name()));
            return None;
        }
        Some(field)
    });
    match kind? {
        ModelKind::Continuum => {
            let usual = ModelDescription::Continuum(Box::default());
            Some(continuum.and_then(|field| read_continuum(&field)).unwrap_or(usual))
        }
        ModelKind::Crystal => {
            let usual = ModelDescription::Crystal(Box::default());
            Some(crystal.and_then(|field| read_crystal(&field)).unwrap_or(usual))
        }
        ModelKind::Shape => {
            let matching = matching.and_then(|field| {
                let mut table = field.table()?;
                let matching = read_matching(&mut table);
                table.finish();
                Some(matching)
            });
            Some(matching.unwrap_or_default().described())
        }
        ModelKind::Spring => {
            let usual = ModelDescription::Spring { cell: None, settings: Box::default() };
            Some(lattice.and_then(|field| read_lattice(&field)).unwrap_or(usual))
        }
        ModelKind::Tetra => match tetra {
            // Without its file a body has no form.
            Some(field) => read_tetra(&field, files),
            None => Some(ModelDescription::Tetra { mesh: None, settings: Box::default() }),
        },
    }
}

/// Settings for shape matching, as far as a table has them.
#[derive(Clone, Copy, Default)]
struct Matching {
    mode: Option<ShapeMode>,
    beta: Option<f32>,
    clusters: Option<ClusterPlan>,
    overlap: Option<f32>,
    tau: Option<f32>,
    damping_rate: Option<f32>,
    keep_volume: Option<bool>,
}

fn read_matching(reader: &mut Reader) -> Matching {
    Matching {
        mode: reader.field("mode").and_then(|field| field.choice("mode", &MODES)),
        beta: reader.number("beta", Quantity::part()),
        clusters: reader.field("clusters").and_then(|field| read_clusters(&field)),
        overlap: reader.number("overlap", Quantity::part()),
        tau: reader.number("tau", Quantity::not_negative("s")),
        damping_rate: reader.number("damping_rate", Quantity::not_negative("1/s")),
        keep_volume: reader.flag("keep_volume"),
    }
}

impl Matching {
    /// With the engine's own choice for what is not said.
    fn described(self) -> ModelDescription {
        let usual = ShapeSettings::default();
        ModelDescription::Shape {
            mode: self.mode.unwrap_or(usual.mode),
            beta: self.beta.unwrap_or(usual.beta),
            clusters: self.clusters.unwrap_or(ClusterPlan::Counts([1; 3])),
            overlap: self.overlap.unwrap_or(usual.overlap),
            tau: self.tau.or(usual.tau),
            damping_rate: self.damping_rate.or(usual.damping_rate),
            keep_volume: self.keep_volume.unwrap_or(usual.keep_volume),
        }
    }
}

/// Most groups of particles along one side of a body.
const GROUPS: u32 = 1024;

/// `[2, 3, 2]`, `4` (along the longest side) or `{ size = 0.1 }`.
fn read_clusters(field: &Field) -> Option<ClusterPlan> {
    let limited = |most: u32| {
        if most > GROUPS {
            field.object(format!("makes {most} groups along one side, but there may be at most {GROUPS}"));
        }
        most <= GROUPS
    };
    match field.node.value {
        Value::List(_) => {
            let counts = field.counts(1).filter(|counts| limited(counts.iter().copied().max().unwrap_or(1)));
            counts.map(ClusterPlan::Counts)
        }
        Value::Table(_) => {
            let mut reader = field.table()?;
            let size = reader.need_number("size", Quantity::positive("m"));
            reader.finish();
            size.map(ClusterPlan::Size)
        }
        Value::Integer(_) => field.count(1).filter(|count| limited(*count)).map(ClusterPlan::Longest),
        _ => {
            let found = field.node.describe();
            field.object(format!(
                "is {found}, but must be a number (along the longest side), [2, 2, 2] (along x, y, z) or {{ size = 0.1 }} (m)"
            ));
            None
        }
    }
}

/// Smallest cell of an isosurface, in spacings: finer ones show nothing but the roundness of single particles.
const FINEST: f32 = 0.1;
/// Most rounds of smoothing of an isosurface.
const MOST_SMOOTHING: u32 = 100;

/// What a skin has to suit.
struct Wearer {
    model: Option<ModelKind>,
    spacing: Option<f32>,
    /// Whether its form is that of tetrahedra from a file.
    is_meshed: bool,
}

/// `{ kind = "particles" }`, `{ kind = "faces" }`, `{ kind = "mesh", path = "fine.obj", cell = 0.01 }`,
/// `{ kind = "isosurface", cell = 0.01, smoothing = 8 }` or `{ kind = "surfels", path = "fine.obj", spacing = 0.01 }`.
fn read_skin(field: &Field, wearer: &Wearer, files: &mut Files) -> Option<SkinDescription> {
    let Wearer { model, spacing, is_meshed } = *wearer;
    #[derive(Clone, Copy)]
    enum Kind {
        Particles,
        Mesh,
        Isosurface,
        Surfels,
        Faces,
        Smooth,
    }
    let mut reader = field.table()?;
    let kinds = [
        ("particles", Kind::Particles),
        ("mesh", Kind::Mesh),
        ("isosurface", Kind::Isosurface),
        ("surfels", Kind::Surfels),
        ("faces", Kind::Faces),
        ("smooth", Kind::Smooth),
    ];
    let kind = match reader.need("kind", || "particles, mesh, isosurface, surfels, faces or smooth".into()) {
        Some(kind) => kind.choice("kind of skin", &kinds)?,
        None => Kind::Particles,
    };
    let cell = match kind {
        Kind::Particles | Kind::Surfels | Kind::Faces | Kind::Smooth => None,
        Kind::Mesh | Kind::Isosurface => reader.number("cell", Quantity::positive("m")),
    };
    match kind {
        Kind::Particles => {
            reader.finish();
            Some(SkinDescription::Particles)
        }
        Kind::Faces | Kind::Smooth => {
            let smooth = matches!(kind, Kind::Smooth).then(|| read_smooth(&mut reader, field));
            reader.finish();
            if let Some(model) = model.filter(|model| *model != ModelKind::Tetra) {
                let (name, skin) = (model.name(), if smooth.is_some() { "smooth" } else { "faces" });
                field.object(format!(
                    "is \"{skin}\", which only the model \"tetra\" has, and this body has \"{name}\"; use \"isosurface\""
                ));
            }
            Some(smooth.map_or(SkinDescription::Faces, SkinDescription::Smooth))
        }
        Kind::Mesh => {
            if model == Some(ModelKind::Spring) {
                field.object("is a mesh, which a body of springs cannot carry, as it may melt; use \"isosurface\"");
            }
            if model == Some(ModelKind::Crystal) {
                field.object("is a mesh, which a crystal cannot carry, as its neighbours change; use \"isosurface\"");
            }
            let mesh = read_carried(reader, files)?;
            if mesh.is_none() && is_meshed {
                field.object("is a mesh without a path, but tetrahedra of a file have no shape to take it from; use \"faces\", or give a path");
            }
            Some(SkinDescription::Mesh { mesh, cell })
        }
        Kind::Isosurface => {
            let smoothing = reader.count("smoothing", 0);
            reader.finish();
            if let (Some(cell), Some(spacing)) = (cell, spacing)
                && !(FINEST * spacing..=spacing).contains(&cell)
            {
                field.object(format!(
                    "has cell = {cell} m for particles {spacing} m apart, but must have one between a tenth of that and all of it"
                ));
            }
            if let Some(rounds) = smoothing.filter(|rounds| *rounds > MOST_SMOOTHING) {
                field.object(format!("has smoothing = {rounds}, but {MOST_SMOOTHING} rounds are the most"));
            }
            Some(SkinDescription::Isosurface { cell, smoothing })
        }
        Kind::Surfels => {
            if let Some(model) = model.filter(|model| *model != ModelKind::Continuum) {
                let name = model.name();
                let remedy = match model {
                    ModelKind::Shape => "\"mesh\" or \"isosurface\"",
                    ModelKind::Tetra => "\"mesh\" or \"faces\"",
                    _ => "\"isosurface\"",
                };
                field.object(format!(
                    "is \"surfels\", which only the model \"continuum\" carries, and this body has \"{name}\"; use {remedy}"
                ));
            }
            let spacing = reader.number("spacing", Quantity::positive("m"));
            let mesh = read_carried(reader, files)?;
            Some(SkinDescription::Surfels { mesh, spacing })
        }
    }
}

/// Scheme and levels of a smooth skin.
fn read_smooth(reader: &mut Reader, field: &Field) -> Smooth {
    let scheme = reader.field("scheme").and_then(|field| field.choice("scheme of a smooth skin", &SmoothScheme::ALL));
    let levels = reader.count("levels", 1).unwrap_or(1);
    if levels > Smooth::MOST_LEVELS {
        field.object(format!("has levels = {levels}, but {} are the most", Smooth::MOST_LEVELS));
    }
    Smooth { scheme: scheme.unwrap_or_default(), levels }
}

/// The last key of a skin that is carried along: the `path` of its mesh, which may be left out.
fn read_carried(mut reader: Reader, files: &mut Files) -> Option<Option<Arc<TriangleMesh>>> {
    let path = reader.field("path");
    reader.finish();
    match path {
        Some(path) => Some(Some(Arc::new(files.mesh(&path)?))),
        None => Some(None),
    }
}
