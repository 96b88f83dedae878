//! Congestion controls by name.

use std::collections::BTreeSet;

use crate::udp::error::Error;
use crate::{Control, control_init, make_control};
use sojourn_base::rng::StreamKey;
use sojourn_base::units::Time;
use sojourn_sim::catalogue::core;
use sojourn_sim::spec::{Cca, Spec};

/// Controls that a connection may have.
const MOST: usize = 8;

/// A control and its name.
pub(super) type Named = (String, Box<dyn Control>);

/// The controls of these names, each with its defaults.
///
/// # Errors
/// If there is none of a name, or there are too many.
pub fn controls(names: &[String], mss: u16, now: Time) -> Result<Vec<Named>, Error> {
    if names.is_empty() || names.len() > MOST {
        return Err(Error::Controls { given: names.len(), most: MOST });
    }
    let members = core();
    let make = |name: &String| {
        let random = StreamKey::root(rand::random());
        let mut init = control_init(mss.into());
        (init.now, init.random) = (now, random);
        let control = make_control(&Spec::new(name, serde_json::Map::new()), &init, &members);
        let told = |error| Error::Control { name: name.clone(), error };
        Ok((name.clone(), control.map_err(told)?))
    };
    names.iter().map(make).collect()
}

/// Names of the controls that a connection may have.
pub(super) fn known() -> BTreeSet<String> {
    let members = core();
    let names = members.members::<Cca>().iter().map(|entry| entry.listing.name.to_owned());
    // Not those that a kernel alone has, or that a file brings along.
    names.filter(|name| controls(std::slice::from_ref(name), 1, Time::ZERO).is_ok()).collect()
}
