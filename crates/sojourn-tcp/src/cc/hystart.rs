//! HyStart: leaves slow start before it overflows the queue, when the train of ACKs of a round
//! lasts about half a round trip, or when the round's minimum RTT has risen.
//!
//! Model: Linux `net/ipv4/tcp_cubic.c` (Ha and Rhee, "Taming the elephants", 2008), usable by any
//! window-based control. Implementations differ in the parameters of [`Rules`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AckSample;
use super::window::Window;
use crate::observe::Observer;
use crate::packet::LARGEST_BURST;
use crate::units::{Span, Time};

/// Which of HyStart's two detectors are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detect {
    /// Both: whichever fires first.
    Both,
    /// Only the length of the ACK train.
    Train,
    /// Only the rise of the delay.
    Delay,
}

/// Limit of the length of an ACK train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrainLimit {
    /// The minimum RTT plus an allowance for aggregation; half of it unless packets are paced.
    HalfUnlessPaced,
    /// Half the minimum RTT.
    Half,
    /// The minimum RTT.
    Whole,
}

/// Parameters in which implementations differ.
#[derive(Debug)]
pub struct Rules {
    /// Resolution of the clock that times the train, in nanoseconds.
    clock: u64,
    /// Resolution of delays, in nanoseconds.
    delay: u64,
    train: TrainLimit,
    /// The tolerated rise of the delay is the minimum RTT over this, within 4 ms and `most_rise`.
    divisor: u64,
    most_rise: Span,
    /// Whether the round's minimum RTT keeps falling after the first samples.
    keep_lowest: bool,
    /// Whether rounds are counted when the window grows (else at every RTT sample).
    round_at_growth: bool,
}

/// The tolerated rise of the delay in Linux is the minimum RTT over this, at most
/// [`LINUX_MOST_RISE`] (`HYSTART_DELAY_MAX`).
pub const LINUX_DIVISOR: u64 = 8;
/// See [`LINUX_DIVISOR`].
pub const LINUX_MOST_RISE: Span = Span::from_millis(16);

/// Linux since 5.6.
pub static LINUX_6: Rules = Rules {
    clock: 1_000,
    delay: 1_000,
    train: TrainLimit::HalfUnlessPaced,
    divisor: LINUX_DIVISOR,
    most_rise: LINUX_MOST_RISE,
    keep_lowest: true,
    round_at_growth: false,
};

/// Linux before 5.5, 4.9 among them: a millisecond clock, delays in eighths of a millisecond.
pub static LINUX_4_9: Rules = Rules {
    clock: 1_000_000,
    delay: 125_000,
    train: TrainLimit::Half,
    divisor: LINUX_DIVISOR,
    most_rise: LINUX_MOST_RISE,
    keep_lowest: false,
    round_at_growth: true,
};

/// ns-3's `TcpCubic`: the delay may double, and the train may last a whole round trip.
pub static NS3: Rules = Rules {
    clock: 1,
    delay: 1,
    train: TrainLimit::Whole,
    divisor: 1,
    most_rise: Span::from_millis(1000),
    keep_lowest: false,
    round_at_growth: true,
};

/// Smallest window at which HyStart is active, in segments (`hystart_low_window`).
const LOW_WINDOW: u32 = 16;
/// ACKs closer than this belong to the same train (`hystart_ack_delta`).
pub const ACK_DELTA: Span = Span::from_millis(2);
/// RTT samples per round before the delay is judged (`HYSTART_MIN_SAMPLES`).
pub const MIN_SAMPLES: u32 = 8;
/// The delay must rise by at least this (`HYSTART_DELAY_MIN`).
pub const LEAST_RISE: Span = Span::from_millis(4);
/// State of HyStart.
#[derive(Clone, Debug)]
pub struct HyStart {
    rules: &'static Rules,
    detect: Detect,
    paced: bool,
    mss: u32,
    round_start: Time,
    last_ack: Time,
    /// The round ends when a segment beyond this one is acknowledged.
    round_end: u32,
    /// Next segment to be sent, at the last ACK.
    next: u32,
    lowest: Span,
    samples: u32,
    found: bool,
}

impl HyStart {
    /// At the start of a connection. `paced`: the host paces all flows.
    pub fn new(rules: &'static Rules, detect: Detect, paced: bool, mss: u32, now: Time) -> Self {
        HyStart {
            rules,
            detect,
            paced,
            mss,
            round_start: now,
            last_ack: now,
            round_end: 1,
            next: 1,
            lowest: Span::MAX,
            samples: 0,
            found: false,
        }
    }

    /// Starts again after a retransmission timeout.
    pub fn reset(&mut self, now: Time) {
        self.found = false;
        self.begin_round(now);
    }

    /// Reports the round and the state of the detectors.
    pub fn observe(&self, out: &mut Observer<'_>) {
        out("hystart", if self.found { "found" } else { "searching" }.into());
        out("round_start", self.round_start.as_secs_f64().into());
        out("round_samples", self.samples.into());
        if self.lowest < Span::MAX {
            out("round_min_rtt", self.lowest.as_secs_f64().into());
        }
    }

    fn begin_round(&mut self, now: Time) {
        self.round_start = now;
        self.last_ack = now;
        self.round_end = self.next;
        self.lowest = Span::MAX;
        self.samples = 0;
    }

    fn end_round(&mut self, now: Time, ack: &AckSample) {
        self.next = ack.next;
        if ack.una > self.round_end {
            self.begin_round(now);
        }
    }

    /// The window is about to grow in slow start.
    pub fn on_growth(&mut self, now: Time, ack: &AckSample) {
        if self.rules.round_at_growth {
            self.end_round(now, ack);
        }
    }

    /// An RTT sample in slow start; `delay_min` is the lowest so far, this one included. Ends slow
    /// start by lowering the threshold to the window.
    pub fn on_rtt(
        &mut self,
        now: Time,
        rtt: Span,
        delay_min: Span,
        ack: &AckSample,
        window: &mut Window,
    ) {
        if self.found {
            return;
        }
        if !self.rules.round_at_growth {
            self.end_round(now, ack);
        }
        if window.cwnd < LOW_WINDOW {
            return;
        }
        let train = self.detect != Detect::Delay && self.train_is_long(now, delay_min, ack, window);
        let delay = self.detect != Detect::Train && self.delay_has_risen(rtt, delay_min);
        if train || delay {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    fn train_is_long(
        &mut self,
        now: Time,
        delay_min: Span,
        ack: &AckSample,
        window: &Window,
    ) -> bool {
        let tick = |time: Time| time.as_nanos() / self.rules.clock * self.rules.clock;
        let since = |time: Time| Span::from_nanos(tick(now) - tick(time));
        // A longer gap breaks the train for the rest of the round.
        if since(self.last_ack) > ACK_DELTA {
            return false;
        }
        let limit = match self.rules.train {
            TrainLimit::HalfUnlessPaced => {
                let whole = delay_min + self.aggregation(ack.srtt, window);
                if self.paced { whole } else { whole / 2 }
            }
            TrainLimit::Half => delay_min / 2,
            TrainLimit::Whole => delay_min,
        };
        let limit = limit.as_nanos() / self.rules.clock * self.rules.clock;
        let lasted = since(self.round_start);
        self.last_ack = now;
        lasted.as_nanos() > limit
    }

    /// Allowance for batching in hosts in a round trip, at most 1 ms (`hystart_ack_delay`).
    fn aggregation(&self, srtt: Span, window: &Window) -> Span {
        let doubling = window.cwnd < window.ssthresh / 2;
        let percent = if doubling { 200 } else { 120 };
        let bytes_per_srtt = u64::from(window.cwnd) * u64::from(self.mss) * percent / 100;
        let nanos = u128::from(4 * LARGEST_BURST) * u128::from(srtt.as_nanos())
            / u128::from(bytes_per_srtt.max(1));
        Span::from_nanos(nanos.min(1_000_000) as u64)
    }

    fn delay_has_risen(&mut self, rtt: Span, delay_min: Span) -> bool {
        let coarse = |span: Span| span.as_nanos() / self.rules.delay * self.rules.delay;
        let sampling = self.samples < MIN_SAMPLES;
        if sampling || self.rules.keep_lowest {
            self.lowest = self.lowest.min(rtt);
        }
        if sampling {
            self.samples += 1;
            return false;
        }
        let rise = (delay_min / self.rules.divisor).max(LEAST_RISE).min(self.rules.most_rise);
        coarse(self.lowest) > coarse(delay_min) + coarse(rise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(100);

    /// Feeds one round of `acks` ACKs `gap` apart, each with `rtt`; returns the time.
    fn round(h: &mut HyStart, w: &mut Window, start: Time, acks: u32, gap: Span, rtt: Span) {
        let first = h.next;
        for i in 0..acks {
            let now = start + gap * u64::from(i);
            let ack = AckSample {
                una: first + i + 1,
                next: first + acks + i + 1,
                srtt: RTT,
                ..AckSample::default()
            };
            h.on_growth(now, &ack);
            h.on_rtt(now, rtt, RTT, &ack, w);
        }
    }

    fn hystart(rules: &'static Rules, detect: Detect, paced: bool) -> (HyStart, Window) {
        (HyStart::new(rules, detect, paced, 1448, Time::ZERO), Window::new(100))
    }

    /// The longest train of 1 ms gaps that does not end slow start, in ms.
    fn longest_train(rules: &'static Rules, paced: bool) -> u32 {
        (1..200)
            .take_while(|&acks| {
                let (mut h, mut w) = hystart(rules, Detect::Train, paced);
                let start = Time::ZERO + RTT;
                round(&mut h, &mut w, start, acks + 1, Span::from_millis(1), RTT);
                w.in_slow_start()
            })
            .last()
            .unwrap_or(0)
    }

    #[test]
    fn train_of_half_a_round_trip_ends_slow_start_unless_paced() {
        assert_eq!(longest_train(&LINUX_6, false), 50);
        assert_eq!(longest_train(&LINUX_6, true), 101);
        assert_eq!(longest_train(&LINUX_4_9, false), 50);
        assert_eq!(longest_train(&NS3, false), 100);
    }

    /// The smallest rise of a whole round's RTT that ends slow start, in ms.
    fn smallest_rise(rules: &'static Rules) -> u64 {
        (0..200)
            .find(|&rise| {
                let (mut h, mut w) = hystart(rules, Detect::Delay, false);
                let rtt = RTT + Span::from_millis(rise);
                round(&mut h, &mut w, Time::ZERO + RTT, 20, Span::from_millis(3), rtt);
                !w.in_slow_start()
            })
            .unwrap_or(u64::MAX)
    }

    #[test]
    fn delay_rise_of_an_eighth_ends_slow_start() {
        assert_eq!(smallest_rise(&LINUX_6), 13);
        assert_eq!(smallest_rise(&LINUX_4_9), 13);
        assert_eq!(smallest_rise(&NS3), 101);
    }

    #[test]
    fn small_windows_are_left_alone() {
        let mut h = HyStart::new(&LINUX_6, Detect::Both, false, 1448, Time::ZERO);
        let mut w = Window::new(LOW_WINDOW - 1);
        round(&mut h, &mut w, Time::ZERO + RTT, 190, Span::from_millis(1), RTT * 3);
        assert!(w.in_slow_start());
    }
}
