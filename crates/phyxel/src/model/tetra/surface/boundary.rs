//! Boundary and connected components of a body, for contact and heat.

use crate::Real;
use crate::body::Body;
use crate::model::View;
use crate::model::tetra::TetraModel;
use crate::model::tetra::body::TetBody;
use crate::numerics::UnionFind;
use glam::Vec3;
use phyxel_laws::tet_topology::TetComplex;
use std::ops::Range;

/// Boundary of a body for contact, kept until nodes split or weld.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boundary {
    /// Boundary faces, ascending: face `k` of element `e` is `4 e + k`.
    pub faces: Vec<u32>,
    /// Boundary nodes by index in the body, ascending.
    pub nodes: Vec<u32>,
    /// Connected component of each boundary node.
    pub component_of_node: Vec<u32>,
    /// Connected component of each element; elements are connected by nodes.
    pub component_of_element: Vec<u32>,
    /// Number of connected components.
    pub component_count: u32,
}

impl Boundary {
    /// Finds the boundary and the components of a complex.
    pub fn new(complex: &TetComplex) -> Self {
        let mut sets = UnionFind::new(complex.node_count());
        for element in complex.elements() {
            element.windows(2).for_each(|pair| sets.union([pair[0], pair[1]]));
        }
        let (mut component_of_root, mut count) = (vec![u32::MAX; complex.node_count()], 0);
        let component_of = |element: &[u32; 4]| {
            let component = &mut component_of_root[sets.find(element[0]) as usize];
            if *component == u32::MAX {
                *component = count;
                count += 1;
            }
            *component
        };
        let component_of_element: Vec<u32> = complex.elements().iter().map(component_of).collect();
        let faces: Vec<u32> = complex.surface_faces().collect();
        let mut is_on_boundary = vec![false; complex.node_count()];
        faces.iter().flat_map(|&face| complex.face(face)).for_each(|node| is_on_boundary[node as usize] = true);
        let nodes: Vec<u32> = (0..complex.node_count() as u32).filter(|node| is_on_boundary[*node as usize]).collect();
        let component_of_node =
            nodes.iter().map(|&node| component_of_element[complex.corners(node)[0] as usize / 4]).collect();
        Self { faces, nodes, component_of_node, component_of_element, component_count: count }
    }
}

/// View of a tetrahedral body for contact.
#[derive(Clone, Copy)]
pub(crate) struct TetView<'a> {
    /// Index of the body.
    pub body: usize,
    /// Nodes of its elements, as particles.
    pub elements: &'a [[u32; 4]],
    pub boundary: &'a Boundary,
}

impl TetBody {
    /// Ensures that connectivity and boundary are known; `range` are the particles of the body.
    pub fn ensure_surface(&mut self, range: Range<usize>) {
        if self.complex.is_none() {
            self.complex = Some(self.build_complex(range));
        }
        if let (None, Some(complex)) = (&self.boundary, &self.complex) {
            self.boundary = Some(Boundary::new(complex));
        }
    }
}

impl TetraModel {
    /// Views of all bodies for contact. Requires [`prepare`](Self::prepare).
    pub(crate) fn contact_views(&self) -> impl Iterator<Item = TetView<'_>> {
        self.bodies.iter().filter_map(|tet_body| {
            let boundary = tet_body.boundary.as_ref()?;
            Some(TetView { body: tet_body.id.0 as usize, elements: &tet_body.elements, boundary })
        })
    }

    /// Boundary area of a node projected along a direction, m2: a third of each face around it that faces
    /// against it.
    pub(in crate::model::tetra) fn projected_boundary_area(
        &self,
        view: &View,
        particle: usize,
        direction: Vec3,
    ) -> Real {
        // A third of each face, whose area is half of the cross product.
        let projected = |face: Vec3| (-face.dot(direction) / 6.0).max(0.0);
        self.face_cross_products_at(view.bodies, particle, &view.particles.position).map(projected).sum()
    }

    /// Boundary faces around a node, as cross products of two edges: outward normals with the length of
    /// twice the area, m2.
    pub(in crate::model::tetra) fn face_cross_products_at<'a>(
        &'a self,
        bodies: &[Body],
        particle: usize,
        positions: &'a [Vec3],
    ) -> impl Iterator<Item = Vec3> + 'a {
        let tet_body = self.bodies.iter().find(|tet_body| bodies[tet_body.id.0 as usize].range().contains(&particle));
        let complex_of_body = tet_body
            .and_then(|tet_body| Some((bodies[tet_body.id.0 as usize].particles.start, tet_body.complex.as_ref()?)));
        complex_of_body.into_iter().flat_map(move |(first, complex)| {
            complex.surface_faces_at(particle as u32 - first).map(move |face| {
                let [a, b, c] = complex.face(face).map(|node| positions[(node + first) as usize]);
                (b - a).cross(c - a)
            })
        })
    }
}
