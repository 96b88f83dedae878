//! Of the flows to a destination that miss too many packets, one may try: whether the path can
//! deliver in time is only known by trying.
//!
//! The first one to try is that with the longest deadline, of several the one with the largest
//! utility per rate; when it fails, after ten seconds at the earliest, another one with more time
//! or a lower rate, if there is one. One that stays admitted for 40 times its deadline is stable.

use super::{Order, Probe, Supervision, Watched};
use crate::overlay::admission::Standing;
use sojourn_base::units::{Span, Time};

/// Number of deadlines after which a flow that tries is stable.
const STABLE_AFTER: u64 = 40;
/// Time after which another flow may replace one that fails.
const PATIENCE: Span = Span::from_secs(10);
/// How much better than others a flow has to be to try instead of one that fails.
const BETTER: f64 = 1.1;
/// Better than any other: a longer deadline and a lower rate.
const BEST: f64 = 3.0;

impl Supervision {
    /// Chooses the flows that try, and turns off the rest; `left` is the unused capacity, in bit/s.
    pub(super) fn calibrate(&mut self, now: Time, left: f64, orders: &mut Vec<Order>) {
        let order = self.by_worth();
        for to in 0..self.probes.len() {
            self.find_stable(now, to);
            let missed: Vec<usize> = (order.iter().copied())
                .filter(|flow| {
                    let flow = &self.flows[*flow];
                    flow.to == to && flow.missed && flow.nominal <= left
                })
                .collect();
            let chosen = if self.wants_another(now, to) { self.choose(to, &missed) } else { None };
            for flow in missed {
                let tries = Some(flow) == chosen || chosen.is_none() && self.tries(flow);
                if !tries && self.flows[flow].standing != Standing::Off {
                    self.order(flow, false, orders);
                }
            }
            if let Some(flow) = chosen {
                self.probes[to] = Probe { flow: Some(flow), since: Some(now) };
                if self.flows[flow].standing != Standing::On {
                    self.order(flow, true, orders);
                }
            }
        }
    }

    fn tries(&self, flow: usize) -> bool {
        self.probes[self.flows[flow].to].flow == Some(flow)
    }

    fn find_stable(&mut self, now: Time, to: usize) {
        let Probe { flow: Some(flow), since: Some(since) } = self.probes[to] else { return };
        let watched = &mut self.flows[flow];
        let on = watched.standing == Standing::On;
        if on && now.since(since) > watched.deadline * STABLE_AFTER {
            watched.missed = false;
            self.probes[to].flow = None;
        }
    }

    fn wants_another(&self, now: Time, to: usize) -> bool {
        let probe = self.probes[to];
        let goes_on = probe.flow.is_some_and(|flow| self.flows[flow].standing == Standing::On);
        !goes_on && probe.since.is_none_or(|since| now.since(since) > PATIENCE)
    }

    fn choose(&self, to: usize, missed: &[usize]) -> Option<usize> {
        let Some(failing) = self.probes[to].flow else {
            return missed.iter().copied().reduce(|best, flow| {
                let longer = self.flows[flow].deadline > self.flows[best].deadline;
                if longer { flow } else { best }
            });
        };
        let mut best = (0.0, None);
        for flow in missed.iter().copied().filter(|flow| *flow != failing) {
            let value = suits(&self.flows[flow], &self.flows[failing]);
            if value > BETTER * best.0 {
                best = (value, Some(flow));
            }
        }
        best.1
    }
}

/// How much better a flow may do than one that fails.
fn suits(flow: &Watched, failing: &Watched) -> f64 {
    let longer = flow.deadline > failing.deadline;
    let slower = flow.nominal < failing.nominal;
    if longer && slower {
        return BEST;
    }
    let ratio = |one: f64, other: f64| (one / (2.0 * other)).min(1.0);
    let time = ratio(flow.deadline.as_secs_f64(), failing.deadline.as_secs_f64());
    let rate = ratio(failing.nominal, flow.nominal.max(1.0));
    f64::from(u8::from(longer)) * time + f64::from(u8::from(slower)) * rate
}
