//! UDP: datagrams sent as the application writes them, without feedback.
//!
//! Each write is a datagram of that payload, or several if it is larger than the flow's `mss`. The
//! receiver counts; a datagram that the network duplicated is recognised among the last 128.

use super::{Endpoint, Registered, TransportInit};
use crate::error::FieldError;
use crate::packet::{Address, Datagram, Ecn, Header, Packet, headers};
use crate::record::{FlowCounters, OrderCounters, ReceiverCounters, SenderCounters};
use crate::registry::{Catalogue, NoParams};
use crate::spec::EcnMode;
use crate::units::{Span, Time};

/// IPv4 and UDP headers.
pub const HEADERS: u32 = headers::IP + headers::UDP;

/// UDP between one sender and one receiver.
#[derive(Debug)]
pub struct Udp;

impl Registered for Udp {
    type Params = NoParams;
    const HEADERS: u32 = HEADERS;
    const CONTROLLED: bool = false;
    const REPAIRS: bool = false;

    fn endpoints(
        _params: NoParams,
        init: &TransportInit<'_>,
        _catalogue: &Catalogue,
    ) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
        let ecn = init.flow.ecn.unwrap_or_default();
        let init = UdpInit { forward: init.addresses[0], mss: init.flow.mss, ecn };
        Ok([Box::new(Sender::new(init)), Box::new(Receiver::new())])
    }
}

/// Parameters of both ends of a flow.
#[derive(Clone, Copy, Debug)]
pub struct UdpInit {
    /// Addresses of the sender's datagrams.
    pub forward: Address,
    /// Largest payload of a datagram in bytes.
    pub mss: u32,
    /// Determines the ECN codepoint of datagrams; there is no feedback.
    pub ecn: EcnMode,
}

/// The sending end.
#[derive(Debug)]
pub struct Sender {
    init: UdpInit,
    /// Payload written and not yet sent, and the time of the write.
    unsent: u64,
    written_at: Time,
    written_bytes: u64,
    sent_packets: u64,
    sent_bytes: u64,
}

impl Sender {
    /// A sender that has sent nothing yet.
    pub fn new(init: UdpInit) -> Self {
        Sender {
            init,
            unsent: 0,
            written_at: Time::ZERO,
            written_bytes: 0,
            sent_packets: 0,
            sent_bytes: 0,
        }
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, _now: Time, _packet: &Packet) {}

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        let payload = self.unsent.min(self.init.mss.into()) as u16;
        if payload == 0 {
            return None;
        }
        let number = self.sent_packets as u32;
        self.unsent -= u64::from(payload);
        self.sent_packets += 1;
        self.sent_bytes += u64::from(payload);
        let header = Datagram { payload, seq: number, written_at: self.written_at };
        let size = u32::from(payload) + HEADERS;
        let ecn = match self.init.ecn {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::L4s => Ecn::Ect1,
            _ => Ecn::Ect0,
        };
        Some(Packet { ecn, ..self.init.forward.packet(number, size, Header::Datagram(header)) })
    }

    fn report(&mut self, _now: Time, counters: &mut FlowCounters) {
        let headers = self.sent_packets * u64::from(HEADERS);
        counters.sent = Some(SenderCounters {
            sent_bytes: self.sent_bytes,
            sent_packets: self.sent_packets,
            wire_bytes_sent: self.sent_bytes + headers,
            written_bytes: self.written_bytes,
        });
    }

    fn exchanged(&self) -> Option<[u64; 2]> {
        Some([self.sent_packets, 0])
    }

    fn write(&mut self, now: Time, bytes: u64) {
        self.unsent = self.unsent.saturating_add(bytes);
        self.written_bytes = self.written_bytes.saturating_add(bytes);
        self.written_at = now;
    }

    fn stop(&mut self, _now: Time) {
        self.unsent = 0;
    }
}

/// The receiving end.
#[derive(Debug, Default)]
pub struct Receiver {
    received: ReceiverCounters,
    order: OrderCounters,
    last_arrival: Option<Time>,
    window: Window,
}

impl Receiver {
    /// A receiver that has received nothing yet.
    pub fn new() -> Self {
        Receiver::default()
    }

    /// Updates the smoothed time between arrivals, with gain 1/8.
    fn measure_gap(&mut self, now: Time) {
        if let Some(last) = self.last_arrival.replace(now) {
            let gap = now.since(last).as_nanos();
            let smooth = self.received.idt_ewma.as_nanos();
            let next = if smooth == 0 { gap } else { smooth - smooth / 8 + gap / 8 };
            self.received.idt_ewma = Span::from_nanos(next);
        }
    }
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, now: Time, packet: &Packet) {
        let Header::Datagram(datagram) = &packet.header else { return };
        self.measure_gap(now);
        let received = &mut self.received;
        match packet.ecn {
            Ecn::Ce => received.ce_received += 1,
            Ecn::Ect1 => received.sce_received += 1,
            _ => {}
        }
        let overtaken = datagram.seq < self.window.next;
        if !self.window.is_new(datagram.seq) {
            received.duplicates_received += 1;
            return;
        }
        self.order.reordered_packets += u64::from(overtaken);
        received.delivered_bytes += u64::from(datagram.payload);
        received.delivered_packets += 1;
        received.in_order_bytes = received.delivered_bytes;
        received.one_way_delay_sum += now.since(datagram.written_at);
        received.one_way_delay_count = received.delivered_packets;
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        None
    }

    fn arrived(&self) -> u64 {
        self.received.delivered_bytes
    }

    fn exchanged(&self) -> Option<[u64; 2]> {
        Some([0, self.received.delivered_packets + self.received.duplicates_received])
    }

    fn report(&mut self, _now: Time, counters: &mut FlowCounters) {
        counters.received = Some(self.received);
        counters.order = Some(self.order);
    }
}

/// The last 128 numbers below the next expected one: which of them have arrived.
#[derive(Debug, Default)]
struct Window {
    next: u32,
    seen: u128,
}

impl Window {
    /// Whether `number` arrives for the first time, as far back as the window reaches.
    fn is_new(&mut self, number: u32) -> bool {
        if number >= self.next {
            let ahead = number - self.next + 1;
            self.seen = self.seen.checked_shl(ahead).unwrap_or(0) | 1;
            self.next = number.wrapping_add(1);
            return true;
        }
        let bit = 1u128.checked_shl(self.next - 1 - number).unwrap_or(0);
        let new = self.seen & bit == 0;
        self.seen |= bit;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Direction, Dscp, FiveTuple, Route};

    const ADDRESS: Address = Address {
        flow: 3,
        direction: Direction::Forward,
        dscp: Dscp::BEST_EFFORT,
        route: Route::at(0),
        socket: 7,
        tuple: FiveTuple::of_flow(3),
    };
    const INIT: UdpInit = UdpInit { forward: ADDRESS, mss: 1448, ecn: EcnMode::Off };

    #[test]
    fn a_write_is_a_datagram_or_several() {
        let mut sender = Sender::new(INIT);
        sender.write(Time::ZERO, 100);
        let sizes = |sender: &mut Sender| -> Vec<u32> {
            std::iter::from_fn(|| sender.poll_transmit(Time::ZERO)).map(|p| p.size).collect()
        };
        assert_eq!(sizes(&mut sender), [128]);
        sender.write(Time::ZERO, 3000);
        assert_eq!(sizes(&mut sender), [1476, 1476, 132]);
    }

    #[test]
    fn duplicates_are_recognised_however_reordered() {
        let mut receiver = Receiver::new();
        for (ms, seq) in [0, 1, 5, 3, 5, 3, 130, 4, 131, 131].into_iter().enumerate() {
            let now = Time::from_nanos(ms as u64 * 1_000_000);
            let header = Header::Datagram(Datagram { seq, payload: 10, written_at: now });
            receiver.on_packet(now, &Packet { header, ..Packet::default() });
        }
        let mut counters = FlowCounters::default();
        receiver.report(Time::ZERO, &mut counters);
        let received = counters.received.unwrap();
        assert_eq!((received.delivered_packets, received.duplicates_received), (7, 3));
        assert_eq!(counters.order.unwrap().reordered_packets, 2, "3 and 4");
        assert_eq!(received.idt_ewma, Span::from_millis(1));
    }
}
