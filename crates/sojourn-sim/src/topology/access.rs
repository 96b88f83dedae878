//! The sender's side of each flow: its propagation delay and its access link.

use std::collections::BTreeMap;

use serde_json::{Map, json};

use super::Plan;
use crate::edge::link::LinkSpec;
use crate::quantity::Limit;
use crate::spec::{Flow, Queue, Spec};
use crate::units::{Rate, Span};

/// Adds flows' access links to a network. Without a rate, an access link is only a delay, and flows
/// of the same delay to the same node share one.
#[derive(Debug, Default)]
pub(super) struct Access {
    rate: Option<Rate>,
    delays: BTreeMap<(Span, bool, Option<u16>), Option<u32>>,
}

impl Access {
    /// Access links of this rate, unless a flow has one of its own.
    pub(super) fn new(rate: Option<Rate>) -> Self {
        Access { rate, delays: BTreeMap::new() }
    }

    /// The flow's access links, to and from the node `at`, where that is known: half of its `rtt`
    /// out, the other half back.
    pub(super) fn links(
        &mut self,
        plan: &mut Plan,
        flow: &Flow<'_>,
        at: Option<u16>,
    ) -> (Option<u32>, Option<u32>) {
        let half = flow.spec.rtt() / 2;
        (
            self.link(plan, flow, half, at, false),
            self.link(plan, flow, flow.spec.rtt() - half, at, true),
        )
    }

    /// A link into the node `at` of a flow's receiver, if that node is active: the receiver's
    /// packets pass it, too.
    pub(super) fn at_receiver(&mut self, plan: &mut Plan, at: u16) -> Option<u32> {
        let ends = [None, Some(at)];
        let shared = self.delays.entry((Span::ZERO, false, Some(at)));
        let id = || format!("delay_{}", Span::ZERO);
        *shared.or_insert_with(|| plan.link(&id(), ends, LinkSpec::default(), false))
    }

    fn link(
        &mut self,
        plan: &mut Plan,
        flow: &Flow<'_>,
        delay: Span,
        at: Option<u16>,
        back: bool,
    ) -> Option<u32> {
        let suffix = if back { "_reverse" } else { "" };
        let ends = if back { [at, None] } else { [None, at] };
        let rate = flow.spec.access_rate.or(self.rate);
        let spec = LinkSpec { rate, delay, ..LinkSpec::default() };
        if rate.is_some() {
            let spec = LinkSpec { queue: Some(host_queue()), ..spec };
            return plan.link(&format!("access_{}{suffix}", flow.id), ends, spec, false);
        }
        let shared = self.delays.entry((delay, back, at));
        *shared.or_insert_with(|| plan.link(&format!("delay_{delay}{suffix}"), ends, spec, false))
    }
}

/// The queue of a host's own device: it holds all packets that the host sends.
fn host_queue() -> Spec<Queue> {
    let limit = json!(Limit::Packets(1_000_000));
    Spec::new("fifo", Map::from_iter([("limit".to_owned(), limit)]))
}
