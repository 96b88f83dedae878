//! Retransmission timeouts, outages, and the time of the connection's next timeout.

use super::handshake::State;
use super::overview::places;
use super::{Connection, Event};
use crate::payload::Payload;
use crate::wire::{Datagram, Message};
use sojourn_base::units::{Span, Time};

/// Timeouts are checked this often; with a control that needs fast ones, twice per RTT.
const TICK: Span = Span::from_millis(100);
const LEAST_TICK: Span = Span::from_millis(1);
const LONGEST_RTO: Span = Span::from_secs(64);
const FAST_DEVIATIONS: f64 = 5.0;
/// Upper limit of the error rate that is used to detect an outage.
const MAX_SILENT_RATE: f64 = 0.9;

/// The connection's timers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    rto_at: Option<Time>,
    rto: Span,
    tick_at: Option<Time>,
    /// When a control's timer is due, never if none has one; `None` if they have to be asked.
    pub control: Option<Time>,
    /// Timeouts since the last ACK.
    in_a_row: u32,
    /// Timeouts so far.
    pub timeouts: u64,
}

impl<P: Payload> Connection<P> {
    /// Time of the next call of [`Connection::on_timeout`].
    pub fn next_timeout(&self, now: Time) -> Option<Time> {
        // A plain minimum: this is asked after every datagram.
        let mut next = self.handshake_timeout();
        if self.state != State::Connected {
            return (next < Time::NEVER).then_some(next);
        }
        let mut consider = |at: Option<Time>| {
            if let Some(at) = at {
                next = next.min(at);
            }
        };
        consider(self.acks.at);
        consider(self.timers.tick_at);
        consider(Some(self.overview.group_end));
        consider(Some(self.control_timer()));
        consider(self.pacing_timer(now));
        (next < Time::NEVER).then_some(next)
    }

    /// The time asked for has come, or has passed.
    pub fn on_timeout(&mut self, now: Time) {
        self.on_handshake_timeout(now);
        if self.state != State::Connected {
            return;
        }
        self.on_ack_timeout(now);
        let control = self.control_timer();
        self.timers.control = Some(control);
        if now >= control {
            self.on_control_timer(now);
        }
        if now >= self.overview.group_end {
            self.end_groups(now);
        }
        if self.timers.tick_at.is_some_and(|at| now >= at) {
            self.on_tick(now);
        }
    }

    fn control_timer(&self) -> Time {
        self.timers.control.unwrap_or_else(|| {
            let timers = self.shared.lanes.iter().filter_map(|lane| lane.control.next_timer());
            timers.min().unwrap_or(Time::NEVER)
        })
    }

    #[cold]
    fn on_control_timer(&mut self, now: Time) {
        self.heed_controls();
        for lane in &mut self.shared.lanes {
            if lane.control.next_timer().is_some_and(|at| now >= at) {
                lane.control.on_timer(now);
            }
        }
    }

    #[cold]
    fn end_groups(&mut self, now: Time) {
        for at in 0..self.streams.len() {
            if self.streams[at].sender.group_end().is_some_and(|end| now >= end) {
                self.with_sender(at, |sender, shared| sender.end_group(now, shared));
            }
        }
    }

    #[cold]
    fn on_tick(&mut self, now: Time) {
        if self.timers.rto_at.is_some_and(|at| now >= at) {
            self.on_rto(now);
        } else if self.outage.is_none() {
            self.check_streams(now);
        }
        let waiting = self.timers.rto_at.is_some()
            || self.streams.iter().any(|stream| stream.sender.rto_at.is_some());
        self.timers.tick_at = waiting.then(|| now + self.tick());
    }

    fn tick(&self) -> Span {
        if self.fast() { (self.shared.rtt.smoothed() / 2).max(LEAST_TICK) } else { TICK }
    }

    fn fast(&self) -> bool {
        let needs = self.shared.lanes.iter().any(|lane| lane.control.needs_fast_rto());
        needs && self.outage.is_none()
    }

    /// Streams with a timeout of their own send their lowest packet again.
    fn check_streams(&mut self, now: Time) {
        for index in 0..self.streams.len() {
            let stream = &mut self.streams[index];
            if stream.sender.all_acked() || stream.sender.rto_at.is_none_or(|at| now < at) {
                continue;
            }
            stream.sender.rto_at = Some(now + self.shared.rtt.rto());
            if !self.resend_or_nothing(now, index, true) {
                self.send_probe(now, index);
            }
        }
    }

    fn resend_or_nothing(&mut self, now: Time, index: usize, lowest: bool) -> bool {
        if !self.streams[index].open {
            return false;
        }
        let resent =
            self.with_sender(index, |sender, shared| sender.resend_on_timeout(now, shared, lowest));
        let Some(data) = resent else { return false };
        self.post(now, data);
        true
    }

    fn send_probe(&mut self, now: Time, index: usize) {
        let Some(stream) = self.streams.get(index).filter(|stream| stream.open) else { return };
        let data = stream.sender.probe(now, &mut self.shared);
        self.post(now, data);
    }

    /// Asks the peer for an ACK, so that both ends know that the other one is there.
    pub fn probe(&mut self, now: Time) {
        if self.state == State::Connected && self.outage.is_none() {
            self.send_probe(now, 0);
        }
    }

    fn post(&mut self, now: Time, data: (crate::wire::Data, P)) {
        self.note_data_sent(now);
        let message =
            Message { sync: None, ack: None, count: None, measurement: None, data: Some(data) };
        self.outbox.push_back(Datagram::Message(message));
    }

    /// Data is sent: the peer should answer.
    pub(super) fn note_data_sent(&mut self, now: Time) {
        if self.data_sent_at.is_none_or(|sent| self.heard_at.is_some_and(|heard| heard >= sent)) {
            self.data_sent_at = Some(now);
        }
    }

    /// Starts the timer with a data packet, unless it runs.
    pub(super) fn arm_rto(&mut self, now: Time) {
        if self.outage.is_none() && self.timers.rto_at.is_none() {
            self.set_rto(now, self.shared.rtt.rto());
        }
    }

    fn set_rto(&mut self, now: Time, rto: Span) {
        let rto = if self.fast() {
            self.shared.rtt.retransmit_after(FAST_DEVIATIONS).max(LEAST_TICK)
        } else {
            rto.min(LONGEST_RTO)
        };
        self.timers.rto = rto;
        self.timers.rto_at = Some(now + rto);
        if self.timers.tick_at.is_none() {
            self.timers.tick_at = Some(now + self.tick());
        }
    }

    fn on_rto(&mut self, now: Time) {
        self.timers.rto_at = None;
        if self.outage.is_some() {
            self.send_probe(now, places(self.overview.unacked).next().unwrap_or(0));
            self.timers.rto_at = Some(now + self.shared.rtt.rto());
            return;
        }
        if self.is_silent(now) && self.overview.unacked != 0 {
            self.outage = Some(now);
            self.outages += 1;
            self.events.push_back(Event::Outage);
            self.timers.rto_at = Some(now + self.shared.rtt.rto());
            return;
        }
        self.timers.in_a_row += 1;
        self.timers.timeouts += 1;
        let resent = (0..self.streams.len()).any(|index| self.resend_or_nothing(now, index, true));
        if !resent && !self.streams.is_empty() {
            self.send_probe(now, 0);
        }
        self.heed_controls();
        let srtt = self.shared.rtt.smoothed();
        for lane in &mut self.shared.lanes {
            let view = lane.view(now, srtt);
            lane.control.on_rto(&view, true);
        }
        self.set_rto(now, self.timers.rto * 2);
    }

    /// Whether the peer should have answered long ago.
    fn is_silent(&self, now: Time) -> bool {
        let Some(sent) = self.data_sent_at else { return false };
        if self.heard_at.is_some_and(|heard| heard >= sent) {
            return false;
        }
        let arrives = 1.0 - self.shared.per.rate.min(MAX_SILENT_RATE);
        let patience = self.shared.rtt.rto().mul_f64(2.0 / (arrives * arrives));
        now.since(sent) > patience
    }

    /// The peer is heard again; `resend` says whether by data, and not by an ACK.
    #[cold]
    pub(super) fn leave_outage(&mut self, now: Time, resend: bool) {
        let Some(since) = self.outage.take() else { return };
        self.events.push_back(Event::OutageOver);
        self.shared.per.restart();
        self.shared.capacity.restart(now);
        let outage = now.since(since);
        for at in 0..self.streams.len() {
            self.with_sender(at, |sender, shared| sender.on_outage_end(now, outage, shared));
        }
        self.heed_controls();
        for lane in &mut self.shared.lanes {
            lane.control.on_outage_end();
        }
        self.timers.rto_at = None;
        self.timers.in_a_row = 0;
        if resend {
            self.resend_all(now);
            if self.overview.unacked != 0 {
                self.set_rto(now, self.shared.rtt.rto());
            }
        }
    }

    /// Every stream sends its highest packet again, or asks for an ACK.
    #[cold]
    fn resend_all(&mut self, now: Time) {
        for index in 0..self.streams.len() {
            if !self.resend_or_nothing(now, index, false) {
                self.send_probe(now, index);
            }
        }
    }

    /// An ACK is processed.
    pub(super) fn after_ack(&mut self, now: Time, new_data: bool, leaving_outage: bool) {
        if std::mem::take(&mut self.timers.in_a_row) > 0 {
            for at in 0..self.streams.len() {
                self.with_sender(at, |sender, shared| sender.lose_all(now, shared));
            }
        }
        if leaving_outage {
            self.resend_all(now);
        }
        if self.overview.unacked == 0 {
            self.timers.rto_at = None;
        } else if new_data || leaving_outage {
            self.set_rto(now, self.shared.rtt.rto());
        }
    }
}
