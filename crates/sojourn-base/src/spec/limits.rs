//! Upper bounds of sizes, rates and delays, and the error of a value beyond them.

use std::fmt::Display;

use crate::error::{FieldError, quoted};
use crate::units::{Rate, Span};

/// Longest propagation delay; longer ones are typing errors.
pub const LONGEST_DELAY: Span = Span::from_secs(3_600);
/// Highest rate; higher ones are typing errors.
pub const FASTEST: Rate = Rate::from_bps(10_000_000_000_000);
/// Most packets that a queue, a buffer or a path may hold.
pub const MOST_PACKETS: u64 = 50_000_000;
/// Most bytes that a queue or a buffer may hold.
pub const MOST_BYTES: u64 = 64_000_000_000;
/// Most characters of a label, a group or the id of a node or link.
pub const LONGEST_LABEL: usize = 200;
/// Packet size in bytes by which packets in flight are estimated.
pub const SMALL_PACKET: u64 = 1_000;

/// An error of `field`: the given value and what is allowed.
pub fn refuse(field: &str, given: impl Display, allowed: impl Display) -> Result<(), FieldError> {
    let given = given.to_string();
    Err(FieldError::new(field, format!("{} given; allowed: {allowed}", quoted(&given))))
}

/// Refuses the given value unless it `holds`.
pub fn require(
    holds: bool,
    field: &str,
    given: impl Display,
    allowed: &str,
) -> Result<(), FieldError> {
    if holds { Ok(()) } else { refuse(field, given, allowed) }
}

/// Refuses a label or an id that tables, figures and messages could not show.
pub fn require_label(field: &str, text: &str) -> Result<(), FieldError> {
    let fits = text.chars().nth(LONGEST_LABEL).is_none() && !text.chars().any(char::is_control);
    let allowed = "at most 200 characters, none of them a control character";
    require(fits, field, format_args!("{text:?}"), allowed)
}
