//! What a receiving host measures of a flow's packets, one by one: how long they take, how much that
//! varies, and which ones never arrive.
//!
//! Whatever is measured begins with the end of the warm-up. A packet that arrives twice counts once.

mod delays;
mod losses;

use std::collections::BTreeMap;

pub use delays::Delays;
pub use losses::LossRuns;

use crate::packet::{Header, Packet};
use crate::units::{Span, Time};
use delays::Jitter;
use losses::Losses;

/// Measures the packets of a flow where they arrive.
#[derive(Clone, Debug, Default)]
pub struct Reception {
    losses: Losses,
    arrival: Delays,
    jitter: Jitter,
    /// Of a transport whose packets tell the order of its data, and when that was written.
    delivery: Option<Delivery>,
}

/// What came of it. Absent is what the transport's packets do not tell, and what has no value
/// because nothing arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReceptionFigures {
    /// Time from the sending of a data packet to its arrival: median, 95th and 99th percentile.
    pub arrival: Option<[Span; 3]>,
    /// Time from the application's write to the delivery in order, likewise.
    pub delivery: Option<[Span; 3]>,
    /// Mean over the arrivals of the jitter that RFC 3550 estimates, in seconds.
    pub jitter: Option<f64>,
    /// Packets of the sender, with data or without, that never arrived.
    pub losses: Option<LossRuns>,
}

impl Reception {
    /// A packet of the flow's sender arrives.
    pub fn on_packet(&mut self, now: Time, packet: &Packet) {
        match &packet.header {
            Header::Segment(segment) => {
                let first = self.losses.arrives(packet.index);
                if segment.payload > 0 {
                    if first {
                        self.on_data(now.since(segment.sent_at));
                    }
                    let delivery = self.delivery.get_or_insert_with(Delivery::new);
                    delivery.arrives(now, segment.seq, segment.written_at);
                }
            }
            // Sent when it was written.
            Header::Datagram(datagram) => {
                if self.losses.arrives(datagram.seq) {
                    self.on_data(now.since(datagram.written_at));
                }
            }
            Header::Ack(_) | Header::Opaque(_) => {
                self.losses.arrives(packet.index);
            }
        }
    }

    fn on_data(&mut self, delay: Span) {
        self.arrival.add(delay);
        self.jitter.add(delay);
    }

    /// What has been measured so far. Datagrams are delivered as they arrive.
    pub fn figures(&self) -> ReceptionFigures {
        let arrival = self.arrival.quantiles();
        ReceptionFigures {
            arrival,
            delivery: self.delivery.as_ref().map_or(arrival, |data| data.delays.quantiles()),
            jitter: self.jitter.mean(),
            losses: (!self.losses.is_empty()).then(|| self.losses.runs()),
        }
    }

    /// The warm-up is over.
    pub fn end_warmup(&mut self) {
        self.losses.end_warmup();
        self.arrival.clear();
        self.jitter.end_warmup();
        if let Some(delivery) = &mut self.delivery {
            delivery.delays.clear();
        }
    }
}

/// Segments in order: each is delivered when all before it have arrived.
#[derive(Clone, Debug)]
struct Delivery {
    /// Next segment expected.
    next: u32,
    /// Segments above it, and when they were written.
    waiting: BTreeMap<u32, Time>,
    delays: Delays,
}

impl Delivery {
    /// Data begins at segment 1.
    fn new() -> Self {
        Delivery { next: 1, waiting: BTreeMap::new(), delays: Delays::default() }
    }

    fn arrives(&mut self, now: Time, segment: u32, written_at: Time) {
        if segment > self.next {
            self.waiting.insert(segment, written_at);
            return;
        }
        if segment < self.next {
            return;
        }
        let mut written = Some(written_at);
        while let Some(at) = written {
            self.delays.add(now.since(at));
            self.next += 1;
            written = self.waiting.remove(&self.next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Datagram, Flags, TcpSegment};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn datagram(seq: u32, written_at: Time) -> Packet {
        let header = Header::Datagram(Datagram { payload: 100, seq, written_at });
        Packet { header, ..Packet::default() }
    }

    fn segment(index: u32, seq: u32, sent_at: Time) -> Packet {
        let segment = TcpSegment { payload: 1448, seq, sent_at, ..TcpSegment::default() };
        Packet { index, header: Header::Segment(segment), ..Packet::default() }
    }

    #[test]
    fn datagrams_are_delivered_as_they_arrive() {
        let mut reception = Reception::default();
        assert_eq!(reception.figures(), ReceptionFigures::default());
        // 2 is lost; 3 comes twice, the second time much later, and counts once.
        for (seq, delay) in [(0, 10), (1, 10), (3, 10), (3, 900), (4, 10)] {
            let sent = at(u64::from(seq) * 20);
            reception.on_packet(sent + Span::from_millis(delay), &datagram(seq, sent));
        }
        let ten = Some([Span::from_millis(10); 3]);
        let losses = Some(LossRuns { expected: 5, runs: 1, packets: 1, longest: 1 });
        let expected = ReceptionFigures { arrival: ten, delivery: ten, jitter: Some(0.0), losses };
        assert_eq!(reception.figures(), expected);
    }

    /// Segment 2, the third packet, is lost, and comes again as the fifth: those behind it wait.
    #[test]
    fn segments_wait_for_those_before_them() {
        let mut reception = Reception::default();
        let syn = TcpSegment { flags: Flags::SYN, ..TcpSegment::default() };
        let syn = Packet { header: Header::Segment(syn), ..Packet::default() };
        reception.on_packet(at(5), &syn);
        for (index, seq, sent) in [(1, 1, 10), (3, 3, 10), (4, 4, 10), (5, 2, 100)] {
            reception.on_packet(at(sent + 10), &segment(index, seq, at(sent)));
        }
        let figures = reception.figures();
        assert_eq!(figures.arrival, Some([Span::from_millis(10); 3]));
        let losses = LossRuns { expected: 6, runs: 1, packets: 1, longest: 1 };
        assert_eq!(figures.losses, Some(losses));
        // All were written at 0: one is delivered at 20 ms, and three are at 110 ms.
        let delays = &reception.delivery.as_ref().unwrap().delays;
        assert_eq!(delays.histogram().total(), 4);
        for (p, ms) in [(0.25, 20.0), (0.26, 110.0), (0.99, 110.0)] {
            let told = delays.quantile(p).unwrap().as_millis_f64();
            assert!((told / ms - 1.0).abs() <= 1.0 / 128.0, "{p}: {told}");
        }
        assert_eq!(figures.delivery, delays.quantiles());
    }

    #[test]
    fn the_warm_up_is_forgotten() {
        let mut reception = Reception::default();
        for seq in [0, 4] {
            reception.on_packet(at(500), &datagram(seq, at(0)));
        }
        reception.end_warmup();
        for seq in [5, 6] {
            reception.on_packet(at(620), &datagram(seq, at(600)));
        }
        let figures = reception.figures();
        assert_eq!(figures.arrival, Some([Span::from_millis(20); 3]));
        assert_eq!(figures.losses, Some(LossRuns { expected: 2, ..LossRuns::default() }));
    }
}
