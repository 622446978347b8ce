//! Fitting the rest shapes of eight clusters to their present shapes.

use super::accumulate::{cross, load3, products, sub3};
use super::{Blend, Goal, Kind, LINEAR, QUADRATIC, Rest, Sums};
use crate::lanes::{Eight, Lanes, WIDTH, at_every_level};
use crate::rotation::nearest_rotation;
use glam::{DMat3, DVec3, Quat};

at_every_level! {
    /// Finds rotation, best deformation and goal map of eight clusters.
    ///
    /// `rotation` (quaternions x, y, z, w) holds the last step's on entry and the present ones on return.
    fit = find_goals [const KIND: Kind, const DAMPED: bool] [KIND, DAMPED] (
        rest: &Rest,
        blend: &Blend,
        sums: &Sums,
        rotation: &mut [Eight; 4],
        goal: &mut Goal,
    )
}

/// A fitted deformation is followed in full when it keeps this part of the volume...
const FOLLOWED: f32 = 0.2;
/// ...and not at all when it keeps only this part or is inverted: then the goal is the turned rest shape.
const REFUSED: f32 = 0.05;

// Plain loops below: closures would not be compiled for the instruction set of the kernel around them.
type Matrix<L> = [[L; 3]; 3];

#[inline(always)]
fn find_goals<L: Lanes, const KIND: Kind, const DAMPED: bool>(
    rest: &Rest,
    blend: &Blend,
    sums: &Sums,
    rotation: &mut [Eight; 4],
    goal: &mut Goal,
) {
    let sum: Matrix<L> = load9(&sums.linear);
    let plastic: Matrix<L> = load9(&blend.plastic);
    let r = turn::<L>(multiply_transposed(sum, plastic), rotation, OPEN);
    let size = L::load(&rest.size);
    let rigid = scale(multiply(r, plastic), size);
    let affine = multiply(sum, symmetric(&rest.inverse));
    let whole = add(affine, multiply(rigid, symmetric(&rest.missing)));
    store9(scale(whole, L::splat(1.0).div(size)), &mut goal.affine);
    let centre: [L; 3] = load3(&sums.centre);
    let mut linear = rigid;
    let mut offset = centre;
    if KIND != super::RIGID {
        let volume = determinant(scale(whole, L::splat(1.0).div(size)));
        let beta = L::load(&blend.beta) * trust(volume);
        let rest_of = L::splat(1.0) - beta;
        if KIND == LINEAR {
            let even = L::load(&volume_factor(volume.to_array(), &blend.keep_volume, &rest.rank));
            linear = add(scale(affine, beta * even), scale(rigid, rest_of));
        }
        if KIND == QUADRATIC {
            let (straight, bent) = fit_quadratic::<L>(rest, sums, sum);
            linear = add(scale(straight, beta), scale(rigid, rest_of));
            for i in 0..3 {
                for j in 0..6 {
                    let term = beta * bent[i][j];
                    offset[i] = offset[i] - term * L::load(&rest.mean[j]);
                    term.store(&mut goal.quadratic[i][j]);
                }
            }
        }
    }
    store9(linear, &mut goal.linear);
    for i in 0..3 {
        offset[i].store(&mut goal.centre[i]);
        centre[i].store(&mut goal.middle[i]);
    }
    if DAMPED {
        goal.drift = sums.drift;
        let spin = angular_velocity::<L>(sums);
        for i in 0..3 {
            spin[i].store(&mut goal.spin[i]);
        }
    }
}

/// 1 for a fit that can be followed, 0 for a flat or inverted one, a ramp in between.
#[inline(always)]
fn trust<L: Lanes>(volume: L) -> L {
    let ramp = (volume - L::splat(REFUSED)) * L::splat(1.0 / (FOLLOWED - REFUSED));
    let high = ramp.where_greater(L::splat(1.0), L::splat(1.0), ramp);
    high.max(L::zero())
}

/// What a fitted map is multiplied with to keep the volume (the area, the length) of the rest shape.
#[inline(always)]
fn volume_factor(volume: Eight, keep: &Eight, rank: &Eight) -> Eight {
    std::array::from_fn(|lane| {
        if keep[lane] == 0.0 || volume[lane] <= REFUSED {
            return 1.0;
        }
        let excess = volume[lane] / keep[lane];
        1.0 / match rank[lane] as u32 {
            3 => libm::cbrtf(excess),
            2 => excess.sqrt(),
            _ => excess,
        }
    })
}

/// The best quadratic map, `[MHTG05]` eq. 13: its linear and its bent part.
#[inline(always)]
fn fit_quadratic<L: Lanes>(rest: &Rest, sums: &Sums, sum: Matrix<L>) -> (Matrix<L>, [[L; 6]; 3]) {
    let mut straight = [[L::zero(); 3]; 3];
    let mut bent = [[L::zero(); 6]; 3];
    for i in 0..3 {
        let mut row = [L::zero(); 9];
        for k in 0..9 {
            row[k] = if k < 3 { sum[i][k] } else { L::load(&sums.quadratic[i][k - 3]) };
        }
        for j in 0..9 {
            let mut value = L::zero();
            for k in 0..9 {
                value = value + row[k] * L::load(&rest.inverse9[packed(k, j)]);
            }
            if j < 3 {
                straight[i][j] = value;
            } else {
                bent[i][j - 3] = value;
            }
        }
    }
    (straight, bent)
}

/// Place of an element of a symmetric 9 x 9 matrix in its packed upper triangle.
#[inline(always)]
pub(super) const fn packed(i: usize, j: usize) -> usize {
    let (low, high) = if i < j { (i, j) } else { (j, i) };
    low * 9 - low * (low + 1) / 2 + high
}

/// Rotation of the polar decomposition by Newton's method from the last step's rotation.
///
/// With `M = R^T A`, the skew part `a` of `M` vanishes at the best rotation, and `(tr(M) - M) omega = a` is the
/// Newton step. Matrices that do not settle in a few steps (turned far, inverted, flat) are done one by one, and so are those
/// whose `tr(M) - M` has a determinant below `open`, for an `A` of norm 1: they leave a turn nearly open.
#[inline(always)]
pub(crate) fn turn<L: Lanes>(a: Matrix<L>, rotation: &mut [Eight; 4], open: f32) -> Matrix<L> {
    let length = norm(a);
    let a = scale(a, L::splat(1.0).div(length.max(L::splat(f32::MIN_POSITIVE))));
    let mut q = load4::<L>(rotation);
    let mut going = L::splat(1.0);
    let mut unsure = [1.0; WIDTH];
    for _ in 0..5 {
        let (omega, off) = newton_step(a, rotation_matrix(q), L::splat(open));
        // The last step is taken too: what is left then is rounding, and does not lag behind a turning body.
        q = turned(q, [going * omega[0], going * omega[1], going * omega[2]]);
        going = off.where_greater(L::splat(NEAR), going, L::zero());
        unsure = going.to_array();
        if unsure == [0.0; WIDTH] {
            break;
        }
    }
    if unsure != [0.0; WIDTH] {
        let mut quaternions = [[0.0; WIDTH]; 4];
        store4(q, &mut quaternions);
        let mut matrix = [[[0.0; WIDTH]; 3]; 3];
        store9(a, &mut matrix);
        settle(&matrix, &unsure, rotation, &mut quaternions);
        q = load4(&quaternions);
    }
    store4(q, rotation);
    rotation_matrix(q)
}

/// Clusters may be lines: only what rounding leaves of a determinant is open.
const OPEN: f32 = 1e-20;

/// Squared size of the skew part of a matrix of norm 1 from which one more Newton step, which squares it, leaves
/// nothing that f32 can see.
const NEAR: f32 = 1.0e-8;

/// Newton step for the rotation, and the squared size of what is left to remove. Where the step is not towards
/// a maximum it is zero and the rest is reported as large.
#[inline(always)]
fn newton_step<L: Lanes>(a: Matrix<L>, r: Matrix<L>, open: L) -> ([L; 3], L) {
    let m = multiply(transpose(r), a);
    let skew = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]];
    let trace = m[0][0] + m[1][1] + m[2][2];
    // A line leaves the turn about itself open: a little stiffness keeps it as it was.
    let little = L::splat(1e-6);
    let half = L::splat(-0.5);
    let h = [trace - m[0][0] + little, trace - m[1][1] + little, trace - m[2][2] + little];
    let o = [half * (m[0][1] + m[1][0]), half * (m[1][2] + m[2][1]), half * (m[2][0] + m[0][2])];
    let c = [h[1] * h[2] - o[1] * o[1], h[0] * h[2] - o[2] * o[2], h[0] * h[1] - o[0] * o[0]];
    let d = [o[2] * o[1] - o[0] * h[2], o[0] * o[2] - o[1] * h[0], o[0] * o[1] - o[2] * h[1]];
    let determinant = h[0] * c[0] + o[0] * d[0] + o[2] * d[2];
    let [one, zero] = [L::splat(1.0), L::zero()];
    let rising = h[0].where_greater(zero, one, zero) * c[2].where_greater(zero, one, zero);
    let rising = determinant.where_greater(open, rising, zero);
    let inverse = rising.div(determinant.where_greater(open, determinant, one));
    let omega = [
        inverse * (c[0] * skew[0] + d[0] * skew[1] + d[2] * skew[2]),
        inverse * (d[0] * skew[0] + c[1] * skew[1] + d[1] * skew[2]),
        inverse * (d[2] * skew[0] + d[1] * skew[1] + c[2] * skew[2]),
    ];
    let off = skew[0] * skew[0] + skew[1] * skew[1] + skew[2] * skew[2];
    (omega, rising.where_greater(zero, off, one))
}

/// The rotations of the lanes that are still open, one by one, from the last step's rotation.
#[cold]
#[inline(never)]
fn settle(a: &Matrix<Eight>, unsure: &Eight, previous: &[Eight; 4], rotation: &mut [Eight; 4]) {
    for lane in (0..WIDTH).filter(|&lane| unsure[lane] != 0.0) {
        let column = |j: usize| DVec3::new(a[0][j][lane].into(), a[1][j][lane].into(), a[2][j][lane].into());
        let matrix = DMat3::from_cols(column(0), column(1), column(2));
        let last = Quat::from_array(std::array::from_fn(|i| previous[i][lane]));
        let found = nearest_rotation(matrix, last).to_array();
        (0..4).for_each(|i| rotation[i][lane] = found[i]);
    }
}

/// A quaternion turned further by a small rotation vector in its own frame.
#[inline(always)]
fn turned<L: Lanes>([x, y, z, w]: [L; 4], omega: [L; 3]) -> [L; 4] {
    let half = L::splat(0.5);
    let [a, b, c] = [half * omega[0], half * omega[1], half * omega[2]];
    let new =
        [x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a, w - x * a - y * b - z * c];
    let length = (new[0] * new[0] + new[1] * new[1] + new[2] * new[2] + new[3] * new[3]).sqrt();
    let inverse = L::splat(1.0).div(length);
    [new[0] * inverse, new[1] * inverse, new[2] * inverse, new[3] * inverse]
}

#[inline(always)]
pub(crate) fn rotation_matrix<L: Lanes>([x, y, z, w]: [L; 4]) -> Matrix<L> {
    let [one, two] = [L::splat(1.0), L::splat(2.0)];
    let [xx, yy, zz, xy, yz, zx] = products([x, y, z]);
    let [wx, wy, wz] = [w * x, w * y, w * z];
    [
        [one - two * (yy + zz), two * (xy - wz), two * (zx + wy)],
        [two * (xy + wz), one - two * (xx + zz), two * (yz - wx)],
        [two * (zx - wy), two * (yz + wx), one - two * (xx + yy)],
    ]
}

/// Angular velocity about the centre of mass; 0 about an axis without extent.
#[inline(always)]
fn angular_velocity<L: Lanes>(sums: &Sums) -> [L; 3] {
    let centre: [L; 3] = load3(&sums.centre);
    let about = products(centre);
    let mut m = about;
    for i in 0..6 {
        m[i] = L::load(&sums.moments[i]) - about[i];
    }
    let spin = sub3(load3(&sums.spin), cross(centre, load3(&sums.drift)));
    let trace = m[0] + m[1] + m[2];
    let scale = L::splat(1.0).div(trace.max(L::splat(f32::MIN_POSITIVE)));
    let little = L::splat(1e-6);
    let h = [(m[1] + m[2]) * scale + little, (m[0] + m[2]) * scale + little, (m[0] + m[1]) * scale + little];
    let minus = L::zero() - scale;
    let o = [m[3] * minus, m[4] * minus, m[5] * minus];
    let c = [h[1] * h[2] - o[1] * o[1], h[0] * h[2] - o[2] * o[2], h[0] * h[1] - o[0] * o[0]];
    let d = [o[2] * o[1] - o[0] * h[2], o[0] * o[2] - o[1] * h[0], o[0] * o[1] - o[2] * h[1]];
    let determinant = h[0] * c[0] + o[0] * d[0] + o[2] * d[2];
    let inverse = determinant.where_greater(L::splat(1e-9), scale.div(determinant), L::zero());
    [
        inverse * (c[0] * spin[0] + d[0] * spin[1] + d[2] * spin[2]),
        inverse * (d[0] * spin[0] + c[1] * spin[1] + d[1] * spin[2]),
        inverse * (d[2] * spin[0] + d[1] * spin[1] + c[2] * spin[2]),
    ]
}

#[inline(always)]
fn load9<L: Lanes>(values: &Matrix<Eight>) -> Matrix<L> {
    [load3(&values[0]), load3(&values[1]), load3(&values[2])]
}

#[inline(always)]
fn store9<L: Lanes>(m: Matrix<L>, values: &mut Matrix<Eight>) {
    for i in 0..3 {
        for j in 0..3 {
            m[i][j].store(&mut values[i][j]);
        }
    }
}

#[inline(always)]
pub(crate) fn load4<L: Lanes>(values: &[Eight; 4]) -> [L; 4] {
    [L::load(&values[0]), L::load(&values[1]), L::load(&values[2]), L::load(&values[3])]
}

#[inline(always)]
fn store4<L: Lanes>(q: [L; 4], values: &mut [Eight; 4]) {
    for i in 0..4 {
        q[i].store(&mut values[i]);
    }
}

/// From xx, yy, zz, xy, yz, zx.
#[inline(always)]
fn symmetric<L: Lanes>(m: &[Eight; 6]) -> Matrix<L> {
    let [xx, yy, zz] = [L::load(&m[0]), L::load(&m[1]), L::load(&m[2])];
    let [xy, yz, zx] = [L::load(&m[3]), L::load(&m[4]), L::load(&m[5])];
    [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]
}

#[inline(always)]
fn transpose<L: Lanes>(m: Matrix<L>) -> Matrix<L> {
    [[m[0][0], m[1][0], m[2][0]], [m[0][1], m[1][1], m[2][1]], [m[0][2], m[1][2], m[2][2]]]
}

#[inline(always)]
fn multiply<L: Lanes>(a: Matrix<L>, b: Matrix<L>) -> Matrix<L> {
    let mut product = a;
    for i in 0..3 {
        for j in 0..3 {
            product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    product
}

#[inline(always)]
fn multiply_transposed<L: Lanes>(a: Matrix<L>, b: Matrix<L>) -> Matrix<L> {
    multiply(a, transpose(b))
}

#[inline(always)]
fn scale<L: Lanes>(mut a: Matrix<L>, s: L) -> Matrix<L> {
    for i in 0..3 {
        for j in 0..3 {
            a[i][j] = a[i][j] * s;
        }
    }
    a
}

#[inline(always)]
fn add<L: Lanes>(mut a: Matrix<L>, b: Matrix<L>) -> Matrix<L> {
    for i in 0..3 {
        for j in 0..3 {
            a[i][j] = a[i][j] + b[i][j];
        }
    }
    a
}

#[inline(always)]
fn norm<L: Lanes>(a: Matrix<L>) -> L {
    let mut sum = L::zero();
    for row in a {
        sum = sum + row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    sum.sqrt()
}

#[inline(always)]
fn determinant<L: Lanes>(m: Matrix<L>) -> L {
    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
}
