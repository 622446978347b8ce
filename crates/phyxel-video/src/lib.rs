//! Pictures to files: a film (H.264 in MP4) and single pictures (PNG), without external programs.
//!
//! ```no_run
//! use phyxel_video::{Film, FilmSettings};
//!
//! # fn main() -> Result<(), phyxel_video::FilmError> {
//! let mut film = Film::create("run.mp4", FilmSettings::new(1280, 720, 30.0))?;
//! let grey = vec![128; 1280 * 720 * 3];
//! for _ in 0..60 {
//!     film.push(&grey)?;
//! }
//! film.finish()
//! # }
//! ```
//!
//! A picture is RGB with eight bits per channel in sRGB, row by row from the top, without gaps. The same pictures give the
//! same bytes. The crate knows nothing of simulations, and nothing else of the workspace.

#![forbid(unsafe_code)]

mod boxes;
mod draft;
mod encode;
mod error;
mod film;
mod movie;
mod picture;
mod planes;
mod rate;

pub use error::FilmError;
pub use film::{Film, FilmSettings, LARGEST_SIDES, Quality, SMALLEST_SIDE};
pub use picture::write_png;
