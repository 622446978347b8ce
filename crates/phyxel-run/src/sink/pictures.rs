//! Frames as pictures and as a film.

use crate::error::{FileError, SinkError};
use crate::sink::Sink;
use crate::sink::sequence::numbered;
use phyxel::{Frame, parallel};
use phyxel_render::{Camera, View, render};
use phyxel_video::{Film, FilmError, FilmSettings, write_png};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Folder of the pictures inside that of a run.
pub const PICTURES: &str = "pictures";

/// File of the film inside the folder of a run, where no other is asked for.
pub const FILM: &str = "film.mp4";

/// Removes the pictures of the frames from `first` on from the folder of a run; other files stay.
pub(crate) fn remove_from(folder: &Path, first: u32) -> Result<(), FileError> {
    let own = folder.join(PICTURES);
    let Ok(entries) = fs::read_dir(&own) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let number = name.strip_prefix("frame_").and_then(|rest| rest.strip_suffix(".png"));
        let digits = number.filter(|text| text.len() >= 5 && text.bytes().all(|byte| byte.is_ascii_digit()));
        if digits.and_then(|text| text.parse().ok()).is_some_and(|frame: u32| frame >= first) {
            let path = entry.path();
            fs::remove_file(&path).map_err(|source| FileError::new("remove", path, source))?;
        }
    }
    Ok(())
}

/// What is made of the pictures of frames.
#[derive(Clone, Debug, Default)]
pub struct PictureOptions {
    /// How they are made.
    pub view: View,
    /// Folder for `frame_00000.png` and so on; made if it is not there.
    pub folder: Option<PathBuf>,
    /// File for a film.
    pub film: Option<PathBuf>,
    /// Frames per second of the film.
    pub frame_rate: f64,
}

/// Draws every frame once, as a PNG file and as a picture of a film.
///
/// It does so on a thread of its own, one frame behind, so that the simulation goes on meanwhile. Where the view has no
/// camera, the first frame chooses one for all.
#[derive(Debug)]
pub struct PictureSink {
    options: Option<PictureOptions>,
    painter: Option<Painter>,
}

/// The thread that draws.
#[derive(Debug)]
struct Painter {
    frames: SyncSender<Frame>,
    thread: JoinHandle<Result<(), SinkError>>,
}

impl PictureSink {
    /// Checks what can be checked before the first frame, and makes the folder of the film but no file.
    pub fn new(options: PictureOptions) -> Result<Self, FileError> {
        if let Some(film) = options.film.as_ref().filter(|film| film.is_dir() || film.file_name().is_none()) {
            return Err(FileError::new("create", film, io::ErrorKind::IsADirectory.into()));
        }
        if let Some(parent) = options.film.as_ref().and_then(|film| film.parent()) {
            fs::create_dir_all(parent).map_err(|source| FileError::new("create", parent, source))?;
        }
        Ok(Self { options: Some(options), painter: None })
    }

    /// What the thread that draws came to.
    fn join(&mut self) -> Result<(), SinkError> {
        let Some(Painter { frames, thread }) = self.painter.take() else { return Ok(()) };
        drop(frames);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// A run that ends with an error still waits for its pictures: nothing half-written is left.
impl Drop for PictureSink {
    fn drop(&mut self) {
        if let Some(Painter { frames, thread }) = self.painter.take() {
            drop(frames);
            let _ = thread.join();
        }
    }
}

impl Sink for PictureSink {
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        if let Some(options) = self.options.take() {
            // As many threads as the simulation has, but others: neither waits for the other.
            let threads = parallel::threads();
            let (frames, arriving) = sync_channel::<Frame>(1);
            let thread = std::thread::spawn(move || parallel::with_threads(Some(threads), || paint(options, arriving)));
            self.painter = Some(Painter { frames, thread });
        }
        match &self.painter {
            Some(painter) if painter.frames.send(frame.clone()).is_ok() => Ok(()),
            // It has ended early: it says why.
            _ => self.join(),
        }
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.join()
    }
}

/// Draws frames until there are no more.
fn paint(mut options: PictureOptions, frames: Receiver<Frame>) -> Result<(), SinkError> {
    let mut film: Option<Film> = None;
    for frame in frames {
        options.view.camera.get_or_insert_with(|| Camera::around(&frame));
        let picture = render(&frame, &options.view);
        if let Some(folder) = &options.folder {
            fs::create_dir_all(folder).map_err(|source| FileError::new("create", folder, source))?;
            let path = numbered(folder, "frame", frame.index, "png");
            write_png(&path, picture.width, picture.height, &picture.rgb).map_err(film_error)?;
        }
        if let Some(path) = &options.film {
            let film = match &mut film {
                Some(film) => film,
                None => {
                    let settings = FilmSettings::new(picture.width, picture.height, options.frame_rate);
                    film.insert(Film::create(path, settings).map_err(film_error)?)
                }
            };
            film.push(&picture.rgb).map_err(film_error)?;
        }
    }
    film.map_or(Ok(()), |film| film.finish().map_err(film_error))
}

fn film_error(error: FilmError) -> SinkError {
    SinkError::Other(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::two_bodies;

    fn options(place: &Path) -> PictureOptions {
        PictureOptions {
            view: View { width: 64, height: 36, ..View::default() },
            folder: Some(place.join(PICTURES)),
            film: Some(place.join("deep/film.mp4")),
            frame_rate: 30.0,
        }
    }

    #[test]
    fn frames_become_numbered_pictures_and_one_film() {
        let place = tempfile::tempdir().unwrap();
        let mut sink = PictureSink::new(options(place.path())).unwrap();
        for index in 0..3 {
            sink.frame(&Frame { index, ..two_bodies() }).unwrap();
        }
        assert!(!place.path().join("deep/film.mp4").exists(), "nothing half-written");
        sink.finish().unwrap();
        assert!(fs::metadata(place.path().join("deep/film.mp4")).unwrap().len() > 100);
        for index in 0..3 {
            assert!(place.path().join(format!("pictures/frame_0000{index}.png")).is_file());
        }
    }

    #[test]
    fn the_camera_stays_where_the_first_frame_put_it() {
        let place = tempfile::tempdir().unwrap();
        let mut sink = PictureSink::new(PictureOptions { film: None, ..options(place.path()) }).unwrap();
        sink.frame(&two_bodies()).unwrap();
        // The same again, but the report says that the bodies reach farther.
        let mut far = Frame { index: 1, ..two_bodies() };
        far.bodies.iter_mut().for_each(|body| body.report.bounds[1][0] += 5.0);
        sink.frame(&far).unwrap();
        sink.finish().unwrap();
        let read = |index| fs::read(place.path().join(format!("pictures/frame_0000{index}.png"))).unwrap();
        assert!(read(0) == read(1));
    }

    #[test]
    fn a_sink_that_is_dropped_leaves_nothing_half_written() {
        let place = tempfile::tempdir().unwrap();
        let mut sink = PictureSink::new(options(place.path())).unwrap();
        sink.frame(&two_bodies()).unwrap();
        drop(sink);
        let names = fs::read_dir(place.path().join("deep")).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["film.mp4"]);
    }

    #[test]
    fn an_error_of_the_thread_that_draws_is_told_at_the_latest_at_the_end() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("file"), b"").unwrap();
        let folder = Some(place.path().join("file"));
        let mut sink = PictureSink::new(PictureOptions { folder, ..options(place.path()) }).unwrap();
        let told = (0..5).map(|index| sink.frame(&Frame { index, ..two_bodies() })).find(Result::is_err);
        let error = told.unwrap_or_else(|| sink.finish()).unwrap_err().to_string();
        assert!(error.contains("file"), "{error}");
        assert!(!place.path().join("deep/film.mp4").exists());
    }

    #[test]
    fn only_own_pictures_from_a_frame_on_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join(PICTURES);
        fs::create_dir(&folder).unwrap();
        for name in ["frame_00001.png", "frame_00002.png", "frame_x.png", "mine.png"] {
            fs::write(folder.join(name), b"").unwrap();
        }
        remove_from(place.path(), 2).unwrap();
        let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["frame_00001.png", "frame_x.png", "mine.png"]);
    }

    #[test]
    fn a_film_that_cannot_be_is_told_by_name() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("file"), b"").unwrap();
        let film = Some(place.path().join("file/film.mp4"));
        let error = PictureSink::new(PictureOptions { film, ..options(place.path()) }).unwrap_err();
        assert!(error.to_string().contains("file"), "{error}");
    }
}
