//! PNG files.

use crate::atomic_file::AtomicFile;
use crate::error::VideoError;
use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, SrgbRenderingIntent};
use std::io;
use std::path::Path;

/// Writes a picture as a PNG file in sRGB, atomically: red, green and blue of each pixel, row by row from the top.
///
/// Compressed fast rather than small, because an image sequence has thousands of files.
pub fn write_png(path: impl AsRef<Path>, width: u32, height: u32, rgb: &[u8]) -> Result<(), VideoError> {
    let path = path.as_ref();
    let expected = (u64::from(width) * u64::from(height)).saturating_mul(3);
    if expected == 0 || rgb.len() as u64 != expected {
        let (path, found) = (path.to_path_buf(), rgb.len() as u64);
        return Err(VideoError::Picture { path, index: 0, expected: expected.max(3), found });
    }
    let mut file = AtomicFile::create(path)?;
    let encoded = encode_png(width, height, rgb).map_err(|source| VideoError::file("write", path, source))?;
    file.write(&encoded)?;
    file.commit()
}

fn encode_png(width: u32, height: u32, rgb: &[u8]) -> io::Result<Vec<u8>> {
    let to_io_error = |error| match error {
        EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().map_err(to_io_error)?;
    writer.write_image_data(rgb).map_err(to_io_error)?;
    writer.finish().map_err(to_io_error)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn png_files_are_lossless() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.png");
        let rgb: Vec<u8> = (0..7 * 5 * 3).map(|index| (index * 37 % 256) as u8).collect();
        write_png(&path, 7, 5, &rgb).unwrap();
        let file = io::BufReader::new(fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        assert_eq!(reader.info().srgb, Some(SrgbRenderingIntent::Perceptual));
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (7, 5, ColorType::Rgb));
        assert_eq!(decoded, rgb);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_picture_of_another_size_is_refused_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.png");
        for (width, height) in [(2, 3), (0, 0), (u32::MAX, u32::MAX)] {
            let message = write_png(&path, width, height, &[0; 12]).unwrap_err().to_string();
            assert!(message.contains("one.png") && message.contains("12 bytes"), "{message}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
