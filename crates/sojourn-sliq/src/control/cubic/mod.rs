//! SLIQ's Cubic: that of Linux 4.6.3, in bytes, with HyStart, proportional rate reduction and
//! pacing.
//!
//! Model: `iron/sliq/src/sliq_cc_cubic.cc`. Windows are in bytes of payload, in steps of a maximum
//! segment of 1,472 bytes, whatever a packet carries; the initial window is three. A packet may be
//! sent while less than the window is outstanding, so that the last one exceeds it. Slow start adds
//! at most one segment per ACK. Pacing at 2.0 times the window per smoothed RTT below half the
//! threshold, else 1.2 times; the clock restarts after 10 ms without a packet. A lost packet beyond
//! those of the reduction under way is not marked lost before it ends.

use std::collections::VecDeque;

use super::hystart::HyStart;
use super::prr::Reduction;
use super::{Control, MAX_WINDOW, MSS, PacingClock, RttSample, View};
use sojourn_base::observe::Observer;
use sojourn_base::units::{Span, Time};

mod curve;

use curve::Curve;

const INITIAL: i64 = 3 * MSS;
const HYSTART_LOW: i64 = 16 * MSS;
const INFINITE: i64 = 0x7fff_ffff;
const BETA: f64 = 0.7;
/// Time after a reduction during which RTTs are ignored.
const BLIND: Span = Span::from_secs(1);
/// An epoch is shifted by an idle time longer than this.
const IDLE: Span = Span::from_millis(4);
const SLOW_START_RATIO: f64 = 2.0;
const AVOIDANCE_RATIO: f64 = 1.2;

/// SLIQ's Cubic.
#[derive(Debug)]
pub struct Cubic {
    window: i64,
    threshold: i64,
    curve: Curve,
    hystart: HyStart,
    min_rtt: Option<Span>,
    reduction: Option<Reduction>,
    /// No reduction begins before this packet is acknowledged.
    recovered_from: u64,
    loss_seen: bool,
    in_rto: bool,
    /// The last congestion event was before this packet.
    high: u64,
    prior_bytes: i64,
    max_out: i64,
    max_out_until: u64,
    last_sent: Time,
    clock: PacingClock,
    /// Bytes sent before each packet from `offsets_from` on, the next one included.
    offsets: VecDeque<u64>,
    offsets_from: u64,
}

impl Cubic {
    /// For a new connection.
    pub fn new(now: Time) -> Self {
        let mut hystart = HyStart::default();
        hystart.begin_round(now, 0);
        Cubic {
            window: INITIAL,
            threshold: INFINITE,
            curve: Curve::default(),
            hystart,
            min_rtt: None,
            reduction: None,
            recovered_from: 0,
            loss_seen: false,
            in_rto: false,
            high: 0,
            prior_bytes: 0,
            max_out: 0,
            max_out_until: 0,
            last_sent: now,
            clock: PacingClock::default(),
            offsets: VecDeque::from([0]),
            offsets_from: 0,
        }
    }

    fn slow_start(&self) -> bool {
        self.window < self.threshold
    }

    fn searching(&self) -> bool {
        self.slow_start() && self.window >= HYSTART_LOW
    }

    /// Bytes from the first unacknowledged packet to the last one sent.
    fn flight_size(&mut self, una: u64) -> i64 {
        while self.offsets_from < una && self.offsets.len() > 1 {
            self.offsets.pop_front();
            self.offsets_from += 1;
        }
        let (first, last) = (self.offsets.front(), self.offsets.back());
        first.zip(last).map_or(0, |(first, last)| (last - first) as i64)
    }

    fn reduce(&mut self) -> i64 {
        self.curve.on_reduction(self.window);
        ((self.window as f64 * BETA).round() as i64).max(2 * MSS)
    }

    fn limited(&self) -> bool {
        if self.slow_start() {
            self.window < 2 * self.max_out
        } else {
            self.prior_bytes >= self.window
        }
    }

    fn grow(&mut self, view: &View) {
        if !self.limited() {
            return;
        }
        let acked = self.prior_bytes - view.flight.bytes;
        if self.slow_start() {
            if self.hystart.round_over(view.una) {
                self.hystart.begin_round(view.now, view.next);
            }
            self.window += acked.min(MSS);
        } else {
            let min_rtt = self.min_rtt.unwrap_or(Span::ZERO);
            self.window += self.curve.on_ack(view.now, self.window, acked, min_rtt);
        }
        self.window = self.window.min(MAX_WINDOW as i64 * MSS);
    }

    fn pacing_rate(&self, srtt: Span) -> f64 {
        let ratio =
            if self.window < self.threshold / 2 { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        ratio * self.send_rate(srtt)
    }

    fn pace(&mut self, view: &View, bytes: u32) {
        let gap = f64::from(bytes) * 8.0 / self.pacing_rate(view.srtt);
        self.clock.sent(view.now, gap);
    }

    /// A reduction is over, or begins since something was lost.
    #[inline(never)] // few ACKs tell of losses
    fn begin_or_end_reduction(&mut self, view: &View, flight_size: i64) {
        if self.reduction.is_some_and(|reduction| view.una >= reduction.end) {
            self.window = self.threshold;
            self.reduction = None;
        } else if self.reduction.is_none() && self.loss_seen && view.una >= self.recovered_from {
            self.threshold = self.reduce();
            self.curve.restart_count();
            self.reduction = Some(Reduction::begin(flight_size, view.next));
            self.recovered_from = view.next;
            self.high = view.next;
        }
    }
}

impl Control for Cubic {
    fn on_ack_start(&mut self, view: &View) {
        self.prior_bytes = view.flight.bytes;
        self.loss_seen = false;
    }

    fn on_rtt(&mut self, view: &View, sample: &RttSample) {
        if self.curve.epoch().is_some_and(|start| view.now.since(start) < BLIND) {
            return;
        }
        let least = self.min_rtt.map_or(sample.rtt, |least| least.min(sample.rtt));
        self.min_rtt = Some(least);
        if self.searching() && self.hystart.on_rtt(sample.rtt, least) {
            self.threshold = self.window;
        }
    }

    fn on_acked(&mut self, _number: u64) {
        self.in_rto = false;
    }

    fn on_lost(&mut self, _view: &View, number: u64) -> bool {
        if let Some(reduction) = &self.reduction {
            return number < reduction.end;
        }
        self.loss_seen = true;
        true
    }

    fn on_ack_done(&mut self, view: &View) {
        let flight_size = self.flight_size(view.una);
        self.high = self.high.max(view.una.saturating_sub(4));
        if self.reduction.is_some() || self.loss_seen {
            self.begin_or_end_reduction(view, flight_size);
        }
        if let Some(reduction) = &mut self.reduction {
            let delivered = self.prior_bytes - view.flight.bytes;
            reduction.on_ack(delivered, view.flight.pipe, self.threshold);
            return;
        }
        if self.searching() && self.hystart.on_ack(view.now, self.min_rtt.unwrap_or(Span::ZERO)) {
            self.threshold = self.window;
        }
        self.grow(view);
    }

    fn on_sent(&mut self, view: &View, bytes: u32) -> f32 {
        let out = view.flight.bytes + i64::from(bytes);
        if view.una >= self.max_out_until || out > self.max_out {
            self.max_out = out;
            self.max_out_until = view.next;
        }
        let sent = self.offsets.back().copied().unwrap_or_default();
        self.offsets.push_back(sent + u64::from(bytes));
        let idle = view.now.since(self.last_sent);
        if view.flight.bytes == 0 && idle > IDLE {
            self.curve.shift(idle, view.now);
        }
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(bytes);
        }
        self.last_sent = view.now;
        self.pace(view, bytes);
        0.0
    }

    fn on_resent(&mut self, view: &View, _number: u64, bytes: u32) -> f32 {
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(bytes);
        }
        self.pace(view, bytes);
        0.0
    }

    fn on_rto(&mut self, view: &View, resent: bool) {
        let fresh = self.reduction.is_none() && !self.in_rto;
        if fresh || self.high <= view.una || (self.in_rto && !resent) {
            self.threshold = self.reduce();
        }
        self.high = view.next;
        self.window = MSS;
        self.curve = Curve::default();
        self.min_rtt = None;
        self.hystart.forget();
        self.hystart.begin_round(view.now, view.next);
        if self.reduction.take().is_some() {
            self.recovered_from = view.next;
        }
        self.in_rto = true;
    }

    fn on_outage_end(&mut self) {
        self.window = INITIAL;
    }

    fn can_send(&self, view: &View, bytes: u32) -> bool {
        let room = view.next - view.una < MAX_WINDOW;
        room && match &self.reduction {
            Some(reduction) => reduction.allows(bytes),
            None => view.flight.bytes < self.window,
        }
    }

    fn can_resend(&self, _view: &View, bytes: u32) -> bool {
        self.reduction.is_none_or(|reduction| reduction.allows(bytes))
    }

    fn next_send(&self) -> Time {
        self.clock.next()
    }

    fn window(&self) -> u64 {
        self.window as u64
    }

    fn threshold(&self) -> Option<u64> {
        (self.threshold < INFINITE).then_some(self.threshold as u64)
    }

    fn send_rate(&self, srtt: Span) -> f64 {
        self.window as f64 * 8.0 / srtt.as_secs_f64().max(1e-6)
    }

    fn observe(&self, out: &mut Observer<'_>) {
        out("hystart_threshold", (self.threshold as f64).into());
        out("in_recovery", u32::from(self.reduction.is_some()).into());
    }
}

#[cfg(test)]
mod tests;
