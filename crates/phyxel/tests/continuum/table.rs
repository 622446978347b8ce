//! The table of errors in `validation/continuum.md`.
//!
//! With `PHYXEL_BLESS=1` it is rewritten; otherwise the results must agree with it.

use crate::beams::{Beam, EXPLICIT, POISSON, YOUNG, deflection_ratio, elastic_constants, frequency_ratio};
use phyxel::model::continuum::Integration;
use std::fmt::Write;
use std::path::Path;

/// Errors are in percent with two digits; the last one may be rounded either way.
const ROUNDING: f64 = 0.02;

const HEAD: &str = "# Continuum model against closed forms

Written by a test, which fails when its results no longer agree with this table. To rewrite it:

```
PHYXEL_BLESS=1 cargo nextest run -p phyxel --test continuum table
```

A beam four times as long as wide, Young's modulus 1e6 Pa, Poisson's ratio 0.3, density 1000 kg/m3, fixed in the first
layer of phyxels. Its elastic constants are measured in the middle third while it hangs by one end; its deflection is
that of the last layer under its own weight over Timoshenko's, its frequency the first bending frequency over the closed
form. Jittered phyxels are up to 0.15 spacings from the lattice along every axis. Errors in percent.

";

fn percent(ratio: f64) -> String {
    format!("{:+.2}", 100.0 * (ratio - 1.0))
}

fn row(text: &mut String, name: &str, beam: Beam) {
    let (young, poisson) = elastic_constants(beam);
    let [young, poisson] = [young / YOUNG, poisson / POISSON].map(percent);
    let [bend, ring] = [deflection_ratio(beam), frequency_ratio(beam)].map(percent);
    let Beam { across, .. } = beam;
    writeln!(text, "| {name} | {across} | {young} | {poisson} | {bend} | {ring} |").unwrap();
}

fn write_table() -> String {
    let mut text = HEAD.to_string();
    text.push_str("| samples, steps | phyxels across | Young's modulus | Poisson's ratio | deflection | frequency |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for across in [4, 6, 8, 12] {
        row(&mut text, "regular, explicit", Beam { across, ..EXPLICIT });
    }
    for across in [4, 6, 8, 12] {
        row(&mut text, "jittered, explicit", Beam { across, jitter: 0.15, ..EXPLICIT });
    }
    for across in [4, 6, 8] {
        row(&mut text, "regular, implicit", Beam { across, integration: Integration::Implicit, ..EXPLICIT });
    }
    text
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(['|', ' ', '\n']).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn the_table_agrees_with_the_results() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/continuum.md");
    let found = write_table();
    if std::env::var_os("PHYXEL_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    let (found_numbers, recorded_numbers) = (numbers(&found), numbers(&recorded));
    let same = found_numbers.len() == recorded_numbers.len()
        && found_numbers.iter().zip(&recorded_numbers).all(|(a, b)| (a - b).abs() <= ROUNDING);
    assert!(same, "validation/continuum.md has\n{recorded}\nbut the results are\n{found}");
}
