//! LinkEm: one emulated path with equal directions and a tail-drop buffer in bytes.
//!
//! Model: the link emulator of the GNAT report (`iron/util/linkem/src/linkem.cc`): a frame that does
//! not fit into the buffer is dropped; the others are serialised, then lost at random, then delayed.
//! A frame is the IP packet and 14 bytes of Ethernet. The buffer holds the frame that is being sent
//! as well.
//!
//! All flows pass the links `bottleneck` and `bottleneck_reverse`; those with
//! `direction = "reverse"` in the opposite order. A `two_way` outage holds for both directions,
//! another one for the forward one; `reverse_outages` hold for the reverse direction alone.
//! Deviation: the buffer is converted into the bytes of IP packets that may wait behind the one
//! being sent, computed with full packets of the largest flow; short packets fill it a little
//! differently.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use sojourn_base::error::FieldError;
use sojourn_base::quantity::{Bytes, Limit, Percent};
use sojourn_base::registry::{Catalogue, Params};
use sojourn_base::units::{Rate, Span};
use sojourn_net::edge::link::LinkSpec;
use sojourn_net::edge::link::outage::OutageSpec;
use sojourn_net::edge::link::schedule::ScheduleSpec;
use sojourn_sim::spec::{Flow, FlowDirection, Spec, Transport};
use sojourn_sim::topology::{Plan, Routes, Topology};

/// Ethernet's header, which counts at the emulated rate.
const FRAMING: u64 = 14;

/// Keys of an emulated path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkEm {
    /// Rate of each direction, counting IP packets and 14 bytes of framing.
    pub rate: Rate,
    /// Propagation delay of each direction.
    pub delay: Span,
    /// Buffer of each direction, the frame that is being sent included.
    pub buffer: Bytes,
    /// Random loss of each direction, after the buffer.
    pub loss: Percent,
    /// A rate that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_schedule: Option<ScheduleSpec<Rate>>,
    /// A delay that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_schedule: Option<ScheduleSpec<Span>>,
    /// A loss that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_schedule: Option<ScheduleSpec<Percent>>,
    /// Times at which the forward direction, or both, carry nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<OutageSpec>,
    /// Times at which the reverse direction carries nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reverse_outages: Vec<OutageSpec>,
}

impl Default for LinkEm {
    fn default() -> Self {
        LinkEm {
            rate: Rate::from_bps(10_000_000),
            delay: Span::from_millis(10),
            buffer: Bytes(50_000),
            loss: Percent::default(),
            rate_schedule: None,
            delay_schedule: None,
            loss_schedule: None,
            outages: Vec::new(),
            reverse_outages: Vec::new(),
        }
    }
}

impl Params for LinkEm {
    fn resolve(&mut self, catalogue: &Catalogue) -> Result<(), FieldError> {
        self.link(0, &self.outages).resolve(catalogue)?;
        self.link(0, &self.reverse_outages).resolve(catalogue)
    }
}

impl LinkEm {
    /// One direction, with room for `waiting` bytes behind the packet that is being sent.
    fn link(&self, waiting: u64, outages: &[OutageSpec]) -> LinkSpec {
        let limit = json!(Limit::Bytes(waiting));
        LinkSpec {
            rate: Some(self.rate),
            delay: self.delay,
            queue: Some(Spec::new("fifo", Map::from_iter([("limit".to_owned(), limit)]))),
            loss: self.loss,
            overhead: Bytes(FRAMING),
            rate_schedule: self.rate_schedule.clone(),
            delay_schedule: self.delay_schedule.clone(),
            loss_schedule: self.loss_schedule.clone(),
            outages: outages.to_vec(),
            ..LinkSpec::default()
        }
    }

    /// Bytes of IP packets of `size` that may wait behind one.
    fn waiting(&self, size: u64) -> Result<u64, FieldError> {
        let frame = size + FRAMING;
        let frames = self.buffer.0 / frame;
        if frames == 0 {
            let message = format!("{} given; allowed: at least {frame} B, one frame", self.buffer);
            return Err(FieldError::new("topology.buffer", message));
        }
        Ok((frames - 1) * size)
    }
}

impl Topology for LinkEm {
    fn plan(&self, flows: &[Flow<'_>], catalogue: &Catalogue) -> Result<Plan, FieldError> {
        let mut largest = 0;
        for flow in flows {
            let transport = catalogue.find::<Transport>(&flow.spec.transport.kind)?;
            largest = largest.max(u64::from(flow.spec.mss + transport.facts.headers));
        }
        let waiting = self.waiting(largest)?;
        let mut there = self.link(waiting, &self.outages);
        let mut back = self.link(waiting, &self.reverse_outages);
        there.resolve(catalogue).map_err(|e| e.within("topology"))?;
        back.resolve(catalogue).map_err(|e| e.within("topology"))?;
        LinkSpec::share_outages(&mut there, &mut back);
        let mut plan = Plan::default();
        let there = plan.link("bottleneck", [None; 2], there, true);
        let back = plan.link("bottleneck_reverse", [None; 2], back, true);
        for flow in flows {
            let (out, home, [from, to]) = match flow.spec.direction {
                FlowDirection::Forward => (there, back, ["left", "right"]),
                FlowDirection::Reverse => (back, there, ["right", "left"]),
            };
            let routes = Routes {
                source: plan.node(flow.spec.from.as_deref().unwrap_or(from))?,
                destination: plan.node(flow.spec.to.as_deref().unwrap_or(to))?,
                forward: out.into_iter().collect(),
                backward: home.into_iter().collect(),
            };
            plan.route(routes)?;
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,058-byte frames of SLIQ's 1,000 bytes of payload.
    #[test]
    fn the_buffer_holds_the_frame_that_is_being_sent() {
        let link = LinkEm { buffer: Bytes(6_250), ..LinkEm::default() };
        assert_eq!(link.waiting(1_044).unwrap(), 4 * 1_044);
        let small = LinkEm { buffer: Bytes(1_000), ..LinkEm::default() };
        assert_eq!(small.waiting(1_044).unwrap_err().field, "topology.buffer");
    }
}
