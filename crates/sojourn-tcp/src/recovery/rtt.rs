//! Round-trip time estimation and the retransmission timeout.
//!
//! RFC 6298, and Linux's `tcp_rtt_estimator`: the mean deviation is smoothed asymmetrically (a
//! falling RTT hardly raises it), its maximum over a round is the variance term, which decays once
//! per round and never falls below 200 ms: the timeout is at least SRTT + 200 ms, in whole ticks.
//! SRTT is kept in eighths of a microsecond and the deviation in quarters, as integers, as Linux has
//! them: controls and bursts compare SRTT with thresholds, where the last digit decides.

use crate::units::{Span, Time};

/// The retransmission timeout's variance term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoStyle {
    /// Linux: the minimum applies to the variance term, which decays once per round.
    Linux,
    /// RFC 6298: `SRTT + max(G, 4 RTTVAR)`, the minimum applies to the sum.
    Rfc6298,
}

/// Rules by which the retransmission timeout follows from RTT samples.
#[derive(Clone, Copy, Debug)]
pub struct RtoRules {
    /// Variance term.
    pub style: RtoStyle,
    /// Minimum of the timeout (or of its variance term).
    pub min: Span,
    /// Maximum of the timeout.
    pub max: Span,
    /// Timeout before the first sample.
    pub initial: Span,
    /// Granularity of the clock.
    pub tick: Span,
}

/// Minimum over a sliding window of five minutes, kept as Linux's `win_minmax` does with three
/// candidates.
#[derive(Clone, Copy, Debug)]
struct WindowedMin {
    best: [(Time, Span); 3],
}

/// Length of the minimum filter (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Span = Span::from_secs(300);

impl WindowedMin {
    fn new() -> Self {
        WindowedMin { best: [(Time::ZERO, Span::MAX); 3] }
    }

    #[inline(never)] // few samples are a new minimum
    fn reset(&mut self, now: Time, rtt: Span) {
        self.best = [(now, rtt); 3];
    }

    fn update(&mut self, now: Time, rtt: Span) {
        if rtt <= self.best[0].1 || now.since(self.best[2].0) > MIN_RTT_WINDOW {
            return self.reset(now, rtt);
        }
        if rtt <= self.best[1].1 {
            self.best[1] = (now, rtt);
            self.best[2] = (now, rtt);
        } else if rtt <= self.best[2].1 {
            self.best[2] = (now, rtt);
        }
        self.age(now, rtt);
    }

    /// Moves to newer candidates when the best is too old or no second one has been found in time.
    fn age(&mut self, now: Time, rtt: Span) {
        let age = now.since(self.best[0].0);
        if age > MIN_RTT_WINDOW {
            self.best = [self.best[1], self.best[2], (now, rtt)];
        } else if self.best[1].0 == self.best[0].0 && age > MIN_RTT_WINDOW / 4 {
            self.best[1] = (now, rtt);
            self.best[2] = (now, rtt);
        } else if self.best[2].0 == self.best[1].0 && age > MIN_RTT_WINDOW / 2 {
            self.best[2] = (now, rtt);
        }
    }
}

/// Smoothed RTT, its variance term, and the timeout with its backoff.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    rules: RtoRules,
    min: WindowedMin,
    /// Eighths of a microsecond; zero before the first sample.
    srtt: i64,
    /// Four mean deviations in microseconds, and the most of them in this round.
    mdev: i64,
    mdev_max: i64,
    /// The variance term in microseconds, four deviations.
    rttvar: i64,
    /// The round in which `mdev_max` is collected ends when this segment is acknowledged.
    round_end: u32,
    rto: Span,
}

impl RttEstimator {
    /// No sample yet.
    pub fn new(rules: RtoRules) -> Self {
        RttEstimator {
            rules,
            min: WindowedMin::new(),
            srtt: 0,
            mdev: 0,
            mdev_max: 0,
            rttvar: 0,
            round_end: 0,
            rto: rules.initial,
        }
    }

    /// Mean deviation.
    pub fn mdev(&self) -> Span {
        Span::from_micros(self.mdev as u64) / 4
    }

    /// The variance term of the timeout, four deviations.
    pub fn rttvar(&self) -> Span {
        Span::from_micros(self.rttvar as u64)
    }

    /// Takes a sample. `una` and `next` bound the round over which deviations are collected.
    /// A sample ends any backoff.
    #[inline]
    pub fn sample(&mut self, rtt: Span, una: u32, next: u32) {
        let m = (rtt.as_micros() as i64).max(1);
        if self.srtt == 0 {
            self.first(m, next);
        } else {
            match self.rules.style {
                RtoStyle::Linux => self.linux(m, una, next),
                RtoStyle::Rfc6298 => {
                    let error = m - (self.srtt >> 3);
                    self.mdev += error.abs() - (self.mdev >> 2);
                    self.srtt += error;
                    self.rttvar = self.mdev;
                }
            }
        }
        self.end_backoff();
    }

    fn first(&mut self, m: i64, next: u32) {
        self.srtt = m << 3;
        self.mdev = m << 1;
        self.rttvar = match self.rules.style {
            RtoStyle::Linux => self.mdev.max(self.rules.min.as_micros() as i64),
            RtoStyle::Rfc6298 => self.mdev,
        };
        self.mdev_max = self.rttvar;
        self.round_end = next;
    }

    #[inline]
    fn linux(&mut self, m: i64, una: u32, next: u32) {
        let error = m - (self.srtt >> 3);
        self.srtt = (self.srtt + error).max(1);
        let mut excess = error.abs() - (self.mdev >> 2);
        if error < 0 && excess > 0 {
            excess >>= 3;
        }
        self.mdev += excess;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev);
        }
        if una > self.round_end {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.round_end = next;
            self.mdev_max = self.rules.min.as_micros() as i64;
        }
    }

    #[inline]
    fn base_rto(&self) -> Span {
        if self.srtt == 0 {
            return self.rules.initial;
        }
        let tick = self.rules.tick.as_nanos();
        let rto = match self.rules.style {
            RtoStyle::Linux => {
                let micros = (self.srtt >> 3) + self.rttvar;
                let ticks = Span::from_micros(micros as u64).as_nanos().div_ceil(tick);
                Span::from_nanos(ticks * tick)
            }
            RtoStyle::Rfc6298 => {
                let variance = self.rttvar().max(self.rules.tick);
                (self.srtt() + variance).max(self.rules.min)
            }
        };
        rto.min(self.rules.max)
    }

    /// A sample for the minimum only (it may come from a segment that must not enter SRTT).
    pub fn sample_min(&mut self, now: Time, rtt: Span) {
        self.min.update(now, rtt);
    }

    /// Doubles the timeout.
    pub fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.rules.max);
    }

    /// Ends the backoff: the timeout follows from the samples again.
    #[inline]
    pub fn end_backoff(&mut self) {
        self.rto = self.base_rto();
    }

    /// Until the first sample of data, the timeout is that of a path of this RTT, if it is longer than
    /// the handshake's (Linux `tcp_init_metrics`).
    pub fn expect(&mut self, rtt: Span) {
        if rtt > self.srtt() {
            self.rto = (rtt + (rtt * 2).max(self.rules.min)).min(self.rules.max);
        }
    }

    /// Whether the timeout is backed off, longer than the samples give.
    pub fn is_backed_off(&self) -> bool {
        self.rto > self.base_rto()
    }

    /// The retransmission timeout, backoff included.
    pub fn rto(&self) -> Span {
        self.rto
    }

    /// Smoothed RTT; zero before the first sample.
    pub fn srtt(&self) -> Span {
        Span::from_micros(self.srtt as u64) / 8
    }

    /// Minimum RTT of the last five minutes; [`Span::MAX`] before the first sample.
    pub fn min_rtt(&self) -> Span {
        self.min.best[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(style: RtoStyle) -> RttEstimator {
        let (min, max) = match style {
            RtoStyle::Linux => (Span::from_millis(200), Span::from_secs(120)),
            RtoStyle::Rfc6298 => (Span::from_secs(1), Span::from_secs(60)),
        };
        let (initial, tick) = (Span::from_secs(1), Span::from_millis(1));
        RttEstimator::new(RtoRules { style, min, max, initial, tick })
    }

    #[test]
    fn linux_timeout_is_srtt_plus_200_ms_on_a_steady_path() {
        let mut rtt = estimator(RtoStyle::Linux);
        for round in 0..200 {
            rtt.sample(Span::from_millis(100), round + 1, round + 1);
        }
        let rto = rtt.rto().as_millis_f64();
        assert!((300.0..301.0).contains(&rto), "{rto}");
    }

    /// Worked by hand through `tcp_rtt_estimator`: 40 ms, then 41.007 ms, then 39.999 ms.
    #[test]
    fn linux_keeps_eighths_of_a_microsecond_and_a_timeout_in_ticks() {
        let mut rtt = estimator(RtoStyle::Linux);
        let mut sampled = |us| {
            rtt.sample(Span::from_micros(us), 1, 1);
            (rtt.srtt().as_nanos(), rtt.mdev().as_nanos(), rtt.rto())
        };
        let rto = Span::from_millis(240);
        assert_eq!(sampled(40_000), (40_000_000, 20_000_000, rto));
        // 40,125 is the smoothed RTT in whole microseconds, from which the next error counts.
        let rto = Span::from_millis(241);
        assert_eq!(sampled(41_007), (40_125_875, 15_251_750, rto));
        assert_eq!(sampled(39_999), (40_110_125, 11_470_500, rto));
    }

    #[test]
    fn rfc_timeout_has_a_floor_of_one_second() {
        let mut rtt = estimator(RtoStyle::Rfc6298);
        rtt.sample(Span::from_millis(100), 1, 1);
        assert_eq!(rtt.rto(), Span::from_secs(1));
    }

    #[test]
    fn backoff_doubles_and_a_sample_ends_it() {
        let mut rtt = estimator(RtoStyle::Linux);
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_secs(4));
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Span::from_secs(120));
        rtt.sample(Span::from_millis(10), 1, 1);
        assert_eq!(rtt.rto(), Span::from_millis(210));
    }

    #[test]
    fn an_expected_rtt_sets_the_timeout_until_a_sample_comes() {
        let mut rtt = estimator(RtoStyle::Linux);
        rtt.sample(Span::from_millis(40), 0, 1);
        rtt.expect(Span::from_millis(30));
        assert_eq!(rtt.rto(), Span::from_millis(240));
        rtt.expect(Span::from_millis(150));
        assert_eq!(rtt.rto(), Span::from_millis(450));
        assert!(rtt.is_backed_off());
        rtt.sample(Span::from_millis(40), 1, 2);
        assert!(rtt.rto() <= Span::from_millis(240));
    }

    #[test]
    fn minimum_forgets_after_five_minutes() {
        let mut rtt = estimator(RtoStyle::Linux);
        rtt.sample_min(Time::ZERO, Span::from_millis(10));
        for second in 1..700 {
            rtt.sample_min(Time::ZERO + Span::from_secs(second), Span::from_millis(20));
        }
        assert_eq!(rtt.min_rtt(), Span::from_millis(20));
    }
}
