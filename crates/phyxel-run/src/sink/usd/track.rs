//! What is remembered of the frames that were written: which prims there are, when they are there, and where their
//! values stand. A line of text per frame beside the scene keeps the same for a run that goes on later.

use super::value::Rep;
use crate::sink::look::Look;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// What a prim belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Place {
    Body,
    Obstacle,
}

/// What kind of prim shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Form {
    Mesh,
    Points,
    Cube,
    Sphere,
    Capsule,
    Cylinder,
    Cone,
}

/// A property of a prim that frames give values to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Property {
    Extent,
    FaceVertexCounts,
    FaceVertexIndices,
    Points,
    Normals,
    /// At the corners of triangles, where edges are sharp.
    CornerNormals,
    Velocities,
    Widths,
    Color,
    Temperature,
    Strain,
    Size,
    Radius,
    Height,
    Transform,
}

/// A prim, as its first frame made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NewPrim {
    pub place: Place,
    pub name: String,
    pub form: Form,
    pub look: Look,
    /// Whether it is seen from both sides.
    pub double_sided: bool,
}

/// What one frame added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FrameEntry {
    pub frame: u32,
    /// Bytes of the scene up to its last value.
    pub end: u64,
    /// Prims that were not there in any frame before; numbers go on.
    pub prims: Vec<NewPrim>,
    /// Prims that came, by number.
    pub came: Vec<u32>,
    /// Prims that went, by number.
    pub went: Vec<u32>,
    /// Values that differ from those before, with a hash of their content.
    pub values: Vec<(u32, Property, Rep, u64)>,
}

/// A prim over all frames.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub prim: NewPrim,
    /// Frames, counted from the first of the file, at which it came and went, in turn.
    changes: Vec<u32>,
    /// From which frame on which value holds.
    pub values: BTreeMap<Property, Vec<(u32, Rep)>>,
    latest: BTreeMap<Property, (Rep, u64)>,
}

impl Track {
    /// Whether it is there at a frame, counted from the first of the file.
    pub fn is_there(&self, at: u32) -> bool {
        self.changes.partition_point(|&change| change <= at) % 2 == 1
    }

    /// Whether it came with the first frame and never went.
    pub fn is_always_there(&self) -> bool {
        self.changes == [0]
    }

    /// Frames at which it comes or goes.
    pub fn changes(&self) -> &[u32] {
        &self.changes
    }

    /// The latest value of a property and its hash.
    pub fn latest(&self, property: Property) -> Option<(Rep, u64)> {
        self.latest.get(&property).copied()
    }
}

/// All prims over all frames.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracks {
    /// Numbers of the frames.
    pub frames: Vec<u32>,
    pub tracks: Vec<Track>,
    by_name: HashMap<(Place, Form, String), u32>,
}

impl Tracks {
    /// Number of a prim, if a frame before had it.
    pub fn find(&self, place: Place, form: Form, name: &str) -> Option<u32> {
        self.by_name.get(&(place, form, name.to_string())).copied()
    }

    /// Adds a frame.
    pub fn add(&mut self, entry: &FrameEntry) {
        let at = self.frames.len() as u32;
        self.frames.push(entry.frame);
        for prim in &entry.prims {
            self.by_name.insert((prim.place, prim.form, prim.name.clone()), self.tracks.len() as u32);
            let (values, latest) = Default::default();
            self.tracks.push(Track { prim: prim.clone(), changes: Vec::new(), values, latest });
        }
        for &number in entry.came.iter().chain(&entry.went) {
            self.tracks[number as usize].changes.push(at);
        }
        for &(number, property, rep, hash) in &entry.values {
            let track = &mut self.tracks[number as usize];
            track.values.entry(property).or_default().push((at, rep));
            track.latest.insert(property, (rep, hash));
        }
    }

    /// Whether an entry can follow: a later frame, and no number of a prim that is not there.
    pub fn can_add(&self, entry: &FrameEntry) -> bool {
        let count = (self.tracks.len() + entry.prims.len()) as u32;
        let mut numbers = entry.came.iter().chain(&entry.went).chain(entry.values.iter().map(|value| &value.0));
        self.frames.last().is_none_or(|&last| last < entry.frame) && numbers.all(|&number| number < count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel::material::Finish;

    fn entry(frame: u32) -> FrameEntry {
        FrameEntry { frame, ..FrameEntry::default() }
    }

    #[test]
    fn a_track_knows_when_it_is_there() {
        let prim = NewPrim {
            place: Place::Body,
            name: "drop".into(),
            form: Form::Points,
            look: Look::new("water", [0.1; 3], Finish::Clear),
            double_sided: false,
        };
        let mut tracks = Tracks::default();
        tracks.add(&entry(5));
        tracks.add(&FrameEntry { prims: vec![prim], came: vec![0], ..entry(6) });
        tracks.add(&entry(7));
        tracks.add(&FrameEntry { went: vec![0], ..entry(8) });
        assert_eq!([0, 1, 2, 3].map(|at| tracks.tracks[0].is_there(at)), [false, true, true, false]);
        assert_eq!(tracks.find(Place::Body, Form::Points, "drop"), Some(0));
        assert_eq!(tracks.find(Place::Body, Form::Mesh, "drop"), None);
    }

    #[test]
    fn an_entry_that_cannot_follow_is_told() {
        let mut tracks = Tracks::default();
        tracks.add(&entry(5));
        assert!(tracks.can_add(&entry(6)) && !tracks.can_add(&entry(5)));
        assert!(!tracks.can_add(&FrameEntry { came: vec![0], ..entry(6) }));
    }
}
