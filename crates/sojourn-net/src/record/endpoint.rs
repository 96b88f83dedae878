//! An endpoint whose state is recorded.

use std::sync::Arc;

use super::capture::HostTap;
use super::live::Watch;
use super::qlog::QlogTap;
use crate::counters::FlowCounters;
use crate::counters::histogram::Histogram;
use crate::counters::reception::ReceptionFigures;
use crate::endpoint::{Datagrams, Endpoint, RecoveryState};
use crate::observe::Observer;
use crate::packet::Packet;
use crate::units::Time;

/// Delegates to an endpoint; records changes of its state once it has nothing more to send, and what it
/// sends, receives and takes for lost.
pub struct RecordedEndpoint {
    inner: Box<dyn Endpoint>,
    watch: Option<Watch>,
    tap: Option<HostTap>,
    qlog: Option<Box<QlogTap>>,
}

impl RecordedEndpoint {
    /// Records the state of `inner` with `watch`, its packets with `tap`, and both with `qlog`.
    pub fn new(
        inner: Box<dyn Endpoint>,
        watch: Option<Watch>,
        tap: Option<HostTap>,
        qlog: Option<Box<QlogTap>>,
    ) -> Self {
        RecordedEndpoint { inner, watch, tap, qlog }
    }

    /// What the endpoint has found is told before it sends anything.
    fn tell_found(&mut self, now: Time) {
        if let Some(qlog) = &mut self.qlog
            && let Some(state) = self.inner.recovery()
        {
            qlog.found(now, &state);
        }
    }
}

impl Endpoint for RecordedEndpoint {
    fn on_packet(&mut self, now: Time, packet: &Packet) {
        if let Some(tap) = &self.tap {
            tap.received(now, packet);
        }
        if let Some(qlog) = &mut self.qlog {
            qlog.received(now, packet);
        }
        self.inner.on_packet(now, packet);
        self.tell_found(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let packet = self.inner.poll_transmit(now);
        match (&packet, &mut self.watch, &self.tap) {
            (Some(packet), _, Some(tap)) => tap.sent(now, packet),
            (None, Some(watch), _) => watch.look(now, |out| self.inner.observe(out)),
            _ => {}
        }
        match (&packet, &mut self.qlog) {
            (Some(packet), Some(qlog)) => qlog.sent(now, packet),
            (None, Some(qlog)) => qlog.settled(now, &*self.inner),
            _ => {}
        }
        packet
    }

    fn next_timeout(&self) -> Option<Time> {
        self.inner.next_timeout()
    }

    fn on_timeout(&mut self, now: Time) {
        self.inner.on_timeout(now);
        self.tell_found(now);
    }

    fn on_departure(&mut self, now: Time, bytes: u32) {
        self.inner.on_departure(now, bytes);
    }

    fn report(&mut self, now: Time, counters: &mut FlowCounters) {
        self.inner.report(now, counters);
    }

    fn open(&mut self, now: Time) {
        self.inner.open(now);
    }

    fn write(&mut self, now: Time, bytes: u64) {
        self.inner.write(now, bytes);
    }

    fn close(&mut self, now: Time) {
        self.inner.close(now);
    }

    fn stop(&mut self, now: Time) {
        self.inner.stop(now);
    }

    fn acked(&self) -> u64 {
        self.inner.acked()
    }

    fn unsent(&self) -> u64 {
        self.inner.unsent()
    }

    fn arrived(&self) -> u64 {
        self.inner.arrived()
    }

    fn exchanged(&self) -> Option<[u64; 2]> {
        self.inner.exchanged()
    }

    fn datagrams(&self) -> Option<Arc<dyn Datagrams>> {
        self.inner.datagrams()
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.inner.observe(out);
    }

    fn recovery(&self) -> Option<RecoveryState> {
        self.inner.recovery()
    }

    fn rtt_histogram(&self) -> Option<&Histogram> {
        self.inner.rtt_histogram()
    }

    fn reception(&self) -> ReceptionFigures {
        self.inner.reception()
    }

    fn end_warmup(&mut self) {
        self.inner.end_warmup();
    }
}
