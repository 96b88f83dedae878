//! The control of a flow that was observed from its packets, which do not tell its name.

use super::{CcaFacts, Make};
use crate::error::FieldError;
use crate::registry::{Entry, Listing, NoParams};
use crate::spec::Cca;

const SOURCE: &str = "\
//! The unknown control of a flow in a capture: `sojourn import` names it so.
//!
//! It has no parameters, and runs nowhere.";

/// Its entry, which is no part of the simulator.
pub fn entries() -> Vec<Entry<Cca>> {
    let make: Make = |_, _, _| {
        let message =
            "observed given, which stands for whatever a captured flow had; name a control";
        Err(FieldError::new("", message))
    };
    let listing = Listing::new::<NoParams>("observed", SOURCE);
    vec![Entry { listing, facts: CcaFacts::default(), make }]
}
