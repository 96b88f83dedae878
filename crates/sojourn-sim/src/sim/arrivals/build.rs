//! Construction of the driver from a scenario.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Driver;
use super::entry::Entry;
use super::path::Path;
use super::rows::{EntrySamples, TransferRows};
use crate::arrivals::{ArrivalsSpec, Draws, Variant};
use crate::edge::link::LinkSpec;
use crate::error::FieldError;
use crate::packet::Address;
use crate::record::Chunks;
use crate::record::live::Log;
use crate::scenario::Scenario;
use crate::sim::recorded::Captured;
use crate::spec::Transport;
use crate::tcp::HostMemory;
use crate::topology::Plan;
use crate::units::{Span, Time};

/// What connections have in common with the declared flows.
pub(in crate::sim) struct Place<'a> {
    /// Addresses of all paths of the scenario, there and back.
    pub addresses: &'a [[Address; 2]],
    /// What hosts remember of their earlier connections, if anything.
    pub memory: Option<&'a HostMemory>,
    /// Where rows go that do not wait for the end.
    pub chunks: Option<&'a Chunks>,
    /// Where records go, if there are any.
    pub log: Option<&'a Log>,
}

impl Driver {
    /// The driver of a scenario's arrivals, if it has any.
    ///
    /// # Errors
    /// If the scenario cannot be built; never for one that was read by [`Scenario::from_json`].
    pub(in crate::sim) fn new(
        scenario: &Scenario,
        place: &Place<'_>,
    ) -> Result<Option<Box<Self>>, FieldError> {
        if scenario.arrivals.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(Driver {
            entries: recorded_entries(scenario, place.addresses, place.log)?,
            slots: Vec::new(),
            free: Vec::new(),
            lingering: VecDeque::new(),
            first_socket: 2 * scenario.flow_count(),
            catalogue: Arc::clone(scenario.shared_catalogue()),
            memory: place.memory.cloned(),
            capture: place.log.and_then(Log::capture).cloned(),
            copied: scenario.plan().may_copy(),
            end: Time::ZERO + scenario.duration,
            rows: TransferRows::new(place.chunks.cloned()),
            samples: EntrySamples::new(place.chunks.cloned()),
        })))
    }
}

/// The entries of a scenario before their first arrivals; `addresses` are those of all its paths, there
/// and back.
///
/// # Errors
/// If the scenario cannot be built; never for one that was read by [`Scenario::from_json`].
pub fn entries(scenario: &Scenario, addresses: &[[Address; 2]]) -> Result<Vec<Entry>, FieldError> {
    recorded_entries(scenario, addresses, None)
}

/// Likewise; `log` captures their packets, if it captures any.
fn recorded_entries(
    scenario: &Scenario,
    addresses: &[[Address; 2]],
    log: Option<&Log>,
) -> Result<Vec<Entry>, FieldError> {
    let mut first = scenario.flow_count();
    let mut entries = Vec::new();
    for (spec, offer) in scenario.arrivals.iter().zip(scenario.offers()) {
        let variants = Variant::of(spec, first);
        first += variants.len();
        let paths = variants.iter().map(|variant| path(scenario, variant, addresses, log));
        let paths = paths.collect::<Result<Vec<_>, _>>()?;
        entries.push(entry(scenario, entries.len(), spec, paths, offer.rate));
    }
    Ok(entries)
}

fn entry(
    scenario: &Scenario,
    place: usize,
    spec: &ArrivalsSpec,
    paths: Vec<Path>,
    rate: f64,
) -> Entry {
    let draws = Draws::new(scenario.seed, &spec.keys.label);
    let start = Time::ZERO + spec.flow.start;
    let stop = Time::ZERO + spec.flow.stop.unwrap_or(scenario.duration);
    Entry::new(place, spec.clone(), paths, draws, spec.process(rate, draws), [start, stop])
}

fn path(
    scenario: &Scenario,
    variant: &Variant,
    addresses: &[[Address; 2]],
    log: Option<&Log>,
) -> Result<Path, FieldError> {
    let plan = scenario.plan();
    let routes = &plan.routes[variant.path];
    let first = routes.forward.first();
    let transport = scenario.catalogue().find::<Transport>(&variant.flow.transport.kind)?;
    Ok(Path {
        flow: variant.flow.clone(),
        addresses: addresses[variant.path],
        base_rtt: plan.base_rtt(variant.path),
        delay_back: specs(plan, &routes.backward).fold(Span::ZERO, |sum, link| sum + link.delay),
        small_queue: first.is_some_and(|link| plan.links[*link as usize].on.is_some()),
        datagrams: !transport.facts.controlled,
        headers: transport.facts.headers,
        captured: Captured::of(variant.path, scenario, log),
        slowest: [&routes.forward, &routes.backward].map(|way| Path::slowest(specs(plan, way))),
    })
}

/// The links of a way.
fn specs<'a>(plan: &'a Plan, way: &'a [u32]) -> impl Iterator<Item = &'a LinkSpec> {
    way.iter().map(|link| &plan.links[*link as usize].spec)
}
