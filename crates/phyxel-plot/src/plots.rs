//! Which plots there are, and what is on them.

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

/// Frame by frame.
fn combine<const N: usize>(columns: [&Column; N], with: impl Fn([f64; N]) -> f64) -> Column {
    let length = columns.iter().map(|column| column.len()).min().unwrap_or(0);
    (0..length).map(|frame| with(columns.map(|column| column[frame]))).collect()
}

fn is_zero(column: &Column) -> bool {
    column.iter().all(|value| *value == 0.0 || value.is_nan())
}

/// Heat has a panel of its own: a degree of warmth is more than any motion.
fn energy(run: &Run) -> Plot {
    let unit = Unit::Prefixed("J");
    let [kinetic, elastic, gravity, heat] = &run.energy;
    let sum = combine([kinetic, elastic, gravity], |parts| parts.iter().sum());
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
    let without_heat = is_zero(heat) && is_zero(&run.heat_in);
    let mut panels = vec![mechanical];
    if !without_heat {
        let start = heat.iter().copied().find(|value| value.is_finite()).unwrap_or(f64::NAN);
        let expected = run.heat_in.iter().map(|heat_in| start + heat_in).collect();
        panels.push(panel(
            "heat",
            unit,
            vec![
                curve("heat", heat, LineStyle::Indexed(0)),
                curve("heat at the start and what came in", &expected, LineStyle::Indexed(1)),
            ],
        ));
    }
    let note = if without_heat && !heat.is_empty() { "heat is 0 J throughout" } else { "" };
    Plot { note: note.to_string(), ..plot(run, "energy", "Energy", panels) }
}

fn momentum(run: &Run) -> Plot {
    let vector = |quantity, unit, columns: &[Column; 3]| {
        let [x, y, z] = columns;
        let length = combine([x, y, z], |[x, y, z]| x.hypot(y).hypot(z));
        let parts =
            columns.iter().enumerate().map(|(index, part)| curve(NAMES[index], part, LineStyle::Indexed(index)));
        panel(quantity, unit, parts.chain([curve("magnitude", &length, LineStyle::Emphasized)]).collect())
    };
    let linear = vector("momentum", Unit::Compound("kg m/s"), &run.momentum);
    let angular = vector("angular momentum", Unit::Compound("kg m²/s"), &run.angular_momentum);
    plot(run, "momentum", "Momentum", vec![linear, angular])
}

fn temperature(run: &Run) -> Plot {
    let unit = Unit::Compound("scene’s scale");
    let [least, mean, largest] = &run.temperature;
    let curves = vec![
        curve("largest", largest, LineStyle::Indexed(1)),
        curve("mean by particles", mean, LineStyle::Emphasized),
        curve("smallest", least, LineStyle::Indexed(0)),
    ];
    let mut panels = vec![Panel { band: Some((0, 2)), ..panel("temperature", unit, curves) }];
    let bodies = &run.bodies.columns;
    if bodies.len() > 1 {
        let of_body =
            |(index, (name, column)): (usize, &(String, Column))| curve(name, column, LineStyle::Indexed(index));
        panels.push(panel("by body", unit, bodies.iter().enumerate().map(of_body).collect()));
    }
    let many = format!("more than {MAX_BODY_CURVES} bodies: only their range is drawn");
    let note = if run.bodies.too_many { many } else { String::new() };
    Plot { note, ..plot(run, "temperature", "Temperature", panels) }
}

fn phases(run: &Run) -> Plot {
    let names = ["solid", "fluid", "gas"];
    let curves = run.particles.iter().zip(names).enumerate();
    let curves = curves.map(|(index, (column, name))| curve(name, column, LineStyle::Indexed(index))).collect();
    plot(run, "phases", "Phases", vec![Panel { from_zero: true, ..panel("particles", Unit::One, curves) }])
}

fn strain(run: &Run) -> Plot {
    let [largest, median] = &run.strain;
    let curves = vec![
        curve("largest of all bodies", largest, LineStyle::Indexed(0)),
        curve("median of the bodies’ largest", median, LineStyle::Indexed(1)),
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
    fn the_sum_of_energies_and_the_length_of_a_vector_are_right() {
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
    fn heat_is_left_out_only_where_the_plot_says_so() {
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
