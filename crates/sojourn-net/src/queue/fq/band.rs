//! Flows of FQ, and its priority bands.

use std::collections::VecDeque;

use crate::queue::store::Chain;
use crate::units::{Span, Time};

/// Time for which an idle flow is remembered (`FQ_GC_AGE`).
const KEPT: Span = Span::from_secs(3);

/// Bytes that each band sends per turn, and the index of the band of packets without priority.
pub(super) const BANDS: [i64; 3] = [9 << 16, 3 << 16, 1 << 16];
pub(super) const BAND: usize = 1;

/// Active flows of one priority.
#[derive(Debug)]
pub(super) struct Band {
    pub new: VecDeque<u32>,
    pub old: VecDeque<u32>,
    pub credit: i64,
    pub quantum: i64,
}

impl Band {
    pub(super) fn of(credit: i64, quantum: i64) -> Self {
        Band { new: VecDeque::new(), old: VecDeque::new(), credit, quantum }
    }

    /// The flow that is served first, and whether it is a new one.
    pub(super) fn first(&self) -> Option<(usize, bool)> {
        let first = |list: &VecDeque<u32>| list.front().map(|place| *place as usize);
        let old = || first(&self.old).map(|place| (place, false));
        first(&self.new).map(|place| (place, true)).or_else(old)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub waiting: Chain,
    pub packets: u64,
    pub credit: i64,
    /// Whether it is in the list of new or of old flows.
    pub listed: bool,
    pub band: usize,
    pub idle_since: Time,
}

impl Flow {
    /// A flow without packets, with the credit of a new one.
    pub(super) fn with(credit: i64) -> Self {
        Flow {
            waiting: Chain::default(),
            packets: 0,
            credit,
            listed: false,
            band: 0,
            idle_since: Time::ZERO,
        }
    }

    /// Whether it has been idle for so long that it may be forgotten.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.packets == 0 && !self.listed && now.since(self.idle_since) > KEPT
    }
}
