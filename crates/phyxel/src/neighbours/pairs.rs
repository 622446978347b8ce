//! Close pairs of spheres.

use super::grid::{CellSorted, GRAIN, UniformGrid, visit_rows};
use crate::Real;
use crate::parallel;
use glam::Vec3;
use std::ops::Range;

/// Sphere with the index of its particle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuerySphere {
    /// Centre, m.
    pub position: Vec3,
    /// m.
    pub radius: Real,
    /// Index of the particle.
    pub index: u32,
}

/// Number of comparisons up to which brute force is faster than a grid.
const BRUTE_FORCE_LIMIT: usize = 4096;

/// All pairs of a sphere of `a` and one of `b` whose gap is below `margin` times the sum of their radii and for which
/// `may_touch` is true. Each pair is reported once, in an order that depends on the spheres only.
pub(crate) fn close_pairs(
    a: &[QuerySphere],
    b: &[QuerySphere],
    margin: Real,
    may_touch: impl Fn(&QuerySphere, &QuerySphere) -> bool + Sync,
) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    if a.len() * b.len() <= BRUTE_FORCE_LIMIT {
        let spheres = SphereArray::new(b.to_vec(), margin);
        for sphere in a {
            spheres.collect_pairs(sphere, 0..b.len(), &may_touch, &mut pairs);
        }
        return pairs;
    }
    let (a, b) = (group_by_radius(a), group_by_radius(b));
    for a in &a {
        for b in &b {
            let (fine, coarse) = if max_radius(a) <= max_radius(b) { (a, b) } else { (b, a) };
            pairs.append(&mut SphereGrid::new(coarse, margin).pairs_with(fine, &may_touch));
        }
    }
    pairs
}

/// All close pairs within one set of spheres; see [`close_pairs`].
pub(crate) fn close_pairs_within(
    spheres: &[QuerySphere],
    margin: Real,
    may_touch: impl Fn(&QuerySphere, &QuerySphere) -> bool + Sync,
) -> Vec<(u32, u32)> {
    let classes = group_by_radius(spheres);
    let mut pairs = Vec::new();
    for (i, coarse) in classes.iter().enumerate() {
        let grid = SphereGrid::new(coarse, margin);
        for fine in &classes[..i] {
            pairs.append(&mut grid.pairs_with(fine, &may_touch));
        }
        pairs.append(&mut grid.pairs_within(&may_touch));
    }
    pairs
}

pub(super) fn max_radius(spheres: &[QuerySphere]) -> Real {
    spheres.iter().map(|sphere| sphere.radius).fold(0.0, Real::max)
}

/// Groups spheres into classes of radii that differ by less than a factor of two, finest first.
fn group_by_radius(spheres: &[QuerySphere]) -> Vec<Vec<QuerySphere>> {
    let smallest = spheres.iter().map(|sphere| sphere.radius).fold(Real::INFINITY, Real::min);
    let class = |sphere: &QuerySphere| ((sphere.radius / smallest).log2() + 1e-3).floor().clamp(0.0, 63.0) as usize;
    let mut classes: Vec<Vec<QuerySphere>> = Vec::new();
    for sphere in spheres {
        let class = class(sphere);
        if classes.len() <= class {
            classes.resize_with(class + 1, Vec::new);
        }
        classes[class].push(*sphere);
    }
    classes.retain(|spheres| !spheres.is_empty());
    classes
}

/// Structure of arrays of spheres, tested in SIMD blocks.
#[derive(Clone, Debug)]
struct SphereArray {
    spheres: Vec<QuerySphere>,
    x: Vec<Real>,
    y: Vec<Real>,
    z: Vec<Real>,
    /// Largest radius, m.
    max_radius: Real,
    margin: Real,
}

impl SphereArray {
    fn new(spheres: Vec<QuerySphere>, margin: Real) -> Self {
        let column = |axis: usize| spheres.iter().map(|sphere| sphere.position[axis]).collect();
        let (x, y, z) = (column(0), column(1), column(2));
        Self { x, y, z, max_radius: max_radius(&spheres), margin, spheres }
    }

    /// Collects the close pairs of a sphere and a range of the array.
    fn collect_pairs(
        &self,
        sphere: &QuerySphere,
        range: Range<usize>,
        may_touch: &impl Fn(&QuerySphere, &QuerySphere) -> bool,
        pairs: &mut Vec<(u32, u32)>,
    ) {
        const BLOCK: usize = 8;
        let limit = (sphere.radius + self.max_radius) * (1.0 + self.margin);
        let limit = limit * limit;
        let mut start = range.start;
        while start < range.end {
            let end = (start + BLOCK).min(range.end);
            let (x, y, z) = (&self.x[start..end], &self.y[start..end], &self.z[start..end]);
            let mut near = 0u32;
            for k in 0..end - start {
                let [dx, dy, dz] = [x[k] - sphere.position.x, y[k] - sphere.position.y, z[k] - sphere.position.z];
                near |= u32::from(dx * dx + dy * dy + dz * dz < limit) << k;
            }
            while near != 0 {
                let other = &self.spheres[start + near.trailing_zeros() as usize];
                let max = (sphere.radius + other.radius) * (1.0 + self.margin);
                if sphere.position.distance_squared(other.position) < max * max && may_touch(sphere, other) {
                    pairs.push((sphere.index, other.index));
                }
                near &= near - 1;
            }
            start = end;
        }
    }
}

/// Spheres of similar radius, sorted by cell.
struct SphereGrid {
    grid: UniformGrid,
    keys: Vec<u64>,
    spheres: SphereArray,
}

impl SphereGrid {
    fn new(spheres: &[QuerySphere], margin: Real) -> Self {
        let grid = UniformGrid::enclosing(spheres, margin);
        let CellSorted { keys, spheres } = grid.sort(spheres);
        Self { grid, keys, spheres: SphereArray::new(spheres, margin) }
    }

    /// Close pairs of other spheres, which are not larger, and those of the grid.
    fn pairs_with(
        &self,
        spheres: &[QuerySphere],
        may_touch: &(impl Fn(&QuerySphere, &QuerySphere) -> bool + Sync),
    ) -> Vec<(u32, u32)> {
        let sorted = self.grid.sort(spheres);
        self.visit(&sorted.keys, |k, row, pairs| {
            self.spheres.collect_pairs(&sorted.spheres[k], row, may_touch, pairs);
        })
    }

    /// Close pairs of spheres of the grid: each sphere with later ones.
    fn pairs_within(&self, may_touch: &(impl Fn(&QuerySphere, &QuerySphere) -> bool + Sync)) -> Vec<(u32, u32)> {
        self.visit(&self.keys, |k, row, pairs| {
            let later = row.start.max(k + 1)..row.end;
            self.spheres.collect_pairs(&self.spheres.spheres[k], later, may_touch, pairs);
        })
    }

    /// Calls `collect` with the index of each query (sorted, given by cell keys) and each of the nine rows of
    /// spheres around it.
    fn visit(
        &self,
        keys: &[u64],
        collect: impl Fn(usize, Range<usize>, &mut Vec<(u32, u32)>) + Sync,
    ) -> Vec<(u32, u32)> {
        let found = parallel::map_ranges(keys.len(), GRAIN, |range| {
            let mut pairs = Vec::new();
            visit_rows(&self.grid, &self.keys, keys, range, |k, rows| {
                rows.iter().for_each(|row| collect(k, row.clone(), &mut pairs));
            });
            pairs
        });
        found.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbours::test_clouds::{brute_force, scattered};
    use std::collections::BTreeSet;

    fn sorted(pairs: &[(u32, u32)]) -> BTreeSet<(u32, u32)> {
        let sorted: BTreeSet<_> = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        assert_eq!(sorted.len(), pairs.len(), "no pair twice");
        sorted
    }

    const RADII: [fn(usize) -> Real; 2] =
        [|_| 0.07, |i| if i.is_multiple_of(50) { 0.6 } else { 0.02 + 0.001 * (i % 30) as Real }];

    #[test]
    fn every_close_pair_of_two_sets_is_found_once_whatever_their_radii() {
        for radius in RADII {
            // By brute force, and by grids.
            for (count, first, half) in [(150, 20, 0.5), (1500, 400, 2.0)] {
                for margin in [0.0, 0.3] {
                    let mut spheres = scattered(count, half, radius);
                    // The sets overlap partially.
                    spheres[..first].iter_mut().for_each(|sphere| sphere.position += Vec3::new(0.6, -0.2, 0.1) * half);
                    let (a, b) = spheres.split_at(first);
                    let pairs = sorted(&close_pairs(a, b, margin, |_, _| true));
                    let apart = |a: &QuerySphere, b: &QuerySphere| (a.index < first as u32) != (b.index < first as u32);
                    assert_eq!(pairs, brute_force(&spheres, margin, apart));
                    assert!(pairs.len() > 2, "{}", pairs.len());
                    let even = sorted(&close_pairs(a, b, margin, |a, b| (a.index + b.index).is_multiple_of(2)));
                    assert_eq!(even, pairs.into_iter().filter(|(a, b)| (a + b).is_multiple_of(2)).collect());
                }
            }
        }
    }

    #[test]
    fn every_close_pair_of_one_set_is_found_once() {
        for radius in RADII {
            for (count, half) in [(150, 0.5), (1500, 2.0)] {
                let spheres = scattered(count, half, radius);
                let pairs = sorted(&close_pairs_within(&spheres, 0.3, |_, _| true));
                assert_eq!(pairs, brute_force(&spheres, 0.3, |_, _| true));
                assert!(pairs.len() > 2);
            }
        }
    }

    #[test]
    fn far_away_spheres_and_no_spheres_are_fine() {
        assert!(close_pairs(&[], &[], 0.1, |_, _| true).is_empty());
        assert!(close_pairs_within(&[], 0.1, |_, _| true).is_empty());
        let mut spheres = scattered(200, 1.0, |_| 0.1);
        spheres.iter_mut().for_each(|sphere| sphere.position = Vec3::splat(1.0e30));
        assert_eq!(close_pairs(&spheres[..100], &spheres[100..], 0.1, |_, _| true).len(), 10_000);
        assert_eq!(close_pairs_within(&spheres, 0.1, |_, _| true).len(), 19_900);
        spheres[..100].iter_mut().for_each(|sphere| sphere.position = Vec3::splat(-1.0e30));
        assert!(close_pairs(&spheres[..100], &spheres[100..], 0.1, |_, _| true).is_empty());
        assert_eq!(close_pairs_within(&spheres, 0.1, |_, _| true).len(), 2 * 4950);
    }
}
