//! The surface of a body: faces of a single element.

use crate::parallel;

/// Corners of the four faces of an element, counter-clockwise seen from outside.
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

/// Faces that elements do not share, by the particles at their corners, counter-clockwise seen from outside.
pub(super) fn outer_faces(elements: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut faces: Vec<([u32; 3], [u32; 3])> = Vec::with_capacity(4 * elements.len());
    for element in elements {
        for face in FACES.map(|face| face.map(|corner| element[corner])) {
            let mut sorted = face;
            sorted.sort_unstable();
            faces.push((sorted, face));
        }
    }
    parallel::sort_by_key(&mut faces, |face| *face);
    let single = faces.chunk_by(|(a, _), (b, _)| a == b).filter(|alike| alike.len() == 1);
    single.map(|alike| alike[0].1).collect()
}
