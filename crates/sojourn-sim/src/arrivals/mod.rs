//! Traffic that comes and goes: the entries of `arrivals` in a scenario.
//!
//! An entry says when transfers arrive (a [`Process`], or the users of a closed loop), how many
//! bytes each has ([`Sizes`]), and over what connections they go: the keys of a flow, or several
//! such sets of keys by weight (`mix`), each of which is a [`Variant`]. This module reads entries,
//! checks them and draws from them. It knows no network: what a transfer does there is the
//! simulation's.
//!
//! Draws are named by the entry's label and the number of the transfer ([`Draws`]), so that no
//! other entry, flow, rate or size shifts them: with another rate or distribution of sizes, the
//! same uniform numbers are scaled to other values.

mod check;
mod choice;
mod draws;
mod keys;
mod load;
mod process;
mod read;
mod session;
mod size;
mod times;
mod variant;
mod write;

pub use draws::{Draws, Transfer};
pub use keys::{ArrivalKeys, ArrivalsSpec, Connections, PoolSpec, Protocol};
pub use load::Offer;
pub use process::{Due, Incast, Listed, Modulated, Process, ProcessSpec, State};
pub use session::{Geometric, SessionSpec, TransfersSpec};
pub use size::{Curve, FixedSize, LognormalSize, MeanSize, Pareto, Published, Sizes};
pub use times::{Mean, Spread, Times};
pub use variant::Variant;

pub(crate) use check::{check, check_offers};
pub(crate) use load::{offers, told, warnings};
pub(crate) use read::{KEY, read, take};
pub(crate) use write::{describe, write};

#[cfg(test)]
mod testing {
    use serde_json::Value;

    use super::{ArrivalsSpec, read};

    /// An entry with these keys and a control.
    pub(super) fn entry(mut keys: Value) -> ArrivalsSpec {
        keys["cca"] = "reno".into();
        let Value::Object(table) = keys else { panic!("no table") };
        read(vec![table]).unwrap().remove(0)
    }
}

#[cfg(test)]
mod tests;
