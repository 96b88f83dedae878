//! Loss in bursts: the model of Gilbert (1960) and Elliott (1963).
//!
//! The link is in a good or a bad state. Each packet that leaves it first moves the state (to bad
//! with probability `to_bad`, back with `to_good`), then is lost with the probability of the state
//! it finds. In the long run the share `to_bad / (to_bad + to_good)` of packets finds the bad
//! state; with the default losses (none in the good state, all in the bad one) that is the loss
//! rate, and bursts have the mean length `1 / to_good`. The state is the link's, so bursts strike
//! all its flows. Same model as `netem loss gemodel`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Percent;
use crate::rng::StreamKey;

/// Gilbert-Elliott loss as a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstLossSpec {
    /// Probability per packet of going from good to bad.
    pub to_bad: Percent,
    /// Probability per packet of going from bad to good.
    pub to_good: Percent,
    /// Loss in the good state.
    #[serde(default)]
    pub loss_good: Percent,
    /// Loss in the bad state.
    #[serde(default = "all")]
    pub loss_bad: Percent,
}

fn all() -> Percent {
    Percent::new(100.0)
}

/// State of the two-state chain.
#[derive(Clone, Copy, Debug)]
pub struct BurstLoss {
    spec: BurstLossSpec,
    bad: bool,
    passed: u64,
    moves: StreamKey,
    losses: StreamKey,
}

impl BurstLoss {
    /// Starts in the good state; `key` names the link.
    pub fn new(spec: BurstLossSpec, key: StreamKey) -> Self {
        let key = key.child("burst loss");
        BurstLoss {
            spec,
            bad: false,
            passed: 0,
            moves: key.child("moves"),
            losses: key.child("losses"),
        }
    }

    /// Whether the next packet is lost.
    pub fn loses_next(&mut self) -> bool {
        let number = self.passed;
        self.passed += 1;
        let leave = if self.bad { self.spec.to_good } else { self.spec.to_bad };
        self.bad ^= self.moves.uniform_at(number) < leave.fraction();
        let loss = if self.bad { self.spec.loss_bad } else { self.spec.loss_good };
        self.losses.uniform_at(number) < loss.fraction()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loss rate and mean length of runs of losses over two million packets.
    fn measure(spec: BurstLossSpec) -> (f64, f64) {
        let mut chain = BurstLoss::new(spec, StreamKey::root(11));
        let (n, mut lost, mut runs, mut last) = (2_000_000, 0u32, 0u32, false);
        for _ in 0..n {
            let loss = chain.loses_next();
            lost += u32::from(loss);
            runs += u32::from(loss && !last);
            last = loss;
        }
        (f64::from(lost) / f64::from(n), f64::from(lost) / f64::from(runs))
    }

    #[test]
    fn gilbert_loss_has_its_rate_and_burst_length() {
        let p = Percent::new;
        let spec = BurstLossSpec {
            to_bad: p(0.5),
            to_good: p(20.0),
            loss_good: p(0.0),
            loss_bad: p(100.0),
        };
        let (rate, burst) = measure(spec);
        assert!((rate / (0.005 / 0.205) - 1.0).abs() < 0.03, "{rate}");
        assert!((burst / 5.0 - 1.0).abs() < 0.03, "{burst}");
    }

    #[test]
    fn elliott_loss_mixes_the_two_states() {
        let p = Percent::new;
        let spec = BurstLossSpec {
            to_bad: p(1.0),
            to_good: p(10.0),
            loss_good: p(0.1),
            loss_bad: p(40.0),
        };
        let (rate, _) = measure(spec);
        let bad = 0.01 / 0.11;
        let expected = bad * 0.4 + (1.0 - bad) * 0.001;
        assert!((rate / expected - 1.0).abs() < 0.03, "{rate} against {expected}");
    }
}
