//! Compression of the tables of a crate file: delta-coded integers in an LZ4 frame.
//!
//! The frame stores its bytes as literals. That is valid LZ4 and needs no compressor; the tables are small.

use std::collections::BTreeMap;

/// Encodes bytes as literals of an LZ4 frame, after a zero byte for "one block".
pub(super) fn lz4_frame(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0, (bytes.len().min(15) as u8) << 4];
    if let Some(mut rest) = bytes.len().checked_sub(15) {
        while rest >= 255 {
            out.push(255);
            rest -= 255;
        }
        out.push(rest as u8);
    }
    out.extend_from_slice(bytes);
    out
}

/// Encodes integers by differences of neighbours: none for the most common one, the others in 1, 2 or 4 bytes.
pub(super) fn compress_integers(values: &[u32]) -> Vec<u8> {
    let differences = differences(values);
    let common = most_common(&differences);
    let mut codes = vec![0_u8; values.len().div_ceil(4)];
    let mut bytes = Vec::new();
    for (i, &difference) in differences.iter().enumerate() {
        let code = if difference == common {
            0
        } else if let Ok(byte) = i8::try_from(difference) {
            bytes.extend(byte.to_le_bytes());
            1
        } else if let Ok(short) = i16::try_from(difference) {
            bytes.extend(short.to_le_bytes());
            2
        } else {
            bytes.extend(difference.to_le_bytes());
            3
        };
        codes[i / 4] |= code << (2 * (i % 4));
    }
    lz4_frame(&[&common.to_le_bytes()[..], &codes, &bytes].concat())
}

fn differences(values: &[u32]) -> Vec<i32> {
    let previous = std::iter::once(0).chain(values.iter().copied());
    values.iter().zip(previous).map(|(value, previous)| value.wrapping_sub(previous) as i32).collect()
}

fn most_common(values: &[i32]) -> i32 {
    let mut counts = BTreeMap::new();
    for &value in values {
        *counts.entry(value).or_insert(0_usize) += 1;
    }
    counts.into_iter().max_by_key(|&(_, count)| count).map_or(0, |(value, _)| value)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Decodes [`lz4_frame`].
    pub(crate) fn decode_lz4_frame(bytes: &[u8]) -> Vec<u8> {
        assert_eq!(bytes[0], 0, "one block");
        let (mut length, mut at) = (usize::from(bytes[1] >> 4), 2);
        if length == 15 {
            loop {
                length += usize::from(bytes[at]);
                at += 1;
                if bytes[at - 1] != 255 {
                    break;
                }
            }
        }
        assert_eq!(bytes.len(), at + length);
        bytes[at..].to_vec()
    }

    /// Decodes [`compress_integers`].
    pub(crate) fn decode_integers(bytes: &[u8], count: usize) -> Vec<u32> {
        let bytes = decode_lz4_frame(bytes);
        let common = i32::from_le_bytes(bytes[..4].try_into().unwrap());
        let (codes, mut rest) = bytes[4..].split_at(count.div_ceil(4));
        let mut value = 0_i32;
        let mut out = Vec::new();
        for i in 0..count {
            let width = [0, 1, 2, 4][usize::from(codes[i / 4] >> (2 * (i % 4)) & 3)];
            let (code, remaining) = rest.split_at(width);
            rest = remaining;
            value = value.wrapping_add(match width {
                0 => common,
                1 => i32::from(code[0] as i8),
                2 => i32::from(i16::from_le_bytes(code.try_into().unwrap())),
                _ => i32::from_le_bytes(code.try_into().unwrap()),
            });
            out.push(value as u32);
        }
        assert!(rest.is_empty());
        out
    }

    #[test]
    fn bytes_of_every_length_are_restored() {
        for length in [0, 1, 14, 15, 16, 269, 270, 271, 5000] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
            assert_eq!(decode_lz4_frame(&lz4_frame(&bytes)), bytes);
        }
    }

    #[test]
    fn small_large_and_negative_integers_are_restored() {
        let lists: [&[u32]; 4] =
            [&[7], &[123, 124, 125, 100_125, 100_125, 100_126, 100_126], &[0, u32::MAX, 5, u32::MAX], &[1; 100]];
        for list in lists {
            assert_eq!(decode_integers(&compress_integers(list), list.len()), list);
        }
    }
}
