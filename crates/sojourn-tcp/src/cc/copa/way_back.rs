//! Queueing delay of ACKs on the return path, where the flow's own data does not queue.

use std::cmp::Reverse;

use crate::cc::filter::MaxFilter;
use crate::units::{Span, Time};

/// The smallest return delay is taken over this many minimum RTTs, at least the time below.
const MIN_RTTS: u64 = 7;
const LEAST_WINDOW: Span = Span::from_millis(200);

/// Return delays of ACKs by the timestamps of the other end: only differences are meaningful.
#[derive(Clone, Copy, Debug)]
pub(super) struct WayBack {
    least: MaxFilter<Reverse<Span>>,
    /// By how much the latest ACK took longer than the fastest one.
    late: Span,
}

impl WayBack {
    /// State before the first ACK.
    pub(super) fn new(now: Time) -> Self {
        WayBack { least: MaxFilter::new(now.as_nanos(), Reverse(Span::MAX)), late: Span::ZERO }
    }

    /// An ACK took `way`; `min_rtt` is the least RTT known, if any.
    pub(super) fn on_ack(&mut self, now: Time, way: Span, min_rtt: Option<Span>) {
        let window = min_rtt.map_or(LEAST_WINDOW, |rtt| (rtt * MIN_RTTS).max(LEAST_WINDOW));
        let least = self.least.update(window.as_nanos(), now.as_nanos(), Reverse(way)).0;
        self.late = way - least;
    }

    /// Time to subtract from the RTT of the latest ACK.
    pub(super) fn late(&self) -> Span {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_the_fastest_way_back_is_late() {
        let ms = Span::from_millis;
        let at = |time| Time::ZERO + ms(time);
        let mut back = WayBack::new(Time::ZERO);
        let rtt = Some(ms(40));
        let late = |back: &mut WayBack, time, way| {
            back.on_ack(at(time), ms(way), rtt);
            back.late()
        };
        assert_eq!(late(&mut back, 0, 20), Span::ZERO);
        assert_eq!(late(&mut back, 10, 33), ms(13));
        assert_eq!(late(&mut back, 20, 18), Span::ZERO);
        // The fastest one is forgotten after seven round trips.
        for time in (30..=400).step_by(10) {
            late(&mut back, time, 25);
        }
        assert_eq!(back.late(), Span::ZERO);
    }
}
