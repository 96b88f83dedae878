//! A fixed rate: a measuring instrument that sends payload at a constant rate, whatever the
//! feedback.
//!
//! No congestion control at all: lost segments are sent again within the rate, and the window is
//! large enough never to limit sending.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AckSample, CongestionControl, ControlInit, Decision, Event, INFINITE_SSTHRESH, Registered,
};
use crate::registry;
use crate::units::{Rate, Time};

/// More segments than any path holds.
const WINDOW: u32 = 1 << 20;

/// Parameters of the fixed rate.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Rate of the payload, retransmissions included.
    pub rate: Rate,
}

impl Default for Params {
    fn default() -> Self {
        Params { rate: Rate::from_bps(1_000_000) }
    }
}

impl registry::Params for Params {}

/// The fixed rate.
#[derive(Debug)]
pub struct FixedRate {
    rate: Rate,
}

impl Registered for FixedRate {
    type Params = Params;

    const ONLY_PACED: bool = true;

    fn new(params: Params, _init: &ControlInit) -> Self {
        FixedRate { rate: params.rate }
    }
}

impl CongestionControl for FixedRate {
    fn on_ack(&mut self, _now: Time, _ack: &AckSample) {}

    fn on_congestion(&mut self, _now: Time, _event: &Event) {}

    fn decision(&self) -> Decision {
        Decision {
            cwnd: WINDOW,
            ssthresh: INFINITE_SSTHRESH,
            pacing_rate: Some(self.rate),
            burst: Some(1),
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
    fn sends_at_its_rate_whatever_is_lost() {
        let fixed = control::<FixedRate>(|params| params.rate = Rate::from_bps(11_584_000));
        let mut path = Bottleneck::new(100.0, 1000).flow(40.0, fixed);
        path.loss = 0.1;
        path.run(10.0, |_, _, _, _| {});
        // A thousand segments of 1448 bytes in a second, and a tenth of them lost.
        let flow = &path.flows[0];
        assert!((flow.meter.delivered + flow.meter.lost).abs_diff(9_960) < 10);
        assert!((flow.meter.lost as f64 / 9_960.0 - 0.1).abs() < 0.01);
    }
}
