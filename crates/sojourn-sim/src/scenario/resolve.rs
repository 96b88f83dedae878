//! Defaults that depend on other keys, and canonical names.

use serde_json::json;

use super::ScenarioSpec;
use crate::arrivals::ArrivalsSpec;
use crate::cc::external::needed_ecn;
use crate::error::FieldError;
use crate::registry::Catalogue;
use crate::section;
use crate::spec::{Cca, EcnMode, FlowSpec, Spec, Stack, Transport};
use crate::transport::TransportFacts;
use crate::units::Span;

/// Fills in every default and makes every name canonical.
pub(super) fn resolve(
    scenario: &mut ScenarioSpec,
    catalogue: &Catalogue,
) -> Result<(), FieldError> {
    scenario.topology.resolve(catalogue).map_err(|e| e.within("topology"))?;
    for (index, medium) in scenario.media.iter_mut().enumerate() {
        medium.kind.resolve(catalogue).map_err(|e| e.within(&format!("media.{index}")))?;
    }
    for (index, flow) in scenario.flows.iter_mut().enumerate() {
        flow.stop.get_or_insert(scenario.duration);
        flow.stack.get_or_insert(scenario.stack);
        resolve_flow(flow, catalogue).map_err(|e| e.within(&format!("flows.{index}")))?;
    }
    let (stop, stack) = (scenario.duration, scenario.stack);
    for (index, entry) in scenario.arrivals.iter_mut().enumerate() {
        resolve_entry(entry, stop, stack, catalogue)
            .map_err(|e| e.within(&format!("arrivals.{index}")))?;
    }
    Ok(())
}

/// An entry's variants have the keys of flows, but no traffic of their own.
fn resolve_entry(
    entry: &mut ArrivalsSpec,
    stop: Span,
    stack: Stack,
    catalogue: &Catalogue,
) -> Result<(), FieldError> {
    entry.check_transports()?;
    entry.resolve();
    entry.flow.stop.get_or_insert(stop);
    for (field, flow) in entry.flows_mut() {
        flow.stop.get_or_insert(stop);
        flow.stack.get_or_insert(stack);
        resolve_ends(flow, catalogue).map_err(|e| e.within(&field))?;
    }
    Ok(())
}

/// Fills in a control's parameters; returns the feedback that it needs.
fn resolve_control(
    control: &mut Spec<Cca>,
    stack: Option<Stack>,
    transport: &TransportFacts,
    catalogue: &Catalogue,
) -> Result<EcnMode, FieldError> {
    let entry = catalogue.find::<Cca>(&control.kind)?;
    if transport.own_controls.contains(&entry.listing.name) {
        entry.listing.name.clone_into(&mut control.kind);
        let Some(key) = control.params.keys().next() else { return Ok(EcnMode::Off) };
        let message =
            format!("unknown key; the transport's own {} has no parameters", control.kind);
        return Err(FieldError::new(key, message));
    }
    if entry.facts.follows_stack && !control.params.contains_key("version") {
        control.params.insert("version".to_owned(), json!(stack));
    }
    control.resolve(catalogue)?;
    Ok(needed_ecn(&entry.facts, &control.params))
}

fn resolve_flow(flow: &mut FlowSpec, catalogue: &Catalogue) -> Result<(), FieldError> {
    flow.traffic.resolve(catalogue).map_err(|e| e.within("traffic"))?;
    resolve_ends(flow, catalogue)
}

/// Fills in what the two ends of a flow need to know.
fn resolve_ends(flow: &mut FlowSpec, catalogue: &Catalogue) -> Result<(), FieldError> {
    flow.transport.resolve(catalogue).map_err(|e| e.within("transport"))?;
    let transport = catalogue.find::<Transport>(&flow.transport.kind)?;
    let mut required = EcnMode::Off;
    section::check_flow(flow, transport, catalogue)?;
    match (&mut flow.cca, transport.facts.controlled) {
        (Some(cca), true) => {
            if cca.only().is_none() && !transport.facts.several_controls {
                let name = transport.listing.name;
                let message = format!("several given; transport {name} takes one");
                return Err(FieldError::new("cca", message));
            }
            let paths: Vec<String> = (0..cca.iter().count()).map(|i| cca.path(i)).collect();
            for (control, path) in cca.iter_mut().zip(paths) {
                let ecn = resolve_control(control, flow.stack, &transport.facts, catalogue)
                    .map_err(|error| error.within(&path))?;
                required = if required == EcnMode::Off { ecn } else { required };
            }
        }
        (None, true) => {
            let message = "is missing; name a congestion control, such as \"reno\"";
            return Err(FieldError::new("cca", message));
        }
        (Some(_), false) => {
            let name = transport.listing.name;
            let message = format!("given with transport {name}, which has none");
            return Err(FieldError::new("cca", message));
        }
        (None, false) => {}
    }
    flow.ecn.get_or_insert(required);
    Ok(())
}
