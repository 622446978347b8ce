//! The tables at the end of a crate file: words, fields, paths, and which path has which fields.

use super::pack::{integers, stored};
use super::value::{Kind, Rep, ValueFile};
use crate::error::FileError;
use std::collections::HashMap;

/// Ends a list of fields.
const END: u32 = u32::MAX;

/// What stands at a path, by the numbers of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpecKind {
    Attribute = 1,
    Prim = 6,
    Root = 7,
    Relationship = 8,
}

/// Number of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PathId(pub u32);

/// A path below its parent.
#[derive(Clone, Debug)]
struct PathItem {
    /// The word it adds to its parent.
    word: u32,
    is_property: bool,
    children: Vec<u32>,
}

/// Fields of one thing: word and value.
pub(super) type Fields = Vec<(u32, Rep)>;

/// The tables while they are filled.
#[derive(Debug)]
pub(super) struct Tables {
    words: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Words that stand for texts.
    texts: Vec<u32>,
    fields: Vec<(u32, Rep)>,
    field_lists: Vec<u32>,
    paths: Vec<PathItem>,
    specs: Vec<(PathId, u32, SpecKind)>,
}

impl Tables {
    /// The path of everything.
    pub const ROOT: PathId = PathId(0);

    /// With nothing but the root path.
    pub fn new() -> Self {
        let mut tables = Self {
            words: Vec::new(),
            numbers: HashMap::new(),
            texts: Vec::new(),
            fields: Vec::new(),
            field_lists: Vec::new(),
            paths: Vec::new(),
            specs: Vec::new(),
        };
        // The sign of a word's number tells properties from prims, so no property may have number 0.
        let word = tables.word("/");
        tables.paths.push(PathItem { word, is_property: false, children: Vec::new() });
        tables
    }

    /// Number of a word.
    pub fn word(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.words.len() as u32;
        // The words are kept apart by zeros.
        self.words.push(word.replace('\0', " "));
        self.numbers.insert(word.to_string(), number);
        number
    }

    /// A word as a value.
    pub fn token(&mut self, word: &str) -> Rep {
        Rep::here(Kind::Token, self.word(word))
    }

    /// A text as a value.
    pub fn text(&mut self, text: &str) -> Rep {
        let word = self.word(text);
        self.texts.push(word);
        Rep::here(Kind::String, self.texts.len() as u32 - 1)
    }

    /// A new path below another.
    pub fn path(&mut self, parent: PathId, name: &str, is_property: bool) -> PathId {
        let number = self.paths.len() as u32;
        let word = self.word(name);
        self.paths.push(PathItem { word, is_property, children: Vec::new() });
        self.paths[parent.0 as usize].children.push(number);
        PathId(number)
    }

    /// Says what stands at a path.
    pub fn spec(&mut self, path: PathId, kind: SpecKind, fields: Fields) {
        let first = self.field_lists.len() as u32;
        for field in fields {
            self.field_lists.push(self.fields.len() as u32);
            self.fields.push(field);
        }
        self.field_lists.push(END);
        self.specs.push((path, first, kind));
    }

    /// Appends all tables and their table of contents to a file, and closes it.
    pub fn write(&self, file: &mut ValueFile) -> Result<(), FileError> {
        let sections = [
            ("TOKENS", self.words_section()),
            ("STRINGS", list(&self.texts)),
            ("FIELDS", self.fields_section()),
            ("FIELDSETS", [count(self.field_lists.len()), sized(integers(&self.field_lists))].concat()),
            ("PATHS", self.paths_section()),
            ("SPECS", self.specs_section()),
        ];
        let mut contents = count(sections.len());
        for (name, bytes) in sections {
            let place = file.append(&bytes)?;
            let mut title = [0; 16];
            title[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(title);
            contents.extend(place.to_le_bytes());
            contents.extend((bytes.len() as u64).to_le_bytes());
        }
        let place = file.append(&contents)?;
        file.close_with(place)
    }

    fn words_section(&self) -> Vec<u8> {
        let text: Vec<u8> = self.words.iter().flat_map(|word| word.bytes().chain([0])).collect();
        [count(self.words.len()), count(text.len()), sized(stored(&text))].concat()
    }

    fn fields_section(&self) -> Vec<u8> {
        let words: Vec<u32> = self.fields.iter().map(|field| field.0).collect();
        let values: Vec<u8> = self.fields.iter().flat_map(|field| field.1.0.to_le_bytes()).collect();
        [count(words.len()), sized(integers(&words)), sized(stored(&values))].concat()
    }

    fn specs_section(&self) -> Vec<u8> {
        let columns = [
            self.specs.iter().map(|spec| spec.0.0).collect::<Vec<u32>>(),
            self.specs.iter().map(|spec| spec.1).collect(),
            self.specs.iter().map(|spec| spec.2 as u32).collect(),
        ];
        [count(self.specs.len())].into_iter().chain(columns.map(|column| sized(integers(&column)))).flatten().collect()
    }

    /// Paths as a tree, parents before children: number, word (negative for properties), way to the next sibling.
    fn paths_section(&self) -> Vec<u8> {
        let mut columns = [const { Vec::new() }; 3];
        self.push_path(0, false, &mut columns);
        let columns = columns.map(|column| sized(integers(&column)));
        [count(self.paths.len()), count(self.paths.len())].into_iter().chain(columns).flatten().collect()
    }

    fn push_path(&self, number: u32, has_sibling: bool, columns: &mut [Vec<u32>; 3]) {
        let item = &self.paths[number as usize];
        let (place, has_children) = (columns[0].len(), !item.children.is_empty());
        columns[0].push(number);
        columns[1].push(if item.is_property { item.word.wrapping_neg() } else { item.word });
        columns[2].push(match (has_children, has_sibling) {
            (true, false) => -1_i32 as u32,
            (false, false) => -2_i32 as u32,
            (_, true) => 0,
        });
        let last = item.children.last();
        for child in &item.children {
            self.push_path(*child, Some(child) != last, columns);
        }
        if has_children && has_sibling {
            columns[2][place] = (columns[0].len() - place) as u32;
        }
    }
}

fn count(value: usize) -> Vec<u8> {
    (value as u64).to_le_bytes().to_vec()
}

/// Bytes after their number.
fn sized(bytes: Vec<u8>) -> Vec<u8> {
    [count(bytes.len()), bytes].concat()
}

/// Numbers after their count, as they are.
pub(super) fn list(values: &[u32]) -> Vec<u8> {
    count(values.len()).into_iter().chain(values.iter().flat_map(|value| value.to_le_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::pack::tests::unpacked;
    use super::*;

    #[test]
    fn a_tree_of_paths_tells_children_and_siblings() {
        let mut tables = Tables::new();
        let world = tables.path(Tables::ROOT, "World", false);
        let cube = tables.path(world, "cube", false);
        tables.path(cube, "points", true);
        tables.path(world, "ball", false);
        let bytes = tables.paths_section();
        let mut rest = &bytes[16..];
        let mut column = || {
            let (length, own) = rest.split_at(8);
            let (own, later) = own.split_at(u64::from_le_bytes(length.try_into().unwrap()) as usize);
            rest = later;
            unpacked(own, 5).into_iter().map(|value| value as i32).collect::<Vec<_>>()
        };
        assert_eq!(column(), [0, 1, 2, 3, 4]);
        assert_eq!(column(), [0, 1, 2, -3, 4]);
        assert_eq!(column(), [-1, -1, 2, -2, -2]);
    }

    #[test]
    fn words_are_kept_once() {
        let mut tables = Tables::new();
        assert_eq!(tables.word("points"), tables.word("points"));
        assert_ne!(tables.word("points"), tables.word("normals"));
        assert_eq!(tables.text("points"), Rep::here(Kind::String, 0));
    }
}
