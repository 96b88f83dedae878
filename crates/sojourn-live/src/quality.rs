//! Quality of a run: whether its measurements are valid.

use std::fs;

use serde::Serialize;
use sojourn_base::units::{Span, Time};
use sojourn_net::record::histogram::Histogram;

/// If more than one packet in a hundred is released later than this, delays are no longer those of
/// the network; if more than one transfer in a hundred begins later, arrivals are not those drawn.
const WORST_P99: Span = Span::from_millis(1);

/// Timing of the loop.
#[derive(Debug, Default)]
pub struct Timing {
    /// Times from when packets should have been released until they were.
    pub release_errors: Histogram,
    /// Times from when transfers arrived until their sender took them up.
    pub lateness: Histogram,
    /// The 99th percentile of the times from when turns of a node were due, or the first datagram for them
    /// came, until they began, of the run's node that was latest.
    pub turns: Option<Span>,
    /// Whether the loop had priority over ordinary threads.
    pub prioritised: bool,
    /// Packets whose bytes had been overwritten.
    pub forgotten: u64,
    /// Packets that a device refused.
    pub refused: u64,
    longest_gap: Span,
    awake_since: Time,
}

impl Timing {
    /// An iteration of the loop has ended.
    pub fn pass(&mut self, now: Time) {
        self.longest_gap = self.longest_gap.max(now.since(self.awake_since));
        self.awake_since = now;
    }

    /// The loop has slept.
    pub fn woken(&mut self, now: Time) {
        self.awake_since = now;
    }
}

/// Percentiles of the release error in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReleaseError {
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
}

/// Quality of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Quality {
    /// Whether the run is valid.
    pub valid: bool,
    /// Reasons why it is not, with remedies.
    pub reasons: Vec<String>,
    /// Distribution of the lateness of packets' releases.
    pub release_error_ms: ReleaseError,
    /// The longest time in which the loop was busy or not scheduled.
    pub longest_gap_ms: f64,
    /// Packets lost in the devices.
    pub tun_drops: u64,
    /// Share of all processors' time that was idle.
    pub cpu_idle: Option<f64>,
    /// Share of all processors' time that the hypervisor took.
    pub cpu_steal: Option<f64>,
    /// Release of the kernel.
    pub kernel: String,
    /// Whether the loop had priority over ordinary threads.
    pub prioritised: bool,
}

impl Quality {
    /// Judges a run by its timing, the losses of its devices and the processors' times.
    pub fn judge(timing: &Timing, device_drops: u64, before: &Processors) -> Self {
        let percentile = |share| timing.release_errors.percentile(share);
        let tun_drops = device_drops + timing.refused;
        let reasons = reasons(percentile(0.99), tun_drops, timing);
        let [cpu_idle, cpu_steal] = before.shares_since();
        let ms = |share| percentile(share).map(Span::as_millis_f64);
        Quality {
            valid: reasons.is_empty(),
            reasons,
            release_error_ms: ReleaseError { p50: ms(0.5), p99: ms(0.99), p999: ms(0.999) },
            longest_gap_ms: timing.longest_gap.as_millis_f64(),
            tun_drops,
            cpu_idle,
            cpu_steal,
            kernel: kernel(),
            prioritised: timing.prioritised,
        }
    }
}

fn reasons(p99: Option<Span>, tun_drops: u64, timing: &Timing) -> Vec<String> {
    let mut reasons = Vec::new();
    match p99 {
        None => reasons.push("no packet passed: see whether the flows have started".to_owned()),
        Some(p99) if p99 > WORST_P99 => reasons.push(format!(
            "one packet in a hundred was released {:.2} ms late or later; allowed: 1 ms; leave the \
             machine two idle processors, allow real-time priority, or lower the rate",
            p99.as_millis_f64()
        )),
        Some(_) => {}
    }
    if let Some(late) = timing.lateness.percentile(0.99).filter(|late| *late > WORST_P99) {
        reasons.push(format!(
            "one transfer in a hundred began {:.2} ms late or later; allowed: 1 ms; allow real-time \
             priority, or lower the rate of arrivals",
            late.as_millis_f64()
        ));
    }
    if let Some(late) = timing.turns.filter(|late| *late > WORST_P99) {
        reasons.push(format!(
            "one turn of a node in a hundred began {:.2} ms late or later; allowed: 1 ms; leave the \
             machine idle processors, allow real-time priority, or lower the rate",
            late.as_millis_f64()
        ));
    }
    if tun_drops > 0 {
        reasons.push(format!(
            "the devices lost {tun_drops} packets; allowed: 0; lower the rate or the window"
        ));
    }
    if timing.forgotten > 0 {
        reasons.push(format!(
            "{} packets were lost, as more than 131,072 waited; lower the rate, or the queue's \
             limit",
            timing.forgotten
        ));
    }
    reasons
}

fn kernel() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

/// Processors' times since the machine started, as the kernel counts them.
#[derive(Clone, Debug, Default)]
pub struct Processors(Vec<u64>);

impl Processors {
    /// Times until now.
    pub fn now() -> Self {
        Processors::of(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    fn of(stat: &str) -> Self {
        let line = stat.lines().next().and_then(|line| line.strip_prefix("cpu "));
        Processors(line.unwrap_or_default().split_whitespace().flat_map(str::parse).collect())
    }

    fn shares_since(&self) -> [Option<f64>; 2] {
        const IDLE: usize = 3;
        const STEAL: usize = 7;
        self.shares_until(&Processors::now(), [IDLE, STEAL])
    }

    fn shares_until(&self, later: &Processors, fields: [usize; 2]) -> [Option<f64>; 2] {
        let spent: Vec<u64> =
            later.0.iter().zip(&self.0).map(|(b, a)| b.saturating_sub(*a)).collect();
        // Guests' time is counted in user time as well.
        let total: u64 = spent.iter().take(8).sum();
        let share = |field: usize| Some(*spent.get(field)? as f64 / total as f64);
        fields.map(|field| share(field).filter(|share| share.is_finite()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_releases_and_drops_make_a_run_invalid() {
        let timing = |late: u64| {
            let mut timing = Timing::default();
            (0..1000).for_each(|_| timing.release_errors.add(Span::from_micros(late)));
            timing
        };
        let valid =
            |timing: &Timing, drops| Quality::judge(timing, drops, &Processors::now()).valid;
        assert!(valid(&timing(50), 0));
        assert!(!valid(&timing(1500), 0));
        assert!(!valid(&timing(50), 1));
        assert!(!valid(&Timing { forgotten: 1, ..timing(50) }, 0));
        assert!(!valid(&Timing::default(), 0));
        let lateness = timing(1500).release_errors;
        assert!(!valid(&Timing { lateness, ..timing(50) }, 0));
        let turns = Some(Span::from_micros(1500));
        assert!(!valid(&Timing { turns, ..timing(50) }, 0));
    }

    #[test]
    fn a_pass_after_sleeping_is_no_gap() {
        let mut timing = Timing::default();
        let at = |us| Time::ZERO + Span::from_micros(us);
        timing.pass(at(30));
        timing.woken(at(50_000));
        timing.pass(at(50_100));
        assert_eq!(timing.longest_gap, Span::from_micros(100));
    }

    #[test]
    fn shares_are_of_what_was_spent_in_between() {
        let before = Processors::of("cpu  10 0 10 100 0 0 0 0 0 0\ncpu0 1");
        let after = Processors::of("cpu  40 0 20 150 0 0 0 10 5 0\ncpu0 1");
        assert_eq!(before.shares_until(&after, [3, 7]), [Some(0.5), Some(0.1)]);
        assert_eq!(before.shares_until(&before, [3, 7]), [None, None]);
    }
}
