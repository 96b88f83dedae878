//! What connections of one kind have in common: their keys, their way through the network.

use super::connection::Transfer;
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
    /// Propagation delay from the receiver to the sender.
    pub delay_back: Span,
    /// Whether their senders are stations of a shared medium.
    pub small_queue: bool,
    /// Whether they send datagrams: no handshake, and nothing is acknowledged.
    pub datagrams: bool,
    /// IP and transport headers of a data packet, in bytes.
    pub headers: u32,
    /// The capture of their packets at their hosts, if they are captured.
    pub captured: Option<Captured>,
    /// The slowest link of their data, and that of their requests.
    pub slowest: [Slowest; 2],
}

/// Rate of a way's slowest link, if any has one, and overhead per packet there.
pub(in crate::sim) type Slowest = Option<(Rate, u32)>;

impl Path {
    /// The slowest of the links that have a rate.
    pub(in crate::sim) fn slowest<'a>(links: impl Iterator<Item = &'a LinkSpec>) -> Slowest {
        let rates = links.filter_map(|link| Some((link.nominal_rate()?, link.overhead.0 as u32)));
        rates.min_by_key(|(rate, _)| rate.as_bps())
    }

    /// The least time that a transfer takes: a round trip, another one for a handshake, and the
    /// transmission of its data over the slowest link. A request takes as long as its way and its
    /// transmission, and its server's time. Datagrams arrive after half a round trip, and nothing comes
    /// back.
    pub(super) fn ideal(&self, transfer: &Transfer, handshake: bool) -> Span {
        let [there, back] = self.slowest;
        let sent = self.transmission(transfer.size, there);
        if self.datagrams {
            return self.base_rtt / 2 + sent;
        }
        let asked = transfer.request.map_or(Span::ZERO, |request| {
            self.delay_back + self.transmission(request, back) + transfer.server_time
        });
        let trips = if handshake { 2 } else { 1 };
        self.base_rtt * trips + sent + asked
    }

    /// The time that payload with its headers and framing takes over a link.
    fn transmission(&self, payload: u64, link: Slowest) -> Span {
        link.map_or(Span::ZERO, |(rate, overhead)| {
            let packets = payload.div_ceil(self.flow.mss.into());
            let wire = payload + packets * u64::from(self.headers + overhead);
            Span::from_secs_f64(8.0 * wire as f64 / rate.as_bps() as f64)
        })
    }
}
