//! The control law of COBALT: CoDel's schedule and BLUE's probability side by side.

use rand::Rng;

use crate::observe::Observer;
use crate::rng::Stream;
use crate::units::{Rate, Span, Time};

/// Increment of BLUE's drop probability on overflow: 1/256, as a fraction of 2^32.
const BLUE_INCREMENT: u32 = 1 << 24;
/// Decrement of BLUE's drop probability when the queue becomes empty: 1/4096.
const BLUE_DECREMENT: u32 = 1 << 20;
/// Counts below this have their reciprocal square root in a table.
const TABLE: usize = 16;

/// Reciprocal square roots of the first counts, as fractions of 2^32.
pub type Roots = [u32; TABLE];

/// Four Newton steps for each, which leave that of 2 short by 0.06 %: Linux until 6.11.
pub static FOUR_STEPS: Roots = four_steps();

/// The nearest ones, that of 4 one less: Linux since 6.12.
pub static NEAREST: Roots = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

/// One Newton step towards 1/sqrt(count), as a fraction of 2^32.
const fn newton_step(count: u32, inverse: u32) -> u32 {
    let square = (inverse as u64 * inverse as u64) >> 32;
    let correction = ((3 << 32) - count as u64 * square) >> 2;
    ((correction * inverse as u64) >> 31) as u32
}

const fn four_steps() -> Roots {
    let mut table = [u32::MAX; TABLE];
    let mut inverse = u32::MAX;
    let mut count = 1;
    while count < TABLE {
        let mut step = 0;
        while step < 4 {
            inverse = newton_step(count as u32, inverse);
            step += 1;
        }
        table[count] = inverse;
        count += 1;
    }
    table
}

/// Tuning of the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Sojourn time above which the queue counts as standing, and BLUE's shortest step time.
    pub target: Span,
    /// Time over target before the first signal, and the unit of the spacing of later ones.
    pub interval: Span,
    /// Serialisation time of a packet of full size; sojourn up to four of them is never standing.
    pub mtu_time: Span,
    /// Reciprocal roots of small counts.
    pub roots: &'static Roots,
}

impl Tuning {
    /// For paths of round-trip time `rtt` through a bottleneck of `rate` (`None`: unlimited), with
    /// framed packets of `mtu` bytes, as Cake derives it: the target is a twentieth of `rtt` but
    /// at least one and a half packets, and the interval grows with it.
    pub fn for_path(rate: Option<Rate>, mtu: u32, rtt: Span, roots: &'static Roots) -> Self {
        let base = (rtt / 20).max(Span::from_micros(1));
        let mtu_time = rate.map_or(Span::ZERO, |rate| rate.transmission(mtu, &mut 0));
        let target = (mtu_time * 3 / 2).max(base);
        Tuning { target, interval: (rtt + target - base).max(target * 2), mtu_time, roots }
    }
}

/// The law's decision on a packet that leaves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Mark it CE.
    pub mark: bool,
    /// Drop it (unless it is the queue's last).
    pub drop: bool,
    /// Whether its sojourn time was over target.
    pub over_target: bool,
}

/// State of the law for one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cobalt {
    /// When the next signal is due while over target, and the next step back otherwise; with a
    /// count of zero, the time until which the queue counts as recently active.
    drop_next: Time,
    /// When BLUE's probability last changed.
    blue_changed: Time,
    /// Signals in the present episode, less the steps back since.
    count: u32,
    /// 1/sqrt(count) as a fraction of 2^32; zero in a queue that never signalled, see [`super`].
    inverse_root: u32,
    /// BLUE's drop probability as a fraction of 2^32.
    p_drop: u32,
    /// Whether the last packet was over target.
    dropping: bool,
}

impl Cobalt {
    /// Decides on a packet of the given sojourn time that leaves at `now`. The target is at least
    /// `floor`; `capable` tells whether the packet can be marked.
    #[inline]
    pub fn on_dequeue(
        &mut self,
        tuning: &Tuning,
        now: Time,
        sojourn: Span,
        floor: Span,
        capable: bool,
        random: &mut Stream,
    ) -> Verdict {
        let over_target =
            sojourn > tuning.target && sojourn > floor && sojourn > tuning.mtu_time * 4;
        let due = self.count > 0 && now >= self.drop_next;
        let mut late = now > self.drop_next;
        if over_target && !self.dropping {
            self.drop_next = self.after(now, tuning);
        }
        self.dropping = over_target;
        if over_target && self.count == 0 {
            self.count = 1;
        }
        let signal = due && over_target;
        if signal {
            self.set_count(self.count.saturating_add(1), tuning);
            late = now > self.drop_next;
        } else if due {
            self.step_back(now, tuning);
            late = false;
        }
        let blue = self.p_drop > 0 && random.next_u32() < self.p_drop;
        let drop = (signal && !capable) || blue;
        if self.count == 0 {
            self.drop_next = now + tuning.interval;
        } else if late && !drop {
            // Overdue signals are not made up for in a burst.
            self.drop_next = now;
        }
        Verdict { mark: signal && capable, drop, over_target }
    }

    /// A packet had to be dropped because the buffer was full.
    pub fn on_full(&mut self, tuning: &Tuning, now: Time) {
        if now.since(self.blue_changed) > tuning.target {
            self.p_drop = self.p_drop.saturating_add(BLUE_INCREMENT);
            self.blue_changed = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was visited and had no packet.
    pub fn on_empty(&mut self, tuning: &Tuning, now: Time) {
        if self.p_drop > 0 && now.since(self.blue_changed) > tuning.target {
            self.p_drop = self.p_drop.saturating_sub(BLUE_DECREMENT);
            self.blue_changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.set_count(self.count - 1, tuning);
        }
    }

    /// Whether the state is back to its initial one: the queue can be assigned to another flow.
    #[inline]
    pub fn at_rest(&self, now: Time) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    /// Names and values of its state.
    pub fn observe(&self, out: &mut Observer<'_>) {
        out("count", self.count.into());
        out("dropping", u32::from(self.dropping).into());
        if self.count > 0 {
            out("drop_next", self.drop_next.as_secs_f64().into());
        }
        out("blue_probability", self.blue_probability().into());
    }

    /// Signals in the present episode.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// BLUE's drop probability.
    pub fn blue_probability(&self) -> f64 {
        f64::from(self.p_drop) / (1u64 << 32) as f64
    }

    /// Lowers the count by one per due step.
    fn step_back(&mut self, now: Time, tuning: &Tuning) {
        while self.count > 0 && now >= self.drop_next {
            self.set_count(self.count - 1, tuning);
        }
    }

    /// Sets the count and schedules the next step from the last one.
    fn set_count(&mut self, count: u32, tuning: &Tuning) {
        self.count = count;
        self.inverse_root = match tuning.roots.get(count as usize) {
            Some(&inverse) => inverse,
            None => newton_step(count, self.inverse_root),
        };
        self.drop_next = self.after(self.drop_next, tuning);
    }

    /// CoDel's control law: `time` plus interval / sqrt(count).
    fn after(&self, time: Time, tuning: &Tuning) -> Time {
        let product = u128::from(tuning.interval.as_nanos()) * u128::from(self.inverse_root);
        time + Span::from_nanos((product >> 32) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;

    const MBIT: u64 = 1_000_000;

    fn tuning(rate: u64) -> Tuning {
        Tuning::for_path(Some(Rate::from_bps(rate)), 1514, Span::from_millis(100), &FOUR_STEPS)
    }

    /// Feeds a packet of constant sojourn time every `gap` and returns the instants of signals.
    fn signals(
        law: &mut Cobalt,
        tuning: &Tuning,
        sojourn: Span,
        gap: Span,
        until: Time,
    ) -> Vec<f64> {
        let mut random = StreamKey::root(1).stream();
        let mut now = Time::ZERO;
        let mut marks = Vec::new();
        while now < until {
            now += gap;
            let verdict = law.on_dequeue(tuning, now, sojourn, Span::ZERO, true, &mut random);
            if verdict.mark {
                marks.push(now.as_secs_f64());
            }
        }
        marks
    }

    #[test]
    fn roots_are_those_of_the_counts() {
        for (count, (four, nearest)) in FOUR_STEPS.iter().zip(&NEAREST).enumerate().skip(1) {
            let exact = 2f64.powi(32) / (count as f64).sqrt();
            assert!((f64::from(*nearest) - exact).abs() <= 1.0, "{count}");
            assert!((f64::from(*four) / exact - 1.0).abs() < 6e-4, "{count}");
        }
    }

    #[test]
    fn tuning_follows_the_rate_as_in_cake() {
        // (rate, MTU time, target, interval), in ms.
        for (rate, mtu, target, interval) in [
            (MBIT / 2, 24.224, 36.336, 131.336),
            (MBIT, 12.112, 18.168, 113.168),
            (2 * MBIT, 6.056, 9.084, 104.084),
            (5 * MBIT, 2.4224, 5.0, 100.0),
            (100 * MBIT, 0.121_12, 5.0, 100.0),
        ] {
            let got = tuning(rate);
            assert_eq!(got.mtu_time, Span::from_nanos((mtu * 1e6f64).round() as u64));
            assert_eq!(got.target, Span::from_nanos((target * 1e6f64).round() as u64));
            assert_eq!(got.interval, Span::from_nanos((interval * 1e6f64).round() as u64));
        }
        let slow = tuning(64_000);
        assert_eq!(slow.interval, slow.target * 2, "two targets at least");
    }

    #[test]
    fn signals_of_a_standing_queue_come_at_interval_over_root_count() {
        let tuning = tuning(100 * MBIT);
        let mut law = Cobalt::default();
        let gap = Span::from_micros(100);
        let marks =
            signals(&mut law, &tuning, Span::from_millis(20), gap, Time::from_nanos(3_000_000_000));
        // A new queue's first signal does not wait for an interval: the root is still zero.
        assert!((marks[0] - 0.0002).abs() < 1e-9, "{}", marks[0]);
        for (n, pair) in marks.windows(2).enumerate().take(60) {
            let expected = 0.1 / ((n + 2) as f64).sqrt();
            let error = (pair[1] - pair[0] - expected).abs();
            assert!(error < 0.0002 + expected * 1e-3, "signal {n}: {pair:?}, {expected}");
        }
    }

    #[test]
    fn the_count_steps_back_at_the_same_spacing_and_then_waits_an_interval() {
        let tuning = tuning(100 * MBIT);
        let mut random = StreamKey::root(1).stream();
        let mut law = Cobalt::default();
        let gap = Span::from_micros(100);
        signals(&mut law, &tuning, Span::from_millis(20), gap, Time::from_nanos(1_000_000_000));
        let peak = law.count();
        assert!(peak > 20);
        let mut now = Time::from_nanos(1_000_000_000);
        let mut rest = None;
        while rest.is_none() {
            now += gap;
            law.on_dequeue(&tuning, now, Span::ZERO, Span::ZERO, true, &mut random);
            rest = (law.count() == 0).then_some(now);
        }
        let expected: f64 = (0..peak).map(|n| 0.1 / f64::from(n.max(1)).sqrt()).sum();
        let took = now.as_secs_f64() - 1.0;
        assert!((took - expected).abs() < 0.15, "{took} against {expected}");
        // From here a standing queue gets a whole interval before the first signal.
        let start = now;
        let mut marked = false;
        while !marked {
            now += gap;
            let sojourn = Span::from_millis(20);
            marked = law.on_dequeue(&tuning, now, sojourn, Span::ZERO, true, &mut random).mark;
        }
        let waited = now.since(start).as_millis_f64();
        assert!((100.0..100.3).contains(&waited), "{waited}");
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped() {
        let tuning = tuning(100 * MBIT);
        let mut random = StreamKey::root(1).stream();
        let mut law = Cobalt::default();
        let mut judge = |ms: u64| {
            let now = Time::ZERO + Span::from_millis(ms);
            law.on_dequeue(&tuning, now, Span::from_millis(20), Span::ZERO, false, &mut random)
        };
        assert!(!judge(1).drop);
        assert_eq!(judge(2), Verdict { mark: false, drop: true, over_target: true });
    }

    #[test]
    fn four_packet_times_are_never_a_standing_queue() {
        let tuning = tuning(MBIT);
        let mut random = StreamKey::root(1).stream();
        let mut over = |us: u64| {
            let sojourn = Span::from_micros(us);
            let mut law = Cobalt::default();
            law.on_dequeue(&tuning, Time::ZERO, sojourn, Span::ZERO, true, &mut random).over_target
        };
        assert!(!over(48_448));
        assert!(over(48_449));
    }

    #[test]
    fn blue_rises_once_per_target_on_overflow_and_falls_when_empty() {
        let tuning = tuning(100 * MBIT);
        let mut law = Cobalt::default();
        let mut now = Time::ZERO;
        for _ in 0..100 {
            now += Span::from_millis(1);
            law.on_full(&tuning, now);
        }
        // 100 ms hold 16 gaps of more than 5 ms, on a grid of 1 ms.
        assert_eq!(law.blue_probability(), 16.0 / 256.0);
        let mut random = StreamKey::root(7).stream();
        let n = 200_000;
        let drops = (0..n)
            .filter(|_| {
                law.on_dequeue(&tuning, now, Span::ZERO, Span::ZERO, true, &mut random).drop
            })
            .count();
        let expected = f64::from(n) / 16.0;
        assert!((drops as f64 - expected).abs() < 5.0 * expected.sqrt(), "{drops}");
        let mut steps = 0;
        while law.blue_probability() > 0.0 {
            now += Span::from_millis(6);
            law.on_empty(&tuning, now);
            steps += 1;
        }
        assert_eq!(steps, 256, "16/256 in steps of 1/4096");
    }
}
