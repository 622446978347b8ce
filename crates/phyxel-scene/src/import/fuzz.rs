//! Corrupted files for tests of the readers.

use super::mesh::{MeshFormat, read_bytes};
use crate::sample::SequentialRng;

/// Copy with one to three wrong bytes or flipped bits.
pub fn corrupted(bytes: &[u8], random: &mut SequentialRng) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let offset = random.below(copy.len().max(1) as u64) as usize;
        let byte = [0, 0xff, b'-', b'9', b'\n', b' ', b'<', random.bits() as u8][random.below(8) as usize];
        match copy.get_mut(offset) {
            Some(old) if random.below(2) == 0 => *old ^= 1 << random.below(8),
            Some(old) => *old = byte,
            None => {}
        }
    }
    copy
}

/// Random bytes.
pub fn noise(length: usize, random: &mut SequentialRng) -> Vec<u8> {
    (0..length).map(|_| random.bits() as u8).collect()
}

/// Reads every prefix of `bytes` and many corrupted copies. Passes unless the reader panics.
pub fn read_damaged(format: MeshFormat, bytes: &[u8]) {
    for end in 0..bytes.len() {
        let _ = read_bytes(format, &bytes[..end]);
    }
    let mut random = SequentialRng::new(5);
    for _ in 0..2000 {
        let _ = read_bytes(format, &corrupted(bytes, &mut random));
    }
}
