//! Defaults that depend on other keys, and canonical names.

use serde_json::json;

use super::ScenarioSpec;
use crate::cc::outside::needed_ecn;
use crate::error::FieldError;
use crate::registry::Catalogue;
use crate::spec::{Cca, EcnMode, FlowSpec, Transport};

/// Fills in every default and makes every name canonical.
pub fn resolve(scenario: &mut ScenarioSpec, catalogue: &Catalogue) -> Result<(), FieldError> {
    scenario.topology.resolve(catalogue).map_err(|e| e.within("topology"))?;
    for (index, flow) in scenario.flows.iter_mut().enumerate() {
        flow.stop.get_or_insert(scenario.duration);
        flow.stack.get_or_insert(scenario.stack);
        resolve_flow(flow, catalogue).map_err(|e| e.within(&format!("flows.{index}")))?;
    }
    Ok(())
}

fn resolve_flow(flow: &mut FlowSpec, catalogue: &Catalogue) -> Result<(), FieldError> {
    flow.traffic.resolve(catalogue).map_err(|e| e.within("traffic"))?;
    flow.transport.resolve(catalogue).map_err(|e| e.within("transport"))?;
    let transport = catalogue.find::<Transport>(&flow.transport.kind)?;
    let mut required = EcnMode::Off;
    match (&mut flow.cca, transport.facts.controlled) {
        (Some(cca), true) => {
            let within = |error: FieldError| error.within("cca");
            let facts = catalogue.find::<Cca>(&cca.kind).map_err(within)?.facts;
            if facts.follows_stack && !cca.params.contains_key("version") {
                cca.params.insert("version".to_owned(), json!(flow.stack));
            }
            cca.resolve(catalogue).map_err(within)?;
            required = needed_ecn(&facts, &cca.params);
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
