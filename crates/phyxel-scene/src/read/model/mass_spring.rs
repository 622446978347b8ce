//! Settings of mass-spring lattices in files.

use crate::read::cursor::{Field, TableReader};
use crate::read::quantity::Quantity;
use crate::scene::ModelDescription;
use phyxel::model::mass_spring::{Gas, MassSpringSettings, Molecules, Summation};

/// Reads the table `mass_spring` of a body.
pub(super) fn read_mass_spring(field: &Field) -> Option<ModelDescription> {
    let default = MassSpringSettings::default();
    let mut reader = field.table()?;
    let cell = reader.read("cell", read_cell);
    let weights = reader.vector("weights", Quantity::positive("")).map(|weights| weights.to_array());
    let settings = MassSpringSettings {
        weights: weights.unwrap_or(default.weights),
        diagonal_conductivity: reader
            .number("diagonal_conductivity", Quantity::not_negative("W/(m K)"))
            .unwrap_or(default.diagonal_conductivity),
        refreeze: reader.flag("refreeze").unwrap_or(default.refreeze),
        molecules: reader.read("molecules", read_molecules).unwrap_or(default.molecules),
        gas: reader.read("gas", read_gas).unwrap_or(default.gas),
        ..default
    };
    reader.finish();
    Some(ModelDescription::MassSpring { cell, settings: Box::new(settings) })
}

/// Reads the edges of a cell, which must be close enough to a cube.
fn read_cell(field: &Field) -> Option<[f32; 3]> {
    let cell = field.vector(Quantity::positive("m"))?.to_array();
    if phyxel::model::mass_spring::is_too_flat(cell) {
        let [a, b, c] = cell;
        field.reject(format!(
            "is [{a}, {b}, {c}], too far from a cube; with edges a, b, c of a cell, a2/b2 + a2/c2 must be below 3 for \
             each"
        ));
        return None;
    }
    Some(cell)
}

fn read_molecules(field: &Field) -> Option<Molecules> {
    let default = Molecules::default();
    let mut reader = field.table()?;
    let molecules = Molecules {
        exponents: reader.read("exponents", read_exponents).unwrap_or(default.exponents),
        softening: reader.number("softening", Quantity::not_negative("sizes")).unwrap_or(default.softening),
        collision: reader.number("collision", Quantity::not_negative("")).unwrap_or(default.collision),
        cutoff: reader.number("cutoff", Quantity::between(1.5, 8.0, "sizes")).unwrap_or(default.cutoff),
        summation: read_summation(&mut reader).unwrap_or(default.summation),
        strengths: read_strengths(&mut reader),
    };
    reader.finish();
    Some(molecules)
}

/// Reads the exponents `[2, 4]` of attraction and repulsion; the latter must be the larger.
fn read_exponents(field: &Field) -> Option<[f32; 2]> {
    let [a, b] = field.array("[attraction, repulsion]")?.map(|item| item.number(Quantity::not_negative("")));
    let (a, b) = (a?, b?);
    if a >= b || b > 32.0 {
        field.reject(format!("is [{a}, {b}], but the repulsion must have the larger one, 32 at most"));
        return None;
    }
    Some([a, b])
}

/// Reads `attraction` and `repulsion`, both or none.
fn read_strengths(reader: &mut TableReader) -> Option<[f32; 2]> {
    let attraction = reader.number("attraction", Quantity::not_negative(""));
    let repulsion = reader.number("repulsion", Quantity::positive(""));
    if attraction.is_some() != repulsion.is_some() {
        reader.reject(
            "has one of \"attraction\" and \"repulsion\"; give both, or none to have them follow from the material",
        );
    }
    Some([attraction?, repulsion?])
}

/// Reads `summation = "cutoff"`, `"tree"` (Barnes-Hut, with `opening_angle`) or `"exact"`.
fn read_summation(reader: &mut TableReader) -> Option<Summation> {
    let opening_angle = reader.number("opening_angle", Quantity::fraction());
    let kinds = [
        ("cutoff", Summation::Cutoff),
        ("tree", Summation::Tree { opening_angle: opening_angle.unwrap_or(0.5) }),
        ("exact", Summation::Exact),
    ];
    let summation = reader.read("summation", |field| field.choice("summation", &kinds));
    if opening_angle.is_some() && !matches!(summation, Some(Summation::Tree { .. })) {
        reader.reject("has \"opening_angle\", which only summation = \"tree\" uses");
    }
    summation
}

fn read_gas(field: &Field) -> Option<Gas> {
    let default = Gas::default();
    let mut reader = field.table()?;
    let gas = Gas {
        repulsion: reader.number("repulsion", Quantity::positive("")).unwrap_or(default.repulsion),
        lift: reader.number("lift", Quantity::any("weights")).unwrap_or(default.lift),
        drag: reader.number("drag", Quantity::not_negative("1/s")).unwrap_or(default.drag),
    };
    reader.finish();
    Some(gas)
}
