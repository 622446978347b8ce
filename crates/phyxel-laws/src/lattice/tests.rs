use super::*;
use crate::material::plasticity::spectral_norm_symmetric;
use crate::rng::{CounterRng, SequentialRng};
use crate::simd::SimdLevel;
use glam::{Mat3, Quat, Vec3};

const SPACING: Real = 0.1;

/// Neighbours of a particle with their match.
struct MatchedNeighbours {
    offsets: Vec<Vec3>,
    sites: Vec<Option<Site>>,
    result: LatticeMatch,
}

impl MatchedNeighbours {
    fn new(lattice: &Lattice, previous: LatticeFrame, offsets: Vec<Vec3>, open: SiteSet) -> Self {
        let mut sites = vec![None; offsets.len()];
        let result = match_lattice(SimdLevel::detect(), lattice, &previous, &offsets, open, &mut sites);
        Self { offsets, sites, result }
    }

    fn occupied(&self) -> impl Iterator<Item = (Site, Vec3)> {
        self.sites.iter().zip(&self.offsets).filter_map(|(site, offset)| Some(((*site)?, *offset)))
    }

    fn forces(&self, lattice: &Lattice, stiffness: Real) -> Vec<PairForce> {
        let rotation = Mat3::from_quat(self.result.frame.rotation);
        let pair = |(site, offset)| PairForce {
            offset,
            weight: lattice.weight(site),
            force: 0.5 * lattice.force(stiffness, &rotation, site, offset),
        };
        self.occupied().map(pair).collect()
    }

    fn is_finite(&self) -> bool {
        self.result.frame.rotation.is_normalized() && self.result.frame.deformation.is_finite()
    }
}

/// Offsets of all weighted sites of a crystal under a linear map.
fn crystal(lattice: &Lattice, map: Mat3) -> Vec<Vec3> {
    Site::all()
        .filter(|site| lattice.weighted_sites().contains(*site))
        .map(|site| map * lattice.position(site))
        .collect()
}

fn both_supports() -> [Lattice; 2] {
    [Lattice::new(SPACING, Lattice::WIDE), Lattice::new(SPACING, Lattice::NARROW)]
}

fn torque(pairs: &[PairForce]) -> Vec3 {
    pairs.iter().map(|pair| pair.offset.as_dvec3().cross(pair.force.as_dvec3())).sum::<glam::DVec3>().as_vec3()
}

/// Scale of rounding errors of the torque: sum of the magnitudes of all torques, and of those of the site
/// forces alone.
fn torque_size(pairs: &[PairForce], stiffness: Real) -> Real {
    let size = |pair: &PairForce| pair.offset.length() * (pair.force.length() + stiffness * pair.weight * SPACING);
    pairs.iter().map(size).sum()
}

#[test]
fn sites_are_numbered_by_shells_and_lie_opposite() {
    let ends: Vec<usize> =
        [1.1, 1.5, 1.9, 2.1].iter().map(|support| Lattice::new(1.0, *support).weighted_sites().len()).collect();
    assert_eq!(ends, SHELL_ENDS);
    for site in Site::all() {
        assert_eq!(site.coordinates().iter().sum::<i8>() % 2, 0);
        assert_eq!(site.opposite().coordinates(), site.coordinates().map(|x| -x));
        assert_eq!(Site::new(site.number()), Some(site));
        assert!(site.number() >= NEAREST || (site.position().length() - 1.0).abs() < 1e-6);
        assert_eq!(nearest_site(site.position()), Some(site));
    }
    assert_eq!((Site::all().count(), Site::new(SITES)), (SITES, None));
    assert_eq!(size_of::<Option<Site>>(), 1);
    let set = SiteSet::ALL.without(Site::new(7).unwrap());
    assert_eq!((set.len(), set.contains(Site::new(7).unwrap()), SiteSet::NONE.is_empty()), (SITES - 1, false, true));
}

#[test]
fn the_nearest_site_is_that_of_an_exhaustive_search() {
    let mut stream = CounterRng::new(1, 0).sequence();
    let range = || (-5i8..=5).map(f32::from);
    let positions: Vec<Vec3> = range()
        .flat_map(|a| range().flat_map(move |b| range().map(move |c| Vec3::new(a, b, c))))
        .filter(|position| position.element_sum() % 2.0 == 0.0 && *position != Vec3::ZERO)
        .map(|position| position * std::f32::consts::FRAC_1_SQRT_2)
        .collect();
    for k in 0..20_000 {
        let offset = stream.point() * if k % 3 == 0 { 0.6 } else { 2.6 };
        let distance = |position: &Vec3| position.distance(offset);
        let best = positions.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
        match nearest_site(offset) {
            // Points half offset between two may be rounded to either.
            Some(site) => assert!(distance(&site.position()) < distance(&best) + 1e-6, "{offset}"),
            None => assert!(best.length() > 2.1, "{offset} {best}"),
        }
    }
    for odd in [Vec3::NAN, Vec3::splat(1e30), Vec3::new(0.5, Real::INFINITY, 0.0), Vec3::new(Real::NAN, 0.7, 0.7)] {
        assert_eq!(nearest_site(odd), None);
    }
    assert!(nearest_site(Vec3::ZERO).unwrap().number() < NEAREST);
}

#[test]
fn a_rotated_ideal_crystal_is_in_equilibrium() {
    for lattice in both_supports() {
        let stiffness = lattice.stiffness(1e6);
        let mut stream = CounterRng::new(2, 0).sequence();
        for _ in 0..500 {
            let rotation = stream.rotation();
            let perturbation = Quat::from_scaled_axis(stream.point() * 0.15);
            let previous = LatticeFrame::rotated(perturbation * rotation);
            let matched =
                MatchedNeighbours::new(&lattice, previous, crystal(&lattice, Mat3::from_quat(rotation)), SiteSet::ALL);
            assert_eq!(matched.result.occupied, lattice.weighted_sites());
            let frame = matched.result.frame;
            // Quaternions of f32: 1e-7 each, and sums of 42 terms. The angle is twice as large.
            let error = frame.rotation * frame.rotation.dot(rotation).signum() - rotation;
            assert!(error.length() < 1e-6, "{error}");
            let error = frame.deformation - Mat3::from_quat(rotation);
            assert!(error.to_cols_array().iter().all(|x| x.abs() < 1e-5));
            assert!(spectral_norm_symmetric(&green_strain(frame.deformation)) < 1e-5);
            for pair in matched.forces(&lattice, stiffness) {
                // Offsets of 2 D, rotated with an error of a few 1e-7.
                assert!(pair.force.length() < 1e-6 * stiffness * SPACING);
            }
        }
    }
}

#[test]
fn a_strained_crystal_has_the_energy_of_its_modulus() {
    let young = 3e5;
    for lattice in both_supports() {
        let stiffness = lattice.stiffness(young);
        let mut stream = CounterRng::new(3, 0).sequence();
        for k in 0..50 {
            let size = 0.02;
            let stretch = if k == 0 {
                Mat3::from_diagonal(Vec3::new(size, 0.0, 0.0))
            } else {
                let m = stream.matrix();
                (m + m.transpose()) * (0.5 * size)
            };
            let applied = Mat3::from_quat(stream.rotation());
            let previous = LatticeFrame { rotation: Quat::from_mat3(&applied), deformation: applied };
            let map = applied * (Mat3::IDENTITY + stretch);
            let matched = MatchedNeighbours::new(&lattice, previous, crystal(&lattice, map), SiteSet::ALL);
            let rotation = Mat3::from_quat(matched.result.frame.rotation);
            let energy: Real =
                matched.occupied().map(|(site, offset)| lattice.energy(stiffness, &rotation, site, offset)).sum();
            let square: Real = stretch.to_cols_array().iter().map(|e| e * e).sum();
            // Exact but for rounding: 1e-5 of strains of 1e-2, and twice that of their squares.
            let expected = 0.5 * young * square * lattice.volume();
            assert!((energy / expected - 1.0).abs() < 1e-4, "{energy} {expected}");
            let error = matched.result.frame.deformation - map;
            assert!(error.to_cols_array().iter().all(|x| x.abs() < 1e-5), "the deformation gradient is the map");
        }
    }
}

/// Traction across a plane of a block that is stretched along x and periodic along y and z, over modulus
/// times strain. Every particle matches its own neighbours, and half of each force acts on either end.
fn traction_across(lattice: &Lattice, size: Real) -> Real {
    let (long, cells) = (12i32, 4i32);
    let map = Mat3::from_diagonal(Vec3::new(1.0 + size, 1.0, 1.0));
    let edge = SPACING * std::f32::consts::FRAC_1_SQRT_2;
    let mut positions = Vec::new();
    for (a, b, c) in (0..long).flat_map(|a| (0..cells).flat_map(move |b| (0..cells).map(move |c| (a, b, c)))) {
        if (a + b + c) % 2 == 0 {
            positions.push(map * (Vec3::new(a as f32, b as f32, c as f32) * edge));
        }
    }
    let side = cells as Real * edge;
    let middle = (0.5 * long as Real - 0.25) * edge * (1.0 + size);
    let stiffness = lattice.stiffness(1.0);
    let mut across = 0.0;
    for &centre in &positions {
        let mut offsets = Vec::new();
        for other in &positions {
            // All periodic images: the block is shorter than the support.
            for (m, n) in (-2..=2).flat_map(|m| (-2..=2).map(move |n| (m as Real, n as Real))) {
                let offset = *other + Vec3::new(0.0, m * side, n * side) - centre;
                if offset.length() > 1e-6 && offset.length() < 2.0 * SPACING {
                    offsets.push(offset);
                }
            }
        }
        let matched = MatchedNeighbours::new(lattice, LatticeFrame::default(), offsets, SiteSet::ALL);
        for pair in matched.forces(lattice, stiffness) {
            let (left, right) = (centre.x < middle, centre.x + pair.offset.x < middle);
            if left != right {
                // Force of the right on the left.
                across -= if left { pair.force.x } else { -pair.force.x };
            }
        }
    }
    across / (side * side * size)
}

#[test]
fn a_stretched_block_has_young_s_modulus() {
    for lattice in both_supports() {
        for size in [1e-2, -1e-2] {
            let modulus = traction_across(&lattice, size);
            // Forces are linear in the stretch; offsets are rounded to 1e-7, which is 1e-5 of the stretch.
            assert!((modulus - 1.0).abs() < 1e-4, "{modulus}");
        }
    }
}

#[test]
fn random_clouds_conserve_momenta_at_every_simd_level() {
    for lattice in both_supports() {
        let mut stream = CounterRng::new(4, 0).sequence();
        for _ in 0..2000 {
            let count = (stream.uniform() * 60.0) as usize;
            let offsets: Vec<Vec3> = (0..count).map(|_| stream.point() * 1.9 * SPACING).collect();
            let previous = LatticeFrame::rotated(stream.rotation());
            let open = SiteSet::from_bits(stream.bits() | stream.bits());
            let matched = MatchedNeighbours::new(&lattice, previous, offsets, open);
            assert!(matched.is_finite());
            for level in SimdLevel::available() {
                let mut sites = vec![None; matched.offsets.len()];
                let again = match_lattice(level, &lattice, &previous, &matched.offsets, open, &mut sites);
                assert!(again == matched.result && sites == matched.sites, "{level:?}");
                let mut nearest = vec![None; matched.offsets.len()];
                nearest_sites_in_frame(level, &lattice, &previous, &matched.offsets, &mut nearest);
                assert!(
                    sites.iter().zip(&nearest).all(|(occupied, nearest)| occupied.is_none() || occupied == nearest)
                );
                let alone = |offset: &Vec3| nearest_site(previous.deformation.inverse() * *offset / SPACING);
                // Offsets half offset between two sites may be rounded to either.
                let same =
                    matched.offsets.iter().zip(&nearest).filter(|(offset, site)| alone(offset) == **site).count();
                assert!(same + 1 >= nearest.len());
            }
            assert_eq!(matched.occupied().count(), matched.result.occupied.len());
            assert!(matched.occupied().all(|(site, _)| open.contains(site) && matched.result.occupied.contains(site)));
            let forces = matched.forces(&lattice, 1e3);
            // Equal and opposite by construction; no torque but for the rounding of the rotation, some 1e-7.
            assert!(torque(&forces).length() <= 1e-6 * torque_size(&forces, 1e3));
        }
    }
}

#[test]
fn the_nearer_of_two_keeps_a_site() {
    let lattice = Lattice::new(SPACING, Lattice::WIDE);
    let mut offsets = crystal(&lattice, Mat3::IDENTITY);
    let whole = offsets.clone();
    // One neighbour nearer to site 5 than its displaced occupant, one farther from site 20.
    offsets[5] += Vec3::splat(0.02);
    offsets.push(whole[5] + Vec3::splat(0.01));
    offsets.push(whole[20] + Vec3::splat(0.01));
    let matched = MatchedNeighbours::new(&lattice, LatticeFrame::default(), offsets, SiteSet::ALL);
    assert_eq!((matched.sites[5], matched.sites[42], matched.sites[43]), (None, Site::new(5), None));
    assert_eq!((matched.sites[20], matched.result.occupied.len()), (Site::new(20), 42));
    let twins = vec![whole[7], whole[7]];
    let matched = MatchedNeighbours::new(&lattice, LatticeFrame::default(), twins, SiteSet::ALL);
    assert_eq!(matched.sites, [Site::new(7), None]);
}

#[test]
fn closed_sites_and_sites_without_weight_stay_vacant() {
    let lattice = Lattice::new(SPACING, Lattice::NARROW);
    let offsets: Vec<Vec3> = Site::all().map(|site| lattice.position(site)).collect();
    let closed = Site::new(4).unwrap();
    let matched = MatchedNeighbours::new(&lattice, LatticeFrame::default(), offsets, SiteSet::ALL.without(closed));
    assert_eq!(matched.result.occupied, lattice.weighted_sites().without(closed));
    assert!(matched.sites.iter().enumerate().all(|(k, site)| site.is_some() == (k < 18 && k != 4)));
}

#[test]
fn few_or_coplanar_neighbours_rotate_the_lattice_without_deforming_it() {
    let lattice = Lattice::new(SPACING, Lattice::WIDE);
    let at = |a: i8, b: i8, c: i8| Vec3::new(a.into(), b.into(), c.into()) * std::f32::consts::FRAC_1_SQRT_2 * SPACING;
    let sets: [&[Vec3]; 6] = [
        &[],
        &[at(1, 1, 0)],
        &[at(1, 1, 0), at(1, 0, 1)],
        // Collinear, coplanar, and three that span space but are not overdetermined.
        &[at(1, 1, 0), at(-1, -1, 0), at(2, 2, 0)],
        &[at(1, 1, 0), at(-1, 1, 0), at(2, 0, 0), at(-1, -1, 0)],
        &[at(1, 1, 0), at(1, 0, 1), at(0, 1, 1)],
    ];
    let mut stream = CounterRng::new(5, 0).sequence();
    for set in sets {
        for _ in 0..100 {
            let rotation = stream.rotation();
            let previous = LatticeFrame::rotated(Quat::from_scaled_axis(stream.point() * 0.1) * rotation);
            let offsets: Vec<Vec3> =
                set.iter().map(|offset| rotation * *offset + stream.point() * 0.1 * SPACING).collect();
            let matched = MatchedNeighbours::new(&lattice, previous, offsets, SiteSet::ALL);
            assert!(matched.is_finite());
            assert_eq!(matched.result.frame.deformation, Mat3::from_quat(matched.result.frame.rotation));
            // No flips: undetermined rotations stay, the rest follows neighbours that motion by a tenth.
            assert!(matched.result.frame.rotation.dot(previous.rotation).abs() > 0.9);
            let forces = matched.forces(&lattice, 1e3);
            assert!(torque(&forces).length() <= 1e-6 * torque_size(&forces, 1e3));
            if set.is_empty() {
                assert_eq!(matched.result.frame, previous);
            }
        }
    }
}

#[test]
fn no_input_makes_a_lattice_nan() {
    let mut stream = CounterRng::new(6, 0).sequence();
    let odd = [0.0, -0.0, Real::NAN, Real::INFINITY, Real::MAX, Real::MIN_POSITIVE, 1e-30, 1e20, SPACING];
    let lattices: Vec<Lattice> =
        odd.iter().flat_map(|x| [Lattice::new(*x, 1.9), Lattice::new(SPACING, *x), Lattice::new(-*x, -*x)]).collect();
    for k in 0..3000 {
        let mut pick = |usual: Real| {
            if stream.uniform() < 0.2 {
                odd[(stream.uniform() * odd.len() as Real) as usize]
            } else {
                usual * stream.uniform()
            }
        };
        let offsets: Vec<Vec3> = (0..k % 30).map(|_| Vec3::new(pick(0.2), pick(-0.2), pick(0.2))).collect();
        let mut shape = Mat3::IDENTITY;
        shape.x_axis = Vec3::new(pick(1.0), pick(1.0), pick(1.0));
        let rotation = Quat::from_xyzw(0.0, pick(0.0), 0.0, 1.0).normalize();
        let lattice = &lattices[k % lattices.len()];
        let matched =
            MatchedNeighbours::new(lattice, LatticeFrame { rotation, deformation: shape }, offsets, SiteSet::ALL);
        assert!(matched.is_finite(), "{:?}", matched.result);
        let forces = matched.forces(lattice, 1.0);
        let correction = torque_correction(forces.iter().copied());
        assert!(correction.centre.is_finite() && correction.rotation.is_finite());
        let motion = fit_rigid_motion(matched.occupied().map(|(_, offset)| NeighbourhoodMember {
            offset,
            velocity: offset,
            mass: 1.0,
            weight: 1.0,
        }));
        assert!(motion.centre.is_finite() && motion.velocity.is_finite() && motion.angular_velocity.is_finite());
        // Fewer sites than neighbours do not panic.
        match_lattice(
            SimdLevel::detect(),
            lattice,
            &LatticeFrame::default(),
            &matched.offsets,
            SiteSet::ALL,
            &mut [None; 3],
        );
    }
}

#[test]
fn torque_correction_cancels_all_torque_and_adds_no_momentum() {
    let mut stream = CounterRng::new(7, 0).sequence();
    for k in 0..2000 {
        let line = stream.point();
        let random_pair = |stream: &mut SequentialRng| PairForce {
            offset: match k % 4 {
                0 => line * stream.uniform() * 0.2,
                1 => Vec3::new(stream.uniform(), stream.uniform(), 0.0) * 0.2,
                _ => stream.point() * 0.2,
            },
            weight: stream.uniform(),
            force: stream.point(),
        };
        let count = 1 + k % 40;
        let pairs: Vec<PairForce> = (0..count).map(|_| random_pair(&mut stream)).collect();
        let correction = torque_correction(pairs.iter().copied());
        let on_self = correction.force(Vec3::ZERO, 1.0);
        let sum = on_self + pairs.iter().map(|pair| correction.force(pair.offset, pair.weight)).sum::<Vec3>();
        // Rounding of offsets and of the centre, times the rotation. Offsets are up to 0.35 m long.
        let size = 0.35 * correction.rotation.length() * (1.0 + pairs.iter().map(|pair| pair.weight).sum::<Real>());
        assert!(sum.length() < 1e-6 * size, "{sum} of {size}");
        let corrected: Vec<PairForce> = pairs
            .iter()
            .map(|pair| PairForce { force: pair.force + correction.force(pair.offset, pair.weight), ..*pair })
            .collect();
        let bound = 1e-6 * (torque_size(&corrected, 0.0) + 0.35 * size);
        assert!(torque(&corrected).length() < bound, "{k}: {} of {bound}", torque(&corrected));
    }
    assert_eq!(torque_correction([]), TorqueCorrection::default());
}

/// A neighbourhood with random masses and missing sites.
fn members(lattice: &Lattice, stream: &mut SequentialRng) -> Vec<NeighbourhoodMember> {
    let mut members = vec![NeighbourhoodMember {
        offset: Vec3::ZERO,
        velocity: stream.point(),
        mass: 0.5 + stream.uniform(),
        weight: 1.0,
    }];
    let flat = stream.uniform() < 0.2;
    for site in Site::all().filter(|site| lattice.weighted_sites().contains(*site)) {
        if stream.uniform() < 0.6 && !(flat && site.coordinates() != [1, 1, 0]) {
            let offset = lattice.position(site) + stream.point() * 0.02;
            members.push(NeighbourhoodMember {
                offset,
                velocity: stream.point(),
                mass: 0.5 + stream.uniform(),
                weight: lattice.weight(site),
            });
        }
    }
    members
}

#[test]
fn rigid_motion_is_not_damped() {
    let lattice = Lattice::new(SPACING, Lattice::WIDE);
    let mut stream = CounterRng::new(8, 0).sequence();
    for _ in 0..500 {
        let mut members = members(&lattice, &mut stream);
        let (velocity, spin) = (stream.point(), stream.point() * 10.0);
        members.iter_mut().for_each(|member| member.velocity = velocity + spin.cross(member.offset));
        let motion = fit_rigid_motion(members.iter().copied());
        for member in &members {
            // Speeds of 5 m/s in f32.
            assert!(motion.non_rigid_velocity(member.offset, member.velocity).length() < 5e-6);
        }
    }
}

#[test]
fn damping_conserves_both_momenta_and_dissipates_energy() {
    let lattice = Lattice::new(SPACING, Lattice::WIDE);
    let mut stream = CounterRng::new(9, 0).sequence();
    for _ in 0..1000 {
        let members = members(&lattice, &mut stream);
        let motion = fit_rigid_motion(members.iter().copied());
        let dt = 1e-3;
        let (mut force, mut torque, mut size, mut energy, mut before) = (Vec3::ZERO, Vec3::ZERO, 0.0, 0.0, 0.0);
        for member in &members {
            let f = lattice.damping_force(1.0 / dt, &motion, member);
            force += f;
            torque += member.offset.cross(f);
            // Velocities of up to 2 m/s, before the rigid motion is subtracted.
            size += 2.0 * member.mass * member.weight / (dt * lattice.total_weight());
            let after = member.velocity + f * (dt / member.mass);
            energy += 0.5 * member.mass * after.length_squared();
            before += 0.5 * member.mass * member.velocity.length_squared();
        }
        assert!(force.length() < 3e-7 * size && torque.length() < 3e-7 * 0.2 * size, "{force} {torque} of {size}");
        assert!(energy <= before * (1.0 + 1e-6));
    }
}

#[test]
fn damping_dissipates_in_every_step_of_a_whole_crystal() {
    let lattice = Lattice::new(SPACING, Lattice::WIDE);
    let positions: Vec<Vec3> = Site::all().map(|site| lattice.position(site)).chain([Vec3::ZERO]).collect();
    let count = positions.len();
    let mut stream = CounterRng::new(10, 0).sequence();
    let mut velocities: Vec<Vec3> = (0..count).map(|_| stream.point()).collect();
    let (mass, dt) = (0.7, 1e-3);
    let sum = |velocities: &[Vec3]| velocities.iter().copied().sum::<Vec3>();
    let energy = |velocities: &[Vec3]| velocities.iter().map(|v| v.length_squared()).sum::<Real>();
    let (momentum, start) = (sum(&velocities), energy(&velocities));
    let mut last = start;
    for _ in 0..200 {
        let mut forces = vec![Vec3::ZERO; count];
        for i in 0..count {
            let others: Vec<usize> = (0..count).filter(|j| *j != i).collect();
            let offsets: Vec<Vec3> = others.iter().map(|j| positions[*j] - positions[i]).collect();
            let matched = MatchedNeighbours::new(&lattice, LatticeFrame::default(), offsets, SiteSet::ALL);
            let occupants = (0..others.len()).filter_map(|k| Some((others[k], matched.offsets[k], matched.sites[k]?)));
            let occupants =
                occupants.map(|(j, offset, site)| (j, offset, lattice.weight(site))).chain([(i, Vec3::ZERO, 1.0)]);
            let member = |(j, offset, weight): (usize, Vec3, Real)| {
                (j, NeighbourhoodMember { offset, velocity: velocities[j], mass, weight })
            };
            let members: Vec<(usize, NeighbourhoodMember)> = occupants.map(member).collect();
            let motion = fit_rigid_motion(members.iter().map(|(_, member)| *member));
            members.iter().for_each(|(j, member)| forces[*j] += lattice.damping_force(1.0 / dt, &motion, member));
        }
        velocities.iter_mut().zip(&forces).for_each(|(v, f)| *v += *f * (dt / mass));
        let now = energy(&velocities);
        assert!(now <= last * (1.0 + 1e-6));
        last = now;
    }
    // Velocities of 1 m/s are rounded to 1e-7 in each of 200 steps, at random.
    assert!((sum(&velocities) - momentum).length() < 1e-6 * count as Real);
    // What remains is the rigid motion, six of 165 degrees of freedom, and the slowest of the others.
    assert!(last < 0.2 * start, "{last} of {start}");
}
