//! The flows of a capture: the data of each side of a connection.

use std::cmp::Reverse;

use sojourn_base::units::Span;
use sojourn_net::record::{FlowCounters, FlowFacts};

use crate::connections::Connection;
use crate::observed::Observed;

/// Flows that are measured: those with the most payload.
const MOST_FLOWS: usize = 1_000;

/// The data of a side of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its sender and its receiver, each an address and a port.
    pub label: String,
    /// Whether it goes over TCP; else over UDP.
    pub tcp: bool,
    /// Whether the capture shows what its sender sees; `None` if that cannot be told.
    pub at_sender: Option<bool>,
    /// The least RTT, where the sender's are known.
    pub rtt: Option<Span>,
    pub(crate) connection: usize,
    pub(crate) side: usize,
}

/// The flows with the most payload, in the order in which they begin; those of a run in the order of
/// their receivers' ports, which is that of the scenario.
pub(crate) fn flows(connections: &[Connection], ours: bool) -> Vec<Flow> {
    let numbered = connections.iter().enumerate();
    let mut flows: Vec<Flow> = numbered
        .flat_map(|(number, connection)| {
            connection.senders().map(move |side| Flow::of(connection, number, side, ours))
        })
        .collect();
    if flows.len() > MOST_FLOWS {
        flows.sort_by_key(|flow| Reverse(connections[flow.connection].sent[flow.side].payload));
        flows.truncate(MOST_FLOWS);
        flows.sort_by_key(|flow| (flow.connection, flow.side));
    }
    if ours {
        flows.sort_by_key(|flow| connections[flow.connection].key.ends[1 - flow.side].port());
    }
    flows
}

impl Flow {
    fn of(connection: &Connection, number: usize, side: usize, ours: bool) -> Self {
        let [sender, receiver] = [side, 1 - side].map(|side| connection.key.ends[side]);
        let nearer = connection.nearer().map(|nearer| nearer == side);
        Flow {
            label: format!("{sender} > {receiver}"),
            tcp: connection.key.tcp,
            at_sender: if ours { Some(true) } else { nearer },
            rtt: None,
            connection: number,
            side,
        }
    }

    pub(crate) fn knows_rtt(&self) -> bool {
        self.at_sender == Some(true)
    }

    pub(crate) fn counters(&self, seen: &Observed) -> FlowCounters {
        let all = seen.counters.report(self.tcp);
        let (window, rtt) = (all.window, all.rtt);
        let known = self.knows_rtt();
        FlowCounters {
            rate: None,
            limits: None,
            window: window.filter(|_| known),
            rtt: rtt.filter(|_| known),
            ..all
        }
    }

    pub(crate) fn facts(&self, connection: &Connection) -> FlowFacts {
        let sent = connection.sent[self.side];
        FlowFacts {
            base_rtt: self.rtt.unwrap_or_default(),
            mss: u32::from(sent.largest_payload).max(1),
            full_packet: sent.largest_packet,
            start: connection.first,
            stop: connection.first + connection.lasted(),
        }
    }
}
