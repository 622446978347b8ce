//! Islands: implicit bodies that contacts or ties couple, solved together.

use super::contact::constraint::Constraint;
use super::contact::obstacles::ObstacleQueries;
use super::newton::StepSolution;
use super::system::IslandBody;
use crate::Real;
use crate::contact::{ContactContext, VertexFaceContact, combine_surfaces};
use crate::material::Material;
use crate::model::ContactReactions;
use crate::model::View;
use crate::model::ViewMut;
use crate::model::tetra::TetraCache;
use crate::model::tetra::assembly::ElementLaw;
use crate::model::tetra::body::TetBody;
use crate::model::tetra::topology::ties::Tie;
use crate::parallel;
use crate::step::StepContext;
use crate::store::Particles;
use glam::Vec3;
use std::ops::Range;

/// Lists the islands of implicit bodies: sets that contacts or ties connect, ascending, as are the bodies
/// of each.
pub(in crate::model::tetra) fn build_islands(
    cache: &TetraCache,
    contacts: &[VertexFaceContact],
    ties: &[Tie],
) -> Vec<Vec<usize>> {
    let implicit = (0..cache.bodies.len()).filter(|&body| cache.bodies[body].is_implicit);
    let mut islands: Vec<Vec<usize>> = implicit.map(|body| vec![body]).collect();
    let contacts = contacts.iter().map(|contact| [contact.vertex, contact.face[0]]);
    let pairs = contacts.chain(ties.iter().map(|tie| tie.nodes));
    let mut links: Vec<[usize; 2]> = pairs.filter_map(|pair| implicit_bodies(cache, pair)).collect();
    links.sort_unstable();
    links.dedup();
    for link in links {
        let island_of = |body: usize| islands.iter().position(|island| island.contains(&body));
        let [Some(a), Some(b)] = link.map(island_of) else { continue };
        if a != b {
            let mut other = islands.remove(a.max(b));
            let island = &mut islands[a.min(b)];
            island.append(&mut other);
            island.sort_unstable();
        }
    }
    islands
}

/// Bodies of two particles, if both are implicit.
fn implicit_bodies(cache: &TetraCache, particles: [u32; 2]) -> Option<[usize; 2]> {
    let pair = particles.map(|particle| cache.arrays.body_of(particle as usize));
    pair.iter().all(|&body| cache.bodies.get(body).is_some_and(|body| body.is_implicit)).then_some(pair)
}

/// Island of bodies in a step.
pub(in crate::model::tetra) struct Island<'a> {
    /// Indices of its bodies.
    pub bodies: &'a [usize],
    /// All bodies of the model.
    pub tet_bodies: &'a mut [TetBody],
    /// All ties of the model.
    pub ties: &'a [Tie],
    pub cache: &'a mut TetraCache,
}

impl Island<'_> {
    /// Advances the velocities of its bodies to the end of a step.
    pub fn advance(
        mut self,
        view: &mut ViewMut,
        start_velocities: &[Vec3],
        contacts: &ContactContext,
        context: &StepContext,
        reactions: &mut ContactReactions,
    ) {
        let ranges = self.bodies.iter().map(|&body| self.cache.arrays.ranges[body].particles.clone());
        let ranges: Vec<Range<usize>> = ranges.collect();
        let StepSolution { velocities, contact_impulses, obstacle_impulses, iterations } =
            self.solve(&view.view(), start_velocities, &ranges, contacts, context);
        if !contact_impulses.is_empty() {
            reactions.contacts.resize(contacts.vertex_face_contacts.len(), None);
            contact_impulses.into_iter().for_each(|(contact, impulse)| reactions.contacts[contact] = Some(impulse));
        }
        let particle_of: Vec<usize> = ranges.iter().cloned().flatten().collect();
        reactions.obstacles.extend(obstacle_impulses.into_iter().map(|(node, impulse)| (particle_of[node], impulse)));
        let mut velocities = velocities.into_iter();
        for (&body, range) in self.bodies.iter().zip(ranges) {
            let local: Vec<Vec3> = velocities.by_ref().take(range.len()).collect();
            let tet_body = &mut self.tet_bodies[body];
            tet_body.solver_iterations += u64::from(iterations);
            let material = view.material(tet_body.id);
            self.finish_body(body, local, material, view.particles, context);
        }
    }

    /// Solves the system of the island.
    fn solve(
        &mut self,
        view: &View,
        start_velocities: &[Vec3],
        ranges: &[Range<usize>],
        contacts: &ContactContext,
        context: &StepContext,
    ) -> StepSolution {
        let particles = view.particles;
        let couplings = self.couplings(contacts.vertex_face_contacts, ranges);
        let TetraCache { arrays, bodies: caches, .. } = &mut *self.cache;
        let island_body = |(&body, range): (&usize, &Range<usize>)| IslandBody {
            body,
            tet_body: &self.tet_bodies[body],
            element_law: ElementLaw { law: &caches[body].law, states: &caches[body].states, has_damping: false },
            velocities: &start_velocities[range.clone()],
            forces: &particles.force[range.clone()],
            masses: &particles.mass[range.clone()],
            flags: &particles.flags[range.clone()],
            rest: &particles.rest[range.clone()],
            gravity: context.gravity,
            dt: context.dt,
            mass_damping: caches[body].mass_damping,
        };
        let bodies: Vec<IslandBody> = self.bodies.iter().zip(ranges).map(island_body).collect();
        let constraints = |masses: &[Real]| couplings.constraints(view, start_velocities, context, masses);
        let mut queries = ObstacleQueries::new(contacts, particles, (ranges, start_velocities), context);
        parallel::keep_awake(|| arrays.solve_step(&bodies, constraints, &mut queries))
    }

    /// Selects the contacts and ties between its bodies.
    fn couplings<'a>(&self, contacts: &'a [VertexFaceContact], ranges: &'a [Range<usize>]) -> Couplings<'a> {
        let is_own = |pair: [u32; 2]| implicit_bodies(self.cache, pair).is_some_and(|[a, _]| self.bodies.contains(&a));
        let is_own_contact = |&k: &usize| is_own([contacts[k].vertex, contacts[k].face[0]]);
        Couplings {
            contacts,
            selected: (0..contacts.len()).filter(is_own_contact).collect(),
            ties: self.ties.iter().filter(|tie| is_own(tie.nodes)).copied().collect(),
            ranges,
        }
    }

    /// Stores the solution of a body and the heat of its damping.
    fn finish_body(
        &mut self,
        body: usize,
        mut velocities: Vec<Vec3>,
        material: &Material,
        particles: &mut Particles,
        context: &StepContext,
    ) {
        let TetraCache { arrays, bodies: caches, .. } = &mut *self.cache;
        let (cache, tet_body) = (&mut caches[body], &mut self.tet_bodies[body]);
        let range = arrays.ranges[body].particles.clone();
        let fixed = velocities.iter_mut().zip(range.clone()).filter(|(_, i)| particles.is_fixed(*i));
        fixed.for_each(|(velocity, _)| *velocity = Vec3::ZERO);
        tet_body.implicit_steps += 1;
        tet_body.inertia_is_lost = arrays.matrices[body].as_ref().is_some_and(|matrix| matrix.inertia_is_lost);
        if cache.law.damping_time > 0.0 && material.heat.from_work.damping > 0.0 {
            arrays.load_velocities(body, &velocities);
            let law = ElementLaw { law: &cache.law, states: &cache.states, has_damping: false };
            arrays.apply_stiffness(body, tet_body, &law, false);
            let power = |i: usize| cache.law.damping_time * arrays.power(body, i);
            tet_body.add_damping_heat(material, particles, context.dt, power);
        }
        particles.velocity[range].copy_from_slice(&velocities);
        cache.solved_velocities = velocities;
    }
}

/// Contacts and ties between the bodies of an island.
struct Couplings<'a> {
    /// All contacts, and the indices of those of the island.
    contacts: &'a [VertexFaceContact],
    selected: Vec<usize>,
    ties: Vec<Tie>,
    /// Particles of each body.
    ranges: &'a [Range<usize>],
}

impl Couplings<'_> {
    /// Makes their constraints; `masses` are effective masses by node, kg.
    fn constraints(
        &self,
        view: &View,
        start_velocities: &[Vec3],
        context: &StepContext,
        masses: &[Real],
    ) -> Vec<Constraint> {
        let node_of = |particle: u32| self.node_of(particle as usize);
        let mass = |node: usize| masses[node];
        let contact = |&k: &usize| {
            let contact = &self.contacts[k];
            let surface =
                combine_surfaces([contact.vertex, contact.face[0]].map(|particle| view.material_of(particle)));
            Constraint::vertex_face((k, contact), (view.particles, start_velocities), surface, context, node_of, mass)
        };
        let tie = |tie: &Tie| {
            let nodes = tie.nodes.map(node_of);
            Constraint::tie(nodes, nodes.map(mass))
        };
        self.selected.iter().filter_map(contact).chain(self.ties.iter().map(tie)).collect()
    }

    /// Index in the system of the node that is a particle.
    fn node_of(&self, particle: usize) -> usize {
        let before = self.ranges.iter().take_while(|range| range.end <= particle).map(Range::len).sum::<usize>();
        let range = self.ranges.iter().find(|range| range.contains(&particle));
        before + range.map_or(0, |range| particle - range.start)
    }
}
