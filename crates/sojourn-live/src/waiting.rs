//! Transfers that wait for a connection.

use std::collections::VecDeque;

use sojourn_sim::sim::arrivals::{Counted, End, Row};

use crate::news::{Begun, Waits};

/// Those that wait, in the order in which they began to.
#[derive(Debug, Default)]
pub(crate) struct Waiting(VecDeque<Waits>);

impl Waiting {
    /// One more waits.
    pub(crate) fn add(&mut self, waits: Waits) {
        self.0.push_back(waits);
    }

    /// One begins; returns whether it waited.
    pub(crate) fn begins(&mut self, begun: &Begun) -> bool {
        let at = self.0.iter().position(|waits| is_same(waits, begun));
        at.and_then(|at| self.0.remove(at)).is_some()
    }

    /// The rows of those that are left.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = Row> {
        let mut waiting = Vec::from(self.0);
        waiting.sort_by_key(|waits| (waits.entry, waits.arrival, waits.variant, waits.group));
        waiting.into_iter().map(row_of)
    }
}

/// Whether a transfer that begins is the one that waits, or just like it.
fn is_same(waits: &Waits, begun: &Begun) -> bool {
    let Waits { entry, variant, group, arrival, size, .. } = *waits;
    (entry, variant, group) == (begun.entry, begun.variant, begun.group)
        && (arrival, size) == (begun.arrival, begun.size)
}

fn row_of(waits: Waits) -> Row {
    let Waits { entry, variant, group, arrival, size, ideal } = waits;
    let (entry, start, completed) = (entry.into(), None, None);
    let (counted, end) = (Counted::default(), End::Live);
    Row { entry, variant, group, arrival, start, completed, size, ideal, counted, end }
}
