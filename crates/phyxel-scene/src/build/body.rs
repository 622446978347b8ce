//! Bodies: filling shapes, settings of models, skins.

use super::tetra::tetrahedra;
use crate::error::BuildError;
use crate::mesh::TriangleMesh;
use crate::sample::{Random, fill_cells, sample, spread};
use crate::scene::{BodyDescription, ClusterPlan, Deformation, ModelDescription, SkinDescription};
use crate::shape::{Bounds, Placement, Shape};
use crate::tetra::Reading;
use glam::Vec3;
use phyxel::body::{NewBody, Pose};
use phyxel::model::shape::{Clusters, ShapeSettings};
use phyxel::model::{ModelSettings, SpringSettings, TetraSettings};
use phyxel::skin::{Isosurface, Skin, SkinMesh};
use std::sync::Arc;

/// What all copies of a body have in common.
pub(super) struct Mould {
    /// Sample positions in the body's own frame, m.
    pub samples: Vec<Vec3>,
    start: Option<Vec<Vec3>>,
    volume: f64,
    model: ModelSettings,
    held: Vec<u32>,
    skin: Skin,
}

/// The shape of a body with the scale of its place, if it has one.
pub(super) fn scaled_shape(body: &BodyDescription) -> Option<Shape> {
    body.shape.clone().map(|shape| scaled(shape, body.place.scale))
}

/// A shape made larger or smaller.
pub(super) fn scaled(shape: Shape, scale: f32) -> Shape {
    if scale == 1.0 { shape } else { shape.placed(Placement { scale, ..Placement::default() }) }
}

/// Numbers of the samples in a region; the scale of a body holds for its regions too.
pub(super) fn samples_in(samples: &[Vec3], regions: &[Shape], scale: f32) -> Vec<u32> {
    let inside = |sample: Vec3| regions.iter().any(|region| region.contains(sample / scale));
    let numbered = samples.iter().enumerate().filter(|(_, sample)| inside(**sample));
    numbered.map(|(number, _)| number as u32).collect()
}

impl Mould {
    /// Of a body that gets all its particles later.
    fn without_shape(body: &BodyDescription) -> Self {
        let skin = loose_skin(body).unwrap_or_default();
        let model = model_settings(&body.model, None);
        Self { samples: Vec::new(), start: None, volume: 0.0, model, held: Vec::new(), skin }
    }

    /// Whether all of its particles are held at the start.
    pub(super) fn is_held(&self) -> bool {
        !self.samples.is_empty() && self.held.len() == self.samples.len()
    }
}

/// Fills the shape of a body and prepares what its copies share.
pub(super) fn mould(
    body: &BodyDescription,
    random: &mut Random,
    limit: usize,
    warnings: &mut Vec<String>,
) -> Result<Mould, BuildError> {
    let seed = random.next_u64();
    if let ModelDescription::Tetra { mesh, settings } = &body.model {
        return mould_tetrahedra(body, (mesh.as_deref(), settings), (seed, limit), warnings);
    }
    let Some(shape) = scaled_shape(body) else { return Ok(Mould::without_shape(body)) };
    let failed = |source| BuildError::Sampling { body: body.name.clone(), source };
    let (filled, model) = match &body.model {
        ModelDescription::Spring { cell, settings } => {
            let (filled, cells) = fill_cells(&shape, cell.unwrap_or([body.spacing; 3]), limit).map_err(failed)?;
            (filled, ModelSettings::Spring(SpringSettings { cells: Arc::new(cells), ..(**settings).clone() }))
        }
        ModelDescription::Continuum(_)
        | ModelDescription::Crystal(_)
        | ModelDescription::Shape { .. }
        | ModelDescription::Tetra { .. } => {
            let filled = sample(&shape, body.sampler, body.spacing, seed, limit).map_err(failed)?;
            (filled, model_settings(&body.model, shape.bounds()))
        }
    };
    Ok(Mould {
        model,
        held: held_samples(body, &filled.positions, warnings),
        skin: make_skin(body, Some(&shape), seed, limit)?,
        start: bend(&filled.positions, &body.deform),
        samples: filled.positions,
        volume: filled.volume,
    })
}

/// Numbers of the samples in the held regions of a body.
fn held_samples(body: &BodyDescription, samples: &[Vec3], warnings: &mut Vec<String>) -> Vec<u32> {
    let held = samples_in(samples, &body.held, body.place.scale);
    if held.is_empty() && !body.held.is_empty() {
        warnings.push(format!(
            "body \"{}\": no particle lies in its held regions; they are in the body's own frame",
            body.name
        ));
    }
    held
}

/// Cuts a body into tetrahedra, or takes those of its file, and prepares what its copies share.
fn mould_tetrahedra(
    body: &BodyDescription,
    (file, settings): (Option<&Reading>, &TetraSettings),
    (seed, limit): (u64, usize),
    warnings: &mut Vec<String>,
) -> Result<Mould, BuildError> {
    let mesh = tetrahedra(body, file, warnings)?;
    Ok(Mould {
        volume: mesh.volume(),
        model: ModelSettings::Tetra(TetraSettings { elements: Arc::new(mesh.elements), ..settings.clone() }),
        held: held_samples(body, &mesh.positions, warnings),
        skin: make_skin(body, scaled_shape(body).as_ref(), seed, limit)?,
        start: bend(&mesh.positions, &body.deform),
        samples: mesh.positions,
    })
}

/// Where bent samples are.
fn bend(samples: &[Vec3], deform: &[Deformation]) -> Option<Vec<Vec3>> {
    let bounds = Bounds::of_points(samples.iter().copied()).filter(|_| !deform.is_empty())?;
    let half = 0.5 * bounds.size();
    let units = half.map(|length| if length > 0.0 { length } else { 1.0 });
    let moved = samples.iter().map(|&sample| {
        let u = (sample - bounds.centre()) / units;
        let products = [u.x, u.y, u.z, u.x * u.x, u.y * u.y, u.z * u.z, u.x * u.y, u.y * u.z, u.z * u.x];
        deform.iter().fold(sample, |mut moved, way| {
            moved[way.axis] += way.amount * half.max_element() * products[way.by];
            moved
        })
    });
    Some(moved.collect())
}

/// A copy of a body.
pub(super) fn cast(body: &BodyDescription, mould: &Mould, name: String, pose: Pose) -> NewBody {
    NewBody {
        name,
        material: body.material.clone(),
        model: mould.model.clone(),
        samples: mould.samples.clone(),
        start: mould.start.clone(),
        volume: mould.volume,
        spacing: body.spacing,
        radius: body.radius,
        pose,
        velocity: body.velocity,
        spin: body.spin,
        temperature: body.temperature,
        held: mould.held.clone(),
        self_contact: body.self_contact,
        skin: mould.skin.clone(),
    }
}

fn model_settings(model: &ModelDescription, bounds: Option<Bounds>) -> ModelSettings {
    match model {
        ModelDescription::Continuum(settings) => ModelSettings::Continuum((**settings).clone()),
        ModelDescription::Crystal(settings) => ModelSettings::Crystal((**settings).clone()),
        ModelDescription::Shape { mode, beta, clusters, overlap, tau, damping_rate, keep_volume } => {
            ModelSettings::Shape(ShapeSettings {
                mode: *mode,
                beta: *beta,
                clusters: plan_clusters(*clusters, bounds),
                overlap: *overlap,
                tau: *tau,
                damping_rate: *damping_rate,
                keep_volume: *keep_volume,
            })
        }
        ModelDescription::Spring { settings, .. } => ModelSettings::Spring((**settings).clone()),
        ModelDescription::Tetra { settings, .. } => ModelSettings::Tetra((**settings).clone()),
    }
}

pub(super) fn plan_clusters(plan: ClusterPlan, bounds: Option<Bounds>) -> Clusters {
    match plan {
        ClusterPlan::Counts(counts) => Clusters::Counts(counts),
        ClusterPlan::Size(size) => Clusters::Size(size),
        ClusterPlan::Longest(count) => {
            let size = bounds.map_or(Vec3::ONE, |bounds| bounds.size());
            let edge = size.max_element() / count as f32;
            Clusters::Counts(size.to_array().map(|length| (length / edge).round().max(1.0) as u32))
        }
    }
}

/// A skin that needs nothing but particles; `None` for a surface that is carried along.
fn loose_skin(body: &BodyDescription) -> Option<Skin> {
    match &body.skin {
        SkinDescription::Particles => Some(Skin::Particles),
        SkinDescription::Isosurface { cell, smoothing } => {
            let usual = Isosurface::for_spacing(body.spacing);
            let (cell, smoothing) = (cell.unwrap_or(usual.cell), smoothing.unwrap_or(usual.smoothing));
            Some(Skin::Isosurface(Isosurface { cell, smoothing }))
        }
        SkinDescription::Faces => Some(Skin::Faces),
        SkinDescription::Smooth(smooth) => Some(Skin::Smooth(*smooth)),
        SkinDescription::Mesh { .. } | SkinDescription::Surfels { .. } => None,
    }
}

fn make_skin(body: &BodyDescription, shape: Option<&Shape>, seed: u64, limit: usize) -> Result<Skin, BuildError> {
    match &body.skin {
        SkinDescription::Particles
        | SkinDescription::Isosurface { .. }
        | SkinDescription::Faces
        | SkinDescription::Smooth(_) => Ok(loose_skin(body).unwrap_or_default()),
        SkinDescription::Mesh { mesh, cell } => {
            let surface = carried_surface(body, shape, mesh.as_deref(), ("cell", *cell))?;
            Ok(Skin::Mesh(Arc::new(SkinMesh { positions: surface.positions, triangles: surface.triangles })))
        }
        SkinDescription::Surfels { mesh, spacing } => {
            let surface = carried_surface(body, shape, mesh.as_deref(), ("spacing", *spacing))?;
            let surfels = spread(&surface, spacing.unwrap_or(detail_of(body)), seed, limit);
            let surfels = surfels.map_err(|source| BuildError::Sampling { body: body.name.clone(), source })?;
            Ok(Skin::Surfels(Arc::new(surfels)))
        }
    }
}

/// Size of the details of a skin if nothing is said, m.
fn detail_of(body: &BodyDescription) -> f32 {
    0.5 * body.spacing
}

/// The surface that a body carries along: a mesh, or the surface of its shape with details of a size that a key says, m.
fn carried_surface(
    body: &BodyDescription,
    shape: Option<&Shape>,
    mesh: Option<&TriangleMesh>,
    (key, detail): (&'static str, Option<f32>),
) -> Result<TriangleMesh, BuildError> {
    if let Some(mesh) = mesh {
        let mut mesh = mesh.clone();
        mesh.positions.iter_mut().for_each(|position| *position *= body.place.scale);
        return Ok(mesh);
    }
    let failed = |source| BuildError::Skin { body: body.name.clone(), key, source };
    let Some(shape) = shape else { return Ok(TriangleMesh::default()) };
    shape.surface(detail.unwrap_or(detail_of(body))).map_err(failed)
}
