//! Veno: Reno that takes a loss for congestion only when it estimates a queue.
//!
//! Model: Linux `net/ipv4/tcp_veno.c`; Fu, Liew, "TCP Veno: TCP enhancement for transmission over
//! wireless access networks", JSAC 2003. N = W (1 - base / RTT) segments wait in the network. Below
//! `beta`, the window grows by one per round trip and a loss, taken to be random, cuts it to 4/5;
//! from `beta` on, it grows by one every other round trip and a loss halves it.
//!
//! - `linux-6` counts acknowledged segments, `linux-4.9` ACKs.
//!
//! As in Linux and unlike the paper: N is computed at every ACK from that ACK's own RTT (an ACK
//! without a sample counts as congested), in halves of a segment; the count of samples is never
//! reset; growth is Reno's outside the Open state; an idle period resets the base RTT.
//!
//! Observes: `n`, the backlog (segments); `base_rtt`, the lowest, and `round_min_rtt`, the lowest
//! since the last growth (s).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::round_rtt::{RoundRtt, UNKNOWN};
use super::window::Window;
use super::{AckSample, ControlInit, Event};
use crate::observe::Observer;
use crate::spec::Stack;
use crate::units::Time;

/// Parameters of Veno.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version of the rules: `linux-6` (counts segments) or `linux-4.9` (counts ACKs).
    pub version: Stack,
    /// Segments waiting in the network from which it counts as congested.
    pub beta: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { version: Stack::Linux6, beta: 3 }
    }
}

impl crate::registry::Params for Params {}

/// Veno.
pub type Veno = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    params: Params,
    rtts: RoundRtt,
    samples: u32,
    /// Segments waiting in the network, in halves.
    waiting: u32,
    /// Whether this is a round trip with growth while congested.
    grow_now: bool,
}

impl Law {
    fn congested(&self) -> bool {
        self.waiting >= self.params.beta.saturating_mul(2)
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        let (base, rtt) = (u64::from(self.rtts.base), u64::from(self.rtts.lowest));
        let cwnd = window.cwnd;
        let without_queue = 2 * u64::from(cwnd) * base / rtt;
        self.waiting = (2 * u64::from(cwnd)).saturating_sub(without_queue) as u32;
        let counted = window.slow_start_then(self.params.version, ack.acked);
        if counted > 0 && !self.congested() {
            window.additive_increase(window.cwnd, counted);
        } else if counted > 0 {
            self.grow_every_other_round(window, counted);
        }
        window.cwnd = window.cwnd.max(2);
    }

    fn grow_every_other_round(&mut self, window: &mut Window, counted: u32) {
        if window.count < window.cwnd {
            window.count += counted;
            return;
        }
        window.cwnd += u32::from(self.grow_now);
        self.grow_now = !self.grow_now;
        window.count = 0;
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law { params, rtts: RoundRtt::default(), samples: 0, waiting: 0, grow_now: true }
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        self.rtts.on_ack(ack);
        self.samples = self.samples.saturating_add(u32::from(ack.rtt.is_some()));
        if !ack.may_grow {
            return;
        }
        if ack.cwnd_limited {
            if self.rtts.enabled && self.samples > 2 {
                self.grow(window, ack);
            } else {
                window.reno_growth(ack.acked);
            }
        }
        if self.rtts.enabled && ack.cwnd_limited {
            self.rtts.lowest = UNKNOWN;
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        let kept = if self.congested() { window.cwnd / 2 } else { window.cwnd * 4 / 5 };
        kept.max(2)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
        self.rtts.on_event(event);
        if let Event::TxStart { .. } | Event::Restart { .. } = event {
            self.grow_now = true;
        }
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        self.rtts.observe(out);
        out("n", (f64::from(self.waiting) / 2.0).into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Path;
    use super::*;
    use crate::units::Span;

    fn path() -> Path<Veno> {
        let mut path = Path::<Veno>::new(Params::default(), Span::from_millis(100));
        path.rate = Some(1000.0);
        path
    }

    /// N is the number of segments in the queue: W less the bandwidth-delay product (less the one
    /// in service, which belongs to the base RTT).
    #[test]
    fn n_is_the_backlog() {
        let mut path = path();
        path.lose_at(120);
        while path.cwnd() < 130 {
            path.rounds(1);
            let backlog = path.cwnd().saturating_sub(101);
            let n = path.control.law.waiting as f64 / 2.0;
            assert!((n - f64::from(backlog)).abs() <= 2.0, "{n} {backlog}");
        }
    }

    #[test]
    fn random_loss_keeps_four_fifths_and_congestion_half() {
        let mut path = path();
        path.lose_at(90);
        while path.cwnd() < 80 {
            path.rounds(1);
        }
        let before = path.cwnd();
        path.lose_one();
        assert!(path.cwnd().abs_diff(before * 4 / 5) <= 1, "{before} {}", path.cwnd());
        while path.cwnd() < 120 {
            path.rounds(1);
        }
        let before = path.cwnd();
        path.lose_one();
        assert!(path.cwnd().abs_diff(before / 2) <= 1, "{before} {}", path.cwnd());
    }

    #[test]
    fn grows_every_round_without_a_queue_and_every_other_with() {
        let mut path = path();
        path.lose_at(90);
        let growth = |path: &mut Path<Veno>, rounds| {
            let before = path.cwnd();
            path.rounds(rounds);
            path.cwnd() - before
        };
        let free = growth(&mut path, 10);
        assert!((9..=11).contains(&free), "{free}");
        while path.cwnd() < 110 {
            path.rounds(1);
        }
        let congested = growth(&mut path, 20);
        assert!((9..=11).contains(&congested), "{congested}");
    }
}
