//! SLIQ's Copa.
//!
//! Model: Arun and Balakrishnan, "Copa: Practical delay-based congestion control for the Internet"
//! (NSDI 2018) as in `iron/sliq/src/sliq_cc_copa3.cc`. delta is 0.5; windows count packets of 980
//! bytes of payload. RTTs are corrected for the queue on the return path: by how much longer the
//! ACK took than the fastest one of the last 7 minimum RTTs (at least 0.2 s). The minimum RTT is
//! that of the last 28 minimum RTTs (at least 0.8 s), and of what the peer reports every 4 s or
//! when it changes; the standing RTT that of the last half smoothed RTT. Loss and timeouts are
//! ignored. Above a handshake RTT of 50 ms pairs of packets find the rate to start with, below it
//! the window doubles with every RTT until the rate is above its target. One packet goes out every
//! standing RTT per window.
//!
//! The catalogue's `copa` ([`sojourn_tcp::cc`]) has this control law as its variant `sliq`, for
//! TCP. It is separate because its inputs differ: TCP's receiver reports no times that would
//! correct an RTT for the return path, its ends exchange no minimum RTTs and no pairs of packets,
//! its window counts segments that may stand for others (delayed ACKs), and damper and velocity
//! follow sequence numbers that a retransmission repeats; here each control numbers its packets.

use std::collections::VecDeque;

use super::damper::Damper;
use super::fast_start::{FastStart, PairReceiver};
use super::tracker::Tracker;
use super::{Control, DATA_HEADER, ETHERNET, MAX_WINDOW, PacingClock, Probe, RttSample, View};
use crate::wire::{Train, TrainKind};
use sojourn_base::observe::Observer;
use sojourn_base::units::{Span, Time};
use sojourn_tcp::cc::copa::Velocity;

mod reports;
mod start;

use reports::{REPORT_PERIOD, REPORT_UNIT, Reports};

const DELTA: f64 = 0.5;
const SRTT_GAIN: f64 = 1.0 / 16.0;
const FAST_START_RTT: f64 = 0.05;

const INITIAL: f64 = 3.0;
const LEAST: f64 = 2.0;
/// Below this window in packets it grows whether it is used or not.
const SMALL: f64 = 16.0;
/// Share of the window that may be unused while it grows.
const UNUSED: f64 = 0.5;
/// A nominal packet, with its data header.
const NOMINAL: u32 = 1_000;
const NOMINAL_PAYLOAD: f64 = (NOMINAL - DATA_HEADER) as f64;

/// Nominal packets per second at 10 Gbit/s.
const MAX_RATE: f64 = 1e10 / (8.0 * (NOMINAL + ETHERNET) as f64);
const FAST_RTO_WINDOW: f64 = 32.0;
const LEAST_RTT: f64 = 20e-6;

#[derive(Clone, Debug)]
enum State {
    NotConnected,
    FastStart(Box<FastStart>),
    SlowStart,
    ClosedLoop,
}

/// SLIQ's Copa.
#[derive(Debug)]
pub struct Copa {
    state: State,
    pairs: PairReceiver,
    answers: VecDeque<Probe>,
    window: f64,
    /// Seconds from packet to packet.
    gap: f64,
    srtt: f64,
    standing_rtt: f64,
    min_rtt: f64,
    own_min_rtt: f64,
    peer_min_rtt: Option<(f64, Time)>,
    min_way_back: f64,
    standing: Tracker,
    own_min: Tracker,
    way_back: Tracker,
    velocity: Velocity,
    damper: Damper,
    clock: PacingClock,
    reports: Reports,
}

impl Default for Copa {
    fn default() -> Self {
        Copa {
            state: State::NotConnected,
            pairs: PairReceiver::default(),
            answers: VecDeque::new(),
            window: INITIAL,
            gap: 1.0,
            srtt: f64::INFINITY,
            standing_rtt: f64::INFINITY,
            min_rtt: f64::INFINITY,
            own_min_rtt: f64::INFINITY,
            peer_min_rtt: None,
            min_way_back: f64::INFINITY,
            standing: Tracker::default(),
            own_min: Tracker::default(),
            way_back: Tracker::default(),
            velocity: Velocity::starting(INITIAL),
            damper: Damper::default(),
            clock: PacingClock::default(),
            reports: Reports::default(),
        }
    }
}

impl Copa {
    fn running(&self) -> bool {
        matches!(self.state, State::SlowStart | State::ClosedLoop)
    }

    fn measure(&mut self, now: Time, sample: &RttSample) {
        let window = (7.0 * self.min_rtt).max(0.2);
        self.way_back.update(sample.way_back, now, window, &mut self.min_way_back);
        let rtt = sample.rtt.as_secs_f64() + self.min_way_back - sample.way_back;
        let rtt = rtt.max(LEAST_RTT);
        let before = self.own_min_rtt;
        let window = (28.0 * self.min_rtt).max(0.8);
        self.own_min.update(rtt, now, window, &mut self.own_min_rtt);
        self.srtt += SRTT_GAIN * (rtt - self.srtt);
        self.standing.update(rtt, now, 0.5 * self.srtt, &mut self.standing_rtt);
        if self.own_min_rtt != before {
            let stale = Span::from_secs_f64(3.1 * REPORT_PERIOD);
            self.peer_min_rtt = self.peer_min_rtt.filter(|(_, at)| now < *at + stale);
            self.combine_min_rtts();
            self.reports.on_change(self.own_min_rtt);
        }
        self.reports.on_time(now, self.own_min_rtt);
    }

    fn combine_min_rtts(&mut self) {
        let peer = self.peer_min_rtt.map_or(f64::INFINITY, |(rtt, _)| rtt);
        self.min_rtt = self.own_min_rtt.min(peer);
    }

    /// Whether the window is used enough for it to grow.
    fn used(&self, view: &View) -> bool {
        let unused = self.window - view.flight.bytes as f64 / NOMINAL_PAYLOAD;
        self.window < SMALL || unused <= UNUSED * self.window
    }

    fn steer(&mut self, view: &View, sample: &RttSample) {
        let queueing = (self.standing_rtt - self.min_rtt).max(0.0);
        let target = if queueing > 0.0 { 1.0 / (DELTA * queueing) } else { MAX_RATE };
        let increasing = self.window / self.standing_rtt <= target;
        let packets = f64::from(sample.bytes) / NOMINAL_PAYLOAD;
        if matches!(self.state, State::SlowStart) {
            if self.used(view) {
                self.window += packets;
            }
            if !increasing {
                self.state = State::ClosedLoop;
            }
            return;
        }
        if self.damper.on_rtt(queueing / self.gap, DELTA) {
            self.window = f64::from(sample.window);
            self.velocity.reset(view.next, self.window, increasing);
        }
        if self.damper.holds() {
            return;
        }
        let most = (DELTA * self.window) as u32;
        let over = sample.number >= self.velocity.end();
        let velocity = self.velocity.update(over, view.next, self.window, increasing, true, most);
        let step = packets * f64::from(velocity) / (DELTA * self.window);
        if !increasing {
            self.window -= step;
        } else if self.used(view) {
            self.window += step;
        }
    }

    fn pace(&mut self, now: Time, bytes: u32) {
        let size = f64::from(bytes + DATA_HEADER + ETHERNET);
        self.clock.sent(now, self.gap * size / f64::from(NOMINAL + ETHERNET));
    }
}

impl Control for Copa {
    fn on_connected(&mut self, now: Time, rtt: Span) {
        if !matches!(self.state, State::NotConnected) {
            return;
        }
        let rtt = rtt.as_secs_f64().max(LEAST_RTT);
        (self.srtt, self.standing_rtt) = (rtt, rtt);
        (self.min_rtt, self.own_min_rtt) = (rtt, rtt);
        if rtt > FAST_START_RTT {
            self.state = State::FastStart(Box::new(FastStart::new(now, rtt)));
        } else {
            self.state = State::SlowStart;
            self.gap = rtt / self.window;
        }
    }

    fn on_rtt(&mut self, view: &View, sample: &RttSample) {
        if !self.running() {
            return;
        }
        self.measure(view.now, sample);
        self.steer(view, sample);
        self.window = self.window.clamp(LEAST, MAX_WINDOW as f64);
        self.gap = (self.standing_rtt / self.window).max(1.0 / (2.0 * MAX_RATE));
    }

    fn on_sent(&mut self, view: &View, bytes: u32) -> f32 {
        self.damper.on_sent(self.window);
        self.pace(view.now, bytes);
        self.window as f32
    }

    fn on_resent(&mut self, view: &View, _number: u64, bytes: u32) -> f32 {
        self.on_sent(view, bytes)
    }

    fn needs_fast_rto(&self) -> bool {
        self.window < FAST_RTO_WINDOW
    }

    fn can_send(&self, view: &View, _bytes: u32) -> bool {
        self.running() && self.window * NOMINAL_PAYLOAD > view.flight.bytes as f64
    }

    fn next_send(&self) -> Time {
        self.clock.next()
    }

    fn window(&self) -> u64 {
        (self.window * NOMINAL_PAYLOAD) as u64
    }

    fn send_rate(&self, _srtt: Span) -> f64 {
        f64::from(NOMINAL + ETHERNET) * 8.0 / self.gap
    }

    fn poll_sync(&mut self, now: Time) -> Option<(u16, u32)> {
        self.reports.poll(now)
    }

    fn on_sync(&mut self, now: Time, seq: u16, value: u32) {
        if value == 0 || !self.reports.accepts(seq) {
            return;
        }
        self.peer_min_rtt = Some((f64::from(value & 0xffff) * REPORT_UNIT, now));
        self.combine_min_rtts();
    }

    fn poll_train(&mut self, _now: Time) -> Option<Probe> {
        let probe = match &mut self.state {
            State::FastStart(start) => start.poll(),
            _ => None,
        };
        probe.or_else(|| self.answers.pop_front())
    }

    fn on_train(&mut self, now: Time, train: &Train) {
        match (train.kind, &mut self.state) {
            (TrainKind::Probe, _) if self.answers.len() < 64 => {
                self.answers.push_back(self.pairs.on_probe(now, train.seq));
            }
            (TrainKind::Answer, State::FastStart(start)) => {
                start.on_answer(now, train);
                self.look_at_fast_start(now);
            }
            _ => {}
        }
    }

    fn next_timer(&self) -> Option<Time> {
        match &self.state {
            State::FastStart(start) => Some(start.wake()),
            _ => None,
        }
    }

    fn on_timer(&mut self, now: Time) {
        if let State::FastStart(start) = &mut self.state
            && now >= start.wake()
        {
            start.on_timer(now);
            self.look_at_fast_start(now);
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        out("velocity", self.velocity.value().into());
        if self.running() {
            out("standing_rtt", self.standing_rtt.into());
            out("min_rtt", self.min_rtt.into());
            out("queueing_delay", (self.standing_rtt - self.min_rtt).max(0.0).into());
        }
    }
}

#[cfg(test)]
mod tests;
