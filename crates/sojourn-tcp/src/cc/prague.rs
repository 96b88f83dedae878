//! TCP Prague: a paced DCTCP for the Internet with accurate ECN feedback, whose rate does not
//! depend on round-trip times below 25 ms.
//!
//! Model: `net/ipv4/tcp_prague.c` of L4STeam/linux at 893e1479 (2024;
//! draft-briscoe-iccrg-prague-congestion-control). Every segment acknowledged without a mark adds `1/W` to a fractional
//! window, also while it is being reduced; once per round trip with marks the window is cut by
//! `alpha/2`, where `alpha` is the moving average of the marked share with gain 1/16. The first
//! mark halves the window. A few round trips after slow start, growth is scaled by
//! `(RTT / 25 ms)^2` and cuts and averages come once per 25 ms, so that flows of shorter round
//! trips have the rate, and the share of marks, of one of 25 ms: about `1/p - 1` Mbit/s. The
//! window in use follows the fractional one (rounded up) by one segment per ACK. A loss halves.
//! Pacing at one window of IP packets per round trip (two in the first half of slow start), in
//! bursts of 250 us; as pacing counts payload, that is 3.6 % more than a window of segments.
//!
//! The round trip for pacing is that of the newest segments acknowledged (as at 02573a21, there
//! with a lower gain): the stack's smoothed RTT includes the wait of delayed ACKs, and with pacing
//! by it the window would never be the limit and would not grow.
//!
//! Deviations: no rate-based mode (there below four segments of window) and thus no pacing below
//! two segments per round trip and no 3 % swing of the rate; segments are not made smaller at low
//! rates; real numbers instead of fixed point.
//!
//! Observes: `alpha`, from 0 to 1; `fractional_window` (segments); `rounds` since slow start;
//! `increase` (segments per round trip, less than 1 where short round trips behave as longer ones).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AckSample, CongestionControl, ControlInit, Decision, EcnMode, Event, INFINITE_SSTHRESH,
    Registered,
};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::units::{Rate, Span, Time};

const GAIN: f64 = 1.0 / 16.0;
const MIN_WINDOW: u32 = 2;
/// Above this RTT growth is not scaled, whatever the target.
const MAX_SCALED_RTT: Span = Span::from_millis(100);
/// A burst lasts one second over 2 to this power.
const BURST_SHIFT: u32 = 12;
const MIN_RATE: u64 = 100_000;

/// Parameters of TCP Prague.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Flows of shorter round-trip times behave as with this one; `0 ms` switches that off.
    pub rtt_target: Span,
    /// Round trips after slow start before `rtt_target` applies.
    pub rtt_transition: u32,
    /// `alpha` of a new connection; zero halves the window at the first mark instead.
    pub initial_alpha: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params { rtt_target: Span::from_millis(25), rtt_transition: 4, initial_alpha: 0.0 }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if (0.0..=1.0).contains(&self.initial_alpha) {
            return Ok(());
        }
        let why = format!("{} is not between 0 and 1", self.initial_alpha);
        Err(FieldError::new("initial_alpha", why))
    }
}

/// TCP Prague.
#[derive(Debug)]
pub struct Prague {
    params: Params,
    packet_size: u32,
    cwnd: u32,
    ssthresh: u32,
    /// The fractional window in segments.
    window: f64,
    alpha: f64,
    alpha_at: Time,
    reduced_at: Option<Time>,
    seen_mark: bool,
    in_loss: bool,
    rounds: u32,
    round_end: u32,
    round_delivered: u64,
    round_marked: u64,
    marked: u64,
    srtt: Span,
    /// Smoothed RTT of the newest segments acknowledged, for pacing.
    pacing_rtt: Span,
    pacing_rate: Option<Rate>,
    burst: u32,
    saved: (u32, f64),
}

impl Registered for Prague {
    type Params = Params;
    const ECN: EcnMode = EcnMode::L4s;

    fn new(params: Params, init: &ControlInit) -> Self {
        Prague {
            params,
            packet_size: init.packet_size,
            cwnd: init.initial_window,
            ssthresh: INFINITE_SSTHRESH,
            window: f64::from(init.initial_window),
            alpha: params.initial_alpha,
            alpha_at: init.now,
            reduced_at: None,
            seen_mark: false,
            in_loss: false,
            rounds: 0,
            round_end: 0,
            round_delivered: 0,
            round_marked: 0,
            marked: 0,
            srtt: Span::ZERO,
            pacing_rtt: Span::ZERO,
            pacing_rate: None,
            burst: 1,
            saved: (0, 0.0),
        }
    }
}

impl Prague {
    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    fn rtt_independent(&self) -> bool {
        !self.in_slow_start() && self.rounds >= self.params.rtt_transition
    }

    /// Growth per window of segments acknowledged without a mark.
    fn increase(&self) -> f64 {
        let scaled = self.rounds >= self.params.rtt_transition
            && self.srtt < self.params.rtt_target
            && self.srtt <= MAX_SCALED_RTT;
        if !scaled {
            return 1.0;
        }
        let ratio = self.srtt.as_secs_f64() / self.params.rtt_target.as_secs_f64();
        ratio * ratio
    }

    fn grow(&mut self, ack: &AckSample) {
        let marked = (ack.delivered_ce - self.marked) as u32;
        self.marked = ack.delivered_ce;
        if marked > 0 && !self.seen_mark {
            self.seen_mark = true;
            if self.params.initial_alpha == 0.0 {
                self.window /= 2.0;
            }
        }
        let mut acked = ack.acked.saturating_sub(marked);
        if acked == 0 || self.in_loss || !ack.cwnd_limited {
            return;
        }
        if self.in_slow_start() {
            let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
            acked -= grown - self.cwnd;
            self.cwnd = grown;
            self.window = f64::from(grown);
        }
        self.window += f64::from(acked) * self.increase() / self.window;
    }

    /// Moves the window in use towards the fractional one by one segment.
    fn follow(&mut self) {
        let target = (self.window.ceil() as u32).max(MIN_WINDOW);
        if self.cwnd > target {
            self.cwnd -= 1;
            self.ssthresh = self.cwnd;
        } else if self.cwnd < target && !self.in_slow_start() {
            self.cwnd += 1;
        }
    }

    fn update_alpha(&mut self, now: Time, ack: &AckSample) {
        let early = self.rtt_independent() && now.since(self.alpha_at) < self.params.rtt_target;
        if ack.una < self.round_end || early {
            return;
        }
        let delivered = ack.delivered - self.round_delivered;
        if self.seen_mark {
            let share = (ack.delivered_ce - self.round_marked) as f64 / delivered.max(1) as f64;
            self.alpha += GAIN * (share.min(1.0) - self.alpha);
            self.alpha_at = now;
        }
        self.round_end = ack.next;
        self.round_delivered = ack.delivered;
        self.round_marked = ack.delivered_ce;
        self.rounds += u32::from(!self.in_slow_start());
    }

    fn update_pacing(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            let first = self.pacing_rtt == Span::ZERO;
            self.pacing_rtt = if first { rtt } else { (self.pacing_rtt * 7 + rtt) / 8 };
        }
        if self.pacing_rtt == Span::ZERO {
            return;
        }
        let window = (self.window as u32).max(ack.in_flight).max(1);
        let bits = u64::from(window) * u64::from(self.packet_size) * 8;
        let windows = if self.cwnd < self.ssthresh / 2 { 2 } else { 1 };
        let per_second = 1_000_000_000 * windows;
        let rate = (u128::from(bits) * per_second / u128::from(self.pacing_rtt.as_nanos())) as u64;
        let rate = rate.max(MIN_RATE);
        self.pacing_rate = Some(Rate::from_bps(rate));
        let segments = rate / (u64::from(self.packet_size) * 8);
        self.burst = ((segments >> BURST_SHIFT) as u32).max(1);
    }

    fn enter_cwr(&mut self, now: Time) {
        let early = self.rtt_independent()
            && self.reduced_at.is_some_and(|at| now.since(at) < self.params.rtt_target);
        if !early {
            self.reduced_at = Some(now);
            self.window -= self.window * self.alpha / 2.0;
        }
    }

    fn enter_loss(&mut self) {
        self.saved = (self.cwnd, self.window);
        self.window /= 2.0;
        self.in_loss = true;
    }
}

impl CongestionControl for Prague {
    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        self.srtt = ack.srtt;
        self.grow(ack);
        self.follow();
        self.update_alpha(now, ack);
        self.update_pacing(ack);
    }

    fn on_congestion(&mut self, now: Time, event: &Event) {
        match *event {
            Event::Ecn { .. } => self.enter_cwr(now),
            Event::Loss { .. } => self.enter_loss(),
            Event::Rto { cwnd, reduce, .. } => {
                if reduce {
                    self.enter_loss();
                }
                self.cwnd = cwnd;
            }
            Event::Recovered => self.in_loss = false,
            Event::Restart { .. } | Event::ReductionEnd { .. } | Event::TxStart { .. } => {}
        }
    }

    fn decision(&self) -> Decision {
        Decision {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            pacing_rate: self.pacing_rate,
            burst: Some(self.burst),
            owns_recovery: true,
            ..Decision::default()
        }
    }

    fn undo(&mut self, _now: Time) {
        self.in_loss = false;
        self.cwnd = self.cwnd.max(self.saved.0);
        self.window = self.window.max(self.saved.1);
    }

    fn observe(&self, out: &mut Observer<'_>) {
        out("alpha", self.alpha.into());
        out("fractional_window", self.window.into());
        out("rounds", self.rounds.into());
        out("increase", self.increase().into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bottleneck, control};
    use super::*;
    use crate::packet::Ecn;

    /// Rates of two flows that meet the same marks, proportional to the wait up to 10 ms.
    fn ratio(rtts: [f64; 2], rtt_target: Span) -> f64 {
        let prague = || control::<Prague>(|params| params.rtt_target = rtt_target);
        let mut path = Bottleneck::new(40.0, 1000).flow(rtts[0], prague()).flow(rtts[1], prague());
        path.mark = |wait, draw| {
            if draw < wait.as_millis_f64() / 10.0 { Ecn::Ce } else { Ecn::Ect1 }
        };
        path.run(10.0, |_, _, _, _| {});
        let before = [path.flows[0].meter.delivered, path.flows[1].meter.delivered];
        path.run(70.0, |_, _, _, _| {});
        (path.flows[0].meter.delivered - before[0]) as f64
            / (path.flows[1].meter.delivered - before[1]) as f64
    }

    #[test]
    fn rates_do_not_depend_on_round_trips_below_the_target() {
        let independent = ratio([4.0, 20.0], Span::from_millis(25));
        assert!((0.75..1.33).contains(&independent), "{independent}");
        let plain = ratio([4.0, 20.0], Span::ZERO);
        assert!(plain > 2.5, "{plain}");
    }

    /// Rate in Mbit/s, marked at random on a link that is never full.
    fn rate(mark: fn(Span, f64) -> Ecn) -> f64 {
        let mut path = Bottleneck::new(1000.0, 10_000).flow(10.0, control::<Prague>(|_| {}));
        path.mark = mark;
        path.run(5.0, |_, _, _, _| {});
        let before = path.flows[0].meter.delivered;
        path.run(125.0, |_, _, _, _| {});
        (path.flows[0].meter.delivered - before) as f64 * 1500.0 * 8.0 / 120e6
    }

    #[test]
    fn the_rate_is_about_one_over_the_marked_share_less_one() {
        let one_in_20 = rate(|_, draw| if draw < 0.05 { Ecn::Ce } else { Ecn::Ect1 });
        let one_in_5 = rate(|_, draw| if draw < 0.2 { Ecn::Ce } else { Ecn::Ect1 });
        // With two marks in 25 ms, the cut waits for the next mark after the last one's round:
        // cuts are rarer than in the equation, the rate higher.
        assert!((1.0..1.6).contains(&(one_in_20 / 19.0)), "{one_in_20}");
        assert!((1.0..1.6).contains(&(one_in_5 / 4.0)), "{one_in_5}");
        let ratio = one_in_20 / one_in_5 / (19.0 / 4.0);
        assert!((ratio - 1.0).abs() < 0.2, "{ratio}");
    }

    #[test]
    fn a_step_keeps_the_queue_short_and_the_link_busy() {
        let mut path = Bottleneck::new(100.0, 1000).flow(20.0, control::<Prague>(|_| {}));
        path.mark = |wait, _| if wait.as_millis() >= 1 { Ecn::Ce } else { Ecn::Ect1 };
        path.run(5.0, |_, _, _, _| {});
        let before = (path.flows[0].meter.delivered, path.waited);
        path.run(35.0, |_, _, _, _| {});
        let used = path.utilisation(path.flows[0].meter.delivered - before.0, 30.0);
        assert!(used > 0.95, "{used}");
        let waited = (path.waited.0 - before.1.0).as_millis_f64();
        assert!(waited / (path.waited.1 - before.1.1) as f64 <= 1.3);
    }

    #[test]
    fn a_loss_halves() {
        let mut prague = Prague::new(Params::default(), &super::super::testing::init());
        prague.window = 100.0;
        prague.on_congestion(Time::ZERO, &Event::Loss { in_flight: 100 });
        assert_eq!(prague.window, 50.0);
    }
}
