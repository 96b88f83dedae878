//! Choice of the error control of a group.
//!
//! 1. Negligible loss: retransmission, one round.
//! 2. Enough rounds of retransmission fit into the deadline: retransmission alone.
//! 3. Otherwise the most efficient of the plans whose worst delay meets the deadline: an erasure
//!    code in one round (pure FEC) or in several (coded ARQ).

use super::tables::{self, Plan};
use super::{MAX_ROUNDS, MAX_SOURCES, OUT_OF_ROUNDS};
use crate::wire::{MAX_DATAGRAM, UNDERLAY};
use sojourn_base::units::Span;

/// Measured properties of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Packet error rate.
    pub per: f64,
    /// The largest recent RTT, in seconds.
    pub max_rtt: f64,
    /// The largest recent one-way delay, in seconds; `None` counts as half the RTT.
    pub max_delay: Option<f64>,
    /// Sending rate of the connection, in bit/s.
    pub send_rate: f64,
}

/// Error control of a group.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Retransmission in `rounds` rounds.
    Arq {
        /// Rounds in time.
        rounds: u8,
    },
    /// The erasure code.
    Coded {
        /// Rounds in time.
        rounds: u8,
        /// Source packets.
        sources: u8,
    },
}

impl Decision {
    /// Its name in the GNAT report.
    pub fn name(&self) -> &'static str {
        match self {
            Decision::Arq { .. } => "pure-arq",
            Decision::Coded { rounds: 1, .. } => "pure-fec",
            Decision::Coded { .. } => "coded-arq",
        }
    }
}

/// Expected result of error control on a path that is known exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Its name in the GNAT report.
    pub mode: &'static str,
    /// Rounds in time.
    pub rounds: u8,
    /// Source packets of a group.
    pub sources: u8,
    /// Usable messages of the packets received.
    pub efficiency: f64,
}

/// Decides for one stream.
#[derive(Clone, Debug)]
pub struct Decider {
    probability: f64,
    /// Number of the share of packets that may be late.
    epsilon: usize,
    deadline: Span,
    last: Option<(Path, Decision)>,
}

impl Decider {
    /// Packets are to be delivered within `deadline` with this probability.
    pub fn new(probability: f64, deadline: Span) -> Self {
        let epsilon = tables::epsilon(probability);
        Decider { probability, epsilon, deadline, last: None }
    }

    /// Error control of a group that begins now.
    pub fn decide(&mut self, path: Path) -> Decision {
        if let Some((seen, decision)) = &self.last
            && *seen == path
        {
            return decision.clone();
        }
        let decision = self.evaluate(&path);
        self.last = Some((path, decision.clone()));
        decision
    }

    /// The plan of a group of `sources` source packets at packet error rate `per`.
    pub fn plan(&self, per: f64, rounds: u8, sources: u8) -> &'static Plan {
        tables::plan(per, self.epsilon, rounds, sources)
    }

    /// Expected result of the decision on this path.
    pub fn expect(&self, path: &Path) -> Expected {
        let decision = self.evaluate(path);
        let (rounds, sources, efficiency) = match decision {
            // A packet that arrives after its rounds is received but not usable.
            Decision::Arq { rounds } => (rounds, 1, 1.0 - libm::pow(path.per, f64::from(rounds))),
            Decision::Coded { rounds, sources } => {
                (rounds, sources, self.plan(path.per, rounds, sources).efficiency)
            }
        };
        Expected { mode: decision.name(), rounds, sources, efficiency }
    }

    fn evaluate(&self, path: &Path) -> Decision {
        if path.per <= 1e-6 || 1.0 - path.per >= self.probability {
            return Decision::Arq { rounds: 1 };
        }
        let deadline = self.deadline.as_secs_f64();
        let delay = path.max_delay.unwrap_or(path.max_rtt / 2.0);
        if let Some(rounds) = self.arq_rounds(path.per)
            && deadline > f64::from(rounds - 1) * path.max_rtt + delay
        {
            return Decision::Arq { rounds };
        }
        self.most_efficient(path, deadline - delay)
    }

    /// Rounds of retransmission that deliver enough.
    fn arq_rounds(&self, per: f64) -> Option<u8> {
        let mut loss = per;
        let mut rounds = 1;
        while loss > 1.0 - self.probability {
            loss *= per;
            rounds += 1;
            if rounds >= OUT_OF_ROUNDS {
                return None;
            }
        }
        Some(rounds)
    }

    /// The most efficient plan that takes at most `time` seconds besides the last one-way delay.
    fn most_efficient(&self, path: &Path, time: f64) -> Decision {
        let packet = f64::from(UNDERLAY + MAX_DATAGRAM as u32) * 8.0;
        let packet = if path.send_rate > 0.0 { packet / path.send_rate } else { 0.0 };
        let mut best = (0.0, Decision::Coded { rounds: 1, sources: 1 });
        for rounds in 1..=MAX_ROUNDS {
            let before = f64::from(rounds - 1);
            for sources in 1..=MAX_SOURCES {
                let least = before * path.max_rtt + f64::from(sources) * packet;
                if least > time {
                    break;
                }
                let plan = self.plan(path.per, rounds, sources);
                let (mid, end) = (plan.packets(false, 0, 0), plan.packets(true, 0, 0));
                let round = (f64::from(mid) + 1.0) * packet + path.max_rtt;
                if before * round + f64::from(end) * packet <= time && plan.efficiency > best.0 {
                    best = (plan.efficiency, Decision::Coded { rounds, sources });
                }
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(deadline_ms: u64, per: f64) -> Decision {
        let path = Path { per, max_rtt: 0.028, max_delay: Some(0.016), send_rate: 10e6 };
        Decider::new(0.995, Span::from_millis(deadline_ms)).decide(path)
    }

    #[test]
    fn a_long_deadline_needs_no_code() {
        assert_eq!(decide(170, 0.4).name(), "pure-arq");
        assert_eq!(decide(50, 0.0).name(), "pure-arq");
        assert!(matches!(decide(170, 0.4), Decision::Arq { rounds: 6 }));
    }

    #[test]
    fn a_short_deadline_needs_a_code_and_a_shorter_one_a_single_round() {
        assert_eq!(decide(110, 0.4).name(), "coded-arq");
        assert_eq!(decide(50, 0.4).name(), "pure-fec");
        assert_eq!(decide(50, 0.1).name(), "coded-arq");
    }

    #[test]
    fn what_is_expected_grows_with_the_deadline() {
        let path = Path { per: 0.4, max_rtt: 0.021, max_delay: Some(0.011), send_rate: 10e6 };
        let of = |ms| Decider::new(0.995, Span::from_millis(ms)).expect(&path);
        assert_eq!((of(30).mode, of(170).mode), ("pure-fec", "pure-arq"));
        assert!(of(30).efficiency < of(90).efficiency && of(90).efficiency < of(170).efficiency);
        assert!((of(170).efficiency - 0.9959).abs() < 1e-4, "{:?}", of(170));
    }

    #[test]
    fn a_hopeless_deadline_sends_each_packet_with_its_repair() {
        assert!(matches!(decide(5, 0.4), Decision::Coded { rounds: 1, sources: 1 }));
    }
}
