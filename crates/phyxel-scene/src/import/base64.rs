//! Base64 `[RFC 4648]`.

/// Decodes base64, with or without padding; white space is ignored.
///
/// Some VTK programs encode the length of an array separately from its data, so that there is padding in between.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut bit_count) = (0u32, 0);
    for symbol in text.bytes().filter(|symbol| !symbol.is_ascii_whitespace()) {
        if symbol == b'=' {
            // A single symbol of six bits is no byte; the bits behind the last byte are padding.
            (bits, bit_count) = if bit_count < 6 { (0, 0) } else { return None };
            continue;
        }
        bits = bits << 6 | digit(symbol)?;
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((bits >> bit_count) as u8);
        }
    }
    (bit_count < 6).then_some(bytes)
}

fn digit(symbol: u8) -> Option<u32> {
    let digit = match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(digit))
}

/// Encodes bytes, with padding.
#[cfg(test)]
pub(super) fn encode(bytes: &[u8]) -> String {
    let symbols = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for digit in 0..4 {
            let symbol = symbols[(bits >> (18 - 6 * digit) & 63) as usize];
            text.push(if digit <= group.len() { char::from(symbol) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_may_be_missing_or_in_between() {
        assert_eq!(decode("TWFu"), Some(b"Man".to_vec()));
        assert_eq!(decode("TWE=\n TQ== TWFu"), Some(b"MaMMan".to_vec()));
        assert_eq!(decode("TWE"), Some(b"Ma".to_vec()));
        assert_eq!([decode("TWFuT"), decode("T=Fu"), decode("*WFu")], [None, None, None]);
    }

    #[test]
    fn decoding_inverts_encoding() {
        let bytes: Vec<u8> = (0..=255).collect();
        for end in 0..bytes.len() {
            assert_eq!(decode(&encode(&bytes[..end])).as_deref(), Some(&bytes[..end]));
        }
    }
}
