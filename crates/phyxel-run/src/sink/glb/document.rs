//! glTF document: objects that refer to each other by index, and the binary container.

use crate::sink::appearance::Appearance;
use glam::Vec3;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Component type of 32-bit floats.
pub(super) const FLOAT: u32 = 5126;
/// Component type of 32-bit unsigned integers.
const UNSIGNED_INT: u32 = 5125;
/// Targets of buffer views: vertex attributes and triangle indices.
pub(super) const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Document without its binary buffer.
#[derive(Debug, Default)]
pub(super) struct Document {
    accessors: Vec<Value>,
    buffer_views: Vec<Value>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    animations: Vec<Value>,
    /// Length of the binary buffer so far, bytes.
    pub buffer_length: u64,
}

impl Document {
    /// Adds a view of the next `length` bytes, a multiple of four. `target` is its use; `stride` the distance of values
    /// if accessors are interleaved.
    pub fn buffer_view(&mut self, length: u64, target: Option<u32>, stride: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.buffer_length, "byteLength": length });
        for (key, value) in [("target", target), ("byteStride", stride)] {
            if let Some(value) = value {
                view[key] = value.into();
            }
        }
        self.buffer_length += length;
        self.buffer_views.push(view);
        self.buffer_views.len() - 1
    }

    /// Adds an accessor.
    pub fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds an accessor of vectors with its own view.
    pub fn vectors(&mut self, count: usize, bounds: Option<Bounds>) -> usize {
        let view = self.buffer_view(12 * count as u64, Some(ARRAY_BUFFER), None);
        self.accessor(vector_accessor(view, 0, count, bounds))
    }

    /// Adds an accessor of scalars with its own view.
    pub fn scalars(&mut self, count: usize) -> usize {
        let view = self.buffer_view(4 * count as u64, Some(ARRAY_BUFFER), None);
        self.accessor(json!({ "bufferView": view, "componentType": FLOAT, "count": count, "type": "SCALAR" }))
    }

    /// Adds the coordinates of vectors as three interleaved accessors of scalars.
    pub fn coordinates(&mut self, count: usize) -> [usize; 3] {
        let view = self.buffer_view(12 * count as u64, Some(ARRAY_BUFFER), Some(12));
        [0, 4, 8].map(|offset| {
            let accessor = json!({
                "bufferView": view, "byteOffset": offset, "componentType": FLOAT, "count": count, "type": "SCALAR",
            });
            self.accessor(accessor)
        })
    }

    /// Adds an accessor of triangle indices with its own view.
    pub fn indices(&mut self, triangles: usize) -> usize {
        let (view, count) = (self.buffer_view(12 * triangles as u64, Some(ELEMENT_ARRAY_BUFFER), None), 3 * triangles);
        self.accessor(json!({ "bufferView": view, "componentType": UNSIGNED_INT, "count": count, "type": "SCALAR" }))
    }

    /// Index of the material with this appearance, which is added if new.
    pub fn material(&mut self, appearance: &Appearance) -> usize {
        let material = material(appearance);
        self.materials.iter().position(|known| *known == material).unwrap_or_else(|| {
            self.materials.push(material);
            self.materials.len() - 1
        })
    }

    /// Sets the materials, as in another document.
    pub fn set_materials(&mut self, materials: Vec<Value>) {
        self.materials = materials;
    }

    /// Adds a mesh and a node that refers to it.
    pub fn node(&mut self, name: &str, mut mesh: Value) -> usize {
        mesh["name"] = name.into();
        self.nodes.push(json!({ "name": name, "mesh": self.meshes.len() }));
        self.meshes.push(mesh);
        self.nodes.len() - 1
    }

    /// Adds an animation.
    pub fn animation(&mut self, animation: Value) {
        self.animations.push(animation);
    }

    /// Encodes the document as JSON. `extras` belong to the scene.
    pub fn to_json(&self, extras: Value) -> String {
        let mut root = Map::new();
        let generator = format!("phyxel {}", env!("CARGO_PKG_VERSION"));
        root.insert("asset".into(), json!({ "version": "2.0", "generator": generator }));
        let mut scene = json!({ "extras": extras });
        if !self.nodes.is_empty() {
            scene["nodes"] = (0..self.nodes.len()).collect();
        }
        root.insert("scene".into(), 0.into());
        root.insert("scenes".into(), json!([scene]));
        if self.buffer_length > 0 {
            root.insert("buffers".into(), json!([{ "byteLength": self.buffer_length }]));
        }
        if self.materials.iter().any(|material| !material["extensions"].is_null()) {
            root.insert("extensionsUsed".into(), json!(["KHR_materials_ior", "KHR_materials_transmission"]));
        }
        let lists = [
            ("accessors", &self.accessors),
            ("bufferViews", &self.buffer_views),
            ("materials", &self.materials),
            ("meshes", &self.meshes),
            ("nodes", &self.nodes),
            ("animations", &self.animations),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            root.insert(name.into(), list.clone().into());
        }
        Value::Object(root).to_string()
    }
}

fn material(appearance: &Appearance) -> Value {
    let [r, g, b] = appearance.linear_color();
    let mut material = json!({
        "name": appearance.name,
        "pbrMetallicRoughness": {
            "baseColorFactor": [r, g, b, 1.0],
            "metallicFactor": appearance.finish.metalness(),
            "roughnessFactor": appearance.finish.roughness(),
        },
    });
    if appearance.transmission() > 0.0 {
        material["extensions"] = json!({
            "KHR_materials_transmission": { "transmissionFactor": appearance.transmission() },
            "KHR_materials_ior": { "ior": appearance.refractive_index() },
        });
    }
    material
}

/// Axis-aligned bounding box.
pub(super) type Bounds = [Vec3; 2];

/// Bounding box of points.
pub(super) fn bounds(vectors: &[Vec3]) -> Bounds {
    let first = vectors.first().copied().unwrap_or_default();
    vectors.iter().fold([first; 2], |[low, high], &vector| [low.min(vector), high.max(vector)])
}

/// Accessor of vectors in a view.
pub(super) fn vector_accessor(view: usize, offset: u64, count: usize, bounds: Option<Bounds>) -> Value {
    let mut accessor = json!({ "bufferView": view, "componentType": FLOAT, "count": count, "type": "VEC3" });
    if offset > 0 {
        accessor["byteOffset"] = offset.into();
    }
    if let Some([low, high]) = bounds {
        accessor["min"] = json!(low.to_array());
        accessor["max"] = json!(high.to_array());
    }
    accessor
}

/// Writes the binary container: header, JSON, and a buffer of `bytes` bytes by `fill`.
pub(super) fn write_binary(
    writer: &mut dyn Write,
    json: &str,
    bytes: u64,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let padding = json.len().next_multiple_of(4) - json.len();
    let json_size = (json.len() + padding) as u64;
    let total = 12 + 8 + json_size + if bytes > 0 { 8 + bytes } else { 0 };
    let total = u32::try_from(total).map_err(|_| io::Error::other("a binary glTF file holds no more than 4 GB"))?;
    writer.write_all(b"glTF")?;
    for value in [2, total, json_size as u32] {
        writer.write_all(&value.to_le_bytes())?;
    }
    writer.write_all(b"JSON")?;
    writer.write_all(json.as_bytes())?;
    writer.write_all(&b"   "[..padding])?;
    if bytes > 0 {
        writer.write_all(&(bytes as u32).to_le_bytes())?;
        writer.write_all(b"BIN\0")?;
        fill(writer)?;
    }
    Ok(())
}
