//! The receiving side of a stream: arrivals, deliveries and acknowledgments.

use std::collections::VecDeque;

use super::StreamConfig;
use super::blocks::Blocks;
use super::regroup::{Regroup, is_late};
use crate::clock::expand;
use crate::payload::Payload;
use crate::wire::{Ack, Data, Fec, MAX_OBSERVED, Observed};
use sojourn_base::units::{Span, Time};

/// Probes more often than this are not answered.
const PROBE_INTERVAL: Span = Span::from_millis(200);
/// Packets that ACK blocks are made for, the latest first.
const HISTORY: usize = 24;
/// Offsets after which an ACK is full enough.
const TARGET_OFFSETS: usize = 10;

/// A message for the application.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivered<P> {
    /// The message.
    pub payload: P,
    /// Whether it arrived in time, by the rounds of its group.
    pub in_time: bool,
}

/// Results of a data packet's arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Whether to acknowledge at once.
    pub ack_now: bool,
    /// Whether it had arrived before.
    pub duplicate: bool,
}

/// Counts of packets, which give the efficiency of error control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Data packets received, coded ones and duplicates included.
    pub received: u64,
    /// Of those, in a round of their group.
    pub received_in_time: u64,
    /// Messages delivered.
    pub delivered: u64,
    /// Of those, in a round of their group.
    pub delivered_in_time: u64,
}

/// The receiving side.
#[derive(Debug)]
pub(crate) struct Receiver<P> {
    stream: u8,
    config: StreamConfig,
    /// Packets that it takes beyond the first one that is missing.
    window: u64,
    blocks: Blocks,
    /// For delivery in order: from packet `min` on, messages that wait for one before them.
    waiting: VecDeque<Option<Delivered<P>>>,
    min: u64,
    ready: VecDeque<Delivered<P>>,
    fin: Option<u64>,
    recent: VecDeque<u64>,
    observed: Vec<(u32, u32, Time)>,
    latest: Option<(u32, u32, Time)>,
    regroup: Regroup<P>,
    last_probe: Option<Time>,
    /// Counts of packets.
    pub counts: Counts,
}

impl<P: Payload> Receiver<P> {
    /// The receiving side of a stream whose first packet is number `first`.
    pub(crate) fn new(stream: u8, config: StreamConfig, window: u32, first: u64) -> Self {
        Receiver {
            stream,
            config,
            window: window.into(),
            blocks: Blocks::new(first),
            waiting: VecDeque::new(),
            min: first,
            ready: VecDeque::new(),
            fin: None,
            recent: VecDeque::new(),
            observed: Vec::new(),
            latest: None,
            regroup: Regroup::holding(window as usize),
            last_probe: None,
            counts: Counts::default(),
        }
    }

    /// The next message for the application.
    pub(crate) fn read(&mut self) -> Option<Delivered<P>> {
        self.ready.pop_front()
    }

    /// Whether a packet is missing below one that arrived.
    pub(crate) fn has_gap(&self) -> bool {
        self.blocks.has_gap()
    }

    /// Whether all of the stream has arrived.
    pub(crate) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.blocks.next() > fin)
    }

    /// A data packet arrived.
    pub(crate) fn on_data(&mut self, now: Time, data: &Data, payload: P) -> Arrival {
        let forward = data.forward.filter(|_| self.config.limit().is_some());
        let moved = forward.is_some_and(|forward| self.move_forward(forward));
        if data.persist {
            let answer = self.last_probe.is_none_or(|at| now.since(at) >= PROBE_INTERVAL);
            if answer {
                self.last_probe = Some(now);
            }
            return Arrival { ack_now: answer, duplicate: false };
        }
        let Some(seq) = expand(data.seq, self.blocks.next()) else { return Arrival::default() };
        let mut arrival = self.add(now, seq, data, payload);
        arrival.ack_now |= moved;
        arrival
    }

    fn add(&mut self, now: Time, seq: u64, data: &Data, payload: P) -> Arrival {
        let late = data.fec.is_some_and(|fec| is_late(fec.round));
        self.counts.received += 1;
        self.counts.received_in_time += u64::from(!late);
        if seq >= self.blocks.next() + self.window {
            return Arrival { ack_now: true, duplicate: false };
        }
        self.observe(now, seq, data);
        let past_end = seq > self.blocks.end();
        let filled = seq < self.blocks.end();
        // Sent again, the end of an adaptive stream may have moved the receiver past itself.
        if data.fin {
            self.fin = Some(seq);
        }
        if !self.blocks.insert(seq) {
            return Arrival { ack_now: true, duplicate: true };
        }
        self.store(seq, data, payload, late);
        let ack_now = past_end || filled || self.has_gap() || data.fin;
        Arrival { ack_now, duplicate: false }
    }

    fn store(&mut self, seq: u64, data: &Data, payload: P, late: bool) {
        let Some(fec) = data.fec else {
            if !data.fin {
                self.deliver(seq, Delivered { payload, in_time: !late });
            }
            return self.release();
        };
        self.store_in_group(seq, data, &fec, payload, late);
    }

    #[inline(never)]
    fn store_in_group(&mut self, seq: u64, data: &Data, fec: &Fec, payload: P, late: bool) {
        if fec.encoded.is_none() && !data.fin {
            self.deliver(seq, Delivered { payload: payload.clone(), in_time: !late });
        }
        for (short, payload, in_time) in self.regroup.add(data.seq, fec, payload) {
            let Some(seq) = expand(short, self.blocks.next()) else { continue };
            if seq < self.blocks.next() + self.window && self.blocks.insert(seq) {
                self.note_recent(seq);
                self.deliver(seq, Delivered { payload, in_time });
            }
        }
        self.release();
    }

    fn deliver(&mut self, seq: u64, delivered: Delivered<P>) {
        self.counts.delivered += 1;
        self.counts.delivered_in_time += u64::from(delivered.in_time);
        if !self.config.ordered {
            self.ready.push_back(delivered);
        } else {
            self.deliver_in_order(seq, delivered);
        }
    }

    #[inline(never)]
    fn deliver_in_order(&mut self, seq: u64, delivered: Delivered<P>) {
        if seq == self.min && self.waiting.is_empty() && self.blocks.next() > seq {
            self.min += 1;
            self.ready.push_back(delivered);
            return;
        }
        let Some(offset) = seq.checked_sub(self.min) else { return };
        let offset = offset as usize;
        if self.waiting.len() <= offset {
            self.waiting.resize(offset + 1, None);
        }
        self.waiting[offset] = Some(delivered);
    }

    /// Delivers the messages before which none is missing.
    fn release(&mut self) {
        while self.min < self.blocks.next() {
            self.min += 1;
            let first = self.waiting.pop_front();
            self.ready.extend(first.flatten());
        }
    }

    #[inline(never)]
    fn move_forward(&mut self, forward: u32) -> bool {
        let Some(next) = expand(forward, self.blocks.next()) else { return false };
        let moves = next > self.blocks.next() && next <= self.blocks.next() + self.window;
        if moves {
            self.blocks.move_forward(next);
            self.release();
        }
        moves
    }

    fn observe(&mut self, now: Time, seq: u64, data: &Data) {
        let observed = (data.seq, data.stamp, now);
        if self.observed.len() < MAX_OBSERVED {
            self.observed.push(observed);
        }
        self.latest = Some(observed);
        self.note_recent(seq);
    }

    fn note_recent(&mut self, seq: u64) {
        if self.recent.len() == HISTORY {
            self.recent.pop_back();
        }
        self.recent.push_front(seq);
    }

    /// The next ACK; what it observes is not observed again.
    pub(crate) fn ack(&mut self, now: Time, stamp: u32, delta: u32) -> Ack {
        let next = self.blocks.next();
        let mut ack = Ack::new(self.stream, next as u32, stamp, delta);
        let forwarded = |(seq, stamp, at): (u32, u32, Time)| {
            let since = now.since(at).as_micros() as u32;
            Observed { seq, stamp: stamp.wrapping_add(since) }
        };
        for observed in self.observed.drain(..) {
            ack.observe(forwarded(observed));
        }
        if ack.observed().is_empty() && self.config.is_adaptive() {
            self.latest.into_iter().for_each(|latest| {
                ack.observe(forwarded(latest));
            });
        }
        if self.has_gap() {
            self.add_blocks(&mut ack);
        }
        ack
    }

    /// Blocks of the latest packets, and of the largest one.
    #[inline(never)]
    fn add_blocks(&self, ack: &mut Ack) {
        let next = self.blocks.next();
        let mut named: [(u64, u64); HISTORY + 1] = [(0, 0); HISTORY + 1];
        let mut count = 0;
        let largest = self.blocks.end().saturating_sub(1);
        let order = self.recent.iter().take(1).chain([&largest]).chain(self.recent.iter().skip(1));
        for seq in order {
            let known = |run: &(u64, u64)| (run.0..=run.1).contains(seq);
            if *seq < next || named[..count].iter().rev().any(known) {
                continue;
            }
            let Some(run) = self.blocks.run(*seq) else { continue };
            if !ack.add_block(run.0 - next, run.1 - next) {
                return;
            }
            named[count] = run;
            count += 1;
            if ack.offset_count() >= TARGET_OFFSETS {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
