//! Counters of a flow from its packets as they pass: the part that needs no kernel.
//!
//! The sender's side is observed as its packets enter the network and as acknowledgments leave it,
//! the receiver's side in the opposite way, so times are those of the emulated network.

mod counters;
mod receiving;
mod sending;

use sojourn_base::packet::{Header, SackCount, TcpAck};
use sojourn_base::units::{Span, Time};
use sojourn_net::record::histogram::Histogram;

use crate::wire::{Headers, Transport};
pub use counters::Counters;
use receiving::Receiving;
use sending::Sending;

/// A 32-bit sequence number as one that does not wrap: the nearest to `near`, but none below 0.
fn unwrap(number: u32, near: u64) -> u64 {
    near.saturating_add_signed(i64::from(number.wrapping_sub(near as u32) as i32))
}

/// A flow as observed from its packets.
#[derive(Debug, Default)]
pub struct Observed {
    /// Its counters.
    pub counters: Counters,
    sending: Sending,
    receiving: Receiving,
}

impl Observed {
    /// A packet enters the network at the sender (side 0) or at the receiver: returns the header
    /// that the network may read.
    pub fn enters(&mut self, now: Time, side: usize, headers: &Headers) -> Header {
        match side {
            0 => {
                self.sent(now, headers);
                Header::opaque(headers.payload)
            }
            _ => {
                self.answered(headers);
                self.header(headers)
            }
        }
    }

    /// The connection began before: its first byte that is observed has this sequence number.
    pub fn join(&mut self, first: u32) {
        self.sending.join(first.wrapping_sub(1));
        self.receiving.join(first.wrapping_sub(1));
    }

    /// A packet enters the network at the sender.
    fn sent(&mut self, now: Time, headers: &Headers) {
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
    fn answered(&mut self, headers: &Headers) {
        self.counters.acks.acks_sent += 1;
        self.counters.acks.ack_bytes_sent += u64::from(headers.size);
    }

    /// A packet leaves the network at the sender.
    pub fn acknowledged(&mut self, now: Time, headers: &Headers) {
        if let Transport::Tcp(segment) = headers.transport {
            self.sending.on_ack(now, &segment, &mut self.counters);
        }
    }

    /// The header for the network: that of a pure acknowledgment, which links can thin, or an
    /// opaque one.
    fn header(&self, headers: &Headers) -> Header {
        let Transport::Tcp(segment) = headers.transport else {
            return Header::opaque(headers.payload);
        };
        match segment.as_ack().filter(|_| headers.payload == 0) {
            Some(flags) => Header::Ack(TcpAck {
                flags,
                sack_count: match segment.sacks.blocks() {
                    [] => SackCount::Zero,
                    _ => SackCount::One,
                },
                next: self.sending.offset(segment.ack),
                ..TcpAck::default()
            }),
            None => Header::opaque(headers.payload),
        }
    }

    /// Advances the integrals by `time`, for a sender whose kernel is not queried.
    pub fn integrate(&mut self, time: Span) {
        self.sending.integrate(time, &mut self.counters);
    }

    /// Payload acknowledged, and the time of the last such acknowledgment.
    pub fn acked(&self) -> (u64, Time) {
        self.sending.acked()
    }

    /// The smallest RTT of segments that were sent once, if there were any.
    pub fn least_rtt(&self) -> Option<Span> {
        self.sending.least_rtt
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
