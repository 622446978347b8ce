//! Mutation of text that replaces one of its numbers. A scene stays readable, so that the fuzzer gets past the
//! reader more often than by mutating bytes.

/// Numbers at and beyond the limits of scenes.
const NUMBERS: [&str; 20] = [
    "0",
    "-0.0",
    "1",
    "2",
    "-1",
    "0.5",
    "1.0",
    "1e-3",
    "1e-9",
    "1e-30",
    "1e-45",
    "1e9",
    "1e30",
    "3.5e38",
    "1e300",
    "inf",
    "nan",
    "1024",
    "4294967295",
    "9223372036854775807",
];

/// Replaces one of the numbers of a text, both chosen by the seed; `None` if it has none, or if the result exceeds
/// `max_size`.
pub fn replace_number(text: &[u8], max_size: usize, seed: u32) -> Option<Vec<u8>> {
    let ranges = number_ranges(text);
    let range = ranges.get(seed as usize % ranges.len().max(1))?.clone();
    let number = NUMBERS[(seed / 7919) as usize % NUMBERS.len()].as_bytes();
    let changed = [&text[..range.start], number, &text[range.end..]].concat();
    (changed.len() <= max_size).then_some(changed)
}

/// Byte ranges of the numbers.
fn number_ranges(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_');
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = text[at..].iter().position(|&byte| !belongs(byte)).map_or(text.len(), |length| at + length);
        let digits = text[at..end].iter().find(|&&byte| byte != b'-' && byte != b'+').is_some_and(u8::is_ascii_digit);
        if digits {
            ranges.push(at..end);
        }
        at = end + 1;
    }
    ranges
}
