//! The parts of an MP4 file around the coded pictures: its head, and the index at its end.
//!
//! ISO/IEC 14496-12 (boxes, by their four letters), -14 (the brand) and -15 (H.264 in such a file). Pictures are shown in
//! the order in which they are coded, so there is no table of shifted times and no edit list. Times of making are 0, so that
//! the same pictures give the same bytes.

use crate::boxes::{Boxes, version_for};
use crate::encode::ParameterSets;
use crate::rate::Rate;

/// Bytes of the head: `ftyp`, and room for the longer of two beginnings of `mdat`.
pub(crate) const HEAD: u64 = FILE_KIND + 16;
const FILE_KIND: u64 = 32;

/// Scale one, and no shift: the matrix of a picture that is shown as it is.
const UNITY: [u32; 9] = [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000];

/// The number of the one track.
const TRACK: u32 = 1;

/// Everything the index says.
#[derive(Clone, Debug)]
pub(crate) struct Movie {
    /// Pixels, as shown.
    pub(crate) width: u16,
    /// Pixels, as shown.
    pub(crate) height: u16,
    pub(crate) rate: Rate,
    /// Pictures that lie together; players read as many at a time.
    pub(crate) chunk: u32,
    /// Bytes of each picture, in order.
    pub(crate) sizes: Vec<u32>,
    /// Numbers of the key pictures, from 1.
    pub(crate) keys: Vec<u32>,
}

/// The beginning of a file whose pictures will have `payload` bytes together.
pub(crate) fn head(payload: u64) -> Vec<u8> {
    let mut boxes = Boxes::default();
    boxes.put(b"ftyp", |inner| {
        inner.bytes(b"isom");
        inner.u32(512);
        for brand in [b"isom", b"iso2", b"avc1", b"mp41"] {
            inner.bytes(brand);
        }
    });
    if let Ok(length) = u32::try_from(payload + 8) {
        boxes.put(b"free", |_| {});
        boxes.u32(length);
        boxes.bytes(b"mdat");
    } else {
        boxes.u32(1);
        boxes.bytes(b"mdat");
        boxes.wide(1, payload + 16);
    }
    boxes.into_bytes()
}

impl Movie {
    /// Number of pictures.
    pub(crate) fn pictures(&self) -> u32 {
        self.sizes.len() as u32
    }

    /// Bytes of all pictures.
    pub(crate) fn payload(&self) -> u64 {
        self.sizes.iter().map(|size| u64::from(*size)).sum()
    }

    /// The index, `moov`.
    pub(crate) fn index(&self, sets: &ParameterSets) -> Vec<u8> {
        let mut boxes = Boxes::default();
        boxes.put(b"moov", |inner| {
            self.put_movie_header(inner);
            inner.put(b"trak", |inner| {
                self.put_track_header(inner);
                inner.put(b"mdia", |inner| self.put_media(inner, sets));
            });
        });
        boxes.into_bytes()
    }

    fn duration(&self) -> u64 {
        self.rate.ticks(self.pictures())
    }

    fn put_movie_header(&self, boxes: &mut Boxes) {
        let version = version_for(self.duration());
        boxes.put_full(b"mvhd", version, 0, |inner| {
            inner.wide(version, 0);
            inner.wide(version, 0);
            inner.u32(self.rate.timescale);
            inner.wide(version, self.duration());
            // Speed 1 and volume 1, fixed point.
            inner.u32(0x0001_0000);
            inner.u16(0x0100);
            inner.zeros(10);
            UNITY.iter().for_each(|entry| inner.u32(*entry));
            inner.zeros(24);
            inner.u32(TRACK + 1);
        });
    }

    fn put_track_header(&self, boxes: &mut Boxes) {
        // Enabled, and part of the film.
        const SHOWN: u32 = 3;
        let version = version_for(self.duration());
        boxes.put_full(b"tkhd", version, SHOWN, |inner| {
            inner.wide(version, 0);
            inner.wide(version, 0);
            inner.u32(TRACK);
            inner.zeros(4);
            inner.wide(version, self.duration());
            // Reserved, layer, group, volume: none.
            inner.zeros(16);
            UNITY.iter().for_each(|entry| inner.u32(*entry));
            inner.u32(u32::from(self.width) << 16);
            inner.u32(u32::from(self.height) << 16);
        });
    }

    fn put_media(&self, boxes: &mut Boxes, sets: &ParameterSets) {
        // "und", three letters of five bits: no language.
        const NO_LANGUAGE: u16 = 0x55c4;
        let version = version_for(self.duration());
        boxes.put_full(b"mdhd", version, 0, |inner| {
            inner.wide(version, 0);
            inner.wide(version, 0);
            inner.u32(self.rate.timescale);
            inner.wide(version, self.duration());
            inner.u16(NO_LANGUAGE);
            inner.u16(0);
        });
        boxes.put_full(b"hdlr", 0, 0, |inner| {
            inner.u32(0);
            inner.bytes(b"vide");
            inner.zeros(12);
            inner.bytes(b"pictures\0");
        });
        boxes.put(b"minf", |inner| {
            inner.put_full(b"vmhd", 0, 1, |inner| inner.zeros(8));
            // The pictures lie in this file.
            inner.put(b"dinf", |inner| {
                inner.put_full(b"dref", 0, 0, |inner| {
                    inner.u32(1);
                    inner.put_full(b"url ", 0, 1, |_| {});
                });
            });
            inner.put(b"stbl", |inner| self.put_tables(inner, sets));
        });
    }

    fn put_tables(&self, boxes: &mut Boxes, sets: &ParameterSets) {
        boxes.put_full(b"stsd", 0, 0, |inner| {
            inner.u32(1);
            inner.put(b"avc1", |inner| self.put_format(inner, sets));
        });
        boxes.put_full(b"stts", 0, 0, |inner| {
            inner.u32(1);
            inner.u32(self.pictures());
            inner.u32(self.rate.delta);
        });
        boxes.put_full(b"stss", 0, 0, |inner| inner.list(self.keys.iter().copied()));
        boxes.put_full(b"stsc", 0, 0, |inner| {
            let runs = self.chunk_runs();
            inner.u32(runs.len() as u32);
            for (first, pictures) in runs {
                inner.u32(first);
                inner.u32(pictures);
                inner.u32(1);
            }
        });
        boxes.put_full(b"stsz", 0, 0, |inner| {
            // No common size.
            inner.u32(0);
            inner.list(self.sizes.iter().copied());
        });
        self.put_chunk_offsets(boxes);
    }

    /// The sample entry, with the decoder's parameters and the meaning of the colours.
    fn put_format(&self, boxes: &mut Boxes, sets: &ParameterSets) {
        // 72 pixels per inch, as the standard wants it.
        const RESOLUTION: u32 = 0x0048_0000;
        boxes.zeros(6);
        boxes.u16(1);
        boxes.zeros(16);
        boxes.u16(self.width);
        boxes.u16(self.height);
        boxes.u32(RESOLUTION);
        boxes.u32(RESOLUTION);
        boxes.zeros(4);
        // One picture per sample, a name of 32 bytes that is empty, 24 bits of colour, and -1 by definition.
        boxes.u16(1);
        boxes.zeros(32);
        boxes.u16(24);
        boxes.u16(u16::MAX);
        boxes.put(b"avcC", |inner| put_parameter_sets(inner, sets));
        boxes.put(b"colr", |inner| {
            inner.bytes(b"nclx");
            // Primaries, curve and matrix of ITU-R BT.709, limited range.
            (0..3).for_each(|_| inner.u16(1));
            inner.u8(0);
        });
        boxes.put(b"pasp", |inner| {
            inner.u32(1);
            inner.u32(1);
        });
    }

    /// First chunk, from 1, and pictures per chunk, for each run of chunks of one length.
    fn chunk_runs(&self) -> Vec<(u32, u32)> {
        let (full, rest) = (self.pictures() / self.chunk, self.pictures() % self.chunk);
        let runs = [(1, self.chunk), (full + 1, rest)];
        let wanted = [full > 0, rest > 0];
        runs.into_iter().zip(wanted).filter_map(|(run, wanted)| wanted.then_some(run)).collect()
    }

    fn put_chunk_offsets(&self, boxes: &mut Boxes) {
        let starts = self.sizes.chunks(self.chunk as usize).scan(HEAD, |offset, sizes| {
            let start = *offset;
            *offset += sizes.iter().map(|size| u64::from(*size)).sum::<u64>();
            Some(start)
        });
        let starts: Vec<u64> = starts.collect();
        let version = version_for(starts.last().copied().unwrap_or(0));
        boxes.put_full(if version == 0 { b"stco" } else { b"co64" }, 0, 0, |inner| {
            inner.u32(starts.len() as u32);
            starts.iter().for_each(|start| inner.wide(version, *start));
        });
    }
}

/// ISO/IEC 14496-15, 5.3.3.1: the decoder's parameters for a baseline stream with lengths of four bytes.
fn put_parameter_sets(boxes: &mut Boxes, sets: &ParameterSets) {
    boxes.u8(1);
    // Profile, its constraints and level are the first bytes of the sequence parameters.
    boxes.bytes(sets.sequence.get(1..4).unwrap_or(&[0; 3]));
    boxes.u8(0b1111_1111);
    boxes.u8(0b1110_0001);
    boxes.u16(sets.sequence.len() as u16);
    boxes.bytes(&sets.sequence);
    boxes.u8(1);
    boxes.u16(sets.picture.len() as u16);
    boxes.bytes(&sets.picture);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn movie(pictures: usize, size: u32, chunk: u32) -> Movie {
        let rate = Rate::from_hertz(30.0).unwrap();
        Movie { width: 64, height: 48, rate, chunk, sizes: vec![size; pictures], keys: vec![1] }
    }

    fn find(bytes: &[u8], kind: &[u8; 4]) -> Option<usize> {
        bytes.windows(4).position(|window| window == kind)
    }

    #[test]
    fn the_head_has_one_length_for_small_and_large_films() {
        for payload in [0, 1000, u64::from(u32::MAX) - 8, u64::from(u32::MAX) - 7, 1 << 40] {
            assert_eq!(head(payload).len() as u64, HEAD, "{payload}");
        }
        let large = head(1 << 40);
        assert_eq!(large[32..40], [0, 0, 0, 1, b'm', b'd', b'a', b't']);
        assert_eq!(large[40..48], ((1_u64 << 40) + 16).to_be_bytes());
    }

    #[test]
    fn chunks_hold_all_pictures() {
        for (pictures, chunk, runs) in [(5, 2, vec![(1, 2), (3, 1)]), (4, 2, vec![(1, 2)]), (1, 60, vec![(1, 1)])] {
            assert_eq!(movie(pictures, 10, chunk).chunk_runs(), runs);
        }
    }

    #[test]
    fn films_beyond_four_gigabytes_have_long_offsets() {
        let index = |pictures| movie(pictures, 1 << 30, 2).index(&ParameterSets::default());
        assert!(find(&index(4), b"stco").is_some() && find(&index(4), b"co64").is_none());
        let long = index(6);
        let at = find(&long, b"co64").unwrap() + 8;
        assert_eq!(long[at..at + 4], [0, 0, 0, 3]);
        assert_eq!(long[at + 20..at + 28], (HEAD + (4 << 30)).to_be_bytes());
    }

    #[test]
    fn films_of_many_days_have_long_durations() {
        let mut movie = movie(3, 10, 2);
        movie.rate = Rate { timescale: 10_000, delta: u32::MAX };
        let index = movie.index(&ParameterSets::default());
        let at = find(&index, b"mvhd").unwrap();
        assert_eq!(index[at + 4], 1);
        assert_eq!(index[at + 28..at + 36], (3 * u64::from(u32::MAX)).to_be_bytes());
    }
}
