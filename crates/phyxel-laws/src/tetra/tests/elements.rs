//! One element at a time.

use super::*;
use crate::elastic::VOIGT;
use crate::plasticity::Yielding;
use crate::rotation::nearest_rotation;
use glam::DMat3;

fn soft() -> Matter {
    Matter { hooke: Hooke::isotropic(1.0, 0.3), damping: 0.0 }
}

fn all_laws() -> [Matter; 3] {
    [soft(), Matter { hooke: crooked(), damping: 0.0 }, Matter { hooke: crooked(), damping: 0.3 }]
}

/// Stress of a law in f64.
fn stress(hooke: &Hooke, e: &[f64; 6]) -> [f64; 6] {
    match hooke {
        Hooke::Isotropic { lambda, mu } => {
            let pressure = f64::from(*lambda) * (e[0] + e[1] + e[2]);
            std::array::from_fn(|k| 2.0 * f64::from(*mu) * e[k] + if k < 3 { pressure } else { 0.0 })
        }
        Hooke::Anisotropic(c) => {
            std::array::from_fn(|row| (0..6).map(|k| f64::from(c[row][k]) * e[k] * if k < 3 { 1.0 } else { 2.0 }).sum())
        }
    }
}

#[test]
fn every_level_gives_the_same_bits() {
    for seed in 0..20 {
        let eights = Eights::new(seed, if seed % 2 == 0 { 0.3 } else { 2.0 });
        let (nodes, velocities) = (points(&eights.nodes), points(&eights.velocities));
        for (matter, with_state) in all_laws().iter().flat_map(|matter| [(matter, false), (matter, true)]) {
            let group = eights.group(with_state);
            let mut results = Vec::new();
            for level in Level::available() {
                let (mut out, mut turn, mut work) = (Exerted::default(), STILL, [0.0; 8]);
                exert_one::<true>(level, &group, matter, [&nodes, &velocities], &mut turn, &mut out);
                energy(level, &group, matter, &nodes, &turn, &mut work);
                let (mut moved, modes) = (out.forces, Modes::new(&matter.hooke));
                let mut vectors = vec![[[[0.0; 4]; 8]; 4]; modes.count()];
                product(level, &group, matter, &turn, &velocities, &mut moved);
                (0..).zip(&mut vectors).for_each(|(mode, out)| corner_vectors(level, &group, &modes, mode, &turn, out));
                // Bits, so that no number is ever equal to itself by being none.
                let bits = |x: f32| {
                    assert!(x.is_finite());
                    x.to_bits()
                };
                let mut all: Vec<u32> = turn.iter().chain(&out.note.elastic).flatten().map(|x| bits(*x)).collect();
                all.extend(out.note.lost.iter().chain(&work).map(|x| bits(*x)));
                all.extend(out.forces.iter().chain(&moved).flatten().flatten().map(|x| bits(*x)));
                all.extend(vectors.as_flattened().as_flattened().as_flattened().iter().map(|x| bits(*x)));
                results.push(all);
            }
            assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "seed {seed}");
        }
    }
}

/// The source's eq. 4, `R K (R^-1 q - p)` with `K = V B^T C B`, twelve by twelve.
#[test]
fn forces_are_those_of_the_source_s_matrices() {
    let eights = Eights::new(1, 0.4);
    let matter = soft();
    let (out, turn) = eights.exert(&matter, false);
    for lane in 0..8 {
        let rest = Element::new(eights.shapes[lane]).unwrap();
        let r = Mat3::from_quat(Quat::from_array(turn.map(|q| q[lane]))).as_dmat3();
        // Strains of a move of each corner along each axis, with shears that count twice.
        let mut b = [[0.0; 12]; 6];
        for corner in 0..4 {
            let g = rest.gradient(corner).as_dvec3();
            for (k, (i, j)) in VOIGT.into_iter().enumerate() {
                b[k][3 * corner + i] += g[j];
                if i != j {
                    b[k][3 * corner + j] += g[i];
                }
            }
        }
        let turned: Vec<f64> = (0..4)
            .flat_map(|corner| {
                let q = eights.nodes[4 * lane + corner].as_dvec3();
                (r.transpose() * q - eights.shapes[lane][corner].as_dvec3()).to_array()
            })
            .collect();
        let engineering: [f64; 6] = std::array::from_fn(|k| (0..12).map(|i| b[k][i] * turned[i]).sum());
        let e = std::array::from_fn(|k| if k < 3 { engineering[k] } else { 0.5 * engineering[k] });
        let s = stress(&matter.hooke, &e);
        for corner in 0..4 {
            let own: [f64; 3] = std::array::from_fn(|axis| {
                f64::from(rest.volume) * (0..6).map(|k| b[k][3 * corner + axis] * s[k]).sum::<f64>()
            });
            let expected = -(r * DVec3::from(own));
            // Strains are rounded to some 1e-7 of 1, positions 3 m from the origin to 2e-7 m.
            let off = (vector(out.forces[corner][lane]) - expected).length();
            assert!(off < 1e-5 * size(&out, lane).max(0.1), "{off}");
        }
    }
}

/// The best rotation is the one with the largest `tr(R^T F)`: what a decomposition with a corrected sign gives.
#[test]
fn rotations_are_proper_and_the_best_even_of_mirrored_and_flat_elements() {
    let mut mirrored = 0;
    for seed in 0..200 {
        let mut eights = Eights::new(seed, 2.0);
        if seed % 4 == 0 {
            // Flat: the fourth corner in the plane of the others.
            (0..8).for_each(|lane| {
                eights.nodes[4 * lane + 3] = eights.nodes[4 * lane].lerp(eights.nodes[4 * lane + 2], 0.4)
            });
        }
        let (_, turn) = eights.exert(&soft(), false);
        for lane in 0..8 {
            let rest = Element::new(eights.shapes[lane]).unwrap();
            let f = gradient(&rest, &std::array::from_fn(|k| eights.nodes[4 * lane + k].as_dvec3()));
            mirrored += usize::from(f.determinant() < 0.0);
            let found = Quat::from_array(turn.map(|q| q[lane]));
            assert!(found.is_normalized());
            let trace = |q: Quat| (DMat3::from_quat(q.as_dquat().normalize()).transpose() * f).to_cols_array();
            let trace = |q: Quat| [0, 4, 8].map(|k| trace(q)[k]).iter().sum::<f64>();
            let (own, best) = (trace(found), trace(nearest_rotation(f, Quat::IDENTITY)));
            // Flat at the top: an error of 1e-3 rad, the most that rounding over the bound of the quick way gives, costs 1e-6.
            let size = f.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(own > best - 3e-6 * size, "seed {seed}, lane {lane}: {own} {best}");
        }
    }
    assert!(mirrored > 100);
}

#[test]
fn rotations_follow_small_turns_to_what_f32_can_see() {
    for (seed, angle) in (0..40).zip([1e-5f32, 1e-4, 5e-4, 2e-3, 4e-3, 6e-3, 1e-2, 3e-2, 1e-1].into_iter().cycle()) {
        let mut eights = Eights::new(seed, 0.01 * seed as Real);
        // Near the origin, where places have their digits.
        eights.nodes.iter_mut().for_each(|node| *node -= 3.0);
        let (mut out, mut turn) = (Exerted::default(), STILL);
        let mut follow = |eights: &Eights, turn: &mut [Eight; 4]| {
            let nodes = points(&eights.nodes);
            exert_one::<false>(Level::detect(), &eights.group(false), &soft(), [&nodes, &nodes], turn, &mut out);
        };
        follow(&eights, &mut turn);
        let mut random = Stream::new(1000 + seed);
        for node in &mut eights.nodes {
            *node = Quat::from_scaled_axis(angle * Vec3::new(0.6, -0.64, 0.48)) * *node + 0.1 * angle * random.point();
        }
        follow(&eights, &mut turn);
        for lane in 0..8 {
            let rest = Element::new(eights.shapes[lane]).unwrap();
            let f = gradient(&rest, &std::array::from_fn(|k| eights.nodes[4 * lane + k].as_dvec3()));
            let found = Quat::from_array(turn.map(|q| q[lane])).as_dquat();
            let best = nearest_rotation(f, Quat::IDENTITY).as_dquat();
            let off = 2.0 * (found.conjugate() * best).xyz().length();
            // Places of order 1 are rounded by 6e-8, a few of which are in each number of `F`, and so in its turn.
            let most = 2e-6;
            assert!(off < most && (found.length() - 1.0).abs() < 3e-7, "seed {seed}, lane {lane}: {off}");
        }
    }
}

#[test]
fn packs_that_are_done_together_give_the_same_bits_at_every_level_and_forces_as_if_alone() {
    let all: Vec<Eights> = (0..3).map(|seed| Eights::new(seed, 0.3)).collect();
    let places = |eights: &Eights| [&eights.nodes, &eights.velocities].map(|of| points(of));
    let mut nodes: [Vec<[f32; 4]>; 2] = Default::default();
    let mut corners = Vec::new();
    for eights in &all {
        let first = nodes[0].len() as u32;
        corners.push(eights.corners.map(|lanes| lanes.map(|node| node + first)));
        nodes.iter_mut().zip(places(eights)).for_each(|(all, mut own)| all.append(&mut own));
    }
    for (matter, with_state) in all_laws().iter().flat_map(|matter| [(matter, false), (matter, true)]) {
        let groups: Vec<Group> = all
            .iter()
            .zip(&corners)
            .map(|(eights, corners)| Group { corners, rest: &eights.rest, state: with_state.then_some(&eights.state) })
            .collect();
        let results: Vec<Vec<CornerVectors>> = Level::available()
            .into_iter()
            .map(|level| {
                let (mut turns, mut notes, mut forces) =
                    ([STILL; 3], [Note::default(); 3], vec![[[[0.0; 4]; 8]; 4]; 3]);
                let packs = Packs { groups: &groups, turns: &mut turns, forces: &mut forces, notes: &mut notes };
                exert(level, packs, matter, &nodes[0], Some(&nodes[1]));
                forces
            })
            .collect();
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
        for (k, eights) in all.iter().enumerate() {
            let (mut out, mut turn) = (Exerted::default(), STILL);
            let [nodes, velocities] = places(eights);
            exert_one::<true>(
                Level::detect(),
                &eights.group(with_state),
                matter,
                [&nodes, &velocities],
                &mut turn,
                &mut out,
            );
            for (corner, lane) in (0..4).flat_map(|corner| (0..8).map(move |lane| (corner, lane))) {
                // A pack that waits for the other makes quaternions 1 once more: their last bits.
                let off = vector(results[0][k][corner][lane]) - vector(out.forces[corner][lane]);
                assert!(off.length() < 1e-5 * size(&out, lane).max(1.0), "pack {k}, corner {corner}, lane {lane}");
            }
        }
    }
}

/// `F` in f64.
fn gradient(rest: &Element, x: &[DVec3; 4]) -> DMat3 {
    let part = |k: usize| {
        let (edge, g) = (x[k] - x[0], rest.gradient(k).as_dvec3());
        DMat3::from_cols(edge * g.x, edge * g.y, edge * g.z)
    };
    part(1) + part(2) + part(3)
}

#[test]
fn rigid_motion_makes_no_force_and_forces_turn_along() {
    let mut random = Stream::new(5);
    for seed in 0..10 {
        let mut eights = Eights::new(seed, 0.0);
        for matter in all_laws().into_iter().take(2) {
            let (out, _) = eights.exert(&matter, false);
            // Rounding of positions 3 m away, 2e-7 m, times stiffness, 1 Pa, times size, 1 m.
            (0..8).for_each(|lane| assert!(size(&out, lane) < 2e-5, "{}", size(&out, lane)));
        }
        let turn = random.turn();
        eights = Eights::new(seed, 0.5);
        for matter in all_laws() {
            let (before, _) = eights.exert(&matter, true);
            let mut turned = Eights::new(seed, 0.5);
            for values in [&mut turned.nodes, &mut turned.velocities] {
                values.iter_mut().for_each(|p| *p = turn * *p);
            }
            let (after, _) = turned.exert(&matter, true);
            for (corner, lane) in (0..4).flat_map(|corner| (0..8).map(move |lane| (corner, lane))) {
                let expected = turn.as_dquat() * vector(before.forces[corner][lane]);
                let off = (vector(after.forces[corner][lane]) - expected).length();
                assert!(off < 3e-5 * size(&before, lane).max(0.1), "{off} of {}", size(&before, lane));
            }
        }
    }
}

#[test]
fn forces_keep_both_momenta_whatever_the_law_and_the_state() {
    for seed in 0..20 {
        let eights = Eights::new(seed, 0.5);
        for matter in all_laws() {
            let (out, _) = eights.exert(&matter, true);
            for lane in 0..8 {
                let force: DVec3 = (0..4).map(|corner| vector(out.forces[corner][lane])).sum();
                let middle = eights.nodes[4 * lane].as_dvec3();
                let torque: DVec3 = (0..4)
                    .map(|k| (eights.nodes[4 * lane + k].as_dvec3() - middle).cross(vector(out.forces[k][lane])))
                    .sum();
                // Rounding of sums of a few terms in f32; lengths are 1 m or so.
                assert!(force.length() < 1e-6 * size(&out, lane), "{force}");
                assert!(torque.length() < 1e-5 * size(&out, lane), "{torque} {}", size(&out, lane));
            }
        }
    }
}

/// Central differences of a quadratic function are exact, so a long step keeps the digits of f32.
#[test]
fn forces_are_minus_the_gradient_of_the_energy_with_rotations_kept() {
    let mut eights = Eights::new(11, 0.3);
    let matter = soft();
    let (out, turn) = eights.exert(&matter, false);
    for (corner, axis) in (0..4).flat_map(|corner| (0..3).map(move |axis| (corner, axis))) {
        let mut at = |step: Real| {
            (0..8).for_each(|lane| eights.nodes[4 * lane + corner][axis] += step);
            let mut work = [0.0; 8];
            energy(Level::detect(), &eights.group(false), &matter, &points(&eights.nodes), &turn, &mut work);
            (0..8).for_each(|lane| eights.nodes[4 * lane + corner][axis] -= step);
            work
        };
        let (more, less) = (at(0.25), at(-0.25));
        for lane in 0..8 {
            let slope = (more[lane] - less[lane]) / 0.5;
            let off = (out.forces[corner][lane][axis] + slope).abs();
            // Energies are of the order of the stiffness, 1 J, and rounded to 1e-7 of it a few times.
            assert!(off < 1e-5, "corner {corner}, lane {lane}: {off}");
        }
    }
}

/// With plastic strain and any law the force is still that of an energy, as rotations follow.
#[test]
fn forces_are_minus_the_gradient_of_the_energy_with_rotations_that_follow() {
    let eights = Eights::new(12, 0.3);
    let matter = Matter { hooke: crooked(), damping: 0.0 };
    let (out, turn) = eights.exert(&matter, true);
    let (mut across, mut most) = (0.0f64, 0.0f64);
    for lane in 0..8 {
        let rest = Element::new(eights.shapes[lane]).unwrap();
        let plastic: [f64; 6] = std::array::from_fn(|k| {
            f64::from(eights.state.plastic[k][lane]) + if k < 3 { f64::from(eights.state.swelling[lane]) } else { 0.0 }
        });
        let energy = |x: &[DVec3; 4]| {
            let f = gradient(&rest, x);
            let previous = Quat::from_array(turn.map(|q| q[lane]));
            let s = (DMat3::from_quat(nearest_rotation(f, previous).as_dquat().normalize()).transpose() * f)
                .to_cols_array_2d();
            let e: [f64; 6] = std::array::from_fn(|k| {
                let (i, j) = VOIGT[k];
                0.5 * (s[i][j] + s[j][i]) - plastic[k] - if k < 3 { 1.0 } else { 0.0 }
            });
            let stress = stress(&matter.hooke, &e);
            let twice: f64 = (0..6).map(|k| e[k] * stress[k] * if k < 3 { 1.0 } else { 2.0 }).sum();
            0.5 * f64::from(rest.volume) * f64::from(eights.state.stiffness[lane]) * twice
        };
        let x: [DVec3; 4] = std::array::from_fn(|k| eights.nodes[4 * lane + k].as_dvec3());
        for (corner, axis) in (0..4).flat_map(|corner| (0..3).map(move |axis| (corner, axis))) {
            let at = |step: f64| {
                let mut moved = x;
                moved[corner][axis] += step;
                energy(&moved)
            };
            let step = 5e-3;
            let slope = (at(step) - at(-step)) / (2.0 * step);
            let off = (f64::from(out.forces[corner][lane][axis]) + slope).abs();
            // The reference has its rotation rounded to 6e-8, which the step divides: 1e-5. Third derivatives add the step
            // squared.
            assert!(off < 1e-4, "corner {corner}, lane {lane}: {off}");
            most = most.max(slope.abs());
            across = across.max(off);
        }
    }
    assert!(most > 1e3 * across, "forces of {most} are not told from errors of {across}");
}

#[test]
fn damping_takes_the_power_it_says_and_lets_a_strained_body_turn() {
    let mut eights = Eights::new(4, 0.4);
    let damped = Matter { hooke: Hooke::isotropic(1.0, 0.3), damping: 0.2 };
    let power = |eights: &Eights, out: &Exerted, lane: usize| -> f64 {
        (0..4).map(|k| vector(out.forces[k][lane]).dot(eights.velocities[4 * lane + k].as_dvec3())).sum()
    };
    let (with, _) = eights.exert(&damped, false);
    let (without, _) = eights.exert(&soft(), false);
    for lane in 0..8 {
        let taken = power(&eights, &without, lane) - power(&eights, &with, lane);
        let lost = f64::from(with.note.lost[lane]);
        // Both are differences of a few products of order 1 in f32.
        assert!(lost > 1e-3 && (taken - lost).abs() < 1e-5 + 1e-5 * lost, "{taken} {lost}");
    }
    let spin = Vec3::new(0.3, -1.0, 0.7);
    eights.velocities = eights.nodes.iter().map(|p| spin.cross(*p) + Vec3::Y).collect();
    let (turning, _) = eights.exert(&damped, false);
    for (corner, lane) in (0..4).flat_map(|corner| (0..8).map(move |lane| (corner, lane))) {
        let off = (vector(turning.forces[corner][lane]) - vector(without.forces[corner][lane])).length();
        // Velocities of 5 m/s are rounded to 5e-7.
        assert!(off < 1e-5, "{off}");
    }
}

#[test]
fn the_stiffness_product_is_how_forces_change_and_its_blocks_are_in_it() {
    let mut eights = Eights::new(21, 0.3);
    for matter in all_laws().into_iter().take(2) {
        let (_, turn) = eights.exert(&matter, true);
        let group = eights.group(true);
        let modes = Modes::new(&matter.hooke);
        let mut vectors = vec![[[[0.0; 4]; 8]; 4]; modes.count()];
        for (mode, out) in vectors.iter_mut().enumerate() {
            corner_vectors(Level::detect(), &group, &modes, mode, &turn, out);
        }
        // What the first corner feels of moves of the second.
        let block = |[first, second]: [usize; 2], lane: usize| {
            let of = |mode: &CornerVectors, corner: usize| Vec3A::from_slice(&mode[corner][lane][..3]);
            let product = |a: Vec3A, b: Vec3A| Mat3A::from_cols(a * b.x, a * b.y, a * b.z);
            modes.block(&vectors.iter().map(|mode| product(of(mode, first), of(mode, second))).sum())
        };
        for corner in 0..4 {
            for axis in 0..3 {
                let mut moves = vec![[0.0; 4]; 32];
                (0..8).for_each(|lane| moves[4 * lane + corner][axis] = 1.0);
                let mut column = [[[0.0; 4]; 8]; 4];
                product(Level::detect(), &group, &matter, &turn, &moves, &mut column);
                for (first, lane) in (0..4).flat_map(|first| (0..8).map(move |lane| (first, lane))) {
                    let expected = block([first, corner], lane).col(axis);
                    // Sums of a few products of order 1 in f32.
                    let off = (Vec3A::from_slice(&column[first][lane][..3]) - expected).length();
                    assert!(off < 2e-6, "{off}");
                }
            }
        }
        // For small strains the product is the change of forces: rotations follow in second order only.
        let mut random = Stream::new(8);
        eights = Eights::new(22, 0.0);
        let moves: Vec<Vec3> = (0..32).map(|_| random.point() * 1e-3).collect();
        let (before, turn) = eights.exert(&matter, false);
        let mut change = [[[0.0; 4]; 8]; 4];
        product(Level::detect(), &eights.group(false), &matter, &turn, &points(&moves), &mut change);
        eights.nodes.iter_mut().zip(&moves).for_each(|(node, by)| *node += *by);
        let (after, _) = eights.exert(&matter, false);
        for (corner, lane) in (0..4).flat_map(|corner| (0..8).map(move |lane| (corner, lane))) {
            let found = vector(before.forces[corner][lane]) - vector(after.forces[corner][lane]);
            // Second order: the square of the move; rounding of positions: 3e-7 m.
            assert!((found - vector(change[corner][lane])).length() < 1e-5, "{found}");
        }
    }
}

#[test]
fn warm_elements_grow_without_force_and_lanes_without_element_do_nothing() {
    let shape = regular();
    let rest = Rest::new(&[Element::new(shape).unwrap()]);
    let corners: Corners = [[0; 8], [1; 8], [2; 8], [3; 8]];
    let state = State { swelling: [0.03; 8], ..State::default() };
    let group = Group { corners: &corners, rest: &rest, state: Some(&state) };
    let mut out = Exerted::default();
    let grown = points(&shape.map(|p| 1.03 * p));
    exert_one::<false>(Level::detect(), &group, &soft(), [&grown, &grown], &mut STILL.clone(), &mut out);
    assert!(size(&out, 0) < 1e-5);
    let cold = Group { state: None, ..group };
    exert_one::<false>(Level::detect(), &cold, &soft(), [&grown, &grown], &mut STILL.clone(), &mut out);
    assert!(size(&out, 0) > 0.01);
    assert!((1..8).all(|lane| size(&out, lane) == 0.0));
    assert_eq!(Rest::new(&[]), Rest::default());
    assert_eq!(Element::new([shape[0], shape[2], shape[1], shape[3]]), None, "mirrored");
    assert_eq!(Element::new([shape[0], shape[1], shape[2], shape[1]]), None, "flat");
    assert_eq!(Element::new([shape[0], shape[1], shape[2], Vec3::NAN]), None);
}

#[test]
fn elements_yield_creep_to_their_bound_and_return_what_is_elastic() {
    let rest = Rest::new(&[Element::new(regular()).unwrap()]);
    let hooke = Hooke::isotropic(1.0, 0.3);
    let law = |_: usize| Some(Yielding { strain: 0.05, creep: 10.0, max: 0.2 });
    let mut state = State::default();
    let total = [0.1, 0.0, 0.0, 0.0, 0.0, 0.02];
    let load = |state: &State, total: [Real; 6]| -> [Eight; 6] {
        std::array::from_fn(|k| std::array::from_fn(|lane| total[k] - state.plastic[k][lane]))
    };
    // Below the yield strain nothing flows: all of it comes back.
    let mut below = load(&state, total.map(|e| 0.45 * e));
    assert_eq!(yield_eight(&rest, &hooke, (law, 0.01), false, &mut below, &mut state), [0.0; 8]);
    assert_eq!(state, State::default());
    // Beyond it, dt creep of the elastic strain, until the rest is at the yield strain.
    let mut elastic = load(&state, total);
    let work = yield_eight(&rest, &hooke, (law, 0.01), false, &mut elastic, &mut state);
    assert!((state.plastic[0][0] - 0.01).abs() < 1e-6 && (elastic[0][0] - 0.09).abs() < 1e-6);
    assert!(work[0] > 0.0 && work[1..] == [0.0; 7], "no work where there is no volume");
    for _ in 0..200 {
        let mut elastic = load(&state, total);
        yield_eight(&rest, &hooke, (law, 0.01), false, &mut elastic, &mut state);
    }
    let left = load(&state, total).map(|e| e[0]);
    let norm = crate::plasticity::symmetric_norm(&left);
    // Each step takes a tenth, so the last one that flows ends above 0.9 of the yield strain.
    assert!(norm <= 0.05 && norm > 0.045, "{norm}");
    // A far larger load stops at the bound, and a bound that falls lets the shape return.
    for _ in 0..200 {
        let mut elastic = load(&state, total.map(|e| 9.0 * e));
        yield_eight(&rest, &hooke, (law, 0.01), false, &mut elastic, &mut state);
    }
    let plastic = |state: &State| crate::plasticity::symmetric_norm(&state.plastic.map(|e| e[0]));
    assert!((plastic(&state) - 0.2).abs() < 1e-5);
    let mut rested = [[0.0; 8]; 6];
    yield_eight(
        &rest,
        &hooke,
        (|_| Some(Yielding { strain: 0.05, creep: 10.0, max: 0.1 }), 0.01),
        false,
        &mut rested,
        &mut state,
    );
    assert!((plastic(&state) - 0.1).abs() < 1e-5);
    assert!(rested[0][0] > 0.0, "what was plastic is elastic now");
    let mut even = load(&State::default(), [0.3, 0.3, 0.3, 0.0, 0.0, 0.0]);
    let mut kept = State::default();
    yield_eight(&rest, &hooke, (law, 0.01), true, &mut even, &mut kept);
    assert_eq!(kept, State::default(), "nothing but volume");
}

#[test]
fn rayleigh_damping_has_its_ratio_at_both_ends_and_less_between() {
    let law = Rayleigh::between(0.05, 10.0, 1000.0);
    assert!((law.ratio(10.0) - 0.05).abs() < 1e-12 && (law.ratio(1000.0) - 0.05).abs() < 1e-12);
    assert!(law.ratio(100.0) < 0.05 && law.ratio(1.0) > 0.05 && law.ratio(1e4) > 0.05);
}
