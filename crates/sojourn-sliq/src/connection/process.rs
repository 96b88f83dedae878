//! Processing of arriving datagrams.

use super::handshake::State;
use super::overview::places;
use super::{Connection, Event};
use crate::clock::distance;
use crate::payload::Payload;
use crate::wire::{Ack, Data, Datagram, Measurement, Message, ReceivedCount, Sync, Train};
use sojourn_base::units::{Span, Time};

impl<P: Payload> Connection<P> {
    /// A datagram arrived from the peer; its payload is moved out of it.
    pub fn on_datagram(&mut self, now: Time, datagram: &mut Datagram<P>) {
        self.delivery_delays.clear();
        match datagram {
            Datagram::Message(message) if self.state == State::Connected => {
                self.on_message(now, message);
            }
            Datagram::Train(train) if self.state == State::Connected => self.on_train(now, train),
            Datagram::Handshake(handshake) => self.on_handshake(now, handshake),
            Datagram::CreateStream(header) => self.on_create(header),
            Datagram::Close(close) => self.on_close(*close),
            _ => {}
        }
    }

    #[cold]
    fn on_train(&mut self, now: Time, train: &Train) {
        self.on_stamps(now, train.stamp, Some(train.delta));
        self.heed_controls();
        if let Some(lane) = self.shared.lanes.get_mut(usize::from(train.control)) {
            lane.control.on_train(now, train);
        }
    }

    fn on_message(&mut self, now: Time, message: &mut Message<P>) {
        let overhead = message.overhead();
        if let Some(sync) = message.sync {
            self.on_sync(now, sync);
        }
        if let Some(count) = message.count {
            self.on_count(now, &count);
        }
        if let Some(measurement) = message.measurement {
            self.on_measurement(measurement);
        }
        if let Some(ack) = &message.ack {
            self.on_ack(now, ack);
        }
        if let Some((data, payload)) = &mut message.data {
            let size = overhead + data.size() + payload.len();
            self.on_data(now, data, std::mem::take(payload), size);
        }
    }

    #[inline(never)] // few controls tell each other anything
    fn on_sync(&mut self, now: Time, sync: Sync) {
        if let Some(lane) = self.shared.lanes.get_mut(usize::from(sync.control)) {
            lane.control.on_sync(now, sync.seq, sync.value);
            self.heed_controls();
        }
    }

    /// Records the difference of the two clocks, and the one-way delay where it is needed.
    fn on_stamps(&mut self, now: Time, stamp: u32, delta: Option<u32>) {
        let ours = self.shared.clock.stamp(now);
        self.shared.delta = ours.wrapping_sub(stamp).max(1);
        if self.shared.clock.is_shown() && stamp != 0 {
            let remote = delta.filter(|delta| *delta != 0).map(|delta| distance(delta, 0));
            self.delays.clocks.on_packet(now, distance(ours, stamp), remote);
        }
        let known = |delta: &u32| *delta != 0 && stamp != 0;
        let Some(theirs) = delta.filter(|delta| self.shared.with_delta && known(delta)) else {
            return;
        };
        let (local, remote) = (distance(ours, stamp), distance(theirs, 0));
        let delay = self.delays.on_packet(now, local, remote);
        self.shared.rtt.on_delay(now, delay);
    }

    fn on_data(&mut self, now: Time, data: &Data, payload: P, size: usize) {
        let Some(at) = self.position(data.stream) else { return };
        self.on_stamps(now, data.stamp, data.delta);
        self.received = ReceivedCount {
            stream: data.stream,
            retransmissions: data.retransmissions,
            seq: data.seq,
            received: self.received.received.wrapping_add(1),
        };
        self.received_since += 1;
        if self.outage.is_some() {
            self.leave_outage(now, true);
        }
        self.heard_at = Some(now);
        let stream = &mut self.streams[at];
        let had_gap = stream.receiver.has_gap();
        let arrival = stream.receiver.on_data(now, data, payload);
        self.overview.note_receiver(at, &stream.receiver);
        if stream.receiver.finished() && !std::mem::replace(&mut stream.ended, true) {
            self.events.push_back(Event::StreamEnded(data.stream));
        }
        self.schedule_ack(now, at, size, had_gap, arrival);
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        let Some(at) = self.position(ack.stream) else { return };
        self.on_stamps(now, ack.stamp, Some(ack.delta));
        let leaving = self.outage.is_some();
        if leaving {
            self.leave_outage(now, false);
        }
        self.heard_at = Some(now);
        self.heed_controls();
        let mut rtts = self.rtts;
        let mut delays = std::mem::take(&mut self.delivery_delays);
        let note = |rtt: Span, delay: Option<Span>| {
            rtts.sum += rtt;
            rtts.count += 1;
            rtts.latest = rtt;
            rtts.least = Some(rtts.least.map_or(rtt, |least| least.min(rtt)));
            delays.extend(delay.map(|delay| (ack.stream, delay)));
        };
        let acked = self.with_sender(at, |sender, shared| sender.on_ack(now, ack, shared, note));
        let stream = &mut self.streams[at];
        let finished = stream.sender.finished();
        if finished && !std::mem::replace(&mut stream.finished, true) {
            self.events.push_back(Event::StreamFinished(ack.stream));
        }
        (self.rtts, self.delivery_delays) = (rtts, delays);
        let acked = acked.unwrap_or_default();
        self.largest_order = self.largest_order.max(acked.largest_order);
        self.after_ack(now, acked.new_data, leaving);
        let order = self.largest_order;
        for other in places(self.overview.unacked & !(1 << at)) {
            self.with_sender(other, |sender, shared| sender.on_implicit_ack(now, order, shared));
        }
        self.shared.end_acks(now);
    }

    #[cold]
    fn on_count(&mut self, now: Time, count: &ReceivedCount) {
        let Some(stream) = self.stream(count.stream) else { return };
        let sent = stream.sender.count_of(count.seq, count.retransmissions);
        self.shared.per.on_count(now, count, sent);
    }

    #[cold]
    fn on_measurement(&mut self, measurement: Measurement) {
        let newer =
            self.peer_measurement.is_none_or(|last| measurement.seq.wrapping_sub(last) as i16 > 0);
        if newer {
            self.peer_measurement = Some(measurement.seq);
            self.shared.max_delay = Some(f64::from(measurement.max_delay) * 1e-6);
        }
    }
}
