//! Looking into a simulation between two steps.

use super::Simulation;
use crate::observe::Observer;
use crate::record::{FlowCounters, LinkCounters};

impl Simulation {
    /// The counters of link number `link`, in the order of the plan, brought up to now.
    pub fn link(&mut self, link: usize) -> LinkCounters {
        self.net.report(link)
    }

    /// The counters of flow number `flow`, brought up to now.
    pub fn flow(&mut self, flow: usize) -> FlowCounters {
        self.hosts.flow(self.net.now(), flow)
    }

    /// Names and values of the state of a flow's sender, such as those of its congestion control.
    pub fn observe(&self, flow: usize, out: &mut Observer<'_>) {
        self.hosts.endpoints[2 * flow].observe(out);
    }
}
