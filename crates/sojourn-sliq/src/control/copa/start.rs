//! The packet-pair start of paths with a long RTT.

use sojourn_base::units::Time;

use super::{Copa, DELTA, State};
use crate::control::fast_start::{FastStart, Measured};

const MAX_START_RATE: f64 = 11_500.0;

impl Copa {
    pub(super) fn end_fast_start(&mut self, now: Time, measured: Option<Measured>) {
        let Some(measured) = measured else {
            self.state = State::FastStart(Box::new(FastStart::new(now, self.srtt)));
            return;
        };
        let spread = measured.max_rtt - measured.min_rtt;
        let limit = if spread > 0.0 { 2.0 / (DELTA * spread) } else { f64::INFINITY };
        let rate = measured.rate.min(limit).min(MAX_START_RATE);
        self.srtt = measured.mean_rtt;
        self.standing_rtt = measured.min_rtt;
        self.min_rtt = measured.min_rtt;
        self.own_min_rtt = measured.min_rtt;
        self.window = rate * measured.min_rtt;
        self.gap = 1.0 / rate;
        self.state = State::ClosedLoop;
    }

    pub(super) fn look_at_fast_start(&mut self, now: Time) {
        let State::FastStart(start) = &self.state else { return };
        if let Some(measured) = start.outcome() {
            self.end_fast_start(now, measured);
        }
    }
}
