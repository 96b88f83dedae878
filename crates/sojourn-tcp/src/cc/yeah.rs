//! YeAH: grows like Scalable TCP while the queue is short and like Reno while it is not, and drains
//! a long queue before it overflows.
//!
//! Model: Linux `net/ipv4/tcp_yeah.c`; Baiocchi, Castellani, Vacirca, "YeAH-TCP: yet another
//! highspeed TCP", PFLDnet 2007. Once per round trip, Q = W (RTT - base) / RTT segments wait in the
//! network. While Q <= 80 and RTT - base <= base / 8: fast mode, one segment per min(W, 100).
//! Otherwise slow mode: Reno's growth; and if Q > 80, the window is reduced by min(Q, W/2), but not
//! below the estimated window of a Reno flow that shares the queue (`reno_count`). A loss reduces
//! it by max(min(Q, W/2), W/8), or by half after 16 rounds in slow mode, which indicate
//! competition.
//!
//! - `linux-6` counts acknowledged segments.
//! - `linux-4.9` counts ACKs in Reno's growth; in fast mode it counts segments but starts each
//!   count anew, so that it grows by one per min(W, 100) and one ACK.
//!
//! Observes: `mode` (`fast`, `slow`), `queue` (Q, segments), `reno_count` (segments),
//! `slow_rounds`, `fast_rounds`; `base_rtt` and `round_min_rtt`, the lowest ever and of this round
//! (s).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::round_rtt::RoundRtt;
use super::window::{Window, counts_acks};
use super::{AckSample, CaState, ControlInit, Event};
use crate::observe::Observer;
use crate::spec::Stack;
use crate::units::Time;

/// Number of segments above which the queue counts as long (`TCP_YEAH_ALPHA`).
const LONGEST_QUEUE: u32 = 80;
/// The RTT may exceed the base by the base over this (`TCP_YEAH_PHY`).
const DELAY_PART: u32 = 8;
/// Rounds in slow mode after which a loss is attributed to competition (`TCP_YEAH_RHO`).
const COMPETITION: u32 = 16;
/// Rounds in fast mode after which no competing flow is assumed (`TCP_YEAH_ZETA`).
const ALONE: u32 = 50;
/// Growth in fast mode: one per this many segments (`TCP_SCALABLE_AI_CNT`).
const SCALABLE: u32 = 100;

/// Parameters of YeAH.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version of the rules: `linux-6` (counts segments) or `linux-4.9` (counts ACKs).
    pub version: Stack,
}

impl Default for Params {
    fn default() -> Self {
        Params { version: Stack::Linux6 }
    }
}

impl crate::registry::Params for Params {}

/// YeAH.
pub type Yeah = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    version: Stack,
    rtts: RoundRtt,
    queue: u32,
    /// Rounds in slow mode so far; 0: fast mode.
    slow_rounds: u32,
    fast_rounds: u32,
    reno_count: u32,
    state: CaState,
    /// Segments that the last ACK in the Open state covered.
    covered: u32,
}

impl Law {
    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        let counted = window.slow_start_then(self.version, ack.acked);
        if counted == 0 {
            return;
        }
        let cwnd = window.cwnd;
        match (self.slow_rounds, counts_acks(self.version)) {
            (0, false) => window.additive_increase(cwnd.min(SCALABLE), counted),
            (0, true) => self.grow_fast_49(window),
            _ => window.additive_increase(cwnd, counted),
        }
    }

    fn grow_fast_49(&mut self, window: &mut Window) {
        window.count += self.covered;
        if window.count > window.cwnd.min(SCALABLE) {
            window.cwnd += 1;
            window.count = 0;
        }
        self.covered = 1;
    }

    /// Once per round trip: chooses the mode.
    fn judge(&mut self, window: &mut Window) {
        let (base, rtt) = (self.rtts.base, self.rtts.lowest);
        let cwnd = window.cwnd;
        let queue = (u64::from(cwnd) * u64::from(rtt - base) / u64::from(rtt)) as u32;
        self.queue = queue;
        if queue <= LONGEST_QUEUE && rtt - base <= base / DELAY_PART {
            self.fast_rounds += 1;
            if self.fast_rounds > ALONE {
                self.reno_count = 2;
                self.fast_rounds = 0;
            }
            self.slow_rounds = 0;
            return;
        }
        if queue > LONGEST_QUEUE && cwnd > self.reno_count {
            window.cwnd = (cwnd - queue.min(cwnd / 2)).max(self.reno_count);
            window.ssthresh = window.cwnd;
        }
        if self.reno_count <= 2 {
            self.reno_count = (window.cwnd / 2).max(2);
        } else {
            self.reno_count += 1;
        }
        self.slow_rounds += 1;
    }

    fn reduce(&mut self, cwnd: u32) -> u32 {
        let half = (cwnd / 2).max(2);
        let reduction =
            if self.slow_rounds < COMPETITION { self.queue.min(half).max(cwnd / 8) } else { half };
        self.fast_rounds = 0;
        self.reno_count = (self.reno_count / 2).max(2);
        cwnd.saturating_sub(reduction).max(2)
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law {
            version: params.version,
            rtts: RoundRtt::default(),
            queue: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_count: 2,
            state: CaState::Open,
            covered: 1,
        }
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        self.rtts.on_ack(ack);
        if self.state == CaState::Open {
            self.covered = ack.cum_acked;
        }
        self.state = ack.state;
        if !(ack.may_grow && ack.cwnd_limited) {
            return;
        }
        self.grow(window, ack);
        if self.rtts.round_ended(ack) {
            if self.rtts.samples > 2 {
                self.judge(window);
            }
            self.rtts.begin_round();
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        self.reduce(window.cwnd)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
        self.rtts.on_event(event);
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        self.rtts.observe(out);
        out("mode", if self.slow_rounds == 0 { "fast" } else { "slow" }.into());
        out("queue", self.queue.into());
        out("reno_count", self.reno_count.into());
        out("slow_rounds", self.slow_rounds.into());
        out("fast_rounds", self.fast_rounds.into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Path;
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::Registered;
    use crate::units::Span;

    /// A BDP of 1000 segments.
    fn path(version: Stack) -> Path<Yeah> {
        let mut path = Path::<Yeah>::new(Params { version }, Span::from_millis(100));
        path.rate = Some(10_000.0);
        path
    }

    #[test]
    fn fast_mode_grows_like_scalable() {
        for (version, ack_every) in [(Stack::Linux6, 1), (Stack::Linux49, 2)] {
            let mut path = path(version);
            path.ack_every = ack_every;
            path.lose_at(150);
            let before = path.cwnd();
            path.rounds(10);
            assert_eq!(path.control.law.slow_rounds, 0);
            let ratio = (f64::from(path.cwnd()) / f64::from(before)).powf(0.1);
            assert!((ratio - 1.01).abs() < 0.001, "{version:?}: {ratio}");
        }
    }

    /// Alone, it never keeps more than 80 segments queued for long, and drains most of them (the
    /// RTT lags by a round trip).
    #[test]
    fn takes_long_queues_away() {
        let mut path = path(Stack::Linux6);
        path.lose_at(600);
        path.run(Span::from_secs(30));
        let mut longest = 0;
        let mut shortest = u32::MAX;
        for _ in 0..600 {
            path.rounds(1);
            longest = longest.max(path.cwnd());
            shortest = shortest.min(path.cwnd());
        }
        assert!((1080..=1110).contains(&longest), "{longest}");
        assert!((1000..=1030).contains(&shortest), "{shortest}");
        let before = path.delivered();
        path.run(Span::from_secs(10));
        assert!((path.delivered() - before) as f64 > 0.99 * 100_000.0);
    }

    #[test]
    fn loss_takes_the_queue_or_an_eighth_and_half_under_competition() {
        let cut = |queue, slow_rounds| {
            let mut yeah = Yeah::new(Params::default(), &super::super::testing::init());
            (yeah.law.queue, yeah.law.slow_rounds, yeah.window.cwnd) = (queue, slow_rounds, 800);
            yeah.on_congestion(Time::ZERO, &Event::Loss { in_flight: 800 });
            800 - yeah.window.ssthresh
        };
        assert_eq!(cut(0, 0), 100);
        assert_eq!(cut(250, 15), 250);
        assert_eq!(cut(700, 15), 400);
        assert_eq!(cut(0, 16), 400);
    }
}
