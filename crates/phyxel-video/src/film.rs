//! A film that takes one picture after another.

use crate::draft::Draft;
use crate::encode::Coder;
use crate::error::FilmError;
use crate::movie::{self, Movie};
use crate::planes::Planes;
use crate::rate::Rate;
use std::fmt;
use std::path::Path;

/// Smallest side of a picture, pixels.
pub const SMALLEST_SIDE: u32 = 16;

/// Largest longer and shorter side of a picture, pixels: what the encoder can do.
pub const LARGEST_SIDES: (u32, u32) = (3840, 2160);

/// Time between two pictures at which a player can start, s.
const KEY_SECONDS: f64 = 2.0;

/// How near a film comes to its pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// Small files; smooth shades show steps.
    Small,
    /// Clean to the eye.
    #[default]
    Standard,
    /// Clean when looked at picture by picture; up to twice the size.
    Fine,
}

impl Quality {
    /// The quantiser of H.264, 0 to 51; its step is `2^((q - 4) / 6)` of 256 shades.
    pub(crate) fn quantiser(self) -> u8 {
        match self {
            Self::Small => 28,
            Self::Standard => 20,
            Self::Fine => 15,
        }
    }
}

/// What a film is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmSettings {
    /// Pixels, from 16 to 3840. An odd one is made even by repeating the last column.
    pub width: u32,
    /// Pixels, from 16 to 3840; of width and height only one may be above 2160. An odd one is made even by repeating the
    /// last row.
    pub height: u32,
    /// Pictures per second, from 0.01 to 1000. 23.976, 29.97 and 59.94 mean 24, 30 and 60 divided by 1.001.
    pub frame_rate: f64,
    /// How near the film comes to its pictures.
    pub quality: Quality,
}

impl FilmSettings {
    /// A film of standard quality.
    pub fn new(width: u32, height: u32, frame_rate: f64) -> Self {
        Self { width, height, frame_rate, quality: Quality::Standard }
    }
}

/// A film that is being made: H.264 in an MP4 file, in the colours of ITU-R BT.709, with a key picture every two seconds.
///
/// It is written under a temporary name beside its target and takes the target's place when it is finished; dropped before
/// that, it leaves nothing. For each picture a few bytes stay in memory.
pub struct Film {
    draft: Draft,
    coder: Coder,
    planes: Planes,
    movie: Movie,
    broken: bool,
}

impl fmt::Debug for Film {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Film");
        shown.field("target", &self.draft.target()).field("pictures", &self.pictures()).finish_non_exhaustive()
    }
}

impl Film {
    /// Starts a film.
    pub fn create(path: impl AsRef<Path>, settings: FilmSettings) -> Result<Self, FilmError> {
        let (path, FilmSettings { width, height, frame_rate, quality }) = (path.as_ref(), settings);
        let here = || path.to_path_buf();
        if !is_size(width, height) {
            return Err(FilmError::Size { path: here(), width, height });
        }
        let rate =
            Rate::from_hertz(frame_rate).ok_or_else(|| FilmError::FrameRate { path: here(), rate: frame_rate })?;
        let chunk = rate.pictures_in(KEY_SECONDS);
        let planes = Planes::new(width as usize, height as usize);
        let coder = Coder::new(&planes, rate, quality, chunk).map_err(|source| FilmError::Encoder {
            path: here(),
            number: 0,
            source: source.into(),
        })?;
        let mut draft = Draft::create(path)?;
        draft.write(&movie::head(0))?;
        let [width, height] = [width, height].map(|side| side.next_multiple_of(2) as u16);
        let movie = Movie { width, height, rate, chunk, sizes: Vec::new(), keys: Vec::new() };
        Ok(Self { draft, coder, planes, movie, broken: false })
    }

    /// Number of pictures so far.
    pub fn pictures(&self) -> u32 {
        self.movie.pictures()
    }

    /// Appends a picture: red, green and blue of each pixel, row by row from the top.
    pub fn push(&mut self, rgb: &[u8]) -> Result<(), FilmError> {
        self.check_whole()?;
        let (path, number) = (self.draft.target(), self.movie.pictures());
        if rgb.len() != self.planes.picture_bytes() {
            let (expected, found) = (self.planes.picture_bytes() as u64, rgb.len() as u64);
            return Err(FilmError::Picture { path: path.to_path_buf(), number, expected, found });
        }
        // Until the picture is safely in the file; the encoder cannot take one back.
        self.broken = true;
        self.planes.read(rgb);
        let refused = |source: openh264::Error| {
            let (path, source) = (path.to_path_buf(), source.into());
            FilmError::Encoder { path, number, source }
        };
        let sample = self.coder.code(&self.planes).map_err(refused)?;
        self.draft.write(sample.bytes)?;
        self.movie.sizes.push(sample.bytes.len() as u32);
        if sample.key {
            self.movie.keys.push(number + 1);
        }
        self.broken = false;
        Ok(())
    }

    /// Completes the film and puts it in its place.
    pub fn finish(mut self) -> Result<(), FilmError> {
        self.check_whole()?;
        if self.movie.sizes.is_empty() {
            return Err(FilmError::Empty { path: self.draft.target().to_path_buf() });
        }
        self.draft.write(&self.movie.index(self.coder.sets()))?;
        self.draft.overwrite(0, &movie::head(self.movie.payload()))?;
        self.draft.keep()
    }

    fn check_whole(&self) -> Result<(), FilmError> {
        if self.broken { Err(FilmError::Broken { path: self.draft.target().to_path_buf() }) } else { Ok(()) }
    }
}

fn is_size(width: u32, height: u32) -> bool {
    let (longer, shorter) = (width.max(height), width.min(height));
    shorter >= SMALLEST_SIDE && longer <= LARGEST_SIDES.0 && shorter <= LARGEST_SIDES.1
}
