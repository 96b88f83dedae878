//! Replay of two members of a kind on the same series of calls: the first one's decisions are
//! carried out, the other's only compared with them.

mod control;
mod queue;

use std::cell::RefCell;

use serde_json::{Map, Value, json};
use sojourn_base::error::FieldError;
use sojourn_base::registry::{Catalogue, Entry, Kind, Listing};
use sojourn_base::units::Time;
use sojourn_net::queue::QueueFacts;
use sojourn_net::spec::Queue;
use sojourn_tcp::cc::CcaFacts;
use sojourn_tcp::spec::Cca;

/// Result of a replay.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Calls after which the two were compared.
    pub steps: u64,
    /// Calls of these after which the two differed.
    pub differences: u64,
    /// The first of them: its number, the time, and what each decided.
    pub first: Option<(u64, Time, String)>,
}

thread_local! {
    static REPORT: RefCell<Report> = RefCell::default();
}

/// Result of this thread's replays since the last call.
pub fn take_report() -> Report {
    REPORT.take()
}

/// Records a comparison; `difference` describes the difference, if there is one.
fn compared(now: Time, difference: Option<impl FnOnce() -> String>) {
    REPORT.with_borrow_mut(|report| {
        report.steps += 1;
        if let Some(tell) = difference {
            report.differences += 1;
            if report.first.is_none() {
                report.first = Some((report.steps, now, tell()));
            }
        }
    });
}

/// The entry `replay` for controls: tables `ours` and `theirs`, canonical already.
pub fn control_entry() -> Entry<Cca> {
    Entry {
        listing: listing(include_str!("control.rs")),
        facts: CcaFacts::default(),
        make: control::make,
    }
}

/// The entry `replay` for queue disciplines, likewise.
pub fn queue_entry() -> Entry<Queue> {
    Entry {
        listing: listing(include_str!("queue.rs")),
        facts: QueueFacts { marks: true, reorders: true },
        make: queue::make,
    }
}

fn listing(source: &'static str) -> Listing {
    Listing {
        name: "replay",
        source,
        schema: || json!({ "type": "object", "required": ["ours", "theirs"] }),
        canonical: |table, _| Ok(Value::Object(table.clone())),
    }
}

/// One of the two: its entry and its parameters.
fn member<'a, K: Kind>(
    table: &Map<String, Value>,
    key: &str,
    catalogue: &'a Catalogue,
) -> Result<(&'a Entry<K>, Map<String, Value>), FieldError> {
    let missing = || FieldError::new(key, "is missing; expected a table with its kind");
    let mut params = table.get(key).and_then(Value::as_object).ok_or_else(missing)?.clone();
    let kind = params.remove("kind").ok_or_else(missing)?;
    let entry = catalogue.find::<K>(kind.as_str().unwrap_or_default());
    Ok((entry.map_err(|error| error.within(key))?, params))
}
