//! HyStart++ (RFC 9406): when the delay of a round rises, slow start continues at a quarter of its
//! pace (conservative slow start) for up to five rounds, and resumes if the rise was a false alarm.
//!
//! Sections refer to RFC 9406 §4. It works in the initial slow start only, as §4.3 advises. Growth
//! per ACK is limited to eight segments unless packets are paced.

use super::window::Window;
use super::{AckSample, INFINITE_SSTHRESH};
use crate::observe::Observer;
use crate::units::Span;

const MIN_RTT_THRESH: Span = Span::from_millis(4);
const MAX_RTT_THRESH: Span = Span::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;
/// Segments of growth per ACK when packets are not paced (L in the RFC).
const UNPACED_LIMIT: u32 = 8;

/// State of conservative slow start: the RTT to compare with, and the rounds so far.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline: Span,
    rounds: u32,
}

/// State of HyStart++.
#[derive(Clone, Debug)]
pub struct HyStartPp {
    limit: u32,
    round_end: u32,
    last_round: Option<Span>,
    this_round: Option<Span>,
    samples: u32,
    conservative: Option<Conservative>,
    /// Acknowledged segments that conservative slow start has not yet turned into growth.
    credit: u32,
}

impl HyStartPp {
    /// At the start of a connection. `paced`: the host paces all flows.
    pub fn new(paced: bool) -> Self {
        HyStartPp {
            limit: if paced { u32::MAX } else { UNPACED_LIMIT },
            round_end: 1,
            last_round: None,
            this_round: None,
            samples: 0,
            conservative: None,
            credit: 0,
        }
    }

    /// Processes an ACK in slow start; returns the segments by which slow start may grow for it.
    pub fn on_ack(&mut self, ack: &AckSample, window: &mut Window) -> u32 {
        if window.ssthresh < INFINITE_SSTHRESH {
            return ack.acked;
        }
        if ack.una > self.round_end {
            self.end_round(ack.next, window);
        }
        if let Some(rtt) = ack.rtt {
            self.this_round = Some(self.this_round.map_or(rtt, |lowest| lowest.min(rtt)));
            self.samples += 1;
            if self.samples >= N_RTT_SAMPLE {
                self.judge_delay();
            }
        }
        let growth = ack.acked.min(self.limit);
        if self.conservative.is_none() {
            return growth;
        }
        self.credit += growth;
        let whole = self.credit / CSS_GROWTH_DIVISOR;
        self.credit %= CSS_GROWTH_DIVISOR;
        whole
    }

    /// Reports the round and the phase.
    pub fn observe(&self, out: &mut Observer<'_>) {
        out("hystart", if self.conservative.is_some() { "css" } else { "searching" }.into());
        out("round_samples", self.samples.into());
        if let Some(lowest) = self.this_round {
            out("round_min_rtt", lowest.as_secs_f64().into());
        }
        if let Some(css) = self.conservative {
            out("css_rounds", css.rounds.into());
            out("css_baseline_min_rtt", css.baseline.as_secs_f64().into());
        }
    }

    fn end_round(&mut self, next: u32, window: &mut Window) {
        self.round_end = next;
        self.last_round = self.this_round.take();
        self.samples = 0;
        if let Some(css) = &mut self.conservative {
            // The round in which it began counts.
            css.rounds += 1;
            if css.rounds >= CSS_ROUNDS {
                window.ssthresh = window.cwnd;
            }
        }
    }

    fn judge_delay(&mut self) {
        let Some(lowest) = self.this_round else { return };
        if let Some(css) = self.conservative {
            if lowest < css.baseline {
                self.conservative = None;
            }
        } else if let Some(last) = self.last_round {
            let thresh = (last / MIN_RTT_DIVISOR).max(MIN_RTT_THRESH).min(MAX_RTT_THRESH);
            if lowest >= last + thresh {
                self.conservative = Some(Conservative { baseline: lowest, rounds: 0 });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One round of 32 ACKs of one segment with this RTT; returns the growth allowed.
    fn round(h: &mut HyStartPp, w: &mut Window, number: u32, rtt_ms: u64) -> u32 {
        let base = 1 + number * 32;
        (0..32)
            .map(|i| {
                let ack = AckSample {
                    acked: 1,
                    una: base + i + 1,
                    next: base + 32 + i,
                    rtt: Some(Span::from_millis(rtt_ms)),
                    ..AckSample::default()
                };
                h.on_ack(&ack, w)
            })
            .sum()
    }

    #[test]
    fn delay_rise_quarters_growth_and_ends_after_five_rounds() {
        let (mut h, mut w) = (HyStartPp::new(false), Window::new(32));
        assert_eq!(round(&mut h, &mut w, 0, 40), 32);
        assert_eq!(round(&mut h, &mut w, 1, 44), 32, "below the threshold of 5 ms");
        let rising = round(&mut h, &mut w, 2, 50);
        assert!((8..20).contains(&rising), "{rising}");
        for number in 3..7 {
            assert!(w.in_slow_start());
            assert_eq!(round(&mut h, &mut w, number, 50), 8);
        }
        round(&mut h, &mut w, 7, 50);
        assert_eq!(w.ssthresh, w.cwnd);
    }

    #[test]
    fn false_alarm_resumes_slow_start() {
        let (mut h, mut w) = (HyStartPp::new(false), Window::new(32));
        round(&mut h, &mut w, 0, 40);
        round(&mut h, &mut w, 1, 50);
        round(&mut h, &mut w, 2, 45);
        assert_eq!(round(&mut h, &mut w, 3, 45), 32);
    }

    #[test]
    fn growth_per_ack_is_limited_unless_paced() {
        let ack = AckSample { acked: 20, una: 2, next: 30, ..AckSample::default() };
        assert_eq!(HyStartPp::new(false).on_ack(&ack, &mut Window::new(10)), 8);
        assert_eq!(HyStartPp::new(true).on_ack(&ack, &mut Window::new(10)), 20);
    }
}
