//! Grouping the samples of a body into clusters.

use super::settings::Clusters;
use crate::Real;
use crate::numerics::{Aabb, UnionFind};
use glam::Vec3;
use phyxel_laws::shape_matching::rest::RestShape;

/// Groups samples into clusters: every sample is in at least one.
///
/// Regions are cubical, regular and overlapping (`[MHTG05]` section 4.4). Groups of lower rank than the
/// body itself, for instance three points of a solid, are merged with the group they share most samples
/// with.
pub(super) fn group_samples(rest: &[Vec3], clusters: &Clusters, overlap: Real, spacing: Real) -> Vec<Vec<u32>> {
    let groups = match clusters {
        Clusters::Counts(counts) => regions(rest, counts.map(|n| n.max(1)), overlap, spacing),
        Clusters::Size(size) => regions(rest, counts_for_size(rest, *size), overlap, spacing),
        Clusters::Groups(groups) => complete(groups.clone(), rest.len()),
    };
    merge_degenerate(groups, rest)
}

fn counts_for_size(rest: &[Vec3], size: Real) -> [u32; 3] {
    let extent = Aabb::from_points(rest.iter().copied()).extent();
    (extent / size).to_array().map(|n| (n.round() as u32).clamp(1, 1 << 10))
}

/// Largest number of regions along each axis: one per layer of samples, or one per two layers where regions
/// do not overlap, so that each region has volume.
fn max_region_counts(extent: Vec3, overlap: Real, spacing: Real) -> [u32; 3] {
    let edge = if overlap > 0.0 { spacing } else { 2.0 * spacing };
    (extent / edge).to_array().map(|n| (n.ceil() as u32).max(1))
}

/// Samples by overlapping region.
fn regions(rest: &[Vec3], counts: [u32; 3], overlap: Real, spacing: Real) -> Vec<Vec<u32>> {
    let aabb = Aabb::from_points(rest.iter().copied());
    let max_counts = max_region_counts(aabb.extent(), overlap, spacing);
    let counts: [u32; 3] = std::array::from_fn(|axis| counts[axis].min(max_counts[axis]));
    let size = aabb.extent() / Vec3::from_array(counts.map(|n| n as Real));
    // Neighbours share at least a layer of samples, unless no overlap is wanted.
    let min_overlap = if overlap > 0.0 { 0.505 * spacing } else { 0.0 };
    let reach = (size * overlap).max(Vec3::splat(min_overlap)) + aabb.extent() * 1e-6;
    let mut groups = vec![Vec::new(); counts.iter().product::<u32>() as usize];
    for (sample, &x) in rest.iter().enumerate() {
        let [xs, ys, zs] = [0, 1, 2].map(|axis| {
            let (at, size, overlap) = (x[axis] - aabb.min[axis], size[axis], reach[axis]);
            let last = counts[axis] as usize - 1;
            if size <= 0.0 {
                return 0..=0;
            }
            let first = ((at - overlap) / size).floor().max(0.0) as usize;
            let end = ((at + overlap) / size).floor().max(0.0) as usize;
            first.min(last)..=end.min(last)
        });
        for z in zs {
            for y in ys.clone() {
                for x in xs.clone() {
                    groups[x + counts[0] as usize * (y + counts[1] as usize * z)].push(sample as u32);
                }
            }
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Given groups without invalid indices, and one more for the samples in none of them.
fn complete(mut groups: Vec<Vec<u32>>, count: usize) -> Vec<Vec<u32>> {
    let mut seen = vec![false; count];
    for group in &mut groups {
        group.retain(|&sample| (sample as usize) < count);
        group.sort_unstable();
        group.dedup();
        group.iter().for_each(|&sample| seen[sample as usize] = true);
    }
    groups.push((0..count as u32).filter(|&sample| !seen[sample as usize]).collect());
    groups.retain(|group| !group.is_empty());
    groups
}

/// Rank of samples: number of directions in which they have extent.
fn rank(group: &[u32], rest: &[Vec3]) -> usize {
    let weight = 1.0 / group.len().max(1) as f64;
    RestShape::from_points(group.iter().map(|&sample| (rest[sample as usize], weight))).rank
}

/// Merges groups of lower rank than the whole with a neighbour.
pub(super) fn merge_degenerate(mut groups: Vec<Vec<u32>>, rest: &[Vec3]) -> Vec<Vec<u32>> {
    let all: Vec<u32> = (0..rest.len() as u32).collect();
    let full_rank = rank(&all, rest);
    let mut index = 0;
    while groups.len() > 1 && index < groups.len() {
        if rank(&groups[index], rest) >= full_rank {
            index += 1;
            continue;
        }
        let degenerate = groups.remove(index);
        let neighbour = nearest_group(&degenerate, &groups, rest);
        groups[neighbour].extend(degenerate);
        groups[neighbour].sort_unstable();
        groups[neighbour].dedup();
        index = index.min(neighbour);
    }
    groups
}

/// Group that shares most samples, or else the one whose centre is nearest.
fn nearest_group(degenerate: &[u32], groups: &[Vec<u32>], rest: &[Vec3]) -> usize {
    let centre = |group: &[u32]| group.iter().map(|&i| rest[i as usize]).sum::<Vec3>() / group.len() as Real;
    let own_centre = centre(degenerate);
    let shared = |group: &[u32]| degenerate.iter().filter(|i| group.binary_search(i).is_ok()).count();
    let ranked = groups.iter().enumerate().map(|(i, group)| (shared(group), centre(group).distance(own_centre), i));
    ranked.max_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1))).map_or(0, |(_, _, i)| i)
}

/// Number of connected components: clusters that share a particle belong to one component.
pub(super) fn count_pieces<'a>(groups: impl Iterator<Item = &'a [u32]> + Clone) -> u32 {
    let mut sets = UnionFind::new(groups.clone().count());
    let mut owner = std::collections::HashMap::new();
    for (number, group) in (0..).zip(groups) {
        for &particle in group {
            sets.union([*owner.entry(particle).or_insert(number), number]);
        }
    }
    sets.component_count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(n: [u32; 3]) -> Vec<Vec3> {
        let mut samples = Vec::new();
        for z in 0..n[2] {
            for y in 0..n[1] {
                for x in 0..n[0] {
                    samples.push(Vec3::new(x as Real, y as Real, z as Real) * 0.1);
                }
            }
        }
        samples
    }

    fn covers_all(groups: &[Vec<u32>], count: usize) -> bool {
        (0..count as u32).all(|i| groups.iter().any(|group| group.contains(&i)))
    }

    #[test]
    fn regions_cover_every_sample_and_share_some_with_their_neighbours() {
        let rest = block([8, 6, 4]);
        for counts in [[1, 1, 1], [2, 2, 2], [4, 3, 1], [8, 6, 4]] {
            let groups = group_samples(&rest, &Clusters::Counts(counts), 0.25, 0.1);
            assert!(covers_all(&groups, rest.len()));
            assert_eq!(count_pieces(groups.iter().map(Vec::as_slice)), 1, "{counts:?}");
        }
        assert_eq!(group_samples(&rest, &Clusters::Counts([4, 3, 1]), 0.25, 0.1).len(), 12);
    }

    #[test]
    fn a_group_of_three_points_joins_its_neighbour() {
        let mut rest = block([3, 3, 3]);
        rest.extend([Vec3::new(9.0, 0.0, 0.0), Vec3::new(9.0, 0.1, 0.0), Vec3::new(9.1, 0.0, 0.0)]);
        let groups = group_samples(&rest, &Clusters::Counts([2, 1, 1]), 0.25, 0.1);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].len(), rest.len());
    }

    #[test]
    fn flat_lines_and_single_points_keep_their_groups() {
        let flat = group_samples(&block([8, 8, 1]), &Clusters::Counts([2, 2, 2]), 0.25, 0.1);
        assert_eq!(flat.len(), 4);
        let line = group_samples(&block([9, 1, 1]), &Clusters::Counts([3, 1, 1]), 0.25, 0.1);
        assert_eq!(line.len(), 3);
        assert_eq!(group_samples(&[Vec3::ONE], &Clusters::Counts([3, 3, 3]), 0.25, 0.1), vec![vec![0]]);
    }

    #[test]
    fn given_groups_are_completed() {
        let rest = block([3, 3, 3]);
        let given = Clusters::Groups(vec![(0..18).collect(), vec![99]]);
        let groups = group_samples(&rest, &given, 0.25, 0.1);
        assert!(covers_all(&groups, 27));
    }

    #[test]
    fn groups_without_a_common_sample_are_two_pieces() {
        assert_eq!(count_pieces([&[0u32, 1][..], &[2, 3], &[3, 4]].into_iter()), 2);
    }
}
