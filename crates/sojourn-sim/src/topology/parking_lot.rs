//! Parking lot: several bottlenecks in a row, with flows that pass all of them or some.
//!
//! Model: the topology for several bottlenecks of the Common TCP Evaluation Suite
//! (draft-irtf-iccrg-tcpeval-01), of any length.
//!
//! The bottlenecks `hop_0`, `hop_1`, ... join the nodes `n0`, `n1`, `n2`, ... Each flow enters at
//! `from` and leaves at `to`; by default it passes all of them. As in the dumbbell, the reverse
//! path over `hop_0_reverse` and so on has no rate and no queue unless `reverse` gives it, and
//! `direction = "reverse"` exchanges the ends. A flow's `rtt` is added on its sender's side, half
//! in each direction, behind an access link of the flow's or the topology's `access_rate` if there
//! is one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::builder::Builder;
use super::{Plan, Topology, known_node};
use crate::edge::link::LinkSpec;
use crate::error::FieldError;
use crate::quantity::Percent;
use crate::registry::{Catalogue, Params};
use crate::spec::{Flow, FlowDirection};
use crate::units::Rate;

/// Keys of a parking lot.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ParkingLot {
    /// The bottlenecks in the order in which forward data passes them.
    pub hops: Vec<LinkSpec>,
    /// Every link of the other direction. Default: no rate, no queue.
    pub reverse: LinkSpec,
    /// Rate of each flow's own access link, on the sender's side, unless the flow gives one.
    /// Default: without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<Rate>,
}

impl Params for ParkingLot {
    fn resolve(&mut self, catalogue: &Catalogue) -> Result<(), FieldError> {
        for (index, hop) in self.hops.iter_mut().enumerate() {
            hop.resolve(catalogue).map_err(|e| e.within(&format!("hops.{index}")))?;
        }
        self.reverse.resolve(catalogue).map_err(|e| e.within("reverse"))
    }

    fn validate(&self) -> Result<(), FieldError> {
        if self.hops.is_empty() {
            return Err(FieldError::new("hops", "is empty; a parking lot has at least one link"));
        }
        if self.reverse.reverse_loss > Percent::default() {
            let message =
                "not allowed, as it is the loss of the hops; set the loss of each hop instead";
            return Err(FieldError::new("reverse.reverse_loss", message));
        }
        for (index, hop) in self.hops.iter().enumerate() {
            if hop.reverse_loss > Percent::default() && self.reverse.loss > Percent::default() {
                let message = "given as well as reverse.loss; give one of them";
                return Err(FieldError::new(format!("hops.{index}.reverse_loss"), message));
            }
        }
        Ok(())
    }
}

impl ParkingLot {
    fn way_back(&self, hop: &LinkSpec) -> LinkSpec {
        let own = hop.reverse_loss > Percent::default();
        let loss = if own { hop.reverse_loss } else { self.reverse.loss };
        LinkSpec { loss, ..self.reverse.clone() }
    }
}

impl Topology for ParkingLot {
    fn plan(&self, flows: &[Flow<'_>], _catalogue: &Catalogue) -> Result<Plan, FieldError> {
        let mut builder = Builder::new(self.access_rate);
        let nodes: Vec<String> = (0..=self.hops.len()).map(|n| format!("n{n}")).collect();
        for (index, hop) in self.hops.iter().enumerate() {
            let (mut hop, mut back) = (hop.clone(), self.way_back(hop));
            LinkSpec::share_outages(&mut hop, &mut back);
            let ends = [nodes[index].as_str(), nodes[index + 1].as_str()];
            builder.link(&format!("hop_{index}"), ends, hop, Some(back))?;
        }
        for flow in flows {
            self.flow(&mut builder, flow, &nodes).map_err(|e| e.within(&flow.field()))?;
        }
        Ok(builder.finish())
    }
}

impl ParkingLot {
    fn flow(
        &self,
        builder: &mut Builder,
        flow: &Flow<'_>,
        nodes: &[String],
    ) -> Result<(), FieldError> {
        let end = |key: &str, given: &Option<String>, default: usize| match given {
            Some(name) => {
                let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
                known_node(key, name, &names)
            }
            None => Ok(default),
        };
        let (mut first, mut last) = (0, self.hops.len());
        if flow.spec.direction == FlowDirection::Reverse {
            std::mem::swap(&mut first, &mut last);
        }
        let from = end("from", &flow.spec.from, first)?;
        let to = end("to", &flow.spec.to, last)?;
        builder.flow(flow, &nodes[from], &nodes[to])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::catalogue::builtin;
    use crate::scenario::Scenario;

    fn plan(flows: Value) -> Plan {
        let outages = json!([{ "start": "1 s", "duration": "1 s", "two_way": true }]);
        let hop = json!({ "rate": "10 Mbit/s", "delay": "5 ms", "reverse_loss": "1 %",
                          "outages": outages });
        let scenario = json!({
            "duration": "1 s",
            "topology": { "kind": "parking-lot", "hops": [hop, hop, hop] },
            "flows": flows,
        });
        Scenario::from_json(&scenario, builtin()).unwrap().plan().clone()
    }

    #[test]
    fn flows_pass_the_hops_between_their_ends() {
        let flow = |from: &str, to: &str| json!({ "cca": "reno", "from": from, "to": to });
        let plan = plan(json!([{ "cca": "reno" }, flow("n1", "n2"), flow("n0", "n2")]));
        let way = |links: &[u32]| -> Vec<&str> {
            links.iter().map(|link| plan.links[*link as usize].id.as_str()).collect()
        };
        assert_eq!(way(&plan.routes[0].forward), ["hop_0", "hop_1", "hop_2"]);
        assert_eq!(
            way(&plan.routes[0].backward),
            ["hop_2_reverse", "hop_1_reverse", "hop_0_reverse"]
        );
        assert_eq!(way(&plan.routes[1].forward), ["hop_1"]);
        assert_eq!(way(&plan.routes[2].forward), ["hop_0", "hop_1"]);
    }

    #[test]
    fn each_hop_has_a_way_back_with_its_losses_and_outages() {
        let plan = plan(json!([{ "cca": "reno" }]));
        let back: Vec<_> = plan.links.iter().filter(|link| link.id.ends_with("reverse")).collect();
        assert_eq!(back.len(), 3);
        assert!(back.iter().all(|link| link.spec.loss == Percent::new(1.0)));
        assert!(back.iter().all(|link| link.spec.outages.len() == 1));
    }
}
