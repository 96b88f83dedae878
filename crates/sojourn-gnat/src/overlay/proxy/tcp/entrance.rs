//! Entrance of a TCP flow: data is forwarded from its host's connection at the admitted rate.

use super::connection::{BETWEEN, sender};
use super::gate::Gate;
use crate::overlay::admission::Admission;
use sojourn_base::endpoint::Endpoint;
use sojourn_base::units::Time;
use sojourn_tcp::tcp::{Receiver, Sender, TcpInit};

/// A flow at the node where it enters the overlay.
pub(super) struct Entrance {
    /// Its host's connection.
    pub host: Receiver,
    /// The connection to the other proxy.
    pub between: Sender,
    /// Its admission.
    pub gate: Gate,
}

impl Entrance {
    /// An entrance with these connections.
    pub(super) fn new(host: TcpInit, between: TcpInit, admission: Admission) -> Self {
        Entrance {
            host: Receiver::new(host).with_reader(),
            between: sender(between, Some(BETWEEN)),
            gate: Gate::new(admission),
        }
    }

    /// Forwards as much data as its rate permits; returns the time of the next call.
    pub(super) fn admit(&mut self, now: Time, mss: u32, depth: f64) -> Option<Time> {
        let rate = self.gate.look(now, mss, depth);
        loop {
            let bytes = self.host.readable().min(u64::from(mss)).min(self.between.room());
            if bytes == 0 {
                return None;
            }
            if let Err(at) = self.gate.pass(now, rate, bytes) {
                return Some(at);
            }
            self.host.read(now, bytes);
            self.between.write(now, bytes);
        }
    }
}
