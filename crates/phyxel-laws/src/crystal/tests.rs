use super::*;
use crate::lanes::Level;
use crate::plasticity::symmetric_norm;
use crate::random::tests::Stream;
use glam::{Mat3, Quat, Vec3};

const DISTANCE: Real = 0.1;

/// A particle's neighbours, matched.
struct Matched {
    ways: Vec<Vec3>,
    sites: Vec<Option<Site>>,
    found: Match,
}

impl Matched {
    fn new(lattice: &Lattice, previous: Pose, ways: Vec<Vec3>, open: SiteSet) -> Self {
        let mut sites = vec![None; ways.len()];
        let found = match_lattice(Level::detect(), lattice, &previous, &ways, open, &mut sites);
        Self { ways, sites, found }
    }

    fn taken(&self) -> impl Iterator<Item = (Site, Vec3)> {
        self.sites.iter().zip(&self.ways).filter_map(|(site, way)| Some(((*site)?, *way)))
    }

    fn forces(&self, lattice: &Lattice, stiffness: Real) -> Vec<Pulled> {
        let rotation = Mat3::from_quat(self.found.pose.rotation);
        let pulled = |(site, way)| Pulled {
            way,
            weight: lattice.weight(site),
            force: 0.5 * lattice.force(stiffness, &rotation, site, way),
        };
        self.taken().map(pulled).collect()
    }

    fn is_finite(&self) -> bool {
        self.found.pose.rotation.is_normalized() && self.found.pose.shape.is_finite()
    }
}

/// Ways to all sites of a crystal within a distance, mapped.
fn crystal(lattice: &Lattice, map: Mat3) -> Vec<Vec3> {
    Site::all().filter(|site| lattice.inside().contains(*site)).map(|site| map * lattice.position(site)).collect()
}

fn shells() -> [Lattice; 2] {
    [Lattice::new(DISTANCE, Lattice::WIDE), Lattice::new(DISTANCE, Lattice::NARROW)]
}

fn torque(pulled: &[Pulled]) -> Vec3 {
    pulled.iter().map(|one| one.way.as_dvec3().cross(one.force.as_dvec3())).sum::<glam::DVec3>().as_vec3()
}

/// Sum of the sizes of the torques, and of those which the pulls to the sites would have alone: what rounding is measured by.
fn torque_size(pulled: &[Pulled], stiffness: Real) -> Real {
    let size = |one: &Pulled| one.way.length() * (one.force.length() + stiffness * one.weight * DISTANCE);
    pulled.iter().map(size).sum()
}

#[test]
fn sites_are_numbered_by_shells_and_lie_opposite() {
    let ends: Vec<usize> =
        [1.1, 1.5, 1.9, 2.1].iter().map(|support| Lattice::new(1.0, *support).inside().len()).collect();
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
fn the_nearest_site_is_that_of_a_search() {
    let mut stream = Stream::new(1);
    let range = || (-5i8..=5).map(f32::from);
    let places: Vec<Vec3> = range()
        .flat_map(|a| range().flat_map(move |b| range().map(move |c| Vec3::new(a, b, c))))
        .filter(|place| place.element_sum() % 2.0 == 0.0 && *place != Vec3::ZERO)
        .map(|place| place * std::f32::consts::FRAC_1_SQRT_2)
        .collect();
    for k in 0..20_000 {
        let way = stream.point() * if k % 3 == 0 { 0.6 } else { 2.6 };
        let distance = |place: &Vec3| place.distance(way);
        let best = places.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
        match nearest_site(way) {
            // Points half way between two may go to either.
            Some(site) => assert!(distance(&site.position()) < distance(&best) + 1e-6, "{way}"),
            None => assert!(best.length() > 2.1, "{way} {best}"),
        }
    }
    for odd in [Vec3::NAN, Vec3::splat(1e30), Vec3::new(0.5, Real::INFINITY, 0.0), Vec3::new(Real::NAN, 0.7, 0.7)] {
        assert_eq!(nearest_site(odd), None);
    }
    assert!(nearest_site(Vec3::ZERO).unwrap().number() < NEAREST);
}

#[test]
fn a_turned_ideal_crystal_is_at_rest() {
    for lattice in shells() {
        let stiffness = lattice.stiffness(1e6);
        let mut stream = Stream::new(2);
        for _ in 0..500 {
            let turn = stream.turn();
            let little = Quat::from_scaled_axis(stream.point() * 0.15);
            let previous = Pose::turned(little * turn);
            let around = Matched::new(&lattice, previous, crystal(&lattice, Mat3::from_quat(turn)), SiteSet::ALL);
            assert_eq!(around.found.taken, lattice.inside());
            let found = around.found.pose;
            // Quaternions of f32: 1e-7 each, and sums of 42 terms. A turn is twice as large.
            let apart = found.rotation * found.rotation.dot(turn).signum() - turn;
            assert!(apart.length() < 1e-6, "{apart}");
            let off = found.shape - Mat3::from_quat(turn);
            assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-5));
            assert!(symmetric_norm(&strain(found.shape)) < 1e-5);
            for one in around.forces(&lattice, stiffness) {
                // Ways of 2 D, turned with an error of a few 1e-7.
                assert!(one.force.length() < 1e-6 * stiffness * DISTANCE);
            }
        }
    }
}

#[test]
fn a_strained_crystal_has_the_energy_of_its_modulus() {
    let young = 3e5;
    for lattice in shells() {
        let stiffness = lattice.stiffness(young);
        let mut stream = Stream::new(3);
        for k in 0..50 {
            let size = 0.02;
            let stretch = if k == 0 {
                Mat3::from_diagonal(Vec3::new(size, 0.0, 0.0))
            } else {
                let m = stream.matrix();
                (m + m.transpose()) * (0.5 * size)
            };
            let turn = Mat3::from_quat(stream.turn());
            let previous = Pose { rotation: Quat::from_mat3(&turn), shape: turn };
            let map = turn * (Mat3::IDENTITY + stretch);
            let around = Matched::new(&lattice, previous, crystal(&lattice, map), SiteSet::ALL);
            let rotation = Mat3::from_quat(around.found.pose.rotation);
            let energy: Real = around.taken().map(|(site, way)| lattice.energy(stiffness, &rotation, site, way)).sum();
            let square: Real = stretch.to_cols_array().iter().map(|e| e * e).sum();
            // Exact but for rounding: strains of 1e-2 have 1e-5 of it, their squares twice that.
            let expected = 0.5 * young * square * lattice.volume();
            assert!((energy / expected - 1.0).abs() < 1e-4, "{energy} {expected}");
            let off = around.found.pose.shape - map;
            assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-5), "the shape is the map");
        }
    }
}

/// Force per area across a plane of a block that is stretched along x and repeats itself along y and z, over its modulus times
/// the strain: every particle matches its own neighbours, and half of each force acts on either end.
fn pull_across(lattice: &Lattice, size: Real) -> Real {
    let (long, cells) = (12i32, 4i32);
    let map = Mat3::from_diagonal(Vec3::new(1.0 + size, 1.0, 1.0));
    let edge = DISTANCE * std::f32::consts::FRAC_1_SQRT_2;
    let mut places = Vec::new();
    for (a, b, c) in (0..long).flat_map(|a| (0..cells).flat_map(move |b| (0..cells).map(move |c| (a, b, c)))) {
        if (a + b + c) % 2 == 0 {
            places.push(map * (Vec3::new(a as f32, b as f32, c as f32) * edge));
        }
    }
    let side = cells as Real * edge;
    let middle = (0.5 * long as Real - 0.25) * edge * (1.0 + size);
    let stiffness = lattice.stiffness(1.0);
    let mut across = 0.0;
    for &own in &places {
        let mut ways = Vec::new();
        for other in &places {
            // All images: the block is shorter than the support.
            for (m, n) in (-2..=2).flat_map(|m| (-2..=2).map(move |n| (m as Real, n as Real))) {
                let way = *other + Vec3::new(0.0, m * side, n * side) - own;
                if way.length() > 1e-6 && way.length() < 2.0 * DISTANCE {
                    ways.push(way);
                }
            }
        }
        let around = Matched::new(lattice, Pose::default(), ways, SiteSet::ALL);
        for one in around.forces(lattice, stiffness) {
            let (left, right) = (own.x < middle, own.x + one.way.x < middle);
            if left != right {
                // Force of the right on the left.
                across -= if left { one.force.x } else { -one.force.x };
            }
        }
    }
    across / (side * side * size)
}

#[test]
fn a_stretched_block_pulls_with_young_s_modulus() {
    for lattice in shells() {
        for size in [1e-2, -1e-2] {
            let modulus = pull_across(&lattice, size);
            // Forces are linear in the stretch; ways have 1e-7 of themselves, that is 1e-5 of the stretch.
            assert!((modulus - 1.0).abs() < 1e-4, "{modulus}");
        }
    }
}

#[test]
fn random_clouds_keep_momenta() {
    for lattice in shells() {
        let mut stream = Stream::new(4);
        for _ in 0..2000 {
            let count = (stream.unit() * 60.0) as usize;
            let ways: Vec<Vec3> = (0..count).map(|_| stream.point() * 1.9 * DISTANCE).collect();
            let previous = Pose::turned(stream.turn());
            let open = SiteSet::from_bits(stream.0.bits(stream.1, 1) | stream.0.bits(stream.1, 2));
            let around = Matched::new(&lattice, previous, ways, open);
            assert!(around.is_finite());
            for level in Level::available() {
                let mut sites = vec![None; around.ways.len()];
                let again = match_lattice(level, &lattice, &previous, &around.ways, open, &mut sites);
                assert!(again == around.found && sites == around.sites, "{level:?}");
                let mut nearest = vec![None; around.ways.len()];
                sites_of(level, &lattice, &previous, &around.ways, &mut nearest);
                assert!(sites.iter().zip(&nearest).all(|(taken, nearest)| taken.is_none() || taken == nearest));
                let alone = |way: &Vec3| nearest_site(previous.shape.inverse() * *way / DISTANCE);
                // Ways half way between two sites may go to either.
                let same = around.ways.iter().zip(&nearest).filter(|(way, site)| alone(way) == **site).count();
                assert!(same + 1 >= nearest.len());
            }
            assert_eq!(around.taken().count(), around.found.taken.len());
            assert!(around.taken().all(|(site, _)| open.contains(site) && around.found.taken.contains(site)));
            let forces = around.forces(&lattice, 1e3);
            // Equal and opposite by construction; without torque but for the rounding of the rotation, some 1e-7.
            assert!(torque(&forces).length() <= 1e-6 * torque_size(&forces, 1e3));
        }
    }
}

#[test]
fn the_nearer_of_two_keeps_a_site() {
    let lattice = Lattice::new(DISTANCE, Lattice::WIDE);
    let mut ways = crystal(&lattice, Mat3::IDENTITY);
    let whole = ways.clone();
    // One neighbour nearer to site 5 than the one which is there by now, one farther from site 20.
    ways[5] += Vec3::splat(0.02);
    ways.push(whole[5] + Vec3::splat(0.01));
    ways.push(whole[20] + Vec3::splat(0.01));
    let around = Matched::new(&lattice, Pose::default(), ways, SiteSet::ALL);
    assert_eq!((around.sites[5], around.sites[42], around.sites[43]), (None, Site::new(5), None));
    assert_eq!((around.sites[20], around.found.taken.len()), (Site::new(20), 42));
    let twins = vec![whole[7], whole[7]];
    let around = Matched::new(&lattice, Pose::default(), twins, SiteSet::ALL);
    assert_eq!(around.sites, [Site::new(7), None]);
}

#[test]
fn closed_sites_and_sites_without_weight_take_nothing() {
    let lattice = Lattice::new(DISTANCE, Lattice::NARROW);
    let ways: Vec<Vec3> = Site::all().map(|site| lattice.position(site)).collect();
    let closed = Site::new(4).unwrap();
    let around = Matched::new(&lattice, Pose::default(), ways, SiteSet::ALL.without(closed));
    assert_eq!(around.found.taken, lattice.inside().without(closed));
    assert!(around.sites.iter().enumerate().all(|(k, site)| site.is_some() == (k < 18 && k != 4)));
}

#[test]
fn few_and_flat_neighbours_turn_the_lattice_and_no_more() {
    let lattice = Lattice::new(DISTANCE, Lattice::WIDE);
    let at = |a: i8, b: i8, c: i8| Vec3::new(a.into(), b.into(), c.into()) * std::f32::consts::FRAC_1_SQRT_2 * DISTANCE;
    let sets: [&[Vec3]; 6] = [
        &[],
        &[at(1, 1, 0)],
        &[at(1, 1, 0), at(1, 0, 1)],
        // On a line, in a plane, and three that span space but leave nothing to average.
        &[at(1, 1, 0), at(-1, -1, 0), at(2, 2, 0)],
        &[at(1, 1, 0), at(-1, 1, 0), at(2, 0, 0), at(-1, -1, 0)],
        &[at(1, 1, 0), at(1, 0, 1), at(0, 1, 1)],
    ];
    let mut stream = Stream::new(5);
    for set in sets {
        for _ in 0..100 {
            let turn = stream.turn();
            let previous = Pose::turned(Quat::from_scaled_axis(stream.point() * 0.1) * turn);
            let ways: Vec<Vec3> = set.iter().map(|way| turn * *way + stream.point() * 0.1 * DISTANCE).collect();
            let around = Matched::new(&lattice, previous, ways, SiteSet::ALL);
            assert!(around.is_finite());
            assert_eq!(around.found.pose.shape, Mat3::from_quat(around.found.pose.rotation));
            // Nothing flips: what is left open stays, the rest follows neighbours that moved by a tenth.
            assert!(around.found.pose.rotation.dot(previous.rotation).abs() > 0.9);
            let forces = around.forces(&lattice, 1e3);
            assert!(torque(&forces).length() <= 1e-6 * torque_size(&forces, 1e3));
            if set.is_empty() {
                assert_eq!(around.found.pose, previous);
            }
        }
    }
}

#[test]
fn no_input_makes_a_lattice_that_is_no_number() {
    let mut stream = Stream::new(6);
    let odd = [0.0, -0.0, Real::NAN, Real::INFINITY, Real::MAX, Real::MIN_POSITIVE, 1e-30, 1e20, DISTANCE];
    let lattices: Vec<Lattice> =
        odd.iter().flat_map(|x| [Lattice::new(*x, 1.9), Lattice::new(DISTANCE, *x), Lattice::new(-*x, -*x)]).collect();
    for k in 0..3000 {
        let mut pick = |usual: Real| {
            if stream.unit() < 0.2 { odd[(stream.unit() * odd.len() as Real) as usize] } else { usual * stream.unit() }
        };
        let ways: Vec<Vec3> = (0..k % 30).map(|_| Vec3::new(pick(0.2), pick(-0.2), pick(0.2))).collect();
        let mut shape = Mat3::IDENTITY;
        shape.x_axis = Vec3::new(pick(1.0), pick(1.0), pick(1.0));
        let rotation = Quat::from_xyzw(0.0, pick(0.0), 0.0, 1.0).normalize();
        let lattice = &lattices[k % lattices.len()];
        let around = Matched::new(lattice, Pose { rotation, shape }, ways, SiteSet::ALL);
        assert!(around.is_finite(), "{:?}", around.found);
        let forces = around.forces(lattice, 1.0);
        let found = balance(forces.iter().copied());
        assert!(found.centre.is_finite() && found.turn.is_finite());
        let moved = drift(around.taken().map(|(_, way)| Member { way, velocity: way, mass: 1.0, weight: 1.0 }));
        assert!(moved.centre.is_finite() && moved.velocity.is_finite() && moved.spin.is_finite());
        // Fewer answers than neighbours are no reason to stop.
        match_lattice(Level::detect(), lattice, &Pose::default(), &around.ways, SiteSet::ALL, &mut [None; 3]);
    }
}

#[test]
fn balance_takes_off_all_torque_and_adds_no_momentum() {
    let mut stream = Stream::new(7);
    for k in 0..2000 {
        let line = stream.point();
        let one = |stream: &mut Stream| Pulled {
            way: match k % 4 {
                0 => line * stream.unit() * 0.2,
                1 => Vec3::new(stream.unit(), stream.unit(), 0.0) * 0.2,
                _ => stream.point() * 0.2,
            },
            weight: stream.unit(),
            force: stream.point(),
        };
        let count = 1 + k % 40;
        let pulled: Vec<Pulled> = (0..count).map(|_| one(&mut stream)).collect();
        let found = balance(pulled.iter().copied());
        let own = found.force(Vec3::ZERO, 1.0);
        let sum = own + pulled.iter().map(|one| found.force(one.way, one.weight)).sum::<Vec3>();
        // Rounding of ways and of the centre, times the turn. Ways are up to 0.35 m long.
        let size = 0.35 * found.turn.length() * (1.0 + pulled.iter().map(|one| one.weight).sum::<Real>());
        assert!(sum.length() < 1e-6 * size, "{sum} of {size}");
        let corrected: Vec<Pulled> =
            pulled.iter().map(|one| Pulled { force: one.force + found.force(one.way, one.weight), ..*one }).collect();
        let bound = 1e-6 * (torque_size(&corrected, 0.0) + 0.35 * size);
        assert!(torque(&corrected).length() < bound, "{k}: {} of {bound}", torque(&corrected));
    }
    assert_eq!(balance([]), Balance::default());
}

/// A neighbourhood with random masses and missing sites.
fn members(lattice: &Lattice, stream: &mut Stream) -> Vec<Member> {
    let mut members =
        vec![Member { way: Vec3::ZERO, velocity: stream.point(), mass: 0.5 + stream.unit(), weight: 1.0 }];
    let flat = stream.unit() < 0.2;
    for site in Site::all().filter(|site| lattice.inside().contains(*site)) {
        if stream.unit() < 0.6 && !(flat && site.coordinates() != [1, 1, 0]) {
            let way = lattice.position(site) + stream.point() * 0.02;
            members.push(Member {
                way,
                velocity: stream.point(),
                mass: 0.5 + stream.unit(),
                weight: lattice.weight(site),
            });
        }
    }
    members
}

#[test]
fn rigid_motion_is_not_damped() {
    let lattice = Lattice::new(DISTANCE, Lattice::WIDE);
    let mut stream = Stream::new(8);
    for _ in 0..500 {
        let mut members = members(&lattice, &mut stream);
        let (velocity, spin) = (stream.point(), stream.point() * 10.0);
        members.iter_mut().for_each(|one| one.velocity = velocity + spin.cross(one.way));
        let found = drift(members.iter().copied());
        for one in &members {
            // Speeds of 5 m/s in f32.
            assert!(found.non_rigid(one.way, one.velocity).length() < 5e-6);
        }
    }
}

#[test]
fn damping_keeps_both_momenta_and_takes_energy() {
    let lattice = Lattice::new(DISTANCE, Lattice::WIDE);
    let mut stream = Stream::new(9);
    for _ in 0..1000 {
        let members = members(&lattice, &mut stream);
        let found = drift(members.iter().copied());
        let dt = 1e-3;
        let (mut force, mut torque, mut size, mut energy, mut before) = (Vec3::ZERO, Vec3::ZERO, 0.0, 0.0, 0.0);
        for one in &members {
            let f = lattice.damping_force(1.0 / dt, &found, one);
            force += f;
            torque += one.way.cross(f);
            // Velocities of up to 2 m/s, before the rigid motion is taken off.
            size += 2.0 * one.mass * one.weight / (dt * lattice.total_weight());
            let after = one.velocity + f * (dt / one.mass);
            energy += 0.5 * one.mass * after.length_squared();
            before += 0.5 * one.mass * one.velocity.length_squared();
        }
        assert!(force.length() < 3e-7 * size && torque.length() < 3e-7 * 0.2 * size, "{force} {torque} of {size}");
        assert!(energy <= before * (1.0 + 1e-6));
    }
}

#[test]
fn a_whole_crystal_loses_energy_in_every_step_of_damping() {
    let lattice = Lattice::new(DISTANCE, Lattice::WIDE);
    let places: Vec<Vec3> = Site::all().map(|site| lattice.position(site)).chain([Vec3::ZERO]).collect();
    let count = places.len();
    let mut stream = Stream::new(10);
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
            let ways: Vec<Vec3> = others.iter().map(|j| places[*j] - places[i]).collect();
            let around = Matched::new(&lattice, Pose::default(), ways, SiteSet::ALL);
            let held = (0..others.len()).filter_map(|k| Some((others[k], around.ways[k], around.sites[k]?)));
            let held = held.map(|(j, way, site)| (j, way, lattice.weight(site))).chain([(i, Vec3::ZERO, 1.0)]);
            let member =
                |(j, way, weight): (usize, Vec3, Real)| (j, Member { way, velocity: velocities[j], mass, weight });
            let members: Vec<(usize, Member)> = held.map(member).collect();
            let found = drift(members.iter().map(|(_, one)| *one));
            members.iter().for_each(|(j, one)| forces[*j] += lattice.damping_force(1.0 / dt, &found, one));
        }
        velocities.iter_mut().zip(&forces).for_each(|(v, f)| *v += *f * (dt / mass));
        let now = energy(&velocities);
        assert!(now <= last * (1.0 + 1e-6));
        last = now;
    }
    // Velocities of 1 m/s have 1e-7 of themselves in each of 200 steps, at random.
    assert!((sum(&velocities) - momentum).length() < 1e-6 * count as Real);
    // What is left is drift and spin: six of 165 degrees of freedom, and the slowest of the others.
    assert!(last < 0.2 * start, "{last} of {start}");
}
