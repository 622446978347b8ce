//! Plots of synthetic runs: files, labels and curves.

use phyxel_plot::{PlotError, draw};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const NAMES: [&str; 6] = ["energy", "momentum", "temperature", "phases", "strain", "stages"];

/// Frame of a run in which bodies fall, melt and cool, with all values multiplied by `scale`.
fn frame(index: usize, bodies: usize, scale: f64) -> Value {
    let time = index as f64 / 30.0;
    let molten = (40 * index).min(4000);
    let mean = 20.0 + 60.0 * (1.0 - (-time).exp());
    let body = |number: usize| {
        let temperature = mean * scale * (1.0 - 0.1 * number as f64 / bodies as f64);
        json!({
            "name": format!("body {number} <&>"),
            "particles": { "solid": 4000 - molten, "fluid": molten, "gas": 0 },
            "temperature": { "min": 0.8 * temperature, "mean": temperature, "max": 1.1 * temperature },
            "strain_max": scale * (0.2 + 0.1 * (9.0 * time).sin() * (-0.5 * time).exp()) / (1 + number) as f64,
        })
    };
    let fall = scale * 9.81 * time;
    let heat = 2e5 * scale * mean;
    json!({
        "frame": index,
        "time": time,
        "steps": 8 * index,
        "totals": {
            "particles": { "solid": bodies * (4000 - molten), "fluid": bodies * molten, "gas": 0 },
            "mass": 5.0,
            "momentum": [0.2 * fall, -fall, 0.0],
            "angular_momentum": [0.0, scale * (3.0 * time).cos(), scale * 0.3],
            "energy": { "kinetic": fall * fall, "elastic": scale, "gravity": 900.0 - fall * fall, "heat": heat },
            "heat_in": 2e5 * scale * (mean - 20.0),
            "balance_error": 0.0,
        },
        "bodies": (0..bodies).map(body).collect::<Vec<_>>(),
    })
}

fn run_of(lines: &str, report: Option<&str>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("frames.jsonl"), lines).unwrap();
    if let Some(report) = report {
        fs::write(folder.path().join("report.json"), report).unwrap();
    }
    folder
}

fn lines(frames: impl IntoIterator<Item = Value>) -> String {
    frames.into_iter().map(|frame| format!("{frame}\n")).collect()
}

const REPORT: &str =
    r#"{ "scene": "made up", "stages": { "find_neighbours": 1.25, "exert_forces": 0.003, "check": 0.25 } }"#;

fn draw_all(run: &Path) -> Vec<PathBuf> {
    let files = draw(run, &run.join("plots")).unwrap();
    let expected = NAMES.iter().flat_map(|name| [format!("{name}.svg"), format!("{name}.png")]);
    let expected: Vec<PathBuf> = expected.map(|name| run.join("plots").join(name)).collect();
    assert_eq!(files, expected);
    assert_eq!(fs::read_dir(run.join("plots")).unwrap().count(), 12, "no temporary files");
    files
}

/// Texts and number of curves of a drawing, after a check that all coordinates are on the page.
fn inspect(path: &Path) -> (Vec<String>, usize) {
    let text = fs::read_to_string(path).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    assert!(!text.contains("NaN") && !text.contains("inf"), "{}", path.display());
    let curves: Vec<_> = document.descendants().filter(|node| node.has_tag_name("path")).collect();
    for curve in &curves {
        let numbers = curve.attribute("d").unwrap().split(['M', 'L', ' ']).filter(|part| !part.is_empty());
        for number in numbers {
            let number: f64 = number.parse().unwrap();
            assert!((-1.0..=801.0).contains(&number), "{number} in {}", path.display());
        }
    }
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    (texts.filter_map(|node| node.text()).map(str::to_string).collect(), curves.len())
}

/// Fraction of pixels that are not white.
fn inked_fraction(path: &Path) -> f64 {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let shape = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((shape.width, shape.height), (1600, 1000));
    let channels = shape.color_type.samples();
    let inked_pixels = pixels.chunks(channels).filter(|pixel| pixel[..3].iter().any(|value| *value < 250)).count();
    inked_pixels as f64 / (1600.0 * 1000.0)
}

fn plot<'a>(files: &'a [PathBuf], name: &str) -> &'a Path {
    let file_name = format!("{name}.svg");
    files.iter().find(|file| file.ends_with(&file_name)).unwrap()
}

#[test]
fn every_plot_has_its_labels_and_one_path_per_curve() {
    let run = run_of(&lines((0..120).map(|index| frame(index, 2, 1.0))), Some(REPORT));
    let files = draw_all(run.path());
    let cases: [(&str, usize, &[&str]); 6] = [
        (
            "energy",
            6,
            &["Energy", "made up", "time [s]", "energy [kJ]", "kinetic", "elastic", "gravity", "sum", "heat [MJ]"],
        ),
        ("momentum", 8, &["momentum [kg m/s]", "angular momentum [kg m²/s]", "x", "y", "z", "magnitude"]),
        ("temperature", 5, &["temperature [scene’s scale]", "minimum", "maximum", "body 0 <&>", "body 1 <&>"]),
        ("phases", 3, &["particles", "solid", "fluid", "gas", "8000"]),
        ("strain", 2, &["strain", "maximum of all bodies", "0.30"]),
        ("stages", 0, &["wall-clock time [s]", "find neighbours", "1.25 s (83.2 %)", "3.00 ms (0.2 %)"]),
    ];
    for (name, curves, labels) in cases {
        let (texts, found) = inspect(plot(&files, name));
        assert_eq!(found, curves, "{name}");
        for label in labels {
            assert!(texts.iter().any(|text| text == label), "{name}: \"{label}\" is not in {texts:?}");
        }
        let inked_pixels = inked_fraction(&plot(&files, name).with_extension("png"));
        assert!((0.01..0.6).contains(&inked_pixels), "{name}: {inked_pixels}");
    }
}

#[test]
fn plots_are_reproducible() {
    let run = run_of(&lines((0..50).map(|index| frame(index, 3, 1.0))), Some(REPORT));
    let read = || draw_all(run.path()).iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>();
    assert!(read() == read());
}

#[test]
fn runs_with_zero_or_one_frame_are_plotted() {
    let run = run_of("", None);
    let files = draw_all(run.path());
    let (texts, _) = inspect(plot(&files, "energy"));
    assert!(texts.iter().any(|text| text == "the run has no frames yet"), "{texts:?}");
    let (texts, _) = inspect(plot(&files, "stages"));
    assert!(texts.iter().any(|text| text == "the report has no stage times yet"), "{texts:?}");

    let run = run_of(&lines([frame(0, 1, 1.0)]), Some("{}"));
    let files = draw_all(run.path());
    let text = fs::read_to_string(plot(&files, "momentum")).unwrap();
    assert!(text.contains("<circle"), "one value is a dot");
}

#[test]
fn constant_and_missing_values_are_plotted() {
    let still = frame(3, 1, 0.0);
    let again = |index: usize| {
        let mut frame = still.clone();
        frame["time"] = json!(index);
        frame
    };
    inspect(plot(&draw_all(run_of(&lines((0..9).map(again)), None).path()), "temperature"));

    let broken = |index: usize| {
        let mut frame = frame(index, 2, 1.0);
        if index % 7 == 3 {
            frame["totals"]["energy"]["kinetic"] = Value::Null;
            frame["bodies"][0]["temperature"]["mean"] = Value::Null;
            frame["bodies"][1]["strain_max"] = Value::Null;
        }
        frame
    };
    let run = run_of(&lines((0..30).map(broken)), None);
    let files = draw_all(run.path());
    let text = fs::read_to_string(plot(&files, "energy")).unwrap();
    let kinetic = text.lines().find(|line| line.contains("<title>kinetic</title>")).unwrap();
    assert_eq!(kinetic.matches('M').count(), 5, "a gap at every null: {kinetic}");

    let nothing = run_of("{\"time\":null,\"totals\":{}}\n{\"time\":1,\"totals\":{}}\n", None);
    draw_all(nothing.path());
}

#[test]
fn huge_and_tiny_values_stay_on_the_page() {
    for scale in [1e-200, 1e-12, 1e12, 1e140] {
        let run = run_of(&lines((0..20).map(|index| frame(index, 2, scale))), None);
        for file in draw_all(run.path()).iter().filter(|file| file.extension().is_some_and(|ending| ending == "svg")) {
            inspect(file);
        }
    }
}

#[test]
fn many_bodies_are_plotted_as_a_range() {
    let run = run_of(&lines((0..20).map(|index| frame(index, 9, 1.0))), None);
    let (texts, curves) = inspect(plot(&draw_all(run.path()), "temperature"));
    assert_eq!(curves, 3);
    assert!(texts.iter().any(|text| text.contains("only their range")), "{texts:?}");
}

#[test]
fn a_run_in_progress_is_plotted() {
    let run = run_of(&(lines((0..20).map(|index| frame(index, 1, 1.0))) + "{\"frame\":20,\"tim"), None);
    draw_all(run.path());
}

#[test]
fn a_folder_without_a_run_is_an_error_with_a_remedy() {
    let empty = tempfile::tempdir().unwrap();
    let message = |folder: &Path| draw(folder, &empty.path().join("plots")).unwrap_err().to_string();
    assert!(message(&empty.path().join("none")).contains("there is no folder"));
    assert!(message(empty.path()).contains("not the folder of a run"));
    let bad = run_of(&(lines([frame(0, 1, 1.0)]) + "{ what }\n"), None);
    let error = draw(bad.path(), &bad.path().join("plots")).unwrap_err();
    assert!(matches!(error, PlotError::BadLine { line: 2, .. }), "{error}");
    let bad = run_of("", Some("{ \"stages\": 5 }"));
    let error = draw(bad.path(), &bad.path().join("plots")).unwrap_err().to_string();
    assert!(error.contains("report.json") && error.contains("remove it"), "{error}");
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "nothing is written");
    let run = run_of("", None);
    fs::write(run.path().join("plots"), b"").unwrap();
    assert!(draw(run.path(), &run.path().join("plots")).unwrap_err().to_string().contains("choose another path"));
}
