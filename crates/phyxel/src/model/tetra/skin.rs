//! Skins of tetrahedra: their own outer faces, a finer surface from these, or a mesh of which each vertex goes with the element it is in.

use super::body::Tetras;
use super::surface::Shell;
use crate::Real;
use crate::frame::{FrameSkin, Topology};
use crate::grid::Neighbourhood;
use crate::parallel;
use crate::particles::Particles;
use crate::skin::{CREASE, Skin, SkinMesh};
use crate::surface::{topology, vertex_normals};
use glam::Vec3;
use phyxel_laws::tetra::Element;
use std::ops::{Add, Mul, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// Vertices per task.
const GRAIN: usize = 512;

/// What a body showed last, from which the next frame goes on.
///
/// Frames look at a world and do not change it, so this is behind a lock. Nothing that is shown depends on it: a copy begins anew.
#[derive(Debug, Default)]
pub(super) struct Shown(Mutex<Option<Binding>>);

impl Clone for Shown {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Which nodes carry which vertex.
#[derive(Debug)]
struct Binding {
    /// The nodes of each element when it was made, by their numbers in the body.
    elements: Vec<[u32; 4]>,
    carrier: Carrier,
    triangles: Arc<Vec<[u32; 3]>>,
    topology: Topology,
    /// Angle from which on edges are sharp, degrees.
    crease: Option<Real>,
}

/// Nodes of vertices by their numbers in the body, with weights that add up to 1 for each vertex.
#[derive(Debug)]
enum Carrier {
    Shell(Box<Shell>),
    Mesh(Vec<[(u32, Real); 4]>),
}

impl Tetras {
    /// The skin of a body whose particles are `run`, where its nodes carry it, with their temperatures and strains; `None` for skins that
    /// are not carried.
    pub fn show(
        &self,
        skin: &Skin,
        run: Range<usize>,
        particles: &Particles,
        values: [&[Real]; 2],
    ) -> Option<FrameSkin> {
        let first = run.start as u32;
        let number = |nodes: &[u32; 4]| nodes.map(|node| node.wrapping_sub(first));
        let mut shown = self.shown.0.lock().unwrap_or_else(PoisonError::into_inner);
        let binding = match shown.take() {
            Some(same) if same.elements.iter().copied().eq(self.elements.iter().map(number)) => same,
            last => self.bind(skin, last, self.elements.iter().map(number).collect(), run.clone(), particles)?,
        };
        let frame = binding.show(run, particles, values);
        *shown = Some(binding);
        Some(frame)
    }

    /// Binds a skin to elements with these nodes, starting from the last one.
    fn bind(
        &self,
        skin: &Skin,
        last: Option<Binding>,
        elements: Vec<[u32; 4]>,
        run: Range<usize>,
        particles: &Particles,
    ) -> Option<Binding> {
        let smooth = match skin {
            Skin::Faces => None,
            Skin::Smooth(smooth) => Some(smooth),
            Skin::Mesh(mesh) => {
                let carrier = Carrier::Mesh(self.bind_mesh(mesh, &elements, &particles.rest[run]));
                let (triangles, topology) = (Arc::new(mesh.triangles.clone()), topology(&mesh.triangles));
                return Some(Binding { elements, carrier, triangles, topology, crease: None });
            }
            Skin::Particles | Skin::Isosurface(_) | Skin::Surfels(_) => return None,
        };
        let mut shell = match last {
            Some(Binding { carrier: Carrier::Shell(mut shell), elements: old, .. }) => {
                shell.renumber(&old, &elements);
                shell
            }
            _ => Box::new(Shell::new(smooth)),
        };
        let topology = shell.follow(self.surface(run));
        let triangles = Arc::new(shell.layers.triangles().to_vec());
        let crease = if smooth.is_none() { Some(CREASE) } else { None };
        Some(Binding { elements, carrier: Carrier::Shell(shell), triangles, topology, crease })
    }

    /// For each vertex of a mesh, the nodes of the element that carries it, by how much; `rest` are the places of nodes at rest.
    fn bind_mesh(&self, mesh: &SkinMesh, elements: &[[u32; 4]], rest: &[Vec3]) -> Vec<[(u32, Real); 4]> {
        let at = |node: u32| rest[node as usize];
        let middles: Vec<Vec3> =
            elements.iter().map(|element| 0.25 * element.iter().map(|&node| at(node)).sum::<Vec3>()).collect();
        let away = |(element, middle): (&[u32; 4], &Vec3)| element.map(|node| at(node).distance(*middle));
        let reach = elements.iter().zip(&middles).flat_map(away).fold(0.0, Real::max);
        // Vertices may lie a little outside.
        let near = Neighbourhood::new(&middles, 1.5 * reach);
        parallel::map(mesh.positions.len(), GRAIN, |v| {
            let vertex = mesh.positions[v];
            let weights_in =
                |element: u32| weigh(&self.element(element as usize), vertex - at(elements[element as usize][0]));
            let mut best: Option<(Real, u32)> = None;
            near.visit(vertex, |element, _| {
                let (outside, _) = weights_in(element);
                if best.is_none_or(|(least, _)| outside < least) {
                    best = Some((outside, element));
                }
            });
            let chosen = best.map(|(_, element)| element).or_else(|| near.nearest(vertex));
            chosen.map_or([(0, 0.0); 4], |element| {
                let ((_, weights), nodes) = (weights_in(element), elements[element as usize]);
                std::array::from_fn(|k| (nodes[k], weights[k]))
            })
        })
    }
}

impl Binding {
    /// The skin where the nodes carry it.
    fn show(&self, run: Range<usize>, particles: &Particles, values: [&[Real]; 2]) -> FrameSkin {
        let (positions, velocities) =
            (self.carry(&particles.position[run.clone()]), self.carry(&particles.velocity[run.clone()]));
        // Loop's rule rounds peaks off, and weights of the Butterfly below 0 go a little beyond them.
        let [temperatures, strains] = values.map(|values| self.carry(&values[run.clone()]));
        FrameSkin {
            normals: vertex_normals(&positions, &self.triangles),
            positions,
            velocities,
            temperatures,
            strains,
            triangles: self.triangles.clone(),
            axes: Vec::new(),
            crease: self.crease,
            topology: self.topology,
        }
    }

    /// What nodes have, at the vertices; as it is where all have the same.
    fn carry<T>(&self, nodes: &[T]) -> Vec<T>
    where
        T: Copy + Default + PartialEq + Send + Sync + Add<Output = T> + Mul<Real, Output = T>,
    {
        if let Some(first) = nodes.first().filter(|first| nodes.iter().all(|node| node == *first)) {
            return vec![*first; self.carrier.len()];
        }
        parallel::map(self.carrier.len(), GRAIN, |v| {
            let terms = self.carrier.terms(v).iter();
            terms.fold(T::default(), |sum, &(node, weight)| sum + nodes[node as usize] * weight)
        })
    }
}

impl Carrier {
    /// Number of vertices.
    fn len(&self) -> usize {
        match self {
            Self::Shell(shell) => shell.layers.weights().len(),
            Self::Mesh(links) => links.len(),
        }
    }

    fn terms(&self, vertex: usize) -> &[(u32, Real)] {
        match self {
            Self::Shell(shell) => shell.layers.weights().of(vertex),
            Self::Mesh(links) => &links[vertex],
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
