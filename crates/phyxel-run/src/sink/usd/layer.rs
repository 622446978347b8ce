//! Layer under construction: prims and properties, which fill the tables.

use super::crate_file::{CrateFile, ValueRep, ValueType};
use super::tables::{Fields, PathId, SpecType, Tables, counted_list};
use crate::error::FileError;

/// List operation: prepends items.
const PREPENDED: u8 = 1 << 5;
/// List operation: replaces a list.
const EXPLICIT: u8 = 1 | 1 << 1;
/// Field of properties that cannot be animated.
pub(super) const UNIFORM: (&str, ValueRep) = ("variability", ValueRep::inlined(ValueType::Variability, 1));

/// Prim under construction.
#[derive(Debug)]
pub(super) struct Prim {
    pub path: PathId,
    fields: Fields,
    children: Vec<u32>,
    properties: Vec<u32>,
}

/// File and its tables.
#[derive(Debug)]
pub(super) struct Layer<'a> {
    pub file: &'a mut CrateFile,
    pub tables: Tables,
}

impl Layer<'_> {
    /// Creates the pseudo-root.
    pub fn root(&self) -> Prim {
        Prim { path: Tables::ROOT, fields: Vec::new(), children: Vec::new(), properties: Vec::new() }
    }

    /// Adds a prim below another.
    pub fn prim(&mut self, parent: &mut Prim, name: &str, kind: &str) -> Prim {
        let path = self.tables.path(parent.path, name, false);
        parent.children.push(self.tables.token(name));
        let mut prim = Prim { path, ..self.root() };
        self.set(&mut prim, "specifier", ValueRep::inlined(ValueType::Specifier, 0));
        let kind = self.tables.token_value(kind);
        self.set(&mut prim, "typeName", kind);
        prim
    }

    /// Sets a field of a prim.
    pub fn set(&mut self, prim: &mut Prim, field: &str, value: ValueRep) {
        prim.fields.push((self.tables.token(field), value));
    }

    /// Writes the spec of a prim, with the names of its children and properties.
    pub fn close(&mut self, mut prim: Prim, kind: SpecType) -> Result<(), FileError> {
        for (field, tokens) in [("primChildren", &prim.children), ("properties", &prim.properties)] {
            if !tokens.is_empty() {
                let value = ValueRep::at_offset(ValueType::TokenVector, self.file.append(&counted_list(tokens))?);
                prim.fields.push((self.tables.token(field), value));
            }
        }
        self.tables.spec(prim.path, kind, prim.fields);
        Ok(())
    }

    /// Adds an attribute with fields besides its type.
    pub fn attribute(&mut self, prim: &mut Prim, name: &str, kind: &str, fields: &[(&str, ValueRep)]) -> PathId {
        let kind = self.tables.token_value(kind);
        let fields = [("typeName", kind)].into_iter().chain(fields.iter().copied());
        self.property(prim, name, SpecType::Attribute, fields)
    }

    /// Adds an attribute with a constant token.
    pub fn uniform_token(&mut self, prim: &mut Prim, name: &str, token: &str) {
        let value = self.tables.token_value(token);
        self.attribute(prim, name, "token", &[UNIFORM, ("default", value)]);
    }

    /// Adds a relationship to another prim.
    pub fn relationship(&mut self, prim: &mut Prim, name: &str, target: PathId) -> Result<(), FileError> {
        let target = self.paths(&[target])?;
        self.property(prim, name, SpecType::Relationship, [UNIFORM, ("targetPaths", target)].into_iter());
        Ok(())
    }

    fn property<'f>(
        &mut self,
        prim: &mut Prim,
        name: &str,
        kind: SpecType,
        fields: impl Iterator<Item = (&'f str, ValueRep)>,
    ) -> PathId {
        let path = self.tables.path(prim.path, name, true);
        prim.properties.push(self.tables.token(name));
        let fields = fields.map(|(field, value)| (self.tables.token(field), value)).collect();
        self.tables.spec(path, kind, fields);
        path
    }

    /// Applies an API schema to a prim.
    pub fn apply_schema(&mut self, prim: &mut Prim, schema: &str) -> Result<(), FileError> {
        let items = [&[PREPENDED][..], &counted_list(&[self.tables.token(schema)])].concat();
        let value = ValueRep::at_offset(ValueType::TokenListOp, self.file.append(&items)?);
        self.set(prim, "apiSchemas", value);
        Ok(())
    }

    /// Writes a list of paths.
    pub fn paths(&mut self, paths: &[PathId]) -> Result<ValueRep, FileError> {
        let indices: Vec<u32> = paths.iter().map(|path| path.0).collect();
        Ok(ValueRep::at_offset(
            ValueType::PathListOp,
            self.file.append(&[&[EXPLICIT][..], &counted_list(&indices)].concat())?,
        ))
    }

    /// Writes times, for [`Layer::samples`].
    pub fn times(&mut self, times: &[f64]) -> Result<ValueRep, FileError> {
        let count = (times.len() as u64).to_le_bytes();
        let bytes: Vec<u8> = count.into_iter().chain(times.iter().flat_map(|time| time.to_le_bytes())).collect();
        Ok(ValueRep::at_offset(ValueType::DoubleVector, self.file.append(&bytes)?))
    }

    /// Writes time samples: a value for each time.
    pub fn samples(&mut self, times: ValueRep, values: &[ValueRep]) -> Result<ValueRep, FileError> {
        // The eights are relative offsets over data that may precede times and values; here is none.
        let header = [8, times.0, 8, values.len() as u64];
        let words = header.into_iter().chain(values.iter().map(|value| value.0));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        Ok(ValueRep::at_offset(ValueType::TimeSamples, self.file.append(&bytes)?))
    }
}
