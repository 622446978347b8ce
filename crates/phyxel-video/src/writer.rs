//! Video writer: encodes and stores one picture after another.

use crate::atomic_file::AtomicFile;
use crate::encoder::H264Encoder;
use crate::error::VideoError;
use crate::frame_rate::RationalRate;
use crate::mp4::{self, VideoTrack};
use crate::ycbcr::YCbCrPlanes;
use std::fmt;
use std::path::Path;

/// Smallest side of a picture, pixels.
pub const MIN_SIDE: u32 = 16;

/// Largest longer and shorter side of a picture, pixels: the limits of the encoder.
pub const MAX_SIDES: (u32, u32) = (3840, 2160);

/// Time between two key pictures (IDR pictures), at which a player can start, s.
const IDR_INTERVAL: f64 = 2.0;

/// Quality of the lossy compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// Small files; smooth gradients show banding.
    Small,
    /// No visible artefacts in motion.
    #[default]
    Standard,
    /// No visible artefacts in still pictures; up to twice the size.
    Fine,
}

impl Quality {
    /// Quantisation parameter q of H.264, 0 to 51; its step is `2^((q - 4) / 6)` of 256 levels.
    pub(crate) fn quantisation_parameter(self) -> u8 {
        match self {
            Self::Small => 28,
            Self::Standard => 20,
            Self::Fine => 15,
        }
    }
}

/// Resolution, frame rate and quality of a video.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VideoSettings {
    /// Pixels, from 16 to 3840. An odd width is made even by repeating the last column.
    pub width: u32,
    /// Pixels, from 16 to 3840; only one of width and height may exceed 2160. An odd height is made even by
    /// repeating the last row.
    pub height: u32,
    /// Pictures per second, from 0.01 to 1000. 23.976, 29.97 and 59.94 mean 24, 30 and 60 divided by 1.001.
    pub frame_rate: f64,
    /// Quality of the compression.
    pub quality: Quality,
}

impl VideoSettings {
    /// Settings of standard quality.
    pub fn new(width: u32, height: u32, frame_rate: f64) -> Self {
        Self { width, height, frame_rate, quality: Quality::Standard }
    }
}

/// Writer of a video: H.264 in an MP4 file, in the colour space ITU-R BT.709, with a key picture every two seconds.
///
/// The file has a temporary name beside its target and replaces the target when the video is finished. A writer that
/// is dropped before leaves no file. It keeps a few bytes per picture in memory.
pub struct VideoWriter {
    file: AtomicFile,
    encoder: H264Encoder,
    planes: YCbCrPlanes,
    track: VideoTrack,
    has_failed: bool,
}

impl fmt::Debug for VideoWriter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut output = out.debug_struct("VideoWriter");
        output.field("target", &self.file.target()).field("pictures", &self.picture_count()).finish_non_exhaustive()
    }
}

impl VideoWriter {
    /// Starts a video.
    pub fn create(path: impl AsRef<Path>, settings: VideoSettings) -> Result<Self, VideoError> {
        let (path, VideoSettings { width, height, frame_rate, quality }) = (path.as_ref(), settings);
        let to_path = || path.to_path_buf();
        if !is_supported_size(width, height) {
            return Err(VideoError::Size { path: to_path(), width, height });
        }
        let rate = RationalRate::from_hertz(frame_rate)
            .ok_or_else(|| VideoError::FrameRate { path: to_path(), rate: frame_rate })?;
        let idr_interval = rate.pictures_in(IDR_INTERVAL);
        let planes = YCbCrPlanes::new(width as usize, height as usize);
        let encoder = H264Encoder::new(&planes, rate, quality, idr_interval).map_err(|source| VideoError::Encoder {
            path: to_path(),
            index: 0,
            source: source.into(),
        })?;
        let mut file = AtomicFile::create(path)?;
        file.write(&mp4::file_header(0))?;
        let [width, height] = [width, height].map(|side| side.next_multiple_of(2) as u16);
        let track = VideoTrack {
            width,
            height,
            rate,
            samples_per_chunk: idr_interval,
            sample_sizes: Vec::new(),
            sync_samples: Vec::new(),
        };
        Ok(Self { file, encoder, planes, track, has_failed: false })
    }

    /// Number of pictures written so far.
    pub fn picture_count(&self) -> u32 {
        self.track.sample_count()
    }

    /// Appends a picture: red, green and blue of each pixel, row by row from the top.
    pub fn add_picture(&mut self, rgb: &[u8]) -> Result<(), VideoError> {
        self.check_intact()?;
        let (path, index) = (self.file.target(), self.track.sample_count());
        if rgb.len() != self.planes.picture_bytes() {
            let (expected, found) = (self.planes.picture_bytes() as u64, rgb.len() as u64);
            return Err(VideoError::Picture { path: path.to_path_buf(), index, expected, found });
        }
        // Until the picture is in the file: the encoder cannot undo one.
        self.has_failed = true;
        self.planes.convert_rgb(rgb);
        let encoder_error = |source: openh264::Error| {
            let (path, source) = (path.to_path_buf(), source.into());
            VideoError::Encoder { path, index, source }
        };
        let sample = self.encoder.encode(&self.planes).map_err(encoder_error)?;
        self.file.write(sample.bytes)?;
        self.track.sample_sizes.push(sample.bytes.len() as u32);
        if sample.is_idr {
            self.track.sync_samples.push(index + 1);
        }
        self.has_failed = false;
        Ok(())
    }

    /// Completes the file and renames it to its target.
    pub fn finish(mut self) -> Result<(), VideoError> {
        self.check_intact()?;
        if self.track.sample_sizes.is_empty() {
            return Err(VideoError::Empty { path: self.file.target().to_path_buf() });
        }
        self.file.write(&self.track.movie_box(self.encoder.parameter_sets()))?;
        self.file.overwrite(0, &mp4::file_header(self.track.payload_bytes()))?;
        self.file.commit()
    }

    fn check_intact(&self) -> Result<(), VideoError> {
        if self.has_failed { Err(VideoError::Failed { path: self.file.target().to_path_buf() }) } else { Ok(()) }
    }
}

fn is_supported_size(width: u32, height: u32) -> bool {
    let (longer, shorter) = (width.max(height), width.min(height));
    shorter >= MIN_SIDE && longer <= MAX_SIDES.0 && shorter <= MAX_SIDES.1
}
