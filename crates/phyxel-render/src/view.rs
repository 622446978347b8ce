//! How a picture is to be made.

use crate::camera::Camera;
use crate::colour::Range;
use std::str::FromStr;

/// What colours mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Colouring {
    /// The colour and finish of the material.
    #[default]
    Material,
    /// A colour for every body.
    Body,
    /// Temperature, in the scene's scale.
    Temperature,
    /// Largest stretch or squeeze, without unit.
    Strain,
    /// Speed, m/s.
    Speed,
}

/// A word that names no colouring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColouring {
    /// The word.
    pub word: String,
}

impl std::fmt::Display for UnknownColouring {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = Colouring::ALL.map(|(word, _)| word).join(", ");
        write!(out, "there is no colouring named \"{}\"; known: {known}", self.word)
    }
}

impl std::error::Error for UnknownColouring {}

impl Colouring {
    /// Every colouring with its word.
    pub const ALL: [(&'static str, Self); 5] = [
        ("material", Self::Material),
        ("body", Self::Body),
        ("temperature", Self::Temperature),
        ("strain", Self::Strain),
        ("speed", Self::Speed),
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }

    /// Unit of what it shows, for the legend; empty where there is none.
    pub(crate) fn unit(self) -> &'static str {
        if self == Self::Speed { "m/s" } else { "" }
    }

    /// Whether it shows a number.
    pub(crate) fn is_scale(self) -> bool {
        matches!(self, Self::Temperature | Self::Strain | Self::Speed)
    }
}

impl FromStr for Colouring {
    type Err = UnknownColouring;

    fn from_str(word: &str) -> Result<Self, UnknownColouring> {
        let found = Self::ALL.iter().find(|(known, _)| *known == word.trim());
        found.map(|(_, colouring)| *colouring).ok_or_else(|| UnknownColouring { word: word.trim().to_string() })
    }
}

/// How much work goes into a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// For films and a look: a second or less.
    #[default]
    Preview,
    /// For galleries: some ten seconds.
    High,
}

/// How a picture is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Where it is taken from; chosen from the frame if `None`.
    pub camera: Option<Camera>,
    /// What colours mean.
    pub colouring: Colouring,
    /// Values at the ends of the colour scale; the smallest and the largest of the frame if `None`.
    pub range: Option<Range>,
    /// How much work goes into it.
    pub quality: Quality,
}

impl Default for View {
    fn default() -> Self {
        Self {
            width: 1280,
            height: 720,
            camera: None,
            colouring: Colouring::default(),
            range: None,
            quality: Quality::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colourings_have_words() {
        for (word, colouring) in Colouring::ALL {
            assert_eq!(word.parse(), Ok(colouring));
            assert_eq!(colouring.name(), word);
        }
        let message = "heat".parse::<Colouring>().unwrap_err().to_string();
        assert!(message.contains("heat") && message.contains("temperature"), "{message}");
    }
}
