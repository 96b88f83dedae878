//! CoDel's control law (RFC 8289; Linux `include/net/codel_impl.h`).
//!
//! As in Linux, the inverse square root of `count` is a 16-bit fraction refined by one Newton step
//! per signal, and a packet that can be marked ends the loop over overdue drops (the RFC leaves
//! both open). Times count whole units of 1.024 us.

use super::super::{DropReason, QueueContext};
use crate::observe::Observer;
use crate::packet::Packet;
use crate::units::{Span, Time};

/// Parameters of the law.
#[derive(Clone, Copy, Debug)]
pub struct CodelConfig {
    /// Acceptable standing sojourn time.
    pub target: Span,
    /// How long the sojourn time must stay above the target: about the longest usual RTT.
    pub interval: Span,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Mark every ECN-capable packet that waited longer than this.
    pub ce_threshold: Option<Span>,
    /// No signals while at most this many bytes wait.
    pub mtu: u64,
}

/// Queue from which the law takes packets.
pub trait CodelQueue {
    /// Moves the oldest packet to `packet`, if there is one.
    fn pop_into(&mut self, packet: &mut Packet) -> bool;
    /// Backlog in bytes, with overhead.
    fn waiting_bytes(&self) -> u64;
}

/// State of one CoDel queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Codel {
    /// Signals since the drop state was entered.
    pub count: u32,
    last_count: u32,
    /// Whether it is in the drop state.
    pub dropping: bool,
    inverse_sqrt: u16,
    /// When the sojourn time will have been above target for an interval.
    first_above: Option<Time>,
    drop_next: Time,
}

/// Low bits of a time in nanoseconds that Linux discards (`CODEL_SHIFT`).
const SHIFT: u32 = 10;

fn whole(nanos: u64) -> u64 {
    nanos >> SHIFT << SHIFT
}

/// The time in whole units.
fn at(time: Time) -> Time {
    Time::from_nanos(whole(time.as_nanos()))
}

/// A parameter in whole units.
fn span(given: Span) -> Span {
    Span::from_nanos(whole(given.as_nanos()))
}

/// Intervals since the last due signal within which the drop state resumes its count.
const REENTRY_INTERVALS: u64 = 16;

impl Codel {
    /// Moves the next packet to send, if there is one, to `packet`; marks or drops as the law requires.
    #[inline]
    pub fn dequeue_into(
        &mut self,
        now: Time,
        config: &CodelConfig,
        queue: &mut impl CodelQueue,
        cx: &mut QueueContext<'_>,
        packet: &mut Packet,
    ) -> bool {
        if !queue.pop_into(packet) {
            self.dropping = false;
            return false;
        }
        let above = self.is_bad(now, packet.enqueued_at, config, queue);
        let chosen = match (self.dropping, above) {
            (true, true) => self.signal_if_due(now, config, queue, cx, packet),
            (false, true) => self.enter_drop_state(now, config, queue, cx, packet),
            (_, false) => {
                self.dropping = false;
                true
            }
        };
        if let (true, Some(threshold)) = (chosen, config.ce_threshold)
            && at(now).since(at(packet.enqueued_at)) > span(threshold)
        {
            let _ = cx.mark_ce(now, packet);
        }
        chosen
    }

    /// Names and values of its state.
    pub fn observe(&self, out: &mut Observer<'_>) {
        out("count", self.count.into());
        out("dropping", u32::from(self.dropping).into());
        if let Some(time) = self.first_above {
            out("first_above", time.as_secs_f64().into());
        }
        if self.dropping {
            out("drop_next", self.drop_next.as_secs_f64().into());
        }
    }

    /// Whether the sojourn time has been above target for an interval.
    #[inline]
    fn is_bad(
        &mut self,
        now: Time,
        enqueued_at: Time,
        config: &CodelConfig,
        queue: &impl CodelQueue,
    ) -> bool {
        let now = at(now);
        let sojourn = now.since(at(enqueued_at));
        if sojourn < span(config.target) || queue.waiting_bytes() <= config.mtu {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + span(config.interval));
                false
            }
            Some(time) => now > time,
        }
    }

    /// In the drop state: signals as often as is due; whether a packet is left in `packet`.
    fn signal_if_due(
        &mut self,
        now: Time,
        config: &CodelConfig,
        queue: &mut impl CodelQueue,
        cx: &mut QueueContext<'_>,
        packet: &mut Packet,
    ) -> bool {
        while at(now) >= self.drop_next {
            self.count = self.count.wrapping_add(1);
            self.newton_step();
            if config.ecn && cx.mark_ce(now, packet) {
                self.drop_next = self.after(self.drop_next, config.interval);
                break;
            }
            cx.drop(now, *packet, DropReason::Aqm);
            let (is_left, is_bad) = self.next_of_queue(now, config, queue, packet);
            if !is_bad {
                self.dropping = false;
                return is_left;
            }
            self.drop_next = self.after(self.drop_next, config.interval);
        }
        true
    }

    /// First signal after the good state; whether a packet is left in `packet`.
    fn enter_drop_state(
        &mut self,
        now: Time,
        config: &CodelConfig,
        queue: &mut impl CodelQueue,
        cx: &mut QueueContext<'_>,
        packet: &mut Packet,
    ) -> bool {
        let chosen = (config.ecn && cx.mark_ce(now, packet)) || {
            cx.drop(now, *packet, DropReason::Aqm);
            self.next_of_queue(now, config, queue, packet).0
        };
        self.dropping = true;
        let signals = self.count.wrapping_sub(self.last_count);
        let since = at(now).since(self.drop_next);
        if signals > 1 && since < span(config.interval) * REENTRY_INTERVALS {
            self.count = signals;
            self.newton_step();
        } else {
            self.count = 1;
            self.inverse_sqrt = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = self.after(at(now), config.interval);
        chosen
    }

    /// Whether there is another packet, then in `packet`, and whether its sojourn time has been above
    /// target for an interval.
    fn next_of_queue(
        &mut self,
        now: Time,
        config: &CodelConfig,
        queue: &mut impl CodelQueue,
        packet: &mut Packet,
    ) -> (bool, bool) {
        let is_left = queue.pop_into(packet);
        if !is_left {
            self.first_above = None;
        }
        (is_left, is_left && self.is_bad(now, packet.enqueued_at, config, queue))
    }

    /// Improves the estimate of 1/sqrt(count): x <- x (3 - count x^2) / 2.
    ///
    /// When `count` more than trebles at once (FQ-CoDel's overflow), the step wraps round, here as
    /// in Linux; later steps repair it.
    fn newton_step(&mut self) {
        let x = u64::from(self.inverse_sqrt) << 16;
        let x_squared = (x * x) >> 32;
        let factor = (3u64 << 32).wrapping_sub(u64::from(self.count) * x_squared);
        self.inverse_sqrt = ((factor >> 2).wrapping_mul(x) >> 47) as u16;
    }

    /// The control law: `time` + interval / sqrt(count).
    fn after(&self, time: Time, interval: Span) -> Time {
        let units = u128::from(interval.as_nanos() >> SHIFT);
        let scaled = (units * u128::from(self.inverse_sqrt)) >> 16;
        time + Span::from_nanos((scaled as u64) << SHIFT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::QueueCounters;

    const CONFIG: CodelConfig = CodelConfig {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        ecn: true,
        ce_threshold: None,
        mtu: 1514,
    };

    /// An endless queue whose packets have all waited equally long.
    struct Standing {
        now: Time,
        sojourn: Span,
        waiting: u64,
        ecn: Ecn,
        popped: u64,
    }

    impl CodelQueue for Standing {
        fn pop_into(&mut self, packet: &mut Packet) -> bool {
            self.popped += 1;
            *packet =
                Packet { enqueued_at: self.now - self.sojourn, ecn: self.ecn, ..Packet::default() };
            true
        }
        fn waiting_bytes(&self) -> u64 {
            self.waiting
        }
    }

    fn standing(ecn: Ecn) -> Standing {
        Standing {
            now: Time::ZERO,
            sojourn: Span::from_millis(20),
            waiting: 30_000,
            ecn,
            popped: 0,
        }
    }

    /// Dequeues every `step` until `end`; returns the times of signals (drops and marks) in ms.
    fn signals(law: &mut Codel, queue: &mut Standing, from: u64, end: u64, step: u64) -> Vec<f64> {
        let mut counters = QueueCounters::default();
        let mut times = Vec::new();
        for us in (from..end).step_by(step as usize) {
            queue.now = Time::from_nanos(us * 1000);
            let before = counters.drops[DropReason::Aqm as usize] + counters.ce_marks;
            let mut cx = QueueContext { counters: &mut counters, observer: None };
            let mut packet = Packet::default();
            assert!(law.dequeue_into(queue.now, &CONFIG, queue, &mut cx, &mut packet));
            let after = counters.drops[DropReason::Aqm as usize] + counters.ce_marks;
            times.extend((before..after).map(|_| us as f64 / 1000.0));
        }
        times
    }

    #[test]
    fn standing_queue_is_signalled_at_interval_over_sqrt_count() {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let mut queue = standing(ecn);
            let times = signals(&mut Codel::default(), &mut queue, 20_000, 20_000_000, 1);
            assert!(times.len() > 9_000, "{}", times.len());
            // Above target at 20 ms, so first signalled an interval later.
            assert!((times[0] - 120.0).abs() < 0.01, "{}", times[0]);
            for (n, gap) in (1..).zip(times.windows(2).map(|pair| pair[1] - pair[0])) {
                // One Newton step per signal lags at first: x (3 - n x^2) / 2 from 1.
                let closed_form = 100.0 / f64::from(n).sqrt();
                let (expected, tolerance) = match n {
                    1 => (100.0, 0.01),
                    2 => (50.0, 0.01),
                    3 => (56.25, 0.01),
                    _ => (closed_form, 0.03 * closed_form + 0.001),
                };
                assert!((gap - expected).abs() < tolerance, "gap {n}: {gap} not {expected}");
            }
            // Number of signals in t: n with interval 2 sqrt(n) = t.
            let n = (19.88f64 / 0.2).powi(2);
            assert!((times.len() as f64 / n - 1.0).abs() < 0.02, "{} not {n}", times.len());
        }
    }

    #[test]
    fn newton_steps_follow_the_inverse_square_root() {
        let mut law = Codel { count: 1, inverse_sqrt: u16::MAX, ..Codel::default() };
        for count in 2..10_000u32 {
            law.count = count;
            law.newton_step();
            let x = f64::from(law.inverse_sqrt) / 65536.0;
            let exact = 1.0 / f64::from(count).sqrt();
            let tolerance = if count < 5 { 0.3 } else { 0.03 };
            assert!((x / exact - 1.0).abs() < tolerance, "1/sqrt({count}): {x} not {exact}");
        }
    }

    #[test]
    fn short_or_small_queues_are_left_alone() {
        let mut queue = standing(Ecn::NotEct);
        queue.sojourn = Span::from_micros(4_997);
        assert!(signals(&mut Codel::default(), &mut queue, 20_000, 2_000_000, 100).is_empty());
        let mut queue = standing(Ecn::NotEct);
        queue.waiting = CONFIG.mtu;
        assert!(signals(&mut Codel::default(), &mut queue, 20_000, 2_000_000, 100).is_empty());
    }

    #[test]
    fn reentry_within_sixteen_intervals_resumes_the_count() {
        let first_gap_after = |pause_ms: u64| {
            let mut law = Codel::default();
            let mut queue = standing(Ecn::Ect0);
            signals(&mut law, &mut queue, 0, 1_000_000, 100);
            let count = law.count;
            assert!(count > 20, "{count}");
            queue.sojourn = Span::ZERO;
            signals(&mut law, &mut queue, 1_000_000, 1_001_000, 100);
            assert!(!law.dropping);
            queue.sojourn = Span::from_millis(20);
            let from = 1_000_000 + pause_ms * 1000;
            let times = signals(&mut law, &mut queue, from, from + 400_000, 100);
            (times[1] - times[0], count)
        };
        let (gap, count) = first_gap_after(1000);
        assert!((gap - 100.0 / f64::from(count - 1).sqrt()).abs() < 1.5, "{gap} after {count}");
        let (gap, _) = first_gap_after(1700);
        assert!((gap - 100.0).abs() < 0.2, "{gap}");
    }

    #[test]
    fn overdue_signals_drop_many_but_mark_one() {
        let burst = |ecn| {
            let mut law = Codel::default();
            let mut queue = standing(ecn);
            signals(&mut law, &mut queue, 0, 500_000, 1_000);
            // Half a second without a dequeue: many signals are overdue.
            signals(&mut law, &mut queue, 1_000_000, 1_000_001, 1).len()
        };
        assert_eq!(burst(Ecn::Ect0), 1);
        assert!(burst(Ecn::NotEct) > 10);
    }

    #[test]
    fn ce_threshold_marks_by_sojourn_alone() {
        let config = CodelConfig { ce_threshold: Some(Span::from_millis(1)), ..CONFIG };
        let mut counters = QueueCounters::default();
        let mut cx = QueueContext { counters: &mut counters, observer: None };
        let mut queue = standing(Ecn::Ect1);
        queue.now = Time::from_nanos(50_000_000);
        queue.sojourn = Span::from_millis(2);
        let mut packet = Packet::default();
        Codel::default().dequeue_into(queue.now, &config, &mut queue, &mut cx, &mut packet);
        assert_eq!(packet.ecn, Ecn::Ce);
    }
}
