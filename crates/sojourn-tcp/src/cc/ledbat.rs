//! LEDBAT: yields to other traffic by keeping the queueing delay near a target.
//!
//! Model: RFC 6817. The window moves by `GAIN x (target - queueing delay) / target` segments per
//! round trip, so it grows by at most one and shrinks the faster the further the delay is above
//! the target. The queueing delay is the least of the last four delay samples less the base
//! delay, the least of the last ten minutes. A loss halves the window, at most once per round
//! trip; a timeout sets it to one segment. Where the window does not limit the sender, it never
//! exceeds what was in flight by more than one segment.
//!
//! Deviations: delays are round-trip times instead of one-way delays, as TCP measures them, so a
//! queue on the reverse path counts too; the sender's proportional rate reduction spreads the
//! halving; the sender says whether the window limits it (as Linux's controls are told), because
//! the data in flight alone stays below the window while a large segment waits for more data.
//!
//! Observes: `queueing_delay`, the difference of `current_delay` and `base_delay` (s).

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AckSample, CongestionControl, ControlInit, Decision, Event, INFINITE_SSTHRESH, Registered,
};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::units::{Span, Time};

/// Number of delay samples whose minimum is the current delay (`CURRENT_FILTER`).
const CURRENT_FILTER: usize = 4;
/// Time that one entry of the base history covers.
const MINUTE: Span = Span::from_secs(60);
/// Initial and smallest window in segments (`INIT_CWND`, `MIN_CWND`).
const MIN_WINDOW: f64 = 2.0;
/// Segments that the window may exceed the flight by (`ALLOWED_INCREASE`).
const ALLOWED_INCREASE: f64 = 1.0;

/// Parameters of LEDBAT.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Queueing delay aimed at, at most 100 ms.
    pub target: Span,
    /// Segments of growth per round trip without queue, at most 1.
    pub gain: f64,
    /// Minutes over which the base delay is the minimum.
    pub base_history: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { target: Span::from_millis(100), gain: 1.0, base_history: 10 }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.target == Span::ZERO || self.target > Span::from_millis(100) {
            let why = format!("{} is not above 0 ms and at most 100 ms", self.target);
            return Err(FieldError::new("target", why));
        }
        if !(self.gain > 0.0 && self.gain <= 1.0) {
            let why = format!("{} is not above 0 and at most 1", self.gain);
            return Err(FieldError::new("gain", why));
        }
        if !(1..=60).contains(&self.base_history) {
            let why = format!("{} is not between 1 and 60", self.base_history);
            return Err(FieldError::new("base_history", why));
        }
        Ok(())
    }
}

/// LEDBAT.
#[derive(Debug)]
pub struct Ledbat {
    target: f64,
    gain: f64,
    /// Segments.
    window: f64,
    ssthresh: u32,
    /// The latest delays, and the index of the next to be replaced.
    current: [Span; CURRENT_FILTER],
    next: usize,
    /// The minimum delay of each minute, latest last.
    base: VecDeque<Span>,
    history: usize,
    minute: Time,
    saved: f64,
}

impl Registered for Ledbat {
    type Params = Params;

    fn new(params: Params, init: &ControlInit) -> Self {
        let history = params.base_history as usize;
        let mut base = VecDeque::with_capacity(history + 1);
        base.push_back(Span::MAX);
        Ledbat {
            target: params.target.as_secs_f64(),
            gain: params.gain,
            window: MIN_WINDOW,
            ssthresh: INFINITE_SSTHRESH,
            current: [Span::MAX; CURRENT_FILTER],
            next: 0,
            base,
            history,
            minute: init.now,
            saved: MIN_WINDOW,
        }
    }
}

impl Ledbat {
    fn measure(&mut self, now: Time, delay: Span) {
        if now.since(self.minute) >= MINUTE {
            self.minute = now;
            self.base.push_back(delay);
            if self.base.len() > self.history {
                self.base.pop_front();
            }
        } else if let Some(latest) = self.base.back_mut() {
            *latest = delay.min(*latest);
        }
        self.current[self.next] = delay;
        self.next = (self.next + 1) % CURRENT_FILTER;
    }

    fn current_delay(&self) -> Span {
        self.current.iter().min().copied().unwrap_or(Span::ZERO)
    }

    fn base_delay(&self) -> Span {
        self.base.iter().min().copied().unwrap_or(Span::ZERO)
    }

    fn queueing_delay(&self) -> Span {
        self.current_delay() - self.base_delay()
    }

    fn adjust(&mut self, ack: &AckSample) {
        let off_target = (self.target - self.queueing_delay().as_secs_f64()) / self.target;
        let window = self.window + self.gain * off_target * f64::from(ack.acked) / self.window;
        let allowed = match ack.cwnd_limited {
            true => f64::INFINITY,
            false => f64::from(ack.prior_in_flight) + ALLOWED_INCREASE,
        };
        self.window = window.min(allowed).max(MIN_WINDOW);
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            self.measure(now, rtt);
        }
        if ack.may_grow && ack.acked > 0 {
            self.adjust(ack);
        }
    }

    fn on_congestion(&mut self, _now: Time, event: &Event) {
        match *event {
            Event::Loss { .. } | Event::Ecn { .. } => {
                self.ssthresh = (self.window / 2.0).max(MIN_WINDOW) as u32;
            }
            Event::Rto { cwnd, .. } => self.window = f64::from(cwnd),
            Event::ReductionEnd { cwnd } => self.window = f64::from(cwnd).max(MIN_WINDOW),
            Event::Restart { cwnd, .. } => self.window = f64::from(cwnd),
            Event::Recovered | Event::TxStart { .. } => {}
        }
    }

    fn decision(&self) -> Decision {
        Decision {
            cwnd: (self.window as u32).max(1),
            ssthresh: self.ssthresh,
            ..Decision::default()
        }
    }

    fn save(&mut self) {
        self.saved = self.window;
    }

    fn undo(&mut self, _now: Time) {
        self.window = self.window.max(self.saved);
    }

    fn observe(&self, out: &mut Observer<'_>) {
        out("queueing_delay", self.queueing_delay().as_secs_f64().into());
        if self.current_delay() < Span::MAX {
            out("current_delay", self.current_delay().as_secs_f64().into());
            out("base_delay", self.base_delay().as_secs_f64().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reno::Reno;
    use super::super::testing::{Bottleneck, control};
    use super::*;

    fn mean_wait_ms(path: &Bottleneck, before: (Span, u64)) -> f64 {
        (path.waited.0 - before.0).as_millis_f64() / (path.waited.1 - before.1) as f64
    }

    #[test]
    fn the_queueing_delay_settles_on_the_target() {
        for target in [25, 100] {
            let ledbat = control::<Ledbat>(|params| params.target = Span::from_millis(target));
            let mut path = Bottleneck::new(12.0, 1000).flow(20.0, ledbat);
            path.run(60.0, |_, _, _, _| {});
            let before = path.waited;
            path.run(90.0, |_, _, _, _| {});
            let wait = mean_wait_ms(&path, before);
            assert!((wait / target as f64 - 1.0).abs() < 0.05, "{wait} of {target}");
        }
    }

    #[test]
    fn yields_to_reno() {
        let mut path = Bottleneck::new(12.0, 200)
            .flow(20.0, control::<Ledbat>(|_| {}))
            .flow(20.0, control::<Reno>(|_| {}));
        path.run(60.0, |_, _, _, _| {});
        let share = path.flows[0].meter.delivered as f64 / path.flows[1].meter.delivered as f64;
        assert!(share < 0.25, "{share}");
    }

    #[test]
    fn grows_by_at_most_a_segment_per_round_trip() {
        let mut path = Bottleneck::new(1000.0, 1000).flow(100.0, control::<Ledbat>(|_| {}));
        let mut window = 0;
        path.run(10.0, |_, _, flow, _| window = flow.control.decision().cwnd);
        // The window in use is rounded down, so a little less than one.
        assert!((90..=101).contains(&window), "{window} after 100 round trips");
    }
}
