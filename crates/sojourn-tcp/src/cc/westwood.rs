//! Westwood+: after congestion, the window becomes the estimated bandwidth times the minimum RTT.
//!
//! Model: Linux `net/ipv4/tcp_westwood.c`; Grieco, Mascolo, "Performance evaluation and comparison
//! of Westwood+, New Reno and Vegas TCP congestion control", CCR 2004. Growth is Reno's.
//! Acknowledged bytes are counted over windows of at least the last RTT and 50 ms; their rate
//! passes through two low-pass filters of gain 1/8. At the end of a window reduction, window and
//! threshold become bandwidth times minimum RTT (at least 2); during it, the threshold is Reno's. A
//! timeout sets the threshold in the same way and resets the minimum RTT.
//!
//! The arithmetic is the kernel's: whole bytes per tick, RTTs in ticks rounded up. Ticks are 1 ms
//! (HZ = 1000), in `linux-4.9` 4 ms; truncation leaves an estimate up to 15 bytes per tick (0.12 or
//! 0.03 Mbit/s) low. A duplicate ACK counts as one segment, which the cumulative ACK that follows
//! does not count again. The first ACK counts nothing. An ACK is counted before the end of the
//! reduction that it may complete.
//!
//! The file is the same in Linux 4.9 and 6.x except for undo; the order of calls differs: until
//! 2025 (`version` up to `linux-5.1`) an ACK's RTT was known only after it had been counted, since
//! then before.
//!
//! Observes: `bandwidth` (Mbit/s), `rtt` and `min_rtt` (s; 20 s until the first sample).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jiffies::Ticks;
use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, ControlInit, Event, Measured, SenderView};
use crate::observe::Observer;
use crate::spec::Stack;
use crate::units::{Span, Time};

/// Largest number of measurement windows per second.
const WINDOWS_PER_SECOND: u64 = 20;
/// RTT assumed before the first sample, in seconds.
const INITIAL_RTT: u64 = 20;

/// Parameters of Westwood+.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version of the order of calls: `linux-6` takes an ACK's RTT before its bytes, `linux-5.1`
    /// after, and `linux-4.9` with ticks of 4 ms. Default: the flow's `stack`.
    pub version: Stack,
}

impl Default for Params {
    fn default() -> Self {
        Params { version: Stack::Linux6 }
    }
}

impl crate::registry::Params for Params {}

/// Westwood+. Times are in ticks, rates in bytes per tick.
pub type Westwood = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    /// Whether an ACK's RTT is taken before its bytes are counted.
    rtt_first: bool,
    ticks: Ticks,
    mss: u64,
    half_filtered: u64,
    bandwidth: u64,
    window_start: u64,
    /// Bytes acknowledged in this window of measurement.
    bytes: u64,
    /// Bytes already counted for duplicate ACKs.
    accounted: u64,
    /// Whether an ACK has arrived.
    begun: bool,
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

    /// Bytes attributed to this ACK; header prediction counts those it acknowledges, without
    /// correction.
    fn bytes_acked(&mut self, ack: &Measured) -> u64 {
        let begun = std::mem::replace(&mut self.begun, true);
        let bytes = if begun { u64::from(ack.cum_acked) * self.mss } else { 0 };
        if !ack.slow_path {
            return bytes;
        }
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

    fn count(&mut self, now: u64, ack: &Measured) {
        let elapsed = now - self.window_start;
        if self.rtt > 0 && elapsed > self.rtt.max(self.ticks.hz / WINDOWS_PER_SECOND) {
            self.filter(self.bytes / elapsed);
            self.bytes = 0;
            self.window_start = now;
        }
        self.bytes += self.bytes_acked(ack);
        if std::mem::take(&mut self.reset_min_rtt) {
            self.min_rtt = self.rtt;
        } else {
            self.min_rtt = self.min_rtt.min(self.rtt);
        }
    }

    fn take_rtt(&mut self, ack: &Measured) {
        if let Some(rtt) = ack.rtt.filter(|rtt| rtt.as_micros() > 0) {
            self.rtt = self.ticks.covering(rtt);
        }
    }

    /// Bandwidth times minimum RTT, in segments.
    fn bdp(&self) -> u32 {
        (self.bandwidth * self.min_rtt / self.mss).clamp(2, 1 << 30) as u32
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;
    const STEPS: bool = true;

    fn new(params: Params, init: &ControlInit) -> Self {
        let ticks = Ticks::of(params.version);
        Law {
            rtt_first: !matches!(params.version, Stack::Linux49 | Stack::Linux51),
            ticks,
            mss: u64::from(init.mss),
            half_filtered: 0,
            bandwidth: 0,
            window_start: 0,
            bytes: 0,
            accounted: 0,
            begun: false,
            rtt: INITIAL_RTT * ticks.hz,
            min_rtt: INITIAL_RTT * ticks.hz,
            reset_min_rtt: true,
        }
    }

    fn on_measured(
        &mut self,
        _window: &mut Window,
        now: Time,
        measured: &Measured,
        _view: &SenderView,
    ) {
        if self.rtt_first {
            self.take_rtt(measured);
        }
        self.count(self.ticks.at(now), measured);
        if !self.rtt_first {
            self.take_rtt(measured);
        }
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        if ack.may_grow && ack.cwnd_limited {
            window.reno_growth(ack.acked);
        }
    }

    fn on_established(&mut self, _window: &mut Window, now: Time, _rtt: Span) {
        self.window_start = self.ticks.at(now);
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
        out("bandwidth", (self.bandwidth as f64 * 8.0 * self.ticks.hz as f64 / 1e6).into());
        out("rtt", self.ticks.seconds(self.rtt).into());
        out("min_rtt", self.ticks.seconds(self.min_rtt).into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Path;
    use super::*;

    fn path(rate: f64, rtt_ms: u64) -> Path<Westwood> {
        let mut path = Path::<Westwood>::new(Params::default(), Span::from_millis(rtt_ms));
        path.rate = Some(rate);
        path
    }

    /// Truncation takes up to one byte off the sample and seven in each filter.
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
        let mut westwood = Law::new(Params::default(), &super::super::testing::init());
        westwood.filter(1_000_000);
        for n in 1..=30 {
            westwood.filter(0);
            let left = (1.0 + f64::from(n) / 8.0) * 0.875f64.powi(n);
            let got = westwood.bandwidth as f64 / 1e6;
            assert!((got - left).abs() < 1e-4, "{n}: {got} {left}");
        }
    }

    /// With ticks of 4 ms a window of 52 ms is the first that is judged, in bytes per 4 ms.
    #[test]
    fn coarse_ticks_count_bytes_per_four_milliseconds() {
        let params = Params { version: Stack::Linux49 };
        let mut westwood = Law::new(params, &super::super::testing::init());
        let rtt = Some(Span::from_millis(30));
        let ack = Measured { cum_acked: 1, rtt, ..Measured::default() };
        for ms in [0, 4, 48, 51] {
            let now = Time::from_nanos(ms * 1_000_000);
            westwood.on_measured(&mut Window::new(10), now, &ack, &SenderView::default());
        }
        assert_eq!((westwood.bandwidth, westwood.rtt), (0, 8));
        westwood.on_measured(
            &mut Window::new(10),
            Time::from_nanos(52_000_000),
            &ack,
            &SenderView::default(),
        );
        assert_eq!(westwood.bandwidth, 3 * 1448 / 13);
    }

    /// An ACK's RTT is taken before its bytes are counted, in older kernels after. Header prediction
    /// leaves out what duplicates have been counted for.
    #[test]
    fn an_ack_is_counted_in_the_kernel_s_order() {
        for (version, min_rtt) in
            [(Stack::Linux6, 30), (Stack::Linux51, 20_000), (Stack::Linux49, 5000)]
        {
            let mut westwood = Law::new(Params { version }, &super::super::testing::init());
            let rtt = Some(Span::from_millis(30));
            let ack = Measured { cum_acked: 2, rtt, ..Measured::default() };
            westwood.on_measured(&mut Window::new(10), Time::ZERO, &ack, &SenderView::default());
            assert_eq!(
                (westwood.min_rtt, westwood.bytes),
                (min_rtt, 0),
                "the first counts nothing"
            );
            let duplicate = Measured { slow_path: true, ..Measured::default() };
            westwood.on_measured(
                &mut Window::new(10),
                Time::ZERO,
                &duplicate,
                &SenderView::default(),
            );
            assert_eq!(westwood.bytes, 1448);
            westwood.on_measured(&mut Window::new(10), Time::ZERO, &ack, &SenderView::default());
            assert_eq!(westwood.bytes, 3 * 1448, "all of it");
            let slow = Measured { slow_path: true, ..ack };
            westwood.on_measured(&mut Window::new(10), Time::ZERO, &slow, &SenderView::default());
            assert_eq!(westwood.bytes, 4 * 1448, "less the duplicate");
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
