//! Insertion and removal of particles in the columns of the model.

use super::{CrystalModel, Docking, StoredFrame};
use crate::model::BodyModel;
use crate::model::Moved;
use crate::store::Rearrangement;
use glam::Quat;
use phyxel_laws::lattice::{Docks, LatticeFrame};

impl CrystalModel {
    /// Rearranges all columns. Added particles are fluid.
    pub(super) fn rearrange_columns(&mut self, moved: &Moved) {
        let mut sources = Vec::with_capacity(self.pressures.len() + moved.inserted.len());
        let (mut objects, mut first) = (Vec::new(), 0);
        for own in &mut self.bodies {
            let (old, range) = (&moved.old_ranges[own.id.0 as usize], moved.bodies[own.id.0 as usize].range());
            let in_model = |source: u32| first + source - old.start;
            sources.extend(range.clone().map(|new| moved.order.source(new).map(in_model)));
            let added = range.clone().filter(|&new| moved.order.source(new).is_none()).count();
            objects.resize(objects.len() + added, own.object);
            first += own.count as u32;
            own.count = range.len();
        }
        let order = Rearrangement::from_sources(self.pressures.len(), sources);
        let frame: StoredFrame = LatticeFrame::rotated(Quat::IDENTITY).into();
        order.apply(&mut self.pressures, std::iter::repeat(0.0));
        order.apply(&mut self.lattice_frames, std::iter::repeat(frame));
        order.apply(&mut self.objects, objects);
        order.apply(&mut self.solid_fractions, std::iter::repeat(0.0));
        // Docks have no effect before freezing, which resets them.
        order.apply(&mut self.docks, std::iter::repeat(Docks::all_vacant(&Docking::default().into()).into()));
        let speeds = moved.inserted.iter().map(|particle| particle.velocity.length());
        self.max_speed = speeds.fold(self.max_speed, f32::max);
        self.invalidate();
    }
}
