//! Bounding volume hierarchy of axis-aligned boxes over triangles.

use super::TriangleMesh;
use glam::Vec3;
use phyxel::Real;
use phyxel_laws::geometry::{Aabb, closest_point_on_triangle};

/// Largest number of triangles of a leaf.
const MAX_LEAF_TRIANGLES: usize = 4;
/// Size of the traversal stack, one entry per level. Halving 2^32 triangles takes 32 levels.
pub(super) const MAX_DEPTH: usize = 64;

/// Node of the hierarchy: the bounding box of the triangles `start..end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct BvhNode {
    pub bounds: Aabb,
    pub start: u32,
    pub end: u32,
    /// Index of the second child; the first follows its parent. Zero in a leaf.
    pub second: u32,
}

impl BvhNode {
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Binary bounding volume hierarchy. Children are stored after their parent.
#[derive(Clone, Debug)]
pub(super) struct Bvh {
    pub nodes: Vec<BvhNode>,
    /// Corners of the triangles in the order of the leaves, m.
    pub triangles: Vec<[Vec3; 3]>,
    /// Index of each triangle in the mesh.
    pub triangle_ids: Vec<u32>,
}

impl Bvh {
    /// Builds the hierarchy by median splits along the longest side of the bounds of the centroids.
    pub fn new(mesh: &TriangleMesh) -> Self {
        let corners: Vec<[Vec3; 3]> = (0..mesh.triangles.len()).map(|triangle| mesh.corners(triangle)).collect();
        let mut items: Vec<(Vec3, u32)> =
            corners.iter().zip(0..).map(|([a, b, c], number)| ((*a + *b + *c) / 3.0, number)).collect();
        let mut nodes = Vec::with_capacity(items.len());
        build_subtree(&mut nodes, &mut items, 0);
        let mut bvh = Self {
            triangles: items.iter().map(|(_, number)| corners[*number as usize]).collect(),
            triangle_ids: items.iter().map(|(_, number)| *number).collect(),
            nodes,
        };
        bvh.refit();
        bvh
    }

    /// Refits the boxes to the triangles, bottom-up.
    fn refit(&mut self) {
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            let bounds = match node.second {
                0 => Aabb::from_points(self.triangles[node.range()].iter().flatten().copied()),
                second => self.nodes[index + 1].bounds.union(self.nodes[second as usize].bounds),
            };
            self.nodes[index].bounds = bounds;
        }
    }

    /// Returns the point of the triangles closest to `point`, and the slot of its triangle in the leaf order.
    pub fn closest(&self, point: Vec3) -> (Vec3, usize) {
        let mut best = (Real::INFINITY, Vec3::ZERO, 0);
        let mut stack = [(0u32, 0.0); MAX_DEPTH];
        let mut stack_len = 1;
        while stack_len > 0 {
            stack_len -= 1;
            let (index, distance) = stack[stack_len];
            if distance >= best.0 {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.second == 0 {
                for slot in node.range() {
                    let on = closest_point_on_triangle(point, &self.triangles[slot]);
                    let distance = on.distance_squared(point);
                    if distance < best.0 {
                        best = (distance, on, slot);
                    }
                }
                continue;
            }
            let entry = |child: u32| (child, self.nodes[child as usize].bounds.distance_squared(point));
            let (mut near, mut far) = (entry(index + 1), entry(node.second));
            if far.1 < near.1 {
                (near, far) = (far, near);
            }
            stack[stack_len] = far;
            stack[stack_len + 1] = near;
            stack_len += 2;
        }
        (best.1, best.2)
    }
}

/// Appends the subtree of `items` (centroid and triangle). Its boxes are those of centroids until `refit`.
fn build_subtree(nodes: &mut Vec<BvhNode>, items: &mut [(Vec3, u32)], start: usize) {
    let index = nodes.len();
    let end = start + items.len();
    let bounds = Aabb::from_points(items.iter().map(|item| item.0));
    nodes.push(BvhNode { bounds, start: start as u32, end: end as u32, second: 0 });
    if items.len() <= MAX_LEAF_TRIANGLES {
        return;
    }
    let axis = bounds.extent().max_position();
    let half = items.len() / 2;
    items.select_nth_unstable_by(half, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    let (low, high) = items.split_at_mut(half);
    build_subtree(nodes, low, start);
    nodes[index].second = nodes.len() as u32;
    build_subtree(nodes, high, start + half);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::SequentialRng;

    fn random_point(random: &mut SequentialRng) -> Vec3 {
        random.uniform_vec3() * 2.0 - 1.0
    }

    #[test]
    fn the_tree_finds_what_looking_at_every_triangle_finds() {
        let mut random = SequentialRng::new(4);
        let positions: Vec<Vec3> = (0..300).map(|_| random_point(&mut random)).collect();
        let triangles = (0..100).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let mesh = TriangleMesh { positions, triangles };
        let bvh = Bvh::new(&mesh);
        for _ in 0..500 {
            let point = random_point(&mut random) * 1.5;
            let distances = (0..100).map(|t| closest_point_on_triangle(point, &mesh.corners(t)).distance(point));
            let expected = distances.fold(Real::INFINITY, Real::min);
            let (found, slot) = bvh.closest(point);
            assert!((found.distance(point) - expected).abs() < 1e-6);
            assert_eq!(bvh.triangles[slot], mesh.corners(bvh.triangle_ids[slot] as usize));
        }
    }
}
