//! Constant bit rate: writes of one size at equal intervals.
//!
//! `rate` counts payload. The first write is at the flow's start; intervals carry their remainder,
//! so the rate does not drift. Over UDP each write is a datagram; over TCP it is an application
//! limited to that rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Registered, Workload, Write, check_writes};
use crate::error::FieldError;
use crate::quantity::Bytes;
use crate::rng::Stream;
use crate::units::{Rate, Span};

/// Parameters of a constant bit rate.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Payload rate.
    pub rate: Rate,
    /// Payload of one write.
    pub size: Bytes,
}

impl Default for Params {
    fn default() -> Self {
        Params { rate: Rate::from_bps(1_000_000), size: Bytes(1448) }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        check_writes(self.rate, self.size)
    }
}

/// Writes of one size at equal intervals.
#[derive(Debug)]
pub struct Cbr {
    params: Params,
    carry: u64,
    started: bool,
}

impl Registered for Cbr {
    type Params = Params;

    fn new(params: Params) -> Self {
        Cbr { params, carry: 0, started: false }
    }
}

impl Workload for Cbr {
    fn next(&mut self, _rng: &mut Stream) -> Option<Write> {
        let bytes = self.params.size.0;
        let after = if self.started {
            self.params.rate.transmission(bytes as u32, &mut self.carry)
        } else {
            Span::ZERO
        };
        self.started = true;
        Some(Write { after, bytes })
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::testing::{actions, written};
    use crate::units::Span;

    #[test]
    fn rate_does_not_drift() {
        // The interval between writes, 1/3 ms, is not a whole number of nanoseconds.
        let kind = "{ kind = 'cbr', rate = '2400 kbit/s', size = '100 B' }";
        assert_eq!(written(&actions(kind, Span::from_secs(1_000))), 300_000_000);
    }
}
