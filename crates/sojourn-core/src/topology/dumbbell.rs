//! Dumbbell: many senders, one bottleneck, many receivers.
//!
//! Model: the common topology of evaluations, as in the Common TCP Evaluation Suite
//! (draft-irtf-iccrg-tcpeval-01).
//!
//! Data of `forward` flows passes the link `bottleneck`, their acknowledgments return over
//! `bottleneck_reverse`; flows with `direction = "reverse"` the other way round. A flow's `rtt` is
//! added on its sender's side, half before the bottleneck and half on the way back, behind an
//! access link of the flow's or the topology's `access_rate` if there is one. Without `reverse`,
//! the way back has no rate and no queue; with it, flows that run `reverse` congest it. `from` and
//! `to` of a flow name its hosts, for queues that are fair between hosts; by default all senders are
//! one host and all receivers another. `two_way` outages of either link befall both.
//!
//! A middlebox with a shaping queue on the egress of both ports and half the delay on the ingress
//! of each, as in the SCE draft, is this dumbbell with the queue under `bottleneck` and under
//! `reverse`: whether a fixed delay lies before a queue or behind it makes no difference at the
//! ends (`experiments/sce2019`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::Access;
use super::{Network, Routes, Topology};
use crate::error::FieldError;
use crate::registry::Params;
use crate::scenario::{Flow, FlowDirection, LinkSpec};
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
    fn resolve(&mut self) -> Result<(), FieldError> {
        self.bottleneck.resolve().map_err(|e| e.within("bottleneck"))?;
        self.reverse.resolve().map_err(|e| e.within("reverse"))
    }

    fn validate(&self) -> Result<(), FieldError> {
        if self.reverse.loss.fraction() > 0.0 && self.bottleneck.reverse_loss.fraction() > 0.0 {
            let message = "given as well as bottleneck.reverse_loss; give one of them";
            return Err(FieldError::new("reverse.loss", message));
        }
        if self.reverse.reverse_loss.fraction() > 0.0 {
            let message = "is the loss of the bottleneck; set bottleneck.loss";
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
    fn network(&self, flows: &[Flow<'_>]) -> Result<Network, FieldError> {
        let mut network = Network::default();
        let mut access = Access::new(self.access_rate);
        let (mut there, mut back) = (self.bottleneck.clone(), self.way_back());
        LinkSpec::share_outages(&mut there, &mut back);
        let bottleneck = network.link("bottleneck", there, true);
        let reverse = network.link("bottleneck_reverse", back, true);
        for flow in flows {
            let (out, home) = access.links(&mut network, flow);
            let (there, back, [from, to]) = match flow.spec.direction {
                FlowDirection::Forward => (bottleneck, reverse, ["left", "right"]),
                FlowDirection::Reverse => (reverse, bottleneck, ["right", "left"]),
            };
            let routes = Routes {
                source: network.node(flow.spec.from.as_deref().unwrap_or(from))?,
                destination: network.node(flow.spec.to.as_deref().unwrap_or(to))?,
                forward: out.into_iter().chain(there).collect(),
                backward: back.into_iter().chain(home).collect(),
            };
            network.route(routes)?;
        }
        Ok(network)
    }
}
