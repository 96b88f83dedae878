//! Rate control: Minstrel-HT.
//!
//! Model: F. Fietkau's Minstrel-HT as the Linux wireless documentation describes Minstrel, with the
//! constants of `net/mac80211/rc80211_minstrel_ht.c` until 5.4 (later kernels smooth and sample
//! differently): for each mode the share of MPDUs that arrive is smoothed every 50 ms (old weight
//! 3/4); the expected throughput of each mode follows from this share, capped at 90 %, and from the
//! airtime of a packet of 1200 bytes in an average frame. Frames are sent in the mode of the
//! highest throughput, after two failures in the second, after four in the most reliable one: the
//! fastest of those that deliver 75 %. One frame in ten is a sample in another mode, which must
//! promise more than the present one, or occasionally be a slower one.
//!
//! Deviations: one table for all modes rather than groups; a sample is a frame of its own with one MPDU, as in
//! Linux, but which mode is sampled next is drawn at random, and one in twenty may be slower, where
//! Linux skips a slower one twenty times; a failure is that of a whole frame.

use rand::RngExt;

use super::phy::Phy;
use sojourn_base::rng::Stream;
use sojourn_base::units::{Span, Time};

/// Time between updates of the statistics.
const INTERVAL: Span = Span::from_millis(50);
/// Weight of the past.
const SMOOTHING: f64 = 0.75;
/// One frame in this number is a sample.
const SAMPLE_EVERY: u32 = 10;
/// One sample in this number may be of a slower mode.
const SLOW_EVERY: u32 = 20;
/// Modes that deliver less are not used for throughput.
const HOPELESS: f64 = 0.1;
/// Shares of success above this count as this.
const SATURATED: f64 = 0.9;
/// Modes that deliver more are reliable.
const RELIABLE: f64 = 0.75;
/// Bytes of an average packet (`AVG_PKT_SIZE`).
const PACKET: u32 = 1200;
/// Preamble, contention and answer, shared by an average frame.
const OVERHEAD: Span = Span::from_micros(150);

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    sent: u32,
    arrived: u32,
    /// Smoothed share; `None` before the first attempt.
    success: Option<f64>,
}

/// Statistics of each mode towards one receiver.
#[derive(Debug)]
pub(crate) struct Minstrel {
    tallies: Vec<Tally>,
    /// Seconds that a packet takes in each mode.
    airtimes: Vec<f64>,
    best: usize,
    second: usize,
    reliable: usize,
    update_at: Time,
    /// Number of frames so far that were no retries.
    fresh: u32,
    /// Frames and MPDUs since the last update.
    frames: u32,
    mpdus: u32,
    random: Stream,
}

/// A frame's mode, and whether it is a sample: samples are not aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Index of the mode.
    pub mode: usize,
    /// Whether this is a sample.
    pub sample: bool,
}

impl Minstrel {
    /// Starts without statistics and with the slowest mode. Uses the first `modes` of `phy`.
    pub(crate) fn new(phy: &Phy, modes: usize, random: Stream) -> Self {
        let airtime = |mode: usize| f64::from(PACKET) * 8.0 / phy.rate(mode);
        Minstrel {
            tallies: vec![Tally::default(); modes],
            airtimes: (0..modes).map(airtime).collect(),
            best: 0,
            second: 0,
            reliable: 0,
            update_at: Time::ZERO + INTERVAL,
            fresh: 0,
            frames: 0,
            mpdus: 0,
            random,
        }
    }

    /// The mode of the next frame, after a number of consecutive failures.
    pub(crate) fn choose(&mut self, failures: u32) -> Choice {
        let plain = |mode| Choice { mode, sample: false };
        if failures > 0 {
            return plain(match failures {
                1 => self.best,
                2 | 3 => self.second,
                _ => self.reliable,
            });
        }
        self.fresh = self.fresh.wrapping_add(1);
        if self.fresh.is_multiple_of(SAMPLE_EVERY) {
            let mode = self.random.random_range(0..self.tallies.len());
            let promising = self.airtimes[mode] < self.airtimes[self.reliable]
                || self.fresh.is_multiple_of(SLOW_EVERY * SAMPLE_EVERY);
            if mode != self.best && promising {
                return Choice { mode, sample: true };
            }
        }
        plain(self.best)
    }

    /// Result of a frame in this mode: `sent` MPDUs, of which `arrived` arrived.
    pub(crate) fn learn(&mut self, now: Time, mode: usize, sent: u32, arrived: u32) {
        self.tallies[mode].sent += sent;
        self.tallies[mode].arrived += arrived;
        self.frames += 1;
        self.mpdus += sent;
        if now >= self.update_at {
            self.update_at = now + INTERVAL;
            self.update();
        }
    }

    fn update(&mut self) {
        for tally in self.tallies.iter_mut().filter(|tally| tally.sent > 0) {
            let share = f64::from(tally.arrived) / f64::from(tally.sent);
            let smooth = |past| SMOOTHING * past + (1.0 - SMOOTHING) * share;
            *tally =
                Tally { success: Some(tally.success.map_or(share, smooth)), ..Tally::default() };
        }
        let share = f64::from(self.frames.max(1)) / f64::from(self.mpdus.max(1));
        let overhead = OVERHEAD.as_secs_f64() * share;
        let throughput = |mode: usize| match self.tallies[mode].success {
            Some(success) if success > HOPELESS => {
                success.min(SATURATED) / (overhead + self.airtimes[mode])
            }
            _ => 0.0,
        };
        let mut modes: Vec<usize> = (0..self.tallies.len()).collect();
        modes.sort_by(|a, b| throughput(*b).total_cmp(&throughput(*a)));
        self.best = modes[0];
        self.second = modes[1.min(modes.len() - 1)];
        let success = |mode: usize| self.tallies[mode].success.unwrap_or(0.0);
        let safe = modes.iter().find(|mode| success(**mode) > RELIABLE).copied();
        let safest = || modes.iter().copied().max_by(|a, b| success(*a).total_cmp(&success(*b)));
        self.reliable = safe.or_else(safest).unwrap_or(0);
        (self.frames, self.mpdus) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::errors::log_bit_success;
    use super::super::phy::Standard;
    use super::*;
    use sojourn_base::rng::StreamKey;

    /// Size in bytes with a packet of 1500.
    const MPDU: u32 = 1544;

    /// Sends frames of 16 MPDUs for two seconds; returns the mode used at the end, and the best
    /// one.
    fn settles(snr: f64) -> (usize, usize) {
        let phy = Phy::new(Standard::N, 40, 2, true);
        let mut random = StreamKey::root(3).stream();
        let mut minstrel = Minstrel::new(&phy, phy.modes.len(), StreamKey::root(2).stream());
        let success = |mode: usize| {
            (8.0 * f64::from(MPDU) * log_bit_success(&phy, &phy.modes[mode], snr)).exp()
        };
        let mut now = Time::ZERO;
        let mut failures = 0;
        for _ in 0..2_000 {
            now += Span::from_millis(1);
            let Choice { mode, sample } = minstrel.choose(failures);
            let sent = if sample { 1 } else { 16 };
            let arrived =
                (0..sent).filter(|_| random.random::<f64>() < success(mode)).count() as u32;
            failures = if arrived > 0 { 0 } else { failures + 1 };
            minstrel.learn(now, mode, sent, arrived);
        }
        let goodput = |mode: &usize| phy.rate(*mode) * success(*mode);
        let best = (0..phy.modes.len()).max_by(|a, b| goodput(a).total_cmp(&goodput(b)));
        (minstrel.best, best.unwrap())
    }

    #[test]
    fn it_finds_the_best_mode() {
        let phy = Phy::new(Standard::N, 40, 2, true);
        for snr in [6.0, 12.0, 18.0, 24.0, 40.0] {
            let (used, best) = settles(snr);
            assert!(phy.rate(used) >= 0.9 * phy.rate(best), "{snr} dB: {used} against {best}");
        }
    }
}
