//! What connections of one kind have in common: their keys, their way through the network.

use crate::edge::link::LinkSpec;
use crate::packet::Address;
use crate::sim::recorded::Captured;
use crate::spec::FlowSpec;
use crate::units::{Rate, Span};

/// A kind of connections of an entry.
#[derive(Clone, Debug)]
pub(in crate::sim) struct Path {
    /// Their keys.
    pub flow: FlowSpec,
    /// Addresses of their packets there and back, but for flow number and sockets.
    pub addresses: [Address; 2],
    /// Round-trip propagation delay.
    pub base_rtt: Span,
    /// Whether their senders are stations of a shared medium.
    pub small_queue: bool,
    /// Whether they send datagrams: no handshake, and nothing is acknowledged.
    pub datagrams: bool,
    /// IP and transport headers of a data packet, in bytes.
    pub headers: u32,
    /// The capture of their packets at their hosts, if they are captured.
    pub captured: Option<Captured>,
    /// The slowest link of their data, and its overhead per packet.
    pub slowest: Option<(Rate, u32)>,
}

impl Path {
    /// The slowest of the links that have a rate.
    pub(in crate::sim) fn slowest<'a>(
        links: impl Iterator<Item = &'a LinkSpec>,
    ) -> Option<(Rate, u32)> {
        let rates = links.filter_map(|link| Some((link.nominal_rate()?, link.overhead.0 as u32)));
        rates.min_by_key(|(rate, _)| rate.as_bps())
    }

    /// The least time that `size` bytes take: a round trip, another one for a handshake, and their
    /// transmission over the slowest link. Datagrams arrive after half a round trip, and nothing
    /// comes back.
    pub(super) fn ideal(&self, size: u64, handshake: bool) -> Span {
        let packets = size.div_ceil(self.flow.mss.into());
        let sent = self.slowest.map_or(Span::ZERO, |(rate, overhead)| {
            let wire = size + packets * u64::from(self.headers + overhead);
            Span::from_secs_f64(8.0 * wire as f64 / rate.as_bps() as f64)
        });
        match (self.datagrams, handshake) {
            (true, _) => self.base_rtt / 2 + sent,
            (false, false) => self.base_rtt + sent,
            (false, true) => self.base_rtt * 2 + sent,
        }
    }
}
