//! Bodies whose implicit steps are taken together, because they press on each other or are tied.

use super::Derived;
use super::body::Tetras;
use super::holds::Hold;
use super::implicit::End;
use super::net::Matters;
use super::system::Member;
use super::ties::Tie;
use super::walls::Surroundings;
use crate::Real;
use crate::body::Body;
use crate::contact::{Press, Walls, surface_of};
use crate::material::Material;
use crate::parallel;
use crate::particles::Particles;
use crate::step::StepContext;
use glam::Vec3;
use std::ops::Range;

/// Bodies that are stepped implicitly, by their numbers, in groups that press on each other or are tied; both in rising order.
pub(super) fn find_groups(derived: &Derived, presses: &[Press], ties: &[Tie]) -> Vec<Vec<usize>> {
    let numbers = (0..derived.parts.len()).filter(|&number| derived.parts[number].implicit);
    let mut groups: Vec<Vec<usize>> = numbers.map(|number| vec![number]).collect();
    let pressed = presses.iter().map(|press| [press.node, press.face[0]]);
    let both = pressed.chain(ties.iter().map(|tie| tie.nodes));
    let mut links: Vec<[usize; 2]> = both.filter_map(|both| ends(derived, both)).collect();
    links.sort_unstable();
    links.dedup();
    for link in links {
        let of = |number: usize| groups.iter().position(|group| group.contains(&number));
        let [Some(a), Some(b)] = link.map(of) else { continue };
        if a != b {
            let mut other = groups.remove(a.max(b));
            let group = &mut groups[a.min(b)];
            group.append(&mut other);
            group.sort_unstable();
        }
    }
    groups
}

/// The bodies of two particles, if both are stepped implicitly.
fn ends(derived: &Derived, particles: [u32; 2]) -> Option<[usize; 2]> {
    let ends = particles.map(|particle| derived.net.body_of(particle as usize));
    ends.iter().all(|&number| derived.parts.get(number).is_some_and(|part| part.implicit)).then_some(ends)
}

/// Bodies that are stepped together.
pub(super) struct Together<'a> {
    /// Which of all they are.
    pub numbers: &'a [usize],
    /// All.
    pub tetras: &'a mut [Tetras],
    pub ties: &'a [Tie],
    pub derived: &'a mut Derived,
}

impl Together<'_> {
    /// Finds velocities at the end of a step.
    pub fn advance(
        self,
        (bodies, materials): (&[Body], &[Material]),
        (particles, before): (&mut Particles, &[Vec3]),
        walls: &Walls,
        context: &StepContext,
    ) {
        let Self { numbers, tetras, ties, derived } = self;
        let is_own = |both: [u32; 2]| ends(derived, both).is_some_and(|[a, _]| numbers.contains(&a));
        let presses: Vec<usize> =
            (0..walls.presses.len()).filter(|&k| is_own([walls.presses[k].node, walls.presses[k].face[0]])).collect();
        let ties: Vec<Tie> = ties.iter().filter(|tie| is_own(tie.nodes)).copied().collect();
        let Derived { net, parts, pushes, stopped, .. } = derived;
        let ranges: Vec<Range<usize>> = numbers.iter().map(|&number| net.runs[number].particles.clone()).collect();
        let members = numbers.iter().zip(&ranges).map(|(&number, range)| {
            let part = &parts[number];
            Member {
                body: number,
                tetras: &tetras[number],
                matters: Matters { matter: &part.matter, states: &part.states, damped: false },
                velocities: &before[range.clone()],
                forces: &particles.force[range.clone()],
                masses: &particles.mass[range.clone()],
                flags: &particles.flags[range.clone()],
                rest: &particles.rest[range.clone()],
                gravity: context.gravity,
                dt: context.dt,
                drag: part.drag,
            }
        });
        let members: Vec<Member> = members.collect();
        let find_holds = |weights: &[Real]| -> Vec<Hold> {
            let place = |particle: u32| {
                let before =
                    ranges.iter().take_while(|range| range.end <= particle as usize).map(Range::len).sum::<usize>();
                let own = ranges.iter().find(|range| range.contains(&(particle as usize)));
                before + own.map_or(0, |range| particle as usize - range.start)
            };
            let matter = |particle: u32| {
                let body = &bodies[particles.body[particle as usize].0 as usize];
                &materials[body.material.0 as usize]
            };
            let hold = |&k: &usize| {
                let press = &walls.presses[k];
                let surface = surface_of([press.node, press.face[0]].map(matter));
                Hold::new((k, press), (particles, before), surface, context, place, |node| weights[node])
            };
            let tied = ties.iter().map(|tie| {
                let nodes = tie.nodes.map(place);
                Hold::tied(nodes, nodes.map(|node| weights[node]))
            });
            presses.iter().filter_map(hold).chain(tied).collect()
        };
        let mut around = Surroundings::new(walls, particles, (&ranges, before), context);
        let End { velocities: solution, pushes: given, stops, rounds } =
            parallel::awake(|| net.solve(&members, find_holds, &mut around));
        drop(members);
        if !given.is_empty() {
            pushes.resize(walls.presses.len(), None);
            given.into_iter().for_each(|(press, push)| pushes[press] = Some(push));
        }
        let particles_of: Vec<usize> = ranges.iter().cloned().flatten().collect();
        stopped.extend(stops.into_iter().map(|(node, given)| (particles_of[node], given)));
        let mut solution = solution.into_iter();
        for (&number, range) in numbers.iter().zip(ranges) {
            let (part, tetras) = (&mut parts[number], &mut tetras[number]);
            let mut own: Vec<Vec3> = solution.by_ref().take(range.len()).collect();
            own.iter_mut()
                .zip(range.clone())
                .filter(|(_, i)| particles.is_held(*i))
                .for_each(|(velocity, _)| *velocity = Vec3::ZERO);
            tetras.solves += 1;
            tetras.is_rough = net.matrices[number].as_ref().is_some_and(|matrix| matrix.is_rough);
            tetras.rounds += u64::from(rounds);
            let material = &materials[bodies[tetras.id.0 as usize].material.0 as usize];
            if part.matter.damping > 0.0 && material.heat.from_work.damping > 0.0 {
                net.set_in_motion(number, &own);
                net.resist(
                    number,
                    tetras,
                    &Matters { matter: &part.matter, states: &part.states, damped: false },
                    false,
                );
                let lost = |i: usize| part.matter.damping * net.power(number, i);
                tetras.note_losses(material, particles, context.dt, lost);
            }
            particles.velocity[range].copy_from_slice(&own);
            part.solved = own;
        }
    }
}
