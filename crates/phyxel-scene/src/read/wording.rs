//! Wording of messages: spelling suggestions, lists, numbers.

/// Returns the known word closest in spelling, if one is close.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    let length = folded.chars().count();
    let similarity = |other: &str| strsim::jaro_winkler(&folded, &other.to_lowercase());
    let near = |other: &str| {
        let edits = strsim::osa_distance(&folded, &other.to_lowercase());
        let (long, short) = (other.chars().count().max(length), other.chars().count().min(length));
        (edits <= 1 + long / 5 && edits < short) || similarity(other) > 0.82
    };
    let candidates = known.into_iter().filter(|other| near(other));
    candidates.map(|other| (similarity(other), other)).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, other)| other)
}

/// Returns `; did you mean "x"?`, or nothing.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default()
}

/// Joins words by commas; a long list is truncated.
pub(crate) fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 24;
    let words: Vec<&str> = words.into_iter().collect();
    match words.len() {
        0 => "none".to_string(),
        count if count > SHOWN => format!("{} and {} more", words[..SHOWN].join(", "), count - SHOWN),
        _ => words.join(", "),
    }
}

/// Formats a number in short notation.
pub(crate) fn format_number(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || !number.is_finite() || (1.0e-4..1.0e7).contains(&size) {
        format!("{number}")
    } else {
        format!("{number:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_strangers_are_not() {
        let known = ["spacing", "shape", "sampler", "spin"];
        assert_eq!(nearest("spacng", known), Some("spacing"));
        assert_eq!(nearest("Sampler", known), Some("sampler"));
        assert_eq!(nearest("sahpe", known), Some("shape"));
        assert_eq!(nearest("body", ["gravity", "bodies"]), Some("bodies"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([-0.1, 2.0, 1.0e20, 1.0e-9].map(format_number), ["-0.1", "2", "1e20", "1e-9"]);
    }
}
