//! Video files (H.264 in MP4) and image files (PNG) from RGB pictures, without external programs.
//!
//! ```no_run
//! use phyxel_video::{VideoSettings, VideoWriter};
//!
//! # fn main() -> Result<(), phyxel_video::VideoError> {
//! let mut video = VideoWriter::create("run.mp4", VideoSettings::new(1280, 720, 30.0))?;
//! let grey = vec![128; 1280 * 720 * 3];
//! for _ in 0..60 {
//!     video.add_picture(&grey)?;
//! }
//! video.finish()
//! # }
//! ```
//!
//! A picture is RGB with eight bits per channel in sRGB, row by row from the top, without padding. The same
//! pictures give the same bytes. The crate knows nothing of simulations and depends on no other crate of the
//! workspace.

#![forbid(unsafe_code)]

mod atomic_file;
mod boxes;
mod encoder;
mod error;
mod frame_rate;
mod mp4;
mod png_file;
mod writer;
mod ycbcr;

pub use error::VideoError;
pub use png_file::write_png;
pub use writer::{MAX_SIDES, MIN_SIDE, Quality, VideoSettings, VideoWriter};
