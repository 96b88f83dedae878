//! Dumbbell: many senders, one bottleneck, many receivers.
//!
//! Model: the common topology of evaluations, as in the Common TCP Evaluation Suite
//! (draft-irtf-iccrg-tcpeval-01).
//!
//! Data of `forward` flows passes the link `bottleneck`, their acknowledgments return over
//! `bottleneck_reverse`; flows with `direction = "reverse"` the other way round. A flow's `rtt` is
//! added on its sender's side, half before the bottleneck and half on the reverse path, behind an
//! access link of the flow's or the topology's `access_rate` if there is one. Without `reverse`,
//! the reverse path has no rate and no queue; with it, flows that run `reverse` congest it. `from` and
//! `to` of a flow name its hosts, for queues that are fair between hosts; by default all senders are
//! one host and all receivers another. With a `medium`, the bottleneck and its reverse are channels
//! between the stations `left` and `right`. `two_way` outages of either link hold for both.
//!
//! A middlebox with a shaping queue on the egress of both ports and half the delay on the ingress
//! of each, as in the SCE draft, is this dumbbell with the queue under `bottleneck` and under
//! `reverse`: whether a fixed delay lies before a queue or behind it makes no difference at the
//! ends of flows that run the same way (`experiments/sce2019`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::Access;
use super::{Plan, Routes, Topology};
use crate::edge::link::LinkSpec;
use crate::error::FieldError;
use crate::registry::{Catalogue, Params};
use crate::spec::{Flow, FlowDirection};
use crate::units::Rate;

/// Keys of a dumbbell.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dumbbell {
    /// The link that all forward flows share.
    pub bottleneck: LinkSpec,
    /// The link of the other direction. Default: no rate, no queue.
    pub reverse: LinkSpec,
    /// Rate of each flow's own access link, on the sender's side, unless the flow gives one.
    /// Default: without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<Rate>,
}

impl Params for Dumbbell {
    fn resolve(&mut self, catalogue: &Catalogue) -> Result<(), FieldError> {
        self.bottleneck.resolve(catalogue).map_err(|e| e.within("bottleneck"))?;
        self.reverse.resolve(catalogue).map_err(|e| e.within("reverse"))
    }

    fn validate(&self) -> Result<(), FieldError> {
        if self.reverse.loss.fraction() > 0.0 && self.bottleneck.reverse_loss.fraction() > 0.0 {
            let message = "given as well as bottleneck.reverse_loss; give one of them";
            return Err(FieldError::new("reverse.loss", message));
        }
        if self.reverse.reverse_loss.fraction() > 0.0 {
            let message =
                "not allowed, as it is the loss of the bottleneck; set bottleneck.loss instead";
            return Err(FieldError::new("reverse.reverse_loss", message));
        }
        Ok(())
    }
}

impl Dumbbell {
    fn way_back(&self) -> LinkSpec {
        let mut link = self.reverse.clone();
        if self.bottleneck.reverse_loss.fraction() > 0.0 {
            link.loss = self.bottleneck.reverse_loss;
        }
        link
    }
}

impl Topology for Dumbbell {
    fn plan(&self, flows: &[Flow<'_>], _catalogue: &Catalogue) -> Result<Plan, FieldError> {
        let mut plan = Plan::default();
        let mut access = Access::new(self.access_rate);
        let (mut there, mut back) = (self.bottleneck.clone(), self.way_back());
        LinkSpec::share_outages(&mut there, &mut back);
        plan.share_medium("bottleneck", &mut there, Some(&mut back))
            .map_err(|e| e.within("topology.reverse"))?;
        let bottleneck = plan.link("bottleneck", [None; 2], there, true);
        let reverse = plan.link("bottleneck_reverse", [None; 2], back, true);
        plan.attach(bottleneck, ["left", "right"]);
        plan.attach(reverse, ["right", "left"]);
        for flow in flows {
            let (out, home) = access.links(&mut plan, flow, None);
            let (there, back, [from, to]) = match flow.spec.direction {
                FlowDirection::Forward => (bottleneck, reverse, ["left", "right"]),
                FlowDirection::Reverse => (reverse, bottleneck, ["right", "left"]),
            };
            let routes = Routes {
                source: plan.node(flow.spec.from.as_deref().unwrap_or(from))?,
                destination: plan.node(flow.spec.to.as_deref().unwrap_or(to))?,
                forward: out.into_iter().chain(there).collect(),
                backward: back.into_iter().chain(home).collect(),
            };
            plan.route(routes)?;
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::catalogue::builtin;
    use crate::quantity::Percent;
    use crate::scenario::Scenario;
    use crate::units::Span;

    fn plan(flows: Value) -> Plan {
        let scenario = json!({
            "duration": "1 s",
            "topology": {
                "kind": "dumbbell",
                "bottleneck": { "rate": "10 Mbit/s", "reverse_loss": "2 %" },
                "reverse": { "rate": "1 Mbit/s" },
                "access_rate": "50 Mbit/s",
            },
            "flows": flows,
        });
        Scenario::from_json(&scenario, builtin()).unwrap().plan().clone()
    }

    #[test]
    fn each_flow_has_its_round_trip_its_access_rate_and_its_direction() {
        let plan = plan(json!([
            { "cca": "reno", "rtt": "10 ms" },
            { "cca": "reno", "rtt": "80 ms", "access_rate": "3 Mbit/s", "direction": "reverse" },
        ]));
        assert_eq!(plan.base_rtt(0), Span::from_millis(10));
        assert_eq!(plan.base_rtt(1), Span::from_millis(80));
        let links = |route: &[u32]| -> Vec<_> {
            let links = route.iter().map(|link| &plan.links[*link as usize]);
            links.map(|link| (link.id.clone(), link.spec.rate)).collect()
        };
        let mbps = |mbps: u64| Some(Rate::from_bps(mbps * 1_000_000));
        let [there, back] = ["bottleneck", "bottleneck_reverse"].map(str::to_owned);
        for (routes, access, [there, back]) in [
            (&plan.routes[0], 50, [(there.clone(), mbps(10)), (back.clone(), mbps(1))]),
            (&plan.routes[1], 3, [(back, mbps(1)), (there, mbps(10))]),
        ] {
            let (forward, backward) = (links(&routes.forward), links(&routes.backward));
            assert!(forward.iter().any(|(_, rate)| *rate == mbps(access)), "{forward:?}");
            assert_eq!(forward.last(), Some(&there));
            assert_eq!(backward.first(), Some(&back));
        }
        let lossy = plan.links.iter().filter(|link| link.spec.loss == Percent::new(2.0));
        assert!(lossy.map(|link| link.id.as_str()).eq(["bottleneck_reverse"]));
    }
}
