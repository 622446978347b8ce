//! MP4 container: the header before the coded pictures, and the movie box after them.
//!
//! ISO/IEC 14496-12 (boxes, by their four-character codes), -14 (brand) and -15 (storage of H.264). Presentation order
//! is coding order, so there are no composition offsets and no edit list. Creation times are 0, so that the same
//! pictures give the same bytes.

use crate::boxes::{BoxWriter, box_version};
use crate::encoder::ParameterSets;
use crate::frame_rate::RationalRate;

/// Size of the header: `ftyp`, and the longer of the two headers of `mdat`.
pub(crate) const HEADER_BYTES: u64 = FTYP_BYTES + 16;
const FTYP_BYTES: u64 = 32;

/// Identity transformation of the pictures, fixed point.
const UNITY_MATRIX: [u32; 9] = [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000];

/// Identifier of the only track.
const TRACK_ID: u32 = 1;

/// The video track: its resolution, timing and samples (coded pictures).
#[derive(Clone, Debug)]
pub(crate) struct VideoTrack {
    /// Presented width, pixels.
    pub(crate) width: u16,
    /// Presented height, pixels.
    pub(crate) height: u16,
    pub(crate) rate: RationalRate,
    /// Samples that are stored contiguously; players read as many at a time.
    pub(crate) samples_per_chunk: u32,
    /// Bytes of each sample, in order.
    pub(crate) sample_sizes: Vec<u32>,
    /// Numbers of the sync samples (IDR pictures), from 1.
    pub(crate) sync_samples: Vec<u32>,
}

/// Header of a file whose samples have `payload` bytes in total.
pub(crate) fn file_header(payload: u64) -> Vec<u8> {
    let mut boxes = BoxWriter::default();
    boxes.write_box(b"ftyp", |inner| {
        inner.bytes(b"isom");
        inner.u32(512);
        for brand in [b"isom", b"iso2", b"avc1", b"mp41"] {
            inner.bytes(brand);
        }
    });
    if let Ok(length) = u32::try_from(payload + 8) {
        boxes.write_box(b"free", |_| {});
        boxes.u32(length);
        boxes.bytes(b"mdat");
    } else {
        boxes.u32(1);
        boxes.bytes(b"mdat");
        boxes.u32_or_u64(1, payload + 16);
    }
    boxes.into_bytes()
}

impl VideoTrack {
    /// Number of samples.
    pub(crate) fn sample_count(&self) -> u32 {
        self.sample_sizes.len() as u32
    }

    /// Bytes of all samples.
    pub(crate) fn payload_bytes(&self) -> u64 {
        self.sample_sizes.iter().map(|size| u64::from(*size)).sum()
    }

    /// The movie box, `moov`: all metadata of the file.
    pub(crate) fn movie_box(&self, parameter_sets: &ParameterSets) -> Vec<u8> {
        let mut boxes = BoxWriter::default();
        boxes.write_box(b"moov", |inner| {
            self.write_movie_header(inner);
            inner.write_box(b"trak", |inner| {
                self.write_track_header(inner);
                inner.write_box(b"mdia", |inner| self.write_media(inner, parameter_sets));
            });
        });
        boxes.into_bytes()
    }

    /// Duration of the track, ticks.
    fn duration(&self) -> u64 {
        self.rate.ticks(self.sample_count())
    }

    fn write_movie_header(&self, boxes: &mut BoxWriter) {
        let version = box_version(self.duration());
        boxes.write_full_box(b"mvhd", version, 0, |inner| {
            inner.u32_or_u64(version, 0);
            inner.u32_or_u64(version, 0);
            inner.u32(self.rate.timescale);
            inner.u32_or_u64(version, self.duration());
            // Rate 1 and volume 1, fixed point.
            inner.u32(0x0001_0000);
            inner.u16(0x0100);
            inner.zeros(10);
            UNITY_MATRIX.iter().for_each(|entry| inner.u32(*entry));
            inner.zeros(24);
            inner.u32(TRACK_ID + 1);
        });
    }

    fn write_track_header(&self, boxes: &mut BoxWriter) {
        // Flags: enabled, and used in the presentation.
        const ENABLED_IN_MOVIE: u32 = 3;
        let version = box_version(self.duration());
        boxes.write_full_box(b"tkhd", version, ENABLED_IN_MOVIE, |inner| {
            inner.u32_or_u64(version, 0);
            inner.u32_or_u64(version, 0);
            inner.u32(TRACK_ID);
            inner.zeros(4);
            inner.u32_or_u64(version, self.duration());
            // Reserved, layer, alternate group, volume: all 0.
            inner.zeros(16);
            UNITY_MATRIX.iter().for_each(|entry| inner.u32(*entry));
            inner.u32(u32::from(self.width) << 16);
            inner.u32(u32::from(self.height) << 16);
        });
    }

    fn write_media(&self, boxes: &mut BoxWriter, parameter_sets: &ParameterSets) {
        // "und", three letters of five bits.
        const UNDETERMINED_LANGUAGE: u16 = 0x55c4;
        let version = box_version(self.duration());
        boxes.write_full_box(b"mdhd", version, 0, |inner| {
            inner.u32_or_u64(version, 0);
            inner.u32_or_u64(version, 0);
            inner.u32(self.rate.timescale);
            inner.u32_or_u64(version, self.duration());
            inner.u16(UNDETERMINED_LANGUAGE);
            inner.u16(0);
        });
        boxes.write_full_box(b"hdlr", 0, 0, |inner| {
            inner.u32(0);
            inner.bytes(b"vide");
            inner.zeros(12);
            inner.bytes(b"pictures\0");
        });
        boxes.write_box(b"minf", |inner| {
            inner.write_full_box(b"vmhd", 0, 1, |inner| inner.zeros(8));
            // The samples are in this file.
            inner.write_box(b"dinf", |inner| {
                inner.write_full_box(b"dref", 0, 0, |inner| {
                    inner.u32(1);
                    inner.write_full_box(b"url ", 0, 1, |_| {});
                });
            });
            inner.write_box(b"stbl", |inner| self.write_sample_table(inner, parameter_sets));
        });
    }

    fn write_sample_table(&self, boxes: &mut BoxWriter, parameter_sets: &ParameterSets) {
        boxes.write_full_box(b"stsd", 0, 0, |inner| {
            inner.u32(1);
            inner.write_box(b"avc1", |inner| self.write_sample_entry(inner, parameter_sets));
        });
        boxes.write_full_box(b"stts", 0, 0, |inner| {
            inner.u32(1);
            inner.u32(self.sample_count());
            inner.u32(self.rate.sample_delta);
        });
        boxes.write_full_box(b"stss", 0, 0, |inner| inner.u32_table(self.sync_samples.iter().copied()));
        boxes.write_full_box(b"stsc", 0, 0, |inner| {
            let runs = self.chunk_runs();
            inner.u32(runs.len() as u32);
            for (first, samples) in runs {
                inner.u32(first);
                inner.u32(samples);
                inner.u32(1);
            }
        });
        boxes.write_full_box(b"stsz", 0, 0, |inner| {
            // No constant sample size.
            inner.u32(0);
            inner.u32_table(self.sample_sizes.iter().copied());
        });
        self.write_chunk_offsets(boxes);
    }

    /// Writes the content of the sample entry: decoder configuration and colour description.
    fn write_sample_entry(&self, boxes: &mut BoxWriter, parameter_sets: &ParameterSets) {
        // 72 pixels per inch, as the standard prescribes.
        const RESOLUTION: u32 = 0x0048_0000;
        boxes.zeros(6);
        boxes.u16(1);
        boxes.zeros(16);
        boxes.u16(self.width);
        boxes.u16(self.height);
        boxes.u32(RESOLUTION);
        boxes.u32(RESOLUTION);
        boxes.zeros(4);
        // One picture per sample, an empty compressor name of 32 bytes, a colour depth of 24 bits, and -1 by
        // definition.
        boxes.u16(1);
        boxes.zeros(32);
        boxes.u16(24);
        boxes.u16(u16::MAX);
        boxes.write_box(b"avcC", |inner| write_decoder_configuration(inner, parameter_sets));
        boxes.write_box(b"colr", |inner| {
            inner.bytes(b"nclx");
            // Primaries, transfer function and matrix of ITU-R BT.709, limited range.
            (0..3).for_each(|_| inner.u16(1));
            inner.u8(0);
        });
        boxes.write_box(b"pasp", |inner| {
            inner.u32(1);
            inner.u32(1);
        });
    }

    /// Runs of chunks of one length: first chunk, from 1, and samples per chunk.
    fn chunk_runs(&self) -> Vec<(u32, u32)> {
        let (full, last) = (self.sample_count() / self.samples_per_chunk, self.sample_count() % self.samples_per_chunk);
        let runs = [(1, self.samples_per_chunk), (full + 1, last)];
        let is_present = [full > 0, last > 0];
        runs.into_iter().zip(is_present).filter_map(|(run, is_present)| is_present.then_some(run)).collect()
    }

    fn write_chunk_offsets(&self, boxes: &mut BoxWriter) {
        let starts = self.sample_sizes.chunks(self.samples_per_chunk as usize).scan(HEADER_BYTES, |offset, sizes| {
            let start = *offset;
            *offset += sizes.iter().map(|size| u64::from(*size)).sum::<u64>();
            Some(start)
        });
        let starts: Vec<u64> = starts.collect();
        let version = box_version(starts.last().copied().unwrap_or(0));
        boxes.write_full_box(if version == 0 { b"stco" } else { b"co64" }, 0, 0, |inner| {
            inner.u32(starts.len() as u32);
            starts.iter().for_each(|start| inner.u32_or_u64(version, *start));
        });
    }
}

/// Writes the decoder configuration record of a baseline stream with lengths of four bytes, ISO/IEC 14496-15, 5.3.3.1.
fn write_decoder_configuration(boxes: &mut BoxWriter, parameter_sets: &ParameterSets) {
    boxes.u8(1);
    // Profile, its constraints and level are the first bytes of the sequence parameter set.
    boxes.bytes(parameter_sets.sequence.get(1..4).unwrap_or(&[0; 3]));
    boxes.u8(0b1111_1111);
    boxes.u8(0b1110_0001);
    boxes.u16(parameter_sets.sequence.len() as u16);
    boxes.bytes(&parameter_sets.sequence);
    boxes.u8(1);
    boxes.u16(parameter_sets.picture.len() as u16);
    boxes.bytes(&parameter_sets.picture);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(samples: usize, size: u32, samples_per_chunk: u32) -> VideoTrack {
        let rate = RationalRate::from_hertz(30.0).unwrap();
        VideoTrack {
            width: 64,
            height: 48,
            rate,
            samples_per_chunk,
            sample_sizes: vec![size; samples],
            sync_samples: vec![1],
        }
    }

    fn find(bytes: &[u8], box_type: &[u8; 4]) -> Option<usize> {
        bytes.windows(4).position(|window| window == box_type)
    }

    #[test]
    fn the_header_size_does_not_depend_on_the_payload() {
        for payload in [0, 1000, u64::from(u32::MAX) - 8, u64::from(u32::MAX) - 7, 1 << 40] {
            assert_eq!(file_header(payload).len() as u64, HEADER_BYTES, "{payload}");
        }
        let large = file_header(1 << 40);
        assert_eq!(large[32..40], [0, 0, 0, 1, b'm', b'd', b'a', b't']);
        assert_eq!(large[40..48], ((1_u64 << 40) + 16).to_be_bytes());
    }

    #[test]
    fn chunks_contain_all_samples() {
        for (samples, chunk, runs) in [(5, 2, vec![(1, 2), (3, 1)]), (4, 2, vec![(1, 2)]), (1, 60, vec![(1, 1)])] {
            assert_eq!(track(samples, 10, chunk).chunk_runs(), runs);
        }
    }

    #[test]
    fn files_beyond_four_gigabytes_have_64_bit_offsets() {
        let movie_box = |samples| track(samples, 1 << 30, 2).movie_box(&ParameterSets::default());
        assert!(find(&movie_box(4), b"stco").is_some() && find(&movie_box(4), b"co64").is_none());
        let long = movie_box(6);
        let at = find(&long, b"co64").unwrap() + 8;
        assert_eq!(long[at..at + 4], [0, 0, 0, 3]);
        assert_eq!(long[at + 20..at + 28], (HEADER_BYTES + (4 << 30)).to_be_bytes());
    }

    #[test]
    fn videos_of_many_days_have_64_bit_durations() {
        let mut track = track(3, 10, 2);
        track.rate = RationalRate { timescale: 10_000, sample_delta: u32::MAX };
        let movie_box = track.movie_box(&ParameterSets::default());
        let at = find(&movie_box, b"mvhd").unwrap();
        assert_eq!(movie_box[at + 4], 1);
        assert_eq!(movie_box[at + 28..at + 36], (3 * u64::from(u32::MAX)).to_be_bytes());
    }
}
