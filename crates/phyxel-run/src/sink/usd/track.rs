//! Tracks of prims over the written frames: visibility and value representations. The index file stores the same for a
//! resumed run.

use super::crate_file::ValueRep;
use crate::sink::appearance::Appearance;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Owner of a prim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum PrimOwner {
    Body,
    Obstacle,
}

/// Type of a prim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum PrimType {
    Mesh,
    Points,
    Cube,
    Sphere,
    Capsule,
    Cylinder,
    Cone,
}

/// Animated property of a prim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Property {
    Extent,
    FaceVertexCounts,
    FaceVertexIndices,
    Points,
    Normals,
    /// Normals at the corners of triangles, for sharp edges.
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

/// Prim, as created by its first frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NewPrim {
    pub owner: PrimOwner,
    pub name: String,
    pub prim_type: PrimType,
    pub appearance: Appearance,
    /// True if visible from both sides.
    pub double_sided: bool,
}

/// Additions of one frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FrameEntry {
    pub frame: u32,
    /// Length of the scene up to its last value, bytes.
    pub end: u64,
    /// Prims that no earlier frame had; indices continue.
    pub prims: Vec<NewPrim>,
    /// Indices of prims that appeared.
    pub appeared: Vec<u32>,
    /// Indices of prims that disappeared.
    pub disappeared: Vec<u32>,
    /// Values that differ from the previous ones, with a hash of their content.
    pub values: Vec<(u32, Property, ValueRep, u64)>,
}

/// Prim over all frames.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub prim: NewPrim,
    /// Frames (by index in the file) at which it appeared and disappeared, alternately.
    visibility_changes: Vec<u32>,
    /// Values, with the frame from which they apply.
    pub values: BTreeMap<Property, Vec<(u32, ValueRep)>>,
    latest: BTreeMap<Property, (ValueRep, u64)>,
}

impl Track {
    /// Returns true if it is present in a frame, by index in the file.
    pub fn is_present(&self, index: u32) -> bool {
        self.visibility_changes.partition_point(|&change| change <= index) % 2 == 1
    }

    /// Returns true if it is present in all frames.
    pub fn is_always_present(&self) -> bool {
        self.visibility_changes == [0]
    }

    /// Frames at which it appears or disappears.
    pub fn visibility_changes(&self) -> &[u32] {
        &self.visibility_changes
    }

    /// Latest value of a property and its hash.
    pub fn latest(&self, property: Property) -> Option<(ValueRep, u64)> {
        self.latest.get(&property).copied()
    }
}

/// Tracks of all prims.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracks {
    /// Numbers of the frames.
    pub frames: Vec<u32>,
    pub tracks: Vec<Track>,
    by_name: HashMap<(PrimOwner, PrimType, String), u32>,
}

impl Tracks {
    /// Index of a prim, if an earlier frame had it.
    pub fn find(&self, owner: PrimOwner, prim_type: PrimType, name: &str) -> Option<u32> {
        self.by_name.get(&(owner, prim_type, name.to_string())).copied()
    }

    /// Adds a frame.
    pub fn add(&mut self, entry: &FrameEntry) {
        let frame = self.frames.len() as u32;
        self.frames.push(entry.frame);
        for prim in &entry.prims {
            self.by_name.insert((prim.owner, prim.prim_type, prim.name.clone()), self.tracks.len() as u32);
            let (values, latest) = Default::default();
            self.tracks.push(Track { prim: prim.clone(), visibility_changes: Vec::new(), values, latest });
        }
        for &index in entry.appeared.iter().chain(&entry.disappeared) {
            self.tracks[index as usize].visibility_changes.push(frame);
        }
        for &(index, property, rep, hash) in &entry.values {
            let track = &mut self.tracks[index as usize];
            track.values.entry(property).or_default().push((frame, rep));
            track.latest.insert(property, (rep, hash));
        }
    }

    /// Returns true if an entry is valid: a later frame, and no unknown prims.
    pub fn can_follow(&self, entry: &FrameEntry) -> bool {
        let count = (self.tracks.len() + entry.prims.len()) as u32;
        let mut indices =
            entry.appeared.iter().chain(&entry.disappeared).chain(entry.values.iter().map(|value| &value.0));
        self.frames.last().is_none_or(|&last| last < entry.frame) && indices.all(|&index| index < count)
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
    fn a_track_has_the_visibility_of_its_prim() {
        let prim = NewPrim {
            owner: PrimOwner::Body,
            name: "drop".into(),
            prim_type: PrimType::Points,
            appearance: Appearance::new("water", [0.1; 3], Finish::Clear),
            double_sided: false,
        };
        let mut tracks = Tracks::default();
        tracks.add(&entry(5));
        tracks.add(&FrameEntry { prims: vec![prim], appeared: vec![0], ..entry(6) });
        tracks.add(&entry(7));
        tracks.add(&FrameEntry { disappeared: vec![0], ..entry(8) });
        assert_eq!([0, 1, 2, 3].map(|index| tracks.tracks[0].is_present(index)), [false, true, true, false]);
        assert_eq!(tracks.find(PrimOwner::Body, PrimType::Points, "drop"), Some(0));
        assert_eq!(tracks.find(PrimOwner::Body, PrimType::Mesh, "drop"), None);
    }

    #[test]
    fn an_invalid_entry_is_detected() {
        let mut tracks = Tracks::default();
        tracks.add(&entry(5));
        assert!(tracks.can_follow(&entry(6)) && !tracks.can_follow(&entry(5)));
        assert!(!tracks.can_follow(&FrameEntry { appeared: vec![0], ..entry(6) }));
    }
}
