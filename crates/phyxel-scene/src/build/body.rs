//! Bodies: samples, settings of models, skins.

use super::tetra::tetra_mesh;
use crate::error::BuildError;
use crate::import::tetra::TetraImport;
use crate::mesh::TriangleMesh;
use crate::sample::{SequentialRng, fill_cells, sample, scatter_surfels};
use crate::scene::{BodyDescription, ClusterPlan, Deformation, ModelDescription, SkinDescription};
use crate::shape::{Placement, Shape};
use glam::Vec3;
use phyxel::body::{NewBody, Pose};
use phyxel::model::shape_matching::{Clusters, ShapeMatchingSettings};
use phyxel::model::{MassSpringSettings, ModelSettings, TetraSettings};
use phyxel::skin::{Isosurface, Skin, SkinMesh};
use phyxel_laws::geometry::Aabb;
use std::sync::Arc;

/// Template of a body: everything that its copies share.
pub(super) struct BodyTemplate {
    /// Sample positions in the local frame, m.
    pub samples: Vec<Vec3>,
    start: Option<Vec<Vec3>>,
    volume: f64,
    model: ModelSettings,
    held: Vec<u32>,
    skin: Skin,
}

/// Shape of a body, if it has one, with the scale of its placement.
pub(super) fn scaled_shape(body: &BodyDescription) -> Option<Shape> {
    body.shape.clone().map(|shape| scaled(shape, body.place.scale))
}

/// Scales a shape.
pub(super) fn scaled(shape: Shape, scale: f32) -> Shape {
    if scale == 1.0 { shape } else { shape.placed(Placement { scale, ..Placement::default() }) }
}

/// Indices of the samples in a region; the scale of a body applies to its regions too.
pub(super) fn samples_in(samples: &[Vec3], regions: &[Shape], scale: f32) -> Vec<u32> {
    let inside = |sample: Vec3| regions.iter().any(|region| region.contains(sample / scale));
    let found = samples.iter().enumerate().filter(|(_, sample)| inside(**sample));
    found.map(|(index, _)| index as u32).collect()
}

impl BodyTemplate {
    /// Template of a body that gets all its particles later.
    fn without_shape(body: &BodyDescription) -> Self {
        let skin = computed_skin(body).unwrap_or_default();
        let model = model_settings(&body.model, None);
        Self { samples: Vec::new(), start: None, volume: 0.0, model, held: Vec::new(), skin }
    }

    /// Returns true if all of its particles are fixed at the start.
    pub(super) fn is_held(&self) -> bool {
        !self.samples.is_empty() && self.held.len() == self.samples.len()
    }
}

/// Samples the shape of a body and prepares what its copies share.
pub(super) fn make_template(
    body: &BodyDescription,
    random: &mut SequentialRng,
    limit: usize,
    warnings: &mut Vec<String>,
) -> Result<BodyTemplate, BuildError> {
    let seed = random.bits();
    if let ModelDescription::Tetra { mesh, settings } = &body.model {
        return make_tetra_template(body, (mesh.as_deref(), settings), (seed, limit), warnings);
    }
    let Some(shape) = scaled_shape(body) else { return Ok(BodyTemplate::without_shape(body)) };
    let failed = |source| BuildError::Sampling { body: body.name.clone(), source };
    let (filled, model) = match &body.model {
        ModelDescription::MassSpring { cell, settings } => {
            let (filled, cells) = fill_cells(&shape, cell.unwrap_or([body.spacing; 3]), limit).map_err(failed)?;
            (filled, ModelSettings::MassSpring(MassSpringSettings { cells: Arc::new(cells), ..(**settings).clone() }))
        }
        ModelDescription::Continuum(_)
        | ModelDescription::Crystal(_)
        | ModelDescription::ShapeMatching { .. }
        | ModelDescription::Tetra { .. } => {
            let filled = sample(&shape, body.sampler, body.spacing, seed, limit).map_err(failed)?;
            (filled, model_settings(&body.model, shape.bounds()))
        }
    };
    Ok(BodyTemplate {
        model,
        held: held_samples(body, &filled.positions, warnings),
        skin: make_skin(body, Some(&shape), seed, limit)?,
        start: deformed_positions(&filled.positions, &body.deform),
        samples: filled.positions,
        volume: filled.volume,
    })
}

/// Indices of the samples in the held regions of a body.
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

/// Meshes a body, or takes the mesh of its file, and prepares what its copies share.
fn make_tetra_template(
    body: &BodyDescription,
    (file, settings): (Option<&TetraImport>, &TetraSettings),
    (seed, limit): (u64, usize),
    warnings: &mut Vec<String>,
) -> Result<BodyTemplate, BuildError> {
    let mesh = tetra_mesh(body, file, warnings)?;
    Ok(BodyTemplate {
        volume: mesh.volume(),
        model: ModelSettings::Tetra(TetraSettings { elements: Arc::new(mesh.elements), ..settings.clone() }),
        held: held_samples(body, &mesh.positions, warnings),
        skin: make_skin(body, scaled_shape(body).as_ref(), seed, limit)?,
        start: deformed_positions(&mesh.positions, &body.deform),
        samples: mesh.positions,
    })
}

/// Positions of the samples under polynomial deformations.
fn deformed_positions(samples: &[Vec3], deform: &[Deformation]) -> Option<Vec<Vec3>> {
    let bounds = Aabb::from_points(samples.iter().copied()).non_empty().filter(|_| !deform.is_empty())?;
    let half = 0.5 * bounds.extent();
    let units = half.map(|length| if length > 0.0 { length } else { 1.0 });
    let moved = samples.iter().map(|&sample| {
        let u = (sample - bounds.centre()) / units;
        let products = [u.x, u.y, u.z, u.x * u.x, u.y * u.y, u.z * u.z, u.x * u.y, u.y * u.z, u.z * u.x];
        deform.iter().fold(sample, |mut moved, deformation| {
            moved[deformation.axis] += deformation.amount * half.max_element() * products[deformation.product];
            moved
        })
    });
    Some(moved.collect())
}

/// Instantiates a copy of a body.
pub(super) fn instantiate(body: &BodyDescription, template: &BodyTemplate, name: String, pose: Pose) -> NewBody {
    NewBody {
        name,
        material: body.material.clone(),
        model: template.model.clone(),
        samples: template.samples.clone(),
        start: template.start.clone(),
        volume: template.volume,
        spacing: body.spacing,
        radius: body.radius,
        pose,
        velocity: body.velocity,
        spin: body.spin,
        temperature: body.temperature,
        held: template.held.clone(),
        self_contact: body.self_contact,
        skin: template.skin.clone(),
    }
}

fn model_settings(model: &ModelDescription, bounds: Option<Aabb>) -> ModelSettings {
    match model {
        ModelDescription::Continuum(settings) => ModelSettings::Continuum((**settings).clone()),
        ModelDescription::Crystal(settings) => ModelSettings::Crystal((**settings).clone()),
        ModelDescription::ShapeMatching { clusters, settings } => {
            let clusters = cluster_counts(*clusters, bounds);
            ModelSettings::ShapeMatching(ShapeMatchingSettings { clusters, ..(**settings).clone() })
        }
        ModelDescription::MassSpring { settings, .. } => ModelSettings::MassSpring((**settings).clone()),
        ModelDescription::Tetra { settings, .. } => ModelSettings::Tetra((**settings).clone()),
    }
}

pub(super) fn cluster_counts(plan: ClusterPlan, bounds: Option<Aabb>) -> Clusters {
    match plan {
        ClusterPlan::Counts(counts) => Clusters::Counts(counts),
        ClusterPlan::Size(size) => Clusters::Size(size),
        ClusterPlan::Longest(count) => {
            let size = bounds.map_or(Vec3::ONE, |bounds| bounds.extent());
            let edge = size.max_element() / count as f32;
            Clusters::Counts(size.to_array().map(|length| (length / edge).round().max(1.0) as u32))
        }
    }
}

/// Skin computed from the particles alone; `None` for an embedded surface.
fn computed_skin(body: &BodyDescription) -> Option<Skin> {
    match &body.skin {
        SkinDescription::Particles => Some(Skin::Particles),
        SkinDescription::Isosurface { cell, smoothing } => {
            let default = Isosurface::for_spacing(body.spacing);
            let (cell, smoothing) = (cell.unwrap_or(default.cell), smoothing.unwrap_or(default.smoothing));
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
        | SkinDescription::Smooth(_) => Ok(computed_skin(body).unwrap_or_default()),
        SkinDescription::Mesh { mesh, cell } => {
            let surface = embedded_surface(body, shape, mesh.as_deref(), ("cell", *cell))?;
            Ok(Skin::Mesh(Arc::new(SkinMesh { positions: surface.positions, triangles: surface.triangles })))
        }
        SkinDescription::Surfels { mesh, spacing } => {
            let surface = embedded_surface(body, shape, mesh.as_deref(), ("spacing", *spacing))?;
            let surfels = scatter_surfels(&surface, spacing.unwrap_or(default_detail(body)), seed, limit);
            let surfels = surfels.map_err(|source| BuildError::Sampling { body: body.name.clone(), source })?;
            Ok(Skin::Surfels(Arc::new(surfels)))
        }
    }
}

/// Default resolution of a skin, m.
fn default_detail(body: &BodyDescription) -> f32 {
    0.5 * body.spacing
}

/// Embedded surface of a body: a mesh, or the surface of its shape with the resolution of a key, m.
fn embedded_surface(
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
    shape.surface(detail.unwrap_or(default_detail(body))).map_err(failed)
}
