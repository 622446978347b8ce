//! Tests on scans that are not part of the repository; skipped where they are absent.

use super::{TetraFill, fill};
use crate::mesh::{MeshSolid, scans::scan};
use crate::shape::Shape;
use std::{error::Error, sync::Arc};

/// Fills a scan with about fifty thousand tetrahedra and checks their quality.
fn fill_scan(name: &str) -> Result<Option<TetraFill>, Box<dyn Error>> {
    let Some(mesh) = scan(name)? else { return Ok(None) };
    let shape = Shape::Mesh(Arc::new(MeshSolid::new(mesh)?));
    let volume = shape.volume();
    let filling = fill(&shape, libm::cbrt(volume * 12.0 / 50_000.0) as f32)?;
    let quality = filling.quality;
    assert!(quality.min_dihedral > 10.0 && quality.max_dihedral < 165.0, "{name}: {quality}");
    assert_eq!(filling.mesh.boundary().open_edges(), 0);
    assert!(quality.elements > 40_000, "{name}: {quality}");
    // The elements are about 1/16 of the body wide. What is thinner than half of that is lost, such as the tips of
    // ears and horns, and curves lose their square: a few percent.
    assert!((0.95..1.01).contains(&(quality.volume / volume)), "{name}: {} of {volume}", quality.volume);
    Ok(Some(filling))
}

#[test]
fn the_bunny_is_filled_in_spite_of_its_holes() -> Result<(), Box<dyn Error>> {
    let Some(bunny) = fill_scan("stanford-bunny.obj")? else { return Ok(()) };
    // The famous five holes, all at the bottom.
    assert!(bunny.defects.holes >= 2 && bunny.defects.non_manifold_edges == 0, "{:?}", bunny.defects);
    Ok(())
}

#[test]
fn igea_is_filled() -> Result<(), Box<dyn Error>> {
    let Some(igea) = fill_scan("igea.ply")? else { return Ok(()) };
    assert_eq!(igea.defects, super::MeshDefects::default());
    assert_eq!((igea.mesh.boundary().components(), igea.mesh.boundary().genus()), (1, Some(0)));
    Ok(())
}

#[test]
fn spot_is_filled() -> Result<(), Box<dyn Error>> {
    let Some(spot) = fill_scan("spot.obj")? else { return Ok(()) };
    assert_eq!(spot.defects, super::MeshDefects::default());
    Ok(())
}
