//! Ties that part where bodies are pulled from each other harder than their matter bears, and heat that passes through ties.

use super::TetraModel;
use super::ties::Tie;
use crate::Real;
use crate::body::Body;
use crate::contact::Press;
use crate::heat::Link;
use crate::material::Material;
use crate::particles::Particles;
use crate::world::World;
use glam::Vec3;
use std::collections::BTreeSet;

/// Resistance of a tie to heat, as a part of that of the matter within a spacing of it. Nodes that are tied are at one place, so the truth is none
/// and equal temperatures; two slabs of `n` cells each are too tight by this over `n`. Less would only make the equations worse.
const THIN: Real = 0.01;

/// Faces look at each other if the cosine of the angle between them is below this: within 60 degrees.
const OPPOSITE: Real = -0.5;

/// Where two bodies are tied at a node.
struct Seam {
    /// Out of the first body into the second.
    way: Vec3,
    /// What the nodes show each other of their surfaces, m2: the larger part. Where nodes do not fit, those of the finer side are not all tied, and what
    /// is between two ties is about what the coarser side has there.
    area: Real,
}

impl TetraModel {
    /// How bodies lie at a tie: the faces of each node that look at one of the other's. At the rim of a joint a node has others beside these.
    fn seam(&self, bodies: &[Body], particles: &Particles, tie: &Tie) -> Seam {
        let sides =
            tie.nodes.map(|node| self.faces_at(bodies, node as usize, &particles.position).collect::<Vec<Vec3>>());
        let looks_at = |face: &Vec3, other: &Vec3| face.dot(*other) < OPPOSITE * face.length() * other.length();
        let [one, other] = [0, 1].map(|k| {
            let faces = sides[k].iter().filter(|face| sides[1 - k].iter().any(|other| looks_at(face, other)));
            faces.copied().collect::<Vec<Vec3>>()
        });
        let sum = |faces: &[Vec3]| faces.iter().sum::<Vec3>();
        let way = (sum(&one) - sum(&other)).normalize_or_zero();
        // A third of half of each product.
        let area = |faces: &[Vec3], out: Vec3| faces.iter().map(|face| (face.dot(out) / 6.0).max(0.0)).sum::<Real>();
        Seam { way, area: area(&one, way).max(area(&other, -way)) }
    }

    /// Ties that part at the end of this step.
    pub(super) fn find_untied(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Vec<Tie> {
        let excess = |tie: &Tie| self.excess(bodies, materials, particles, tie).unwrap_or(0.0);
        self.ties.iter().filter(|tie| excess(tie) > 1.0).copied().collect()
    }

    /// How hard a tie is pulled, as a part of what the weaker side bears; nothing if neither breaks.
    ///
    /// The first node gets `C = (m_a/M) (F_a + F_b) - F_a` from the second so that both move alike. Over the area of the seam that is a traction; as
    /// for nodes, the largest tension counts, which is `n/2 + sqrt(n^2/4 + s^2)` for the part `n` along the normal and `s` across. So pressure
    /// parts nothing, and shear counts.
    fn excess(&self, bodies: &[Body], materials: &[Material], particles: &Particles, tie: &Tie) -> Option<Real> {
        let sides = tie.nodes.map(|node| self.strength_at(bodies, materials, particles, node));
        if sides == [None, None] {
            return None;
        }
        let held = self.held_by(particles, tie)?;
        let seam = self.seam(bodies, particles, tie);
        let along = held.dot(seam.way);
        let across = (held - along * seam.way).length();
        let tension = 0.5 * along + (0.25 * along * along + across * across).sqrt();
        let part = |side: Strength| match side {
            Strength::Force(force) => held.length() / force.max(Real::MIN_POSITIVE),
            Strength::Stress(stress) if seam.area > 0.0 => tension / (seam.area * stress).max(Real::MIN_POSITIVE),
            // What shows nothing of itself is not known to be pulled.
            Strength::Stress(_) => 0.0,
        };
        Some(sides.into_iter().flatten().map(part).fold(0.0, Real::max))
    }

    /// What the first node of a tie gets from the second so that both move alike, N; nothing if both are held. One that is held takes what comes.
    fn held_by(&self, particles: &Particles, tie: &Tie) -> Option<Vec3> {
        let net = &self.derived.as_ref()?.net;
        let nodes = tie.nodes.map(|node| node as usize);
        let [one, other] = nodes.map(|node| net.pull_on_particle(node));
        let [m, n] = nodes.map(|node| particles.mass[node]);
        match nodes.map(|node| particles.is_held(node)) {
            [false, false] => Some((one + other) * (m / (m + n)) - one),
            [false, true] => Some(-one),
            [true, false] => Some(other),
            [true, true] => None,
        }
    }

    /// What a node bears; nothing if its matter does not break.
    fn strength_at(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        node: u32,
    ) -> Option<Strength> {
        let id = particles.body[node as usize];
        if let Some(force) = self.tetras(id).and_then(|tetras| tetras.settings.strength_force) {
            return Some(Strength::Force(force));
        }
        let material = &materials[bodies[id.0 as usize].material.0 as usize];
        let temperature = material.heat.temperature(particles.enthalpy[node as usize]);
        Some(Strength::Stress(material.strength.as_ref()?.at(temperature)))
    }

    /// Whether any node waits to be apart from what it was tied to.
    pub(crate) fn is_loosening(&self) -> bool {
        !self.loose.is_empty()
    }

    /// Lets nodes that have parted be tied again once none of these presses is theirs: they have been apart since. (Just after they have parted they
    /// are at one place, and which of them is inside of the other is a matter of rounding.)
    pub(crate) fn forget_loose(&mut self, presses: &[Press]) {
        let pressed: BTreeSet<u32> =
            presses.iter().flat_map(|press| [Some(press.node), press.partner]).flatten().collect();
        self.loose.retain(|node| pressed.contains(node));
    }

    /// Lets go of ties that are pulled too hard.
    pub(crate) fn part_ties(&mut self, particles: &Particles) {
        let Some(derived) = &mut self.derived else { return };
        for tie in std::mem::take(&mut derived.untied) {
            self.ties.retain(|other| *other != tie);
            self.loose.extend(tie.nodes);
            self.count(particles, tie, |tetras| &mut tetras.broken);
        }
        self.loose.sort_unstable();
        self.loose.dedup();
    }

    /// Ways for heat through ties.
    pub(crate) fn tie_links(&self, world: &World) -> Vec<Link> {
        let link = |tie: &Tie| {
            let tight = |node: u32| {
                let body = &world.bodies[world.particles.body[node as usize].0 as usize];
                body.spacing / world.materials[body.material.0 as usize].heat.mean_conductivity()
            };
            let area = self.seam(&world.bodies, &world.particles, tie).area;
            let [one, other] = tie.nodes.map(tight);
            Link { particles: tie.nodes, conductance: area / (THIN * (one + other)) }
        };
        self.ties.iter().map(link).filter(|link| link.conductance > 0.0).collect()
    }
}

/// What matter bears.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Strength {
    /// Whichever way it goes, N.
    Force(Real),
    /// Of tension, Pa.
    Stress(Real),
}
