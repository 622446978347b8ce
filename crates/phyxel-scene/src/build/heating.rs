//! Heatings, with regions resolved to particles and bodies to all their copies.

use super::event::{EventContext, region_of};
use crate::scene::HeatingDescription;
use phyxel::heating::Heating;

/// Makes a heating.
pub(super) fn make(description: &HeatingDescription, context: &EventContext, warnings: &mut Vec<String>) -> Heating {
    let owner = || format!("heating \"{}\"", description.heating.name);
    let region = region_of(context, &description.body, description.region.as_ref(), owner, warnings);
    Heating { bodies: context.names_of_copies(&description.body), region, ..description.heating.clone() }
}
