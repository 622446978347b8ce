//! Charts of points and lines as SVG, for the documents in `validation`.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 20.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 50.0;

/// A chart.
pub struct Chart<'a> {
    /// Label and range of the horizontal axis.
    pub x_axis: (&'a str, [f64; 2]),
    /// Label and range of the vertical axis.
    pub y_axis: (&'a str, [f64; 2]),
    /// Lines with their names.
    pub lines: Vec<(&'a str, Vec<(f64, f64)>)>,
    /// Points with their names.
    pub points: Vec<(&'a str, Vec<(f64, f64)>)>,
}

impl Chart<'_> {
    fn to_pixels(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let fraction = |value: f64, [low, high]: [f64; 2]| (value - low) / (high - low);
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        (LEFT + width * fraction(x, self.x_axis.1), TOP + height * (1.0 - fraction(y, self.y_axis.1)))
    }

    /// Renders the chart.
    pub fn svg(&self) -> String {
        const COLORS: [&str; 4] = ["#1f6fb2", "#d1495b", "#3a7d44", "#8d6a9f"];
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        let ([x0, x1], [y0, y1]) = (self.x_axis.1, self.y_axis.1);
        for k in 0..=5 {
            let (x, y) = (x0 + (x1 - x0) * f64::from(k) / 5.0, y0 + (y1 - y0) * f64::from(k) / 5.0);
            let ((a, _), (_, b)) = (self.to_pixels((x, y0)), self.to_pixels((x0, y)));
            let (end, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
            let _ = writeln!(
                text,
                "<path d=\"M{a:.1} {TOP}V{floor}M{LEFT} {b:.1}H{end}\" stroke=\"#ddd\" fill=\"none\"/>\
                 <text x=\"{a:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x:.2}</text>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{y:.2}</text>",
                floor + 18.0,
                LEFT - 6.0,
                b + 4.0
            );
        }
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            0.5 * (LEFT + WIDTH - RIGHT),
            HEIGHT - 10.0,
            self.x_axis.0,
            0.5 * (TOP + HEIGHT - BOTTOM),
            self.y_axis.0
        );
        let mut colors = COLORS.iter().cycle();
        let mut legend_y = TOP + 16.0;
        let mut add_label = |text: &mut String, color: &str, label: &str| {
            let x = LEFT + 14.0;
            let _ = writeln!(text, "<text x=\"{x}\" y=\"{legend_y}\" fill=\"{color}\">{label}</text>");
            legend_y += 18.0;
        };
        for ((label, line), color) in self.lines.iter().zip(&mut colors) {
            let path: Vec<String> =
                line.iter().map(|&point| self.to_pixels(point)).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            let _ =
                writeln!(text, "<path d=\"M{}\" stroke=\"{color}\" stroke-width=\"2\" fill=\"none\"/>", path.join("L"));
            add_label(&mut text, color, label);
        }
        for ((label, points), color) in self.points.iter().zip(&mut colors) {
            for (x, y) in points.iter().map(|&point| self.to_pixels(point)) {
                let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{color}\"/>");
            }
            add_label(&mut text, color, label);
        }
        text + "</svg>\n"
    }
}
