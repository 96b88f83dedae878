//! Serialisation: one packet at a time, at the link's rate, with carried remainders.

use super::egress::Egress;
use super::pace::Pace;
use crate::packet::Packet;
use crate::queue::Backlog;
use crate::record::LinkCounters;
use crate::units::{Rate, Time};

/// Takes packets from an egress queue and puts them on the wire.
pub struct Transmitter {
    egress: Egress,
    /// `None`: as fast as the queue releases packets.
    rate: Option<Rate>,
    /// Pace of the transmitter, unless it is one fixed rate.
    pace: Option<Box<Pace>>,
    /// Bytes of framing on top of each IP packet.
    overhead: u32,
    /// Remainder of the last serialisation.
    carry: u64,
    service: Packet,
    /// End of the service of the packet in service; [`Time::NEVER`] when there is none.
    service_end: Time,
    /// Time of the latest event here.
    clock: Time,
    sent_packets: u64,
    sent_bytes: u64,
}

impl Transmitter {
    /// An idle transmitter. Each packet takes (size + `overhead`) / `rate`, or no time if the
    /// queue discipline spaces packets at the link's rate itself.
    pub fn new(egress: Egress, rate: Option<Rate>, overhead: u32) -> Self {
        Transmitter {
            rate: rate.filter(|_| !egress.shapes_link()),
            pace: None,
            egress,
            overhead,
            carry: 0,
            service: Packet::default(),
            service_end: Time::NEVER,
            clock: Time::ZERO,
            sent_packets: 0,
            sent_bytes: 0,
        }
    }

    /// The same with `pace` in place of the rate.
    #[must_use]
    pub fn with_pace(mut self, pace: Pace) -> Self {
        self.pace = Some(Box::new(pace));
        self
    }

    /// A packet enters the queue.
    #[inline(always)] // once per packet and link
    pub fn offer(&mut self, now: Time, packet: &Packet) {
        self.clock = now;
        if !self.is_idle() {
            self.egress.enqueue(now, packet);
        } else if self.egress.pass(now, packet, &mut self.service) {
            self.serve(now);
        }
    }

    /// Whether something falls due by `now`.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        self.service_end <= now || self.egress.next_timer().is_some_and(|timer| timer <= now)
    }

    /// When the packet in service was sent, if that was by `now`. [`Transmitter::sent`] then is
    /// that packet, and [`Transmitter::serve_next`] must be called.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Time> {
        while let Some(timer) = self.egress.next_timer().filter(|t| *t <= self.service_end) {
            if timer > now || !self.on_timer(timer) {
                return None;
            }
        }
        (self.service_end <= now).then_some(self.service_end)
    }

    /// The packet that has been sent.
    #[inline]
    pub fn sent(&self) -> &Packet {
        &self.service
    }

    /// Counts the packet that was sent at `now` and starts to serve the next one.
    #[inline]
    pub fn serve_next(&mut self, now: Time) {
        self.clock = now;
        self.service_end = Time::NEVER;
        self.sent_packets += 1;
        self.sent_bytes += u64::from(self.service.size + self.overhead);
        self.take_up(now);
    }

    /// Runs the discipline's timer; returns whether its next timer is later than `timer`. A timer
    /// that requests the same instant again waits for the next call, so that a faulty discipline
    /// cannot keep the link in a loop.
    fn on_timer(&mut self, timer: Time) -> bool {
        self.clock = timer.max(self.clock);
        self.egress.on_timer(self.clock);
        if self.is_idle() {
            self.take_up(self.clock);
        }
        self.egress.next_timer().is_none_or(|next| next > timer)
    }

    #[inline]
    fn take_up(&mut self, now: Time) {
        if self.egress.dequeue(now, &mut self.service) {
            self.serve(now);
        }
    }

    /// Begins to serve the packet in `service`.
    #[inline]
    fn serve(&mut self, now: Time) {
        let length = self.service.size + self.overhead;
        self.service_end = match (&mut self.pace, self.rate) {
            (Some(pace), _) => pace.end(now, length, &mut self.carry),
            (None, Some(rate)) => now + rate.transmission(length, &mut self.carry),
            (None, None) => now,
        };
    }

    fn is_idle(&self) -> bool {
        self.service_end == Time::NEVER
    }

    /// When the packet in service will have been sent, if there is one.
    #[inline]
    pub fn next_departure(&self) -> Option<Time> {
        (!self.is_idle()).then_some(self.service_end)
    }

    /// When an idle transmitter's queue will release packets it holds back, if it does.
    #[inline(never)]
    pub fn release(&self) -> Option<Time> {
        (self.egress.backlog().packets > 0).then(|| self.egress.next_timer()).flatten()
    }

    /// Adds this part of the link's counters, integrals brought up to `now`.
    pub fn report(&mut self, now: Time, counters: &mut LinkCounters) {
        counters.sent_packets = self.sent_packets;
        counters.sent_bytes = self.sent_bytes;
        self.egress.report(now, counters);
    }

    /// The queue.
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// The queue.
    pub fn egress_mut(&mut self) -> &mut Egress {
        &mut self.egress
    }

    /// Packets waiting or in service.
    pub fn held(&self) -> Backlog {
        let mut held = self.egress.held();
        if !self.is_idle() {
            held.add(&self.service);
        }
        held
    }
}
