//! Heat conduction between particles of crystals and fluids, and the faces that they expose.

use super::fluid::{VolumeFractions, compute_fractions};
use super::{CrystalModel, Derived, GRAIN};
use crate::Real;
use crate::heat::{ConductionBlock, ConductionGraph, Face, Link};
use crate::model::View;
use crate::parallel;
use crate::store::Particles;
use glam::Vec3;
use std::sync::Arc;

/// Particles are exposed where the volume fraction changes by this much per spacing, or more: inside,
/// disorder makes 0.1.
const SURFACE_GRADIENT: Real = 0.25;

impl CrystalModel {
    /// Updates the conduction graph of present neighbours and the exposed faces.
    ///
    /// Conductances are `2 k V_i V_j |grad W|/r` over the moment of the kernel, which is the SPH form of
    /// `div(k grad T)` (`[Bro85]`), and over the mean volume fraction, as there are fewer links at surfaces.
    pub(super) fn update_conduction_graph(&mut self, view: &View) {
        let Some(derived) = self.derived.as_deref_mut() else { return };
        let conductivities: Vec<Real> =
            self.bodies.iter().map(|own| view.material(own.id).heat.mean_conductivity()).collect();
        let order = &derived.table.order;
        let points: Vec<[Real; 4]> = parallel::map(order.len(), GRAIN, |s| {
            let k = order[s] as usize;
            let volume = derived.constants[derived.body_of[k] as usize].volume;
            view.particles.position[derived.indices[k] as usize].extend(volume).to_array()
        });
        let VolumeFractions { fractions, .. } = compute_fractions(derived, &points);
        let links = conduction_links(derived, view.particles, &fractions, &conductivities);
        let faces = exposed_faces(derived, &fractions, &conductivities);
        derived.conduction = derived.block(links, faces);
    }
}

impl Derived {
    /// Conduction graph of all bodies, from links and faces by particle of the world.
    fn block(&self, mut links: Vec<Link>, mut faces: Vec<Face>) -> Option<ConductionBlock> {
        let first = self.constants.iter().map(|body| body.range.start).min()?;
        let count = self.constants.iter().map(|body| body.range.end).max()? - first;
        links.iter_mut().for_each(|link| link.nodes = link.nodes.map(|node| node - first as u32));
        faces.iter_mut().for_each(|face| face.particle -= first as u32);
        Some(ConductionBlock { first, graph: Arc::new(ConductionGraph { count, links, faces }) })
    }
}

fn conduction_links(
    derived: &Derived,
    particles: &Particles,
    fractions: &[[Real; 4]],
    conductivities: &[Real],
) -> Vec<Link> {
    let (table, order) = (&derived.table, &derived.table.order);
    let links = parallel::map_ranges(order.len(), GRAIN, |range| {
        let mut links = Vec::new();
        for s in range {
            let k = order[s] as usize;
            let (i, body_i) = (derived.indices[k], derived.body_of[k] as usize);
            for &t in table.neighbours(s).iter().flatten().filter(|&&t| t as usize > s) {
                let k = order[t as usize] as usize;
                let (j, body_j) = (derived.indices[k], derived.body_of[k] as usize);
                let (a, b) = (conductivities[body_i], conductivities[body_j]);
                let harmonic_mean = if a + b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 };
                let distance = particles.position[i as usize].distance(particles.position[j as usize]);
                let volumes = derived.constants[body_i].volume * derived.constants[body_j].volume;
                let norm = 0.5 * (fractions[s][3] + fractions[t as usize][3]) * derived.kernel.moment();
                let conductance = -2.0 * harmonic_mean * volumes * derived.kernel.slope(distance) / norm;
                if conductance > 0.0 {
                    links.push(Link { nodes: [i, j], conductance });
                }
            }
        }
        links
    });
    links.concat()
}

/// Faces that particles expose, with outward normals and the area `2 V |grad C|` over the moment of the kernel.
///
/// Particles are on one side of a surface only, where `C` falls by half: the areas add up to that of the
/// surface. `C` excludes walls here, so that particles along them count as exposed.
fn exposed_faces(derived: &Derived, fractions: &[[Real; 4]], conductivities: &[Real]) -> Vec<Face> {
    let order = &derived.table.order;
    let faces = parallel::map_ranges(order.len(), GRAIN, |range| {
        let mut faces = Vec::new();
        for s in range {
            let k = order[s] as usize;
            let body = derived.body_of[k] as usize;
            let gradient = Vec3::new(fractions[s][0], fractions[s][1], fractions[s][2]);
            let (steepness, spacing) = (gradient.length(), derived.constants[body].solid.spacing);
            if steepness * spacing > SURFACE_GRADIENT {
                let resistance = 0.5 * spacing / conductivities[body].max(Real::MIN_POSITIVE);
                let area = 2.0 * derived.constants[body].volume * steepness / derived.kernel.moment();
                faces.push(Face { particle: derived.indices[k], normal: -gradient / steepness, area, resistance });
            }
        }
        faces
    });
    faces.concat()
}
