//! Single pictures as PNG files.

use crate::draft::Draft;
use crate::error::FilmError;
use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, SrgbRenderingIntent};
use std::io;
use std::path::Path;

/// Writes a picture as a PNG file in sRGB, in one move: red, green and blue of each pixel, row by row from the top.
///
/// Packed fast rather than small, because a film of single pictures has thousands of them.
pub fn write_png(path: impl AsRef<Path>, width: u32, height: u32, rgb: &[u8]) -> Result<(), FilmError> {
    let path = path.as_ref();
    let expected = (u64::from(width) * u64::from(height)).saturating_mul(3);
    if expected == 0 || rgb.len() as u64 != expected {
        let (path, found) = (path.to_path_buf(), rgb.len() as u64);
        return Err(FilmError::Picture { path, number: 0, expected: expected.max(3), found });
    }
    let mut draft = Draft::create(path)?;
    let packed = pack(width, height, rgb).map_err(|source| FilmError::file("write", path, source))?;
    draft.write(&packed)?;
    draft.keep()
}

fn pack(width: u32, height: u32, rgb: &[u8]) -> io::Result<Vec<u8>> {
    let refused = |error| match error {
        EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().map_err(refused)?;
    writer.write_image_data(rgb).map_err(refused)?;
    writer.finish().map_err(refused)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_picture_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.png");
        let rgb: Vec<u8> = (0..7 * 5 * 3).map(|index| (index * 37 % 256) as u8).collect();
        write_png(&path, 7, 5, &rgb).unwrap();
        let file = io::BufReader::new(fs::File::open(&path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        assert_eq!(reader.info().srgb, Some(SrgbRenderingIntent::Perceptual));
        let mut back = vec![0; reader.output_buffer_size().unwrap()];
        let shape = reader.next_frame(&mut back).unwrap();
        assert_eq!((shape.width, shape.height, shape.color_type), (7, 5, ColorType::Rgb));
        assert_eq!(back, rgb);
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
