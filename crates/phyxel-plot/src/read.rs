//! Reader of a run folder: columns of the plotted quantities. Reads line by line and keeps only these.

use crate::error::PlotError;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Largest number of bodies with individual curves.
pub(crate) const MAX_BODY_CURVES: usize = 8;

/// Values over the frames of a run; NaN where unknown.
pub(crate) type Column = Vec<f64>;

/// Plotted quantities of a run. All columns have one value per frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// Name of the scene, empty if unknown.
    pub(crate) scene: String,
    /// Time, s.
    pub(crate) time: Column,
    /// Kinetic, elastic and gravitational energy, and heat, J.
    pub(crate) energy: [Column; 4],
    /// Heat input since the start, J.
    pub(crate) heat_in: Column,
    /// Linear momentum, kg m/s.
    pub(crate) momentum: [Column; 3],
    /// Angular momentum, kg m2/s.
    pub(crate) angular_momentum: [Column; 3],
    /// Number of particles: solid, fluid, gas.
    pub(crate) particles: [Column; 3],
    /// Minimum, mean and maximum over the bodies, in the scene's scale.
    pub(crate) temperature: [Column; 3],
    /// Maximum and median over the bodies.
    pub(crate) strain: [Column; 2],
    /// Mean temperature by body.
    pub(crate) bodies: BodyColumns,
    /// Wall-clock time by stage, in the order of the report, s.
    pub(crate) stages: Vec<(String, f64)>,
}

/// Columns by body, if there are few bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyColumns {
    /// Name and column, in the order in which they were added; empty if there are more than [`MAX_BODY_CURVES`].
    pub(crate) columns: Vec<(String, Column)>,
    /// True if there are more.
    pub(crate) too_many: bool,
}

impl BodyColumns {
    fn add(&mut self, frame: usize, name: &str, value: f64) {
        if self.too_many {
            return;
        }
        let position = self.columns.iter().position(|(known_name, _)| known_name == name);
        let index = position.unwrap_or_else(|| {
            self.columns.push((name.to_string(), Vec::new()));
            self.columns.len() - 1
        });
        let column = &mut self.columns[index].1;
        column.resize(frame, f64::NAN);
        column.push(value);
        if self.columns.len() > MAX_BODY_CURVES {
            (self.columns, self.too_many) = (Vec::new(), true);
        }
    }

    /// Pads the columns of removed bodies with NaN.
    fn pad(&mut self, frames: usize) {
        self.columns.iter_mut().for_each(|(_, column)| column.resize(frames, f64::NAN));
    }
}

/// Plotted part of a line of `frames.jsonl`. Missing values and `null` become NaN.
#[derive(Deserialize)]
struct FrameLine {
    time: Option<f64>,
    totals: Totals,
    #[serde(default)]
    bodies: Vec<BodyReport>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Totals {
    particles: PhaseCounts,
    momentum: [Option<f64>; 3],
    angular_momentum: [Option<f64>; 3],
    energy: Energy,
    heat_in: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PhaseCounts {
    solid: Option<f64>,
    fluid: Option<f64>,
    gas: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Energy {
    kinetic: Option<f64>,
    elastic: Option<f64>,
    gravity: Option<f64>,
    heat: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BodyReport {
    name: String,
    particles: PhaseCounts,
    temperature: Span,
    strain_max: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Span {
    min: Option<f64>,
    mean: Option<f64>,
    max: Option<f64>,
}

/// Maps missing values and those of which differences may overflow to NaN.
fn drawable(value: Option<f64>) -> f64 {
    value.filter(|value| value.abs() < 1e300).unwrap_or(f64::NAN)
}

fn push_row<const N: usize>(columns: &mut [Column; N], values: [Option<f64>; N]) {
    columns.iter_mut().zip(values).for_each(|(column, value)| column.push(drawable(value)));
}

impl Run {
    fn add(&mut self, line: FrameLine) {
        let FrameLine { time, totals, bodies } = line;
        let (particles, energy) = (totals.particles, totals.energy);
        self.add_bodies(&bodies);
        self.time.push(drawable(time));
        push_row(&mut self.energy, [energy.kinetic, energy.elastic, energy.gravity, energy.heat]);
        self.heat_in.push(drawable(totals.heat_in));
        push_row(&mut self.momentum, totals.momentum);
        push_row(&mut self.angular_momentum, totals.angular_momentum);
        push_row(&mut self.particles, [particles.solid, particles.fluid, particles.gas]);
        push_row(&mut self.temperature, temperature_range(&bodies));
        push_row(&mut self.strain, strain_statistics(&bodies));
    }

    fn add_bodies(&mut self, bodies: &[BodyReport]) {
        let frame = self.time.len();
        bodies.iter().for_each(|body| self.bodies.add(frame, &body.name, drawable(body.temperature.mean)));
    }
}

/// Minimum, mean and maximum. The mean is weighted by particles, because lines do not have the masses of bodies.
fn temperature_range(bodies: &[BodyReport]) -> [Option<f64>; 3] {
    let min = bodies.iter().filter_map(|body| body.temperature.min).reduce(f64::min);
    let max = bodies.iter().filter_map(|body| body.temperature.max).reduce(f64::max);
    let (mut sum, mut count) = (0.0, 0.0);
    for body in bodies {
        let PhaseCounts { solid, fluid, gas } = body.particles;
        let particles: f64 = [solid, fluid, gas].iter().flatten().sum();
        if let Some(mean) = body.temperature.mean {
            (sum, count) = (sum + mean * particles, count + particles);
        }
    }
    [min, (count > 0.0).then(|| sum / count), max]
}

fn strain_statistics(bodies: &[BodyReport]) -> [Option<f64>; 2] {
    let mut strains: Vec<f64> = bodies.iter().filter_map(|body| body.strain_max).collect();
    strains.sort_by(f64::total_cmp);
    let middle = strains.len() / 2;
    let median = match strains.len() {
        0 => None,
        length if length % 2 == 1 => Some(strains[middle]),
        _ => Some(0.5 * (strains[middle - 1] + strains[middle])),
    };
    [strains.last().copied(), median]
}

/// Reads the plotted quantities of the run in a folder.
pub(crate) fn read_run(folder: &Path) -> Result<Run, PlotError> {
    if !folder.is_dir() {
        return Err(PlotError::NoFolder { folder: folder.to_path_buf() });
    }
    let path = folder.join("frames.jsonl");
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(PlotError::NotARun { folder: folder.to_path_buf() });
        }
        opened => opened.map_err(|source| PlotError::file("read", &path, source))?,
    };
    let mut run = Run::default();
    read_lines(&path, BufReader::new(file), &mut run)?;
    run.bodies.pad(run.time.len());
    read_report(&folder.join("report.json"), &mut run)?;
    Ok(run)
}

fn read_lines(path: &Path, mut reader: impl BufRead, run: &mut Run) -> Result<(), PlotError> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let length = reader.read_until(b'\n', &mut line).map_err(|source| PlotError::file("read", path, source))?;
        if length == 0 {
            break;
        }
        let is_incomplete = line.last() != Some(&b'\n');
        match serde_json::from_slice(&line) {
            Ok(line) => run.add(line),
            // The run is in progress, or was killed.
            Err(_) if is_incomplete => break,
            Err(source) => return Err(PlotError::BadLine { path: path.to_path_buf(), line: number, source }),
        }
    }
    Ok(())
}

/// Plotted part of `report.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RunReport {
    scene: String,
    stages: StageTimes,
}

/// Times by stage, in the order of the file; a map would sort them.
#[derive(Default)]
struct StageTimes(Vec<(String, f64)>);

impl<'de> Deserialize<'de> for StageTimes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StageVisitor;
        impl<'de> Visitor<'de> for StageVisitor {
            type Value = StageTimes;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("seconds by stage")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StageTimes, A::Error> {
                let mut stages = Vec::new();
                while let Some((name, seconds)) = map.next_entry::<String, Option<f64>>()? {
                    stages.push((name, drawable(seconds)));
                }
                Ok(StageTimes(stages))
            }
        }
        deserializer.deserialize_map(StageVisitor)
    }
}

/// Reads the name of the scene and the times of the stages. A run that has just started has no report.
fn read_report(path: &Path, run: &mut Run) -> Result<(), PlotError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|source| PlotError::file("read", path, source))?,
    };
    let invalid = |source| PlotError::BadReport { path: path.to_path_buf(), source };
    let report: RunReport = serde_json::from_slice(&bytes).map_err(invalid)?;
    (run.scene, run.stages) = (report.scene, report.stages.0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Run, PlotError> {
        let mut run = Run::default();
        read_lines(Path::new("run/frames.jsonl"), text.as_bytes(), &mut run)?;
        run.bodies.pad(run.time.len());
        Ok(run)
    }

    fn line(time: f64, bodies: &[(&str, f64, f64)]) -> String {
        let body = |(name, temperature, strain): &(&str, f64, f64)| {
            format!(
                r#"{{"name":"{name}","particles":{{"solid":2,"fluid":1,"gas":0}},"strain_max":{strain},
                "temperature":{{"min":{0},"mean":{temperature},"max":{1}}}}}"#,
                temperature - 1.0,
                temperature + 1.0
            )
        };
        let bodies: Vec<String> = bodies.iter().map(body).collect();
        let text = format!(
            r#"{{"time":{time},"totals":{{"momentum":[1,null,3],"energy":{{"kinetic":2.5}}}},"bodies":[{}]}}"#,
            bodies.join(",")
        );
        text.replace('\n', "") + "\n"
    }

    #[test]
    fn columns_are_read_and_null_or_missing_values_are_nan() {
        let run = read(&(line(0.0, &[("a", 10.0, 0.5)]) + &line(0.5, &[("a", 20.0, 0.1)]))).unwrap();
        assert_eq!(run.time, [0.0, 0.5]);
        assert_eq!(run.energy[0], [2.5, 2.5]);
        assert!(run.energy[1].iter().chain(&run.momentum[1]).all(|value| value.is_nan()));
        assert_eq!(run.momentum[2], [3.0, 3.0]);
        assert_eq!(run.temperature.map(|column| column[1]), [19.0, 20.0, 21.0]);
    }

    #[test]
    fn added_and_removed_bodies_have_gaps() {
        let text = line(0.0, &[("a", 1.0, 0.1)]) + &line(1.0, &[("b", 2.0, 0.3)]) + &line(2.0, &[]);
        let run = read(&text).unwrap();
        let [a, b] = [0, 1].map(|index| run.bodies.columns[index].1.clone());
        assert!(a[0] == 1.0 && a[1].is_nan() && a[2].is_nan());
        assert!(b[0].is_nan() && b[1] == 2.0 && b[2].is_nan());
        assert!(run.strain[0][2].is_nan() && run.temperature[1][2].is_nan());
    }

    #[test]
    fn many_bodies_have_no_individual_columns() {
        let names: Vec<String> = (0..9).map(|index| format!("body {index}")).collect();
        let bodies: Vec<(&str, f64, f64)> = names.iter().map(|name| (name.as_str(), 1.0, 0.1)).collect();
        assert_eq!(read(&line(0.0, &bodies[..8])).unwrap().bodies.columns.len(), 8);
        let run = read(&(line(0.0, &bodies) + &line(1.0, &bodies))).unwrap();
        assert!(run.bodies.too_many && run.bodies.columns.is_empty());
    }

    #[test]
    fn the_median_of_strains_is_that_of_sorted_values() {
        let strains = |values: &[f64]| {
            let bodies: Vec<(&str, f64, f64)> = values.iter().map(|strain| ("a", 0.0, *strain)).collect();
            read(&line(0.0, &bodies)).unwrap().strain.map(|column| column[0])
        };
        assert_eq!(strains(&[0.3, 0.1, 0.2]), [0.3, 0.2]);
        assert_eq!(strains(&[0.5, 0.25]), [0.5, 0.375]);
    }

    #[test]
    fn an_incomplete_last_line_is_ignored_and_any_other_is_named() {
        let whole = line(0.0, &[]) + &line(1.0, &[]);
        assert_eq!(read(&(whole.clone() + "{\"time\":2.0,\"tot")).unwrap().time.len(), 2);
        assert_eq!(read(whole.trim_end()).unwrap().time.len(), 2, "complete, but for the end of the line");
        let message = read(&(whole + "{\"time\":2.0,\n" + &line(3.0, &[]))).unwrap_err().to_string();
        assert!(message.contains("frames.jsonl\" line 3") && message.contains("repair or remove"), "{message}");
    }

    #[test]
    fn stages_keep_the_order_of_the_report() {
        let report: RunReport = serde_json::from_str(r#"{"stages":{"zeta":1.5,"alpha":null},"more":1}"#).unwrap();
        assert_eq!(report.stages.0[0], ("zeta".to_string(), 1.5));
        assert!(report.stages.0[1].1.is_nan());
    }

    #[test]
    fn values_that_cannot_be_plotted_are_nan() {
        assert!([Some(1e301), Some(-1e305), None].into_iter().all(|value| drawable(value).is_nan()));
        assert_eq!(drawable(Some(1e-310)), 1e-310);
    }
}
