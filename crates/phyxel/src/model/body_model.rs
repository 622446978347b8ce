//! The interface of models: what each stage of the step asks of them.

use super::{BodyState, View, ViewMut};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::commands::Setting;
use crate::contact::{ContactContext, MeshContacts};
use crate::frame::FrameSkin;
use crate::heat::{ConductionBlock, Link};
use crate::step::StepContext;
use crate::store::{Particle, Rearrangement};
use crate::world::World;
use glam::Vec3;
use std::ops::Range;

/// Rearrangement of the particle store, with the bodies it affects.
pub(crate) struct Moved<'a> {
    /// Map between old and new indices.
    pub order: &'a Rearrangement,
    /// Particle ranges of all bodies before it.
    pub old_ranges: &'a [Range<u32>],
    /// All bodies after it.
    pub bodies: &'a [Body],
    /// Inserted particles, in the order of the store.
    pub inserted: &'a [Particle],
}

/// Plane of a cut in the rest frame of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CutPlane {
    pub point: Vec3,
    pub normal: Vec3,
}

impl CutPlane {
    /// Returns true if a rest position is on the side of the normal.
    pub fn is_above(&self, rest: Vec3) -> bool {
        (rest - self.point).dot(self.normal) > 0.0
    }
}

/// Impulses of contacts that are part of implicit solutions of a step, friction included.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactReactions {
    /// Impulse on the vertex of each vertex-face contact, kg m/s; shorter where the last have none.
    pub contacts: Vec<Option<Vec3>>,
    /// Impulses of obstacles on particles, kg m/s; ascending.
    pub obstacles: Vec<(usize, Vec3)>,
}

impl ContactReactions {
    /// Adds the impulses of another model; the contacts of both differ.
    pub fn append(&mut self, mut other: Self) {
        self.contacts.resize(self.contacts.len().max(other.contacts.len()), None);
        self.contacts.iter_mut().zip(other.contacts).for_each(|(mine, theirs)| *mine = theirs.or(*mine));
        self.obstacles.append(&mut other.obstacles);
        self.obstacles.sort_unstable_by_key(|(particle, _)| *particle);
    }

    /// Impulse on the vertex of a vertex-face contact.
    pub fn at_contact(&self, contact: usize) -> Option<Vec3> {
        *self.contacts.get(contact)?
    }

    /// Impulse of obstacles on a particle.
    pub fn at_obstacle(&self, particle: usize) -> Option<Vec3> {
        let index = self.obstacles.binary_search_by_key(&particle, |(particle, _)| *particle).ok()?;
        Some(self.obstacles[index].1)
    }
}

/// Internal dynamics of all bodies of one model.
///
/// The methods with defaults are stages of the step, or commands, that a model may have no part in. A model keeps
/// data derived from the description; [`prepare`](Self::prepare) builds what is missing of it.
pub(crate) trait BodyModel {
    /// Removes a body.
    fn remove_body(&mut self, id: BodyId);

    /// Follows a rearrangement of the particle store.
    fn rearrange(&mut self, moved: &Moved);

    /// Drops data derived from materials, settings and flags.
    fn invalidate(&mut self);

    /// Builds derived data that are missing.
    fn prepare(&mut self, view: &View);

    /// Conduction graphs of its bodies, with exposed faces; none before it is prepared. A changed graph is a new
    /// `Arc`.
    fn conduction(&self) -> Vec<ConductionBlock>;

    /// Summary of each of its bodies. Writes the strain of each of its particles.
    fn body_states(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)>;

    /// Longest stable step, s.
    fn stable_step(&self) -> f64 {
        f64::INFINITY
    }

    /// Finds neighbours within its bodies.
    fn find_neighbours(&mut self, _view: &View) {}

    /// Finds contacts of boundary meshes. Only bodies with [`ContactGeometry::Mesh`](super::ContactGeometry) have
    /// any.
    fn find_mesh_contacts(&mut self, _world: &World, _dt: Real) -> MeshContacts {
        MeshContacts::default()
    }

    /// Adds its internal forces to those of the step.
    fn exert_forces(&mut self, _view: &mut ViewMut, _context: &StepContext) {}

    /// Integrates the velocities of its particles over the step, from the `previous` ones, forces, gravity and its
    /// own dynamics. Returns the contact impulses of implicit solutions.
    fn advance_velocities(
        &mut self,
        view: &mut ViewMut,
        previous: &[Vec3],
        contacts: &ContactContext,
        context: &StepContext,
    ) -> ContactReactions;

    /// Updates its state after contacts have changed velocities.
    fn update_after_contacts(&mut self, _view: &mut ViewMut) {}

    /// Updates a conduction graph that changes from step to step.
    fn update_conduction(&mut self, _view: &View) {}

    /// Thermal links between its bodies that are not contacts.
    fn thermal_links(&self, _world: &World) -> Vec<Link> {
        Vec::new()
    }

    /// Area of the boundary mesh at a particle, projected along a direction, m2; `None` if it has no mesh.
    fn projected_area(&self, _view: &View, _particle: usize, _direction: Vec3) -> Option<Real> {
        None
    }

    /// Updates temperature-dependent properties.
    fn update_thermal_state(&mut self, _view: &View) {}

    /// Plastic flow and phase changes, with the heat they dissipate.
    fn change_phase(&mut self, _view: &mut ViewMut, _context: &StepContext) {}

    /// Changes the topology of its bodies: fracture, welding, melting. The model is detached from the world and
    /// follows rearrangements by [`World::rearrange_with`].
    fn change_topology(&mut self, _world: &mut World) {}

    /// Cuts a body along a plane in its rest frame. The model is detached from the world.
    fn cut(&mut self, _id: BodyId, _plane: CutPlane, _world: &mut World) {}

    /// Changes a setting of a body. Returns false if it has no such setting.
    fn set(&mut self, _id: BodyId, _setting: &Setting) -> bool {
        false
    }

    /// Skins of its bodies that carry one, given temperatures and strains of all particles. Skins without these
    /// attributes receive them by interpolation. Models whose neighbours change have none: their skins are
    /// reconstructed from particles.
    fn skins(&self, _view: &View, _values: [&[Real]; 2]) -> Vec<(BodyId, FrameSkin)> {
        Vec::new()
    }
}
