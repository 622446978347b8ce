//! Tetrahedral meshes of bodies, from shapes or from files.

use super::body::scaled_shape;
use crate::error::BuildError;
use crate::import::tetra::TetraImport;
use crate::scene::BodyDescription;
use crate::shape::Shape;
use crate::tetra::{MeshDefects, TetraMesh, fill};

/// Nodes per spacing cubed, those of the two grids of the lattice.
const NODES_PER_CELL: f64 = 2.0;

/// Returns the mesh of a body: that of its file, or of its shape.
pub(super) fn tetra_mesh(
    body: &BodyDescription,
    file: Option<&TetraImport>,
    warnings: &mut Vec<String>,
) -> Result<TetraMesh, BuildError> {
    let name = &body.name;
    if let Some(TetraImport { mesh, quality }) = file {
        if quality.inverted > 0 {
            warnings.push(format!(
                "body \"{name}\": {} of its tetrahedra were inverted; two corners of each were swapped",
                quality.inverted
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
    warnings.extend(defect_warnings(name, filled.defects));
    Ok(filled.mesh)
}

fn defect_warnings(name: &str, MeshDefects { holes, non_manifold_edges }: MeshDefects) -> Vec<String> {
    let mut warnings = Vec::new();
    if holes > 0 {
        let many = if holes == 1 { "a hole" } else { "holes" };
        warnings.push(format!(
            "body \"{name}\": its mesh has {many} ({holes}); tetrahedra end there where the surface is guessed to go \
             on; close the mesh to be sure"
        ));
    }
    if non_manifold_edges > 0 {
        let edges = if non_manifold_edges == 1 { "edge" } else { "edges" };
        warnings.push(format!(
            "body \"{name}\": more than two triangles meet at {non_manifold_edges} {edges} of its mesh; what is \
             inside is guessed there"
        ));
    }
    warnings
}

/// Expected number of nodes of a shape.
pub(super) fn estimate(shape: &Shape, spacing: f32) -> f64 {
    NODES_PER_CELL * shape.volume() / f64::from(spacing).powi(3)
}
