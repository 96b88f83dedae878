//! One control on a path of one bottleneck. Every segment is acknowledged one round trip after it
//! left the bottleneck; a lost one is noticed when its acknowledgment would have come, and counts
//! as retransmitted at once. A test chooses the number of rounds and the segments to lose or mark,
//! and has access to the control.

use std::collections::VecDeque;

use super::{Meter, Snapshot, init, show};
use crate::cc::{AckSample, CaState, ControlInit, Event, Measured, Registered, SenderView, Sent};
use crate::units::{Span, Time};

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    sent: Snapshot,
    ack_at: Time,
    lost: bool,
    marked: bool,
}

/// The path and the little sender state that a control can see.
pub(crate) struct Path<C> {
    /// The control under test.
    pub control: C,
    /// Present time.
    pub now: Time,
    /// Round trip without queue or serialisation.
    pub rtt: Span,
    /// Bottleneck, in segments per second; `None`: infinitely fast.
    pub rate: Option<f64>,
    /// Segments that may wait at the bottleneck.
    pub buffer: u32,
    /// Mark segments that find this many waiting.
    pub mark_above: Option<u32>,
    /// Segments per ACK.
    pub ack_every: u32,
    /// ECE on ACKs begins a window reduction ([`Event::Ecn`]), once per window.
    pub reduce_on_ece: bool,
    /// Segments waiting for or in transmission at the last sending.
    pub queued: u32,
    /// Sample of the last ACK.
    pub last: AckSample,
    lose: u32,
    lost_in_flight: u32,
    flight: VecDeque<InFlight>,
    busy_until: Time,
    next_pacing: Time,
    una: u32,
    next: u32,
    meter: Meter,
    reduction: Option<(CaState, u32)>,
}

impl<C: Registered> Path<C> {
    /// A control with these parameters on a path of this round trip without bottleneck.
    pub(crate) fn new(params: C::Params, rtt: Span) -> Self {
        let start = Time::ZERO + Span::from_secs(1);
        let mut control = C::new(params, &ControlInit { now: start, base_rtt: rtt, ..init() });
        control.on_established(start, rtt);
        Path {
            control,
            now: start,
            rtt,
            rate: None,
            buffer: u32::MAX,
            mark_above: None,
            ack_every: 1,
            reduce_on_ece: true,
            queued: 0,
            last: AckSample::default(),
            lose: 0,
            lost_in_flight: 0,
            flight: VecDeque::new(),
            busy_until: Time::ZERO,
            next_pacing: Time::ZERO,
            una: 1,
            next: 1,
            meter: Meter::new(start),
            reduction: None,
        }
    }

    /// The congestion window.
    pub(crate) fn cwnd(&self) -> u32 {
        self.control.decision().cwnd
    }

    /// Segments delivered so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.meter.delivered
    }

    /// Grows to this window, then loses a segment and recovers.
    pub(crate) fn lose_at(&mut self, window: u32) {
        while self.cwnd() < window {
            self.step();
        }
        self.lose_one();
    }

    /// The next segment sent is lost; runs until it has been recovered from.
    pub(crate) fn lose_one(&mut self) {
        self.lose += 1;
        while self.lose > 0 || self.lost_in_flight > 0 || self.reduction.is_some() {
            self.step();
        }
    }

    /// A retransmission timeout: everything in flight is lost, the window becomes 1.
    pub(crate) fn time_out(&mut self) {
        self.meter.lost += self.flight.len() as u64;
        self.flight.clear();
        self.lost_in_flight = 0;
        self.una = self.next;
        self.reduction = None;
        self.control.save();
        let event = Event::Rto { in_flight: 0, cwnd: 1, reduce: true };
        self.control.on_congestion(self.now, &event);
        self.control.on_congestion(self.now, &Event::Recovered);
    }

    /// Runs for a span of time.
    pub(crate) fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.step();
        }
    }

    /// Runs until all that was sent so far and the window after it are acknowledged, `n` times.
    pub(crate) fn rounds(&mut self, n: u32) {
        for _ in 0..n {
            self.send();
            let end = self.next;
            while self.una < end {
                self.step();
            }
        }
    }

    /// Sends what the window allows, then processes one ACK.
    pub(crate) fn step(&mut self) {
        self.send();
        self.acknowledge();
    }

    fn send(&mut self) {
        loop {
            let control = self.control.decision();
            let limit = match self.reduction {
                Some(_) if !control.owns_recovery => control.cwnd.min(control.ssthresh),
                _ => control.cwnd,
            };
            if self.flight.len() as u32 >= limit.max(1) {
                return;
            }
            let at = match control.pacing_rate {
                Some(_) => self.next_pacing.max(self.now),
                None => self.now,
            };
            // A paced segment leaves later: stop when the next ACK comes first.
            if at > self.now {
                if self.flight.front().is_some_and(|s| s.ack_at <= at) {
                    return;
                }
                self.now = at;
            }
            if let Some(rate) = control.pacing_rate {
                self.next_pacing = self.now + rate.span_of(u64::from(super::MSS));
            }
            self.send_one();
        }
    }

    fn send_one(&mut self) {
        let service = self.rate.map_or(Span::ZERO, |rate| Span::from_secs_f64(1.0 / rate));
        let waiting = self.busy_until.since(self.now);
        self.queued = match service {
            Span::ZERO => 0,
            _ => waiting.as_nanos().div_ceil(service.as_nanos()) as u32,
        };
        let forced = std::mem::take(&mut self.lose);
        let lost = forced > 0 || self.queued > self.buffer;
        self.lose = forced.saturating_sub(1);
        let marked = self.mark_above.is_some_and(|above| self.queued > above);
        self.lost_in_flight += u32::from(lost);
        if !lost {
            self.busy_until = self.busy_until.max(self.now) + service;
        }
        self.flight.push_back(InFlight {
            sent: self.meter.on_sent(self.now, self.flight.len() as u32 + 1),
            ack_at: self.busy_until.max(self.now) + self.rtt,
            lost,
            marked: marked && !lost,
        });
        let sent =
            Sent { seq: self.next, in_flight: self.flight.len() as u32, retransmission: false };
        self.next += 1;
        self.control.on_sent(self.now, &sent);
    }

    fn acknowledge(&mut self) {
        let prior_in_flight = self.flight.len() as u32;
        let (mut acked, mut lost, mut marked) = (0, 0, false);
        let mut newest = None;
        while let Some(&segment) = self.flight.front() {
            let more = acked > 0 || lost > 0;
            if more && (acked + lost >= self.ack_every || segment.marked != marked) {
                break;
            }
            self.flight.pop_front();
            self.now = self.now.max(segment.ack_at);
            self.una += 1;
            if segment.lost {
                lost += 1;
                self.lost_in_flight -= 1;
                let lost = self.meter.on_lost(self.una - 1, &segment.sent);
                self.control.on_packet_lost(self.now, &lost);
                continue;
            }
            acked += 1;
            marked = segment.marked;
            newest = Some(segment);
        }
        self.meter.on_delivered(acked, marked);
        self.run_timers();
        let (rtt, rate) = newest.map(|segment| self.meter.sample(self.now, &segment.sent)).unzip();
        let measured =
            Measured { cum_acked: acked + lost, rtt, ece: marked, ..Measured::default() };
        let view = self.view();
        show(&mut self.control, self.now, measured, &view);
        self.change_state(lost > 0, marked);
        self.last = AckSample {
            state: self.reduction.map_or(CaState::Open, |(state, _)| state),
            may_grow: acked > 0 && self.reduction.is_none(),
            cwnd_limited: true,
            acked,
            cum_acked: acked + lost,
            lost,
            rtt,
            prior_in_flight,
            in_flight: self.flight.len() as u32,
            una: self.una,
            next: self.next,
            ece: marked,
            rate: rate.unwrap_or_default(),
            ..self.meter.ack_sample()
        };
        self.control.on_ack(self.now, &self.last);
    }

    /// What the control sees of the sender, which its window always limits here.
    fn view(&self) -> SenderView {
        SenderView {
            state: self.reduction.map_or(CaState::Open, |(state, _)| state),
            cwnd: self.control.decision().cwnd,
            cwnd_limited: true,
            ..self.meter.view(self.una, self.next)
        }
    }

    fn run_timers(&mut self) {
        while let Some(at) = self.control.next_timer().filter(|&at| at <= self.now) {
            self.control.on_timer(at);
        }
    }

    /// Begins a reduction on loss or mark, ends it when what was in flight then is acknowledged.
    fn change_state(&mut self, lost: bool, marked: bool) {
        if let Some((_, end)) = self.reduction
            && self.una >= end
        {
            self.reduction = None;
            let cwnd = self.control.decision().ssthresh;
            self.control.on_congestion(self.now, &Event::ReductionEnd { cwnd });
            self.control.on_congestion(self.now, &Event::Recovered);
        }
        let in_flight = self.flight.len() as u32;
        let loss_recovery = matches!(self.reduction, Some((CaState::Recovery, _)));
        let (state, event) = if lost && !loss_recovery {
            (CaState::Recovery, Event::Loss { in_flight })
        } else if marked && self.reduce_on_ece && self.reduction.is_none() {
            (CaState::Cwr, Event::Ecn { in_flight })
        } else {
            return;
        };
        self.reduction = Some((state, self.next));
        self.control.save();
        self.control.on_congestion(self.now, &event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::reno::{Params, Reno};

    #[test]
    fn reno_doubles_then_halves_then_climbs_by_one() {
        let mut path = Path::<Reno>::new(Params::default(), Span::from_millis(100));
        path.rounds(3);
        assert_eq!(path.cwnd(), 80);
        path.lose_one();
        let halved = path.cwnd();
        path.rounds(10);
        assert!((9..=11).contains(&(path.cwnd() - halved)), "{} {halved}", path.cwnd());
    }

    #[test]
    fn a_bottleneck_delays_and_overflows() {
        let mut path = Path::<Reno>::new(Params::default(), Span::from_millis(100));
        (path.rate, path.buffer) = (Some(1000.0), 50);
        path.run(Span::from_secs(60));
        let share = path.delivered() as f64 / 60_000.0;
        assert!((0.85..=1.0).contains(&share), "{share}");
        assert!(
            path.cwnd() <= 151 && path.last.srtt > path.rtt,
            "{} {:?}",
            path.cwnd(),
            path.last.srtt
        );
    }
}
