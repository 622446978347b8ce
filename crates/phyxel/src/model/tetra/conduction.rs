//! Heat conduction by linear elements: conductances along edges, and boundary areas of nodes.

use super::TetraModel;
use super::body::TetBody;
use crate::Real;
use crate::heat::{ConductionBlock, ConductionGraph, Face, Link};
use crate::material::Material;
use crate::model::View;
use crate::parallel;
use phyxel_laws::fem::{EDGES, edge_conductances};
use std::ops::Range;
use std::sync::Arc;

impl TetraModel {
    /// Finds the conduction graph of each body.
    pub(super) fn find_conduction(&self, view: &View) -> Vec<ConductionBlock> {
        let block = |tet_body: &TetBody| {
            let range = view.range(tet_body.id);
            let links = find_links(tet_body, view.material(tet_body.id), range.start as u32);
            let graph = ConductionGraph { count: range.len(), links, faces: find_faces(tet_body, range.clone()) };
            ConductionBlock { first: range.start, graph: Arc::new(graph) }
        };
        self.bodies.iter().map(block).collect()
    }
}

/// Conductances along edges, each summed over the elements around it.
fn find_links(tet_body: &TetBody, material: &Material, first: u32) -> Vec<Link> {
    let [x, y, z] = material.heat.conductivity.to_array();
    let mut terms: Vec<([u32; 2], Real)> = Vec::with_capacity(6 * tet_body.elements.len());
    for (i, nodes) in tet_body.elements.iter().enumerate() {
        for ((a, b), conductance) in
            EDGES.into_iter().zip(edge_conductances(&tet_body.element(i), &[x, y, z, 0.0, 0.0, 0.0]))
        {
            let (a, b) = (nodes[a] - first, nodes[b] - first);
            terms.push(([a.min(b), a.max(b)], conductance));
        }
    }
    // The sort is stable, so sums are reproducible.
    parallel::sort_by_key(&mut terms, |term| term.0);
    let edges = terms.chunk_by(|a, b| a.0 == b.0);
    let sum = |edge: &[([u32; 2], Real)]| edge.iter().map(|term| f64::from(term.1)).sum::<f64>() as Real;
    let links = edges.map(|edge| Link { nodes: edge[0].0, conductance: sum(edge) });
    links.filter(|link| link.conductance != 0.0).collect()
}

/// Boundary areas of nodes: a third of each boundary face around them.
fn find_faces(tet_body: &TetBody, range: Range<usize>) -> Vec<Face> {
    let mut faces = Vec::new();
    let surface = tet_body.boundary_surface(range.clone());
    for (face, nodes) in surface.faces.iter().zip(surface.triangles) {
        // Face `k` is opposite corner `3 - k`.
        let (element, corner) = (tet_body.element(*face as usize / 4), 3 - *face as usize % 4);
        let Some(normal) = (-element.gradient(corner)).try_normalize() else { continue };
        let area = element.corner_area(corner);
        faces.extend(nodes.map(|particle| Face { particle, normal, area, resistance: 0.0 }));
    }
    faces
}
