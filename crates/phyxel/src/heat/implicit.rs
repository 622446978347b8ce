//! Steps longer than differences of temperature last: backward Euler, in rounds.

use super::matter::Stand;
use super::network::{GRAIN, Network};
use super::places::Places;
use super::sources::Sources;
use super::{Flowed, all_inflows, changed};
use crate::parallel;

/// Most rounds in which particles that begin or end to melt within the step are found, and the tangent of radiation
/// follows. Nearly always two or three are enough; a front of melting moves by about a particle in each, and heat is kept
/// whatever the last one finds.
const ROUNDS: usize = 64;
/// Change of a temperature, relative to its height above absolute zero, at which the tangent of radiation is good. The
/// error is of its square.
const TANGENT: f64 = 1e-7;

/// What is being found: where a place stands on its curve of enthalpy at the end of the step decides its capacity, and how
/// much radiation comes depends on its temperature there.
struct Search<'a> {
    places: &'a Places<'a>,
    sources: &'a Sources,
    dt: f64,
    /// The temperature at which a place is held, if it is.
    held: Vec<Option<f64>>,
    stands: Vec<Stand>,
    /// Temperatures that the last round found.
    t: Vec<f64>,
    /// Temperatures at which the tangents of radiation touch.
    tangent: Vec<f64>,
}

/// What flows in a step of any length, from temperatures `t`.
pub(super) fn flow_implicitly(
    places: &Places,
    network: &mut Network,
    sources: &Sources,
    t: Vec<f64>,
    dt: f64,
) -> Flowed {
    let mut search = Search::new(places, sources, t, dt);
    for _ in 1..ROUNDS {
        let flowed = search.solve(network);
        if search.is_done(&flowed) {
            return flowed;
        }
        search.go_on(&flowed);
    }
    search.solve(network)
}

impl<'a> Search<'a> {
    fn new(places: &'a Places<'a>, sources: &'a Sources, t: Vec<f64>, dt: f64) -> Self {
        let stands = parallel::map(places.len(), GRAIN, |i| places.matter(i).stand(places.enthalpy(i)));
        let mut held = vec![None; places.len()];
        sources.held.iter().for_each(|&(place, temperature)| held[place as usize] = Some(temperature));
        // The tangent at the larger of both temperatures is below the law on the whole way, so that what is found in
        // the first round is not too low and the next ones come down to the right one.
        let mut tangent = t.clone();
        for radiator in &sources.radiators {
            let touch = &mut tangent[radiator.place as usize];
            *touch = touch.max(radiator.ambient);
        }
        Self { places, sources, dt, held, stands, t, tangent }
    }

    /// Temperatures at the end of the step, if all stand where they are thought to stand, and what flows at them.
    fn solve(&mut self, network: &mut Network) -> Flowed {
        let places = self.places;
        network.set_inflows(all_inflows(self.sources, &self.tangent));
        let line = parallel::map(places.len(), GRAIN, |i| match self.held[i] {
            Some(temperature) => (temperature, f64::INFINITY),
            None => {
                let (matter, stand) = (places.matter(i), self.stands[i]);
                (matter.straight(stand, places.enthalpy(i)), places.mass(i) * matter.capacity(stand))
            }
        });
        let (start, capacity): (Vec<f64>, Vec<f64>) = line.into_iter().unzip();
        // What keeps its temperature has it from the start; others are looked for from where they were last found.
        let guess = parallel::map(places.len(), GRAIN, |i| if capacity[i].is_finite() { self.t[i] } else { start[i] });
        self.t = network.later(&start, guess, &capacity, self.dt);
        changed(places, network, &self.t, self.dt)
    }

    fn is_done(&self, flowed: &Flowed) -> bool {
        let stays =
            |i: usize| self.held[i].is_some() || self.places.matter(i).stand(flowed.enthalpy[i]) == self.stands[i];
        let stay = parallel::map_ranges(self.places.len(), GRAIN, |mut range| range.all(stays));
        !stay.contains(&false)
            && self.sources.radiators.iter().all(|radiator| {
                let i = radiator.place as usize;
                (self.t[i] - self.tangent[i]).abs() <= TANGENT * (self.t[i] - radiator.zero).abs()
            })
    }

    fn go_on(&mut self, flowed: &Flowed) {
        let places = self.places;
        self.stands = parallel::map(places.len(), GRAIN, |i| places.matter(i).stand(flowed.enthalpy[i]));
        self.tangent.clone_from(&self.t);
    }
}
