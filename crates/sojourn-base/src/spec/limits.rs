//! What is too large for any machine, and how it is refused.

use std::fmt::Display;

use crate::error::FieldError;
use crate::units::{Rate, Span};

/// Propagation delays beyond this are typing errors.
pub const LONGEST_DELAY: Span = Span::from_secs(3_600);
/// Rates beyond this are typing errors.
pub const FASTEST: Rate = Rate::from_bps(10_000_000_000_000);
/// Packets that a queue, a buffer or a path may hold.
pub const MOST_PACKETS: u64 = 50_000_000;
/// Bytes that a queue or a buffer may hold.
pub const MOST_BYTES: u64 = 64_000_000_000;
/// Packets in flight are estimated with this size in bytes.
pub const SMALL_PACKET: u64 = 1_000;

/// An error of `field`: what was given, what is allowed.
pub fn refuse(field: &str, given: impl Display, allowed: impl Display) -> Result<(), FieldError> {
    Err(FieldError::new(field, format!("{given} given; allowed: {allowed}")))
}

/// Refuses what was given unless it `holds`.
pub fn require(
    holds: bool,
    field: &str,
    given: impl Display,
    allowed: &str,
) -> Result<(), FieldError> {
    if holds { Ok(()) } else { refuse(field, given, allowed) }
}
