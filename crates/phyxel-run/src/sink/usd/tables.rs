//! Tables at the end of a crate file: tokens, strings, fields, field sets, paths and specs.

use super::compression::{compress_integers, lz4_frame};
use super::crate_file::{CrateFile, ValueRep, ValueType};
use crate::error::FileError;
use std::collections::HashMap;

/// Terminator of a field set.
const END: u32 = u32::MAX;

/// Type of the spec at a path, as encoded by the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpecType {
    Attribute = 1,
    Prim = 6,
    Root = 7,
    Relationship = 8,
}

/// Index of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathId(pub u32);

/// Node in the tree of paths.
#[derive(Clone, Debug)]
struct PathNode {
    /// Token of its last component.
    token: u32,
    is_property: bool,
    children: Vec<u32>,
}

/// Fields of a spec: token and value.
pub(super) type Fields = Vec<(u32, ValueRep)>;

/// Tables under construction.
#[derive(Debug)]
pub(super) struct Tables {
    tokens: Vec<String>,
    token_indices: HashMap<String, u32>,
    /// Tokens of strings.
    strings: Vec<u32>,
    fields: Vec<(u32, ValueRep)>,
    field_sets: Vec<u32>,
    paths: Vec<PathNode>,
    specs: Vec<(PathId, u32, SpecType)>,
}

impl Tables {
    /// Path of the pseudo-root.
    pub const ROOT: PathId = PathId(0);

    /// Tables with the root path only.
    pub fn new() -> Self {
        let mut tables = Self {
            tokens: Vec::new(),
            token_indices: HashMap::new(),
            strings: Vec::new(),
            fields: Vec::new(),
            field_sets: Vec::new(),
            paths: Vec::new(),
            specs: Vec::new(),
        };
        // Negative token indices mark properties, so that no property may have index 0.
        let token = tables.token("/");
        tables.paths.push(PathNode { token, is_property: false, children: Vec::new() });
        tables
    }

    /// Returns the index of a token, which is added if new.
    pub fn token(&mut self, text: &str) -> u32 {
        if let Some(&index) = self.token_indices.get(text) {
            return index;
        }
        let index = self.tokens.len() as u32;
        // Tokens are separated by zeros.
        self.tokens.push(text.replace('\0', " "));
        self.token_indices.insert(text.to_string(), index);
        index
    }

    /// Representation of a token.
    pub fn token_value(&mut self, text: &str) -> ValueRep {
        ValueRep::inlined(ValueType::Token, self.token(text))
    }

    /// Representation of a string.
    pub fn string_value(&mut self, text: &str) -> ValueRep {
        let token = self.token(text);
        self.strings.push(token);
        ValueRep::inlined(ValueType::String, self.strings.len() as u32 - 1)
    }

    /// Adds a path below another.
    pub fn path(&mut self, parent: PathId, name: &str, is_property: bool) -> PathId {
        let index = self.paths.len() as u32;
        let token = self.token(name);
        self.paths.push(PathNode { token, is_property, children: Vec::new() });
        self.paths[parent.0 as usize].children.push(index);
        PathId(index)
    }

    /// Adds the spec at a path.
    pub fn spec(&mut self, path: PathId, kind: SpecType, fields: Fields) {
        let first = self.field_sets.len() as u32;
        for field in fields {
            self.field_sets.push(self.fields.len() as u32);
            self.fields.push(field);
        }
        self.field_sets.push(END);
        self.specs.push((path, first, kind));
    }

    /// Appends all tables and the table of contents to a file, and completes it.
    pub fn write(&self, file: &mut CrateFile) -> Result<(), FileError> {
        let sections = [
            ("TOKENS", self.tokens_section()),
            ("STRINGS", counted_list(&self.strings)),
            ("FIELDS", self.fields_section()),
            (
                "FIELDSETS",
                [count(self.field_sets.len()), length_prefixed(compress_integers(&self.field_sets))].concat(),
            ),
            ("PATHS", self.paths_section()),
            ("SPECS", self.specs_section()),
        ];
        let mut contents = count(sections.len());
        for (name, bytes) in sections {
            let position = file.append(&bytes)?;
            let mut title = [0; 16];
            title[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(title);
            contents.extend(position.to_le_bytes());
            contents.extend((bytes.len() as u64).to_le_bytes());
        }
        let position = file.append(&contents)?;
        file.finish(position)
    }

    fn tokens_section(&self) -> Vec<u8> {
        let text: Vec<u8> = self.tokens.iter().flat_map(|token| token.bytes().chain([0])).collect();
        [count(self.tokens.len()), count(text.len()), length_prefixed(lz4_frame(&text))].concat()
    }

    fn fields_section(&self) -> Vec<u8> {
        let tokens: Vec<u32> = self.fields.iter().map(|field| field.0).collect();
        let values: Vec<u8> = self.fields.iter().flat_map(|field| field.1.0.to_le_bytes()).collect();
        [count(tokens.len()), length_prefixed(compress_integers(&tokens)), length_prefixed(lz4_frame(&values))].concat()
    }

    fn specs_section(&self) -> Vec<u8> {
        let columns = [
            self.specs.iter().map(|spec| spec.0.0).collect::<Vec<u32>>(),
            self.specs.iter().map(|spec| spec.1).collect(),
            self.specs.iter().map(|spec| spec.2 as u32).collect(),
        ];
        [count(self.specs.len())]
            .into_iter()
            .chain(columns.map(|column| length_prefixed(compress_integers(&column))))
            .flatten()
            .collect()
    }

    /// Paths as a tree in depth-first order: index, token (negative for properties), offset of the next sibling.
    fn paths_section(&self) -> Vec<u8> {
        let mut columns = [const { Vec::new() }; 3];
        self.push_path(0, false, &mut columns);
        let columns = columns.map(|column| length_prefixed(compress_integers(&column)));
        [count(self.paths.len()), count(self.paths.len())].into_iter().chain(columns).flatten().collect()
    }

    fn push_path(&self, index: u32, has_sibling: bool, columns: &mut [Vec<u32>; 3]) {
        let node = &self.paths[index as usize];
        let (position, has_children) = (columns[0].len(), !node.children.is_empty());
        columns[0].push(index);
        columns[1].push(if node.is_property { node.token.wrapping_neg() } else { node.token });
        columns[2].push(match (has_children, has_sibling) {
            (true, false) => -1_i32 as u32,
            (false, false) => -2_i32 as u32,
            (_, true) => 0,
        });
        let last = node.children.last();
        for child in &node.children {
            self.push_path(*child, Some(child) != last, columns);
        }
        if has_children && has_sibling {
            columns[2][position] = (columns[0].len() - position) as u32;
        }
    }
}

fn count(value: usize) -> Vec<u8> {
    (value as u64).to_le_bytes().to_vec()
}

/// Prepends the length of bytes.
fn length_prefixed(bytes: Vec<u8>) -> Vec<u8> {
    [count(bytes.len()), bytes].concat()
}

/// Encodes integers after their count, uncompressed.
pub(super) fn counted_list(values: &[u32]) -> Vec<u8> {
    count(values.len()).into_iter().chain(values.iter().flat_map(|value| value.to_le_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::compression::tests::decode_integers;
    use super::*;

    #[test]
    fn a_tree_of_paths_encodes_children_and_siblings() {
        let mut tables = Tables::new();
        let world = tables.path(Tables::ROOT, "World", false);
        let cube = tables.path(world, "cube", false);
        tables.path(cube, "points", true);
        tables.path(world, "ball", false);
        let bytes = tables.paths_section();
        let mut rest = &bytes[16..];
        let mut column = || {
            let (length, data) = rest.split_at(8);
            let (column, remaining) = data.split_at(u64::from_le_bytes(length.try_into().unwrap()) as usize);
            rest = remaining;
            decode_integers(column, 5).into_iter().map(|value| value as i32).collect::<Vec<_>>()
        };
        assert_eq!(column(), [0, 1, 2, 3, 4]);
        assert_eq!(column(), [0, 1, 2, -3, 4]);
        assert_eq!(column(), [-1, -1, 2, -2, -2]);
    }

    #[test]
    fn equal_tokens_are_stored_once() {
        let mut tables = Tables::new();
        assert_eq!(tables.token("points"), tables.token("points"));
        assert_ne!(tables.token("points"), tables.token("normals"));
        assert_eq!(tables.string_value("points"), ValueRep::inlined(ValueType::String, 0));
    }
}
