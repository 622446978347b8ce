//! Visits to the neighbours, eight at a time.

use super::{Crowd, Kernel, Near};
use crate::Real;
use crate::lanes::{Lanes, at_every_level};
use std::ops::Range;

at_every_level! {
    /// How full the places of some particles are: for each `[sum V_j grad W, sum V_j W]` with its own part, and two sums that tell
    /// how stiff it is, `[sum |V_j grad W|^2, sum V_j |grad W|/r]`, 1/m2.
    fill = fill_all [] [] (crowd: &Crowd, range: Range<usize>, filled: &mut [[Real; 4]], stiff: &mut [[Real; 2]])
}

at_every_level! {
    /// How fast particles with these velocities (m/s, the fourth number does not count) fill their places: `dC/dt`, 1/s.
    spread_rate = spread_rate_of_all [] [] (
        crowd: &Crowd, range: Range<usize>, velocities: &[[Real; 4]], rates: &mut [Real]
    )
}

at_every_level! {
    /// What pressure of neighbours does: `sum_j V_j p_j grad W`, Pa/m, and `sum_j V_j p_j |grad W|/r`, Pa/m2. Here the fourth
    /// number of each point is its volume times its pressure.
    press = press_all [] [] (crowd: &Crowd, range: Range<usize>, pushes: &mut [[Real; 4]])
}

/// A particle in all lanes.
#[inline(always)]
pub(super) fn all<L: Lanes>(row: &[Real; 4]) -> [L; 4] {
    [L::splat(row[0]), L::splat(row[1]), L::splat(row[2]), L::splat(row[3])]
}

/// Sum of eight numbers, in pairs.
#[inline(always)]
pub(super) fn sum<L: Lanes>(lanes: L) -> Real {
    let [a, b, c, d, e, f, g, h] = lanes.to_array();
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Sums of eights of numbers. A loop: what is called through a closure is not compiled for the level.
#[inline(always)]
pub(super) fn sums<L: Lanes, const N: usize>(lanes: [L; N]) -> [Real; N] {
    let mut found = [0.0; N];
    for (found, lanes) in found.iter_mut().zip(lanes) {
        *found = sum(lanes);
    }
    found
}

/// Way from eight neighbours to a particle with the fourth number of each, and what is left of the support, as a part.
#[inline(always)]
pub(super) fn ways<L: Lanes>(kernel: &Kernel, points: &[[Real; 4]], own: &[L; 4], near: &Near) -> ([L; 3], L, L) {
    let [x, y, z, fourth] = L::gather4(points, near);
    let way = [own[0] - x, own[1] - y, own[2] - z];
    let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
    let left = (L::splat(1.0) - square.sqrt() * L::splat(kernel.inverse)).max(L::zero());
    (way, fourth, left)
}

#[inline(always)]
fn fill_all<L: Lanes>(crowd: &Crowd, range: Range<usize>, filled: &mut [[Real; 4]], stiff: &mut [[Real; 2]]) {
    let kernel = &crowd.kernel;
    for ((i, filled), stiff) in range.zip(filled).zip(stiff) {
        let own = all::<L>(&crowd.points[i]);
        let mut sums = [L::zero(); 6];
        for near in crowd.around(i) {
            let (way, volume, left) = ways::<L>(kernel, crowd.points, &own, near);
            let cube = left * left * left;
            let slope = volume * cube;
            // (1 - q)^4 (1 + 4 q) = l^3 l (5 - 4 l).
            let weight = slope * left * (L::splat(5.0) - L::splat(4.0) * left);
            let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
            sums[0] = sums[0] + slope * way[0];
            sums[1] = sums[1] + slope * way[1];
            sums[2] = sums[2] + slope * way[2];
            // Those that fill up are at no distance; others are not.
            sums[3] = sums[3] + square.where_greater(L::zero(), weight, L::zero());
            sums[4] = sums[4] + slope * slope * square;
            sums[5] = sums[5] + square.where_greater(L::zero(), slope, L::zero());
        }
        let own_part = crowd.points[i][3] * kernel.top;
        let ([x, y, z, full, squares, slopes], steep) = (self::sums(sums), kernel.steep);
        *filled = [x * steep, y * steep, z * steep, full * kernel.top + own_part];
        *stiff = [squares * steep * steep, slopes * -steep];
    }
}

#[inline(always)]
fn spread_rate_of_all<L: Lanes>(crowd: &Crowd, range: Range<usize>, velocities: &[[Real; 4]], rates: &mut [Real]) {
    for (i, rate) in range.zip(rates) {
        let own = all::<L>(&crowd.points[i]);
        let mine = all::<L>(&velocities[i]);
        let mut total = L::zero();
        for near in crowd.around(i) {
            let (way, volume, left) = ways::<L>(&crowd.kernel, crowd.points, &own, near);
            let [vx, vy, vz, _] = L::gather4(velocities, near);
            let opening = (mine[0] - vx) * way[0] + (mine[1] - vy) * way[1] + (mine[2] - vz) * way[2];
            total = total + volume * (left * left * left) * opening;
        }
        *rate = sum(total) * crowd.kernel.steep;
    }
}

#[inline(always)]
fn press_all<L: Lanes>(crowd: &Crowd, range: Range<usize>, pushes: &mut [[Real; 4]]) {
    for (i, push) in range.zip(pushes) {
        let own = all::<L>(&crowd.points[i]);
        let mut sums = [L::zero(); 4];
        for near in crowd.around(i) {
            let (way, strength, left) = ways::<L>(&crowd.kernel, crowd.points, &own, near);
            let strength = strength * (left * left * left);
            for axis in 0..3 {
                sums[axis] = sums[axis] + strength * way[axis];
            }
            let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
            // Those that fill up are at no distance.
            sums[3] = sums[3] + square.where_greater(L::zero(), strength, L::zero());
        }
        let ([x, y, z, around], steep) = (self::sums(sums), crowd.kernel.steep);
        *push = [x * steep, y * steep, z * steep, around * -steep];
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Cloud, place};
    use super::*;
    use crate::lanes::Level;
    use glam::Vec3;

    fn velocity(i: usize) -> Vec3 {
        Vec3::new((i as Real).sin(), (1.7 * i as Real).cos(), (2.3 * i as Real).sin())
    }

    #[test]
    fn visits_are_the_sums_they_say_at_every_level_with_the_same_bits() {
        let (count, kernel) = (300, Kernel::new(0.35));
        let cloud = Cloud::new(count, kernel.support);
        let crowd = cloud.crowd(kernel);
        let velocities: Vec<[Real; 4]> = (0..count).map(|i| velocity(i).extend(0.0).to_array()).collect();
        type Found = (Vec<[Real; 4]>, Vec<[Real; 2]>, Vec<Real>, Vec<[Real; 4]>);
        let mut first: Option<Found> = None;
        for level in Level::available() {
            let mut found = (vec![[0.0; 4]; count], vec![[0.0; 2]; count], vec![0.0; count], vec![[0.0; 4]; count]);
            fill(level, &crowd, 0..count, &mut found.0, &mut found.1);
            spread_rate(level, &crowd, 0..count, &velocities, &mut found.2);
            press(level, &crowd, 0..count, &mut found.3);
            if let Some(first) = &first {
                assert_eq!(*first, found);
            }
            first = Some(found);
        }
        let Some((filled, stiff, rates, pushes)) = first else { panic!("there is always a level") };
        for i in 0..count {
            let (mut full, mut gradient, mut square, mut rate, mut slopes) =
                (cloud.points[i][3] * kernel.weight(0.0), Vec3::ZERO, 0.0, 0.0, 0.0);
            for j in (0..count).filter(|&j| j != i) {
                let way = place(&cloud.points, i) - place(&cloud.points, j);
                let part = way * (cloud.points[j][3] * kernel.slope(way.length()));
                full += cloud.points[j][3] * kernel.weight(way.length());
                gradient += part;
                square += part.length_squared();
                slopes -= cloud.points[j][3] * kernel.slope(way.length());
                rate += part.dot(velocity(i) - velocity(j));
            }
            // Sums of some fifty numbers with seven digits.
            let close = |a: Real, b: Real, size: Real| (a - b).abs() < 1e-5 * size;
            let size = square.sqrt() * 8.0;
            assert!(close(filled[i][3], full, full), "{i}: {} {full}", filled[i][3]);
            assert!((0..3).all(|axis| close(filled[i][axis], gradient[axis], size)), "{i}");
            assert!((0..3).all(|axis| close(pushes[i][axis], gradient[axis], size)), "{i}");
            assert!(close(stiff[i][0], square, square), "{i}");
            assert!(close(stiff[i][1], slopes, slopes) && close(pushes[i][3], slopes, slopes), "{i}");
            assert!(close(rates[i], rate, 2.0 * size), "{i}: {} {rate}", rates[i]);
        }
    }

    #[test]
    fn pressure_keeps_momentum_and_angular_momentum_and_takes_the_power_of_filling() {
        let (count, kernel) = (300, Kernel::new(0.35));
        let mut cloud = Cloud::new(count, kernel.support);
        let pressures: Vec<Real> = (0..count).map(|i| 1.0 + (0.37 * i as Real).sin()).collect();
        let volumes: Vec<Real> = cloud.points.iter().map(|point| point[3]).collect();
        let level = Level::detect();
        let (mut filled, mut stiff) = (vec![[0.0; 4]; count], vec![[0.0; 2]; count]);
        fill(level, &cloud.crowd(kernel), 0..count, &mut filled, &mut stiff);
        let velocities: Vec<[Real; 4]> = (0..count).map(|i| velocity(i).extend(0.0).to_array()).collect();
        let mut rates = vec![0.0; count];
        spread_rate(level, &cloud.crowd(kernel), 0..count, &velocities, &mut rates);
        cloud.points.iter_mut().zip(&pressures).for_each(|(point, p)| point[3] *= p);
        let mut pushes = vec![[0.0; 4]; count];
        press(level, &cloud.crowd(kernel), 0..count, &mut pushes);
        let force = |i: usize| {
            let gradient = Vec3::new(filled[i][0], filled[i][1], filled[i][2]);
            let push = Vec3::new(pushes[i][0], pushes[i][1], pushes[i][2]);
            (gradient * pressures[i] + push) * -volumes[i]
        };
        let size: Real = (0..count).map(|i| force(i).length()).sum();
        let total: Vec3 = (0..count).map(force).sum();
        let turn: Vec3 = (0..count).map(|i| place(&cloud.points, i).cross(force(i))).sum();
        let power: Real = (0..count).map(|i| force(i).dot(velocity(i))).sum();
        let filling: Real = (0..count).map(|i| pressures[i] * volumes[i] * rates[i]).sum();
        assert!(total.length() < 1e-5 * size && turn.length() < 1e-5 * size, "{total} {turn} of {size}");
        assert!((power + filling).abs() < 1e-5 * size, "{power} and {filling} of {size}");
    }
}
