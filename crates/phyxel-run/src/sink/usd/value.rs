//! Values of a crate file: what they are, and the file they are appended to.

use crate::error::FileError;
use glam::{DMat4, Vec3};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes before the first value: name, version, place of the tables, room to spare.
pub(super) const HEADER: u64 = 88;

/// The version of the format that is written: the last one before kinds of values that are not needed here.
const VERSION: [u8; 3] = [0, 8, 0];

/// What a value is, by the numbers of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool = 1,
    Int = 3,
    Float = 8,
    Double = 9,
    String = 10,
    Token = 11,
    Matrix = 15,
    Vector = 24,
    TokenListOp = 32,
    PathListOp = 34,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
}

/// Where a value is and what it is, in the eight bytes that the format uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Rep(pub u64);

impl Rep {
    const ARRAY: u64 = 1 << 63;
    const INLINE: u64 = 1 << 62;

    /// A value of four bytes that stands here.
    pub const fn here(kind: Kind, value: u32) -> Self {
        Self(Self::INLINE | (kind as u64) << 48 | value as u64)
    }

    /// A value that stands at an offset.
    pub fn at(kind: Kind, offset: u64) -> Self {
        Self((kind as u64) << 48 | offset)
    }

    /// An array that stands at an offset; at 0 an empty one.
    pub fn array(kind: Kind, offset: u64) -> Self {
        Self(Self::ARRAY | Self::at(kind, offset).0)
    }
}

/// A value to be written.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Vectors(&'a [Vec3]),
    Floats(&'a [f32]),
    /// Corner after corner.
    Triangles(&'a [[u32; 3]]),
    /// A three for each triangle.
    Threes(usize),
    Tokens(&'a [u32]),
    Vector(Vec3),
    Double(f64),
    Matrix(DMat4),
}

impl Value<'_> {
    fn kind(&self) -> Kind {
        match self {
            Self::Vectors(_) | Self::Vector(_) => Kind::Vector,
            Self::Floats(_) => Kind::Float,
            Self::Triangles(_) | Self::Threes(_) => Kind::Int,
            Self::Tokens(_) => Kind::Token,
            Self::Double(_) => Kind::Double,
            Self::Matrix(_) => Kind::Matrix,
        }
    }

    /// Number of elements of an array.
    fn count(&self) -> Option<usize> {
        match self {
            Self::Vectors(values) => Some(values.len()),
            Self::Floats(values) => Some(values.len()),
            Self::Triangles(values) => Some(3 * values.len()),
            Self::Threes(count) => Some(*count),
            Self::Tokens(values) => Some(values.len()),
            Self::Vector(_) | Self::Double(_) | Self::Matrix(_) => None,
        }
    }

    /// As it stands in the file, its length first if it is an array.
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend(self.count().into_iter().flat_map(|count| (count as u64).to_le_bytes()));
        match self {
            Self::Vectors(values) => values.iter().for_each(|vector| push_vector(bytes, *vector)),
            Self::Vector(value) => push_vector(bytes, *value),
            Self::Floats(values) => values.iter().for_each(|value| bytes.extend(value.to_le_bytes())),
            Self::Triangles(values) => {
                values.iter().for_each(|corners| bytes.extend_from_slice(corners.map(u32::to_le_bytes).as_flattened()));
            }
            Self::Threes(count) => (0..*count).for_each(|_| bytes.extend(3_u32.to_le_bytes())),
            Self::Tokens(values) => values.iter().for_each(|value| bytes.extend(value.to_le_bytes())),
            Self::Double(value) => bytes.extend(value.to_le_bytes()),
            // Rows of the format are columns here: it multiplies from the left.
            Self::Matrix(matrix) => {
                bytes.extend_from_slice(matrix.to_cols_array().map(f64::to_le_bytes).as_flattened())
            }
        }
    }
}

fn push_vector(bytes: &mut Vec<u8>, vector: Vec3) {
    bytes.extend_from_slice(vector.to_array().map(f32::to_le_bytes).as_flattened());
}

/// A file that values are appended to.
#[derive(Debug)]
pub(super) struct ValueFile {
    path: PathBuf,
    writer: BufWriter<File>,
    at: u64,
    /// Room to lay a value out.
    bytes: Vec<u8>,
}

impl ValueFile {
    /// Goes on after `keep` bytes of a file, or begins one if it has none.
    pub fn open(path: &Path, keep: u64) -> Result<Self, FileError> {
        let opened = OpenOptions::new().create(true).write(true).truncate(false).open(path);
        let file = opened.map_err(|source| FileError::new("create", path, source))?;
        let at = keep.max(HEADER);
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        // The header tells of no tables until there are some.
        let begun = writer.write_all(&header(0)).and_then(|()| writer.flush());
        let begun = begun.and_then(|()| writer.get_ref().set_len(at)).and_then(|()| writer.seek(SeekFrom::Start(at)));
        begun.map_err(|source| FileError::new("write", path, source))?;
        Ok(Self { path: path.to_path_buf(), writer, at, bytes: Vec::new() })
    }

    /// Bytes so far.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Appends a value unless it is the one given as `before`. Tells where it is and its hash.
    pub fn put(&mut self, value: &Value, before: Option<(Rep, u64)>) -> Result<(Rep, u64), FileError> {
        let mut bytes = std::mem::take(&mut self.bytes);
        value.encode(&mut bytes);
        let hash = xxh3_64(&bytes);
        let written = match before {
            Some(before) if before.1 == hash => Ok(before.0),
            _ => self.append_value(value, &bytes),
        };
        self.bytes = bytes;
        Ok((written?, hash))
    }

    fn append_value(&mut self, value: &Value, bytes: &[u8]) -> Result<Rep, FileError> {
        match value.count() {
            Some(0) => Ok(Rep::array(value.kind(), 0)),
            Some(_) => Ok(Rep::array(value.kind(), self.append(bytes)?)),
            None => Ok(Rep::at(value.kind(), self.append(bytes)?)),
        }
    }

    /// Appends bytes at the next multiple of eight and tells where.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64, FileError> {
        let padding = self.at.next_multiple_of(8) - self.at;
        let written = self.writer.write_all(&[0; 8][..padding as usize]).and_then(|()| self.writer.write_all(bytes));
        written.map_err(|source| self.failed(source))?;
        let place = self.at + padding;
        self.at = place + bytes.len() as u64;
        Ok(place)
    }

    /// Forces what was appended to disk.
    pub fn force(&mut self) -> Result<(), FileError> {
        let forced = self.writer.flush().and_then(|()| self.writer.get_ref().sync_data());
        forced.map_err(|source| self.failed(source))
    }

    /// Says in the header where the table of contents is, and forces all to disk.
    pub fn close_with(&mut self, contents: u64) -> Result<(), FileError> {
        let patched = self.writer.seek(SeekFrom::Start(0)).and_then(|_| self.writer.write_all(&header(contents)));
        patched.and_then(|()| self.writer.seek(SeekFrom::End(0))).map_err(|source| self.failed(source))?;
        self.force()
    }

    fn failed(&self, source: io::Error) -> FileError {
        FileError::new("write", &self.path, source).after_bytes(self.at)
    }
}

fn header(contents: u64) -> [u8; HEADER as usize] {
    let mut bytes = [0; HEADER as usize];
    bytes[..8].copy_from_slice(b"PXR-USDC");
    bytes[8..11].copy_from_slice(&VERSION);
    bytes[16..24].copy_from_slice(&contents.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn equal_values_are_written_once_and_arrays_begin_at_multiples_of_eight() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values");
        let mut file = ValueFile::open(&path, 0).unwrap();
        let first = file.put(&Value::Floats(&[1.0, 2.0, 3.0]), None).unwrap();
        let again = file.put(&Value::Floats(&[1.0, 2.0, 3.0]), Some(first)).unwrap();
        let other = file.put(&Value::Threes(2), Some(first)).unwrap();
        file.force().unwrap();
        assert_eq!(first, again);
        assert_eq!(first.0, Rep::array(Kind::Float, 88));
        assert_eq!(other.0, Rep::array(Kind::Int, 112));
        assert_eq!(fs::read(&path).unwrap().len(), 128);
        assert_eq!(file.put(&Value::Vectors(&[]), None).unwrap().0, Rep::array(Kind::Vector, 0));
    }

    #[test]
    fn a_file_goes_on_where_it_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values");
        let mut file = ValueFile::open(&path, 0).unwrap();
        let place = file.append(b"12345678").unwrap();
        file.append(b"later").unwrap();
        file.close_with(3).unwrap();
        drop(file);
        let mut file = ValueFile::open(&path, place + 8).unwrap();
        assert_eq!(file.append(b"new").unwrap(), place + 8);
        file.force().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.ends_with(b"12345678new"));
        assert_eq!(bytes[16..24], [0; 8]);
    }
}
