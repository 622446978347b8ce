//! The table of errors in `validation/heat.md`.
//!
//! With `PHYXEL_BLESS=1` it is written anew; otherwise what the tests find must be what it says.

use crate::experiments::{ball_error, film_error, glow_error, plate_error, slab_error, stefan_error};
use crate::order;
use crate::springs;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Numbers may differ by this part: tables have three digits, and the last one may be rounded either way.
const ROUNDING: f64 = 0.02;

const HEAD: &str = "# Heat against closed forms

Written by a test, which fails when what it finds is no longer what stands here. To write it anew:

```
PHYXEL_BLESS=1 cargo nextest run -p phyxel --test heat table
```

Bodies are cubic lattices, of shape matching where nothing else is said, of density 1000 kg/m3, specific heat 500 J/(kg K) and conductivity 2 W/(m K). A
row has the number of cells, the error and the order: how fast the error fell from the row above, as a power of
the spacing. \"Kept at\" means exchange with a coefficient of 1e9 W/(m2 K) through the faces.
";

struct Part {
    title: &'static str,
    about: &'static str,
    cells: &'static [u32],
    error: fn(u32) -> f64,
}

const PARTS: [Part; 7] = [
    Part {
        title: "Slab",
        about: "A slab starts at 0 and its two faces are kept at 1. The largest difference of a cell from the series at \
                Fourier number 0.1. Cells and steps (explicit, a twentieth of the square of a cell over the diffusivity) \
                are of second order.",
        cells: &[8, 16, 32],
        error: slab_error,
    },
    Part {
        title: "Plate that conducts four times as well along x",
        about: "A square plate starts at 0 and its four edges are kept at 1. The largest difference of a cell from the product \
                of two series, at Fourier number 0.2 along x and 0.05 along y.",
        cells: &[8, 16, 32],
        error: plate_error,
    },
    Part {
        title: "Ball",
        about: "A ball of so many cells across starts at 0 and its surface is kept at 1. The difference of the mean \
                temperature from the series at Fourier number 0.05. The surface of a ball made of cells is a staircase, \
                whose place is known to a part of a cell, so first order is what can be expected. A radius smaller by a \
                cell makes the mean higher by 0.91 over the number of cells across: what is found is a fifth of a cell, \
                because heat comes in through dents sooner than through steps that stick out. Below 20 cells across each \
                number makes a staircase of its own, and the error is a matter of chance.",
        cells: &[24, 36, 48],
        error: ball_error,
    },
    Part {
        title: "Stefan's problem",
        about: "A column at its melting point is kept 80 degrees hotter at its lower end; Stefan number 0.4. The error of the \
                height of the front, relative to the closed form, when it should be half way up, in 4 steps for each cell. \
                A cell melts as a whole, so that heat enters the front in pushes: first order.",
        cells: &[25, 50, 100, 200],
        error: |cells| stefan_error(cells, 4 * cells),
    },
    Part {
        title: "Slab of springs",
        about: "The slab above, as a lattice of springs: particles at the corners of cells, some of them on the faces.",
        cells: &[8, 16, 32],
        error: springs::slab_error,
    },
    Part {
        title: "Plate of springs that conducts four times as well along x",
        about: "The plate above, as a lattice of springs.",
        cells: &[8, 16, 32],
        error: springs::plate_error,
    },
    Part {
        title: "Ball of springs",
        about: "The ball above, as a lattice of springs; the mean is by mass. All particles of the staircase, those in its dents \
                too, have the temperature of the surface, so that more of the ball is warm than with cells.",
        cells: &[24, 36, 48],
        error: springs::ball_error,
    },
];

fn write_part(text: &mut String, part: &Part) {
    let Part { title, about, cells, error } = part;
    writeln!(text, "\n## {title}\n\n{about}\n\n| cells | error | order |\n|---|---|---|").unwrap();
    let mut before: Option<(u32, f64)> = None;
    for &count in *cells {
        let found = error(count);
        let order = before.map(|(fewer, error)| order(error, found, f64::from(count) / f64::from(fewer)));
        let order = order.map_or(String::new(), |order| format!(" {order:.2}"));
        writeln!(text, "| {count} | {found:.2e} |{order} |").unwrap();
        before = Some((count, found));
    }
}

/// An error of so many bits that its digits mean nothing.
fn bound(error: f64) -> &'static str {
    if error.abs() < 1e-6 { "below 1e-6" } else { "ABOVE 1e-6" }
}

fn write_ends(text: &mut String) {
    text.push_str("\n## Ends\n\nStates that no longer change, after long steps. Temperatures have 24 bits.\n\n");
    text.push_str("| experiment | relative error |\n|---|---|\n");
    let film = [1, 4, 16].map(film_error).into_iter().fold(0.0, f64::max);
    let rows = [
        (
            "a slab between a wall and air, linear up to the temperature that wall, slab and film in series give; 1, 4 and 16 cells",
            film,
        ),
        (
            "a cube with a power inside that radiates; temperature where it radiates just that; 10 steps of a day",
            glow_error(10),
        ),
    ];
    rows.iter().for_each(|(what, error)| writeln!(text, "| {what} | {} |", bound(*error)).unwrap());
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/heat.md")
}

/// Whether two words are the same, or numbers that are nearly.
fn agree(a: &str, b: &str) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        // Orders have two digits behind the point, errors three in all.
        (Ok(a), Ok(b)) => (a - b).abs() <= ROUNDING * a.abs().max(b.abs()) || ((a - b).abs() < 0.03 && a.abs() > 0.1),
        _ => a == b,
    }
}

#[test]
fn the_table_is_what_the_experiments_find() {
    let mut text = HEAD.to_string();
    PARTS.iter().for_each(|part| write_part(&mut text, part));
    write_ends(&mut text);
    if std::env::var_os("PHYXEL_BLESS").is_some() {
        std::fs::write(path(), &text).unwrap();
    }
    let written = std::fs::read_to_string(path())
        .unwrap_or_else(|error| panic!("validation/heat.md: {error}; make it with PHYXEL_BLESS=1"));
    for (number, (found, stands)) in text.lines().zip(written.lines()).enumerate() {
        let same = found.split_whitespace().count() == stands.split_whitespace().count()
            && found.split_whitespace().zip(stands.split_whitespace()).all(|(a, b)| agree(a, b));
        assert!(
            same,
            "validation/heat.md:{}: says\n{stands}\nbut found is\n{found}\nmake it anew with PHYXEL_BLESS=1",
            number + 1
        );
    }
    assert_eq!(text.lines().count(), written.lines().count(), "validation/heat.md: make it anew with PHYXEL_BLESS=1");
}
