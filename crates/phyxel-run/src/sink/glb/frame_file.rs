//! Reading back the files of frames, which only this program writes: just enough to make one of many.

use glam::Vec3;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What two frames must share to be shapes of one mesh.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    pub name: String,
    /// Number of vertices.
    pub count: usize,
    /// Whether there are normals.
    pub normals: bool,
    /// Number of triangles and a hash of them; `None` for points.
    pub triangles: Option<(usize, String)>,
    /// Number in the list of materials.
    pub material: u64,
}

/// A file of a frame.
#[derive(Debug)]
pub(super) struct FrameFile {
    path: PathBuf,
    document: Value,
    /// Where the numbers begin.
    numbers: u64,
}

impl FrameFile {
    /// Reads all but the numbers. `None` if it is not a file as it should be.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        let mut head = [0; 20];
        match file.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let length = u64::from(u32::from_le_bytes([head[12], head[13], head[14], head[15]]));
        let mut text = Vec::new();
        file.take(length).read_to_end(&mut text)?;
        let document = if head.starts_with(b"glTF") { serde_json::from_slice(&text).ok() } else { None };
        Ok(document.map(|document| Self { path: path.to_path_buf(), document, numbers: 20 + length + 8 }))
    }

    /// s.
    pub fn time(&self) -> Option<f64> {
        self.document["scenes"][0]["extras"]["time"].as_f64()
    }

    /// Materials, as they are written.
    pub fn materials(&self) -> &Value {
        &self.document["materials"]
    }

    /// What is shown, in order.
    pub fn shapes(&self) -> Option<Vec<Shape>> {
        let meshes = self.document["meshes"].as_array()?;
        meshes.iter().map(|mesh| self.shape(mesh)).collect()
    }

    fn shape(&self, mesh: &Value) -> Option<Shape> {
        let primitive = &mesh["primitives"][0];
        let count = self.accessor(&primitive["attributes"]["POSITION"])?["count"].as_u64()? as usize;
        let triangles = match self.accessor(&primitive["indices"]) {
            Some(corners) => {
                let hash = mesh["extras"]["triangles"].as_str()?.to_string();
                Some((corners["count"].as_u64()? as usize / 3, hash))
            }
            None => None,
        };
        Some(Shape {
            name: mesh["name"].as_str()?.to_string(),
            count,
            normals: primitive["attributes"]["NORMAL"].is_u64(),
            triangles,
            material: primitive["material"].as_u64()?,
        })
    }

    fn accessor(&self, number: &Value) -> Option<&Value> {
        self.document["accessors"].get(number.as_u64()? as usize)
    }

    /// Vectors of a mesh, by name.
    pub fn vectors(&self, mesh: usize, name: &str) -> io::Result<Vec<Vec3>> {
        let bytes = self.bytes(&self.document["meshes"][mesh]["primitives"][0]["attributes"][name])?;
        let float = |four: &[u8]| f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        Ok(bytes.chunks_exact(12).map(|v| Vec3::new(float(v), float(&v[4..]), float(&v[8..]))).collect())
    }

    /// Corners of the triangles of a mesh, as they are written.
    pub fn corners(&self, mesh: usize) -> io::Result<Vec<u8>> {
        self.bytes(&self.document["meshes"][mesh]["primitives"][0]["indices"])
    }

    fn bytes(&self, accessor: &Value) -> io::Result<Vec<u8>> {
        let view = self.accessor(accessor).and_then(|accessor| {
            let view = self.document["bufferViews"].get(accessor["bufferView"].as_u64()? as usize)?;
            Some((view["byteOffset"].as_u64()?, view["byteLength"].as_u64()?))
        });
        let (offset, length) = view.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.numbers + offset))?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::Error::from(io::ErrorKind::UnexpectedEof)) }
    }
}
