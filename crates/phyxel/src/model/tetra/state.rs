//! What the model tells of its bodies.

use super::body::Tetras;
use super::net::GRAIN;
use super::{Derived, TetraModel};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::command::Setting;
use crate::frame::FrameSkin;
use crate::material::Material;
use crate::model::BodyState;
use crate::parallel;
use crate::particles::Particles;
use crate::skin::Skin;
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::plasticity::symmetric_norms;
use phyxel_laws::tetra::{Note, Packs, energy, exert};
use std::borrow::Cow;
use std::slice::{from_mut, from_ref};

impl TetraModel {
    /// Number of elements of all bodies.
    pub fn elements(&self) -> usize {
        self.bodies.iter().map(|tetras| tetras.elements.len()).sum()
    }

    pub(crate) fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
        let Some(tetras) = self.bodies.iter_mut().find(|tetras| tetras.id == id) else { return false };
        match *setting {
            Setting::Deviatoric(on) => tetras.settings.deviatoric = on,
            Setting::Integration(way) => tetras.settings.integration = way,
            _ => return false,
        }
        true
    }

    fn derived_now(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Cow<'_, Derived> {
        match &self.derived {
            Some(derived) => Cow::Borrowed(derived),
            None => Cow::Owned(self.derive(bodies, materials, particles)),
        }
    }

    pub(crate) fn states(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        strains: &mut [Real],
    ) -> Vec<(BodyId, BodyState)> {
        let derived = self.derived_now(bodies, materials, particles);
        let points = derived.net.points_at(&particles.position);
        let numbered = self.bodies.iter().enumerate();
        numbered.map(|(k, tetras)| (tetras.id, derived.state(k, tetras, (particles, &points), strains))).collect()
    }

    pub(crate) fn skins(
        &self,
        bodies: &[Body],
        particles: &Particles,
        values: [&[Real]; 2],
    ) -> Vec<(BodyId, FrameSkin)> {
        let show = |tetras: &Tetras| {
            let body = &bodies[tetras.id.0 as usize];
            let is_carried = matches!(body.skin, Skin::Mesh(_) | Skin::Faces | Skin::Smooth(_));
            let skin = is_carried.then(|| tetras.show(&body.skin, body.range(), particles, values))?;
            Some((tetras.id, skin?))
        };
        self.bodies.iter().filter_map(show).collect()
    }
}

impl Derived {
    /// State of a body; writes the strain of each of its particles.
    fn state(
        &self,
        number: usize,
        tetras: &Tetras,
        (particles, points): (&Particles, &[[f32; 4]]),
        strains: &mut [Real],
    ) -> BodyState {
        let (net, part) = (&self.net, &self.parts[number]);
        let found = parallel::map(tetras.rest.len(), GRAIN, |pack| {
            let group = net.group(number, tetras, &part.states, pack);
            let (mut turn, mut note, mut energies) = (tetras.turns[pack], Note::default(), [0.0; WIDTH]);
            let mut forces = [[[0.0; 4]; WIDTH]; 4];
            let (groups, turns) = (from_ref(&group), from_mut(&mut turn));
            let packs = Packs { groups, turns, forces: from_mut(&mut forces), notes: from_mut(&mut note) };
            exert(net.level, packs, &part.matter, points, None);
            energy(net.level, &group, &part.matter, points, &turn, &mut energies);
            let mut strain = [0.0; WIDTH];
            symmetric_norms(net.level, &note.elastic, &mut strain);
            let stored: f64 = energies.iter().map(|energy| f64::from(*energy)).sum();
            (strain, stored)
        });
        let run = net.runs[number].particles.clone();
        strains[run.clone()].fill(0.0);
        let mut most: Real = 0.0;
        for (i, element) in tetras.elements.iter().enumerate() {
            let strain = found[i / WIDTH].0[i % WIDTH];
            most = most.max(strain);
            for &node in element {
                strains[node as usize] = strains[node as usize].max(strain);
            }
        }
        let (pieces, largest) = tetras.count_pieces(run);
        BodyState {
            elastic: found.iter().map(|(_, energy)| energy).sum(),
            strain_max: f64::from(most),
            broken: tetras.broken,
            merged: tetras.merged,
            pieces,
            solver_rounds: (tetras.solves > 0).then(|| tetras.rounds as f64 / tetras.solves as f64),
            tetrahedra: Some(tetras.report(&particles.position, largest)),
            ..BodyState::default()
        }
    }
}
