//! A receiving endpoint whose packets are measured.

use std::sync::Arc;

use crate::counters::FlowCounters;
use crate::counters::histogram::Histogram;
use crate::counters::reception::{Reception, ReceptionFigures};
use crate::endpoint::{Datagrams, Endpoint, RecoveryState};
use crate::observe::Observer;
use crate::packet::Packet;
use crate::units::Time;

/// Delegates to an endpoint and measures the packets that it is given.
pub struct MeasuredEndpoint {
    inner: Box<dyn Endpoint>,
    measured: Reception,
}

impl MeasuredEndpoint {
    /// Measures the packets that `inner` receives.
    pub fn new(inner: Box<dyn Endpoint>) -> Self {
        MeasuredEndpoint { inner, measured: Reception::default() }
    }
}

impl Endpoint for MeasuredEndpoint {
    fn on_packet(&mut self, now: Time, packet: &Packet) {
        self.measured.on_packet(now, packet);
        self.inner.on_packet(now, packet);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.inner.poll_transmit(now)
    }

    fn next_timeout(&self) -> Option<Time> {
        self.inner.next_timeout()
    }

    fn on_timeout(&mut self, now: Time) {
        self.inner.on_timeout(now);
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

    /// Delivery is known best to a transport that tells it itself.
    fn reception(&self) -> ReceptionFigures {
        let measured = self.measured.figures();
        let told = self.inner.reception().delivery;
        ReceptionFigures { delivery: told.or(measured.delivery), ..measured }
    }

    fn end_warmup(&mut self) {
        self.measured.end_warmup();
        self.inner.end_warmup();
    }
}
