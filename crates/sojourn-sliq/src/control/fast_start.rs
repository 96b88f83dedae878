//! Copa's start on a long path: pairs of packets measure the RTT and the bottleneck's rate.
//!
//! Eleven pairs are sent over two RTTs. The receiver reports the time between the arrivals of a
//! pair. The first pair is not counted.

use super::Probe;
use crate::wire::{Train, TrainKind};
use sojourn_base::units::{Span, Time};

const PAIRS: usize = 11;
/// Added to the RTT to compute the time between pairs, in seconds.
const MARGIN: f64 = 0.025;
/// Bytes of a probe: a nominal packet.
const PROBE: u16 = 1_000;
const TRAIN_HEADER: u16 = 16;
const LONGEST_WAIT: f64 = 1.0;

/// Measurements from the pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// Mean RTT in seconds.
    pub mean_rtt: f64,
    /// Least RTT in seconds.
    pub min_rtt: f64,
    /// Largest RTT in seconds.
    pub max_rtt: f64,
    /// Packets per second at the bottleneck.
    pub rate: f64,
}

/// The sender's part.
#[derive(Clone, Debug)]
pub(super) struct FastStart {
    sent_at: [Option<Time>; PAIRS],
    rtts: [Option<f64>; PAIRS],
    rates: [Option<f64>; PAIRS],
    pairs: usize,
    rtt: f64,
    wake: Time,
    due: usize,
    finished: bool,
}

impl FastStart {
    /// Starts with the handshake's RTT in seconds.
    pub(super) fn new(now: Time, rtt: f64) -> Self {
        let mut start = FastStart {
            sent_at: [None; PAIRS],
            rtts: [None; PAIRS],
            rates: [None; PAIRS],
            pairs: 0,
            rtt,
            wake: now,
            due: 0,
            finished: false,
        };
        start.on_timer(now);
        start
    }

    /// When `on_timer` is due.
    pub(super) fn wake(&self) -> Time {
        self.wake
    }

    /// The next pair goes out, or the wait for the last one is over.
    pub(super) fn on_timer(&mut self, now: Time) {
        if self.pairs == PAIRS {
            self.finished = true;
            return;
        }
        self.sent_at[self.pairs] = Some(now);
        self.pairs += 1;
        self.due = 2;
        let rtt = self.rtt + MARGIN;
        let wait = if self.pairs < PAIRS {
            2.0 * rtt / PAIRS as f64
        } else {
            (2.0 * PAIRS as f64 * rtt).min(LONGEST_WAIT)
        };
        self.wake = now + Span::from_secs_f64(wait);
    }

    /// A probe to send.
    pub(super) fn poll(&mut self) -> Option<Probe> {
        self.due = self.due.checked_sub(1)?;
        let seq = (2 * self.pairs - 1 - self.due) as u8;
        Some(Probe { kind: TrainKind::Probe, seq, gap: 0, padding: PROBE - TRAIN_HEADER })
    }

    /// An answer arrived.
    pub(super) fn on_answer(&mut self, now: Time, train: &Train) {
        let pair = usize::from(train.seq / 2);
        if pair >= PAIRS {
            return;
        }
        if train.seq.is_multiple_of(2) {
            self.rtts[pair] = self.sent_at[pair].map(|at| now.since(at).as_secs_f64());
        } else if train.gap > 0 {
            self.rates[pair] = Some(1e6 / f64::from(train.gap));
        }
        self.finished |= usize::from(train.seq) == 2 * PAIRS - 1;
    }

    /// Once it is over, what was measured; `Some(None)` if that was too little.
    pub(super) fn outcome(&self) -> Option<Option<Measured>> {
        self.finished.then(|| {
            let known = |values: &[Option<f64>]| values[1..].iter().flatten().copied().collect();
            let (rtts, rates): (Vec<f64>, Vec<f64>) = (known(&self.rtts), known(&self.rates));
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            (!rtts.is_empty() && !rates.is_empty()).then(|| Measured {
                mean_rtt: mean(&rtts),
                min_rtt: rtts.iter().copied().fold(f64::INFINITY, f64::min),
                max_rtt: rtts.iter().copied().fold(0.0, f64::max),
                rate: mean(&rates),
            })
        })
    }
}

/// The receiver's part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairReceiver {
    first: Option<(u8, Time)>,
}

impl PairReceiver {
    /// A probe arrived; the answer to it.
    pub(super) fn on_probe(&mut self, now: Time, seq: u8) -> Probe {
        let mut gap = 0;
        if seq.is_multiple_of(2) {
            self.first = Some((seq, now));
        } else if let Some((_, at)) = self.first.filter(|(first, _)| first + 1 == seq) {
            gap = now.since(at).as_micros().max(1) as u32;
        }
        Probe { kind: TrainKind::Answer, seq, gap, padding: 0 }
    }
}
