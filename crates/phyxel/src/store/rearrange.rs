//! Permutation of the particle store with removals and insertions.

use crate::model::{BodyModel, Moved};
use crate::store::Particle;
use crate::world::World;
use std::ops::Range;

/// Insertion of particles into the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// Old index of the particle that follows them, or the old length.
    pub before: usize,
    /// Number of inserted particles.
    pub count: usize,
}

/// Map between old and new indices: `sources[new] = old`, and `None` for an inserted particle; `targets[old]
/// = new`, and `None` for a removed one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rearrangement {
    sources: Vec<Option<u32>>,
    targets: Vec<Option<u32>>,
}

impl Rearrangement {
    /// Keeps the particles for which `keep` is true, in their order, and adds insertions, sorted by index.
    pub fn new(count: usize, keep: impl Fn(usize) -> bool, insertions: &[Insertion]) -> Self {
        let mut sources = Vec::with_capacity(count);
        let mut from = 0;
        for insertion in insertions {
            sources.extend((from..insertion.before).filter(|&i| keep(i)).map(|i| Some(i as u32)));
            sources.resize(sources.len() + insertion.count, None);
            from = insertion.before;
        }
        sources.extend((from..count).filter(|&i| keep(i)).map(|i| Some(i as u32)));
        Self::from_sources(count, sources)
    }

    /// From the old index of each new particle, of `count` old ones; `None` is inserted.
    pub fn from_sources(count: usize, sources: Vec<Option<u32>>) -> Self {
        let mut targets = vec![None; count];
        for (new, old) in sources.iter().enumerate() {
            if let Some(old) = old {
                targets[*old as usize] = Some(new as u32);
            }
        }
        Self { sources, targets }
    }

    /// Number of particles afterwards.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Returns true if no particles remain.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// New index of a particle; `None` if it is removed.
    pub fn target(&self, old: u32) -> Option<u32> {
        self.targets[old as usize]
    }

    /// Old index of a particle; `None` if it is inserted.
    pub fn source(&self, new: usize) -> Option<u32> {
        self.sources[new]
    }

    /// Permutes a column. `inserted` has one value for each inserted particle.
    pub fn apply<T: Copy>(&self, column: &mut Vec<T>, inserted: impl IntoIterator<Item = T>) {
        let mut inserted = inserted.into_iter();
        let moved = self.sources.iter().filter_map(|old| match old {
            Some(old) => Some(column[*old as usize]),
            None => inserted.next(),
        });
        *column = moved.collect();
    }
}

impl World {
    /// Removes the particles for which `keep` is false and appends `inserted`, sorted by body, to their
    /// bodies. Updates all particle indices in the world.
    pub(crate) fn rearrange(&mut self, keep: impl Fn(usize) -> bool, inserted: &[Particle]) {
        self.rearrange_models(None, keep, inserted);
    }

    /// [`rearrange`](Self::rearrange) with a model that is detached from the world.
    pub(crate) fn rearrange_with(
        &mut self,
        detached: &mut dyn BodyModel,
        keep: impl Fn(usize) -> bool,
        inserted: &[Particle],
    ) {
        self.rearrange_models(Some(detached), keep, inserted);
    }

    fn rearrange_models(
        &mut self,
        detached: Option<&mut (dyn BodyModel + '_)>,
        keep: impl Fn(usize) -> bool,
        inserted: &[Particle],
    ) {
        let old_ranges: Vec<Range<u32>> = self.bodies.iter().map(|body| body.particles.clone()).collect();
        let insertions: Vec<Insertion> = inserted
            .chunk_by(|a, b| a.body == b.body)
            .map(|group| Insertion { before: old_ranges[group[0].body.0 as usize].end as usize, count: group.len() })
            .collect();
        let order = Rearrangement::new(self.particles.len(), &keep, &insertions);
        self.particles.rearrange(&order, inserted);
        let mut counts = vec![0u32; self.bodies.len()];
        self.particles.body.iter().for_each(|body| counts[body.0 as usize] += 1);
        let mut first = 0;
        for (body, count) in self.bodies.iter_mut().zip(counts) {
            body.particles = first..first + count;
            first += count;
        }
        let moved = Moved { order: &order, old_ranges: &old_ranges, bodies: &self.bodies, inserted };
        self.models.each_mut().for_each(|model| model.rearrange(&moved));
        if let Some(model) = detached {
            model.rearrange(&moved);
        }
        let (bodies, particles) = (&self.bodies, &self.particles);
        self.drags.retain(|drag| {
            let body = bodies.iter().find(|body| !body.removed && body.name == drag.body);
            body.is_some_and(|body| particles.find(body.range(), drag.particle).is_some())
        });
        self.scratch.vertex_face_contacts.retain_mut(|contact| contact.rearrange(&order));
        self.scratch.bounds_are_current = false;
    }
}
