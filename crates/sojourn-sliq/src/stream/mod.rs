//! Streams: numbered packets of one priority and one kind of reliability.

mod acknowledge;
mod blocks;
mod grouped;
mod groups;
mod losses;
mod packets;
mod past;
mod receive;
mod regroup;
mod resend;
mod rounds;
mod send;

pub(crate) use packets::Attempt;
pub use receive::Delivered;
pub(crate) use receive::{Arrival, Counts, Receiver};
pub(crate) use send::Sender;

use super::wire::CreateStream;
use sojourn_base::units::Span;

/// The highest number of a stream; the lowest is 1.
pub(crate) const MAX_STREAM: u8 = 32;
/// The lowest priority; the highest is 0.
pub(crate) const LOWEST_PRIORITY: u8 = 7;

/// Reliability of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reliability {
    /// Does not retransmit.
    BestEffort,
    /// Retransmits a packet a limited number of times.
    SemiReliable {
        /// Retransmissions of a packet.
        retransmissions: u8,
    },
    /// Retransmits, or sends coded packets, or both, so that enough packets arrive in time.
    Adaptive {
        /// Retransmissions of a packet after its group's rounds.
        retransmissions: u8,
        /// Probability of delivery in time.
        probability: f64,
        /// The time.
        target: Target,
    },
    /// Retransmits until it arrives.
    Reliable,
}

/// Delivery target of packets of an adaptive stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Number of rounds.
    Rounds(u8),
    /// Time after their first transmission.
    Deadline(Span),
}

/// A stream's properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamConfig {
    /// 0 (highest) to 7.
    pub priority: u8,
    /// Its reliability.
    pub reliability: Reliability,
    /// Whether the receiver delivers in the order of sending.
    pub ordered: bool,
}

impl Default for StreamConfig {
    fn default() -> Self {
        StreamConfig { priority: 0, reliability: Reliability::Reliable, ordered: true }
    }
}

impl StreamConfig {
    /// The header that creates such a stream, at an end that takes `window` packets.
    pub fn header(&self, stream: u8, window: u32, initial_seq: u32, answer: bool) -> CreateStream {
        let mut header = CreateStream {
            answer,
            stream,
            priority: self.priority,
            window,
            initial_seq,
            ordered: self.ordered,
            mode: 0,
            retransmissions: 0,
            timed: false,
            target: 0,
            probability: 0,
        };
        match self.reliability {
            Reliability::BestEffort => {}
            Reliability::SemiReliable { retransmissions } => {
                (header.mode, header.retransmissions) = (1, retransmissions);
            }
            Reliability::Adaptive { retransmissions, probability, target } => {
                (header.mode, header.retransmissions) = (2, retransmissions);
                header.probability = (probability * 1e4).round() as u16;
                (header.timed, header.target) = match target {
                    Target::Rounds(rounds) => (false, rounds.into()),
                    Target::Deadline(deadline) => (true, deadline.as_millis() as u16),
                };
            }
            Reliability::Reliable => header.mode = 4,
        }
        header
    }

    /// The configuration that a peer's header requests; `None` if that is not allowed.
    pub fn from_header(header: &CreateStream) -> Option<Self> {
        let retransmissions = header.retransmissions;
        let reliability = match header.mode {
            0 => Reliability::BestEffort,
            1 => Reliability::SemiReliable { retransmissions },
            2 => {
                let probability = f64::from(header.probability) * 1e-4;
                let target = if header.timed {
                    Target::Deadline(Span::from_millis(header.target.into()))
                } else {
                    Target::Rounds(u8::try_from(header.target).ok()?)
                };
                Reliability::Adaptive { retransmissions, probability, target }
            }
            4 => Reliability::Reliable,
            _ => return None,
        };
        let config =
            StreamConfig { priority: header.priority, reliability, ordered: header.ordered };
        let numbered = (1..=MAX_STREAM).contains(&header.stream);
        (numbered && config.check().is_ok()).then_some(config)
    }

    /// Checks that the properties are allowed.
    ///
    /// # Errors
    /// A priority, probability, deadline or number of rounds is out of range: the property, and its
    /// allowed values.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.priority > LOWEST_PRIORITY {
            return Err(("priority", "0 (highest) to 7"));
        }
        if let Reliability::Adaptive { probability, target, .. } = self.reliability {
            if !(0.95..=0.999).contains(&probability) {
                return Err(("probability", "0.95 to 0.999"));
            }
            match target {
                Target::Rounds(rounds) if !(1..=super::aec::MAX_ROUNDS).contains(&rounds) => {
                    return Err(("rounds", "1 to 7"));
                }
                Target::Deadline(deadline)
                    if deadline < Span::from_millis(1) || deadline > Span::from_secs(65) =>
                {
                    return Err(("deadline", "1 ms to 65 s"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether groups of packets are coded.
    pub fn is_adaptive(&self) -> bool {
        matches!(self.reliability, Reliability::Adaptive { .. })
    }

    /// Retransmissions of a packet, if they are limited.
    pub fn limit(&self) -> Option<u8> {
        match self.reliability {
            Reliability::BestEffort => Some(0),
            Reliability::SemiReliable { retransmissions }
            | Reliability::Adaptive { retransmissions, .. } => Some(retransmissions),
            Reliability::Reliable => None,
        }
    }
}
