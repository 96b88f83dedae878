//! The controls of a connection, each with its outstanding packets, and the state that streams
//! share.

use super::capacity::Capacity;
use super::clock::{Clock, Moment};
use super::control::{Control, Flight, TOLERANCE, View, held};
use super::measure::ErrorRate;
use super::rtt::Rtt;
use sojourn_base::units::{Span, Time};

/// A control and its packets.
#[derive(Debug)]
pub(crate) struct Lane {
    /// The control.
    pub control: Box<dyn Control>,
    /// Its outstanding packets.
    pub flight: Flight,
    /// Number of its next packet.
    pub next: u64,
    una: u64,
    /// By stream: its first packet of this control that is not acknowledged.
    oldest: Vec<Option<u64>>,
    in_ack: bool,
    change: Flight,
}

impl Lane {
    /// For a new connection.
    pub(crate) fn new(control: Box<dyn Control>) -> Self {
        Lane {
            control,
            flight: Flight::default(),
            next: 0,
            una: 0,
            oldest: Vec::new(),
            in_ack: false,
            change: Flight::default(),
        }
    }

    /// The control's view of the connection.
    pub(crate) fn view(&self, now: Time, srtt: Span) -> View {
        View { now, srtt, flight: self.flight, next: self.next, una: self.una }
    }

    /// A stream's first packet of this control that is not acknowledged, if any.
    pub(crate) fn report_oldest(&mut self, stream: usize, oldest: Option<u64>) {
        if self.oldest.len() <= stream {
            self.oldest.resize(stream + 1, None);
        }
        // Without any, the next packet to be sent counts.
        if oldest.is_some() && self.oldest[stream] == oldest {
            return;
        }
        self.oldest[stream] = oldest;
        self.una = self.oldest.iter().flatten().copied().min().unwrap_or(self.next);
    }

    /// An ACK concerns a packet of this control.
    pub(crate) fn start_ack(&mut self, now: Time, srtt: Span) {
        if !self.in_ack {
            self.in_ack = true;
            let view = self.view(now, srtt);
            self.control.on_ack_start(&view);
        }
    }

    /// Removes a packet of `bytes` from the outstanding ones, once the ACK is processed.
    pub(crate) fn leaves(&mut self, bytes: u32, lost: bool, resent: bool) {
        let bytes = i64::from(bytes);
        self.change.packets += 1;
        self.change.bytes += bytes;
        self.change.pipe += if lost { 0 } else { bytes } + if resent { bytes } else { 0 };
    }

    /// Marks a packet of `bytes` lost, once the ACK is processed.
    pub(crate) fn loses(&mut self, bytes: u32) {
        self.change.pipe += i64::from(bytes);
    }

    fn settle(&mut self) {
        let change = std::mem::take(&mut self.change);
        self.flight.packets -= change.packets;
        self.flight.bytes -= change.bytes;
        self.flight.pipe -= change.pipe;
    }
}

/// State that the streams of a connection share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Controls, in the order of preference.
    pub lanes: Vec<Lane>,
    /// RTT.
    pub rtt: Rtt,
    /// Packet error rate.
    pub per: ErrorRate,
    /// Capacity.
    pub capacity: Capacity,
    /// The wire's clock.
    pub clock: Clock,
    /// Data packets sent, retransmissions and probes included.
    pub data_sent: u32,
    /// New packets sent, over all streams.
    pub order: u64,
    /// Latest difference of clocks measured here: arrival less timestamp.
    pub delta: u32,
    /// The largest one-way delay to the peer, as it reports, in seconds.
    pub max_delay: Option<f64>,
    /// Sending rate of all controls together, in bit/s, as of the latest estimate.
    pub send_rate: f64,
    /// Whether data packets carry the difference of clocks.
    pub with_delta: bool,
}

impl Shared {
    /// The first control that permits a packet of `bytes` now: a new one, or with `again` a
    /// retransmission.
    pub(crate) fn permits(&self, now: Time, bytes: u32, again: bool) -> Option<usize> {
        let srtt = self.rtt.smoothed();
        self.lanes.iter().position(|lane| {
            if held(lane.control.next_send(), now) {
                return false;
            }
            let view = lane.view(now, srtt);
            if again {
                lane.control.can_resend(&view, bytes)
            } else {
                lane.control.can_send(&view, bytes)
            }
        })
    }

    /// Earliest end of the pacing delays of the controls that pacing holds back now.
    pub(crate) fn held_until(&self, now: Time) -> Time {
        let next = self.lanes.iter().map(|lane| lane.control.next_send());
        let held = next.filter(|next| held(*next, now)).min();
        held.map_or(Time::NEVER, |next| Time::ZERO + next.since(Time::ZERO + TOLERANCE))
    }

    /// Earliest time at which pacing permits a packet that nothing else holds back.
    pub(crate) fn next_send(&self, now: Time, again: bool) -> Option<Time> {
        let srtt = self.rtt.smoothed();
        let waiting = self.lanes.iter().filter_map(|lane| {
            let next = lane.control.next_send();
            if !held(next, now) {
                return None;
            }
            let view = lane.view(now, srtt);
            let can = again && lane.control.can_resend(&view, 0) || lane.control.can_send(&view, 0);
            can.then_some(next)
        });
        waiting.min()
    }

    /// Brings the counts of what is outstanding up to date after a stream has processed an ACK.
    pub(crate) fn settle(&mut self) {
        self.lanes.iter_mut().for_each(Lane::settle);
    }

    /// All ACKs of a datagram are processed.
    pub(crate) fn end_acks(&mut self, now: Time) {
        let srtt = self.rtt.smoothed();
        for lane in self.lanes.iter_mut().filter(|lane| lane.in_ack) {
            lane.in_ack = false;
            let view = lane.view(now, srtt);
            lane.control.on_ack_done(&view);
        }
    }

    /// Records the sending rate of all controls together.
    pub(crate) fn note_send_rate(&mut self) {
        let srtt = self.rtt.smoothed();
        self.send_rate = self.lanes.iter().map(|lane| lane.control.send_rate(srtt)).sum();
    }

    /// When the latest data packet was sent that is sent by `now`.
    pub(crate) fn moment(&self, now: Time) -> Moment {
        Moment { stamp: self.clock.stamp(now), count: self.data_sent }
    }

    /// Counts a data packet that is sent.
    pub(crate) fn count_data(&mut self) -> u32 {
        self.data_sent = self.data_sent.wrapping_add(1);
        self.data_sent
    }
}
