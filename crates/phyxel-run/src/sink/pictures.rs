//! Pictures and videos of frames.

use crate::error::{FileError, SinkError};
use crate::sink::Sink;
use crate::sink::export::numbered_path;
use phyxel::{Frame, parallel};
use phyxel_render::{Camera, RenderSettings, render};
use phyxel_video::{VideoError, VideoSettings, VideoWriter, write_png};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Folder of the pictures inside the folder of a run.
pub const PICTURE_FOLDER: &str = "pictures";

/// Default file of the video inside the folder of a run.
pub const VIDEO_FILE: &str = "film.mp4";

/// Removes the pictures of frame `first` and later ones; foreign files stay.
pub(crate) fn remove_pictures_from(folder: &Path, first: u32) -> Result<(), FileError> {
    let pictures = folder.join(PICTURE_FOLDER);
    let Ok(entries) = fs::read_dir(&pictures) else { return Ok(()) };
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

/// Options of pictures and videos.
#[derive(Clone, Debug, Default)]
pub struct PictureOptions {
    /// Settings of the renderer.
    pub settings: RenderSettings,
    /// Folder of `frame_00000.png` and so on; created if missing.
    pub folder: Option<PathBuf>,
    /// File of the video.
    pub video: Option<PathBuf>,
    /// Frames per second of the video.
    pub frame_rate: f64,
}

/// Renders every frame once, as a PNG file and as a picture of a video.
///
/// Rendering runs in its own thread, one frame behind the simulation. Without a camera in the settings, the first frame
/// determines one for all frames.
#[derive(Debug)]
pub struct PictureSink {
    options: Option<PictureOptions>,
    render_thread: Option<RenderThread>,
}

/// Thread of the renderer.
#[derive(Debug)]
struct RenderThread {
    frames: SyncSender<Frame>,
    thread: JoinHandle<Result<(), SinkError>>,
}

impl PictureSink {
    /// Validates the options, and creates the folder of the video but no file.
    pub fn new(options: PictureOptions) -> Result<Self, FileError> {
        if let Some(video) = options.video.as_ref().filter(|video| video.is_dir() || video.file_name().is_none()) {
            return Err(FileError::new("create", video, io::ErrorKind::IsADirectory.into()));
        }
        if let Some(parent) = options.video.as_ref().and_then(|video| video.parent()) {
            fs::create_dir_all(parent).map_err(|source| FileError::new("create", parent, source))?;
        }
        Ok(Self { options: Some(options), render_thread: None })
    }

    /// Waits for the renderer and returns its result.
    fn join(&mut self) -> Result<(), SinkError> {
        let Some(RenderThread { frames, thread }) = self.render_thread.take() else { return Ok(()) };
        drop(frames);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Waits for the renderer also after an error of the run, so that no incomplete file remains.
impl Drop for PictureSink {
    fn drop(&mut self) {
        if let Some(RenderThread { frames, thread }) = self.render_thread.take() {
            drop(frames);
            let _ = thread.join();
        }
    }
}

impl Sink for PictureSink {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        if let Some(options) = self.options.take() {
            // A separate pool with as many threads as that of the simulation: neither blocks the other.
            let threads = parallel::threads();
            let (frames, receiver) = sync_channel::<Frame>(1);
            let thread =
                std::thread::spawn(move || parallel::with_threads(Some(threads), || render_frames(options, receiver)));
            self.render_thread = Some(RenderThread { frames, thread });
        }
        match &self.render_thread {
            Some(painter) if painter.frames.send(frame.clone()).is_ok() => Ok(()),
            // The renderer has ended early, with an error.
            _ => self.join(),
        }
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.join()
    }
}

/// Renders frames until the channel closes.
fn render_frames(mut options: PictureOptions, frames: Receiver<Frame>) -> Result<(), SinkError> {
    let mut video: Option<VideoWriter> = None;
    for frame in frames {
        options.settings.camera.get_or_insert_with(|| Camera::around(&frame));
        let picture = render(&frame, &options.settings);
        if let Some(folder) = &options.folder {
            fs::create_dir_all(folder).map_err(|source| FileError::new("create", folder, source))?;
            let path = numbered_path(folder, "frame", frame.index, "png");
            write_png(&path, picture.width, picture.height, &picture.rgb).map_err(video_error)?;
        }
        if let Some(path) = &options.video {
            let video = match &mut video {
                Some(video) => video,
                None => {
                    let settings = VideoSettings::new(picture.width, picture.height, options.frame_rate);
                    video.insert(VideoWriter::create(path, settings).map_err(video_error)?)
                }
            };
            video.add_picture(&picture.rgb).map_err(video_error)?;
        }
    }
    video.map_or(Ok(()), |video| video.finish().map_err(video_error))
}

fn video_error(error: VideoError) -> SinkError {
    SinkError::Other(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::two_bodies;

    fn options(directory: &Path) -> PictureOptions {
        PictureOptions {
            settings: RenderSettings { width: 64, height: 36, ..RenderSettings::default() },
            folder: Some(directory.join(PICTURE_FOLDER)),
            video: Some(directory.join("deep/film.mp4")),
            frame_rate: 30.0,
        }
    }

    #[test]
    fn frames_become_numbered_pictures_and_one_video() {
        let directory = tempfile::tempdir().unwrap();
        let mut sink = PictureSink::new(options(directory.path())).unwrap();
        for index in 0..3 {
            sink.write_frame(&Frame { index, ..two_bodies() }).unwrap();
        }
        assert!(!directory.path().join("deep/film.mp4").exists(), "no incomplete file");
        sink.finish().unwrap();
        assert!(fs::metadata(directory.path().join("deep/film.mp4")).unwrap().len() > 100);
        for index in 0..3 {
            assert!(directory.path().join(format!("pictures/frame_0000{index}.png")).is_file());
        }
    }

    #[test]
    fn the_first_frame_determines_the_camera() {
        let directory = tempfile::tempdir().unwrap();
        let mut sink = PictureSink::new(PictureOptions { video: None, ..options(directory.path()) }).unwrap();
        sink.write_frame(&two_bodies()).unwrap();
        // The same frame, but with larger bounds in its reports.
        let mut far = Frame { index: 1, ..two_bodies() };
        far.bodies.iter_mut().for_each(|body| body.report.bounds[1][0] += 5.0);
        sink.write_frame(&far).unwrap();
        sink.finish().unwrap();
        let read = |index| fs::read(directory.path().join(format!("pictures/frame_0000{index}.png"))).unwrap();
        assert!(read(0) == read(1));
    }

    #[test]
    fn a_dropped_sink_leaves_no_incomplete_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut sink = PictureSink::new(options(directory.path())).unwrap();
        sink.write_frame(&two_bodies()).unwrap();
        drop(sink);
        let names = fs::read_dir(directory.path().join("deep")).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["film.mp4"]);
    }

    #[test]
    fn an_error_of_the_renderer_is_returned_at_the_end_at_the_latest() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), b"").unwrap();
        let folder = Some(directory.path().join("file"));
        let mut sink = PictureSink::new(PictureOptions { folder, ..options(directory.path()) }).unwrap();
        let failure = (0..5).map(|index| sink.write_frame(&Frame { index, ..two_bodies() })).find(Result::is_err);
        let error = failure.unwrap_or_else(|| sink.finish()).unwrap_err().to_string();
        assert!(error.contains("file"), "{error}");
        assert!(!directory.path().join("deep/film.mp4").exists());
    }

    #[test]
    fn only_rendered_pictures_from_a_frame_on_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join(PICTURE_FOLDER);
        fs::create_dir(&folder).unwrap();
        for name in ["frame_00001.png", "frame_00002.png", "frame_x.png", "mine.png"] {
            fs::write(folder.join(name), b"").unwrap();
        }
        remove_pictures_from(directory.path(), 2).unwrap();
        let mut remaining: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        remaining.sort();
        assert_eq!(remaining, ["frame_00001.png", "frame_x.png", "mine.png"]);
    }

    #[test]
    fn a_video_that_cannot_be_created_is_named() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), b"").unwrap();
        let video = Some(directory.path().join("file/film.mp4"));
        let error = PictureSink::new(PictureOptions { video, ..options(directory.path()) }).unwrap_err();
        assert!(error.to_string().contains("file"), "{error}");
    }
}
