//! glTF 2.0, `.gltf` text or `.glb` binary: all triangles of the scene, with the transforms of its nodes.
//!
//! Materials, animations and skins are ignored. Nothing in the file is trusted: every range is checked against
//! the available bytes.

use super::{ImportError, MAX_ELEMENTS, MeshBuilder, TriangleMesh};
use crate::import::base64;
use crate::import::scalar::{Scalar, decode_u32, decode_vec3};
use crate::mesh::MeshError;
use glam::{Mat4, Quat, Vec3};
use serde::Deserialize;
use std::{borrow::Cow, collections::BTreeMap};

const FORMAT: &str = "glTF";

fn content_error(what: impl Into<String>) -> ImportError {
    ImportError::Content { format: FORMAT, what: what.into() }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GltfDocument {
    extensions_required: Vec<String>,
    scene: Option<usize>,
    scenes: Vec<GltfScene>,
    nodes: Vec<GltfNode>,
    meshes: Vec<GltfMesh>,
    accessors: Vec<GltfAccessor>,
    buffer_views: Vec<GltfBufferView>,
    buffers: Vec<GltfBuffer>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GltfScene {
    nodes: Vec<usize>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GltfNode {
    mesh: Option<usize>,
    children: Vec<usize>,
    matrix: Option<[f32; 16]>,
    translation: Option<[f32; 3]>,
    rotation: Option<[f32; 4]>,
    scale: Option<[f32; 3]>,
}

impl GltfNode {
    fn transform(&self) -> Mat4 {
        if let Some(matrix) = &self.matrix {
            return Mat4::from_cols_array(matrix);
        }
        let rotation = Quat::from_array(self.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]));
        let rotation = if rotation.length_squared() > 0.0 { rotation.normalize() } else { Quat::IDENTITY };
        let [scale, translation] = [self.scale.unwrap_or([1.0; 3]), self.translation.unwrap_or([0.0; 3])];
        Mat4::from_scale_rotation_translation(scale.into(), rotation, translation.into())
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GltfMesh {
    primitives: Vec<GltfPrimitive>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GltfPrimitive {
    attributes: BTreeMap<String, usize>,
    indices: Option<usize>,
    mode: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GltfAccessor {
    buffer_view: Option<usize>,
    byte_offset: usize,
    component_type: u32,
    count: usize,
    r#type: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GltfBufferView {
    buffer: usize,
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GltfBuffer {
    uri: Option<String>,
}

/// Reads the mesh; `resource` loads the files that the text refers to.
pub(super) fn parse(
    bytes: &[u8],
    resource: &dyn Fn(&str) -> Result<Vec<u8>, ImportError>,
) -> Result<TriangleMesh, ImportError> {
    let (text, chunk) = if bytes.starts_with(b"glTF") { split_glb(bytes)? } else { (bytes, None) };
    let document: GltfDocument =
        serde_json::from_slice(text).map_err(|error| content_error(format!("its JSON is not as expected: {error}")))?;
    let compressed = ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"];
    if let Some(name) = document.extensions_required.iter().find(|name| compressed.contains(&name.as_str())) {
        return Err(content_error(format!(
            "it is packed with {name}, which is not read; export it without compression"
        )));
    }
    let mut buffers = Vec::new();
    for (index, buffer) in document.buffers.iter().enumerate() {
        buffers.push(match (&buffer.uri, chunk) {
            (Some(uri), _) => Cow::Owned(load_uri(uri, resource)?),
            (None, Some(chunk)) if index == 0 => Cow::Borrowed(chunk),
            (None, _) => return Err(content_error(format!("buffer {index} has no data"))),
        });
    }
    let mut reader = GltfReader { document: &document, buffers, builder: MeshBuilder::default() };
    reader.read_scene()?;
    Ok(reader.builder.finish())
}

/// Splits a `.glb` file into its JSON chunk and its binary chunk.
fn split_glb(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), ImportError> {
    let truncated = || ImportError::Truncated { format: FORMAT, within: "its chunks".into() };
    let number = |bytes: &[u8], at: usize| decode_u32(bytes, at).ok_or_else(truncated);
    let version = number(bytes, 4)?;
    if version != 2 {
        return Err(content_error(format!("it is of version {version}; only version 2 is read")));
    }
    let mut rest = bytes.get(12..).unwrap_or(&[]);
    let mut chunks = Vec::new();
    while !rest.is_empty() && chunks.len() < 2 {
        let length = number(rest, 0)? as usize;
        let kind = number(rest, 4)?.to_le_bytes();
        let (chunk, behind) = rest[8..].split_at_checked(length).ok_or_else(truncated)?;
        chunks.push((kind, chunk));
        rest = behind;
    }
    let find = |kind: &[u8; 4]| chunks.iter().find(|chunk| chunk.0 == *kind).map(|chunk| chunk.1);
    let text = find(b"JSON").ok_or_else(|| content_error("it has no JSON chunk"))?;
    Ok((text, find(b"BIN\0")))
}

/// Loads the bytes of a URI: embedded data, or a file beside the text.
fn load_uri(uri: &str, resource: &dyn Fn(&str) -> Result<Vec<u8>, ImportError>) -> Result<Vec<u8>, ImportError> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (_, text) = data.split_once(";base64,").ok_or_else(|| content_error("a data URI is not in base64"))?;
        return base64::decode(text).ok_or_else(|| content_error("a data URI holds broken base64"));
    }
    if uri.contains(':') || uri.starts_with(['/', '\\']) {
        return Err(ImportError::Resource { uri: uri.into(), why: "is not beside it".into() });
    }
    resource(&decode_percent(uri))
}

/// Decodes percent-encoding such as `%20`.
fn decode_percent(uri: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = uri.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = behind.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Traversal of the scene graph that collects its triangles.
struct GltfReader<'a> {
    document: &'a GltfDocument,
    buffers: Vec<Cow<'a, [u8]>>,
    builder: MeshBuilder,
}

impl GltfReader<'_> {
    fn read_scene(&mut self) -> Result<(), ImportError> {
        if self.document.nodes.is_empty() {
            return (0..self.document.meshes.len()).try_for_each(|mesh| self.read_mesh(mesh, Mat4::IDENTITY));
        }
        let mut pending: Vec<(usize, Mat4)> = self.roots()?.iter().map(|root| (*root, Mat4::IDENTITY)).collect();
        let mut seen = vec![false; self.document.nodes.len()];
        while let Some((index, parent)) = pending.pop() {
            let node =
                self.document.nodes.get(index).ok_or_else(|| content_error(format!("there is no node {index}")))?;
            if std::mem::replace(&mut seen[index], true) {
                return Err(content_error(format!("node {index} has more than one parent, or is its own")));
            }
            let transform = parent * node.transform();
            if let Some(mesh) = node.mesh {
                self.read_mesh(mesh, transform)?;
            }
            pending.extend(node.children.iter().rev().map(|child| (*child, transform)));
        }
        Ok(())
    }

    /// Root nodes of the scene, in reverse order; without a scene, all nodes without a parent.
    fn roots(&self) -> Result<Vec<usize>, ImportError> {
        let document = self.document;
        let mut roots = match document.scenes.get(document.scene.unwrap_or(0)) {
            Some(scene) => scene.nodes.clone(),
            None if document.scene.is_some() => return Err(content_error("its scene does not exist")),
            None => {
                let mut is_child = vec![false; document.nodes.len()];
                let children = document.nodes.iter().flat_map(|node| &node.children);
                children.for_each(|child| is_child.get_mut(*child).into_iter().for_each(|flag| *flag = true));
                (0..is_child.len()).filter(|node| !is_child[*node]).collect()
            }
        };
        roots.reverse();
        Ok(roots)
    }

    fn read_mesh(&mut self, mesh: usize, transform: Mat4) -> Result<(), ImportError> {
        let found = self.document.meshes.get(mesh).ok_or_else(|| content_error(format!("there is no mesh {mesh}")))?;
        found.primitives.iter().try_for_each(|primitive| self.read_primitive(primitive, transform))
    }

    fn read_primitive(&mut self, primitive: &GltfPrimitive, transform: Mat4) -> Result<(), ImportError> {
        let mode = primitive.mode.unwrap_or(4);
        // 0 to 3 are points and lines.
        let (4..=6, Some(positions)) = (mode, primitive.attributes.get("POSITION")) else { return Ok(()) };
        let first = self.builder.vertex_count();
        let positions = self.positions(*positions)?;
        let indices = match primitive.indices {
            Some(accessor) => self.indices(accessor)?,
            None => (0..positions.len() as u32).collect(),
        };
        if first + positions.len().max(indices.len()) > MAX_ELEMENTS {
            return Err(MeshError::TooLarge { limit: MAX_ELEMENTS }.into());
        }
        for position in &positions {
            self.builder.add_vertex(transform.transform_point3(*position))?;
        }
        let mirrored = transform.determinant() < 0.0;
        for triangle in 0..triangle_count(mode, indices.len()) {
            let mut corners = corners_of(mode, triangle).map(|corner| indices[corner]);
            if mirrored {
                corners.swap(1, 2);
            }
            if let Some(index) = corners.iter().find(|index| **index as usize >= positions.len()) {
                let (index, vertices) = (i64::from(*index), positions.len());
                return Err(MeshError::BadIndex { triangle, index, vertices }.into());
            }
            self.builder.add_polygon(&corners.map(|corner| first as i64 + i64::from(corner)))?;
        }
        Ok(())
    }

    fn positions(&self, accessor: usize) -> Result<Vec<Vec3>, ImportError> {
        let found = self.accessor(accessor)?;
        if (found.component_type, found.r#type.as_str()) != (5126, "VEC3") {
            return Err(content_error(format!("accessor {accessor} holds positions that are not three 32-bit floats")));
        }
        Ok(self.rows(accessor, 12)?.map(decode_vec3).collect())
    }

    fn indices(&self, accessor: usize) -> Result<Vec<u32>, ImportError> {
        let found = self.accessor(accessor)?;
        let kind = match (found.component_type, found.r#type.as_str()) {
            (5121, "SCALAR") => Scalar::U8,
            (5123, "SCALAR") => Scalar::U16,
            (5125, "SCALAR") => Scalar::U32,
            _ => return Err(content_error(format!("accessor {accessor} holds indices that are not whole numbers"))),
        };
        Ok(self.rows(accessor, kind.size())?.map(|row| kind.decode(row, false) as u32).collect())
    }

    fn accessor(&self, index: usize) -> Result<&GltfAccessor, ImportError> {
        self.document.accessors.get(index).ok_or_else(|| content_error(format!("there is no accessor {index}")))
    }

    /// Elements of an accessor, each of `size` bytes.
    fn rows(&self, index: usize, size: usize) -> Result<impl Iterator<Item = &[u8]>, ImportError> {
        let accessor = self.accessor(index)?;
        let out_of_range = || content_error(format!("accessor {index} reaches beyond its data"));
        if accessor.sparse.is_some() {
            return Err(content_error(format!("accessor {index} is sparse, which is not read")));
        }
        let view =
            accessor.buffer_view.and_then(|view| self.document.buffer_views.get(view)).ok_or_else(out_of_range)?;
        let buffer = self.buffers.get(view.buffer).ok_or_else(out_of_range)?;
        let end = view.byte_offset.checked_add(view.byte_length).ok_or_else(out_of_range)?;
        let bytes = buffer.get(view.byte_offset..end).ok_or_else(out_of_range)?;
        let bytes = bytes.get(accessor.byte_offset..).ok_or_else(out_of_range)?;
        let stride = view.byte_stride.unwrap_or(size);
        if stride < size {
            return Err(content_error(format!("the rows of accessor {index} overlap")));
        }
        let needed = match accessor.count {
            0 => Some(0),
            count => stride.checked_mul(count - 1).and_then(|bytes| bytes.checked_add(size)),
        };
        let bytes = needed.and_then(|needed| bytes.get(..needed)).ok_or_else(out_of_range)?;
        Ok(bytes.chunks(stride).map(move |row| &row[..size]))
    }
}

/// Number of triangles of a list (mode 4), strip (5) or fan (6) with this many corners.
fn triangle_count(mode: u32, corners: usize) -> usize {
    if mode == 4 { corners / 3 } else { corners.saturating_sub(2) }
}

/// Corners of a triangle of a list (mode 4), strip (5) or fan (6).
fn corners_of(mode: u32, triangle: usize) -> [usize; 3] {
    match mode {
        4 => [3 * triangle, 3 * triangle + 1, 3 * triangle + 2],
        5 if triangle.is_multiple_of(2) => [triangle, triangle + 1, triangle + 2],
        5 => [triangle, triangle + 2, triangle + 1],
        _ => [0, triangle + 1, triangle + 2],
    }
}

#[cfg(test)]
#[path = "gltf_tests.rs"]
mod tests;
