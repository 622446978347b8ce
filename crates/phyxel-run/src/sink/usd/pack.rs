//! How the tables of a crate file are packed: lists of integers in two bits and up, then a frame of LZ4.
//!
//! The frame holds the bytes as they are. That is valid LZ4, needs no compressor, and the tables are small.

use std::collections::BTreeMap;

/// Bytes in a frame of LZ4 that copies them, after the zero that says "one block".
pub(super) fn stored(bytes: &[u8]) -> Vec<u8> {
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

/// A list of integers: differences of neighbours, the most common one left out, the others in 1, 2 or 4 bytes.
pub(super) fn integers(values: &[u32]) -> Vec<u8> {
    let differences = differences(values);
    let common = most_common(&differences);
    let mut codes = vec![0_u8; values.len().div_ceil(4)];
    let mut bytes = Vec::new();
    for (i, &difference) in differences.iter().enumerate() {
        let code = if difference == common {
            0
        } else if let Ok(small) = i8::try_from(difference) {
            bytes.extend(small.to_le_bytes());
            1
        } else if let Ok(middle) = i16::try_from(difference) {
            bytes.extend(middle.to_le_bytes());
            2
        } else {
            bytes.extend(difference.to_le_bytes());
            3
        };
        codes[i / 4] |= code << (2 * (i % 4));
    }
    stored(&[&common.to_le_bytes()[..], &codes, &bytes].concat())
}

fn differences(values: &[u32]) -> Vec<i32> {
    let before = std::iter::once(0).chain(values.iter().copied());
    values.iter().zip(before).map(|(value, before)| value.wrapping_sub(before) as i32).collect()
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

    /// Undoes [`stored`].
    pub(crate) fn unstored(bytes: &[u8]) -> Vec<u8> {
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

    /// Undoes [`integers`].
    pub(crate) fn unpacked(bytes: &[u8], count: usize) -> Vec<u32> {
        let bytes = unstored(bytes);
        let common = i32::from_le_bytes(bytes[..4].try_into().unwrap());
        let (codes, mut rest) = bytes[4..].split_at(count.div_ceil(4));
        let mut value = 0_i32;
        let mut out = Vec::new();
        for i in 0..count {
            let width = [0, 1, 2, 4][usize::from(codes[i / 4] >> (2 * (i % 4)) & 3)];
            let (own, later) = rest.split_at(width);
            rest = later;
            value = value.wrapping_add(match width {
                0 => common,
                1 => i32::from(own[0] as i8),
                2 => i32::from(i16::from_le_bytes(own.try_into().unwrap())),
                _ => i32::from_le_bytes(own.try_into().unwrap()),
            });
            out.push(value as u32);
        }
        assert!(rest.is_empty());
        out
    }

    #[test]
    fn bytes_of_every_length_come_back() {
        for length in [0, 1, 14, 15, 16, 269, 270, 271, 5000] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
            assert_eq!(unstored(&stored(&bytes)), bytes);
        }
    }

    #[test]
    fn integers_small_large_and_negative_come_back() {
        let lists: [&[u32]; 4] =
            [&[7], &[123, 124, 125, 100_125, 100_125, 100_126, 100_126], &[0, u32::MAX, 5, u32::MAX], &[1; 100]];
        for list in lists {
            assert_eq!(unpacked(&integers(list), list.len()), list);
        }
    }
}
