//! How much a page does: some seconds of work and some tens of megabytes. The simulator allows hours.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sojourn_base::error::FieldError;
use sojourn_base::units::{Rate, Span};
use sojourn_sim::Scenario;

/// The longest run.
pub const DURATION: Span = Span::from_secs(120);
/// The most flows, each `count` expanded.
pub const FLOWS: usize = 16;
/// The most links with columns.
pub const LINKS: usize = 64;
/// The most rows of samples: one per sample and flow, link, active node or entry of arrivals.
pub const ROWS: u64 = 100_000;
/// The most packets that the links could carry from senders to receivers, if they were full all the time.
pub const PACKETS: u64 = 6_000_000;
/// The most events of a run.
pub const EVENTS: u64 = 40_000_000;

/// Bytes that a link's packets have at least beside their payload: headers of IP and TCP.
const HEADERS: u64 = 40;

/// The limits by name, as a page shows them.
pub(crate) fn to_json() -> Value {
    json!({
        "seconds": DURATION.as_secs_f64(),
        "flows": FLOWS,
        "links": LINKS,
        "rows": ROWS,
        "packets": PACKETS,
        "events": EVENTS,
    })
}

/// Refuses what takes too long, or too much memory.
pub(crate) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    let duration = scenario.duration;
    require(duration <= DURATION, "duration", || format!("{duration}; a page runs {DURATION}"))?;
    let flows = scenario.flow_count();
    require(flows <= FLOWS, "flows", || format!("{flows} flows; a page has {FLOWS}"))?;
    let plan = scenario.plan();
    let links = plan.links.iter().filter(|link| link.recorded).count();
    require(links <= LINKS, "topology", || format!("{links} links; a page has {LINKS}"))?;
    let active = plan.nodes.iter().filter(|node| node.kind.is_some()).count();
    let rows = rows(scenario, flows + links + active + scenario.arrivals.len());
    require(rows <= ROWS, "sample_interval", || {
        format!("{rows} rows of samples; a page has {ROWS}")
    })?;
    let packets = packets(scenario);
    require(packets <= PACKETS, "topology", || {
        format!("{packets} packets could pass its links meanwhile; a page does {PACKETS}")
    })
}

/// Refuses a run that has become too long.
pub(crate) fn check_events(events: u64) -> Result<(), String> {
    let told = || format!("the run has taken {EVENTS} events, and a page does no more");
    if events <= EVENTS { Ok(()) } else { Err(told()) }
}

fn require(within: bool, field: &str, given: impl Fn() -> String) -> Result<(), FieldError> {
    if within { Ok(()) } else { Err(FieldError::new(field, format!("{} at most", given()))) }
}

/// Rows of samples of so many members.
fn rows(scenario: &Scenario, members: usize) -> u64 {
    let samples = scenario.duration.as_nanos().div_ceil(scenario.sample_interval.as_nanos());
    samples.saturating_mul(members as u64)
}

/// Packets that the links on the ways of data would carry, if they were full all the time.
fn packets(scenario: &Scenario) -> u64 {
    let plan = scenario.plan();
    let used: BTreeSet<u32> = plan.routes.iter().flat_map(|way| way.forward.clone()).collect();
    let bytes = |rate: Rate| rate.bytes_in(scenario.duration);
    let rates = used.iter().filter_map(|link| plan.links[*link as usize].spec.rate);
    let payload = scenario.paths().iter().map(|flow| u64::from(flow.spec.mss)).min();
    rates.map(bytes).sum::<u64>() / (payload.unwrap_or(1) + HEADERS)
}
