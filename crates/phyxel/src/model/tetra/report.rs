//! Reports, skins and settings of tetrahedral bodies.

use super::assembly::GRAIN;
use super::body::TetBody;
use super::{TetraCache, TetraModel};
use crate::Real;
use crate::body::BodyId;
use crate::commands::Setting;
use crate::frame::FrameSkin;
use crate::model::BodyState;
use crate::model::View;
use crate::parallel;
use crate::skin::Skin;
use crate::store::Particles;
use phyxel_laws::fem::{ForceBatch, ResponsePack, elastic_energy, internal_forces};
use phyxel_laws::material::plasticity::spectral_norms_symmetric;
use phyxel_laws::simd::WIDTH;
use std::borrow::Cow;
use std::slice::{from_mut, from_ref};

impl TetraModel {
    /// Number of elements of all bodies.
    pub fn elements(&self) -> usize {
        self.bodies.iter().map(|tet_body| tet_body.elements.len()).sum()
    }

    pub(super) fn change_setting(&mut self, id: BodyId, setting: &Setting) -> bool {
        let Some(tet_body) = self.bodies.iter_mut().find(|tet_body| tet_body.id == id) else { return false };
        match *setting {
            Setting::Deviatoric(is_deviatoric) => tet_body.settings.deviatoric = is_deviatoric,
            Setting::Integration(scheme) => tet_body.settings.integration = scheme,
            _ => return false,
        }
        true
    }

    /// Derived data, made now if the model has none.
    fn current_cache(&self, view: &View) -> Cow<'_, TetraCache> {
        match &self.cache {
            Some(cache) => Cow::Borrowed(cache),
            None => Cow::Owned(self.make_cache(view)),
        }
    }

    pub(super) fn summarise(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)> {
        let cache = self.current_cache(view);
        let positions = cache.arrays.padded_positions(&view.particles.position);
        let indexed = self.bodies.iter().enumerate();
        indexed
            .map(|(k, tet_body)| (tet_body.id, cache.body_state(k, tet_body, (view.particles, &positions), strains)))
            .collect()
    }

    pub(super) fn boundary_skins(&self, view: &View, values: [&[Real]; 2]) -> Vec<(BodyId, FrameSkin)> {
        let skin_of = |tet_body: &TetBody| {
            let body = view.body(tet_body.id);
            let is_carried = matches!(body.skin, Skin::Mesh(_) | Skin::Faces | Skin::Smooth(_));
            let skin = is_carried.then(|| tet_body.frame_skin(&body.skin, body.range(), view.particles, values))?;
            Some((tet_body.id, skin?))
        };
        self.bodies.iter().filter_map(skin_of).collect()
    }
}

impl TetraCache {
    /// State of a body. Writes the strain of each of its particles, the largest of the elements around it.
    fn body_state(
        &self,
        k: usize,
        tet_body: &TetBody,
        (particles, positions): (&Particles, &[[f32; 4]]),
        strains: &mut [Real],
    ) -> BodyState {
        let (arrays, body_cache) = (&self.arrays, &self.bodies[k]);
        let results = parallel::map(tet_body.rest.len(), GRAIN, |pack| {
            let view = arrays.pack_view(k, tet_body, &body_cache.states, pack);
            let (mut rotation, mut response, mut energies) =
                (tet_body.rotations[pack], ResponsePack::default(), [0.0; WIDTH]);
            let mut forces = [[[0.0; 4]; WIDTH]; 4];
            let (views, rotations) = (from_ref(&view), from_mut(&mut rotation));
            let packs = ForceBatch {
                packs: views,
                rotations,
                forces: from_mut(&mut forces),
                responses: from_mut(&mut response),
            };
            internal_forces(arrays.level, packs, &body_cache.law, positions, None);
            elastic_energy(arrays.level, &view, &body_cache.law, positions, &rotation, &mut energies);
            let mut strain = [0.0; WIDTH];
            spectral_norms_symmetric(arrays.level, &response.elastic_strain, &mut strain);
            let elastic_energy: f64 = energies.iter().map(|energy| f64::from(*energy)).sum();
            (strain, elastic_energy)
        });
        let range = arrays.ranges[k].particles.clone();
        strains[range.clone()].fill(0.0);
        let mut max_strain: Real = 0.0;
        for (i, element) in tet_body.elements.iter().enumerate() {
            let strain = results[i / WIDTH].0[i % WIDTH];
            max_strain = max_strain.max(strain);
            for &node in element {
                strains[node as usize] = strains[node as usize].max(strain);
            }
        }
        let (components, largest_fraction) = tet_body.count_components(range);
        BodyState {
            elastic_energy: results.iter().map(|(_, energy)| energy).sum(),
            strain_max: f64::from(max_strain),
            broken: tet_body.broken,
            merged: tet_body.merged,
            pieces: components,
            solver_iterations: (tet_body.implicit_steps > 0)
                .then(|| tet_body.solver_iterations as f64 / tet_body.implicit_steps as f64),
            tetrahedra: Some(tet_body.report(&particles.position, largest_fraction)),
            ..BodyState::default()
        }
    }
}
