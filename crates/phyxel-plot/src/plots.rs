//! The plots of a run and their curves.

use crate::axis::Unit;
use crate::figure::{Bars, Content, Curve, Curves, LineStyle, Panel, Plot};
use crate::read::{Column, MAX_BODY_CURVES, Run};

const NAMES: [&str; 3] = ["x", "y", "z"];

/// All plots of a run, in a fixed order.
pub(crate) fn all(run: &Run) -> [Plot; 6] {
    [energy(run), momentum(run), temperature(run), phases(run), strain(run), stages(run)]
}

fn curve(name: &str, values: &Column, look: LineStyle) -> Curve {
    Curve { name: name.to_string(), values: values.clone(), style: look }
}

fn panel(quantity: &'static str, unit: Unit, curves: Vec<Curve>) -> Panel {
    Panel { quantity, unit, from_zero: false, curves, band: None }
}

fn plot(run: &Run, name: &'static str, title: &'static str, panels: Vec<Panel>) -> Plot {
    let content = Content::Curves(Curves { time: run.time.clone(), panels });
    Plot { name, title, scene: run.scene.clone(), note: String::new(), content }
}

/// Combines columns frame by frame.
fn combine<const N: usize>(columns: [&Column; N], with: impl Fn([f64; N]) -> f64) -> Column {
    let length = columns.iter().map(|column| column.len()).min().unwrap_or(0);
    (0..length).map(|frame| with(columns.map(|column| column[frame]))).collect()
}

fn is_zero(column: &Column) -> bool {
    column.iter().all(|value| *value == 0.0 || value.is_nan())
}

/// Energy plot. Heat has its own panel: it exceeds mechanical energies by orders of magnitude.
fn energy(run: &Run) -> Plot {
    let unit = Unit::Prefixed("J");
    let [kinetic, elastic, gravity, heat] = &run.energy;
    let sum = combine([kinetic, elastic, gravity], |energies| energies.iter().sum());
    let mechanical = panel(
        "energy",
        unit,
        vec![
            curve("kinetic", kinetic, LineStyle::Indexed(0)),
            curve("elastic", elastic, LineStyle::Indexed(1)),
            curve("gravity", gravity, LineStyle::Indexed(2)),
            curve("sum", &sum, LineStyle::Emphasized),
        ],
    );
    let has_no_heat = is_zero(heat) && is_zero(&run.heat_in);
    let mut panels = vec![mechanical];
    if !has_no_heat {
        let start = heat.iter().copied().find(|value| value.is_finite()).unwrap_or(f64::NAN);
        let expected = run.heat_in.iter().map(|heat_in| start + heat_in).collect();
        panels.push(panel(
            "heat",
            unit,
            vec![
                curve("heat", heat, LineStyle::Indexed(0)),
                curve("initial heat plus heat input", &expected, LineStyle::Indexed(1)),
            ],
        ));
    }
    let note = if has_no_heat && !heat.is_empty() { "heat is 0 J throughout" } else { "" };
    Plot { note: note.to_string(), ..plot(run, "energy", "Energy", panels) }
}

fn momentum(run: &Run) -> Plot {
    let vector = |quantity, unit, columns: &[Column; 3]| {
        let [x, y, z] = columns;
        let magnitude = combine([x, y, z], |[x, y, z]| x.hypot(y).hypot(z));
        let components =
            columns.iter().enumerate().map(|(index, column)| curve(NAMES[index], column, LineStyle::Indexed(index)));
        panel(quantity, unit, components.chain([curve("magnitude", &magnitude, LineStyle::Emphasized)]).collect())
    };
    let linear = vector("momentum", Unit::Compound("kg m/s"), &run.momentum);
    let angular = vector("angular momentum", Unit::Compound("kg m²/s"), &run.angular_momentum);
    plot(run, "momentum", "Momentum", vec![linear, angular])
}

fn temperature(run: &Run) -> Plot {
    let unit = Unit::Compound("scene’s scale");
    let [min, mean, max] = &run.temperature;
    let curves = vec![
        curve("maximum", max, LineStyle::Indexed(1)),
        curve("mean over particles", mean, LineStyle::Emphasized),
        curve("minimum", min, LineStyle::Indexed(0)),
    ];
    let mut panels = vec![Panel { band: Some((0, 2)), ..panel("temperature", unit, curves) }];
    let bodies = &run.bodies.columns;
    if bodies.len() > 1 {
        let body_curve =
            |(index, (name, column)): (usize, &(String, Column))| curve(name, column, LineStyle::Indexed(index));
        panels.push(panel("by body", unit, bodies.iter().enumerate().map(body_curve).collect()));
    }
    let too_many = format!("more than {MAX_BODY_CURVES} bodies: only their range is drawn");
    let note = if run.bodies.too_many { too_many } else { String::new() };
    Plot { note, ..plot(run, "temperature", "Temperature", panels) }
}

fn phases(run: &Run) -> Plot {
    let names = ["solid", "fluid", "gas"];
    let curves = run.particles.iter().zip(names).enumerate();
    let curves = curves.map(|(index, (column, name))| curve(name, column, LineStyle::Indexed(index))).collect();
    plot(run, "phases", "Phases", vec![Panel { from_zero: true, ..panel("particles", Unit::One, curves) }])
}

fn strain(run: &Run) -> Plot {
    let [max, median] = &run.strain;
    let curves = vec![
        curve("maximum of all bodies", max, LineStyle::Indexed(0)),
        curve("median of the maxima of bodies", median, LineStyle::Indexed(1)),
    ];
    plot(run, "strain", "Strain", vec![Panel { from_zero: true, ..panel("strain", Unit::One, curves) }])
}

fn stages(run: &Run) -> Plot {
    let bars = run.stages.iter().map(|(name, seconds)| (name.replace('_', " "), *seconds)).collect();
    let content = Content::Bars(Bars { quantity: "wall-clock time", unit: Unit::Prefixed("s"), bars });
    let note = String::new();
    Plot { name: "stages", title: "Time by stage of the step", scene: run.scene.clone(), note, content }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels(plot: Plot) -> Vec<Panel> {
        match plot.content {
            Content::Curves(curves) => curves.panels,
            Content::Bars(_) => panic!("{} has bars", plot.name),
        }
    }

    #[test]
    fn the_sum_of_energies_and_the_magnitude_of_a_vector_are_correct() {
        let run = Run {
            time: vec![0.0],
            energy: [vec![1.0], vec![2.0], vec![-4.0], vec![9.0]],
            momentum: [vec![2.0], vec![3.0], vec![-6.0]],
            ..Run::default()
        };
        assert_eq!(panels(energy(&run))[0].curves[3].values, [-1.0]);
        assert_eq!(panels(momentum(&run))[0].curves[3].values, [7.0]);
    }

    #[test]
    fn heat_is_omitted_only_with_a_note() {
        let zero = vec![0.0; 2];
        let cold = Run { energy: [&zero; 4].map(Clone::clone), heat_in: zero.clone(), ..Run::default() };
        let plot = energy(&cold);
        assert!(plot.note.contains("throughout"));
        assert_eq!(panels(plot).len(), 1);
        let warm = Run { heat_in: vec![0.0, 5.0], ..cold };
        let plot = energy(&warm);
        assert!(plot.note.is_empty());
        assert_eq!(panels(plot)[1].curves[1].values, [0.0, 5.0]);
    }
}
