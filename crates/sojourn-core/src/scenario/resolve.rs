//! Defaults that depend on other keys, and canonical names.

use super::{FlowSpec, Scenario, Transport};
use crate::cc::{self, EcnMode};
use crate::error::FieldError;

/// Fills in every default and makes every name canonical.
pub fn resolve(scenario: &mut Scenario) -> Result<(), FieldError> {
    scenario.topology.resolve().map_err(|e| e.within("topology"))?;
    for (index, flow) in scenario.flows.iter_mut().enumerate() {
        flow.stop.get_or_insert(scenario.duration);
        flow.stack.get_or_insert(scenario.stack);
        resolve_flow(flow).map_err(|e| e.within(&format!("flows.{index}")))?;
    }
    Ok(())
}

fn resolve_flow(flow: &mut FlowSpec) -> Result<(), FieldError> {
    flow.traffic.resolve().map_err(|e| e.within("traffic"))?;
    let mut required = EcnMode::Off;
    match (&mut flow.cca, flow.transport) {
        (Some(cca), Transport::Tcp) => {
            cca.resolve().map_err(|e| e.within("cca"))?;
            required = cc::find(&cca.kind)?.ecn;
        }
        (None, Transport::Tcp) => {
            let message = "is missing; name a congestion control, such as \"reno\"";
            return Err(FieldError::new("cca", message));
        }
        (Some(_), Transport::Udp) => {
            return Err(FieldError::new("cca", "given with transport udp, which has none"));
        }
        (None, Transport::Udp) => {}
    }
    flow.ecn.get_or_insert(required);
    Ok(())
}
