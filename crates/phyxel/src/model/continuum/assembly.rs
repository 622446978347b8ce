//! Assembly: deformation, stress and internal forces of all phyxels of a body.

use super::cloud::Cloud;
use crate::Real;
use crate::parallel;
use glam::{Mat3, Vec3};
use phyxel_laws::meshless::{
    DeformationGradient, Payload, PhyxelMaterial, PhyxelState, compute_deformation, compute_payloads, gather_forces,
    linearise_stress,
};
use phyxel_laws::simd::{F32x8, SimdLevel, WIDTH};
use std::ops::Range;

/// Packs of eight phyxels per task.
pub(super) const GRAIN: usize = 64;
/// Phyxels that the first pass advances at a time.
const WAVEFRONT: usize = 1 << 13;

/// Discretised body: cloud, material, states, and the workspace of a step.
#[derive(Clone, Debug)]
pub(super) struct PhyxelArrays {
    pub cloud: Cloud,
    pub material: PhyxelMaterial,
    /// States by pack; empty where all phyxels have the constants of the body.
    pub states: Vec<PhyxelState>,
    pub level: SimdLevel,
    /// True if elastic strains are recorded.
    pub records_strain: bool,
    /// Elastic strain by pack.
    pub elastic_strain: Vec<[F32x8; 6]>,
    /// Positions, m.
    pub points: Vec<[f32; 4]>,
    /// Velocities, m/s.
    pub velocities: Vec<[f32; 4]>,
    pub payloads: Vec<Payload>,
    /// Dissipated power by pack, W.
    dissipated: Vec<F32x8>,
}

impl PhyxelArrays {
    pub fn new(cloud: Cloud, material: PhyxelMaterial) -> Self {
        let padded = cloud.padded();
        Self {
            material,
            states: Vec::new(),
            level: SimdLevel::detect(),
            records_strain: false,
            elastic_strain: Vec::new(),
            points: vec![[0.0; 4]; padded],
            velocities: Vec::new(),
            payloads: vec![Payload::default(); padded],
            dissipated: vec![[0.0; WIDTH]; cloud.references.len()],
            cloud,
        }
    }

    /// Returns true if there are damping forces.
    pub fn is_damped(&self) -> bool {
        self.material.damping > 0.0 || self.states.iter().any(|state| state.viscosity.iter().any(|&v| v > 0.0))
    }

    /// Loads the positions (m).
    pub fn load_positions(&mut self, positions: &[Vec3]) {
        pack_vectors(&mut self.points, positions, 1.0);
    }

    /// Adds the internal forces (N), with damping if there are velocities. Returns the square root of the
    /// largest stiffness over that at rest.
    ///
    /// The second pass over the neighbours follows the first at the distance of the bandwidth, while its
    /// data are in the cache.
    pub fn internal_forces(&mut self, velocities: Option<&[Vec3]>, forces: &mut [Vec3]) -> Real {
        if let Some(velocities) = velocities {
            self.velocities.resize(self.cloud.padded(), [0.0; 4]);
            pack_vectors(&mut self.velocities, velocities, 1.0);
        }
        if self.records_strain {
            self.elastic_strain.resize(self.cloud.references.len(), [[0.0; WIDTH]; 6]);
        }
        let (count, lag) = (self.cloud.padded(), self.cloud.bandwidth.next_multiple_of(WIDTH));
        let (mut stressed, mut gathered, mut stiffness_ratio) = (0, 0, 0.0);
        while gathered < count {
            let next = count.min(stressed + WAVEFRONT);
            stiffness_ratio = Real::max(stiffness_ratio, self.compute_payloads(stressed..next));
            stressed = next;
            let next = if stressed == count { count } else { stressed.saturating_sub(lag).max(gathered) };
            self.gather_forces(gathered..next, velocities.is_some(), false, forces);
            gathered = next;
        }
        stiffness_ratio.max(1.0).sqrt()
    }

    /// First pass: writes the payloads of a range. Returns the largest stiffness over that at rest.
    fn compute_payloads(&mut self, range: Range<usize>) -> Real {
        let (cloud, states, material, points) = (&self.cloud, &self.states, &self.material, &self.points);
        let level = self.level;
        let payloads = self.payloads[range.clone()].chunks_mut(GRAIN * WIDTH);
        let mut records: Vec<&mut [[F32x8; 6]]> = if self.records_strain {
            self.elastic_strain[range.start / WIDTH..].chunks_mut(GRAIN).collect()
        } else {
            Vec::new()
        };
        let mut strains = records.drain(..);
        let tasks = (range.start..)
            .step_by(GRAIN * WIDTH)
            .zip(payloads)
            .map(|(first, payloads)| (first, payloads, strains.next()));
        let maxima = parallel::map_items(tasks.collect(), |(first, payloads, mut records)| {
            let mut max = [0.0f32; WIDTH];
            for (k, payloads) in payloads.chunks_mut(WIDTH).enumerate() {
                let pack = first / WIDTH + k;
                let (mut elastic, mut stiffness_ratio) = ([[0.0; WIDTH]; 6], [0.0; WIDTH]);
                let group = cloud.group(pack, states);
                compute_payloads(level, &group, material, points, payloads, &mut elastic, &mut stiffness_ratio);
                (0..WIDTH).for_each(|lane| max[lane] = max[lane].max(stiffness_ratio[lane]));
                if let Some(records) = &mut records {
                    records[k] = elastic;
                }
            }
            max.into_iter().fold(0.0, Real::max)
        });
        maxima.into_iter().fold(0.0, Real::max)
    }

    /// Second pass: adds the forces on a range of phyxels. `linearised` if the payloads are those of
    /// increments.
    pub fn gather_forces(&mut self, range: Range<usize>, damped: bool, linearised: bool, forces: &mut [Vec3]) {
        let (cloud, payloads, level) = (&self.cloud, &self.payloads, self.level);
        let (points, velocities) = (&self.points, &self.velocities);
        let end = range.end.min(forces.len());
        let forces = forces[range.start..end].chunks_mut(GRAIN * WIDTH);
        let dissipated = self.dissipated[range.start / WIDTH..].chunks_mut(GRAIN);
        let tasks: Vec<_> = (range.start / WIDTH..).step_by(GRAIN).zip(forces.zip(dissipated)).collect();
        parallel::for_each_item(tasks, |(first, (forces, dissipated))| {
            for (k, (forces, dissipated)) in forces.chunks_mut(WIDTH).zip(dissipated).enumerate() {
                let pack = first + k;
                let (group, mut force) = (cloud.group(pack, &[]), [[0.0; 4]; WIDTH]);
                match (damped, linearised) {
                    (false, _) => {
                        gather_forces::<false, false>(level, &group, payloads, &[], &[], &mut force, dissipated)
                    }
                    (true, false) => {
                        gather_forces::<true, false>(level, &group, payloads, velocities, &[], &mut force, dissipated)
                    }
                    (true, true) => {
                        gather_forces::<true, true>(level, &group, payloads, velocities, points, &mut force, dissipated)
                    }
                }
                for (sum, force) in forces.iter_mut().zip(force) {
                    *sum += Vec3::new(force[0], force[1], force[2]);
                }
            }
        });
    }

    /// Deformation gradient of each phyxel at the loaded positions.
    pub fn deformation_gradients(&self) -> Vec<Mat3> {
        self.gradients_of(&self.points)
    }

    /// Deformation gradient of each phyxel at these positions.
    pub fn deformation_gradients_at(&self, positions: &[Vec3]) -> Vec<Mat3> {
        let mut points = vec![[0.0; 4]; self.cloud.padded()];
        pack_vectors(&mut points, positions, 1.0);
        self.gradients_of(&points)
    }

    fn gradients_of(&self, points: &[[f32; 4]]) -> Vec<Mat3> {
        let gradients = parallel::map_ranges(self.cloud.references.len(), GRAIN, |packs| {
            let mut gradients = Vec::new();
            for pack in packs {
                let mut j: DeformationGradient = [[[0.0; WIDTH]; 3]; 3];
                compute_deformation(self.level, &self.cloud.group(pack, &[]), points, &mut j);
                let column = |c: usize, lane: usize| Vec3::new(j[0][c][lane], j[1][c][lane], j[2][c][lane]);
                let lanes = 0..self.cloud.members(pack).len();
                gradients.extend(lanes.map(|lane| Mat3::from_cols(column(0, lane), column(1, lane), column(2, lane))));
            }
            gradients
        });
        gradients.concat()
    }

    /// Power dissipated in each phyxel, W.
    pub fn dissipation(&self) -> impl Iterator<Item = Real> + '_ {
        self.dissipated.iter().flatten().copied().take(self.cloud.len())
    }

    /// Writes the payloads of the linearised forces, about deformations and stresses by pack.
    pub fn linearise_payloads<'a>(
        &mut self,
        state: &(dyn Fn(usize) -> (&'a DeformationGradient, &'a [F32x8; 6]) + Sync),
        increments: &[[f32; 4]],
    ) {
        let (cloud, states, material, level) = (&self.cloud, &self.states, &self.material, self.level);
        parallel::for_each_chunk(&mut self.payloads, GRAIN * WIDTH, |first, payloads| {
            for (k, payloads) in payloads.chunks_mut(WIDTH).enumerate() {
                let pack = first / WIDTH + k;
                let (gradient, stress) = state(pack);
                linearise_stress(level, &cloud.group(pack, states), material, gradient, stress, increments, payloads);
            }
        });
    }

    /// Computes the power dissipated at these velocities (m/s); the payloads must be those of a step.
    pub fn compute_dissipation(&mut self, velocities: &[Vec3]) {
        self.velocities.resize(self.cloud.padded(), [0.0; 4]);
        pack_vectors(&mut self.velocities, velocities, 1.0);
        let mut forces = vec![Vec3::ZERO; velocities.len()];
        self.gather_forces(0..self.cloud.padded(), true, true, &mut forces);
    }
}

/// Writes vectors times a factor as rows of four; the last one pads.
pub(super) fn pack_vectors(rows: &mut [[f32; 4]], vectors: &[Vec3], factor: Real) {
    let last = vectors.last().copied().unwrap_or_default();
    parallel::for_each_chunk(rows, GRAIN * WIDTH, |first, rows| {
        for (k, row) in rows.iter_mut().enumerate() {
            let Vec3 { x, y, z } = vectors.get(first + k).copied().unwrap_or(last) * factor;
            *row = [x, y, z, 0.0];
        }
    });
}
