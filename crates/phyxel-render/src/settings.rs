//! Settings of rendering.

use crate::camera::Camera;
use crate::colour::ColourRange;
use std::str::FromStr;

/// Quantity that colours show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Colouring {
    /// Colour and finish of the material.
    #[default]
    Material,
    /// A different colour for each body.
    Body,
    /// Temperature, in the unit of the scene.
    Temperature,
    /// Largest absolute principal strain, without unit.
    Strain,
    /// Speed, m/s.
    Speed,
}

/// Error of a word that names no colouring.
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
    /// All colourings with their words.
    pub const ALL: [(&'static str, Self); 5] = [
        ("material", Self::Material),
        ("body", Self::Body),
        ("temperature", Self::Temperature),
        ("strain", Self::Strain),
        ("speed", Self::Speed),
    ];

    /// Word of the colouring.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }

    /// Unit for the legend; empty where there is none.
    pub(crate) fn unit(self) -> &'static str {
        if self == Self::Speed { "m/s" } else { "" }
    }

    /// Returns true if colours show a scalar.
    pub(crate) fn is_scalar(self) -> bool {
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

/// Quality of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// One pass: a second or less per picture.
    #[default]
    Preview,
    /// Mean of many passes: tens of seconds per picture.
    High,
}

/// Resolution, camera, colours and quality of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderSettings {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Camera; [`Camera::around`] the frame if `None`.
    pub camera: Option<Camera>,
    /// Quantity that colours show.
    pub colouring: Colouring,
    /// Range of the colour map; that of the values in the frame if `None`.
    pub range: Option<ColourRange>,
    /// Number of passes.
    pub quality: Quality,
}

impl Default for RenderSettings {
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
    fn words_name_colourings() {
        for (word, colouring) in Colouring::ALL {
            assert_eq!(word.parse(), Ok(colouring));
            assert_eq!(colouring.name(), word);
        }
        let message = "heat".parse::<Colouring>().unwrap_err().to_string();
        assert!(message.contains("heat") && message.contains("temperature"), "{message}");
    }
}
