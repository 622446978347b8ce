//! The scene as prims: what is written after the last frame.

use super::layer::{Layer, Prim, UNIFORM};
use super::materials::write_looks;
use super::names::Names;
use super::tables::{PathId, SpecKind, Tables};
use super::track::{Form, Place, Property, Track, Tracks};
use super::value::{Kind, Rep, Value, ValueFile};
use crate::error::FileError;
use crate::sink::look::Look;
use crate::sink::sequence::ExportContext;

/// Appends everything that is known only after the last frame, and closes the file.
pub(super) fn write_stage(file: &mut ValueFile, tracks: &Tracks, context: &ExportContext) -> Result<(), FileError> {
    let mut stage = Stage { layer: Layer { file, tables: Tables::new() }, tracks, looks: Vec::new(), times: None };
    stage.write(context)?;
    stage.layer.tables.write(stage.layer.file)
}

/// A scene under construction.
struct Stage<'a> {
    layer: Layer<'a>,
    tracks: &'a Tracks,
    looks: Vec<(&'a Look, PathId)>,
    /// The latest list of times and where it stands; most are the same.
    times: Option<(Vec<u32>, Rep)>,
}

impl Stage<'_> {
    fn write(&mut self, context: &ExportContext) -> Result<(), FileError> {
        let mut root = self.layer.root();
        let mut world = self.layer.prim(&mut root, "World", "Xform");
        self.write_looks(&mut world)?;
        self.write_bodies(&mut world)?;
        self.write_obstacles(&mut world)?;
        self.layer.close(world, SpecKind::Prim)?;
        self.write_metadata(&mut root, context)?;
        self.layer.close(root, SpecKind::Root)
    }

    fn write_metadata(&mut self, root: &mut Prim, context: &ExportContext) -> Result<(), FileError> {
        let frames = &self.tracks.frames;
        let numbers = [
            ("metersPerUnit", 1.0),
            ("timeCodesPerSecond", context.frame_rate),
            ("framesPerSecond", context.frame_rate),
            ("startTimeCode", frames.first().copied().map_or(0.0, f64::from)),
            ("endTimeCode", frames.last().copied().map_or(0.0, f64::from)),
        ];
        for (name, value) in numbers {
            let (value, _) = self.layer.file.put(&Value::Double(value), None)?;
            self.layer.set(root, name, value);
        }
        for (name, word) in [("upAxis", "Y"), ("defaultPrim", "World")] {
            let value = self.layer.tables.token(word);
            self.layer.set(root, name, value);
        }
        let title = self.layer.tables.text(&context.title);
        self.layer.set(root, "documentation", title);
        Ok(())
    }

    /// Writes every look once.
    fn write_looks(&mut self, world: &mut Prim) -> Result<(), FileError> {
        let mut looks: Vec<&Look> = Vec::new();
        for track in &self.tracks.tracks {
            if !looks.contains(&&track.prim.look) {
                looks.push(&track.prim.look);
            }
        }
        let paths = write_looks(&mut self.layer, world, &looks)?;
        self.looks = looks.into_iter().zip(paths).collect();
        Ok(())
    }

    fn write_bodies(&mut self, world: &mut Prim) -> Result<(), FileError> {
        let mut names = Names::new(&["Looks", "Obstacles"]);
        let tracks = self.tracks;
        for track in tracks.tracks.iter().filter(|track| track.prim.place == Place::Body) {
            let name = names.unique(&track.prim.name);
            let mut body = self.layer.prim(world, &name, "Xform");
            // Some programs keep only the last name of a path, so that it has to tell which body it is.
            let has_normals =
                [Property::Normals, Property::CornerNormals].iter().any(|normals| track.values.contains_key(normals));
            let shown = if has_normals { "skin" } else { "particles" };
            self.write_track(&mut body, &format!("{name}_{shown}"), track)?;
            self.layer.close(body, SpecKind::Prim)?;
        }
        Ok(())
    }

    fn write_obstacles(&mut self, world: &mut Prim) -> Result<(), FileError> {
        let tracks = self.tracks;
        let mut obstacles = tracks.tracks.iter().filter(|track| track.prim.place == Place::Obstacle).peekable();
        if obstacles.peek().is_none() {
            return Ok(());
        }
        let mut group = self.layer.prim(world, "Obstacles", "Xform");
        let mut names = Names::new(&[]);
        for track in obstacles {
            self.write_track(&mut group, &names.unique(&track.prim.name), track)?;
        }
        self.layer.close(group, SpecKind::Prim)
    }

    /// Writes a body's or an obstacle's prim with all its values.
    fn write_track(&mut self, parent: &mut Prim, name: &str, track: &Track) -> Result<(), FileError> {
        let mut prim = self.layer.prim(parent, name, track.prim.form.kind());
        self.layer.apply_schema(&mut prim, "MaterialBindingAPI")?;
        self.write_constants(&mut prim, track)?;
        for (&property, changes) in &track.values {
            self.write_values(&mut prim, track, property, changes)?;
        }
        self.write_visibility(&mut prim, track)?;
        if let Some((_, path)) = self.looks.iter().find(|(look, _)| *look == &track.prim.look) {
            self.layer.relationship(&mut prim, "material:binding", *path)?;
        }
        self.layer.close(prim, SpecKind::Prim)
    }

    fn write_constants(&mut self, prim: &mut Prim, track: &Track) -> Result<(), FileError> {
        match track.prim.form {
            Form::Mesh => {
                self.layer.uniform_token(prim, "subdivisionScheme", "none");
                self.layer.uniform_token(prim, "orientation", "rightHanded");
            }
            Form::Capsule | Form::Cylinder | Form::Cone => self.layer.uniform_token(prim, "axis", "Y"),
            Form::Points | Form::Cube | Form::Sphere => {}
        }
        if track.prim.double_sided {
            self.layer.attribute(prim, "doubleSided", "bool", &[UNIFORM, ("default", Rep::here(Kind::Bool, 1))]);
        }
        if track.values.contains_key(&Property::Transform) {
            let order = [self.layer.tables.word(Property::Transform.describe().name)];
            let (order, _) = self.layer.file.put(&Value::Tokens(&order), None)?;
            self.layer.attribute(prim, "xformOpOrder", "token[]", &[UNIFORM, ("default", order)]);
        }
        Ok(())
    }

    /// Writes one value if it never changes, else one for each frame in which the prim is there.
    ///
    /// Where it has gone, its points are gone too: some programs do not look at visibility.
    fn write_values(
        &mut self,
        prim: &mut Prim,
        track: &Track,
        property: Property,
        changes: &[(u32, Rep)],
    ) -> Result<(), FileError> {
        let known = property.describe();
        let mut fields = Vec::new();
        if let Some(word) = known.interpolation {
            fields.push(("interpolation", self.layer.tables.token(word)));
        }
        let nothing = known.nothing.filter(|_| !track.is_always_there());
        match changes {
            [] => return Ok(()),
            [(_, only)] if nothing.is_none() => fields.push(("default", *only)),
            _ => {
                let holding = |at: u32| changes[changes.partition_point(|change| change.0 <= at).saturating_sub(1)].1;
                let frames = 0..self.tracks.frames.len() as u32;
                let (at, values): (Vec<u32>, Vec<Rep>) = frames
                    .filter_map(|at| match nothing {
                        _ if track.is_there(at) => Some((at, holding(at))),
                        Some(kind) if at == 0 || track.is_there(at - 1) => Some((at, Rep::array(kind, 0))),
                        _ => None,
                    })
                    .unzip();
                let times = self.times(&at)?;
                fields.push(("timeSamples", self.layer.samples(times, &values)?));
            }
        }
        self.layer.attribute(prim, known.name, known.kind, &fields);
        Ok(())
    }

    /// Hides a prim in the frames in which it is not there.
    fn write_visibility(&mut self, prim: &mut Prim, track: &Track) -> Result<(), FileError> {
        if track.is_always_there() {
            return Ok(());
        }
        let mut turns = track.changes().to_vec();
        if turns.first() != Some(&0) {
            turns.insert(0, 0);
        }
        let times = self.times(&turns)?;
        let words = turns.iter().map(|&at| if track.is_there(at) { "inherited" } else { "invisible" });
        let values: Vec<Rep> = words.map(|word| self.layer.tables.token(word)).collect();
        let samples = self.layer.samples(times, &values)?;
        self.layer.attribute(prim, "visibility", "token", &[("timeSamples", samples)]);
        Ok(())
    }

    /// Times of frames that are counted from the first of the file: their numbers.
    fn times(&mut self, at: &[u32]) -> Result<Rep, FileError> {
        if let Some((latest, rep)) = &self.times
            && latest == at
        {
            return Ok(*rep);
        }
        let times: Vec<f64> = at.iter().map(|&at| f64::from(self.tracks.frames[at as usize])).collect();
        let rep = self.layer.times(&times)?;
        self.times = Some((at.to_vec(), rep));
        Ok(rep)
    }
}
