//! Scalar types of binary files.

use glam::Vec3;

/// Scalar type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
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

impl Scalar {
    /// Type by its name in PLY files, in legacy VTK files or in VTK XML files, in any case.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "char" | "signed_char" | "int8" => Self::I8,
            "uchar" | "unsigned_char" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "unsigned_short" | "uint16" => Self::U16,
            // Legacy VTK files have numbers of points and cells with 32 bits too.
            "int" | "vtkidtype" | "int32" => Self::I32,
            "uint" | "unsigned_int" | "uint32" => Self::U32,
            "long" | "vtktypeint64" | "int64" => Self::I64,
            "unsigned_long" | "vtktypeuint64" | "uint64" => Self::U64,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
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

/// Decodes three little-endian 32-bit floats.
pub(super) fn decode_vec3(bytes: &[u8]) -> Vec3 {
    Vec3::from_array([0, 4, 8].map(|at| f32::from_bits(decode_u32(bytes, at).unwrap_or(0))))
}

/// Decodes a little-endian 32-bit integer, if there are enough bytes.
pub(super) fn decode_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// Converts a non-negative integer.
pub(super) fn to_index(value: f64) -> Option<usize> {
    (value >= 0.0 && value.fract() == 0.0 && value < 9e15).then_some(value as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_either_byte_order() {
        assert_eq!(Scalar::I16.decode(&[0xff, 0xfe], true), -2.0);
        assert_eq!(Scalar::I16.decode(&[0xfe, 0xff], false), -2.0);
        assert_eq!(Scalar::F64.decode(&1.25f64.to_be_bytes(), true), 1.25);
        assert_eq!(Scalar::F32.decode(&(-0.5f32).to_le_bytes(), false), -0.5);
        assert_eq!(Scalar::U64.decode(&7u64.to_be_bytes(), true), 7.0);
        assert_eq!(Scalar::of_name("vtktypeint64"), Some(Scalar::I64));
        assert_eq!(Scalar::of_name("UInt8").map(Scalar::size), Some(1));
        assert_eq!(Scalar::of_name("String"), None);
    }
}
