//! Scalable TCP: growth and reduction are shares of the window, so that recovery takes the same
//! number of round trips at any window.
//!
//! Model: Linux `net/ipv4/tcp_scalable.c`; T. Kelly, "Scalable TCP: improving performance in
//! highspeed wide area networks", CCR 2003. 0.01 segments per acknowledged segment, a cut to 7/8.
//!
//! - `linux-6`: one segment per min(W, 100) acknowledged segments (the paper's 0.01).
//! - `linux-4.9`: one segment per min(W, 50) ACKs, which is the paper's rate when every second
//!   segment is acknowledged. The segments that slow start leaves over are not counted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::window::{Window, counts_acks};
use super::{AckSample, ControlInit, Event};
use crate::spec::Stack;
use crate::units::Time;

/// Parameters of Scalable TCP.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version of the rules: `linux-6` (per 100 segments) or `linux-4.9` (per 50 ACKs).
    pub version: Stack,
}

impl Default for Params {
    fn default() -> Self {
        Params { version: Stack::Linux6 }
    }
}

impl crate::registry::Params for Params {}

/// Scalable TCP.
pub type Scalable = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    version: Stack,
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law { version: params.version }
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        if !(ack.may_grow && ack.cwnd_limited) {
            return;
        }
        let most = if counts_acks(self.version) { 50 } else { 100 };
        let left = window.slow_start_then(self.version, ack.acked);
        if left > 0 {
            window.additive_increase(window.cwnd.min(most), left);
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        (window.cwnd - window.cwnd / 8).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Path;
    use super::*;
    use crate::units::Span;

    /// Round trips from a cut until the window is back where it was.
    fn recovery_rounds(version: Stack, ack_every: u32, window: u32) -> u32 {
        let mut path = Path::<Scalable>::new(Params { version }, Span::from_millis(100));
        path.ack_every = ack_every;
        path.lose_at(window);
        let before = path.cwnd() * 8 / 7;
        (0..1000)
            .find(|_| {
                let done = path.cwnd() >= before;
                path.rounds(1);
                done
            })
            .unwrap()
    }

    /// log(8/7) / log(1.01) = 13.4 round trips, whatever the window (the paper's section 2).
    #[test]
    fn recovery_time_does_not_depend_on_the_window() {
        for window in [400, 4_000, 20_000] {
            let rounds = recovery_rounds(Stack::Linux6, 1, window);
            assert!((13..=15).contains(&rounds), "{window}: {rounds}");
            // Per 50 ACKs of two segments each: the same pace.
            let rounds = recovery_rounds(Stack::Linux49, 2, window);
            assert!((13..=15).contains(&rounds), "{window}: {rounds}");
        }
    }

    #[test]
    fn small_windows_grow_like_reno() {
        let mut path = Path::<Scalable>::new(Params::default(), Span::from_millis(100));
        path.lose_at(40);
        let start = path.cwnd();
        path.rounds(10);
        assert!((10..=11).contains(&(path.cwnd() - start)));
    }
}
