//! Skins of tetrahedra: their own outer faces, a finer surface from these, or a mesh of which each vertex goes with the element it is in.

use super::body::Tetras;
use crate::Real;
use crate::frame::{FrameSkin, Topology};
use crate::grid::Neighbourhood;
use crate::parallel;
use crate::particles::Particles;
use crate::skin::{CREASE, Skin, SkinMesh, Smooth, SmoothScheme};
use crate::surface::{topology, vertex_normals};
use glam::Vec3;
use phyxel_laws::tetra::{Element, Scheme, refine};
use std::ops::Range;
use std::sync::Arc;

/// Vertices per task.
const GRAIN: usize = 512;

/// Which nodes carry which vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct Binding {
    /// Where the terms of each vertex end.
    ends: Vec<u32>,
    /// Particles with their weights, which add up to 1 for each vertex.
    terms: Vec<(u32, Real)>,
    triangles: Arc<Vec<[u32; 3]>>,
    /// Angle from which on edges are sharp, degrees.
    crease: Option<Real>,
    topology: Topology,
}

/// The particles at the corners of an element that carries a vertex, and by how much.
#[derive(Clone, Copy, Debug)]
struct Link {
    nodes: [u32; 4],
    weights: [Real; 4],
}

impl Binding {
    /// Binds the skin of a body to its elements at rest; `None` for skins that are not carried.
    pub fn of_skin(skin: &Skin, tetras: &Tetras, run: Range<usize>, particles: &Particles) -> Option<Self> {
        match skin {
            Skin::Faces => Some(Self::of_faces(tetras, run, None)),
            Skin::Smooth(smooth) => Some(Self::of_faces(tetras, run, Some(smooth))),
            Skin::Mesh(mesh) => Some(Self::of_mesh(mesh, tetras, particles)),
            Skin::Particles | Skin::Isosurface(_) | Skin::Surfels(_) => None,
        }
    }

    /// Parts that touch in a node or along an edge have vertices of their own there, so that all is closed.
    fn of_faces(tetras: &Tetras, run: Range<usize>, smooth: Option<&Smooth>) -> Self {
        let surface = tetras.surface(run.clone());
        // A net has a closed surface. Where a crack ends, four faces may have the same edge: two by two they are halves of one.
        let sheet = surface.sheet().unwrap_or_default();
        let sheets = surface.census().map_or(Vec::new(), |census| census.sheets);
        let genus = if let [euler] = sheets[..] { Some((2 - euler) / 2) } else { None };
        let topology = Topology { closed: !sheets.is_empty(), pieces: sheets.len() as u32, genus };
        let crease = if smooth.is_none() { Some(CREASE) } else { None };
        let mut binding = Self { crease, topology, ..Self::default() };
        let first = run.start as u32;
        match smooth {
            None => {
                sheet.origin().iter().for_each(|&node| binding.push([(node + first, 1.0)]));
                binding.triangles = Arc::new(sheet.triangles().to_vec());
            }
            Some(smooth) => {
                let fine = refine(&sheet, scheme_of(smooth.scheme), smooth.levels);
                for vertex in 0..fine.weights.len() {
                    binding.push(fine.weights.of(vertex).iter().map(|&(node, weight)| (node + first, weight)));
                }
                binding.triangles = Arc::new(fine.triangles);
            }
        }
        binding
    }

    fn push(&mut self, terms: impl IntoIterator<Item = (u32, Real)>) {
        self.terms.extend(terms);
        self.ends.push(self.terms.len() as u32);
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
        let triangles = Arc::new(mesh.triangles.clone());
        let mut binding = Self { triangles, topology: topology(&mesh.triangles), ..Self::default() };
        links.iter().for_each(|link| binding.push(link.nodes.into_iter().zip(link.weights)));
        binding
    }

    /// The skin where the nodes carry it.
    pub fn show(&self, particles: &Particles) -> FrameSkin {
        let carried = parallel::map(self.ends.len(), GRAIN, |v| {
            let start = if v == 0 { 0 } else { self.ends[v - 1] as usize };
            let mut sum = (Vec3::ZERO, Vec3::ZERO);
            for &(node, weight) in &self.terms[start..self.ends[v] as usize] {
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
            crease: self.crease,
            topology: self.topology,
        }
    }
}

fn scheme_of(scheme: SmoothScheme) -> Scheme {
    match scheme {
        SmoothScheme::Loop => Scheme::Loop,
        SmoothScheme::Butterfly => Scheme::Butterfly,
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
