//! KIND: one sentence that says what it promises its application.
//!
//! Model: where it is specified (paper, RFC section, source file and version).
//!
//! Say here what comes back to the sender and what is repaired; this header is the documentation
//! page. It sends what the application writes in packets of up to `mss` bytes, and repairs nothing.

use super::{Endpoint, Registered, TransportInit};
use crate::error::FieldError;
use crate::packet::{Address, Datagram, Header, Packet};
use crate::record::{FlowCounters, ReceiverCounters, SenderCounters};
use crate::registry::{Catalogue, NoParams};
use crate::units::Time;

/// KIND.
#[derive(Debug)]
pub(super) struct KIND;

impl Registered for KIND {
    type Params = NoParams;
    const HEADERS: u32 = 28;
    const CONTROLLED: bool = false;
    const REPAIRS: bool = false;

    fn endpoints(
        _params: NoParams,
        init: &TransportInit<'_>,
        _catalogue: &Catalogue,
    ) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
        let sender = Sender { address: init.addresses[0], mss: init.flow.mss, ..Sender::default() };
        Ok([Box::new(sender), Box::new(Receiver::default())])
    }
}

/// The end that sends.
#[derive(Debug, Default)]
struct Sender {
    address: Address,
    mss: u32,
    written: u64,
    unsent: u64,
    sent: u64,
    packets: u32,
}

impl Endpoint for Sender {
    fn write(&mut self, _now: Time, bytes: u64) {
        self.written += bytes;
        self.unsent += bytes;
    }

    fn stop(&mut self, _now: Time) {
        self.unsent = 0;
    }

    fn on_packet(&mut self, _now: Time, _packet: &Packet) {}

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let payload = self.unsent.min(self.mss.into()) as u16;
        if payload == 0 {
            return None;
        }
        let seq = self.packets;
        self.unsent -= u64::from(payload);
        self.sent += u64::from(payload);
        self.packets += 1;
        let header = Header::Datagram(Datagram { payload, seq, written_at: now });
        Some(self.address.packet(seq, u32::from(payload) + KIND::HEADERS, header))
    }

    fn report(&mut self, _now: Time, counters: &mut FlowCounters) {
        let packets = u64::from(self.packets);
        counters.sent = Some(SenderCounters {
            sent_bytes: self.sent,
            sent_packets: packets,
            wire_bytes_sent: self.sent + packets * u64::from(KIND::HEADERS),
            written_bytes: self.written,
        });
    }
}

/// The end that receives: packets that were duplicated come once.
#[derive(Debug, Default)]
struct Receiver {
    seen: std::collections::BTreeSet<u32>,
    delivered: u64,
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, _now: Time, packet: &Packet) {
        let Header::Datagram(datagram) = &packet.header else { return };
        if self.seen.insert(datagram.seq) {
            self.delivered += u64::from(datagram.payload);
        }
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        None
    }

    fn report(&mut self, _now: Time, counters: &mut FlowCounters) {
        counters.received = Some(ReceiverCounters {
            delivered_bytes: self.delivered,
            delivered_packets: self.seen.len() as u64,
            in_order_bytes: self.delivered,
            ..ReceiverCounters::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_arrives_once() {
        let mut sender = Sender { mss: 1000, ..Sender::default() };
        let mut receiver = Receiver::default();
        sender.write(Time::ZERO, 2_500);
        while let Some(packet) = sender.poll_transmit(Time::ZERO) {
            receiver.on_packet(Time::ZERO, &packet);
            receiver.on_packet(Time::ZERO, &packet);
        }
        let mut counters = FlowCounters::default();
        sender.report(Time::ZERO, &mut counters);
        receiver.report(Time::ZERO, &mut counters);
        let (sent, received) = (counters.sent.expect("sent"), counters.received.expect("received"));
        assert_eq!(sent.sent_packets, 3);
        assert_eq!([sent.written_bytes, received.delivered_bytes], [2_500, 2_500]);
    }
}
