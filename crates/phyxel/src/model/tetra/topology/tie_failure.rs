//! Failure of ties by the traction between the bodies, and heat conduction through ties.

use super::ties::Tie;
use crate::Real;
use crate::body::Body;
use crate::contact::VertexFaceContact;
use crate::heat::Link;
use crate::model::View;
use crate::model::tetra::TetraModel;
use crate::store::Particles;
use crate::world::World;
use glam::Vec3;
use std::collections::BTreeSet;

/// Thermal resistance of a tie, as a fraction of that of the material within a spacing of it. Tied nodes
/// are at one position, so the exact resistance is zero; the error of two slabs of `n` cells each is this
/// over `n`. Less would only worsen the conditioning.
const TIE_RESISTANCE: Real = 0.01;

/// Faces are opposite if the cosine of the angle between their normals is below this: within 60 degrees.
const MAX_FACING_COSINE: Real = -0.5;

/// Joint of two bodies at a tie.
struct Joint {
    /// Normal, out of the first body into the second.
    normal: Vec3,
    /// Larger of the two nodal areas that face each other, m2. Where meshes do not match, not all nodes
    /// of the finer side are tied, and the area per tie is about that of the coarser side.
    area: Real,
}

impl TetraModel {
    /// Finds the joint at a tie, from the faces of each node that are opposite to one of the other. Nodes
    /// at the rim have other faces, too.
    fn joint(&self, bodies: &[Body], particles: &Particles, tie: &Tie) -> Joint {
        let sides = tie
            .nodes
            .map(|node| self.face_cross_products_at(bodies, node as usize, &particles.position).collect::<Vec<Vec3>>());
        let is_opposite =
            |face: &Vec3, other: &Vec3| face.dot(*other) < MAX_FACING_COSINE * face.length() * other.length();
        let [one, other] = [0, 1].map(|k| {
            let faces = sides[k].iter().filter(|face| sides[1 - k].iter().any(|other| is_opposite(face, other)));
            faces.copied().collect::<Vec<Vec3>>()
        });
        let sum = |faces: &[Vec3]| faces.iter().sum::<Vec3>();
        let normal = (sum(&one) - sum(&other)).normalize_or_zero();
        // A third of each face, whose area is half of the cross product.
        let area = |faces: &[Vec3], direction: Vec3| {
            faces.iter().map(|face| (face.dot(direction) / 6.0).max(0.0)).sum::<Real>()
        };
        Joint { normal, area: area(&one, normal).max(area(&other, -normal)) }
    }

    /// Finds the ties that fail at the end of this step.
    pub(in crate::model::tetra) fn find_failed_ties(&self, view: &View) -> Vec<Tie> {
        let load_ratio = |tie: &Tie| self.load_ratio(view, tie).unwrap_or(0.0);
        self.ties.iter().filter(|tie| load_ratio(tie) > 1.0).copied().collect()
    }

    /// Load of a tie over the strength of the weaker side; `None` if neither has a strength.
    ///
    /// The constraint force `C = (m_a/M) (F_a + F_b) - F_a` acts on the first node. Over the area of the
    /// joint it is a traction with normal component `n` and shear `s`. As at nodes, the largest principal
    /// stress counts: `n/2 + sqrt(n^2/4 + s^2)`. So shear loads the tie, and pressure does not.
    fn load_ratio(&self, view: &View, tie: &Tie) -> Option<Real> {
        let strengths = tie.nodes.map(|node| self.strength_at(view, node));
        if strengths == [None, None] {
            return None;
        }
        let force = self.tie_force(view.particles, tie)?;
        let joint = self.joint(view.bodies, view.particles, tie);
        let normal = force.dot(joint.normal);
        let shear = (force - normal * joint.normal).length();
        let principal = 0.5 * normal + (0.25 * normal * normal + shear * shear).sqrt();
        let ratio = |strength: Strength| match strength {
            Strength::Force(limit) => force.length() / limit.max(Real::MIN_POSITIVE),
            Strength::Stress(limit) if joint.area > 0.0 => principal / (joint.area * limit).max(Real::MIN_POSITIVE),
            // Without a facing area there is no traction.
            Strength::Stress(_) => 0.0,
        };
        Some(strengths.into_iter().flatten().map(ratio).fold(0.0, Real::max))
    }

    /// Constraint force on the first node of a tie, N; `None` if both are fixed. A fixed node bears the
    /// whole force of the other.
    fn tie_force(&self, particles: &Particles, tie: &Tie) -> Option<Vec3> {
        let arrays = &self.cache.as_ref()?.arrays;
        let nodes = tie.nodes.map(|node| node as usize);
        let [one, other] = nodes.map(|node| arrays.particle_force(node));
        let [m, n] = nodes.map(|node| particles.mass[node]);
        match nodes.map(|node| particles.is_fixed(node)) {
            [false, false] => Some((one + other) * (m / (m + n)) - one),
            [false, true] => Some(-one),
            [true, false] => Some(other),
            [true, true] => None,
        }
    }

    /// Strength at a node; `None` if its material has none.
    fn strength_at(&self, view: &View, node: u32) -> Option<Strength> {
        let id = view.particles.body[node as usize];
        if let Some(force) = self.tet_body(id).and_then(|tet_body| tet_body.settings.strength_force) {
            return Some(Strength::Force(force));
        }
        let material = view.material(id);
        let temperature = material.heat.temperature(view.particles.enthalpy[node as usize]);
        Some(Strength::Stress(material.strength.as_ref()?.at(temperature)))
    }

    /// Returns true if any node of a failed tie has not been out of contact since.
    pub(crate) fn has_released_nodes(&self) -> bool {
        !self.released.is_empty()
    }

    /// Allows released nodes to be tied again once they are out of contact. (Right after failure both
    /// nodes are at one position, and rounding decides which one penetrates.)
    pub(crate) fn forget_separated_nodes(&mut self, contacts: &[VertexFaceContact]) {
        let in_contact: BTreeSet<u32> =
            contacts.iter().flat_map(|contact| [Some(contact.vertex), contact.partner]).flatten().collect();
        self.released.retain(|node| in_contact.contains(node));
    }

    /// Removes the failed ties.
    pub(crate) fn remove_failed_ties(&mut self, particles: &Particles) {
        let Some(cache) = &mut self.cache else { return };
        for tie in std::mem::take(&mut cache.failed_ties) {
            self.ties.retain(|other| *other != tie);
            self.released.extend(tie.nodes);
            self.count_tie(particles, tie, |tet_body| &mut tet_body.broken);
        }
        self.released.sort_unstable();
        self.released.dedup();
    }

    /// Thermal links through ties.
    pub(crate) fn tie_links(&self, world: &World) -> Vec<Link> {
        let link = |tie: &Tie| {
            let resistance = |node: u32| {
                let body = &world.bodies[world.particles.body[node as usize].0 as usize];
                body.spacing / world.materials[body.material.0 as usize].heat.mean_conductivity()
            };
            let area = self.joint(&world.bodies, &world.particles, tie).area;
            let [one, other] = tie.nodes.map(resistance);
            Link { nodes: tie.nodes, conductance: area / (TIE_RESISTANCE * (one + other)) }
        };
        self.ties.iter().map(link).filter(|link| link.conductance > 0.0).collect()
    }
}

/// Strength of a side of a tie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Strength {
    /// Force of any direction, N.
    Force(Real),
    /// Largest principal stress, Pa.
    Stress(Real),
}
