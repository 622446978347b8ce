//! Assembly of the scene from prims after the last frame.

use super::crate_file::{CrateFile, Value, ValueRep, ValueType};
use super::layer::{Layer, Prim, UNIFORM};
use super::materials::write_materials;
use super::names::UniqueNames;
use super::tables::{PathId, SpecType, Tables};
use super::track::{PrimOwner, PrimType, Property, Track, Tracks};
use crate::error::FileError;
use crate::sink::appearance::Appearance;
use crate::sink::export::ExportContext;

/// Appends the prims and tables, and completes the file.
pub(super) fn write_stage(file: &mut CrateFile, tracks: &Tracks, context: &ExportContext) -> Result<(), FileError> {
    let mut stage = Stage { layer: Layer { file, tables: Tables::new() }, tracks, materials: Vec::new(), times: None };
    stage.write(context)?;
    stage.layer.tables.write(stage.layer.file)
}

/// Scene under construction.
struct Stage<'a> {
    layer: Layer<'a>,
    tracks: &'a Tracks,
    materials: Vec<(&'a Appearance, PathId)>,
    /// The latest list of times and its representation; most lists are equal.
    times: Option<(Vec<u32>, ValueRep)>,
}

impl Stage<'_> {
    fn write(&mut self, context: &ExportContext) -> Result<(), FileError> {
        let mut root = self.layer.root();
        let mut world = self.layer.prim(&mut root, "World", "Xform");
        self.write_materials(&mut world)?;
        self.write_bodies(&mut world)?;
        self.write_obstacles(&mut world)?;
        self.layer.close(world, SpecType::Prim)?;
        self.write_metadata(&mut root, context)?;
        self.layer.close(root, SpecType::Root)
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
            let (value, _) = self.layer.file.write_value(&Value::Double(value), None)?;
            self.layer.set(root, name, value);
        }
        for (name, token) in [("upAxis", "Y"), ("defaultPrim", "World")] {
            let value = self.layer.tables.token_value(token);
            self.layer.set(root, name, value);
        }
        let title = self.layer.tables.string_value(&context.title);
        self.layer.set(root, "documentation", title);
        Ok(())
    }

    /// Writes each material once.
    fn write_materials(&mut self, world: &mut Prim) -> Result<(), FileError> {
        let mut appearances: Vec<&Appearance> = Vec::new();
        for track in &self.tracks.tracks {
            if !appearances.contains(&&track.prim.appearance) {
                appearances.push(&track.prim.appearance);
            }
        }
        let paths = write_materials(&mut self.layer, world, &appearances)?;
        self.materials = appearances.into_iter().zip(paths).collect();
        Ok(())
    }

    fn write_bodies(&mut self, world: &mut Prim) -> Result<(), FileError> {
        let mut names = UniqueNames::new(&["Looks", "Obstacles"]);
        let tracks = self.tracks;
        for track in tracks.tracks.iter().filter(|track| track.prim.owner == PrimOwner::Body) {
            let name = names.unique(&track.prim.name);
            let mut body = self.layer.prim(world, &name, "Xform");
            // Some programs keep only the last component of a path, which therefore includes the name of the body.
            let has_normals =
                [Property::Normals, Property::CornerNormals].iter().any(|normals| track.values.contains_key(normals));
            let suffix = if has_normals { "skin" } else { "particles" };
            self.write_track(&mut body, &format!("{name}_{suffix}"), track)?;
            self.layer.close(body, SpecType::Prim)?;
        }
        Ok(())
    }

    fn write_obstacles(&mut self, world: &mut Prim) -> Result<(), FileError> {
        let tracks = self.tracks;
        let mut obstacles = tracks.tracks.iter().filter(|track| track.prim.owner == PrimOwner::Obstacle).peekable();
        if obstacles.peek().is_none() {
            return Ok(());
        }
        let mut group = self.layer.prim(world, "Obstacles", "Xform");
        let mut names = UniqueNames::new(&[]);
        for track in obstacles {
            self.write_track(&mut group, &names.unique(&track.prim.name), track)?;
        }
        self.layer.close(group, SpecType::Prim)
    }

    /// Writes the prim of a body or an obstacle with all its values.
    fn write_track(&mut self, parent: &mut Prim, name: &str, track: &Track) -> Result<(), FileError> {
        let mut prim = self.layer.prim(parent, name, track.prim.prim_type.type_name());
        self.layer.apply_schema(&mut prim, "MaterialBindingAPI")?;
        self.write_constants(&mut prim, track)?;
        for (&property, changes) in &track.values {
            self.write_values(&mut prim, track, property, changes)?;
        }
        self.write_visibility(&mut prim, track)?;
        if let Some((_, path)) = self.materials.iter().find(|(appearance, _)| *appearance == &track.prim.appearance) {
            self.layer.relationship(&mut prim, "material:binding", *path)?;
        }
        self.layer.close(prim, SpecType::Prim)
    }

    fn write_constants(&mut self, prim: &mut Prim, track: &Track) -> Result<(), FileError> {
        match track.prim.prim_type {
            PrimType::Mesh => {
                self.layer.uniform_token(prim, "subdivisionScheme", "none");
                self.layer.uniform_token(prim, "orientation", "rightHanded");
            }
            PrimType::Capsule | PrimType::Cylinder | PrimType::Cone => self.layer.uniform_token(prim, "axis", "Y"),
            PrimType::Points | PrimType::Cube | PrimType::Sphere => {}
        }
        if track.prim.double_sided {
            self.layer.attribute(
                prim,
                "doubleSided",
                "bool",
                &[UNIFORM, ("default", ValueRep::inlined(ValueType::Bool, 1))],
            );
        }
        if track.values.contains_key(&Property::Transform) {
            let order = [self.layer.tables.token(Property::Transform.schema().name)];
            let (order, _) = self.layer.file.write_value(&Value::Tokens(&order), None)?;
            self.layer.attribute(prim, "xformOpOrder", "token[]", &[UNIFORM, ("default", order)]);
        }
        Ok(())
    }

    /// Writes one value if it never changes, else a time sample for each frame in which the prim is present.
    ///
    /// Arrays of points are empty while it is absent, because some programs ignore animated visibility.
    fn write_values(
        &mut self,
        prim: &mut Prim,
        track: &Track,
        property: Property,
        changes: &[(u32, ValueRep)],
    ) -> Result<(), FileError> {
        let schema = property.schema();
        let mut fields = Vec::new();
        if let Some(interpolation) = schema.interpolation {
            fields.push(("interpolation", self.layer.tables.token_value(interpolation)));
        }
        let array_type = schema.array_type.filter(|_| !track.is_always_present());
        match changes {
            [] => return Ok(()),
            [(_, only)] if array_type.is_none() => fields.push(("default", *only)),
            _ => {
                let value_at =
                    |index: u32| changes[changes.partition_point(|change| change.0 <= index).saturating_sub(1)].1;
                let frames = 0..self.tracks.frames.len() as u32;
                let (present, values): (Vec<u32>, Vec<ValueRep>) = frames
                    .filter_map(|index| match array_type {
                        _ if track.is_present(index) => Some((index, value_at(index))),
                        Some(element_type) if index == 0 || track.is_present(index - 1) => {
                            Some((index, ValueRep::array(element_type, 0)))
                        }
                        _ => None,
                    })
                    .unzip();
                let times = self.times(&present)?;
                fields.push(("timeSamples", self.layer.samples(times, &values)?));
            }
        }
        self.layer.attribute(prim, schema.name, schema.type_name, &fields);
        Ok(())
    }

    /// Hides a prim in the frames in which it is absent.
    fn write_visibility(&mut self, prim: &mut Prim, track: &Track) -> Result<(), FileError> {
        if track.is_always_present() {
            return Ok(());
        }
        let mut changes = track.visibility_changes().to_vec();
        if changes.first() != Some(&0) {
            changes.insert(0, 0);
        }
        let times = self.times(&changes)?;
        let tokens = changes.iter().map(|&index| if track.is_present(index) { "inherited" } else { "invisible" });
        let values: Vec<ValueRep> = tokens.map(|token| self.layer.tables.token_value(token)).collect();
        let samples = self.layer.samples(times, &values)?;
        self.layer.attribute(prim, "visibility", "token", &[("timeSamples", samples)]);
        Ok(())
    }

    /// Writes the time codes of frames, given by index in the file: their numbers.
    fn times(&mut self, frames: &[u32]) -> Result<ValueRep, FileError> {
        if let Some((latest, rep)) = &self.times
            && latest == frames
        {
            return Ok(*rep);
        }
        let times: Vec<f64> = frames.iter().map(|&index| f64::from(self.tracks.frames[index as usize])).collect();
        let rep = self.layer.times(&times)?;
        self.times = Some((frames.to_vec(), rep));
        Ok(rep)
    }
}
