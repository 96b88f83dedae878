//! Westwood+: after congestion, the window becomes the estimated bandwidth times the minimum RTT.
//!
//! Model: Linux `net/ipv4/tcp_westwood.c`, the same in 4.9 and 6.x; Grieco, Mascolo, "Performance
//! evaluation and comparison of Westwood+, New Reno and Vegas TCP congestion control", CCR 2004.
//! Growth is Reno's. Acknowledged bytes are counted over windows of at least the last RTT and
//! 50 ms; their rate passes through two low-pass filters of gain 1/8. At the end of a window
//! reduction, window and threshold become bandwidth times minimum RTT (at least 2); during it, the
//! threshold is Reno's. A timeout sets the threshold so, too, and forgets the minimum RTT.
//!
//! The arithmetic is the kernel's: whole bytes per tick, ticks of 1 ms (a kernel with HZ = 1000);
//! truncation leaves an estimate up to 15 bytes per tick (0.12 Mbit/s) low. A duplicate ACK counts as one segment, which
//! the cumulative ACK that follows does not count again.
//!
//! Observes: `bandwidth` (Mbit/s), `rtt` and `min_rtt` (s; 20 s until the first sample).

use super::jiffies::{HZ, jiffies, jiffies_of};
use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, ControlInit, Event};
use crate::observe::Observer;
use crate::registry::NoParams;
use crate::units::{Span, Time};

/// Shortest window of measurement in ticks.
const SHORTEST_WINDOW: u64 = HZ / 20;
/// RTT assumed before the first sample, in ticks.
const INITIAL_RTT: u64 = 20 * HZ;

/// Westwood+. Times are in ticks, rates in bytes per tick.
pub type Westwood = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    mss: u64,
    half_filtered: u64,
    bandwidth: u64,
    window_start: u64,
    /// Bytes acknowledged in this window of measurement.
    bytes: u64,
    /// Bytes already counted for duplicate ACKs.
    accounted: u64,
    rtt: u64,
    min_rtt: u64,
    reset_min_rtt: bool,
}

impl Law {
    fn filter(&mut self, sample: u64) {
        if self.half_filtered == 0 && self.bandwidth == 0 {
            self.half_filtered = sample;
            self.bandwidth = sample;
        } else {
            self.half_filtered = (7 * self.half_filtered + sample) / 8;
            self.bandwidth = (7 * self.bandwidth + self.half_filtered) / 8;
        }
    }

    /// Bytes that this ACK stands for.
    fn bytes_acked(&mut self, segments: u32) -> u64 {
        let bytes = u64::from(segments) * self.mss;
        if bytes == 0 {
            self.accounted += self.mss;
            return self.mss;
        }
        if bytes <= self.mss {
            return bytes;
        }
        if self.accounted >= bytes {
            self.accounted -= bytes;
            return self.mss;
        }
        bytes - std::mem::take(&mut self.accounted)
    }

    fn measure(&mut self, now: u64, ack: &AckSample) {
        let elapsed = now - self.window_start;
        if self.rtt > 0 && elapsed > self.rtt.max(SHORTEST_WINDOW) {
            self.filter(self.bytes / elapsed);
            self.bytes = 0;
            self.window_start = now;
        }
        self.bytes += self.bytes_acked(ack.cum_acked);
        if std::mem::take(&mut self.reset_min_rtt) {
            self.min_rtt = self.rtt;
        } else {
            self.min_rtt = self.min_rtt.min(self.rtt);
        }
        // The sample of this ACK comes after the estimate, as in the kernel.
        if let Some(rtt) = ack.rtt.filter(|rtt| rtt.as_micros() > 0) {
            self.rtt = jiffies_of(rtt);
        }
    }

    /// Bandwidth times minimum RTT, in segments.
    fn bdp(&self) -> u32 {
        (self.bandwidth * self.min_rtt / self.mss).clamp(2, 1 << 30) as u32
    }
}

impl WindowLaw for Law {
    type Params = NoParams;

    fn new(_params: NoParams, init: &ControlInit) -> Self {
        Law {
            mss: u64::from(init.mss),
            half_filtered: 0,
            bandwidth: 0,
            window_start: 0,
            bytes: 0,
            accounted: 0,
            rtt: INITIAL_RTT,
            min_rtt: INITIAL_RTT,
            reset_min_rtt: true,
        }
    }

    fn on_ack(&mut self, window: &mut Window, now: Time, ack: &AckSample) {
        self.measure(jiffies(now), ack);
        if ack.may_grow && ack.cwnd_limited {
            window.reno_growth(ack.acked);
        }
    }

    fn on_established(&mut self, _window: &mut Window, now: Time, _rtt: Span) {
        self.window_start = jiffies(now);
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        (window.cwnd / 2).max(2)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
        match event {
            Event::ReductionEnd { .. } => {
                window.ssthresh = self.bdp();
                window.cwnd = window.ssthresh;
            }
            Event::Rto { reduce: true, .. } => {
                window.ssthresh = self.bdp();
                self.reset_min_rtt = true;
            }
            _ => {}
        }
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        let seconds = |ticks: u64| ticks as f64 / HZ as f64;
        out("bandwidth", (self.bandwidth as f64 * 8.0 * HZ as f64 / 1e6).into());
        out("rtt", seconds(self.rtt).into());
        out("min_rtt", seconds(self.min_rtt).into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Path;
    use super::*;

    fn path(rate: f64, rtt_ms: u64) -> Path<Westwood> {
        let mut path = Path::<Westwood>::new(NoParams {}, Span::from_millis(rtt_ms));
        path.rate = Some(rate);
        path
    }

    /// Up to a byte is cut off the sample and seven by each filter.
    #[test]
    fn estimates_the_bandwidth_of_the_bottleneck() {
        for (rate, rtt) in [(100.0, 20), (1000.0, 100), (8000.0, 20)] {
            for ack_every in [1, 2] {
                let mut path = path(rate, rtt);
                path.ack_every = ack_every;
                path.lose_at((rate * rtt as f64 / 1000.0) as u32 + 40);
                path.run(Span::from_secs(60));
                let bytes_per_tick = rate * 1.448;
                let low = bytes_per_tick - path.control.law.bandwidth as f64;
                assert!((-0.02 * bytes_per_tick..=15.0).contains(&low), "{rate} {rtt}: {low}");
            }
        }
    }

    /// A step of the rate passes two filters of gain 1/8: (1 + n/8) (7/8)^n is left after n windows.
    #[test]
    fn estimate_follows_a_step_through_two_filters() {
        let mut westwood = Law::new(NoParams {}, &super::super::testing::init());
        westwood.filter(1_000_000);
        for n in 1..=30 {
            westwood.filter(0);
            let left = (1.0 + f64::from(n) / 8.0) * 0.875f64.powi(n);
            let got = westwood.bandwidth as f64 / 1e6;
            assert!((got - left).abs() < 1e-4, "{n}: {got} {left}");
        }
    }

    /// The window after a loss is the bandwidth-delay product, however long the queue was.
    #[test]
    fn loss_leaves_the_bandwidth_delay_product() {
        let mut path = path(1000.0, 100);
        path.lose_at(130);
        path.run(Span::from_secs(20));
        while path.cwnd() < 180 {
            path.rounds(1);
        }
        path.lose_one();
        assert!((92..=103).contains(&path.cwnd()), "{}", path.cwnd());
    }
}
