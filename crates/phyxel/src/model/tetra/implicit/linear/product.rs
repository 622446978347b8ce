//! Products with the matrices of an island: by assembled blocks, or element by element where these lose inertia.

use super::matrix::SystemMatrix;
use crate::model::tetra::assembly::{ElementArrays, GRAIN};
use crate::model::tetra::implicit::contact::obstacles::DofConstraint;
use crate::model::tetra::implicit::contact::operator::ContactOperator;
use crate::model::tetra::implicit::system::{IslandBody, IslandSystem};
use crate::parallel;
use glam::Vec3;
use phyxel_laws::simd::{SimdLevel, WIDTH};
use std::ops::Range;

/// Rows per task.
const ROW_GRAIN: usize = 512;

/// Buffers of a product.
#[derive(Default)]
pub(in crate::model::tetra::implicit) struct Workspace {
    partial_sums: Vec<[f32; 4]>,
    by_node: Vec<Vec3>,
}

impl ElementArrays {
    /// Multiplies the matrices of all bodies by velocities of nodes, element by element.
    pub(in crate::model::tetra::implicit) fn matrix_product(
        &mut self,
        system: &IslandSystem,
        velocities: &[Vec3],
    ) -> Vec<Vec3> {
        let bodies = system.body_systems();
        let products = bodies
            .flat_map(|(body, matrix, nodes)| self.apply_elements((body, matrix.inertia_is_lost), &velocities[nodes]));
        products.collect()
    }

    /// Computes the product of the matrices of all bodies and of the contacts with velocity changes `x`, by
    /// row; rows of constrained nodes are projected.
    ///
    /// A matrix has no more digits than its diagonal, in which the inertia of a very stiff body is lost.
    /// Its elements, none of which has a net force, are multiplied instead; that takes longer.
    pub(in crate::model::tetra::implicit) fn apply_system(
        &mut self,
        system: &IslandSystem,
        (dofs, contacts): (&[DofConstraint], Option<&ContactOperator>),
        x: &[Vec3],
        product: &mut [Vec3],
        workspace: &mut Workspace,
    ) {
        let Workspace { partial_sums, by_node } = workspace;
        sum_chunks(self.level, system, x, partial_sums);
        let impulses = contacts.map(|contacts| (contacts, contacts.apply(x)));
        let of_contacts =
            |row: usize| impulses.as_ref().map_or(Vec3::ZERO, |(contacts, x)| contacts.gather_row(row, x));
        let finish = |row: usize, of_body: Vec3| dofs[row].project(of_body + of_contacts(row));
        gather_rows(system, x, partial_sums, product, &finish);
        for (body, matrix, rows) in system.body_systems().filter(|(_, matrix, _)| matrix.inertia_is_lost) {
            let order = &matrix.pattern.order;
            by_node.resize(order.len(), Vec3::ZERO);
            order.iter().zip(&x[rows.clone()]).for_each(|(&node, x)| by_node[node as usize] = *x);
            let of_body = self.apply_elements((body, true), by_node);
            for (row, &node) in rows.zip(order) {
                product[row] = finish(row, of_body[node as usize]);
            }
        }
    }

    /// Multiplies the matrix of a body by velocities, element by element. With `by_stretch` the rotations
    /// follow the velocities, so that no strain has a torque.
    fn apply_elements(&mut self, (body, by_stretch): (&IslandBody, bool), velocities: &[Vec3]) -> Vec<Vec3> {
        self.load_velocities(body.body, velocities);
        self.apply_stiffness(body.body, body.tet_body, &body.element_law, by_stretch);
        let first_node = self.ranges[body.body].nodes.start;
        let (mass_factor, stiffness_factor) = (body.mass_factor(), body.stiffness_factor());
        parallel::map(velocities.len(), GRAIN * WIDTH, |i| {
            mass_factor * body.masses[i] * velocities[i] + stiffness_factor * self.nodal_force(first_node + i)
        })
    }
}

/// Matrices that are well enough conditioned for their assembled blocks.
fn assembled<'a>(system: &'a IslandSystem) -> impl Iterator<Item = (&'a SystemMatrix, Range<usize>)> {
    let bodies = system.body_systems().filter(|(_, matrix, _)| !matrix.inertia_is_lost);
    bodies.map(|(_, matrix, rows)| (matrix, rows))
}

/// Fills the partial sums of the products of assembled matrices.
fn sum_chunks(level: SimdLevel, system: &IslandSystem, x: &[Vec3], partial_sums: &mut Vec<[f32; 4]>) {
    partial_sums.resize(assembled(system).map(|(matrix, _)| matrix.partial_sum_count()).sum(), [0.0; 4]);
    let (mut tasks, mut rest) = (Vec::new(), &mut partial_sums[..]);
    for (matrix, rows) in assembled(system) {
        let sums;
        (sums, rest) = std::mem::take(&mut rest).split_at_mut(matrix.partial_sum_count());
        tasks.extend(matrix.product_tasks(&x[rows], sums));
    }
    parallel::for_each_item(tasks, |task| task.run(level));
}

/// Gathers the rows of the products of assembled matrices and finishes them.
fn gather_rows(
    system: &IslandSystem,
    x: &[Vec3],
    partial_sums: &[[f32; 4]],
    product: &mut [Vec3],
    finish: &(impl Fn(usize, Vec3) -> Vec3 + Sync),
) {
    let (mut tasks, mut rest, mut other_sums) = (Vec::new(), product, partial_sums);
    for (_, matrix, rows) in system.body_systems() {
        let (product, sums);
        (product, rest) = std::mem::take(&mut rest).split_at_mut(rows.len());
        if !matrix.inertia_is_lost {
            (sums, other_sums) = other_sums.split_at(matrix.partial_sum_count());
            let chunks = product.chunks_mut(ROW_GRAIN).enumerate();
            tasks.extend(chunks.map(|(k, product)| (matrix, rows.clone(), sums, ROW_GRAIN * k, product)));
        }
    }
    parallel::for_each_item(tasks, |(matrix, rows, sums, first, product)| {
        for (row, product) in (first..).zip(product) {
            let of_body = matrix.gather_row(row, &x[rows.clone()], sums);
            *product = finish(rows.start + row, of_body);
        }
    });
}
