//! Tetrahedra of bodies: from shapes, or from files.

use super::body::scaled_shape;
use crate::error::BuildError;
use crate::scene::BodyDescription;
use crate::shape::Shape;
use crate::tetra::{Flaws, Reading, TetraMesh, fill};

/// Nodes per spacing cubed, those of two lattices.
const DENSITY: f64 = 2.0;

/// The tetrahedra of a body: those of its file, or of its shape.
pub(super) fn tetrahedra(
    body: &BodyDescription,
    file: Option<&Reading>,
    warnings: &mut Vec<String>,
) -> Result<TetraMesh, BuildError> {
    let name = &body.name;
    if let Some(Reading { mesh, quality }) = file {
        if quality.repaired > 0 {
            warnings.push(format!(
                "body \"{name}\": {} of its tetrahedra were inside out; two corners of each were swapped",
                quality.repaired
            ));
        }
        if quality.unused > 0 {
            let nodes = if quality.unused == 1 { "node" } else { "nodes" };
            warnings.push(format!(
                "body \"{name}\": {} {nodes} of its file left out, as no tetrahedron uses them",
                quality.unused
            ));
        }
        let mut mesh = mesh.clone();
        mesh.positions.iter_mut().for_each(|position| *position *= body.place.scale);
        return Ok(mesh);
    }
    let Some(shape) = scaled_shape(body) else { return Ok(TetraMesh::default()) };
    let filled = fill(&shape, body.spacing).map_err(|source| BuildError::Tetra { body: name.clone(), source })?;
    warnings.extend(warn_of_flaws(name, filled.flaws));
    Ok(filled.mesh)
}

fn warn_of_flaws(name: &str, Flaws { holes, crowded_edges }: Flaws) -> Vec<String> {
    let mut warnings = Vec::new();
    if holes > 0 {
        let many = if holes == 1 { "a hole" } else { "holes" };
        warnings.push(format!(
            "body \"{name}\": its mesh has {many} ({holes}); tetrahedra end there where the surface is guessed to go on; close the mesh to be sure"
        ));
    }
    if crowded_edges > 0 {
        let edges = if crowded_edges == 1 { "edge" } else { "edges" };
        warnings.push(format!(
            "body \"{name}\": more than two triangles meet at {crowded_edges} {edges} of its mesh; what is inside is guessed there"
        ));
    }
    warnings
}

/// The number of nodes that a shape is expected to take.
pub(super) fn estimate(shape: &Shape, spacing: f32) -> f64 {
    DENSITY * shape.volume() / f64::from(spacing).powi(3)
}
