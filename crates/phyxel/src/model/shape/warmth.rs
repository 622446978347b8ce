//! What the temperatures of clusters change: stiffness, yielding and size.

use super::tuning::{Tuning, young_modulus};
use super::{Cluster, ShapeModel};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::parallel;
use crate::particles::Particles;
use phyxel_laws::plasticity::Yielding;

/// Clusters per task.
const GRAIN: usize = 16;

/// How warm a cluster is: means over its particles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Warmth {
    /// In the scene's scale.
    pub temperature: Real,
    /// Part that has melted.
    pub molten: Real,
}

/// What follows from the temperatures of clusters.
#[derive(Clone, Debug)]
pub(super) struct Thermal {
    /// Of each cluster; left out where nothing depends on it.
    warmth: Vec<Warmth>,
    /// One for each body, as its first cluster is, then one for each cluster that is not as stiff as that.
    pub tuning: Vec<Tuning>,
    /// Which of these each cluster has.
    pub tuned: Vec<u32>,
    /// Length of each cluster over its length at rest; empty if all are as at rest.
    growth: Vec<Real>,
    /// How each cluster yields; empty if all are elastic.
    pub yielding: Vec<Option<Yielding>>,
}

impl Thermal {
    /// Length of a cluster over its length at rest.
    pub fn growth(&self, cluster: usize) -> Real {
        self.growth.get(cluster).copied().unwrap_or(1.0)
    }

    /// Whether any cluster is larger or smaller than at rest.
    pub fn grows(&self) -> bool {
        !self.growth.is_empty()
    }

    /// The tuning of a cluster.
    pub fn tuning(&self, cluster: usize) -> &Tuning {
        &self.tuning[self.tuned[cluster] as usize]
    }
}

/// Whether anything that shape matching looks at depends on temperature.
fn is_sensitive(material: &Material) -> bool {
    let yields = material.plasticity.as_ref().is_some_and(|law| law.yield_strain.points().len() > 1);
    yields
        || material.young_modulus.points().len() > 1
        || material.heat.melting.is_some()
        || material.heat.expansion != 0.0
}

/// Length over length at rest. Expansion is a law for small changes: beyond half and double it means nothing.
fn growth(material: &Material, temperature: Real, at_rest: Real) -> Real {
    (1.0 + material.heat.expansion * (temperature - at_rest)).clamp(0.5, 2.0)
}

impl ShapeModel {
    /// The body and the material of a place of the model.
    fn matter<'a>(&self, place: u32, bodies: &'a [Body], materials: &'a [Material]) -> (&'a Body, &'a Material) {
        let body = &bodies[self.bodies[place as usize].id.0 as usize];
        (body, &materials[body.material.0 as usize])
    }

    fn measure_warmth(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Vec<Warmth> {
        parallel::map(self.clusters.len(), GRAIN, |number| {
            let cluster = &self.clusters[number];
            let (_, material) = self.matter(cluster.body, bodies, materials);
            if is_sensitive(material) { mean_warmth(cluster, material, particles) } else { Warmth::default() }
        })
    }

    /// What follows from the temperatures that there are now; `lengths` are those of the clusters of each body, m.
    pub(super) fn find_thermal(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        lengths: &[Real],
    ) -> Thermal {
        self.follow_warmth(bodies, materials, lengths, self.measure_warmth(bodies, materials, particles))
    }

    fn follow_warmth(&self, bodies: &[Body], materials: &[Material], lengths: &[Real], warmth: Vec<Warmth>) -> Thermal {
        let mut firsts: Vec<Option<Warmth>> = vec![None; self.bodies.len()];
        for (cluster, &warmth) in self.clusters.iter().zip(&warmth) {
            firsts[cluster.body as usize].get_or_insert(warmth);
        }
        let tune = |place: u32, warmth: Warmth| {
            let (_, material) = self.matter(place, bodies, materials);
            Tuning::new(&self.bodies[place as usize].settings, material, lengths[place as usize], warmth)
        };
        let firsts: Vec<Warmth> = firsts.into_iter().map(Option::unwrap_or_default).collect();
        let mut thermal = Thermal {
            tuning: firsts.iter().zip(0..).map(|(&first, place)| tune(place, first)).collect(),
            tuned: Vec::with_capacity(warmth.len()),
            growth: Vec::with_capacity(warmth.len()),
            yielding: Vec::with_capacity(warmth.len()),
            warmth: Vec::new(),
        };
        for (cluster, &warmth) in self.clusters.iter().zip(&warmth) {
            let (body, material) = self.matter(cluster.body, bodies, materials);
            let first = firsts[cluster.body as usize];
            let is_alike = warmth == first || young_modulus(material, warmth) == young_modulus(material, first);
            thermal.tuned.push(if is_alike { cluster.body } else { thermal.tuning.len() as u32 });
            if !is_alike {
                thermal.tuning.push(tune(cluster.body, warmth));
            }
            thermal.growth.push(growth(material, warmth.temperature, body.rest_temperature));
            thermal.yielding.push(material.yielding(warmth.temperature, warmth.molten));
        }
        if thermal.growth.iter().all(|&growth| growth == 1.0) {
            thermal.growth.clear();
        }
        if thermal.yielding.iter().all(Option::is_none) {
            thermal.yielding.clear();
        }
        thermal.warmth = warmth;
        thermal
    }

    /// Stiffness, yielding and size of every cluster follow its mean temperature.
    pub(crate) fn follow_temperature(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        let Some(derived) = self.derived.as_deref() else { return };
        let places = 0..self.bodies.len() as u32;
        if !places.into_iter().any(|place| is_sensitive(self.matter(place, bodies, materials).1)) {
            return;
        }
        let warmth = self.measure_warmth(bodies, materials, particles);
        if warmth == derived.thermal.warmth {
            return;
        }
        let thermal = self.follow_warmth(bodies, materials, &derived.lengths, warmth);
        let Some(derived) = self.derived.as_deref_mut() else { return };
        if thermal.tuned != derived.thermal.tuned {
            derived.packs.set_paces(&thermal.tuned);
        }
        if thermal.growth != derived.thermal.growth {
            let plastic = |number: u32| self.clusters[number as usize].plastic;
            derived.packs.set_rest(|number| (plastic(number), thermal.growth(number as usize)));
        }
        derived.thermal = thermal;
    }
}

fn mean_warmth(cluster: &Cluster, material: &Material, particles: &Particles) -> Warmth {
    let heat = &material.heat;
    let (mut temperature, mut molten) = (0.0, 0.0);
    for &i in &cluster.members {
        let enthalpy = particles.enthalpy[i as usize];
        temperature += f64::from(heat.temperature(enthalpy));
        molten += f64::from(heat.molten(enthalpy));
    }
    let share = 1.0 / cluster.members.len().max(1) as f64;
    Warmth { temperature: (temperature * share) as Real, molten: (molten * share) as Real }
}
