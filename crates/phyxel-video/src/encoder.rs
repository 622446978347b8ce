//! H.264 encoding by OpenH264; no other module calls its encoder.

use crate::frame_rate::RationalRate;
use crate::writer::Quality;
use crate::ycbcr::YCbCrPlanes;
use openh264::encoder::{
    BitRate, Complexity, Encoder, EncoderConfig, FrameRate, IntraFramePeriod, Profile, QpRange, RateControlMode,
    UsageType, VuiConfig,
};
use openh264::formats::YUVSource;
use openh264::{Error, OpenH264API};

// Types of NAL units, ITU-T H.264 table 7-1.
const IDR_SLICE: u8 = 5;
const SEQUENCE_PARAMETER_SET: u8 = 7;
const PICTURE_PARAMETER_SET: u8 = 8;

/// Sequence and picture parameter set, without start codes; empty before the first picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParameterSets {
    pub(crate) sequence: Vec<u8>,
    pub(crate) picture: Vec<u8>,
}

/// Encoder of a sequence of pictures.
pub(crate) struct H264Encoder {
    encoder: Encoder,
    parameter_sets: ParameterSets,
    sample: Vec<u8>,
}

/// Coded picture as stored in a file: NAL units, each preceded by its length in four bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<'a> {
    pub(crate) bytes: &'a [u8],
    /// True for IDR pictures, at which a player can start.
    pub(crate) is_idr: bool,
}

impl H264Encoder {
    /// Creates an encoder with an IDR picture every `idr_interval` pictures.
    pub(crate) fn new(
        planes: &YCbCrPlanes,
        rate: RationalRate,
        quality: Quality,
        idr_interval: u32,
    ) -> Result<Self, Error> {
        let config = encoder_config(planes.dimensions(), rate, quality, idr_interval);
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)?;
        Ok(Self { encoder, parameter_sets: ParameterSets::default(), sample: Vec::new() })
    }

    /// Encodes a picture.
    pub(crate) fn encode(&mut self, planes: &YCbCrPlanes) -> Result<Sample<'_>, Error> {
        self.sample.clear();
        let stream = self.encoder.encode(planes)?;
        let layers = (0..stream.num_layers()).filter_map(|index| stream.layer(index));
        let mut is_idr = false;
        for layer in layers {
            for nal_unit in (0..layer.nal_count()).filter_map(|index| layer.nal_unit(index)) {
                let nal_unit = strip_start_code(nal_unit);
                match nal_unit.first().map(|header| header & 31) {
                    Some(SEQUENCE_PARAMETER_SET) => store_parameter_set(&mut self.parameter_sets.sequence, nal_unit)?,
                    Some(PICTURE_PARAMETER_SET) => store_parameter_set(&mut self.parameter_sets.picture, nal_unit)?,
                    Some(unit_type) => {
                        is_idr |= unit_type == IDR_SLICE;
                        append_nal_unit(&mut self.sample, nal_unit)?;
                    }
                    None => {}
                }
            }
        }
        if self.sample.is_empty() || self.parameter_sets.sequence.len() < 4 || self.parameter_sets.picture.is_empty() {
            return Err(Error::msg("it returned no picture"));
        }
        Ok(Sample { bytes: &self.sample, is_idr })
    }

    /// Parameter sets of the sequence; empty before the first picture.
    pub(crate) fn parameter_sets(&self) -> &ParameterSets {
        &self.parameter_sets
    }
}

/// Encoder configuration for constant quality and reproducible bytes.
///
/// The quantisation parameter is constant: the buffer-based rate control varies it between a minimum and a maximum,
/// which are equal here. A target bit rate would instead blur pictures with much motion. There are one thread and one
/// slice, because the number of slices would follow the number of processors.
fn encoder_config(size: (usize, usize), rate: RationalRate, quality: Quality, idr_interval: u32) -> EncoderConfig {
    let hertz = f64::from(rate.timescale) / f64::from(rate.sample_delta);
    // Determines only the level in the stream; 0.2 bits per pixel are those of a detailed picture.
    let bit_rate = (0.2 * (size.0 * size.1) as f64 * hertz).clamp(64e3, 100e6);
    EncoderConfig::new()
        .rate_control_mode(RateControlMode::Bufferbased)
        .qp(QpRange::new(quality.quantisation_parameter(), quality.quantisation_parameter()))
        .bitrate(BitRate::from_bps(bit_rate as u32))
        // Limits of the encoder.
        .max_frame_rate(FrameRate::from_hz(hertz.clamp(1.0, 60.0) as f32))
        .intra_frame_period(IntraFramePeriod::from_num_frames(idr_interval))
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

fn strip_start_code(nal_unit: &[u8]) -> &[u8] {
    let zeros = nal_unit.iter().take_while(|byte| **byte == 0).count();
    match nal_unit.get(zeros) {
        Some(1) if zeros >= 2 => &nal_unit[zeros + 1..],
        _ => nal_unit,
    }
}

/// Stores a parameter set. The encoder repeats it with every IDR picture; the file has one of each type.
fn store_parameter_set(stored: &mut Vec<u8>, nal_unit: &[u8]) -> Result<(), Error> {
    if stored.is_empty() {
        stored.extend_from_slice(nal_unit);
    } else if stored != nal_unit {
        return Err(Error::msg("its parameter sets changed between pictures"));
    }
    Ok(())
}

fn append_nal_unit(sample: &mut Vec<u8>, nal_unit: &[u8]) -> Result<(), Error> {
    let length = u32::try_from(nal_unit.len()).map_err(|_| Error::msg("a picture is too large"))?;
    sample.extend_from_slice(&length.to_be_bytes());
    sample.extend_from_slice(nal_unit);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_codes_are_stripped() {
        assert_eq!(strip_start_code(&[0, 0, 0, 1, 0x67, 1]), [0x67, 1]);
        assert_eq!(strip_start_code(&[0, 0, 1, 0x67]), [0x67]);
        assert_eq!(strip_start_code(&[0x67, 0, 0, 1]), [0x67, 0, 0, 1]);
        assert_eq!(strip_start_code(&[0, 0, 1]), []);
        assert_eq!(strip_start_code(&[]), []);
    }

    #[test]
    fn idr_pictures_come_at_the_interval_only() {
        let mut planes = YCbCrPlanes::new(64, 48);
        let rate = RationalRate::from_hertz(30.0).unwrap();
        let mut encoder = H264Encoder::new(&planes, rate, Quality::Standard, 7).unwrap();
        for index in 0..30_usize {
            // Unrelated patterns, with scene cuts inside an interval.
            let picture: Vec<u8> =
                (0..planes.picture_bytes()).map(|byte| ((byte * (1 + index / 11 * 40)) % 251) as u8).collect();
            planes.convert_rgb(&picture);
            assert_eq!(encoder.encode(&planes).unwrap().is_idr, index % 7 == 0, "{index}");
        }
        assert_eq!(encoder.parameter_sets().sequence[0] & 31, SEQUENCE_PARAMETER_SET);
        assert_eq!(encoder.parameter_sets().picture[0] & 31, PICTURE_PARAMETER_SET);
    }
}
