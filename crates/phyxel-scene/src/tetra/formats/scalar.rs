//! Scalar types of the arrays of VTK files.

/// Scalar type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum VtkScalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl VtkScalar {
    /// Type by its name in legacy files.
    pub fn of_legacy_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "char" | "signed_char" => Self::I8,
            "unsigned_char" => Self::U8,
            "short" => Self::I16,
            "unsigned_short" => Self::U16,
            // Legacy files have numbers of points and cells with 32 bits too.
            "int" | "vtkidtype" => Self::I32,
            "unsigned_int" => Self::U32,
            "long" | "vtktypeint64" => Self::I64,
            "unsigned_long" | "vtktypeuint64" => Self::U64,
            "float" => Self::F32,
            "double" => Self::F64,
            _ => return None,
        })
    }

    /// Type by its name in XML files.
    pub fn of_xml_name(name: &str) -> Option<Self> {
        Some(match name {
            "Int8" => Self::I8,
            "UInt8" => Self::U8,
            "Int16" => Self::I16,
            "UInt16" => Self::U16,
            "Int32" => Self::I32,
            "UInt32" => Self::U32,
            "Int64" => Self::I64,
            "UInt64" => Self::U64,
            "Float32" => Self::F32,
            "Float64" => Self::F64,
            _ => return None,
        })
    }

    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Decodes as many bytes as [`Self::size`]. Integers above 2^53 are rounded; no count is so large.
    pub fn decode(self, bytes: &[u8], big_endian: bool) -> f64 {
        let mut little = [0; 8];
        for (to, from) in little.iter_mut().zip(bytes) {
            *to = *from;
        }
        if big_endian {
            little[..self.size()].reverse();
        }
        let [a, b, c, d, ..] = little;
        match self {
            Self::I8 => f64::from(a as i8),
            Self::U8 => f64::from(a),
            Self::I16 => f64::from(i16::from_le_bytes([a, b])),
            Self::U16 => f64::from(u16::from_le_bytes([a, b])),
            Self::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Self::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Self::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Self::I64 => i64::from_le_bytes(little) as f64,
            Self::U64 => u64::from_le_bytes(little) as f64,
            Self::F64 => f64::from_le_bytes(little),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_either_byte_order() {
        assert_eq!(VtkScalar::I16.decode(&[0xff, 0xfe], true), -2.0);
        assert_eq!(VtkScalar::I16.decode(&[0xfe, 0xff], false), -2.0);
        assert_eq!(VtkScalar::F64.decode(&1.25f64.to_be_bytes(), true), 1.25);
        assert_eq!(VtkScalar::F32.decode(&(-0.5f32).to_le_bytes(), false), -0.5);
        assert_eq!(VtkScalar::U64.decode(&7u64.to_be_bytes(), true), 7.0);
        assert_eq!(VtkScalar::of_legacy_name("vtktypeint64"), Some(VtkScalar::I64));
        assert_eq!(VtkScalar::of_xml_name("UInt8").map(VtkScalar::size), Some(1));
        assert_eq!(VtkScalar::of_xml_name("String"), None);
    }
}
