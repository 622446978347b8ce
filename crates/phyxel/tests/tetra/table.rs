//! The table of errors in `validation/tetra.md`.
//!
//! With `PHYXEL_BLESS=1` it is written anew; otherwise what the tests find must be what it says.

use crate::Cut;
use crate::beams::{Beam, POISSON, YOUNG, constants, deflection, ringing};
use std::fmt::Write;
use std::path::Path;

/// Errors are in percent with two digits; the last one may be rounded either way.
const ROUNDING: f64 = 0.02;

const HEAD: &str = "# Tetrahedra against closed forms

Written by a test, which fails when what it finds is no longer what stands here. To write it anew:

```
PHYXEL_BLESS=1 cargo nextest run -p phyxel --test tetra table
```

A beam four times as long as wide, Young's modulus 1e6 Pa, Poisson's ratio 0.3, density 1000 kg/m3, held at one end. Its
constants are those of the middle half while it hangs by that end; its deflection is that of the other end under its own
weight over Timoshenko's, its frequency the first one of bending over the closed form. Cells are cut into six tetrahedra
around a diagonal, or around their middles as the mesher does it; jittered inner nodes are up to 0.15 cells from their places
along every axis. Elements have one strain each, so they are too stiff in bending: by a part that falls with the square of
their size. Errors in percent.

";

fn percent(ratio: f64) -> String {
    format!("{:+.2}", 100.0 * (ratio - 1.0))
}

fn row(text: &mut String, name: &str, beam: Beam) {
    let (young, poisson) = constants(beam);
    let [young, poisson] = [young / YOUNG, poisson / POISSON].map(percent);
    let [bend, ring] = [deflection(beam), ringing(beam)].map(percent);
    let Beam { across, .. } = beam;
    writeln!(text, "| {name} | {across} | {young} | {poisson} | {bend} | {ring} |").unwrap();
}

fn write_table() -> String {
    let mut text = HEAD.to_string();
    text.push_str("| cells | across | Young's modulus | Poisson's ratio | deflection | frequency |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for across in [2, 4, 6, 8] {
        row(&mut text, "six to a cell", Beam { across, cut: Cut::Six, jitter: 0.0 });
    }
    for across in [2, 4, 6, 8] {
        row(&mut text, "around middles", Beam { across, cut: Cut::Centred, jitter: 0.0 });
    }
    for across in [2, 4, 6, 8] {
        row(&mut text, "around middles, jittered", Beam { across, cut: Cut::Centred, jitter: 0.15 });
    }
    text
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(['|', ' ', '\n']).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn table_says_what_is_found() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/tetra.md");
    let found = write_table();
    if std::env::var_os("PHYXEL_BLESS").is_some() {
        std::fs::write(&place, found).unwrap();
        return;
    }
    let there = std::fs::read_to_string(&place).unwrap_or_default();
    let (found_numbers, there_numbers) = (numbers(&found), numbers(&there));
    let same = found_numbers.len() == there_numbers.len()
        && found_numbers.iter().zip(&there_numbers).all(|(a, b)| (a - b).abs() <= ROUNDING);
    assert!(same, "validation/tetra.md says\n{there}\nbut found is\n{found}");
}
