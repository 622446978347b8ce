//! Fitting the rest shapes of eight clusters to their present shapes.

use super::accumulate::{cross, load3, products, sub3};
use super::{Blend, Goal, Kind, LINEAR, QUADRATIC, Rest, Sums};
use crate::lanes::{Bundle, Eight, Lanes, Numbers, WIDTH, at_every_level};
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
fn trust<L: Numbers>(volume: L) -> L {
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
fn turn<L: Lanes>(a: Matrix<L>, rotation: &mut [Eight; 4], open: f32) -> Matrix<L> {
    let length = norm(a);
    let a = scale(a, L::splat(1.0).div(length.max(L::splat(f32::MIN_POSITIVE))));
    search(a, std::slice::from_mut(rotation), &Bounds::of_square(L::splat(1.0), open))
}

/// The same as [`turn`] for matrices whose sixth power is no trouble for f32, as those of elements, of one pack or several.
///
/// Mostly one step is enough. Of a turn `t` it leaves about `t^2 (t/3 + d)`, where `d` is how far the matrix is from that of a turned ball, over its
/// norm; and it changes the length of a quaternion so little that no root is needed to make it 1 again.
#[inline(always)]
pub(crate) fn turn_elements<B: Bundle>(a: Matrix<B>, rotations: &mut [[Eight; 4]], open: f32) -> Matrix<B> {
    let bounds = Bounds::of_square(norm_squared(a), open);
    let square = bounds.square;
    let q = load_turns::<B>(rotations);
    let Step { omega, off, trace } = newton_step(a, rotation_matrix(q), &bounds);
    let uneven = square - B::splat(1.0 / 3.0) * (trace * trace);
    let left = off * off * (off + uneven.max(B::zero()));
    let seen = B::splat(UNSEEN) * (square * square * square);
    if left.bits_where_less(seen) != (1 << (WIDTH * B::PACKS)) - 1 {
        return search(a, rotations, &bounds);
    }
    let q = moved(q, omega);
    let stretched = q[0] * q[0] + q[1] * q[1] + (q[2] * q[2] + q[3] * q[3]);
    let inverse = B::splat(1.5) - B::splat(0.5) * stretched;
    let q = [q[0] * inverse, q[1] * inverse, q[2] * inverse, q[3] * inverse];
    store_turns(q, rotations);
    rotation_matrix(q)
}

/// What counts as little for a matrix.
#[derive(Clone, Copy)]
struct Bounds<L> {
    /// Of its norm.
    square: L,
    /// Determinant of `tr(M) - M` below which it leaves a turn open.
    open: L,
    /// Squared size of a skew part from which one more step is the last.
    near: L,
    /// Stiffness of turns that are open.
    little: L,
}

impl<L: Numbers> Bounds<L> {
    /// Of a matrix whose norm has this square, if turns of one of norm 1 are open below this determinant.
    #[inline(always)]
    fn of_square(square: L, open: f32) -> Self {
        let norm = square.sqrt();
        let (open, little) = (L::splat(open) * (square * norm), L::splat(LITTLE) * norm);
        Self { square, open, near: L::splat(NEAR) * square, little }
    }
}

/// Rotations of packs by Newton's method, and one by one where that does not settle.
#[inline(always)]
fn search<B: Bundle>(a: Matrix<B>, rotations: &mut [[Eight; 4]], bounds: &Bounds<B>) -> Matrix<B> {
    let mut q = load_turns::<B>(rotations);
    let mut going = B::splat(1.0);
    let mut unsure = u32::MAX;
    // Not written out five times: most searches are short.
    for _ in 0..std::hint::black_box(5) {
        let Step { omega, off, .. } = newton_step(a, rotation_matrix(q), bounds);
        // The last step is taken too: what is left then is rounding, and does not lag behind a turning body.
        q = turned(q, [going * omega[0], going * omega[1], going * omega[2]]);
        going = off.where_greater(bounds.near, going, B::zero());
        unsure = B::zero().bits_where_less(going);
        if unsure == 0 {
            break;
        }
    }
    if unsure != 0 {
        q = settle_bundle(a, q, unsure, rotations);
    }
    store_turns(q, rotations);
    rotation_matrix(q)
}

/// Rotations of packs.
#[inline(always)]
pub(crate) fn load_turns<B: Bundle>(rotations: &[[Eight; 4]]) -> [B; 4] {
    let mut q = [B::zero(); 4];
    for i in 0..4 {
        q[i] = B::load_from(rotations, |turn| &turn[i]);
    }
    q
}

#[inline(always)]
fn store_turns<B: Bundle>(q: [B; 4], rotations: &mut [[Eight; 4]]) {
    for i in 0..4 {
        q[i].store_to(rotations, |turn| &mut turn[i]);
    }
}

/// Rotations of which those with a bit are found one by one, from the last step's.
#[inline(always)]
fn settle_bundle<B: Bundle>(a: Matrix<B>, q: [B; 4], unsure: u32, previous: &[[Eight; 4]]) -> [B; 4] {
    let mut found = [[[0.0; WIDTH]; 4]; 2];
    store_turns(q, &mut found);
    let mut matrices = [[[[0.0; WIDTH]; 3]; 3]; 2];
    for i in 0..3 {
        for j in 0..3 {
            a[i][j].store_to(&mut matrices, |matrix| &mut matrix[i][j]);
        }
    }
    for k in 0..B::PACKS {
        settle(&matrices[k], unsure >> (WIDTH * k), &previous[k], &mut found[k]);
    }
    load_turns(&found)
}

/// Clusters may be lines: only what rounding leaves of a determinant is open.
const OPEN: f32 = 1e-20;

/// Squared size of the skew part of a matrix of norm 1 from which one more Newton step, which squares it, leaves
/// nothing that f32 can see.
const NEAR: f32 = 1.0e-8;

/// The same by what a step leaves, as [`turn_elements`] has it, squared: the skew part is about twice the turn, and what is left below a third of
/// what f32 can see.
const UNSEEN: f32 = 4e-15;

/// A line leaves the turn about itself open: this stiffness, for a matrix of norm 1, keeps it as it was.
const LITTLE: f32 = 1e-6;

/// A step of Newton's method.
struct Step<L> {
    /// Rotation vector in the own frame.
    omega: [L; 3],
    /// The squared size of what is left to remove.
    off: L,
    /// Of `M`.
    trace: L,
}

/// Newton step for the rotation. Where it is not towards a maximum it is zero and what is left is reported as large.
#[inline(always)]
fn newton_step<L: Numbers>(a: Matrix<L>, r: Matrix<L>, bounds: &Bounds<L>) -> Step<L> {
    let m = multiply(transpose(r), a);
    let skew = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]];
    let trace = m[0][0] + m[1][1] + m[2][2];
    let Bounds { open, little, square, .. } = *bounds;
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
    Step { omega, off: rising.where_greater(zero, off, square), trace }
}

/// The rotations of the lanes that are still open, one by one, from the last step's rotation.
#[cold]
#[inline(never)]
fn settle(a: &Matrix<Eight>, unsure: u32, previous: &[Eight; 4], rotation: &mut [Eight; 4]) {
    for lane in (0..WIDTH).filter(|&lane| unsure >> lane & 1 != 0) {
        let column = |j: usize| DVec3::new(a[0][j][lane].into(), a[1][j][lane].into(), a[2][j][lane].into());
        let matrix = DMat3::from_cols(column(0), column(1), column(2));
        let last = Quat::from_array(std::array::from_fn(|i| previous[i][lane]));
        let found = nearest_rotation(matrix, last).to_array();
        (0..4).for_each(|i| rotation[i][lane] = found[i]);
    }
}

/// A quaternion turned further by a small rotation vector in its own frame.
#[inline(always)]
fn turned<L: Numbers>(q: [L; 4], omega: [L; 3]) -> [L; 4] {
    let new = moved(q, omega);
    let length = (new[0] * new[0] + new[1] * new[1] + new[2] * new[2] + new[3] * new[3]).sqrt();
    let inverse = L::splat(1.0).div(length);
    [new[0] * inverse, new[1] * inverse, new[2] * inverse, new[3] * inverse]
}

/// The same, longer than 1 by an eighth of the square of the turn.
#[inline(always)]
fn moved<L: Numbers>([x, y, z, w]: [L; 4], omega: [L; 3]) -> [L; 4] {
    let half = L::splat(0.5);
    let [a, b, c] = [half * omega[0], half * omega[1], half * omega[2]];
    [x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a, w - x * a - y * b - z * c]
}

#[inline(always)]
pub(crate) fn rotation_matrix<L: Numbers>([x, y, z, w]: [L; 4]) -> Matrix<L> {
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

/// From xx, yy, zz, xy, yz, zx.
#[inline(always)]
fn symmetric<L: Lanes>(m: &[Eight; 6]) -> Matrix<L> {
    let [xx, yy, zz] = [L::load(&m[0]), L::load(&m[1]), L::load(&m[2])];
    let [xy, yz, zx] = [L::load(&m[3]), L::load(&m[4]), L::load(&m[5])];
    [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]
}

#[inline(always)]
fn transpose<L: Numbers>(m: Matrix<L>) -> Matrix<L> {
    [[m[0][0], m[1][0], m[2][0]], [m[0][1], m[1][1], m[2][1]], [m[0][2], m[1][2], m[2][2]]]
}

#[inline(always)]
fn multiply<L: Numbers>(a: Matrix<L>, b: Matrix<L>) -> Matrix<L> {
    let mut product = a;
    for i in 0..3 {
        for j in 0..3 {
            product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    product
}

#[inline(always)]
fn multiply_transposed<L: Numbers>(a: Matrix<L>, b: Matrix<L>) -> Matrix<L> {
    multiply(a, transpose(b))
}

#[inline(always)]
fn scale<L: Numbers>(mut a: Matrix<L>, s: L) -> Matrix<L> {
    for i in 0..3 {
        for j in 0..3 {
            a[i][j] = a[i][j] * s;
        }
    }
    a
}

#[inline(always)]
fn add<L: Numbers>(mut a: Matrix<L>, b: Matrix<L>) -> Matrix<L> {
    for i in 0..3 {
        for j in 0..3 {
            a[i][j] = a[i][j] + b[i][j];
        }
    }
    a
}

/// As the square of [`norm`], but for its rounding: no sum waits for many others.
#[inline(always)]
fn norm_squared<L: Numbers>(a: Matrix<L>) -> L {
    let mut rows = [L::zero(); 3];
    for i in 0..3 {
        rows[i] = a[i][0] * a[i][0] + a[i][1] * a[i][1] + a[i][2] * a[i][2];
    }
    rows[0] + rows[1] + rows[2]
}

#[inline(always)]
fn norm<L: Numbers>(a: Matrix<L>) -> L {
    let mut sum = L::zero();
    for row in a {
        sum = sum + row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    sum.sqrt()
}

#[inline(always)]
fn determinant<L: Numbers>(m: Matrix<L>) -> L {
    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
}
