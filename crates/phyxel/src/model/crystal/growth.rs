//! Columns of the model when particles come and go.

use super::{CrystalModel, Docking, Lie};
use crate::body::BodyId;
use crate::model::Moved;
use crate::particles::{Phase, Rearrangement};
use glam::Quat;
use phyxel_laws::crystal::{Docks, Pose};

impl CrystalModel {
    /// Whether a body is a fluid that may grow.
    pub(crate) fn is_fluid(&self, id: BodyId) -> bool {
        self.bodies.iter().any(|own| own.id == id && own.settings.phase == Phase::Fluid)
    }

    /// Lets all columns follow. What joins is fluid, and moves as fast as it is given.
    pub(crate) fn rearrange(&mut self, moved: &Moved) {
        let mut sources = Vec::with_capacity(self.pressures.len() + moved.newborn.len());
        let (mut objects, mut first) = (Vec::new(), 0);
        for own in &mut self.bodies {
            let (was, run) = (&moved.was[own.id.0 as usize], moved.bodies[own.id.0 as usize].range());
            let number = |old: u32| first + old - was.start;
            sources.extend(run.clone().map(|new| moved.order.source(new).map(number)));
            let joined = run.clone().filter(|&new| moved.order.source(new).is_none()).count();
            objects.resize(objects.len() + joined, own.object);
            first += own.count as u32;
            own.count = run.len();
        }
        let order = Rearrangement::from_sources(self.pressures.len(), sources);
        let lie: Lie = Pose::turned(Quat::IDENTITY).into();
        order.apply(&mut self.pressures, std::iter::repeat(0.0));
        order.apply(&mut self.poses, std::iter::repeat(lie));
        order.apply(&mut self.objects, objects);
        order.apply(&mut self.shares, std::iter::repeat(0.0));
        // Docks count once it freezes, and are made then.
        order.apply(&mut self.docks, std::iter::repeat(Docks::frozen(&Docking::default().into()).into()));
        let speeds = moved.newborn.iter().map(|particle| particle.velocity.length());
        self.fastest = speeds.fold(self.fastest, f32::max);
        self.refresh();
    }
}
