//! Sized transfers: a given number of bytes, once or repeatedly.
//!
//! A transfer is one write; the connection is closed after the last one, and the flow completes
//! when all of it is acknowledged. Repeated transfers use the same connection, as a persistent HTTP
//! connection does: the window, the RTT estimate and the effects of idle time on them carry over.
//! Each begins `interval` after the one before began, whether or not that one has ended; data that
//! cannot be sent yet waits. For transfers with connections of their own use `count` and `start`.
//! It needs a transport with congestion control, so it cannot use UDP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Registered, Workload, Write, check_interval};
use crate::error::FieldError;
use crate::quantity::Bytes;
use crate::rng::Stream;
use crate::units::Span;

/// Parameters of sized transfers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Payload of one transfer.
    pub size: Bytes,
    /// Number of transfers.
    pub repeats: u32,
    /// Time between the starts of two transfers.
    pub interval: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { size: Bytes(1_000_000), repeats: 1, interval: Span::from_secs(1) }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.size.0 == 0 {
            return Err(FieldError::new("size", "0 B given; allowed: at least 1 B"));
        }
        if self.repeats == 0 {
            return Err(FieldError::new("repeats", "0 given; allowed: at least 1"));
        }
        if self.repeats > 1 { check_interval("interval", self.interval) } else { Ok(()) }
    }
}

/// A given number of bytes, once or repeatedly.
#[derive(Debug)]
pub struct Transfers {
    params: Params,
    written: u32,
}

impl Registered for Transfers {
    type Params = Params;
    const SELF_PACED: bool = false;

    fn new(params: Params) -> Self {
        Transfers { params, written: 0 }
    }
}

impl Workload for Transfers {
    fn next(&mut self, _rng: &mut Stream) -> Option<Write> {
        if self.written == self.params.repeats {
            return None;
        }
        let after = if self.written == 0 { Span::ZERO } else { self.params.interval };
        self.written += 1;
        Some(Write { after, bytes: self.params.size.0 })
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::Action::{Close, Open, Write};
    use crate::traffic::testing::actions;
    use crate::units::Span;

    #[test]
    fn opens_writes_at_intervals_and_closes() {
        let kind = "{ kind = 'sized', size = '10 kB', repeats = 2, interval = '3 s' }";
        let seen = actions(kind, Span::from_secs(100));
        let at = |seconds| Span::from_secs(seconds);
        let expected =
            [(at(0), Open), (at(0), Write(10_000)), (at(3), Write(10_000)), (at(3), Close)];
        assert_eq!(seen, expected);
    }
}
