//! Subdivision masks: vertices of the next level as weighted sums of vertices.

use super::HalfEdgeMesh;
use std::f64::consts::TAU;

/// Subdivision scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubdivisionScheme {
    /// Approximating scheme of Loop: vertices move, and a strongly curved surface shrinks. C2 at regular
    /// vertices.
    Loop,
    /// Interpolating modified Butterfly scheme: vertices stay.
    Butterfly,
}

impl SubdivisionScheme {
    /// Mask of an existing vertex on the next level: calls `add` with vertices and weights that sum to 1.
    pub fn vertex_mask(self, mesh: &HalfEdgeMesh, vertex: u32, add: &mut dyn FnMut(u32, f64)) {
        match self {
            Self::Butterfly => add(vertex, 1.0),
            Self::Loop => {
                let valence = f64::from(mesh.valence(vertex));
                let weight = loop_weight(valence);
                add(vertex, 1.0 - valence * weight);
                mesh.one_ring(mesh.half_edge_from(vertex)).for_each(|half| add(mesh.end(half), weight));
            }
        }
    }

    /// Mask of the new vertex on an edge, given by one of its half edges: calls `add` with vertices and
    /// weights that sum to 1. A vertex may occur more than once.
    pub fn edge_mask(self, mesh: &HalfEdgeMesh, half: u32, add: &mut dyn FnMut(u32, f64)) {
        let twin = mesh.twin(half);
        match self {
            Self::Loop => {
                // [Loop87]: 3/8 for the ends, 1/8 for the opposite vertices.
                for half in [half, twin] {
                    add(mesh.end(half), 0.375);
                    add(mesh.opposite_vertex(half), 0.125);
                }
            }
            Self::Butterfly => {
                let regular = [half, twin].map(|half| mesh.valence(mesh.start(half)) == 6);
                match regular {
                    [true, true] => [half, twin].iter().for_each(|&half| butterfly_mask(mesh, half, add)),
                    // [ZSS96] section 3: one irregular end determines the mask, two take the mean.
                    [false, true] => irregular_mask(mesh, half, 1.0, add),
                    [true, false] => irregular_mask(mesh, twin, 1.0, add),
                    [false, false] => [half, twin].iter().for_each(|&half| irregular_mask(mesh, half, 0.5, add)),
                }
            }
        }
    }
}

/// Weight of each neighbour of a vertex in Loop's scheme `[Loop87]`: `(5/8 - (3/8 + cos(2 pi/n)/4)^2)/n`.
fn loop_weight(valence: f64) -> f64 {
    let root = 0.375 + 0.25 * libm::cos(TAU / valence);
    (0.625 - root * root) / valence
}

/// Half of the eight-point mask with tension 0: 1/2 for the ends, 1/8 for the opposite vertices, -1/16 for
/// the four wings.
fn butterfly_mask(mesh: &HalfEdgeMesh, half: u32, add: &mut dyn FnMut(u32, f64)) {
    add(mesh.end(half), 0.5);
    add(mesh.opposite_vertex(half), 0.125);
    let [after, before] = [mesh.next(half), mesh.next(mesh.next(half))];
    [after, before].iter().for_each(|&side| add(mesh.opposite_vertex(mesh.twin(side)), -0.0625));
}

/// Mask around an irregular vertex, the start of a half edge.
fn irregular_mask(mesh: &HalfEdgeMesh, half: u32, scale: f64, add: &mut dyn FnMut(u32, f64)) {
    let count = mesh.valence(mesh.start(half));
    if count < 3 {
        // Two triangles back to back enclose nothing: the midpoint.
        add(mesh.start(half), 0.5 * scale);
        add(mesh.end(half), 0.5 * scale);
        return;
    }
    add(mesh.start(half), 0.75 * scale);
    for (k, spoke) in mesh.one_ring(half).enumerate() {
        let weight = match (count, k) {
            (3, 0) => 5.0 / 12.0,
            (3, _) => -1.0 / 12.0,
            (4, 0) => 0.375,
            (4, 2) => -0.125,
            (4, _) => 0.0,
            _ => {
                let angle = TAU * k as f64 / f64::from(count);
                (0.25 + libm::cos(angle) + 0.5 * libm::cos(2.0 * angle)) / f64::from(count)
            }
        };
        add(mesh.end(spoke), weight * scale);
    }
}
