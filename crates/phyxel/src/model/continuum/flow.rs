//! Flow: the reference shape follows the present one, and pressure keeps the density.

use super::{AGAIN, ContinuumModel, Derived, GRAIN, Phyxels};
use crate::Real;
use crate::body::Body;
use crate::grid::Neighbourhood;
use crate::material::Material;
use crate::parallel;
use crate::particles::{Particles, Phase};
use glam::{Mat3, Quat, Vec3};
use phyxel_laws::elastic::VOIGT;
use phyxel_laws::kernel::{bell, spike_slope};
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::rotation::nearest_rotation;

/// The reference shape is left behind when a phyxel has gone this part of its support from it.
const BEHIND: Real = 0.15;
/// A deformation that leaves less of the volume than this has lost its meaning; its stress is dropped.
const CRUSHED: Real = 0.2;

/// How a body that flows keeps its density.
#[derive(Clone, Debug)]
pub(super) struct Pressure {
    /// How far phyxels press on each other, m.
    reach: Real,
    /// Density over that which the kernel finds inside the body at rest.
    scale: Real,
    /// kg/m3.
    density: Real,
    /// Pa.
    bulk: Real,
    /// Square of the fastest swing it makes, 1/s2.
    pub swing: f64,
}

impl Pressure {
    /// Of a body with this shape at rest. At its surface the kernel misses what is outside; three quarters of the phyxels
    /// have less than what counts as its density, in a small body, so that none of it is pressed at rest.
    pub fn new(rest: &[Vec3], supports: &[Real], masses: &[Real], material: &Material) -> Self {
        let reach = supports.iter().sum::<Real>() / supports.len().max(1) as Real;
        let mut found = densities(&Neighbourhood::new(rest, reach), rest, masses, reach);
        found.sort_unstable_by(Real::total_cmp);
        let inside = found.get(found.len() * 3 / 4).copied().unwrap_or(material.density);
        let bulk = material.melt_modulus(material.poisson_ratio);
        let speed = f64::from(bulk / material.density).sqrt();
        // Two phyxels beside each other swing against each other as the shortest wave, four to a reach.
        let swing = (4.0 * speed / f64::from(reach)).powi(2);
        Self { reach, scale: material.density / inside, density: material.density, bulk, swing }
    }
}

/// Densities that the kernel finds, kg/m3.
fn densities(near: &Neighbourhood, points: &[Vec3], masses: &[Real], reach: Real) -> Vec<Real> {
    parallel::map(points.len(), GRAIN, |i| {
        let mut sum = 0.0;
        near.visit(points[i], |j, square| sum += masses[j as usize] * bell(square, reach));
        sum
    })
}

impl Derived {
    /// Adds the forces of pressure: `-m_i m_j (p_i/rho_i^2 + p_j/rho_j^2) grad W`. Nothing pulls: a free surface is one.
    pub(super) fn press(&self, particles: &mut Particles) {
        let Some(pressure) = &self.pressure else { return };
        let points = &particles.position[self.range.clone()];
        let masses = &particles.mass[self.range.clone()];
        let near = Neighbourhood::new(points, pressure.reach);
        let density = densities(&near, points, masses, pressure.reach);
        let push = |i: usize| {
            let found = density[i] * pressure.scale;
            let excess = (found / pressure.density - 1.0).max(0.0);
            pressure.bulk * excess / (found * found)
        };
        let pushes = parallel::map(points.len(), GRAIN, push);
        let forces = parallel::map(points.len(), GRAIN, |i| {
            let mut sum = Vec3::ZERO;
            near.visit(points[i], |j, square| {
                let j = j as usize;
                let strength = pushes[i] + pushes[j];
                if j != i && strength > 0.0 && square > 0.0 {
                    let distance = square.sqrt();
                    let slope = spike_slope(distance, pressure.reach);
                    sum -= (points[i] - points[j]) * (masses[i] * masses[j] * strength * slope / distance);
                }
            });
            sum
        });
        particles.force[self.range.clone()].iter_mut().zip(forces).for_each(|(sum, force)| *sum += force);
    }
}

impl Phyxels {
    /// Whether its reference shape may ever follow.
    pub(super) fn may_flow(&self, material: &Material) -> bool {
        self.settings.flowing || material.heat.melting.is_some()
    }

    /// Whether its reference shape follows at present.
    pub(super) fn is_flowing(&self, material: &Material, enthalpy: &[f64]) -> bool {
        let melts = material.heat.melting.is_some();
        self.settings.flowing || (melts && enthalpy.iter().any(|&enthalpy| material.heat.molten(enthalpy) > 0.0))
    }

    /// Notes which phyxels are molten. Those that freeze are free of stress as they are; whether there are such.
    fn change_states(&mut self, derived: &mut Derived, material: &Material, particles: &mut Particles) -> bool {
        if material.heat.melting.is_none() {
            return false;
        }
        let range = derived.range.clone();
        let mut frozen = Vec::new();
        for i in range.clone() {
            let molten = material.heat.molten(particles.enthalpy[i]) >= 1.0;
            if !molten && particles.phase[i] == Phase::Fluid {
                frozen.push(i - range.start);
            }
            particles.phase[i] = if molten { Phase::Fluid } else { Phase::Solid };
        }
        if frozen.is_empty() {
            return false;
        }
        derived.field.place(&particles.position[range.clone()]);
        let shapes = derived.field.deformations();
        if self.plastic.len() != range.len() {
            self.plastic = vec![[0.0; 6]; range.len()];
        }
        for i in frozen {
            let state = &mut derived.field.states[i / WIDTH];
            let swelling = state.swelling[i % WIDTH];
            let free = elastic_strain(shapes[i], [0.0; 6], swelling);
            self.plastic[i] = free;
            (0..6).for_each(|k| state.plastic[k][i % WIDTH] = free[k]);
        }
        true
    }

    /// Whether a phyxel has gone far from the reference shape.
    fn is_behind(&self, rest: &[Vec3], positions: &[Vec3]) -> bool {
        let reference = self.reference.as_deref().unwrap_or(rest);
        // Falling as a whole changes nothing.
        let count = positions.len().max(1) as Real;
        let drift = reference.iter().zip(positions).map(|(a, b)| *b - *a).sum::<Vec3>() / count;
        let gone = |i: usize| (positions[i] - reference[i] - drift).length() > BEHIND * self.supports[i];
        (0..positions.len()).any(gone)
    }

    /// Makes the present shape the reference shape, and keeps the elastic strain, turned with the body: with the turn `R`
    /// nearest to `J`, `Ep = -R (E - Ep) R^T`.
    ///
    /// (Carried over as `J^-T (E - Ep) J^-1` it would grow by being squeezed: work that nobody has done.)
    fn follow(&mut self, derived: &mut Derived, body: &Body, material: &Material, particles: &Particles) {
        let range = derived.range.clone();
        let positions = &particles.position[range.clone()];
        derived.field.place(positions);
        let shapes = derived.field.deformations();
        let states = &derived.field.states;
        let kept = parallel::map(range.len(), GRAIN, |i| {
            let plastic = self.plastic.get(i).copied().unwrap_or_default();
            let swelling = states.get(i / WIDTH).map_or(0.0, |state| state.swelling[i % WIDTH]);
            let stiffness = states.get(i / WIDTH).map_or(1.0, |state| state.stiffness[i % WIDTH]);
            let volume = shapes[i].determinant();
            let is_whole = volume.is_finite() && volume > CRUSHED;
            if stiffness <= 0.0 || !is_whole {
                return [-swelling, -swelling, -swelling, 0.0, 0.0, 0.0];
            }
            let turn = Mat3::from_quat(nearest_rotation(shapes[i].as_dmat3(), Quat::IDENTITY));
            let elastic = full(elastic_strain(shapes[i], plastic, swelling));
            let turned = turn * elastic * turn.transpose();
            std::array::from_fn(|k| {
                let (r, c) = VOIGT[k];
                -turned.col(c)[r] - if k < 3 { swelling } else { 0.0 }
            })
        });
        if let Some(binding) = &derived.binding {
            self.skin = Some(binding.carry(positions, &particles.velocity[range.clone()], &shapes));
        }
        self.plastic = kept;
        self.reference = Some(positions.to_vec());
        self.stretch = 1.0;
        self.pace = None;
        *derived = self.derive(body, material, particles, AGAIN);
        self.pace = Some(derived.pace);
    }
}

/// `(J^T J - I)/2` less plastic strain and swelling.
pub(super) fn elastic_strain(j: Mat3, plastic: [Real; 6], swelling: Real) -> [Real; 6] {
    let square = j.transpose() * j;
    std::array::from_fn(|k| {
        let (r, c) = VOIGT[k];
        let one = if k < 3 { 1.0 } else { 0.0 };
        0.5 * (square.col(c)[r] - one) - plastic[k] - swelling * one
    })
}

fn full([xx, yy, zz, yz, xz, xy]: [Real; 6]) -> Mat3 {
    Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
}

impl ContinuumModel {
    /// Melting and freezing, and the reference shapes of what flows.
    pub(crate) fn change_phase(&mut self, bodies: &[Body], materials: &[Material], particles: &mut Particles) {
        let Some(derived) = &mut self.derived else { return };
        let mut followed = false;
        for (phyxels, derived) in self.bodies.iter_mut().zip(derived) {
            let body = &bodies[phyxels.id.0 as usize];
            let material = &materials[body.material.0 as usize];
            let froze = phyxels.change_states(derived, material, particles);
            let range = derived.range.clone();
            let flows = phyxels.is_flowing(material, &particles.enthalpy[range.clone()]);
            let is_behind = || phyxels.is_behind(&particles.rest[range.clone()], &particles.position[range.clone()]);
            // What has frozen is stiff again: how fast the body moves inside has to be found anew.
            if froze || (flows && is_behind()) {
                phyxels.follow(derived, body, material, particles);
                followed = true;
            }
        }
        if followed {
            self.ways = Some(std::sync::Arc::new(self.find_all_ways(bodies, materials, particles)));
        }
    }
}
