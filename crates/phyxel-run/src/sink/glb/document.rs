//! The parts of a glTF document that refer to each other by number, and the binary file they end up in.

use crate::sink::look::Look;
use glam::Vec3;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Numbers of 32 bits with a fraction.
pub(super) const FLOAT: u32 = 5126;
/// Whole numbers of 32 bits.
const WHOLE: u32 = 5125;
/// What a view is for: values of vertices, or corners of triangles.
pub(super) const VERTICES: u32 = 34962;
const CORNERS: u32 = 34963;

/// A document without its numbers.
#[derive(Debug, Default)]
pub(super) struct Document {
    accessors: Vec<Value>,
    views: Vec<Value>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    animations: Vec<Value>,
    /// Bytes of the binary part so far.
    pub bytes: u64,
}

impl Document {
    /// A view on the next `length` bytes, which are a multiple of four. `target` says what for; `stride` how far
    /// apart values are where several lists share it.
    pub fn view(&mut self, length: u64, target: Option<u32>, stride: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes, "byteLength": length });
        for (key, value) in [("target", target), ("byteStride", stride)] {
            if let Some(value) = value {
                view[key] = value.into();
            }
        }
        self.bytes += length;
        self.views.push(view);
        self.views.len() - 1
    }

    /// A list of values in a view.
    pub fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// A list of vectors in a view of its own.
    pub fn vectors(&mut self, count: usize, bounds: Option<Bounds>) -> usize {
        let view = self.view(12 * count as u64, Some(VERTICES), None);
        self.accessor(vectors(view, 0, count, bounds))
    }

    /// A list of numbers in a view of its own.
    pub fn scalars(&mut self, count: usize) -> usize {
        let view = self.view(4 * count as u64, Some(VERTICES), None);
        self.accessor(json!({ "bufferView": view, "componentType": FLOAT, "count": count, "type": "SCALAR" }))
    }

    /// The three coordinates of vectors as three lists of numbers, in one view.
    pub fn coordinates(&mut self, count: usize) -> [usize; 3] {
        let view = self.view(12 * count as u64, Some(VERTICES), Some(12));
        [0, 4, 8].map(|offset| {
            let place = json!({
                "bufferView": view, "byteOffset": offset, "componentType": FLOAT, "count": count, "type": "SCALAR",
            });
            self.accessor(place)
        })
    }

    /// Corners of triangles in a view of their own.
    pub fn corners(&mut self, triangles: usize) -> usize {
        let (view, count) = (self.view(12 * triangles as u64, Some(CORNERS), None), 3 * triangles);
        self.accessor(json!({ "bufferView": view, "componentType": WHOLE, "count": count, "type": "SCALAR" }))
    }

    /// Number of the material of a look.
    pub fn material(&mut self, look: &Look) -> usize {
        let material = material(look);
        self.materials.iter().position(|known| *known == material).unwrap_or_else(|| {
            self.materials.push(material);
            self.materials.len() - 1
        })
    }

    /// Takes over the materials of another document.
    pub fn set_materials(&mut self, materials: Vec<Value>) {
        self.materials = materials;
    }

    /// A node that shows a mesh.
    pub fn node(&mut self, name: &str, mut mesh: Value) -> usize {
        mesh["name"] = name.into();
        self.nodes.push(json!({ "name": name, "mesh": self.meshes.len() }));
        self.meshes.push(mesh);
        self.nodes.len() - 1
    }

    /// A motion of nodes.
    pub fn animation(&mut self, animation: Value) {
        self.animations.push(animation);
    }

    /// Everything but the numbers, as text. `extras` goes to the scene.
    pub fn text(&self, extras: Value) -> String {
        let mut root = Map::new();
        let generator = format!("phyxel {}", env!("CARGO_PKG_VERSION"));
        root.insert("asset".into(), json!({ "version": "2.0", "generator": generator }));
        let mut scene = json!({ "extras": extras });
        if !self.nodes.is_empty() {
            scene["nodes"] = (0..self.nodes.len()).collect();
        }
        root.insert("scene".into(), 0.into());
        root.insert("scenes".into(), json!([scene]));
        if self.bytes > 0 {
            root.insert("buffers".into(), json!([{ "byteLength": self.bytes }]));
        }
        if self.materials.iter().any(|material| !material["extensions"].is_null()) {
            root.insert("extensionsUsed".into(), json!(["KHR_materials_ior", "KHR_materials_transmission"]));
        }
        let lists = [
            ("accessors", &self.accessors),
            ("bufferViews", &self.views),
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

fn material(look: &Look) -> Value {
    let [r, g, b] = look.linear_color();
    let mut material = json!({
        "name": look.name,
        "pbrMetallicRoughness": {
            "baseColorFactor": [r, g, b, 1.0],
            "metallicFactor": look.finish.metalness(),
            "roughnessFactor": look.finish.roughness(),
        },
    });
    if look.transmission() > 0.0 {
        material["extensions"] = json!({
            "KHR_materials_transmission": { "transmissionFactor": look.transmission() },
            "KHR_materials_ior": { "ior": look.refraction() },
        });
    }
    material
}

/// Smallest and largest coordinates.
pub(super) type Bounds = [Vec3; 2];

/// Smallest and largest coordinates of vectors.
pub(super) fn bounds(vectors: &[Vec3]) -> Bounds {
    let first = vectors.first().copied().unwrap_or_default();
    vectors.iter().fold([first; 2], |[low, high], &vector| [low.min(vector), high.max(vector)])
}

/// A list of vectors in a view.
pub(super) fn vectors(view: usize, offset: u64, count: usize, bounds: Option<Bounds>) -> Value {
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

/// Writes the binary file: a header, the text, and `bytes` numbers by `fill`.
pub(super) fn write_binary(
    writer: &mut dyn Write,
    text: &str,
    bytes: u64,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let padding = text.len().next_multiple_of(4) - text.len();
    let text_room = (text.len() + padding) as u64;
    let total = 12 + 8 + text_room + if bytes > 0 { 8 + bytes } else { 0 };
    let total = u32::try_from(total).map_err(|_| io::Error::other("a binary glTF file holds no more than 4 GB"))?;
    writer.write_all(b"glTF")?;
    for number in [2, total, text_room as u32] {
        writer.write_all(&number.to_le_bytes())?;
    }
    writer.write_all(b"JSON")?;
    writer.write_all(text.as_bytes())?;
    writer.write_all(&b"   "[..padding])?;
    if bytes > 0 {
        writer.write_all(&(bytes as u32).to_le_bytes())?;
        writer.write_all(b"BIN\0")?;
        fill(writer)?;
    }
    Ok(())
}
