//! Congestion controls by name.

use crate::{Control, control_init, make_control};
use sojourn_base::rng::StreamKey;
use sojourn_base::units::Time;
use sojourn_sim::catalogue::core;
use sojourn_sim::spec::Spec;
use sojourn_tcp::cc::ControlInit;

/// Controls that a connection may have.
const MOST: usize = 8;

/// A control and its name.
pub type Named = (String, Box<dyn Control>);

/// The controls of these names, each with its defaults.
///
/// # Errors
/// If there is none of a name, or there are too many.
pub fn controls(names: &[String], mss: u16, now: Time) -> Result<Vec<Named>, String> {
    if names.is_empty() || names.len() > MOST {
        return Err(format!("--cca: {} names given; 1 to {MOST} are allowed", names.len()));
    }
    let members = core();
    let make = |name: &String| {
        let random = StreamKey::root(rand::random());
        let init = ControlInit { now, random, ..control_init(mss.into()) };
        let control = make_control(&Spec::new(name, serde_json::Map::new()), &init, &members);
        Ok((name.clone(), control.map_err(|error| format!("--cca {name}: {error}"))?))
    };
    names.iter().map(make).collect()
}
