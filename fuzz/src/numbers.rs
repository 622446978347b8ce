//! A mutation for texts: another number in the place of one that is there. It leaves a scene readable, so the
//! fuzzer gets past the reader more often than by changing bytes.

/// Numbers at the edges of what scenes accept, and beyond.
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

/// Puts a number, chosen by the seed, in the place of one of the text's numbers; `None` if it has none or has no room.
pub fn replace_number(text: &[u8], room: usize, seed: u32) -> Option<Vec<u8>> {
    let places = number_places(text);
    let place = places.get(seed as usize % places.len().max(1))?.clone();
    let number = NUMBERS[(seed / 7919) as usize % NUMBERS.len()].as_bytes();
    let changed = [&text[..place.start], number, &text[place.end..]].concat();
    (changed.len() <= room).then_some(changed)
}

/// Where the numbers are.
fn number_places(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_');
    let mut places = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = text[at..].iter().position(|&byte| !belongs(byte)).map_or(text.len(), |length| at + length);
        let digits = text[at..end].iter().find(|&&byte| byte != b'-' && byte != b'+').is_some_and(u8::is_ascii_digit);
        if digits {
            places.push(at..end);
        }
        at = end + 1;
    }
    places
}
