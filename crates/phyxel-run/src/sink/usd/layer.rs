//! Prims and their properties, before they become tables.

use super::tables::{Fields, PathId, SpecKind, Tables, list};
use super::value::{Kind, Rep, ValueFile};
use crate::error::FileError;

/// Adds items before a list of items, in the bits of the format.
const PREPENDED: u8 = 1 << 5;
/// Replaces a list by these items.
const EXPLICIT: u8 = 1 | 1 << 1;
/// The mark of what cannot change over time.
pub(super) const UNIFORM: (&str, Rep) = ("variability", Rep::here(Kind::Variability, 1));

/// A prim under construction.
#[derive(Debug)]
pub(super) struct Prim {
    pub path: PathId,
    fields: Fields,
    children: Vec<u32>,
    properties: Vec<u32>,
}

/// A file and the tables it ends with.
#[derive(Debug)]
pub(super) struct Layer<'a> {
    pub file: &'a mut ValueFile,
    pub tables: Tables,
}

impl Layer<'_> {
    /// The prim that all others are below.
    pub fn root(&self) -> Prim {
        Prim { path: Tables::ROOT, fields: Vec::new(), children: Vec::new(), properties: Vec::new() }
    }

    /// A prim below another.
    pub fn prim(&mut self, parent: &mut Prim, name: &str, kind: &str) -> Prim {
        let path = self.tables.path(parent.path, name, false);
        parent.children.push(self.tables.word(name));
        let mut prim = Prim { path, ..self.root() };
        self.set(&mut prim, "specifier", Rep::here(Kind::Specifier, 0));
        let kind = self.tables.token(kind);
        self.set(&mut prim, "typeName", kind);
        prim
    }

    /// Sets a field of a prim.
    pub fn set(&mut self, prim: &mut Prim, field: &str, value: Rep) {
        prim.fields.push((self.tables.word(field), value));
    }

    /// Writes what a prim is, with the names of what is below it.
    pub fn close(&mut self, mut prim: Prim, kind: SpecKind) -> Result<(), FileError> {
        for (field, words) in [("primChildren", &prim.children), ("properties", &prim.properties)] {
            if !words.is_empty() {
                let value = Rep::at(Kind::TokenVector, self.file.append(&list(words))?);
                prim.fields.push((self.tables.word(field), value));
            }
        }
        self.tables.spec(prim.path, kind, prim.fields);
        Ok(())
    }

    /// An attribute with its fields beside name and type.
    pub fn attribute(&mut self, prim: &mut Prim, name: &str, kind: &str, fields: &[(&str, Rep)]) -> PathId {
        let kind = self.tables.token(kind);
        let fields = [("typeName", kind)].into_iter().chain(fields.iter().copied());
        self.property(prim, name, SpecKind::Attribute, fields)
    }

    /// An attribute with a word that never changes.
    pub fn uniform_token(&mut self, prim: &mut Prim, name: &str, word: &str) {
        let value = self.tables.token(word);
        self.attribute(prim, name, "token", &[UNIFORM, ("default", value)]);
    }

    /// A relationship to another prim.
    pub fn relationship(&mut self, prim: &mut Prim, name: &str, target: PathId) -> Result<(), FileError> {
        let target = self.paths(&[target])?;
        self.property(prim, name, SpecKind::Relationship, [UNIFORM, ("targetPaths", target)].into_iter());
        Ok(())
    }

    fn property<'f>(
        &mut self,
        prim: &mut Prim,
        name: &str,
        kind: SpecKind,
        fields: impl Iterator<Item = (&'f str, Rep)>,
    ) -> PathId {
        let path = self.tables.path(prim.path, name, true);
        prim.properties.push(self.tables.word(name));
        let fields = fields.map(|(field, value)| (self.tables.word(field), value)).collect();
        self.tables.spec(path, kind, fields);
        path
    }

    /// Says that a prim follows a further schema.
    pub fn apply_schema(&mut self, prim: &mut Prim, schema: &str) -> Result<(), FileError> {
        let items = [&[PREPENDED][..], &list(&[self.tables.word(schema)])].concat();
        let value = Rep::at(Kind::TokenListOp, self.file.append(&items)?);
        self.set(prim, "apiSchemas", value);
        Ok(())
    }

    /// A list of paths as a value.
    pub fn paths(&mut self, paths: &[PathId]) -> Result<Rep, FileError> {
        let numbers: Vec<u32> = paths.iter().map(|path| path.0).collect();
        Ok(Rep::at(Kind::PathListOp, self.file.append(&[&[EXPLICIT][..], &list(&numbers)].concat())?))
    }

    /// Times, for [`Layer::samples`].
    pub fn times(&mut self, times: &[f64]) -> Result<Rep, FileError> {
        let count = (times.len() as u64).to_le_bytes();
        let bytes: Vec<u8> = count.into_iter().chain(times.iter().flat_map(|time| time.to_le_bytes())).collect();
        Ok(Rep::at(Kind::DoubleVector, self.file.append(&bytes)?))
    }

    /// A value for each time.
    pub fn samples(&mut self, times: Rep, values: &[Rep]) -> Result<Rep, FileError> {
        // The eights step over data that could stand before the times and before the values; here is none.
        let head = [8, times.0, 8, values.len() as u64];
        let numbers = head.into_iter().chain(values.iter().map(|value| value.0));
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        Ok(Rep::at(Kind::TimeSamples, self.file.append(&bytes)?))
    }
}
