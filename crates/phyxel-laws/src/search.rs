//! Which of many points are near one.

use crate::Real;
use crate::lanes::{Eight, Lanes, WIDTH, at_every_level};
use std::ops::Range;

/// Points by axis, for eight at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    axes: [Vec<Real>; 3],
}

impl Columns {
    /// From points in their order.
    pub fn new(points: impl Iterator<Item = glam::Vec3> + Clone) -> Self {
        // What fills up the last eight is near nothing.
        let fill = [Real::INFINITY; WIDTH - 1];
        let axes = std::array::from_fn(|axis| points.clone().map(|point| point[axis]).chain(fill).collect());
        Self { axes }
    }

    #[inline(always)]
    fn eight(&self, axis: usize, first: usize) -> Eight {
        let values = &self.axes[axis][first..first + WIDTH];
        std::array::from_fn(|lane| values[lane])
    }
}

at_every_level! {
    /// Writes the numbers of the points in some runs that are nearer to `point` than the root of `square`, in order, and how
    /// many there are. `found` has room for all of the runs and seven more.
    find_near = find_near_in_runs [] [] (
        columns: &Columns,
        runs: &[Range<usize>],
        point: glam::Vec3,
        square: Real,
        found: &mut [u32],
        count: &mut usize,
    )
}

#[inline(always)]
fn find_near_in_runs<L: Lanes>(
    columns: &Columns,
    runs: &[Range<usize>],
    point: glam::Vec3,
    square: Real,
    found: &mut [u32],
    count: &mut usize,
) {
    let [x, y, z] = [L::splat(point.x), L::splat(point.y), L::splat(point.z)];
    let limit = L::splat(square);
    let mut next = 0;
    for run in runs {
        let mut first = run.start;
        while first < run.end {
            let dx = L::load(&columns.eight(0, first)) - x;
            let dy = L::load(&columns.eight(1, first)) - y;
            let dz = L::load(&columns.eight(2, first)) - z;
            let mut bits = (dx * dx + dy * dy + dz * dz).bits_where_less(limit);
            if run.end - first < WIDTH {
                bits &= (1 << (run.end - first)) - 1;
            }
            while bits != 0 {
                found[next] = first as u32 + bits.trailing_zeros();
                next += 1;
                bits &= bits - 1;
            }
            first += WIDTH;
        }
    }
    *count = next;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Level;
    use glam::Vec3;

    #[test]
    fn those_in_the_runs_that_are_near_are_found_at_every_level() {
        let points: Vec<Vec3> = (0..100).map(|i| Vec3::new(i as Real, (i % 7) as Real, (i % 3) as Real)).collect();
        let columns = Columns::new(points.iter().copied());
        let (runs, centre) = ([3..20, 20..20, 41..43, 90..100], Vec3::new(12.0, 3.0, 1.0));
        let near = |i: &u32| points[*i as usize].distance(centre) < 6.0;
        let wanted: Vec<u32> = runs.iter().flat_map(|run| run.start as u32..run.end as u32).filter(near).collect();
        assert!(wanted.len() > 5);
        for level in Level::available() {
            let (mut found, mut count) = (vec![0; 40], 0);
            find_near(level, &columns, &runs, centre, 36.0, &mut found, &mut count);
            assert_eq!(found[..count], wanted);
        }
    }
}
