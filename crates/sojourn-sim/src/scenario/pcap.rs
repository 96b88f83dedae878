//! Checks of what is to be captured.

use super::ScenarioSpec;
use crate::error::FieldError;
use crate::topology::Plan;

/// Refuses flows and links that there are not.
pub(super) fn check(scenario: &ScenarioSpec, plan: &Plan) -> Result<(), FieldError> {
    let Some(pcap) = &scenario.pcap else { return Ok(()) };
    let recorded = plan.links.iter().filter(|link| link.recorded);
    let links: Vec<&str> = recorded.map(|link| link.id.as_str()).collect();
    pcap.check(scenario.flow_count(), &links).map_err(|error| error.within("pcap"))
}
