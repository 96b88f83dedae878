//! RTTs and one-way delays of a connection.

use sojourn_base::units::{Span, Time};

const INITIAL: Span = Span::from_secs(1);
const MIN_RTO: f64 = 0.2;
/// The peer may delay an ACK by 40 ms; timers are 4 ms late.
const ACK_DELAY: f64 = 0.044;
/// Intervals of the largest and smallest value, in slowly smoothed RTTs.
const INTERVAL_RTTS: f64 = 10.0;
const SLOW_GAIN: f64 = 0.01;
/// Number of intervals that are kept.
const INTERVALS: usize = 5;

/// The connection's RTT (RFC 6298, with a least timeout of 200 ms).
#[derive(Clone, Debug, Default)]
pub(crate) struct Rtt {
    smoothed: Option<f64>,
    /// The same as a `Span`, for callers that need it with every packet.
    span: Span,
    deviation: f64,
    slow: f64,
    rtts: MaxFilter,
    delays: MaxFilter,
}

impl Rtt {
    /// Before the first sample; `reject_outliers` makes the largest RTT a median over intervals.
    pub(crate) fn new(reject_outliers: bool) -> Self {
        let rtts = MaxFilter { median: reject_outliers, ..MaxFilter::default() };
        Rtt { rtts, ..Rtt::default() }
    }

    /// Processes a sample.
    pub(crate) fn on_rtt(&mut self, now: Time, rtt: Span) {
        let sample = rtt.as_secs_f64();
        match self.smoothed {
            None => {
                self.smoothed = Some(sample);
                self.deviation = sample / 2.0;
                self.slow = sample;
            }
            Some(smoothed) => {
                self.deviation += 0.25 * ((smoothed - sample).abs() - self.deviation);
                self.smoothed = Some(smoothed + 0.125 * (sample - smoothed));
                self.slow += SLOW_GAIN * (sample - self.slow);
            }
        }
        self.span = Span::from_secs_f64(self.smoothed.unwrap_or_default());
        self.rtts.update(now, sample, INTERVAL_RTTS * self.slow);
    }

    /// Processes a one-way delay from the peer, in seconds.
    pub(crate) fn on_delay(&mut self, now: Time, delay: f64) {
        if self.smoothed.is_some() && delay > 0.0 {
            self.delays.update(now, delay, INTERVAL_RTTS * self.slow);
        }
    }

    /// The smoothed RTT, 1 s before there is one.
    pub(crate) fn smoothed(&self) -> Span {
        if self.smoothed.is_some() { self.span } else { INITIAL }
    }

    fn after(&self, deviations: f64, extra: f64, least: f64) -> Span {
        let time = |smoothed: f64| (smoothed + deviations * self.deviation + extra).max(least);
        self.smoothed.map_or(INITIAL, |smoothed| Span::from_secs_f64(time(smoothed)))
    }

    /// The retransmission timeout.
    pub(crate) fn rto(&self) -> Span {
        self.after(4.0, ACK_DELAY, MIN_RTO)
    }

    /// Time after which a packet without ACK may be retransmitted; `deviations` above the mean.
    pub(crate) fn retransmit_after(&self, deviations: f64) -> Span {
        self.after(deviations, ACK_DELAY, 0.0)
    }

    /// Time after which later ACKs show a retransmission to be lost.
    pub(crate) fn repeat_after(&self) -> Span {
        self.after(4.0, 0.0, 0.0)
    }

    /// The largest RTT of the last intervals, in seconds.
    pub(crate) fn max_rtt(&self) -> f64 {
        self.rtts.max
    }

    /// The largest one-way delay from the peer of the last intervals, in seconds; 0 if none is known.
    pub(crate) fn max_delay(&self) -> f64 {
        self.delays.max
    }

    /// Length of an interval; zero before the first sample.
    pub(crate) fn interval(&self) -> Span {
        Span::from_secs_f64(INTERVAL_RTTS * self.slow)
    }
}

/// The largest value: of the last two intervals and of this one so far, or the median of the
/// largest of the last five.
#[derive(Clone, Copy, Debug, Default)]
struct MaxFilter {
    median: bool,
    max: f64,
    current: f64,
    /// The largest of each of the last intervals, the latest first.
    previous: [f64; INTERVALS],
    intervals: usize,
    end: Option<Time>,
}

impl MaxFilter {
    fn update(&mut self, now: Time, sample: f64, interval: f64) {
        let end = || now + Span::from_secs_f64(interval);
        match self.end {
            None => {
                *self = MaxFilter { max: sample, current: sample, end: Some(end()), ..*self };
                return;
            }
            Some(over) if now >= over => {
                self.end_interval();
                self.current = sample;
                self.end = Some(end());
            }
            Some(_) => self.current = self.current.max(sample),
        }
        if !self.median {
            self.max = self.max.max(sample);
        }
    }

    #[inline(never)] // an interval is many samples long
    fn end_interval(&mut self) {
        self.previous.rotate_right(1);
        self.previous[0] = self.current;
        self.intervals = (self.intervals + 1).min(INTERVALS);
        self.max = self.of_intervals();
    }

    fn of_intervals(&self) -> f64 {
        if !self.median {
            return self.previous[0].max(self.previous[1]);
        }
        let mut sorted = self.previous;
        let known = &mut sorted[..self.intervals];
        known.sort_by(f64::total_cmp);
        f64::midpoint(known[(known.len() - 1) / 2], known[known.len() / 2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_follow_rfc_6298_with_the_delay_of_an_ack() {
        let mut rtt = Rtt::default();
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.on_rtt(Time::ZERO, Span::from_millis(100));
        assert_eq!(rtt.rto(), Span::from_millis(100 + 4 * 50 + 44));
        for ms in 1..200 {
            rtt.on_rtt(Time::from_nanos(ms * 1_000_000), Span::from_millis(10));
        }
        assert_eq!(rtt.rto(), Span::from_millis(200));
    }

    #[test]
    fn the_largest_is_forgotten_after_two_intervals() {
        let mut filter = MaxFilter::default();
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        filter.update(at(0), 5.0, 0.1);
        (1..=10).for_each(|i| filter.update(at(100 * i), 1.0, 0.1));
        assert_eq!(filter.max, 1.0);
        filter.update(at(1_010), 7.0, 0.1);
        assert_eq!(filter.max, 7.0);
    }

    #[test]
    fn outliers_are_rejected_by_the_median_of_five_intervals() {
        let mut rtt = Rtt::new(true);
        let mut at = 0;
        for largest in [100, 100, 400, 100, 300, 100, 100] {
            // Samples that fill an interval of ten smoothed RTTs.
            let until = rtt.interval().as_millis();
            for ms in (0..=until).step_by(50) {
                let sample = if ms == 0 { largest } else { 100 };
                rtt.on_rtt(Time::from_nanos((at + ms) * 1_000_000), Span::from_millis(sample));
            }
            at += until + 50;
        }
        assert!((rtt.max_rtt() - 0.1).abs() < 1e-9, "{}", rtt.max_rtt());
    }
}
