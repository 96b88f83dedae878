//! Interface of congestion controls on SLIQ, where several share one connection.
//!
//! Each control owns the packets that it permitted: it has its own count of bytes in flight, packet
//! numbers and losses. The callbacks follow `iron/sliq/src/sliq_cc_interface.h`. `cubic` and `copa`
//! are SLIQ's own; any other control of the catalogue is driven by [`Catalogued`].

mod catalogued;
mod copa;
mod cubic;
mod damper;
mod fast_start;
mod hystart;
mod prr;
mod tracker;

pub use catalogued::Catalogued;
pub use copa::Copa;
pub use cubic::Cubic;

use super::wire::{Train, TrainKind};
use sojourn_base::observe::Observer;
use sojourn_base::units::{Span, Time};

/// Time by which a packet may be sent early: the tolerance of SLIQ's timers.
pub(crate) const TOLERANCE: Span = Span::from_millis(1);
/// Packets that a control may have outstanding.
pub(crate) const MAX_WINDOW: u64 = 32_768;
/// Headers of a packet below SLIQ on Ethernet with preamble and checksum, which SLIQ's estimates
/// include.
pub(crate) const ETHERNET: u32 = 54;
/// Bytes of a segment, as Cubic and the reduction of its window count.
pub(crate) const MSS: i64 = 1_472;
/// Size of SLIQ's data header in its controls' computations.
pub(crate) const DATA_HEADER: u32 = 20;

/// Outstanding packets of a control, in bytes of payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// Packets not acknowledged.
    pub packets: u32,
    /// Bytes not acknowledged.
    pub bytes: i64,
    /// Bytes assumed to be in the network: without those lost, with those retransmitted.
    pub pipe: i64,
}

/// A control's view of its connection.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The time.
    pub now: Time,
    /// The connection's smoothed RTT.
    pub srtt: Span,
    /// Outstanding packets of this control.
    pub flight: Flight,
    /// Number of the next packet that this control permits.
    pub next: u64,
    /// The first of its packets that is not acknowledged.
    pub una: u64,
}

/// One RTT measurement.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    /// The RTT.
    pub rtt: Span,
    /// Return delay of the ACK: arrival less timestamp, in seconds of two clocks.
    pub way_back: f64,
    /// The control's number of the packet.
    pub number: u64,
    /// Payload of the packet.
    pub bytes: u32,
    /// The window noted when it was sent.
    pub window: f32,
}

/// A congestion control on a SLIQ connection.
pub trait Control: Send + std::fmt::Debug {
    /// The connection is established; the handshake gave this RTT.
    fn on_connected(&mut self, _now: Time, _rtt: Span) {}

    /// The first header of a datagram concerns one of its packets: what follows up to `on_ack_done`
    /// is one event.
    fn on_ack_start(&mut self, _view: &View) {}

    /// A packet that arrived was measured.
    fn on_rtt(&mut self, _view: &View, _sample: &RttSample) {}

    /// A packet of `bytes` was acknowledged for the first time.
    fn on_acked(&mut self, _number: u64) {}

    /// The packet seems lost; returns whether to mark it lost now.
    fn on_lost(&mut self, _view: &View, _number: u64) -> bool {
        true
    }

    /// All of a datagram's ACKs are processed.
    fn on_ack_done(&mut self, _view: &View) {}

    /// Packet `view.next` with this payload is sent; `view.flight` is without it. Returns the
    /// window to note with it.
    fn on_sent(&mut self, view: &View, bytes: u32) -> f32;

    /// Packet `number` is retransmitted, not by a timeout. Returns the window to note with it.
    fn on_resent(&mut self, view: &View, number: u64, bytes: u32) -> f32;

    /// The retransmission timer fired; whether something could be retransmitted.
    fn on_rto(&mut self, _view: &View, _resent: bool) {}

    /// An outage is over.
    fn on_outage_end(&mut self) {}

    /// Whether timeouts have to be fast, because ACKs alone do not keep it going.
    fn needs_fast_rto(&self) -> bool {
        false
    }

    /// Whether it permits a new packet, apart from pacing.
    fn can_send(&self, view: &View, bytes: u32) -> bool;

    /// Whether it permits a retransmission, apart from pacing.
    fn can_resend(&self, _view: &View, _bytes: u32) -> bool {
        true
    }

    /// Until when pacing holds packets back.
    fn next_send(&self) -> Time;

    /// Its window in bytes.
    fn window(&self) -> u64;

    /// Its slow-start threshold in bytes, if it has one.
    fn threshold(&self) -> Option<u64> {
        None
    }

    /// The rate that it sends at, in bit/s.
    fn send_rate(&self, srtt: Span) -> f64;

    /// Message for the peer, as number and value. Polled, as trains are, after any call about the
    /// peer or time, not after those about sending.
    fn poll_sync(&mut self, _now: Time) -> Option<(u16, u32)> {
        None
    }

    /// A message of the peer's control arrived.
    fn on_sync(&mut self, _now: Time, _seq: u16, _value: u32) {}

    /// A packet of a train to send.
    fn poll_train(&mut self, _now: Time) -> Option<Probe> {
        None
    }

    /// A packet of a train arrived.
    fn on_train(&mut self, _now: Time, _train: &Train) {}

    /// Time of the next call of `on_timer`, if any.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time that `next_timer` returned has come.
    fn on_timer(&mut self, _now: Time) {}

    /// Reports the names and values of its observable state.
    fn observe(&self, _out: &mut Observer<'_>) {}
}

/// A packet of a train, as its control makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Direction of the packet.
    pub kind: TrainKind,
    /// Number of the packet.
    pub seq: u8,
    /// In an answer: microseconds between the arrivals of the pair, or 0.
    pub gap: u32,
    /// Bytes that make it as long as a data packet.
    pub padding: u16,
}

/// Whether pacing holds a packet back: less than the timers' tolerance does not.
pub(crate) fn held(next: Time, now: Time) -> bool {
    next > now + TOLERANCE
}

/// Departure times of paced packets: the clock restarts after a while without any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacingClock {
    next: Option<Time>,
}

impl PacingClock {
    const QUIET: Span = Span::from_millis(10);

    /// A packet is sent `now`, and the next one `gap` seconds later.
    pub(crate) fn sent(&mut self, now: Time, gap: f64) {
        let from = self.next.filter(|next| now <= *next + Self::QUIET).unwrap_or(now);
        self.next = Some(from + Span::from_secs_f64(gap));
    }

    /// When the next packet may be sent.
    pub(crate) fn next(&self) -> Time {
        self.next.unwrap_or(Time::ZERO)
    }
}
