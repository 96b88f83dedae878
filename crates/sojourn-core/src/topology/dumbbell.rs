//! Dumbbell: many senders, one bottleneck, many receivers.
//!
//! Data of `forward` flows passes the link `bottleneck`, their acknowledgments return over
//! `bottleneck_reverse`; flows with `direction = "reverse"` the other way round. A flow's `rtt` is
//! added on its sender's side, half before the bottleneck and half on the way back, behind an
//! access link of `access_rate` if there is one. Without `reverse`, the way back has no rate and
//! no queue. `from` and `to` of a flow name its hosts, for queues that are fair between hosts;
//! by default all senders are one host and all receivers another.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Network, Routes, Topology};
use crate::error::FieldError;
use crate::registry::Params;
use crate::scenario::{Flow, FlowDirection, LinkSpec};
use crate::units::{Rate, Span};

/// Keys of a dumbbell.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dumbbell {
    /// The link that all forward flows share.
    pub bottleneck: LinkSpec,
    /// The link of the other direction. Default: no rate, no queue.
    pub reverse: LinkSpec,
    /// Rate of each flow's own access link, on the sender's side. Default: without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<Rate>,
}

impl Params for Dumbbell {
    fn resolve(&mut self) -> Result<(), FieldError> {
        self.bottleneck.resolve().map_err(|e| e.within("bottleneck"))?;
        self.reverse.resolve().map_err(|e| e.within("reverse"))
    }

    fn validate(&self) -> Result<(), FieldError> {
        if self.bottleneck.rate.is_none() {
            return Err(FieldError::new(
                "bottleneck.rate",
                "is missing; a rate such as \"32 Mbit/s\"",
            ));
        }
        if self.reverse.loss.fraction() > 0.0 && self.bottleneck.reverse_loss.fraction() > 0.0 {
            let message = "given as well as bottleneck.reverse_loss; give one of them";
            return Err(FieldError::new("reverse.loss", message));
        }
        if self.reverse.reverse_loss.fraction() > 0.0 {
            return Err(FieldError::new("reverse.reverse_loss", "is bottleneck.loss; set that"));
        }
        Ok(())
    }
}

impl Topology for Dumbbell {
    fn network(&self, flows: &[Flow<'_>]) -> Result<Network, FieldError> {
        let mut builder =
            Builder { topology: self, network: Network::default(), access: BTreeMap::new() };
        let bottleneck = builder.network.link("bottleneck", self.bottleneck.clone(), true);
        let mut back = self.reverse.clone();
        if self.bottleneck.reverse_loss.fraction() > 0.0 {
            back.loss = self.bottleneck.reverse_loss;
        }
        let reverse = builder.network.link("bottleneck_reverse", back, true);
        for flow in flows {
            let (there, back) = match flow.spec.direction {
                FlowDirection::Forward => (bottleneck, reverse),
                FlowDirection::Reverse => (reverse, bottleneck),
            };
            builder.flow(flow, there, back)?;
        }
        Ok(builder.network)
    }
}

struct Builder<'a> {
    topology: &'a Dumbbell,
    network: Network,
    /// Access links without a rate are shared by all flows of their delay.
    access: BTreeMap<(Span, bool), Option<u32>>,
}

impl Builder<'_> {
    fn flow(
        &mut self,
        flow: &Flow<'_>,
        there: Option<u32>,
        back: Option<u32>,
    ) -> Result<(), FieldError> {
        let half = flow.spec.rtt / 2;
        let outgoing = self.access(flow.id, half, true);
        let returning = self.access(flow.id, flow.spec.rtt - half, false);
        let (left, right) = match flow.spec.direction {
            FlowDirection::Forward => ("left", "right"),
            FlowDirection::Reverse => ("right", "left"),
        };
        let routes = Routes {
            source: self.network.node(flow.spec.from.as_deref().unwrap_or(left))?,
            destination: self.network.node(flow.spec.to.as_deref().unwrap_or(right))?,
            forward: outgoing.into_iter().chain(there).collect(),
            backward: back.into_iter().chain(returning).collect(),
        };
        self.network.route(flow.entry, routes)
    }

    fn access(&mut self, flow: u32, delay: Span, outgoing: bool) -> Option<u32> {
        let suffix = if outgoing { "" } else { "_reverse" };
        let rate = self.topology.access_rate;
        let mut spec = LinkSpec { rate, delay, ..LinkSpec::default() };
        if rate.is_some() {
            spec.queue = Some(super::host_queue());
            return self.network.link(&format!("access_{flow}{suffix}"), spec, false);
        }
        let network = &mut self.network;
        *self
            .access
            .entry((delay, outgoing))
            .or_insert_with(|| network.link(&format!("delay {delay}{suffix}"), spec, false))
    }
}
