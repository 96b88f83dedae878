//! SLIQ's two ends in the simulator.

use std::collections::VecDeque;
use std::sync::Arc;

use super::connection::{Connection, Event};
use super::mailbox::{Mailbox, Spare};
use super::stream::StreamConfig;
use super::virtual_payload::Virtual;
use super::wire::{Datagram, UNDERLAY};
use sojourn_base::counters::FlowCounters;
use sojourn_base::counters::histogram::Histogram;
use sojourn_base::counters::reception::ReceptionFigures;
use sojourn_base::endpoint::{Datagrams, Endpoint};
use sojourn_base::observe::Observer;
use sojourn_base::packet::{Address, Ecn, Header, Opaque, Packet};
use sojourn_base::units::{Span, Time};

mod counters;

use counters::{Arrivals, Departures};

/// The stream that a flow uses.
const STREAM: u8 = 1;

/// Parameters of an end of a flow.
#[derive(Clone, Debug)]
pub(crate) struct EndInit {
    /// Address of its packets.
    pub address: Address,
    /// Mailboxes of what it sends, and of what it receives.
    pub boxes: [Mailbox<Virtual>; 2],
    /// Payload of a message.
    pub mss: u16,
    /// Messages that wait in the stream before the application writes more.
    pub queue: usize,
    /// The stream, at the end that creates it.
    pub stream: Option<StreamConfig>,
    /// Whether it sends an endless amount of data as soon as it can.
    pub greedy: bool,
    /// ECN codepoint of its packets; there is no ECN feedback.
    pub ecn: Ecn,
    /// Messages that take longer than this are late.
    pub deadline: Option<Span>,
}

/// One end.
#[derive(Debug)]
pub(crate) struct End {
    init: EndInit,
    connection: Connection<Virtual>,
    /// Place of the datagram being sent or received.
    datagram: Box<Datagram<Virtual>>,
    spare: Spare<Virtual>,
    now: Time,
    /// Written and not handed to the stream: bytes, and when.
    unsent: VecDeque<(u64, Time)>,
    closed: bool,
    sent: Departures,
    received: Arrivals,
}

impl End {
    /// An end of a connection that does not exist yet.
    pub(crate) fn new(init: EndInit, connection: Connection<Virtual>) -> Self {
        let received = Arrivals::new(init.deadline);
        let sent = Departures::default();
        let now = Time::ZERO;
        let (datagram, unsent) = (Box::default(), VecDeque::new());
        let spare = Spare::default();
        End { init, connection, datagram, spare, now, unsent, closed: false, sent, received }
    }

    /// Writes messages to the stream as long as it accepts them.
    fn feed(&mut self, now: Time) {
        if self.unsent.is_empty() && !self.closed {
            return;
        }
        let room = self.init.queue.saturating_sub(self.connection.queued(STREAM));
        for _ in 0..room {
            let Some((left, at)) = self.unsent.front_mut() else { break };
            let bytes = (*left).min(self.init.mss.into()) as u16;
            let endless = *left == u64::MAX;
            let message = Virtual::new(bytes, if endless { now } else { *at });
            if !endless {
                *left -= u64::from(bytes);
            }
            if *left == 0 {
                self.unsent.pop_front();
            }
            self.sent.written_bytes += if endless { u64::from(bytes) } else { 0 };
            self.connection.write(now, STREAM, message);
        }
        if self.closed && self.unsent.is_empty() {
            self.connection.finish(STREAM);
        }
    }

    fn on_events(&mut self, now: Time) {
        while let Some(event) = self.connection.poll_event() {
            self.on_event(now, event);
        }
        while let Some(delivered) = self.connection.read(STREAM) {
            self.received.on_message(now, &delivered);
        }
    }

    #[inline(never)] // a few per stream
    fn on_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Connected => self.sent.established_at = Some(now),
            Event::StreamOpen(_) if self.init.greedy => self.unsent.push_back((u64::MAX, now)),
            Event::StreamFinished(_) => {
                self.sent.completed_at = Some(now);
                self.connection.close(now, 0);
            }
            _ => {}
        }
    }

    /// Integrals and distributions up to `now`.
    fn settle(&mut self, now: Time) {
        let outage = self.connection.outage().is_some();
        let since = self.sent.pass(now, outage);
        if self.init.stream.is_some() {
            self.sent.integrate(since, &self.connection.levels(), self.init.mss.into());
        }
        self.now = now;
    }
}

impl Endpoint for End {
    fn on_packet(&mut self, now: Time, packet: &Packet) {
        let Header::Opaque(Opaque { handle, .. }) = packet.header else { return };
        if !self.init.boxes[1].get(handle, &mut self.datagram, &mut self.spare) {
            return;
        }
        self.settle(now);
        if packet.ecn == Ecn::Ce {
            self.received.marks += 1;
        }
        self.connection.on_datagram(now, &mut self.datagram);
        self.on_events(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.feed(now);
        if !self.connection.poll_transmit(now, &mut self.datagram) {
            return None;
        }
        let size = self.datagram.size() as u32 + UNDERLAY;
        let payload = match &*self.datagram {
            Datagram::Message(message) => {
                message.data.as_ref().map_or(0, |(_, payload)| payload.bytes)
            }
            _ => 0,
        };
        self.sent.count(size, payload);
        let handle = self.init.boxes[0].put(&mut self.datagram, &mut self.spare);
        let header = Header::Opaque(Opaque { payload, handle });
        let index = self.sent.packets() - 1;
        Some(Packet { ecn: self.init.ecn, ..self.init.address.packet(index, size, header) })
    }

    fn next_timeout(&self) -> Option<Time> {
        // What is not written yet is offered all the time.
        if self.unsent.is_empty() {
            self.connection.next_timeout(self.now)
        } else {
            self.connection.next_offer(self.now)
        }
    }

    fn on_timeout(&mut self, now: Time) {
        self.settle(now);
        self.connection.on_timeout(now);
        self.on_events(now);
    }

    fn report(&mut self, now: Time, counters: &mut FlowCounters) {
        self.settle(now);
        if self.init.stream.is_some() {
            self.sent.report(&self.connection.measured(), counters);
        } else {
            let counts = self.connection.counts(STREAM);
            self.received.report(counts, self.sent.outage_time, counters);
            self.sent.report_acks(counters);
        }
    }

    fn open(&mut self, now: Time) {
        self.settle(now);
        self.connection.connect(now);
        if let Some(stream) = self.init.stream {
            // The properties were checked with the scenario.
            let _ = self.connection.create_stream(now, STREAM, stream);
        }
    }

    fn write(&mut self, now: Time, bytes: u64) {
        self.settle(now);
        self.unsent.push_back((bytes, now));
        if bytes != u64::MAX {
            self.sent.written_bytes += bytes;
        }
    }

    fn close(&mut self, now: Time) {
        self.settle(now);
        self.closed = true;
    }

    fn stop(&mut self, now: Time) {
        self.unsent.clear();
        self.connection.forget_queue(STREAM);
        self.close(now);
    }

    fn datagrams(&self) -> Option<Arc<dyn Datagrams>> {
        Some(Arc::new(self.init.boxes[0].clone()))
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.connection.observe(out);
    }

    fn rtt_histogram(&self) -> Option<&Histogram> {
        self.init.stream.is_some().then_some(&self.sent.rtts)
    }

    fn reception(&self) -> ReceptionFigures {
        ReceptionFigures { delivery: self.received.delivery(), ..ReceptionFigures::default() }
    }

    fn end_warmup(&mut self) {
        self.sent.rtts.clear();
        self.received.end_warmup();
    }
}
