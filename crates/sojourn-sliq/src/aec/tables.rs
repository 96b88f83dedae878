//! Number of packets that each round of a group sends, and the efficiency of that.
//!
//! A group has `k` source packets, and `N` rounds to deliver them. With `s` source and `c` coded
//! packets received, a round before the last sends the least number of packets that completes the
//! group with probability `mid` (or, like ARQ, the missing source packets); the last round the least
//! number after which the expected share of usable source packets is `end`. Source packets go
//! first. Of all pairs of `mid` and `end` that lose no more than `epsilon` of the source packets in
//! the end, the most efficient is taken: usable source packets per packet received.

use std::sync::OnceLock;

use super::{MAX_ROUNDS, MAX_SOURCES};
use crate::wire::MAX_GROUP;

/// Packet error rates of the plans; a rate between two counts as the higher one.
const RATES: [f64; 10] = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5];
/// Shares of late packets of the plans; one between two counts as the lower one.
const EPSILONS: [f64; 14] = [
    0.001, 0.002, 0.003, 0.004, 0.005, 0.010, 0.015, 0.020, 0.025, 0.030, 0.035, 0.040, 0.045,
    0.050,
];

/// Probabilities of completion that are tried, besides ARQ's.
const MIDS: [f64; 42] = {
    let mut mids = [0.999; 42];
    let mut i = 0;
    while i < 40 {
        mids[i] = 0.2 + 0.02 * i as f64;
        i += 1;
    }
    mids[40] = 0.99;
    mids
};
/// The largest share that a last round may aim at.
const MAX_END: f64 = 0.999;
const BISECTIONS: usize = 14;
const WIDTH: usize = 11;

/// Packets that a round sends, by source and coded packets received.
type Table = [[u8; WIDTH]; WIDTH];

/// Plan by which a group is sent.
#[derive(Clone, Debug)]
pub struct Plan {
    mid: Table,
    end: Table,
    /// Usable source packets per packet received.
    pub efficiency: f64,
    /// Share of source packets that are not delivered in time.
    pub loss: f64,
}

impl Plan {
    /// Packets to send in a round, with `sources` and `coded` packets received so far.
    pub fn packets(&self, last: bool, sources: u8, coded: u8) -> u8 {
        let table = if last { &self.end } else { &self.mid };
        table[usize::from(sources)][usize::from(coded)]
    }
}

const ROUNDS: usize = MAX_ROUNDS as usize;
const SOURCES: usize = MAX_SOURCES as usize;

/// By error rate, share of late packets, rounds and source packets.
static PLANS: [OnceLock<Box<Plan>>; RATES.len() * EPSILONS.len() * ROUNDS * SOURCES] =
    [const { OnceLock::new() }; RATES.len() * EPSILONS.len() * ROUNDS * SOURCES];

/// Index of the share of late packets that corresponds to a probability of delivery.
pub(super) fn epsilon(probability: f64) -> usize {
    let fits = |epsilon: &f64| probability <= 1.0 - *epsilon + 1e-12;
    EPSILONS.iter().rposition(fits).unwrap_or(0)
}

/// The plan for `sources` source packets in `rounds` rounds at this packet error rate, which loses no
/// more than share number `epsilon`; computed once.
pub(super) fn plan(per: f64, epsilon: usize, rounds: u8, sources: u8) -> &'static Plan {
    let rate = RATES.iter().position(|rate| *rate >= per).unwrap_or(RATES.len() - 1);
    let (rounds, sources) = (rounds.clamp(1, MAX_ROUNDS), sources.clamp(1, MAX_SOURCES));
    let place = (rate * EPSILONS.len() + epsilon) * ROUNDS + usize::from(rounds) - 1;
    let place = place * SOURCES + usize::from(sources) - 1;
    PLANS[place].get_or_init(|| Box::new(compute(RATES[rate], EPSILONS[epsilon], rounds, sources)))
}

fn compute(per: f64, epsilon: f64, rounds: u8, sources: u8) -> Plan {
    let group = Group::new(per, sources.into());
    if libm::pow(per, f64::from(rounds)) <= epsilon {
        return group.evaluate(group.arq(), group.arq(), rounds);
    }
    let mut tried = vec![group.arq()];
    if rounds > 1 {
        tried.extend(MIDS.iter().map(|mid| group.completing(*mid)));
        tried.dedup();
    }
    let plans = tried.into_iter().map(|mid| group.leanest_end(mid, rounds, epsilon));
    let better = |a: Plan, b: Plan| {
        let meets = |plan: &Plan| plan.loss <= epsilon;
        let rank = |plan: &Plan| if meets(plan) { plan.efficiency } else { -plan.loss };
        if rank(&b) > rank(&a) { b } else { a }
    };
    plans.reduce(better).unwrap_or_else(|| group.evaluate(group.arq(), group.arq(), rounds))
}

/// Values computed once for a packet error rate and a number of source packets.
struct Group {
    per: f64,
    k: usize,
    /// `binomial[n][i]`: probability that `i` of `n` packets arrive.
    binomial: Vec<Vec<f64>>,
    /// `usable[s][c][t]`: expected share of usable source packets after `t` more packets.
    usable: Vec<Vec<Vec<f64>>>,
}

impl Group {
    fn new(per: f64, k: usize) -> Self {
        let most = usize::from(MAX_GROUP);
        let mut group = Group { per, k, binomial: vec![vec![1.0]], usable: Vec::new() };
        for n in 1..=most {
            let before = &group.binomial[n - 1];
            let at = |i: usize| before.get(i).copied().unwrap_or(0.0);
            let row =
                (0..=n).map(|i| per * at(i) + (1.0 - per) * if i > 0 { at(i - 1) } else { 0.0 });
            let row = row.collect();
            group.binomial.push(row);
        }
        group.usable = (0..k)
            .map(|s| {
                let coded = 0..k - s;
                coded.map(|c| (0..=most).map(|t| group.share(s, c, t)).collect()).collect()
            })
            .collect();
        group
    }

    /// Source packets among `packets` more when `sources` are there.
    fn split(&self, sources: usize, packets: usize) -> (usize, usize) {
        let first = packets.min(self.k - sources);
        (first, packets - first)
    }

    /// Calls `with` with the probability of every outcome of `packets` more.
    fn outcomes(&self, s: usize, packets: usize, mut with: impl FnMut(f64, usize, usize)) {
        let (first, coded) = self.split(s, packets);
        for (i, p) in self.binomial[first].iter().enumerate() {
            for (j, q) in self.binomial[coded].iter().enumerate() {
                with(p * q, i, j);
            }
        }
    }

    fn share(&self, s: usize, c: usize, packets: usize) -> f64 {
        let mut usable = 0.0;
        self.outcomes(s, packets, |p, i, j| {
            let complete = s + c + i + j >= self.k;
            usable += p * if complete { self.k } else { s + i } as f64;
        });
        usable / self.k as f64
    }

    fn table(&self, packets: impl Fn(usize, usize) -> usize) -> Table {
        let mut table = [[0; WIDTH]; WIDTH];
        for (s, row) in table.iter_mut().enumerate().take(self.k) {
            for (c, cell) in row.iter_mut().enumerate().take(self.k - s) {
                *cell = packets(s, c) as u8;
            }
        }
        table
    }

    fn arq(&self) -> Table {
        self.table(|s, _| self.k - s)
    }

    fn completing(&self, mid: f64) -> Table {
        let most = usize::from(MAX_GROUP);
        self.table(|s, c| {
            let need = self.k - s - c;
            let enough = |t: usize| self.binomial[t][need..].iter().sum::<f64>() >= mid;
            (need..most - s).find(|t| enough(*t)).unwrap_or(most - s)
        })
    }

    fn delivering(&self, end: f64) -> Table {
        let most = usize::from(MAX_GROUP);
        let end = end.min(MAX_END);
        self.table(|s, c| {
            let need = self.k - s - c;
            let enough = |t: &usize| self.usable[s][c][*t] >= end;
            (1..most).find(enough).unwrap_or(most).max(need)
        })
    }

    /// The plan with this `mid` that sends least in its last round and still loses no more than
    /// `epsilon`.
    fn leanest_end(&self, mid: Table, rounds: u8, epsilon: f64) -> Plan {
        let try_end = |end| self.evaluate(mid, self.delivering(end), rounds);
        let (mut low, mut high) = (0.0, MAX_END);
        let mut best = try_end(high);
        for _ in 0..BISECTIONS {
            let middle = (low + high) / 2.0;
            let plan = try_end(middle);
            if plan.loss <= epsilon {
                (high, best) = (middle, plan);
            } else {
                low = middle;
            }
        }
        best
    }

    fn evaluate(&self, mid: Table, end: Table, rounds: u8) -> Plan {
        let mut reached = [[0.0; WIDTH]; WIDTH];
        reached[0][0] = 1.0;
        let (mut sent, mut done) = (0.0, 0.0);
        for _ in 1..rounds {
            let mut after = [[0.0; WIDTH]; WIDTH];
            for (s, c, p) in self.states(&reached) {
                let packets = usize::from(mid[s][c]);
                sent += p * packets as f64;
                self.outcomes(s, packets, |q, i, j| {
                    if s + c + i + j >= self.k {
                        done += p * q;
                    } else {
                        after[s + i][c + j] += p * q;
                    }
                });
            }
            reached = after;
        }
        for (s, c, p) in self.states(&reached) {
            let packets = usize::from(end[s][c]);
            sent += p * packets as f64;
            done += p * self.usable[s][c][packets];
        }
        let efficiency = self.k as f64 * done / (sent * (1.0 - self.per));
        Plan { mid, end, efficiency, loss: (1.0 - done).max(0.0) }
    }

    fn states<'a>(
        &self,
        reached: &'a [[f64; WIDTH]; WIDTH],
    ) -> impl Iterator<Item = (usize, usize, f64)> + use<'a> {
        let k = self.k;
        let states = (0..k).flat_map(move |s| (0..k - s).map(move |c| (s, c)));
        states.map(|(s, c)| (s, c, reached[s][c])).filter(|(_, _, p)| *p > 1e-12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The index of 0.005.
    const EPSILON: usize = 4;

    /// Efficiencies of a single round that the published tables have, to their rounding.
    #[test]
    fn one_round_is_as_efficient_as_published() {
        for (per, efficiency, packets) in [(0.1, 0.791, 14), (0.2, 0.693, 18), (0.4, 0.615, 27)] {
            let plan = plan(per, EPSILON, 1, 10);
            assert!((plan.efficiency - efficiency).abs() < 0.003, "{per}: {}", plan.efficiency);
            assert_eq!(plan.packets(true, 0, 0), packets);
        }
    }

    #[test]
    fn every_plan_meets_its_loss() {
        for per in [0.1, 0.25, 0.4] {
            for rounds in 1..=4 {
                for sources in [1, 2, 5, 10] {
                    let plan = plan(per, EPSILON, rounds, sources);
                    assert!(plan.loss <= 0.005, "{per} {rounds} {sources}: {}", plan.loss);
                    assert!(plan.efficiency <= 1.0 + 1e-9);
                }
            }
        }
    }

    #[test]
    fn more_rounds_are_more_efficient() {
        let of = |rounds| plan(0.4, EPSILON, rounds, 5).efficiency;
        assert!(of(1) < of(2) && of(2) < of(3) && of(3) < of(4), "{} {}", of(1), of(4));
    }

    #[test]
    fn enough_rounds_of_arq_need_no_code() {
        let plan = plan(0.05, EPSILON, 2, 4);
        assert_eq!(plan.packets(false, 1, 0), 3);
        assert!((plan.efficiency - 1.0).abs() < 0.003);
    }
}
