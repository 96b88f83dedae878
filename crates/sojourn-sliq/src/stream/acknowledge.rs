//! Processing of acknowledgments by the sending side.

use super::Reliability;
use super::send::Sender;
use crate::clock::{distance, expand};
use crate::control::RttSample;
use crate::lane::Shared;
use crate::payload::Payload;
use crate::wire::{Ack, Observed, WINDOW};
use sojourn_base::units::{Span, Time};

const MIN_RTT: Span = Span::from_micros(20);
const MAX_RTT: Span = Span::from_secs(4);

/// Results of an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acked {
    /// Whether a packet was acknowledged for the first time.
    pub new_data: bool,
    /// Place of the largest packet observed among all of the connection.
    pub largest_order: u64,
}

impl<P: Payload> Sender<P> {
    /// Processes an ACK; returns `None` if it is invalid. `note` receives RTTs, and the packets'
    /// delays since they were written.
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        shared: &mut Shared,
        mut note: impl FnMut(Span, Option<Span>),
    ) -> Option<Acked> {
        let expected = expand(ack.next, self.expected)?;
        let above = ack.blocks().map(|(_, last)| last).max();
        let largest = expected + u64::from(above.unwrap_or(0));
        let last = if above.is_some() { largest + 1 } else { expected };
        if expected < self.expected || last > self.next() {
            return None;
        }
        let mut acked = Acked::default();
        self.expected = expected;
        self.largest = self.largest.max(last.saturating_sub(1));
        if let Some(sent) = self.packet(self.largest) {
            self.largest_order = sent.order;
        }
        acked.largest_order = self.largest_order;
        for observed in ack.observed() {
            if let Some(rtt) = self.on_observed(now, ack, *observed, shared) {
                note(rtt, self.delivery_delay(observed.seq, rtt));
            }
        }
        for seq in self.una..expected {
            acked.new_data |= self.mark_acked(now, seq, shared);
        }
        for (first, last) in ack.blocks() {
            let (first, last) = (expected + u64::from(first), expected + u64::from(last));
            acked.new_data |= self.mark_block(now, first, last, shared);
        }
        self.find_losses(now, shared);
        shared.settle();
        self.advance(now, expected, shared);
        if self.groups.is_some() {
            for observed in ack.observed() {
                self.end_rounds(*observed);
            }
        }
        self.set_timer(now, acked.new_data, shared);
        Some(acked)
    }

    fn set_timer(&mut self, now: Time, new_data: bool, shared: &Shared) {
        if self.all_acked() {
            self.rto_at = None;
        } else if new_data || self.fin_sent {
            self.rto_at = Some(now + shared.rtt.rto());
        }
    }

    fn on_observed(
        &mut self,
        now: Time,
        ack: &Ack,
        observed: Observed,
        shared: &mut Shared,
    ) -> Option<Span> {
        let stamp = shared.clock.stamp(now);
        let micros = distance(stamp, observed.stamp).max(0) as u64;
        let rtt = Span::from_micros(micros).max(MIN_RTT);
        if rtt > MAX_RTT {
            return None;
        }
        shared.rtt.on_rtt(now, rtt);
        let seq = expand(observed.seq, self.next())?;
        if seq >= self.next() || self.next() - seq >= WINDOW.into() {
            return Some(rtt);
        }
        if let Some(sent) = self.record(seq) {
            let srtt = shared.rtt.smoothed();
            let lane = &mut shared.lanes[usize::from(sent.lane)];
            lane.start_ack(now, srtt);
            let sample = RttSample {
                rtt,
                way_back: distance(stamp, ack.stamp) as f64 * 1e-6,
                number: sent.number,
                bytes: sent.bytes,
                window: sent.window,
            };
            let view = lane.view(now, srtt);
            lane.control.on_rtt(&view, &sample);
        }
        Some(rtt)
    }

    /// Delay from writing a packet until its arrival: half an RTT after it was sent last. The
    /// program takes the time until the ACK came less half an RTT, and thus includes the ACK's
    /// delay, up to 40 ms on a link without traffic. `None` for packets acknowledged before and for
    /// coded packets, which no application wrote.
    fn delivery_delay(&self, seq: u32, rtt: Span) -> Option<Span> {
        let sent = self.packet(expand(seq, self.next())?)?;
        let counts = !sent.acked && !sent.is_coded();
        counts.then(|| sent.last_at.since(sent.written_at) + rtt / 2)
    }

    /// Marks a block of packets acknowledged; whether one was not before. Blocks come again with every
    /// ACK: of the packets that have been searched for losses, only holes can be new.
    #[inline(never)]
    fn mark_block(&mut self, now: Time, first: u64, last: u64, shared: &mut Shared) -> bool {
        let mut new = false;
        let holes = std::mem::take(&mut self.holes);
        let from = holes.partition_point(|hole| *hole < first);
        for seq in holes[from..].iter().take_while(|hole| **hole <= last) {
            new |= self.mark_acked(now, *seq, shared);
        }
        self.holes = holes;
        for seq in first.max(self.searched)..=last {
            new |= self.mark_acked(now, seq, shared);
        }
        new
    }

    /// Marks a packet acknowledged; whether it was not before.
    fn mark_acked(&mut self, now: Time, seq: u64, shared: &mut Shared) -> bool {
        if seq < self.una {
            return false;
        }
        let srtt = shared.rtt.smoothed();
        let Some(sent) = self.packet_mut(seq).filter(|sent| !sent.acked) else { return false };
        sent.acked = true;
        let waiting = std::mem::take(&mut sent.waiting);
        let owner = usize::from(sent.lane);
        let lane = &mut shared.lanes[owner];
        lane.start_ack(now, srtt);
        lane.control.on_acked(sent.number);
        lane.leaves(sent.bytes, sent.lost, sent.resent > 0);
        sent.lost = false;
        let window = lane.control.window();
        let (size, fec) = (sent.size, sent.fec());
        if shared.capacity.on_acked(now, owner, size, window) {
            shared.note_send_rate();
        }
        if let Some((group, fec)) = fec {
            self.acked_in_group(now, shared, group, &fec, waiting);
        }
        true
    }

    /// Everything before `expected` has arrived, or the receiver has given it up.
    fn advance(&mut self, now: Time, expected: u64, shared: &mut Shared) {
        let before = self.una;
        self.una = self.una.max(expected);
        if self.config.reliability == Reliability::Reliable {
            self.forget_old(false);
        } else {
            self.give_up(now, shared, false);
        }
        if self.una != before {
            self.report_oldest(shared);
        }
    }

    /// Reports to each control its oldest packet that is not acknowledged.
    pub(super) fn report_oldest(&mut self, shared: &mut Shared) {
        for lane in 0..self.oldest.len() {
            let from = self.oldest[lane].max(self.una);
            let open = |seq: &u64| {
                self.packet(*seq).is_some_and(|sent| usize::from(sent.lane) == lane && !sent.acked)
            };
            let seq = (from..self.next()).find(open).unwrap_or(self.next());
            self.oldest[lane] = seq;
            shared.lanes[lane].report_oldest(self.slot, self.packet(seq).map(|sent| sent.number));
        }
    }

    /// An outage is over.
    #[cold]
    pub(crate) fn on_outage_end(&mut self, now: Time, outage: Span, shared: &mut Shared) {
        if self.config.reliability == Reliability::Reliable {
            return self.report_oldest(shared);
        }
        let patience =
            shared.rtt.retransmit_after(4.0) * u64::from(self.config.limit().unwrap_or(0));
        if outage >= patience {
            self.forget_queue();
        }
        self.restart_groups();
        self.give_up(now, shared, true);
        self.report_oldest(shared);
    }

    /// Number of data packets sent up to this one; `None` if that is no longer known.
    pub(crate) fn count_of(&self, seq: u32, retransmissions: u8) -> Option<u32> {
        let sent = self.record(expand(seq, self.next())?)?;
        match sent.resent.checked_sub(retransmissions)? {
            0 => Some(sent.counts[0]),
            1 => Some(sent.counts[1]),
            _ => None,
        }
    }
}
