//! Text in drawings: XML escapes, estimated widths, and powers of ten.

/// Width of a letter relative to the font size, for a common sans-serif font.
fn glyph_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' => 0.26,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '/' | '-' | '·' => 0.35,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.88,
        'A'..='Z' => 0.67,
        _ => 0.56,
    }
}

/// Estimated width of a text at a font size, within about a tenth.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(glyph_width).sum::<f64>()
}

/// Escapes a text for XML. Control characters, which XML forbids, become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Converts a text to SVG content. Few fonts have superscript minus signs, so that a negative power is drawn with
/// ordinary digits, smaller and superscript.
pub(crate) fn markup(text: &str, size: f64) -> String {
    let Some(start) = text.find('⁻') else { return escape(text) };
    let digit_of = |letter: char| match letter {
        '⁻' => Some('−'),
        '⁰' | '⁴'..='⁹' => char::from_digit(letter as u32 - 0x2070, 10),
        '¹' => Some('1'),
        '²' => Some('2'),
        '³' => Some('3'),
        _ => None,
    };
    let (before, after) = text.split_at(start);
    let superscript: String = after.chars().map_while(digit_of).collect();
    let rest: String = after.chars().skip(superscript.chars().count()).collect();
    let (small, rise) = (0.68 * size, 0.36 * size);
    format!(
        "{}<tspan font-size=\"{small:.1}\" dy=\"-{rise:.1}\">{superscript}</tspan><tspan dy=\"{rise:.1}\">{}</tspan>",
        escape(before),
        escape(&rest)
    )
}

/// Truncates a text to `max` letters, with an ellipsis.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_string();
    }
    text.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

/// Formats a power of ten, such as 10⁻³.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let superscript = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        // The others are contiguous in Unicode.
        digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    "10".chars().chain(exponent.to_string().chars().map(superscript)).collect()
}

/// Formats a number with a number of decimals, a typographic minus sign, and no negative zero.
pub(crate) fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|letter| letter == '0' || letter == '.') => rest.to_string(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("a<b> & \"c\"\u{0}"), "a&lt;b&gt; &amp; &quot;c&quot; ");
    }

    #[test]
    fn negative_powers_use_ordinary_digits() {
        assert_eq!(markup("a & 10³ b", 10.0), "a &amp; 10³ b");
        let drawn = markup("x [10⁻¹² J]", 10.0);
        assert!(
            drawn.starts_with("x [10<tspan") && drawn.contains(">−12</tspan>") && drawn.contains("> J]<"),
            "{drawn}"
        );
        assert_eq!(markup("⁻", 10.0).matches("tspan").count(), 4);
    }

    #[test]
    fn long_names_end_in_an_ellipsis() {
        assert_eq!(shorten("ääää", 4), "ääää");
        assert_eq!(shorten("äääää", 4), "äää…");
    }

    #[test]
    fn powers_are_raised() {
        assert_eq!(power_of_ten(-120), "10⁻¹²⁰");
        assert_eq!(power_of_ten(3), "10³");
        assert_eq!(power_of_ten(46), "10⁴⁶");
    }

    #[test]
    fn numbers_have_typographic_signs() {
        assert_eq!(fixed(-1.25, 1), "−1.2");
        assert_eq!(fixed(-0.001, 1), "0.0");
        assert_eq!(fixed(3.0, 0), "3");
    }
}
