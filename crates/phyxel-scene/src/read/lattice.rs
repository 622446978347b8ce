//! Settings of bodies of springs in files.

use super::cursor::{Field, Reader};
use super::quantity::Quantity;
use crate::scene::ModelDescription;
use phyxel::model::spring::{Gas, Molecules, SpringSettings, Summation};

/// The table `lattice` of a body of springs.
pub(super) fn read_lattice(field: &Field) -> Option<ModelDescription> {
    let usual = SpringSettings::default();
    let mut reader = field.table()?;
    let cell = reader.field("cell").and_then(|field| read_cell(&field));
    let weights = reader.vector("weights", Quantity::positive("")).map(|weights| weights.to_array());
    let diagonal = reader.number("diagonal_conductivity", Quantity::not_negative("W/(m K)"));
    let refreeze = reader.flag("refreeze");
    let molecules = reader.field("molecules").and_then(|field| read_molecules(&field));
    let gas = reader.field("gas").and_then(|field| read_gas(&field));
    reader.finish();
    let settings = SpringSettings {
        weights: weights.unwrap_or(usual.weights),
        diagonal_conductivity: diagonal.unwrap_or(usual.diagonal_conductivity),
        refreeze: refreeze.unwrap_or(usual.refreeze),
        molecules: molecules.unwrap_or(usual.molecules),
        gas: gas.unwrap_or(usual.gas),
        ..usual
    };
    Some(ModelDescription::Spring { cell, settings: Box::new(settings) })
}

/// Edges of a cell, near enough to a cube.
fn read_cell(field: &Field) -> Option<[f32; 3]> {
    let cell = field.vector(Quantity::positive("m"))?.to_array();
    if phyxel::model::spring::is_too_flat(cell) {
        let [a, b, c] = cell;
        field.object(format!(
            "is [{a}, {b}, {c}], too far from a cube; with edges a, b, c of a cell, a2/b2 + a2/c2 must be below 3 for each"
        ));
        return None;
    }
    Some(cell)
}

fn read_molecules(field: &Field) -> Option<Molecules> {
    let usual = Molecules::default();
    let mut reader = field.table()?;
    let exponents = reader.field("exponents").and_then(|field| read_exponents(&field));
    let bluntness = reader.number("bluntness", Quantity::not_negative("sizes"));
    let collision = reader.number("collision", Quantity::not_negative(""));
    let cutoff = reader.number("cutoff", Quantity::between(1.5, 8.0, "sizes"));
    let summation = read_summation(&mut reader);
    let strengths = read_strengths(&mut reader);
    reader.finish();
    Some(Molecules {
        exponents: exponents.unwrap_or(usual.exponents),
        bluntness: bluntness.unwrap_or(usual.bluntness),
        collision: collision.unwrap_or(usual.collision),
        cutoff: cutoff.unwrap_or(usual.cutoff),
        summation: summation.unwrap_or(usual.summation),
        strengths,
    })
}

/// `[2, 4]`: of the attraction and of the repulsion, which must be the larger.
fn read_exponents(field: &Field) -> Option<[f32; 2]> {
    let items = field.items()?;
    let [a, b] = &items[..] else {
        field.object(format!("is a list of {}, but must be [attraction, repulsion]", items.len()));
        return None;
    };
    let quantity = Quantity::not_negative("");
    let (a, b) = (a.number(quantity)? as f32, b.number(quantity)? as f32);
    if a >= b || b > 32.0 {
        field.object(format!("is [{a}, {b}], but the repulsion must have the larger one, 32 at most"));
        return None;
    }
    Some([a, b])
}

/// `attraction` and `repulsion`, both or none.
fn read_strengths(reader: &mut Reader) -> Option<[f32; 2]> {
    let pull = reader.number("attraction", Quantity::not_negative(""));
    let push = reader.number("repulsion", Quantity::positive(""));
    if pull.is_some() != push.is_some() {
        reader.object(
            "has one of \"attraction\" and \"repulsion\"; give both, or none to have them follow from the material",
        );
    }
    Some([pull?, push?])
}

/// `summation = "cutoff"`, `"tree"` (with `opening`) or `"exact"`.
fn read_summation(reader: &mut Reader) -> Option<Summation> {
    let opening = reader.number("opening", Quantity::part());
    let kinds = [
        ("cutoff", Summation::Cutoff),
        ("tree", Summation::Tree { opening: opening.unwrap_or(0.5) }),
        ("exact", Summation::Exact),
    ];
    let summation = reader.field("summation").and_then(|field| field.choice("summation", &kinds));
    if opening.is_some() && !matches!(summation, Some(Summation::Tree { .. })) {
        reader.object("has \"opening\", which only summation = \"tree\" uses");
    }
    summation
}

fn read_gas(field: &Field) -> Option<Gas> {
    let usual = Gas::default();
    let mut reader = field.table()?;
    let repulsion = reader.number("repulsion", Quantity::positive(""));
    let lift = reader.number("lift", Quantity::any("weights"));
    let drag = reader.number("drag", Quantity::not_negative("1/s"));
    reader.finish();
    Some(Gas {
        repulsion: repulsion.unwrap_or(usual.repulsion),
        lift: lift.unwrap_or(usual.lift),
        drag: drag.unwrap_or(usual.drag),
    })
}
