//! VTK XML files with an unstructured grid: arrays as text or as inline base64, not compressed.

use super::super::TetraError;
use super::{
    Format,
    raw::Raw,
    scalar::Scalar,
    vtk::{add_cells, whole},
};
use roxmltree::{Document, Node};

const REMEDY: &str = "save it with data as text (ASCII), or inline as binary without compression";

fn complain(what: String) -> TetraError {
    TetraError::Content { format: Format::Vtu, what }
}

fn refuse(what: &str) -> TetraError {
    TetraError::Unsupported { format: Format::Vtu, what: what.into(), remedy: REMEDY }
}

/// How numbers are kept in base64.
#[derive(Clone, Copy)]
struct Encoding {
    big_endian: bool,
    /// Kind of the length that precedes each array.
    length: Scalar,
}

/// Reads the points and the tetrahedra of all pieces.
pub(super) fn parse(bytes: &[u8]) -> Result<Raw, TetraError> {
    // Bytes after this mark need not be text, which no reader of XML takes.
    if bytes.windows(13).any(|window| window == b"<AppendedData") {
        return Err(refuse("has appended data"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| complain(format!("it is not text ({error})")))?;
    let document = Document::parse(text).map_err(|error| complain(format!("it is not XML: {error}")))?;
    let root = document.root_element();
    if !root.has_tag_name("VTKFile") {
        return Err(complain(format!("its first element is `{}`, not `VTKFile`", root.tag_name().name())));
    }
    if root.attribute("compressor").is_some_and(|name| !name.is_empty()) {
        return Err(refuse("is compressed"));
    }
    let encoding = Encoding {
        big_endian: root.attribute("byte_order") == Some("BigEndian"),
        length: if root.attribute("header_type") == Some("UInt64") { Scalar::U64 } else { Scalar::U32 },
    };
    let grid = child(root, "UnstructuredGrid")?;
    let mut raw = Raw::default();
    for piece in grid.children().filter(|node| node.has_tag_name("Piece")) {
        read_piece(piece, encoding, &mut raw)?;
    }
    Ok(raw)
}

fn child<'a>(parent: Node<'a, 'a>, name: &str) -> Result<Node<'a, 'a>, TetraError> {
    let found = parent.children().find(|node| node.has_tag_name(name));
    found.ok_or_else(|| complain(format!("`{}` has no `{name}` in it", parent.tag_name().name())))
}

fn count(piece: Node, name: &str) -> Result<usize, TetraError> {
    let value = piece.attribute(name).unwrap_or("");
    value.trim().parse().map_err(|_| complain(format!("`{name}` of a piece is `{value}`, which is not a number")))
}

fn read_piece(piece: Node, encoding: Encoding, raw: &mut Raw) -> Result<(), TetraError> {
    let (points, cells) = (count(piece, "NumberOfPoints")?, count(piece, "NumberOfCells")?);
    let first = raw.nodes();
    let positions = numbers(child(child(piece, "Points")?, "DataArray")?, encoding)?;
    expect("coordinates", positions.len(), points.saturating_mul(3))?;
    for point in positions.chunks_exact(3) {
        raw.node(raw.nodes() as u64, [point[0], point[1], point[2]])?;
    }
    let arrays = child(piece, "Cells")?;
    let array = |name: &str| {
        let found = arrays.children().find(|node| node.attribute("Name") == Some(name));
        numbers(found.ok_or_else(|| complain(format!("`Cells` has no array `{name}`")))?, encoding)
    };
    let (corners, offsets, kinds) = (array("connectivity")?, array("offsets")?, array("types")?);
    expect("offsets of cells", offsets.len(), cells)?;
    let ends: Option<Vec<usize>> = offsets.iter().map(|end| whole(*end)).collect();
    let ends = ends.ok_or_else(|| complain("an offset of a cell is no count".into()))?;
    add_cells(Format::Vtu, raw, first, &corners, (&ends, &kinds))
}

fn expect(what: &str, found: usize, promised: usize) -> Result<(), TetraError> {
    match found == promised {
        true => Ok(()),
        false => Err(complain(format!("there are {found} {what}, but the piece promises {promised}"))),
    }
}

/// The numbers of a `DataArray`.
fn numbers(array: Node, encoding: Encoding) -> Result<Vec<f64>, TetraError> {
    let name = array.attribute("Name").unwrap_or("Points");
    // Some programs put elements with further knowledge among the numbers.
    let text: String = array.children().filter(Node::is_text).filter_map(|part| part.text()).collect();
    match array.attribute("format").unwrap_or("ascii") {
        "ascii" => {
            let number =
                |word: &str| word.parse().map_err(|_| complain(format!("`{word}` in `{name}` is not a number")));
            text.split_ascii_whitespace().map(number).collect()
        }
        "binary" => {
            let kind = array.attribute("type").unwrap_or("");
            let kind = Scalar::of_type(kind)
                .ok_or_else(|| complain(format!("`{kind}`, the type of `{name}`, is not a kind of number")))?;
            let data = decode(&text).ok_or_else(|| complain(format!("the data of `{name}` is not base64")))?;
            unpack(&data, kind, encoding)
                .ok_or_else(|| TetraError::Truncated { format: Format::Vtu, within: format!("the array `{name}`") })
        }
        "appended" => Err(refuse("has appended data")),
        other => Err(complain(format!("`{other}` is not a format of arrays"))),
    }
}

/// The numbers behind the length of the array in bytes.
fn unpack(data: &[u8], kind: Scalar, encoding: Encoding) -> Option<Vec<f64>> {
    let (length, data) = data.split_at_checked(encoding.length.size())?;
    let length = whole(encoding.length.value(length, encoding.big_endian))?;
    let values = data.get(..length)?.chunks_exact(kind.size());
    Some(values.map(|bytes| kind.value(bytes, encoding.big_endian)).collect())
}

/// The bytes of base64. Some programs code the length apart from the data, so that there is padding in between.
fn decode(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let mut bytes = Vec::with_capacity(symbols.len() / 4 * 3);
    for group in symbols.chunks(4) {
        let [a, b, c, d] = *group else { return None };
        let padding = usize::from(c == b'=') + usize::from(d == b'=');
        let digits =
            [digit(a)?, digit(b)?, if c == b'=' { 0 } else { digit(c)? }, if d == b'=' { 0 } else { digit(d)? }];
        let bits = digits.iter().fold(0, |bits, digit| bits << 6 | u32::from(*digit));
        bytes.extend(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(bytes)
}

fn digit(symbol: u8) -> Option<u8> {
    match symbol {
        b'A'..=b'Z' => Some(symbol - b'A'),
        b'a'..=b'z' => Some(symbol - b'a' + 26),
        b'0'..=b'9' => Some(symbol - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_with_padding_in_between() {
        assert_eq!(decode("TWFu"), Some(b"Man".to_vec()));
        assert_eq!(decode("TWE=\n TQ== TWFu"), Some(b"MaMMan".to_vec()));
        assert_eq!(decode("TWF"), None);
        assert_eq!(decode("T=Fu"), None);
    }
}
