//! Any congestion control of the catalogue on a SLIQ connection.
//!
//! A segment of the control is a packet of the flow's `mss`, and in flight is SLIQ's pipe. Losses
//! begin a reduction that lasts until all that was outstanding is acknowledged; unless the control
//! owns recovery, proportional rate reduction brings the window to the threshold as for TCP. A
//! control that leaves pacing to the sender is paced as SLIQ's Cubic is. There is no ECN feedback,
//! and no undoing of reductions.

use std::collections::VecDeque;
use std::fmt;

use crate::control::{Control, MAX_WINDOW, PacingClock, RttSample, View};
use sojourn_base::observe::Observer;
use sojourn_base::units::{Span, Time};
use sojourn_tcp::cc::{CaState, CongestionControl, Decision, Event, INFINITE_SSTHRESH, Lost};
use sojourn_tcp::recovery::prr::Prr;
use sojourn_tcp::recovery::rate::{Delivered, Delivery, Sampler, Snapshot};

mod shown;

/// A control of the catalogue.
pub struct Catalogued {
    control: Box<dyn CongestionControl>,
    mss: u32,
    /// Segments.
    window: u32,
    state: CaState,
    prr: Prr,
    recovered_at: u64,
    delivery: Delivery,
    /// Of each packet from `first` on: the delivery state at its last sending, and whether it was
    /// sent before.
    snapshots: VecDeque<(Snapshot, bool)>,
    first: u64,
    min_rtt: Span,
    clock: PacingClock,
    event: AckEvent,
}

/// Results of a datagram's ACKs so far.
#[derive(Default)]
struct AckEvent {
    sampler: Sampler,
    rtt: Option<Span>,
    prior: u32,
    acked: u32,
    lost: u32,
    una: u64,
    resent: bool,
}

impl fmt::Debug for Catalogued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalogued").field("window", &self.window).finish_non_exhaustive()
    }
}

impl Catalogued {
    /// Puts a control with segments of `mss` bytes on a connection.
    pub fn new(control: Box<dyn CongestionControl>, mss: u32) -> Self {
        let window = control.decision().cwnd;
        Catalogued {
            control,
            mss,
            window,
            state: CaState::Open,
            prr: Prr::default(),
            recovered_at: 0,
            delivery: Delivery::default(),
            snapshots: VecDeque::new(),
            first: 0,
            min_rtt: Span::MAX,
            clock: PacingClock::default(),
            event: AckEvent::default(),
        }
    }

    fn in_flight(&self, view: &View) -> u32 {
        view.flight.pipe.max(0).div_euclid(self.mss.into()) as u32
    }

    fn decision(&self) -> Decision {
        self.control.decision()
    }

    /// Adopts the control's window unless a reduction is under way.
    fn follow(&mut self) {
        let decision = self.decision();
        if self.state == CaState::Open || self.state == CaState::Loss || decision.owns_recovery {
            self.window = decision.cwnd;
        }
    }

    fn begin_recovery(&mut self, view: &View) {
        let in_flight = self.in_flight(view);
        self.control.save();
        self.control.on_congestion(view.now, &Event::Loss { in_flight });
        self.prr = Prr::begin(self.window);
        self.state = CaState::Recovery;
        self.recovered_at = view.next;
    }

    fn end_recovery(&mut self, now: Time) {
        let decision = self.decision();
        if self.state == CaState::Recovery && !decision.owns_recovery {
            // A control may set no threshold at a loss, as those that respond to SCE do.
            if decision.ssthresh < INFINITE_SSTHRESH {
                self.window = decision.ssthresh;
            }
            self.control.on_congestion(now, &Event::ReductionEnd { cwnd: self.window });
        }
        self.state = CaState::Open;
        self.control.on_congestion(now, &Event::Recovered);
    }
}

impl Control for Catalogued {
    fn on_connected(&mut self, now: Time, rtt: Span) {
        self.control.on_established(now, rtt);
        self.follow();
    }

    fn on_ack_start(&mut self, view: &View) {
        let prior = self.in_flight(view);
        self.event = AckEvent { prior, una: view.una, ..AckEvent::default() };
    }

    fn on_rtt(&mut self, _view: &View, sample: &RttSample) {
        self.min_rtt = self.min_rtt.min(sample.rtt);
        self.event.rtt = Some(sample.rtt);
    }

    fn on_acked(&mut self, number: u64) {
        self.event.acked += 1;
        self.delivery.delivered += 1;
        let Some((snapshot, retransmitted)) = self.known(number) else { return };
        self.event.resent |= retransmitted;
        let seq = number as u32;
        let delivered = Delivered { seq, snapshot, app_limited: false, retransmitted };
        self.event.sampler.on_delivered(&mut self.delivery, delivered);
    }

    fn on_lost(&mut self, view: &View, number: u64) -> bool {
        self.event.lost += 1;
        self.delivery.lost += 1;
        let (snapshot, _) = self.known(number).unwrap_or_default();
        let lost = Lost {
            seq: number as u32,
            tx_in_flight: snapshot.in_flight,
            prior_delivered: snapshot.delivered.into(),
            prior_lost: snapshot.lost.into(),
            total_lost: self.delivery.lost.into(),
            app_limited: false,
        };
        self.control.on_packet_lost(view.now, &lost);
        true
    }

    fn on_ack_done(&mut self, view: &View) {
        self.show_measured(view);
        if self.state != CaState::Open && view.una >= self.recovered_at {
            self.end_recovery(view.now);
        }
        if self.event.lost > 0 && self.state == CaState::Open {
            self.begin_recovery(view);
        }
        let resent = self.event.resent;
        let sample = self.sample(view);
        self.control.on_ack(view.now, &sample);
        if self.state == CaState::Recovery && !self.decision().owns_recovery {
            self.reduce(view, &sample, resent);
        }
        self.follow();
        while self.first < view.una && self.snapshots.pop_front().is_some() {
            self.first += 1;
        }
    }

    fn on_sent(&mut self, view: &View, bytes: u32) -> f32 {
        self.note(view, view.next, false);
        self.pace(view, bytes);
        0.0
    }

    fn on_resent(&mut self, view: &View, number: u64, bytes: u32) -> f32 {
        self.note(view, number, true);
        self.pace(view, bytes);
        0.0
    }

    fn on_rto(&mut self, view: &View, _resent: bool) {
        let reduce = self.state != CaState::Loss;
        if reduce {
            self.control.save();
        }
        let in_flight = self.in_flight(view);
        self.control.on_congestion(view.now, &Event::Rto { in_flight, cwnd: 1, reduce });
        self.state = CaState::Loss;
        self.recovered_at = view.next;
        self.follow();
    }

    fn can_send(&self, view: &View, _bytes: u32) -> bool {
        view.next - view.una < MAX_WINDOW && self.in_flight(view) < self.window
    }

    fn can_resend(&self, view: &View, _bytes: u32) -> bool {
        self.in_flight(view) < self.window
    }

    fn next_send(&self) -> Time {
        self.clock.next()
    }

    fn window(&self) -> u64 {
        u64::from(self.window) * u64::from(self.mss)
    }

    fn threshold(&self) -> Option<u64> {
        let threshold = self.decision().ssthresh;
        let known = threshold < INFINITE_SSTHRESH;
        known.then(|| u64::from(threshold) * u64::from(self.mss))
    }

    fn send_rate(&self, srtt: Span) -> f64 {
        self.window() as f64 * 8.0 / srtt.as_secs_f64().max(1e-6)
    }

    fn next_timer(&self) -> Option<Time> {
        self.control.next_timer()
    }

    fn on_timer(&mut self, now: Time) {
        if self.control.next_timer().is_some_and(|at| now >= at) {
            self.control.on_timer(now);
            self.follow();
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.control.observe(out);
    }
}
