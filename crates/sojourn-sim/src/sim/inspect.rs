//! Inspection of a simulation between two steps.

use super::Simulation;
use crate::observe::Observer;
use crate::packet::Backlog;
use crate::record::{FlowCounters, LinkCounters};

impl Simulation {
    /// The counters of link number `link`, in the order of the plan, brought up to the present
    /// time.
    pub fn link(&mut self, link: usize) -> LinkCounters {
        self.sampler.link(&mut self.regions, link)
    }

    /// The packets in link number `link`: waiting or in transit.
    pub fn held(&self, link: usize) -> Backlog {
        let mut held = Backlog::default();
        for (net, _) in self.regions.iter() {
            let part = net.held(link);
            held.packets += part.packets;
            held.bytes += part.bytes;
        }
        held
    }

    /// The counters of flow number `flow`, brought up to the present time.
    pub fn flow(&mut self, flow: usize) -> FlowCounters {
        self.sampler.flow(&mut self.regions, self.now, flow)
    }

    /// Names and values of the state of a flow's sender, such as those of its congestion control.
    pub fn observe(&self, flow: usize, out: &mut Observer<'_>) {
        let homes = self.regions.iter().map(|(_, hosts)| &hosts.endpoints[2 * flow]);
        homes.for_each(|sender| sender.observe(out));
    }
}
