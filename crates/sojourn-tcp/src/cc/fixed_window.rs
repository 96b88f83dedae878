//! A fixed window: a measuring instrument that keeps the same number of segments in flight,
//! whatever the feedback.
//!
//! No congestion control at all. Its throughput on an idle path is the smaller of window over
//! round-trip time and link rate, and its standing queue is the excess of the window over the
//! bandwidth-delay product: exact values to check a simulator against.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AckSample, CongestionControl, ControlInit, Decision, Event, INFINITE_SSTHRESH, Registered,
};
use crate::error::FieldError;
use crate::quantity::Packets;
use crate::units::Time;

/// Largest window in segments.
const MAX_WINDOW: u64 = 1 << 20;

/// Parameters of the fixed window.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Segments in flight.
    pub window: Packets,
}

impl Default for Params {
    fn default() -> Self {
        Params { window: Packets(10) }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if (1..=MAX_WINDOW).contains(&self.window.0) {
            return Ok(());
        }
        let why = format!("{} is not between 1 and {MAX_WINDOW} packets", self.window);
        Err(FieldError::new("window", why))
    }
}

/// The fixed window.
#[derive(Debug)]
pub struct FixedWindow {
    window: u32,
}

impl Registered for FixedWindow {
    type Params = Params;

    fn new(params: Params, _init: &ControlInit) -> Self {
        FixedWindow { window: params.window.0 as u32 }
    }
}

impl CongestionControl for FixedWindow {
    fn on_ack(&mut self, _now: Time, _ack: &AckSample) {}

    fn on_congestion(&mut self, _now: Time, _event: &Event) {}

    fn decision(&self) -> Decision {
        Decision {
            cwnd: self.window,
            ssthresh: INFINITE_SSTHRESH,
            owns_recovery: true,
            ..Decision::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bottleneck, control};
    use super::*;

    #[test]
    fn throughput_and_queue_are_exact() {
        // 12 Mbit/s is a packet per millisecond: the product of 40 ms is 40 packets, and one is
        // being sent.
        let run = |window| {
            let fixed = control::<FixedWindow>(|params| params.window = Packets(window));
            let mut path = Bottleneck::new(12.0, 1000).flow(40.0, fixed);
            path.run(10.0, |_, _, _, _| {});
            let waited = path.waited.0.as_millis_f64() / path.waited.1 as f64;
            (path.flows[0].meter.delivered, waited)
        };
        let (delivered, waited) = run(20);
        // Twenty every 41 ms, and in the first one nothing.
        assert!(delivered.abs_diff(10_000 * 20 / 41) <= 20, "{delivered}");
        assert!(waited < 10.0, "only the first burst waits: {waited}");
        let (delivered, waited) = run(61);
        assert!(delivered.abs_diff(9_960) <= 1, "{delivered}");
        assert!((waited - 20.0).abs() < 0.2, "{waited}");
    }
}
