//! Means over the last second: rates of flows, and their delays.

use super::Told;

/// The least time in seconds over which means are taken.
const SECOND: f64 = 1.0;

/// Sums at an instant, by flow: means are taken from there on.
#[derive(Clone, Debug, Default)]
pub(in crate::daemon) struct Mark {
    at: f64,
    flows: Vec<Sums>,
}

/// What a flow's means are taken of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub sent_bytes: u64,
    pub delivered_bytes: u64,
    /// Sum of delays, in seconds, and their number.
    pub delay_s: f64,
    pub delayed: u64,
}

impl Told {
    /// Takes means over the time since the mark of what was told `before`, if that is a second, and
    /// sets another mark; keeps mark and means otherwise.
    pub(super) fn take_means(&mut self, before: &Told, sums: Vec<Sums>) {
        let Mark { at, flows: olds } = &before.mark;
        let span = self.uptime_s - at;
        if olds.len() == sums.len() && span < SECOND {
            self.mark = before.mark.clone();
            for (flow, known) in self.flows.iter_mut().zip(&before.flows) {
                flow.sent_mbit = known.sent_mbit;
                flow.delivered_mbit = known.delivered_mbit;
                flow.delay_ms = known.delay_ms;
            }
            return;
        }
        // The first time there is no mark, and there are no means.
        for ((flow, new), old) in self.flows.iter_mut().zip(&sums).zip(olds) {
            let rate = |new: u64, old: u64| 8e-6 * new.saturating_sub(old) as f64 / span;
            flow.sent_mbit = flow.sent_bytes.map(|bytes| rate(bytes, old.sent_bytes));
            flow.delivered_mbit =
                flow.delivered_bytes.map(|bytes| rate(bytes, old.delivered_bytes));
            let delayed = new.delayed.saturating_sub(old.delayed);
            let mean = 1e3 * (new.delay_s - old.delay_s) / delayed as f64;
            flow.delay_ms = (delayed > 0).then_some(mean);
        }
        self.mark = Mark { at: self.uptime_s, flows: sums };
    }
}
