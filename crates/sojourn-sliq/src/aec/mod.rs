//! Adaptive error control: retransmission, an erasure code, or both, against a deadline.
//!
//! Model: `iron/sliq/src/sliq_sent_packet_manager.cc`. A group of up to ten source packets is sent
//! in rounds. Each round but the last sends as many packets as make decoding likely enough, the
//! last one as many as deliver enough of the source packets; packets still missing are
//! retransmitted late. The number of rounds and of source packets is decided for each group
//! ([`decide`]) from tables of efficiency, which are computed here ([`tables`]).

mod decide;
mod tables;

pub(crate) use decide::Decision;
pub use decide::{Decider, Expected, Path};
pub(crate) use tables::Plan;

/// Source packets of a group.
pub(crate) const MAX_SOURCES: u8 = 10;
/// Rounds of a group that uses the code.
pub(crate) const MAX_ROUNDS: u8 = 7;
/// A group whose rounds are over.
pub(crate) const OUT_OF_ROUNDS: u8 = 15;
