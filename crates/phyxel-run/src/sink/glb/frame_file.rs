//! Reader of the files of frames, as far as the animation needs it.

use glam::Vec3;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Properties in which a mesh must agree in all frames of an animation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MeshLayout {
    pub name: String,
    /// Number of vertices.
    pub vertices: usize,
    /// True if there are normals.
    pub has_normals: bool,
    /// Number and hash of the triangles; `None` for points.
    pub triangles: Option<(usize, String)>,
    /// Index of the material.
    pub material: u64,
}

/// File of a frame.
#[derive(Debug)]
pub(super) struct FrameFile {
    path: PathBuf,
    document: Value,
    /// Offset of the binary buffer, bytes.
    buffer_start: u64,
}

impl FrameFile {
    /// Reads the JSON. `None` if the file is invalid.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        let mut header = [0; 20];
        match file.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let length = u64::from(u32::from_le_bytes([header[12], header[13], header[14], header[15]]));
        let mut json = Vec::new();
        file.take(length).read_to_end(&mut json)?;
        let document = if header.starts_with(b"glTF") { serde_json::from_slice(&json).ok() } else { None };
        Ok(document.map(|document| Self { path: path.to_path_buf(), document, buffer_start: 20 + length + 8 }))
    }

    /// Time of the frame, s.
    pub fn time(&self) -> Option<f64> {
        self.document["scenes"][0]["extras"]["time"].as_f64()
    }

    /// Materials, as JSON.
    pub fn materials(&self) -> &Value {
        &self.document["materials"]
    }

    /// Layouts of the meshes, in order.
    pub fn meshes(&self) -> Option<Vec<MeshLayout>> {
        let meshes = self.document["meshes"].as_array()?;
        meshes.iter().map(|mesh| self.mesh_layout(mesh)).collect()
    }

    fn mesh_layout(&self, mesh: &Value) -> Option<MeshLayout> {
        let primitive = &mesh["primitives"][0];
        let count = self.accessor(&primitive["attributes"]["POSITION"])?["count"].as_u64()? as usize;
        let triangles = match self.accessor(&primitive["indices"]) {
            Some(corners) => {
                let hash = mesh["extras"]["triangles"].as_str()?.to_string();
                Some((corners["count"].as_u64()? as usize / 3, hash))
            }
            None => None,
        };
        Some(MeshLayout {
            name: mesh["name"].as_str()?.to_string(),
            vertices: count,
            has_normals: primitive["attributes"]["NORMAL"].is_u64(),
            triangles,
            material: primitive["material"].as_u64()?,
        })
    }

    fn accessor(&self, index: &Value) -> Option<&Value> {
        self.document["accessors"].get(index.as_u64()? as usize)
    }

    /// Reads a vector attribute of a mesh.
    pub fn vectors(&self, mesh: usize, name: &str) -> io::Result<Vec<Vec3>> {
        let bytes = self.bytes(&self.document["meshes"][mesh]["primitives"][0]["attributes"][name])?;
        let float = |four: &[u8]| f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        Ok(bytes.chunks_exact(12).map(|v| Vec3::new(float(v), float(&v[4..]), float(&v[8..]))).collect())
    }

    /// Reads the triangle indices of a mesh, as bytes.
    pub fn indices(&self, mesh: usize) -> io::Result<Vec<u8>> {
        self.bytes(&self.document["meshes"][mesh]["primitives"][0]["indices"])
    }

    fn bytes(&self, accessor: &Value) -> io::Result<Vec<u8>> {
        let view = self.accessor(accessor).and_then(|accessor| {
            let view = self.document["bufferViews"].get(accessor["bufferView"].as_u64()? as usize)?;
            Some((view["byteOffset"].as_u64()?, view["byteLength"].as_u64()?))
        });
        let (offset, length) = view.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.buffer_start + offset))?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::Error::from(io::ErrorKind::UnexpectedEof)) }
    }
}
