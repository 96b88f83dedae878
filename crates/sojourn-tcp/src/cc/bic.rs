//! BIC: a binary search for the window at which the last reduction happened, then a search beyond.
//!
//! Model: Linux `net/ipv4/tcp_bic.c`; Xu, Harfoush, Rhee, "Binary increase congestion control for
//! fast, long distance networks", INFOCOM 2004. Windows up to `low_window` behave like Reno, its
//! halving included; larger ones grow faster by the ratio of segments to ACKs (an average with gain
//! 1/16 that starts at 2 and, in the kernel's integers, hardly falls below it).
//!
//! - `linux-4.9` counts ACKs, and the ratio compensates for delayed ones: growth is at most
//!   `max_increment` segments per round trip, as in the paper.
//! - `linux-6` counts segments (since 5.7) and applies the ratio as well, which doubles growth.
//!
//! While the window is constant, the segments per increment are recomputed every 31 ms; with the
//! ticks of 4 ms of `linux-4.9`, every 28 ms. The kernels of 2006 began with a slow-start threshold
//! of 100 segments; later ones and this model begin without one.
//!
//! Observes: `w_max` (segments), `segments_per_increment` (acknowledged segments, or ACKs, per
//! segment of growth), `ack_ratio` (segments per ACK).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jiffies::Ticks;
use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, CaState, ControlInit, Event};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::spec::Stack;
use crate::units::Time;

/// The search goes to a fourth of the distance (`BICTCP_B`).
const B: u32 = 4;
const SCALE: u32 = 1024;
/// The ACK ratio is kept in sixteenths.
const RATIO_SHIFT: u32 = 4;

/// Parameters of BIC.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version of the rules: `linux-6` (counts segments) or `linux-4.9` (counts ACKs, coarse
    /// ticks).
    pub version: Stack,
    /// Share of the window kept after a loss.
    pub beta: f64,
    /// Release bandwidth faster when the maximum shrinks.
    pub fast_convergence: bool,
    /// Largest growth per round trip in segments (Smax).
    pub max_increment: u32,
    /// Windows up to this many segments behave like Reno.
    pub low_window: u32,
    /// Larger values slow the growth over the last segments before the maximum.
    pub smooth_part: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            version: Stack::Linux6,
            beta: 0.8,
            fast_convergence: true,
            max_increment: 16,
            low_window: 14,
            smooth_part: 20,
        }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        super::check_share("beta", self.beta)?;
        for (field, value) in
            [("max_increment", self.max_increment), ("smooth_part", self.smooth_part)]
        {
            if !(1..=1000).contains(&value) {
                return Err(FieldError::new(field, format!("{value} is not between 1 and 1000")));
            }
        }
        Ok(())
    }
}

/// BIC.
pub type Bic = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    params: Params,
    ticks: Ticks,
    beta: u32,
    count: u32,
    last_max: u32,
    last_window: u32,
    last_update: u64,
    ack_ratio: u32,
    state: CaState,
}

impl Law {
    fn update(&mut self, cwnd: u32, now: u64) {
        if self.last_window == cwnd && now - self.last_update <= self.ticks.hz / 32 {
            return;
        }
        self.last_window = cwnd;
        self.last_update = now;
        if cwnd <= self.params.low_window {
            self.count = cwnd;
            return;
        }
        self.count = self.search(cwnd);
        if self.last_max == 0 {
            // Before the first loss, at least 5 % per round trip.
            self.count = self.count.min(20);
        }
        self.count = ((self.count << RATIO_SHIFT) / self.ack_ratio).max(1);
    }

    /// Acknowledged segments per segment of growth.
    fn search(&self, cwnd: u32) -> u32 {
        let Params { max_increment, smooth_part, .. } = self.params;
        let (linear, gentle) = (cwnd / max_increment, cwnd * smooth_part / B);
        if cwnd < self.last_max {
            return match (self.last_max - cwnd) / B {
                0 | 1 => gentle,
                distance if distance > max_increment => linear,
                distance => cwnd / distance,
            };
        }
        match cwnd - self.last_max {
            beyond if beyond < B => gentle,
            beyond if beyond < max_increment * (B - 1) => cwnd * (B - 1) / beyond,
            _ => linear,
        }
    }

    fn reduce(&mut self, cwnd: u32) -> u32 {
        self.last_max = if cwnd < self.last_max && self.params.fast_convergence {
            (u64::from(cwnd) * u64::from(SCALE + self.beta) / u64::from(2 * SCALE)) as u32
        } else {
            cwnd
        };
        if cwnd <= self.params.low_window {
            (cwnd / 2).max(2)
        } else {
            ((u64::from(cwnd) * u64::from(self.beta) / u64::from(SCALE)) as u32).max(2)
        }
    }

    fn reset(&mut self) {
        (self.count, self.last_max, self.last_window, self.last_update) = (0, 0, 0, 0);
        self.ack_ratio = 2 << RATIO_SHIFT;
        self.state = CaState::Loss;
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;
    const KEEPS_WINDOW: bool = true;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law {
            params,
            ticks: Ticks::of(params.version),
            beta: (params.beta * f64::from(SCALE)).round() as u32,
            count: 0,
            last_max: 0,
            last_window: 0,
            last_update: 0,
            ack_ratio: 2 << RATIO_SHIFT,
            state: CaState::Open,
        }
    }

    fn on_ack(&mut self, window: &mut Window, now: Time, ack: &AckSample) {
        // The state is the one in which the ACK arrived.
        if self.state == CaState::Open {
            self.ack_ratio = self.ack_ratio + ack.cum_acked - (self.ack_ratio >> RATIO_SHIFT);
        }
        self.state = ack.state;
        if !(ack.may_grow && ack.cwnd_limited) {
            return;
        }
        let left = window.slow_start_then(self.params.version, ack.acked);
        if left > 0 {
            self.update(window.cwnd, self.ticks.at(now));
            window.additive_increase(self.count, left);
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        self.reduce(window.cwnd)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
        if let Event::Rto { .. } = event {
            self.reset();
        }
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        if self.last_max > 0 {
            out("w_max", self.last_max.into());
        }
        out("segments_per_increment", self.count.into());
        let ack_ratio = f64::from(self.ack_ratio) / f64::from(1 << RATIO_SHIFT);
        out("ack_ratio", ack_ratio.into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Path;
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::Registered;
    use crate::units::Span;

    /// The paper's curve: linear growth of Smax per round trip, then a binary search that slows
    /// down towards the maximum, then the same mirrored beyond it.
    fn check_curve(version: Stack, smax: u32) {
        let params = Params { version, ..Params::default() };
        let mut path = Path::<Bic>::new(params, Span::from_millis(100));
        path.ack_every = 2;
        path.lose_at(1000);
        let max = path.control.law.last_max;
        let grow = |path: &mut Path<Bic>| {
            let before = path.cwnd();
            path.rounds(1);
            path.cwnd() - before
        };
        let linear = smax - 1..=smax + 3;
        while path.cwnd() + 4 * 16 + smax < max {
            let growth = grow(&mut path);
            assert!(linear.contains(&growth), "{growth} at {}", path.cwnd());
        }
        let mut last = smax + 3;
        while path.cwnd() + 8 < max {
            let growth = grow(&mut path);
            assert!(growth <= last + 1, "{growth} after {last} at {}", path.cwnd());
            last = growth;
        }
        assert!(last <= smax / 4, "{last}");
        while path.cwnd() < max + 64 {
            path.rounds(1);
        }
        let growth = grow(&mut path);
        assert!(linear.contains(&growth), "{growth} beyond the maximum");
    }

    #[test]
    fn growth_per_round_follows_the_binary_search() {
        check_curve(Stack::Linux49, 16);
        check_curve(Stack::Linux6, 32);
    }

    /// While the window is constant, the count is recomputed after HZ / 32 ticks: 28 or 31 ms.
    #[test]
    fn recomputes_after_a_thirty_second_of_a_second() {
        for (version, ticks) in [(Stack::Linux49, 7), (Stack::Linux6, 31)] {
            let params = Params { version, ..Params::default() };
            let mut bic = Bic::new(params, &super::super::testing::init()).law;
            bic.update(100, 50);
            bic.last_max = 104;
            let first = bic.count;
            bic.update(100, 50 + ticks);
            assert_eq!(bic.count, first);
            bic.update(100, 51 + ticks);
            assert_ne!(bic.count, first);
        }
    }

    #[test]
    fn cuts_to_four_fifths_but_halves_small_windows() {
        let cut = |cwnd| {
            let mut bic = Bic::new(Params::default(), &super::super::testing::init());
            bic.window.cwnd = cwnd;
            bic.on_congestion(Time::ZERO, &Event::Loss { in_flight: cwnd });
            bic.window.ssthresh
        };
        assert_eq!((cut(1000), cut(14), cut(2)), (799, 7, 2));
    }
}
