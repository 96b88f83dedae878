//! What the packets of a flow show as they pass: the part of the counters that needs no kernel.
//!
//! The sender's side is seen as its packets enter the network and as acknowledgments leave it, the
//! receiver's side the other way round, so times are those of the emulated network.

mod counters;
mod receiving;
mod sending;

use sojourn_core::record::histogram::Histogram;
use sojourn_core::units::Time;

use crate::wire::{Headers, Transport};
pub use counters::Counters;
use receiving::Receiving;
use sending::Sending;

/// A 32-bit sequence number as one that does not wrap, the nearest to `near`.
fn unwrap(number: u32, near: u64) -> u64 {
    near.wrapping_add_signed(i64::from(number.wrapping_sub(near as u32) as i32))
}

/// A flow as its packets show it.
#[derive(Debug, Default)]
pub struct Seen {
    /// What is counted of it.
    pub counters: Counters,
    sending: Sending,
    receiving: Receiving,
}

impl Seen {
    /// A packet enters the network at the sender.
    pub fn sent(&mut self, now: Time, headers: &Headers) {
        self.counters.sent.wire_bytes_sent += u64::from(headers.size);
        if headers.payload > 0 {
            self.counters.sent.sent_packets += 1;
            self.counters.sent.sent_bytes += u64::from(headers.payload);
        }
        if let Transport::Tcp(segment) = headers.transport {
            self.sending.on_segment(now, &segment, headers.payload, &mut self.counters);
        }
    }

    /// A packet leaves the network at the receiver.
    pub fn received(&mut self, now: Time, headers: &Headers) {
        self.receiving.on_packet(now, headers, &mut self.counters);
    }

    /// A packet enters the network at the receiver.
    pub fn answered(&mut self, headers: &Headers) {
        self.counters.acks.acks_sent += 1;
        self.counters.acks.ack_bytes_sent += u64::from(headers.size);
    }

    /// A packet leaves the network at the sender.
    pub fn acknowledged(&mut self, now: Time, headers: &Headers) {
        if let Transport::Tcp(segment) = headers.transport {
            self.sending.on_ack(now, &segment, &mut self.counters);
        }
    }

    /// Payload acknowledged, and when last some was.
    pub fn acked(&self) -> (u64, Time) {
        self.sending.acked()
    }

    /// RTTs of segments that were sent once, since the warm-up.
    pub fn rtts(&self) -> &Histogram {
        &self.sending.rtts
    }

    /// The warm-up is over.
    pub fn end_warmup(&mut self) {
        self.sending.rtts.clear();
    }
}

#[cfg(test)]
mod tests;
