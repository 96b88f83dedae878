//! NewReno: additive increase of one segment per round trip, halving on congestion.
//!
//! Model: Linux `net/ipv4/tcp_cong.c` (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh`) and RFC 5681.
//! With `beta_ecn` above one half it is NewReno with Alternative Backoff with ECN (RFC 8511):
//! a mark cuts the window to `beta_ecn` of itself, a loss still halves it.
//!
//! - `linux`: deviations from RFC 5681, all of them Linux's: the threshold is half the *window*, not
//!   half the data in flight; slow start counts every acknowledged segment (RFC 3465 without its
//!   limit of two); growth stops while the window is not what limits sending.
//! - `ns3`: ns-3's `TcpNewReno` (3.41, `src/internet/model/tcp-congestion-ops.cc`), which differs in
//!   all of that: the threshold is half the data in flight; an ACK counts once, however many
//!   segments it acknowledges, so that delayed ACKs halve growth in slow start and in congestion
//!   avoidance; the window grows whether or not it limits sending. On a timeout the data in flight
//!   is taken to be the window. (ns-3's `TcpLinuxReno` is `linux`.)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, ControlInit, Event};
use crate::error::FieldError;
use crate::spec::Stack;
use crate::units::Time;

/// Implementation to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// Linux, every era.
    Linux,
    /// ns-3's `TcpNewReno`.
    Ns3,
}

impl From<Stack> for Version {
    fn from(stack: Stack) -> Self {
        if stack == Stack::Ns3 { Version::Ns3 } else { Version::Linux }
    }
}

/// Parameters of NewReno.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Implementation to follow: `ns3`, or Linux, the same in every era. Default: the flow's
    /// `stack`.
    pub version: Stack,
    /// Share of the window kept after a loss.
    pub beta: f64,
    /// Share of the window kept after an ECN mark (RFC 8511 recommends 0.8).
    pub beta_ecn: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params { version: Stack::Linux6, beta: 0.5, beta_ecn: 0.5 }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        super::check_share("beta", self.beta)?;
        super::check_share("beta_ecn", self.beta_ecn)
    }
}

/// NewReno.
pub type Reno = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    params: Params,
    mss: u32,
}

impl Law {
    /// ns-3's growth for one ACK: a segment, or `mss * mss / cwnd` bytes; `count` holds bytes.
    fn grow_per_ack(&mut self, window: &mut Window, mut acked: u32) {
        if window.in_slow_start() {
            window.cwnd += 1;
            acked -= 1;
        }
        if acked > 0 && !window.in_slow_start() {
            let bytes = u64::from(window.cwnd) * u64::from(self.mss);
            let bytes = bytes + u64::from(window.count);
            let growth = u64::from(self.mss) * u64::from(self.mss) / bytes;
            window.count += (growth as u32).max(1);
            window.cwnd += window.count / self.mss;
            window.count %= self.mss;
        }
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;

    fn new(params: Params, init: &ControlInit) -> Self {
        Law { params, mss: init.mss }
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        match Version::from(self.params.version) {
            Version::Linux if ack.may_grow && ack.cwnd_limited => {
                window.reno_growth(ack.acked);
            }
            Version::Ns3 if ack.may_grow && ack.acked > 0 => self.grow_per_ack(window, ack.acked),
            _ => {}
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, event: &Event) -> u32 {
        let keep = match event {
            Event::Ecn { .. } => self.params.beta_ecn,
            _ => self.params.beta,
        };
        let in_flight = match (Version::from(self.params.version), event) {
            (Version::Ns3, Event::Loss { in_flight } | Event::Ecn { in_flight }) => *in_flight,
            _ => window.cwnd,
        };
        ((f64::from(in_flight) * keep) as u32).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Path, init};
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::Registered;
    use crate::units::Span;

    #[test]
    fn halves_on_loss_and_keeps_beta_on_mark() {
        let cut = |version, event: Event| {
            let params = Params { version, beta_ecn: 0.8, ..Params::default() };
            let mut reno = Reno::new(params, &init());
            reno.window.cwnd = 100;
            reno.on_congestion(Time::ZERO, &event);
            reno.window.ssthresh
        };
        assert_eq!(cut(Stack::Linux6, Event::Loss { in_flight: 60 }), 50);
        assert_eq!(cut(Stack::Linux6, Event::Ecn { in_flight: 60 }), 80);
        assert_eq!(cut(Stack::Ns3, Event::Loss { in_flight: 60 }), 30);
        assert_eq!(cut(Stack::Ns3, Event::Ecn { in_flight: 60 }), 48);
    }

    /// Growth over three rounds of slow start (a factor) and ten of congestion avoidance.
    fn growth(version: Stack, ack_every: u32) -> (f64, u32) {
        let params = Params { version, ..Params::default() };
        let mut path = Path::<Reno>::new(params, Span::from_millis(100));
        path.ack_every = ack_every;
        path.rounds(1);
        let before = path.cwnd();
        path.rounds(3);
        let factor = f64::from(path.cwnd()) / f64::from(before);
        path.lose_one();
        let before = path.cwnd();
        path.rounds(10);
        (factor, path.cwnd() - before)
    }

    #[test]
    fn ns3_counts_acks_and_linux_segments() {
        assert_eq!(growth(Stack::Linux6, 1), (8.0, 10));
        assert_eq!(growth(Stack::Linux6, 2), (8.0, 10));
        let (factor, linear) = growth(Stack::Ns3, 1);
        assert!((7.9..=8.0).contains(&factor) && (9..=10).contains(&linear), "{factor} {linear}");
        let (factor, linear) = growth(Stack::Ns3, 2);
        assert!((3.2..3.6).contains(&factor) && (4..=5).contains(&linear), "{factor} {linear}");
    }
}
