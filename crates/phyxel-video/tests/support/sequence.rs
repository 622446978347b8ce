//! Parser of sequence parameter sets of H.264 (7.3.2.1.1 and E.1.1) of the baseline profile.

/// Parameters of a sequence.
#[derive(Debug, PartialEq, Eq)]
pub struct SequenceParameterSet {
    pub profile: u32,
    pub level: u32,
    /// Pixels after cropping.
    pub width: u32,
    /// Pixels after cropping.
    pub height: u32,
    /// True if luma uses all 256 levels.
    pub full_range: Option<bool>,
    /// Primaries, transfer function and matrix.
    pub colour_description: Option<[u32; 3]>,
}

struct BitReader {
    bytes: Vec<u8>,
    at: usize,
}

impl BitReader {
    /// Removes emulation prevention bytes.
    fn new(nal_unit: &[u8]) -> Self {
        let mut bytes: Vec<u8> = Vec::new();
        for byte in nal_unit {
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

    /// Reads an unsigned Exp-Golomb code.
    fn exp_golomb(&mut self) -> u32 {
        let zeros = (0..).take_while(|_| !self.flag()).count();
        (1 << zeros) - 1 + self.take(zeros)
    }
}

pub fn parse(nal_unit: &[u8]) -> SequenceParameterSet {
    let mut bits = BitReader::new(nal_unit);
    assert_eq!(bits.take(8) & 31, 7, "a sequence parameter set");
    let profile = bits.take(8);
    bits.take(8);
    let level = bits.take(8);
    assert_eq!(profile, 66, "other profiles have more fields");
    bits.exp_golomb();
    bits.exp_golomb();
    let order_count_type = bits.exp_golomb();
    match order_count_type {
        0 => drop(bits.exp_golomb()),
        other => assert_eq!(other, 2, "coding order is output order"),
    }
    bits.exp_golomb();
    bits.flag();
    let (columns, rows) = (bits.exp_golomb() + 1, bits.exp_golomb() + 1);
    assert!(bits.flag(), "frames, no fields");
    bits.flag();
    let crop = if bits.flag() { [0; 4].map(|_| bits.exp_golomb()) } else { [0; 4] };
    let (full_range, colour_description) = if bits.flag() { parse_vui(&mut bits) } else { (None, None) };
    let (width, height) = (16 * columns - 2 * (crop[0] + crop[1]), 16 * rows - 2 * (crop[2] + crop[3]));
    SequenceParameterSet { profile, level, width, height, full_range, colour_description }
}

fn parse_vui(bits: &mut BitReader) -> (Option<bool>, Option<[u32; 3]>) {
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
    let colour_description = bits.flag().then(|| [0; 3].map(|_| bits.take(8)));
    (Some(full_range), colour_description)
}
