//! Planes to coded pictures: the one module that speaks to the encoder.

use crate::film::Quality;
use crate::planes::Planes;
use crate::rate::Rate;
use openh264::encoder::{
    BitRate, Complexity, Encoder, EncoderConfig, FrameRate, IntraFramePeriod, Profile, QpRange, RateControlMode,
    UsageType, VuiConfig,
};
use openh264::formats::YUVSource;
use openh264::{Error, OpenH264API};

/// Kinds of units in the stream, ITU-T H.264 table 7-1.
const KEY_SLICE: u8 = 5;
const SEQUENCE_SET: u8 = 7;
const PICTURE_SET: u8 = 8;

/// What a decoder must know before the first picture, without start codes. Empty until the first picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParameterSets {
    pub(crate) sequence: Vec<u8>,
    pub(crate) picture: Vec<u8>,
}

/// Codes one picture after another.
pub(crate) struct Coder {
    encoder: Encoder,
    sets: ParameterSets,
    sample: Vec<u8>,
}

/// A coded picture as it stands in a file: units, each after its length in four bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    pub(crate) bytes: &'a [u8],
    /// Whether a player can start here.
    pub(crate) key: bool,
}

impl Coder {
    /// A coder with a key picture every `key_interval` pictures.
    pub(crate) fn new(planes: &Planes, rate: Rate, quality: Quality, key_interval: u32) -> Result<Self, Error> {
        let config = settings(planes.dimensions(), rate, quality, key_interval);
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)?;
        Ok(Self { encoder, sets: ParameterSets::default(), sample: Vec::new() })
    }

    /// Codes a picture.
    pub(crate) fn code(&mut self, planes: &Planes) -> Result<Sample<'_>, Error> {
        self.sample.clear();
        let stream = self.encoder.encode(planes)?;
        let layers = (0..stream.num_layers()).filter_map(|index| stream.layer(index));
        let mut key = false;
        for layer in layers {
            for unit in (0..layer.nal_count()).filter_map(|index| layer.nal_unit(index)) {
                let unit = without_start_code(unit);
                match unit.first().map(|head| head & 31) {
                    Some(SEQUENCE_SET) => keep_set(&mut self.sets.sequence, unit)?,
                    Some(PICTURE_SET) => keep_set(&mut self.sets.picture, unit)?,
                    Some(kind) => {
                        key |= kind == KEY_SLICE;
                        append_unit(&mut self.sample, unit)?;
                    }
                    None => {}
                }
            }
        }
        if self.sample.is_empty() || self.sets.sequence.len() < 4 || self.sets.picture.is_empty() {
            return Err(Error::msg("it gave no picture"));
        }
        Ok(Sample { bytes: &self.sample, key })
    }

    /// The parameter sets; empty before the first picture.
    pub(crate) fn sets(&self) -> &ParameterSets {
        &self.sets
    }
}

/// Settings for constant quality and for the same bytes every time.
///
/// The quantiser is held at one value. In this mode the encoder's own control moves it within the least and the largest
/// value, and these are equal here. A target rate would instead blur the pictures in which much moves. One thread and one
/// slice, because the number of slices would follow the number of processors.
fn settings(size: (usize, usize), rate: Rate, quality: Quality, key_interval: u32) -> EncoderConfig {
    let hertz = f64::from(rate.timescale) / f64::from(rate.delta);
    // Only the level written into the stream follows from this; 0.2 bits per pixel are a busy picture.
    let bits = (0.2 * (size.0 * size.1) as f64 * hertz).clamp(64e3, 100e6);
    EncoderConfig::new()
        .rate_control_mode(RateControlMode::Bufferbased)
        .qp(QpRange::new(quality.quantiser(), quality.quantiser()))
        .bitrate(BitRate::from_bps(bits as u32))
        // The encoder knows no other rates.
        .max_frame_rate(FrameRate::from_hz(hertz.clamp(1.0, 60.0) as f32))
        .intra_frame_period(IntraFramePeriod::from_num_frames(key_interval))
        .usage_type(UsageType::CameraVideoRealTime)
        .complexity(Complexity::High)
        .profile(Profile::Baseline)
        .num_threads(1)
        .skip_frames(false)
        .scene_change_detect(false)
        .adaptive_quantization(false)
        .background_detection(false)
        .vui(VuiConfig::bt709())
}

fn without_start_code(unit: &[u8]) -> &[u8] {
    let zeros = unit.iter().take_while(|byte| **byte == 0).count();
    match unit.get(zeros) {
        Some(1) if zeros >= 2 => &unit[zeros + 1..],
        _ => unit,
    }
}

/// The sets come again with every key picture; a file has room for one of each.
fn keep_set(kept: &mut Vec<u8>, unit: &[u8]) -> Result<(), Error> {
    if kept.is_empty() {
        kept.extend_from_slice(unit);
    } else if kept != unit {
        return Err(Error::msg("it changed its parameters on the way"));
    }
    Ok(())
}

fn append_unit(sample: &mut Vec<u8>, unit: &[u8]) -> Result<(), Error> {
    let length = u32::try_from(unit.len()).map_err(|_| Error::msg("a picture is too large"))?;
    sample.extend_from_slice(&length.to_be_bytes());
    sample.extend_from_slice(unit);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_codes_are_taken_off() {
        assert_eq!(without_start_code(&[0, 0, 0, 1, 0x67, 1]), [0x67, 1]);
        assert_eq!(without_start_code(&[0, 0, 1, 0x67]), [0x67]);
        assert_eq!(without_start_code(&[0x67, 0, 0, 1]), [0x67, 0, 0, 1]);
        assert_eq!(without_start_code(&[0, 0, 1]), []);
        assert_eq!(without_start_code(&[]), []);
    }

    #[test]
    fn key_pictures_come_at_the_interval_and_nowhere_else() {
        let mut planes = Planes::new(64, 48);
        let rate = Rate::from_hertz(30.0).unwrap();
        let mut coder = Coder::new(&planes, rate, Quality::Standard, 7).unwrap();
        for number in 0..30_usize {
            // Two scenes that share nothing, changing in the middle.
            let picture: Vec<u8> =
                (0..planes.picture_bytes()).map(|index| ((index * (1 + number / 11 * 40)) % 251) as u8).collect();
            planes.read(&picture);
            assert_eq!(coder.code(&planes).unwrap().key, number % 7 == 0, "{number}");
        }
        assert_eq!(coder.sets().sequence[0] & 31, SEQUENCE_SET);
        assert_eq!(coder.sets().picture[0] & 31, PICTURE_SET);
    }
}
