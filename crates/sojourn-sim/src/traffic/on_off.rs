//! On-off: a constant rate while on, nothing while off.
//!
//! `rate` counts payload. Times on and off are fixed, or exponentially distributed about their
//! means. The source is on at the flow's start. A write happens whenever `size` bytes have
//! accumulated at `rate` over the times on, the first at once, so the mean rate is exactly
//! `rate` x on / (on + off) however short the times on are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draw::Spread;
use super::{Registered, Workload, Write, check_writes};
use crate::error::FieldError;
use crate::quantity::Bytes;
use crate::rng::Stream;
use crate::units::{Rate, Span};

/// Most periods, on average, that one write may take.
const MOST_PERIODS_PER_WRITE: u64 = 1_000;

/// Parameters of an on-off source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Payload rate while on.
    pub rate: Rate,
    /// Payload of one write.
    pub size: Bytes,
    /// Mean time on.
    pub on: Span,
    /// Mean time off.
    pub off: Span,
    /// Distribution of the times on and off.
    pub times: Spread,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            rate: Rate::from_bps(1_000_000),
            size: Bytes(1448),
            on: Span::from_secs(1),
            off: Span::from_secs(1),
            times: Spread::Exponential,
        }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        check_writes(self.rate, self.size)?;
        let least = self.rate.span_of(self.size.0) / MOST_PERIODS_PER_WRITE;
        if self.on == Span::ZERO || self.on < least {
            let allowed = format!("above zero, and at least {least} with this rate and size");
            return Err(FieldError::new("on", format!("{} given; allowed: {allowed}", self.on)));
        }
        Ok(())
    }
}

/// A constant rate while on, nothing while off.
#[derive(Debug)]
pub struct OnOff {
    params: Params,
    /// Time left of the present period on; `None` before the first.
    left: Option<Span>,
    carry: u64,
}

impl Registered for OnOff {
    type Params = Params;

    fn new(params: Params) -> Self {
        OnOff { params, left: None, carry: 0 }
    }
}

impl Workload for OnOff {
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        let Params { rate, size, on, off, times } = self.params;
        let bytes = size.0;
        let Some(mut left) = self.left else {
            self.left = Some(times.span(on, rng));
            return Some(Write { after: Span::ZERO, bytes });
        };
        let mut needed = rate.transmission(bytes as u32, &mut self.carry);
        let mut after = Span::ZERO;
        while needed >= left {
            after += left + times.span(off, rng);
            needed -= left;
            left = times.span(on, rng);
        }
        self.left = Some(left - needed);
        Some(Write { after: after + needed, bytes })
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::testing::{actions, written};
    use crate::units::Span;

    #[test]
    fn fixed_times_write_only_while_on() {
        let kind = "{ kind = 'on-off', rate = '8 kbit/s', size = '100 B', on = '1 s', \
                    off = '500 ms', times = 'fixed' }";
        let seen = actions(kind, Span::from_secs(6));
        let phase = |at: Span| at.as_nanos() % 1_500_000_000;
        assert!(seen.iter().all(|(at, _)| phase(*at) < 1_000_000_000));
        assert_eq!(written(&seen), 4 * 1000);
    }

    #[test]
    fn exponential_times_keep_the_mean_rate() {
        // Each time on is shorter than a write takes.
        let kind = "{ kind = 'on_off', rate = '1 Mbit/s', size = '1000 B', on = '2 ms', \
                    off = '6 ms' }";
        let seconds = 4_000;
        let rate = written(&actions(kind, Span::from_secs(seconds))) as f64 / seconds as f64;
        let expected = 125_000.0 / 4.0;
        assert!((rate / expected - 1.0).abs() < 0.01, "{rate} instead of {expected} bytes/s");
    }
}
