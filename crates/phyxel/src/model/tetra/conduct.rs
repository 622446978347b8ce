//! Ways for heat along the edges of elements, and what nodes expose.

use super::TetraModel;
use super::body::Tetras;
use crate::Real;
use crate::body::Body;
use crate::heat::{Face, Link, Ways};
use crate::material::Material;
use crate::parallel;
use phyxel_laws::tetra::{EDGES, conductances};
use std::ops::Range;

impl TetraModel {
    pub(super) fn find_all_ways(&self, bodies: &[Body], materials: &[Material]) -> Ways {
        let mut all = Ways::default();
        for tetras in &self.bodies {
            let body = &bodies[tetras.id.0 as usize];
            let material = &materials[body.material.0 as usize];
            all.links.append(&mut find_links(tetras, material));
            all.faces.append(&mut find_faces(tetras, body.range()));
        }
        all
    }
}

/// Ways along edges, each the sum over the elements around it.
fn find_links(tetras: &Tetras, material: &Material) -> Vec<Link> {
    let [x, y, z] = material.heat.conductivity.to_array();
    let mut ways: Vec<([u32; 2], Real)> = Vec::with_capacity(6 * tetras.elements.len());
    for (i, nodes) in tetras.elements.iter().enumerate() {
        for ((a, b), conductance) in EDGES.into_iter().zip(conductances(&tetras.element(i), &[x, y, z, 0.0, 0.0, 0.0]))
        {
            let (a, b) = (nodes[a], nodes[b]);
            ways.push(([a.min(b), a.max(b)], conductance));
        }
    }
    // Equal keys keep their order, so sums are always the same.
    parallel::sort_by_key(&mut ways, |way| way.0);
    let edges = ways.chunk_by(|a, b| a.0 == b.0);
    let sum = |edge: &[([u32; 2], Real)]| edge.iter().map(|way| f64::from(way.1)).sum::<f64>() as Real;
    let links = edges.map(|edge| Link { particles: edge[0].0, conductance: sum(edge) });
    links.filter(|link| link.conductance != 0.0).collect()
}

/// What nodes expose: a third of each face around them. They lie on it.
fn find_faces(tetras: &Tetras, run: Range<usize>) -> Vec<Face> {
    let mut faces = Vec::new();
    let surface = tetras.surface(run.clone());
    for (face, nodes) in surface.faces.iter().zip(surface.triangles) {
        // A face lies across from a corner.
        let (element, corner) = (tetras.element(*face as usize / 4), 3 - *face as usize % 4);
        let Some(normal) = (-element.gradient(corner)).try_normalize() else { continue };
        let area = element.area_share(corner);
        let particles = nodes.map(|node| node + run.start as u32);
        faces.extend(particles.map(|particle| Face { particle, normal, area, resistance: 0.0 }));
    }
    faces
}
