//! Crate file: its value types, value representations, and the file to which values are appended.

use crate::error::FileError;
use glam::{DMat4, Vec3};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Size of the header, bytes: magic, version, offset of the table of contents, reserved bytes.
pub(super) const HEADER_SIZE: u64 = 88;

/// Version of the format: the last one previous types that are not needed here.
const VERSION: [u8; 3] = [0, 8, 0];

/// Type of a value, as encoded by the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
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

/// Value representation of eight bytes: type, and inlined value or offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ValueRep(pub u64);

impl ValueRep {
    const ARRAY: u64 = 1 << 63;
    const INLINE: u64 = 1 << 62;

    /// Inlined value of four bytes.
    pub const fn inlined(kind: ValueType, value: u32) -> Self {
        Self(Self::INLINE | (kind as u64) << 48 | value as u64)
    }

    /// Value at an offset.
    pub fn at_offset(kind: ValueType, offset: u64) -> Self {
        Self((kind as u64) << 48 | offset)
    }

    /// Array at an offset; 0 for an empty one.
    pub fn array(kind: ValueType, offset: u64) -> Self {
        Self(Self::ARRAY | Self::at_offset(kind, offset).0)
    }
}

/// Value to be written.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Vectors(&'a [Vec3]),
    Floats(&'a [f32]),
    /// Vertex indices of triangles.
    Triangles(&'a [[u32; 3]]),
    /// The number 3 for each of so many triangles.
    TriangleCounts(usize),
    Tokens(&'a [u32]),
    Vector(Vec3),
    Double(f64),
    Matrix(DMat4),
}

impl Value<'_> {
    fn value_type(&self) -> ValueType {
        match self {
            Self::Vectors(_) | Self::Vector(_) => ValueType::Vector,
            Self::Floats(_) => ValueType::Float,
            Self::Triangles(_) | Self::TriangleCounts(_) => ValueType::Int,
            Self::Tokens(_) => ValueType::Token,
            Self::Double(_) => ValueType::Double,
            Self::Matrix(_) => ValueType::Matrix,
        }
    }

    /// Length of an array; `None` for a single value.
    fn count(&self) -> Option<usize> {
        match self {
            Self::Vectors(values) => Some(values.len()),
            Self::Floats(values) => Some(values.len()),
            Self::Triangles(values) => Some(3 * values.len()),
            Self::TriangleCounts(count) => Some(*count),
            Self::Tokens(values) => Some(values.len()),
            Self::Vector(_) | Self::Double(_) | Self::Matrix(_) => None,
        }
    }

    /// Encodes the value; an array after its length.
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
            Self::TriangleCounts(count) => (0..*count).for_each(|_| bytes.extend(3_u32.to_le_bytes())),
            Self::Tokens(values) => values.iter().for_each(|value| bytes.extend(value.to_le_bytes())),
            Self::Double(value) => bytes.extend(value.to_le_bytes()),
            // USD multiplies row vectors: its rows are columns here.
            Self::Matrix(matrix) => {
                bytes.extend_from_slice(matrix.to_cols_array().map(f64::to_le_bytes).as_flattened())
            }
        }
    }
}

fn push_vector(bytes: &mut Vec<u8>, vector: Vec3) {
    bytes.extend_from_slice(vector.to_array().map(f32::to_le_bytes).as_flattened());
}

/// File to which values are appended.
#[derive(Debug)]
pub(super) struct CrateFile {
    path: PathBuf,
    writer: BufWriter<File>,
    length: u64,
    /// Scratch buffer of an encoded value.
    bytes: Vec<u8>,
}

impl CrateFile {
    /// Opens a file and truncates it to `keep` bytes; creates it if missing.
    pub fn open(path: &Path, keep: u64) -> Result<Self, FileError> {
        let opened = OpenOptions::new().create(true).write(true).truncate(false).open(path);
        let file = opened.map_err(|source| FileError::new("create", path, source))?;
        let at = keep.max(HEADER_SIZE);
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        // The header refers to no tables until they are written.
        let started = writer.write_all(&header(0)).and_then(|()| writer.flush());
        let started =
            started.and_then(|()| writer.get_ref().set_len(at)).and_then(|()| writer.seek(SeekFrom::Start(at)));
        started.map_err(|source| FileError::new("write", path, source))?;
        Ok(Self { path: path.to_path_buf(), writer, length: at, bytes: Vec::new() })
    }

    /// Length so far, bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends a value unless it equals `previous`. Returns its representation and hash.
    pub fn write_value(
        &mut self,
        value: &Value,
        previous: Option<(ValueRep, u64)>,
    ) -> Result<(ValueRep, u64), FileError> {
        let mut bytes = std::mem::take(&mut self.bytes);
        value.encode(&mut bytes);
        let hash = xxh3_64(&bytes);
        let written = match previous {
            Some(previous) if previous.1 == hash => Ok(previous.0),
            _ => self.append_value(value, &bytes),
        };
        self.bytes = bytes;
        Ok((written?, hash))
    }

    fn append_value(&mut self, value: &Value, bytes: &[u8]) -> Result<ValueRep, FileError> {
        match value.count() {
            Some(0) => Ok(ValueRep::array(value.value_type(), 0)),
            Some(_) => Ok(ValueRep::array(value.value_type(), self.append(bytes)?)),
            None => Ok(ValueRep::at_offset(value.value_type(), self.append(bytes)?)),
        }
    }

    /// Appends bytes at the next multiple of eight; returns the offset.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64, FileError> {
        let padding = self.length.next_multiple_of(8) - self.length;
        let written = self.writer.write_all(&[0; 8][..padding as usize]).and_then(|()| self.writer.write_all(bytes));
        written.map_err(|source| self.failed(source))?;
        let offset = self.length + padding;
        self.length = offset + bytes.len() as u64;
        Ok(offset)
    }

    /// Flushes and syncs to disk.
    pub fn sync(&mut self) -> Result<(), FileError> {
        let synced = self.writer.flush().and_then(|()| self.writer.get_ref().sync_data());
        synced.map_err(|source| self.failed(source))
    }

    /// Writes the offset of the table of contents to the header, and syncs to disk.
    pub fn finish(&mut self, contents: u64) -> Result<(), FileError> {
        let patched = self.writer.seek(SeekFrom::Start(0)).and_then(|_| self.writer.write_all(&header(contents)));
        patched.and_then(|()| self.writer.seek(SeekFrom::End(0))).map_err(|source| self.failed(source))?;
        self.sync()
    }

    fn failed(&self, source: io::Error) -> FileError {
        FileError::new("write", &self.path, source).after_bytes(self.length)
    }
}

fn header(contents: u64) -> [u8; HEADER_SIZE as usize] {
    let mut bytes = [0; HEADER_SIZE as usize];
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
    fn equal_values_are_written_once_and_arrays_are_aligned() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values");
        let mut file = CrateFile::open(&path, 0).unwrap();
        let first = file.write_value(&Value::Floats(&[1.0, 2.0, 3.0]), None).unwrap();
        let again = file.write_value(&Value::Floats(&[1.0, 2.0, 3.0]), Some(first)).unwrap();
        let other = file.write_value(&Value::TriangleCounts(2), Some(first)).unwrap();
        file.sync().unwrap();
        assert_eq!(first, again);
        assert_eq!(first.0, ValueRep::array(ValueType::Float, 88));
        assert_eq!(other.0, ValueRep::array(ValueType::Int, 112));
        assert_eq!(fs::read(&path).unwrap().len(), 128);
        assert_eq!(file.write_value(&Value::Vectors(&[]), None).unwrap().0, ValueRep::array(ValueType::Vector, 0));
    }

    #[test]
    fn a_file_continues_where_it_is_truncated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values");
        let mut file = CrateFile::open(&path, 0).unwrap();
        let offset = file.append(b"12345678").unwrap();
        file.append(b"later").unwrap();
        file.finish(3).unwrap();
        drop(file);
        let mut file = CrateFile::open(&path, offset + 8).unwrap();
        assert_eq!(file.append(b"new").unwrap(), offset + 8);
        file.sync().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.ends_with(b"12345678new"));
        assert_eq!(bytes[16..24], [0; 8]);
    }
}
