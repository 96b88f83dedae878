//! Hybla: the sending rate grows as fast as that of a connection with a reference RTT, whatever the
//! flow's own RTT is.
//!
//! Model: Linux `net/ipv4/tcp_hybla.c`, the same in 4.9 and 6.x; Caini, Firrincieli, "TCP Hybla: a
//! TCP enhancement for heterogeneous networks", 2004. With rho = max(RTT / RTT0, 1) in steps of an
//! eighth, slow start adds 2^rho - 1 and congestion avoidance rho^2 / W per *ACK* (every kernel
//! counts ACKs, not segments). Growth is Reno's outside the Open state; the cut is Reno's.
//!
//! As in Linux, rho follows the *lowest smoothed* RTT, so that queueing does not raise it; the
//! initial window is the integer part of rho (1 below 2 RTT0), whatever a flow's `initial_window`
//! is; the window never exceeds 65535; the increment per ACK is truncated to 1/128 segment, so that
//! windows above 128 rho^2 segments grow by one segment per window of ACKs only.
//!
//! Observes: `rho`, and the smoothed RTT that it was taken from, `min_srtt` (s).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, CaState, ControlInit, Event};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::units::{Span, Time};

/// Parameters of Hybla.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The reference round trip.
    pub rtt0: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { rtt0: Span::from_millis(25) }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.rtt0 < Span::from_millis(1) {
            return Err(FieldError::new("rtt0", format!("{} is below 1 ms", self.rtt0)));
        }
        Ok(())
    }
}

/// 2^(i/8) in 1/128.
const FRACTIONS: [u32; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
const LARGEST_WINDOW: u32 = 65_535;

/// Hybla.
pub type Hybla = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    rtt0: Span,
    /// rho in eighths.
    rho8: u32,
    lowest_srtt: Span,
    /// Growth not yet added, in 1/128 segments.
    fraction: u32,
}

impl Law {
    /// Recomputes rho when the smoothed RTT is the lowest so far.
    fn follow(&mut self, srtt: Span) {
        if srtt > Span::ZERO && srtt < self.lowest_srtt {
            self.lowest_srtt = srtt;
            let rho8 = 8 * srtt.as_micros() / self.rtt0.as_micros();
            self.rho8 = rho8.clamp(8, 1 << 15) as u32;
        }
    }

    /// Growth for one ACK in 1/128 segments.
    fn increment(&mut self, window: &mut Window) -> u32 {
        if window.in_slow_start() {
            (FRACTIONS[(self.rho8 % 8) as usize] << (self.rho8 / 8).min(16)) - 128
        } else {
            let increment = 2 * self.rho8 * self.rho8 / window.cwnd;
            window.count += u32::from(increment < 128);
            increment
        }
    }

    fn grow(&mut self, window: &mut Window) {
        let slow_start = window.in_slow_start();
        let increment = self.increment(window);
        self.fraction += increment % 128;
        window.cwnd += increment / 128;
        if self.fraction >= 128 {
            self.fraction -= 128;
            window.cwnd += 1;
            window.count = 0;
        }
        // A window so large that an ACK adds less than 1/128: one segment per window of ACKs.
        if increment == 0 && window.count >= window.cwnd {
            window.cwnd += 1;
            window.count = 0;
        }
        if slow_start {
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
        window.cwnd = window.cwnd.min(LARGEST_WINDOW);
    }
}

impl WindowLaw for Law {
    type Params = Params;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law { rtt0: params.rtt0, rho8: 8, lowest_srtt: Span::MAX, fraction: 0 }
    }

    /// Before the round-trip time is known.
    fn initial_window(_init: &ControlInit) -> u32 {
        1
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        self.follow(ack.srtt);
        if !(ack.may_grow && ack.cwnd_limited) {
            return;
        }
        if ack.state == CaState::Open {
            self.grow(window);
        } else {
            window.reno_growth(ack.acked);
        }
    }

    fn on_established(&mut self, window: &mut Window, _now: Time, rtt: Span) {
        self.follow(rtt);
        window.cwnd = self.rho8 / 8;
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        (window.cwnd / 2).max(2)
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        out("rho", (f64::from(self.rho8) / 8.0).into());
        if self.lowest_srtt < Span::MAX {
            out("min_srtt", self.lowest_srtt.as_secs_f64().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Path;
    use super::*;

    /// Growth of the sending rate in segments per second per second, over ten rounds from about
    /// `window` segments.
    fn acceleration(rtt_ms: u64, window: u32) -> f64 {
        let rtt = Span::from_millis(rtt_ms);
        let mut path = Path::<Hybla>::new(Params::default(), rtt);
        (path.control.window.cwnd, path.control.window.ssthresh) = (window, window);
        let before = path.cwnd();
        path.rounds(10);
        f64::from(path.cwnd() - before) / 10.0 / rtt.as_secs_f64().powi(2)
    }

    /// The paper's aim: the rate grows by 1 / RTT0^2 at any round trip, as Reno's at RTT0. The
    /// increment per ACK is truncated to 1/128, so at small windows it is met from below.
    #[test]
    fn rate_grows_independently_of_the_round_trip() {
        let reference = 1.0 / (0.025 * 0.025);
        for rtt in [25, 50, 100, 200, 300] {
            let share = acceleration(rtt, 50) / reference;
            assert!((0.68..=1.02).contains(&share), "{rtt} ms: {share}");
        }
    }

    /// Beyond 128 rho^2 segments the increment truncates to nothing: Reno's growth is left.
    #[test]
    fn large_windows_grow_like_reno() {
        let reno = 1.0 / (0.050 * 0.050);
        let share = acceleration(50, 1000) / reno;
        assert!((0.9..=1.1).contains(&share), "{share}");
    }

    #[test]
    fn slow_start_multiplies_by_two_to_the_rho() {
        let mut path = Path::<Hybla>::new(Params::default(), Span::from_millis(50));
        path.rounds(2);
        let before = path.cwnd();
        path.rounds(1);
        assert_eq!(path.cwnd(), 4 * before, "rho = 2: 3 segments per ACK");
    }

    #[test]
    fn short_round_trips_behave_like_reno() {
        let mut path = Path::<Hybla>::new(Params::default(), Span::from_millis(10));
        path.lose_at(80);
        let before = path.cwnd();
        path.rounds(10);
        let growth = path.cwnd() - before;
        assert!((6..=10).contains(&growth), "{growth}");
    }
}
