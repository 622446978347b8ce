//! A reader of the sequence parameters of H.264 (7.3.2.1.1 and E.1.1), as far as baseline streams need it.

/// What the parameters say.
#[derive(Debug, PartialEq, Eq)]
pub struct Sequence {
    pub profile: u32,
    pub level: u32,
    /// Pixels after cropping.
    pub width: u32,
    /// Pixels after cropping.
    pub height: u32,
    /// Whether brightness uses all 256 values.
    pub full_range: Option<bool>,
    /// Primaries, curve and matrix.
    pub colours: Option<[u32; 3]>,
}

struct Bits {
    bytes: Vec<u8>,
    at: usize,
}

impl Bits {
    /// Without the bytes that keep start codes out of the stream.
    fn new(unit: &[u8]) -> Self {
        let mut bytes: Vec<u8> = Vec::new();
        for byte in unit {
            if !(*byte == 3 && bytes.ends_with(&[0, 0])) {
                bytes.push(*byte);
            }
        }
        Self { bytes, at: 0 }
    }

    fn take(&mut self, count: usize) -> u32 {
        (0..count).fold(0, |value, _| {
            let bit = self.bytes[self.at / 8] >> (7 - self.at % 8) & 1;
            self.at += 1;
            value << 1 | u32::from(bit)
        })
    }

    fn flag(&mut self) -> bool {
        self.take(1) == 1
    }

    /// An unsigned Exp-Golomb number.
    fn golomb(&mut self) -> u32 {
        let zeros = (0..).take_while(|_| !self.flag()).count();
        (1 << zeros) - 1 + self.take(zeros)
    }
}

pub fn parse(unit: &[u8]) -> Sequence {
    let mut bits = Bits::new(unit);
    assert_eq!(bits.take(8) & 31, 7, "a sequence parameter set");
    let profile = bits.take(8);
    bits.take(8);
    let level = bits.take(8);
    assert_eq!(profile, 66, "other profiles have more fields");
    bits.golomb();
    bits.golomb();
    let order = bits.golomb();
    match order {
        0 => drop(bits.golomb()),
        other => assert_eq!(other, 2, "pictures come in the order in which they are shown"),
    }
    bits.golomb();
    bits.flag();
    let (columns, rows) = (bits.golomb() + 1, bits.golomb() + 1);
    assert!(bits.flag(), "whole pictures, no fields");
    bits.flag();
    let crop = if bits.flag() { [0; 4].map(|_| bits.golomb()) } else { [0; 4] };
    let (full_range, colours) = if bits.flag() { usability(&mut bits) } else { (None, None) };
    let (width, height) = (16 * columns - 2 * (crop[0] + crop[1]), 16 * rows - 2 * (crop[2] + crop[3]));
    Sequence { profile, level, width, height, full_range, colours }
}

fn usability(bits: &mut Bits) -> (Option<bool>, Option<[u32; 3]>) {
    if bits.flag() && bits.take(8) == 255 {
        bits.take(32);
    }
    if bits.flag() {
        bits.flag();
    }
    if !bits.flag() {
        return (None, None);
    }
    bits.take(3);
    let full_range = bits.flag();
    let colours = bits.flag().then(|| [0; 3].map(|_| bits.take(8)));
    (Some(full_range), colours)
}
