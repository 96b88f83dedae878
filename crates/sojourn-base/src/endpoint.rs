//! An end of a flow, sans-I/O: packets and times go in, packets and the next timeout come out.

use std::fmt;
use std::sync::Arc;

use crate::counters::FlowCounters;
use crate::counters::histogram::Histogram;
use crate::counters::reception::ReceptionFigures;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::units::{Rate, Span, Time};

/// What loss recovery of a sender does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryPhase {
    /// Nothing; the window is below its threshold.
    SlowStart,
    /// Nothing; the window is at its threshold or above.
    Avoidance,
    /// It repairs losses.
    Recovery,
    /// It reduces the window after an echo of a mark.
    Echo,
    /// It repairs all after a timeout.
    Timeout,
}

/// A sender's window, and what it knows of its path and of losses.
#[derive(Clone, Debug, PartialEq)]
pub struct RecoveryState {
    /// Congestion window in bytes of full segments.
    pub cwnd: u64,
    /// Slow-start threshold likewise, if there is one.
    pub ssthresh: Option<u64>,
    /// Packets believed to be in the network.
    pub packets_in_flight: u32,
    /// Their payload, if they are full.
    pub bytes_in_flight: u64,
    /// Smoothed RTT, after the first sample.
    pub srtt: Option<Span>,
    /// Least RTT, after the first sample.
    pub min_rtt: Option<Span>,
    /// Pacing rate, if it paces.
    pub pacing_rate: Option<Rate>,
    /// What it does about losses.
    pub phase: RecoveryPhase,
    /// Numbers of segments that are taken for lost and have not been sent again, in no order; some
    /// may be there twice.
    pub lost: Vec<u32>,
}

/// What is in datagrams whose packets carry only a number.
pub trait Datagrams: fmt::Debug + Send + Sync {
    /// Appends the bytes of the datagram that a packet carries, those of its payload zero; whether it
    /// is known. One that has arrived, or was lost long ago, need not be.
    fn write(&self, packet: &Packet, out: &mut Vec<u8>) -> bool;
}

/// One end of a flow.
pub trait Endpoint: Send {
    /// A packet arrived.
    fn on_packet(&mut self, now: Time, packet: &Packet);

    /// The next packet to send now, if any. Called until it returns `None` after every
    /// `on_packet` and `on_timeout`.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// When `on_timeout` should be called next, if at all.
    fn next_timeout(&self) -> Option<Time> {
        None
    }

    /// The time asked for has come (calls may be late, never early).
    fn on_timeout(&mut self, _now: Time) {}

    /// Packets of `bytes` bytes of this end have left its host. Only some media report it. Followed
    /// by `poll_transmit`.
    fn on_departure(&mut self, _now: Time, _bytes: u32) {}

    /// Adds this end's share of the flow's counters, integrals brought up to `now`. Each field is
    /// filled by one of the two ends.
    fn report(&mut self, now: Time, counters: &mut FlowCounters);

    /// The application opens the connection: TCP's sender sends its SYN. Comes before any `write`;
    /// like `write`, `close` and `stop`, it is followed by `poll_transmit`.
    fn open(&mut self, _now: Time) {}

    /// The application writes `bytes` more (unlimited: `u64::MAX`). Only a sender takes them.
    fn write(&mut self, _now: Time, _bytes: u64) {}

    /// The application writes no more; the flow completes when all data is acknowledged.
    fn close(&mut self, _now: Time) {}

    /// The flow's `stop` time has come: no new data is sent. Outstanding data is still
    /// retransmitted and acknowledged; data that was never sent is discarded.
    fn stop(&mut self, now: Time) {
        self.close(now);
    }

    /// Bytes of payload that this end has sent and knows to have arrived, in order.
    fn acked(&self) -> u64 {
        0
    }

    /// Bytes of payload that have arrived at this end: in order, where the transport keeps order.
    fn arrived(&self) -> u64 {
        0
    }

    /// Bytes of payload that the application has written and this end has not sent yet.
    fn unsent(&self) -> u64 {
        0
    }

    /// Packets that this end has sent, and those that have come to it, if it counts all of both.
    fn exchanged(&self) -> Option<[u64; 2]> {
        None
    }

    /// The datagrams that this end sends, if their packets carry only numbers.
    fn datagrams(&self) -> Option<Arc<dyn Datagrams>> {
        None
    }

    /// Names and values of internal state worth recording, such as those of a congestion control.
    fn observe(&self, _out: &mut Observer<'_>) {}

    /// The window and loss recovery of a sender that has them as TCP does.
    fn recovery(&self) -> Option<RecoveryState> {
        None
    }

    /// RTT samples since the end of the warm-up, where this end takes them.
    fn rtt_histogram(&self) -> Option<&Histogram> {
        None
    }

    /// What this end has measured of the packets that arrived since the end of the warm-up.
    fn reception(&self) -> ReceptionFigures {
        ReceptionFigures::default()
    }

    /// The warm-up is over: distributions (not counters) are reset.
    fn end_warmup(&mut self) {}
}
