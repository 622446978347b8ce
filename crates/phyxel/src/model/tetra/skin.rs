//! Skins of tetrahedra: their own outer faces, or a mesh of which each vertex goes with the element it is in.

use super::body::Tetras;
use crate::Real;
use crate::frame::{FrameSkin, Topology};
use crate::grid::Neighbourhood;
use crate::parallel;
use crate::particles::Particles;
use crate::skin::{Skin, SkinMesh};
use crate::surface::{topology, vertex_normals};
use glam::Vec3;
use phyxel_laws::tetra::Element;
use std::ops::Range;
use std::sync::Arc;

/// Vertices per task.
const GRAIN: usize = 512;

/// Which nodes carry which vertex.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    links: Vec<Link>,
    triangles: Arc<Vec<[u32; 3]>>,
    topology: Topology,
}

/// The particles that carry a vertex, and by how much; weights add up to 1.
#[derive(Clone, Copy, Debug)]
struct Link {
    nodes: [u32; 4],
    weights: [Real; 4],
}

impl Binding {
    /// Binds the skin of a body to its elements at rest; `None` for skins that are not carried.
    pub fn of_skin(skin: &Skin, tetras: &Tetras, run: Range<usize>, particles: &Particles) -> Option<Self> {
        match skin {
            Skin::Faces => Some(Self::of_faces(tetras, run)),
            Skin::Mesh(mesh) => Some(Self::of_mesh(mesh, tetras, particles)),
            Skin::Particles | Skin::Isosurface(_) | Skin::Surfels(_) => None,
        }
    }

    /// Parts that touch in a node or along an edge have vertices of their own there, so that all is closed.
    fn of_faces(tetras: &Tetras, run: Range<usize>) -> Self {
        let surface = tetras.surface(run.clone());
        // A net has a closed surface. Where a crack ends, four faces may have the same edge: two by two they are halves of one.
        let sheet = surface.sheet().unwrap_or_default();
        let sheets = surface.census().map_or(Vec::new(), |census| census.sheets);
        let genus = if let [euler] = sheets[..] { Some((2 - euler) / 2) } else { None };
        let topology = Topology { closed: !sheets.is_empty(), pieces: sheets.len() as u32, genus };
        let first = run.start as u32;
        let links = sheet.origin().iter().map(|&node| Link { nodes: [node + first; 4], weights: [1.0, 0.0, 0.0, 0.0] });
        let triangles = sheet.triangles().to_vec();
        Self { links: links.collect(), topology, triangles: Arc::new(triangles) }
    }

    fn of_mesh(mesh: &SkinMesh, tetras: &Tetras, particles: &Particles) -> Self {
        let at = |node: u32| particles.rest[node as usize];
        let middles: Vec<Vec3> =
            tetras.elements.iter().map(|element| 0.25 * element.iter().map(|&node| at(node)).sum::<Vec3>()).collect();
        let away = |(element, middle): (&[u32; 4], &Vec3)| element.map(|node| at(node).distance(*middle));
        let reach = tetras.elements.iter().zip(&middles).flat_map(away).fold(0.0, Real::max);
        // Vertices may lie a little outside.
        let near = Neighbourhood::new(&middles, 1.5 * reach);
        let links = parallel::map(mesh.positions.len(), GRAIN, |v| {
            let vertex = mesh.positions[v];
            let mut best: Option<(Real, Link)> = None;
            let mut look = |element: u32| {
                let (nodes, shape) = (tetras.elements[element as usize], tetras.element(element as usize));
                let (outside, weights) = weigh(&shape, vertex - at(nodes[0]));
                if best.is_none_or(|(least, _)| outside < least) {
                    best = Some((outside, Link { nodes, weights }));
                }
            };
            near.visit(vertex, |element, _| look(element));
            if let (None, Some(nearest)) = (best, near.nearest(vertex)) {
                let nodes = tetras.elements[nearest as usize];
                best = Some((
                    0.0,
                    Link { nodes, weights: weigh(&tetras.element(nearest as usize), vertex - at(nodes[0])).1 },
                ));
            }
            best.map_or(Link { nodes: [0; 4], weights: [0.0; 4] }, |(_, link)| link)
        });
        Self { links, triangles: Arc::new(mesh.triangles.clone()), topology: topology(&mesh.triangles) }
    }

    /// The skin where the nodes carry it.
    pub fn show(&self, particles: &Particles) -> FrameSkin {
        let carried = parallel::map(self.links.len(), GRAIN, |v| {
            let Link { nodes, weights } = self.links[v];
            let mut sum = (Vec3::ZERO, Vec3::ZERO);
            for (node, weight) in nodes.into_iter().zip(weights) {
                sum.0 += weight * particles.position[node as usize];
                sum.1 += weight * particles.velocity[node as usize];
            }
            sum
        });
        let (positions, velocities): (Vec<Vec3>, Vec<Vec3>) = carried.into_iter().unzip();
        FrameSkin {
            normals: vertex_normals(&positions, &self.triangles),
            positions,
            velocities,
            temperatures: Vec::new(),
            strains: Vec::new(),
            triangles: self.triangles.clone(),
            axes: Vec::new(),
            topology: self.topology,
        }
    }
}

/// How far a point is beyond the faces of an element, m, below 0 inside, and its weights at the corners. `way` leads to it from
/// the first corner.
fn weigh(element: &Element, way: Vec3) -> (Real, [Real; 4]) {
    let [b, c, d] = element.gradients.map(|gradient| gradient.dot(way));
    let weights = [1.0 - (b + c + d), b, c, d];
    let beyond = |corner: usize| -weights[corner] / element.gradient(corner).length();
    ((0..4).map(beyond).fold(Real::NEG_INFINITY, Real::max), weights)
}
