//! Tetrahedral body: its elements and their state. Node state is in the particle store.

use super::TetraSettings;
use super::surface::boundary::Boundary;
use super::surface::skin::SkinCache;
use crate::Real;
use crate::body::{Body, BodyId};
use crate::model::Moved;
use crate::store::Particles;
use crate::{frame::TetraReport, parallel};
use glam::Vec3;
use phyxel_laws::fem::{Element, ReferencePack, dihedral_angles, signed_volume};
use phyxel_laws::material::hooke::Hooke;
use phyxel_laws::simd::{F32x8, WIDTH};
use phyxel_laws::tet_topology::TetComplex;
use serde::{Deserialize, Serialize};
use std::array::from_fn;
use std::ops::Range;
use std::sync::Arc;

/// Elements per task.
const GRAIN: usize = 512;

/// Tetrahedral body.
///
/// The reference shape of an element never changes; nodes may split and weld. Elements are added only
/// with a body that merges into this one, and removed only when they melt. Element data are in packs of
/// eight: element `8 k` is the first of pack `k`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TetBody {
    pub id: BodyId,
    /// Settings, without the elements, which change.
    pub settings: TetraSettings,
    /// Nodes of each element, as particles.
    pub elements: Vec<[u32; 4]>,
    /// Reference shapes by pack.
    #[serde(with = "rest_shapes")]
    pub rest: Vec<ReferencePack>,
    /// Corotational rotations by pack: quaternions x, y, z, w.
    pub rotations: Vec<[F32x8; 4]>,
    /// Plastic strain by pack in Voigt order; empty if all is zero.
    pub plastic_strain: Vec<[F32x8; 6]>,
    /// Smallest and largest dihedral angle at rest, degrees.
    pub dihedral_range: [f64; 2],
    /// Number of implicit steps.
    pub implicit_steps: u64,
    /// Conjugate-gradient iterations of all implicit steps.
    pub solver_iterations: u64,
    /// Nodes added by fracture since the start, and failed ties with later bodies.
    pub broken: u64,
    /// Nodes removed by welding since the start, and ties made with later bodies.
    pub merged: u64,
    /// Connectivity, by node index in the body; made on demand.
    #[serde(skip)]
    pub complex: Option<TetComplex>,
    /// True if the present step is implicit and inertia is below the rounding of the stiffness.
    #[serde(skip)]
    pub inertia_is_lost: bool,
    /// Boundary for contact; made on demand.
    #[serde(skip)]
    pub boundary: Option<Boundary>,
    /// Skin of the last frame.
    #[serde(skip)]
    pub skin_cache: SkinCache,
    /// Elastic law and its largest element eigenvalue, Pa/m2.
    #[serde(skip)]
    eigenvalue_cache: Option<(Hooke, f64)>,
}

impl TetBody {
    pub fn new(id: BodyId, body: &Body, particles: &Particles, mut settings: TetraSettings) -> Self {
        let first = body.particles.start;
        let elements: Vec<[u32; 4]> = settings.elements.iter().map(|nodes| nodes.map(|node| node + first)).collect();
        settings.elements = Arc::default();
        let shape = |element: &[u32; 4]| element.map(|node| particles.rest[node as usize]);
        // `World::add_body` has validated all elements.
        let valid: Vec<Element> = elements.iter().filter_map(|element| Element::new(shape(element))).collect();
        let rest: Vec<ReferencePack> = valid.chunks(WIDTH).map(ReferencePack::new).collect();
        let identity = [[0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH], [1.0; WIDTH]];
        let ranges = parallel::map_ranges(elements.len(), GRAIN, |range| {
            let angles = range.flat_map(|i| dihedral_angles(shape(&elements[i])));
            angles.fold((Real::INFINITY, 0.0), |(min, max), angle| (angle.min(min), angle.max(max)))
        });
        let (min, max) =
            ranges.into_iter().fold((Real::INFINITY, 0.0), |a: (Real, Real), b| (a.0.min(b.0), a.1.max(b.1)));
        Self {
            id,
            settings,
            rotations: vec![identity; rest.len()],
            elements,
            rest,
            plastic_strain: Vec::new(),
            dihedral_range: [min, max].map(|angle| f64::from(angle).to_degrees()),
            implicit_steps: 0,
            solver_iterations: 0,
            broken: 0,
            merged: 0,
            complex: None,
            inertia_is_lost: false,
            boundary: None,
            skin_cache: SkinCache::default(),
            eigenvalue_cache: None,
        }
    }

    /// Updates node indices after a rearrangement of the store; returns false if some of its nodes are gone.
    pub fn rearrange(&mut self, moved: &Moved) -> bool {
        let mut is_whole = true;
        for node in self.elements.iter_mut().flatten() {
            match moved.order.target(*node) {
                Some(target) => *node = target,
                None => is_whole = false,
            }
        }
        let body = &moved.bodies[self.id.0 as usize];
        let new_index = |old: u32| moved.order.target(old).map_or(u32::MAX, |new| new - body.particles.start);
        let new_indices: Vec<u32> = moved.old_ranges[self.id.0 as usize].clone().map(new_index).collect();
        let is_moved = (0..).zip(&new_indices).any(|(old, new)| old != *new);
        if let Some(complex) = self.complex.as_mut().filter(|_| is_moved) {
            let is_valid = complex.renumber(&new_indices, body.len()).is_ok();
            self.complex.take_if(|_| !is_valid);
            self.boundary = None;
        }
        is_whole
    }

    /// Largest squared eigenfrequency of any element times density, Pa/m2: an upper bound for the body,
    /// since the eigenvalues of an assembly do not exceed those of its elements.
    pub fn find_max_eigenvalue(&mut self, hooke: &Hooke) -> f64 {
        if let Some((_, known)) = self.eigenvalue_cache.filter(|(law, _)| law == hooke) {
            return known;
        }
        let root = hooke.mandel_sqrt();
        let found = parallel::map_ranges(self.elements.len(), GRAIN, |range| {
            range.map(|i| self.element(i).max_eigenvalue(&root)).fold(0.0, f64::max)
        });
        let found = found.into_iter().fold(0.0, f64::max);
        self.eigenvalue_cache = Some((*hooke, found));
        found
    }

    /// Reference shape of an element.
    pub fn element(&self, i: usize) -> Element {
        let (rest, lane) = (&self.rest[i / WIDTH], i % WIDTH);
        let gradient = |k: usize| Vec3::from_array(rest.gradients[k].map(|axis| axis[lane]));
        Element { gradients: [0, 1, 2].map(gradient), volume: rest.volume[lane] }
    }

    /// Range of the elements of a pack.
    pub fn elements_in(&self, pack: usize) -> Range<usize> {
        WIDTH * pack..(WIDTH * (pack + 1)).min(self.elements.len())
    }

    /// Counts the connected components, and finds the fraction of all elements in the largest one;
    /// `range` are its particles.
    pub fn count_components(&self, range: Range<usize>) -> (u32, f64) {
        let made;
        let boundary = match &self.boundary {
            Some(known) => known,
            None => {
                made = Boundary::new(&self.build_complex(range));
                &made
            }
        };
        let mut sizes = vec![0u32; boundary.component_count as usize];
        boundary.component_of_element.iter().for_each(|&component| sizes[component as usize] += 1);
        let largest_fraction = f64::from(sizes.into_iter().max().unwrap_or(0)) / self.elements.len().max(1) as f64;
        (boundary.component_count, largest_fraction)
    }

    /// Report of element quality and of inverted elements.
    pub fn report(&self, positions: &[Vec3], largest_fraction: f64) -> TetraReport {
        let inverted = parallel::map_ranges(self.elements.len(), GRAIN, |range| {
            let corners = |i: usize| self.elements[i].map(|node| positions[node as usize]);
            range.filter(|&i| signed_volume(corners(i)) < 0.0).count() as u64
        });
        TetraReport {
            count: self.elements.len() as u64,
            min_dihedral: self.dihedral_range[0],
            max_dihedral: self.dihedral_range[1],
            inverted: inverted.into_iter().sum(),
            largest_fraction,
        }
    }
}

/// Element data repacked for a selection of elements.
pub(super) struct PackedElements {
    rest: Vec<ReferencePack>,
    rotations: Vec<[F32x8; 4]>,
    plastic_strain: Vec<[F32x8; 6]>,
}

impl PackedElements {
    /// Packs the data of elements, each given with its body.
    pub fn new(elements: &[(&TetBody, usize)]) -> Self {
        let rotation = |(body, i): (&TetBody, usize), k: usize| body.rotations[i / WIDTH][k][i % WIDTH];
        let strain = |(body, i): (&TetBody, usize), k: usize| {
            body.plastic_strain.get(i / WIDTH).map_or(0.0, |strains| strains[k][i % WIDTH])
        };
        let is_plastic = elements.iter().any(|(body, _)| !body.plastic_strain.is_empty());
        let packs = || elements.chunks(WIDTH);
        // Lanes beyond the last element repeat it.
        fn member<'a>(pack: &[(&'a TetBody, usize)], lane: usize) -> (&'a TetBody, usize) {
            pack[lane.min(pack.len() - 1)]
        }
        let reference = |pack: &[(&TetBody, usize)]| {
            ReferencePack::new(&pack.iter().map(|(body, i)| body.element(*i)).collect::<Vec<_>>())
        };
        Self {
            rest: packs().map(reference).collect(),
            rotations: packs().map(|pack| from_fn(|k| from_fn(|lane| rotation(member(pack, lane), k)))).collect(),
            plastic_strain: packs()
                .filter(|_| is_plastic)
                .map(|pack| from_fn(|k| from_fn(|lane| strain(member(pack, lane), k))))
                .collect(),
        }
    }
}

impl TetBody {
    /// All elements, each with its body.
    pub fn all_elements(&self) -> impl Iterator<Item = (&Self, usize)> {
        (0..self.elements.len()).map(move |i| (self, i))
    }

    /// Keeps only these elements, in ascending order.
    pub fn keep_elements(&mut self, kept: &[usize]) {
        let selected: Vec<(&Self, usize)> = kept.iter().map(|&i| (&*self, i)).collect();
        let packed = PackedElements::new(&selected);
        self.elements = kept.iter().map(|&i| self.elements[i]).collect();
        self.replace_elements(packed);
    }

    /// Replaces the element data and discards what derives from them.
    pub fn replace_elements(&mut self, packed: PackedElements) {
        let PackedElements { rest, rotations, plastic_strain: plastic } = packed;
        (self.rest, self.rotations, self.plastic_strain) = (rest, rotations, plastic);
        (self.complex, self.boundary, self.eigenvalue_cache) = (None, None, None);
        self.skin_cache = SkinCache::default();
    }
}

/// Lumped volume of each node, m3: a quarter of each element around it.
pub(crate) fn node_volumes(elements: &[[u32; 4]], samples: &[Vec3]) -> Vec<f64> {
    let mut volumes = vec![0.0; samples.len()];
    for element in elements {
        let [a, b, c, d] = element.map(|node| samples[node as usize].as_dvec3());
        let quarter = (b - a).cross(c - a).dot(d - a) / 24.0;
        element.iter().for_each(|&node| volumes[node as usize] += quarter);
    }
    volumes
}

/// Reference shapes in checkpoints.
mod rest_shapes {
    use phyxel_laws::fem::ReferencePack;
    use phyxel_laws::simd::F32x8;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(rest: &[ReferencePack], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(rest.iter().map(|rest| (&rest.gradients, &rest.volume)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ReferencePack>, D::Error> {
        let rest = Vec::<([[F32x8; 3]; 3], F32x8)>::deserialize(deserializer)?;
        Ok(rest.into_iter().map(|(gradients, volume)| ReferencePack { gradients, volume }).collect())
    }
}
