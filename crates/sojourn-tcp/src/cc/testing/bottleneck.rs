//! A bottleneck and simple senders: one FIFO with a rate, a limit, marking by sojourn time and
//! independent loss; flows of their own round-trip times, always with data to send; an ACK per
//! packet. Lost packets count as lost when three later ones have arrived, and are not sent again:
//! that is all the same to a control.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{MSS, Meter, PACKET, Snapshot, show};
use crate::cc::{AckSample, CaState, CongestionControl, Event, Measured, SenderView, Sent};
use crate::packet::Ecn;
use crate::rng::StreamKey;
use crate::units::{Rate, Span, Time};

const RTO: Span = Span::from_secs(1);

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    seq: u32,
    sent: Snapshot,
    acked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Ack { seq: u32, ce: bool, sce: bool },
    Send,
    Timeout,
}

/// A sender.
pub struct Flow {
    pub control: Box<dyn CongestionControl>,
    pub meter: Meter,
    pub sce: u64,
    pub in_flight: u32,
    rtt: Span,
    outstanding: VecDeque<Outstanding>,
    next: u32,
    state: CaState,
    recovery_point: u32,
    next_send: Time,
    send_scheduled: bool,
    last_progress: Time,
    usage: Usage,
}

/// Whether the window limited sending in the last round (Linux `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    limited: bool,
    max_out: u32,
    end: u32,
}

/// The bottleneck and its flows.
pub struct Bottleneck {
    pub rate: Rate,
    /// Packets that may wait.
    pub limit: u64,
    /// Probability of loss after the queue.
    pub loss: f64,
    /// Marks a packet that waits this long; draws are uniform in [0, 1).
    pub mark: fn(Span, f64) -> Ecn,
    pub flows: Vec<Flow>,
    /// Sum of waiting times and number of packets that waited.
    pub waited: (Span, u64),
    now: Time,
    busy_until: Time,
    events: BinaryHeap<Reverse<(Time, u64, usize, Kind)>>,
    scheduled: u64,
    draws: u64,
}

impl Bottleneck {
    /// One of `mbit` Mbit/s that holds `limit` waiting packets, without loss and marks.
    pub fn new(mbit: f64, limit: u64) -> Self {
        Bottleneck {
            rate: Rate::from_bps((mbit * 1e6) as u64),
            limit,
            loss: 0.0,
            mark: |_, _| Ecn::Ect0,
            flows: Vec::new(),
            waited: (Span::ZERO, 0),
            now: Time::ZERO,
            busy_until: Time::ZERO,
            events: BinaryHeap::new(),
            scheduled: 0,
            draws: 0,
        }
    }

    /// Starts a flow of round-trip time `rtt_ms` now.
    #[must_use]
    pub fn flow(mut self, rtt_ms: f64, control: Box<dyn CongestionControl>) -> Self {
        self.flows.push(Flow {
            control,
            meter: Meter::new(self.now),
            sce: 0,
            in_flight: 0,
            rtt: Span::from_secs_f64(rtt_ms / 1e3),
            outstanding: VecDeque::new(),
            next: 1,
            state: CaState::Open,
            recovery_point: 0,
            next_send: self.now,
            send_scheduled: false,
            last_progress: self.now,
            usage: Usage::default(),
        });
        let flow = self.flows.len() - 1;
        self.schedule(self.now, flow, Kind::Send);
        self.schedule(self.now + RTO, flow, Kind::Timeout);
        self
    }

    /// Runs until `seconds`, telling `seen` after every ACK: time, flow's number, flow, sample.
    pub fn run(&mut self, seconds: f64, mut seen: impl FnMut(f64, usize, &Flow, &AckSample)) {
        let until = Time::ZERO + Span::from_secs_f64(seconds);
        while let Some(&Reverse((now, _, flow, kind))) = self.events.peek() {
            if now > until {
                break;
            }
            self.events.pop();
            self.now = now;
            match kind {
                Kind::Ack { seq, ce, sce } => {
                    let sample = self.on_ack(flow, seq, ce, sce);
                    seen(now.as_secs_f64(), flow, &self.flows[flow], &sample);
                }
                Kind::Send => self.flows[flow].send_scheduled = false,
                Kind::Timeout => self.on_timeout(flow),
            }
            self.send(flow);
        }
        self.now = until;
    }

    /// Share of the rate that was delivered in `seconds`, all flows together.
    pub fn utilisation(&self, delivered: u64, seconds: f64) -> f64 {
        delivered as f64 * f64::from(PACKET) * 8.0 / (self.rate.as_bps() as f64 * seconds)
    }

    fn schedule(&mut self, time: Time, flow: usize, kind: Kind) {
        self.events.push(Reverse((time, self.scheduled, flow, kind)));
        self.scheduled += 1;
    }

    fn draw(&mut self) -> f64 {
        self.draws += 1;
        StreamKey::root(42).uniform_at(self.draws)
    }

    fn send(&mut self, index: usize) {
        self.send_allowed(index);
        self.flows[index].validate_window();
    }

    fn send_allowed(&mut self, index: usize) {
        loop {
            let flow = &mut self.flows[index];
            let control = flow.control.decision();
            if flow.in_flight >= control.cwnd {
                return;
            }
            if let Some(rate) = control.pacing_rate {
                if flow.next_send > self.now {
                    if !flow.send_scheduled {
                        flow.send_scheduled = true;
                        let at = flow.next_send;
                        self.schedule(at, index, Kind::Send);
                    }
                    return;
                }
                flow.next_send = self.now + rate.span_of(u64::from(MSS));
            }
            let seq = self.flows[index].transmit(self.now);
            self.enqueue(index, seq);
        }
    }

    fn enqueue(&mut self, flow: usize, seq: u32) {
        let wait = self.busy_until.since(self.now);
        let (loss, mark) = (self.draw(), self.draw());
        if self.rate.bytes_in(wait) > (self.limit + 1) * u64::from(PACKET) {
            return;
        }
        self.busy_until = self.now + wait + self.rate.span_of(u64::from(PACKET));
        self.waited.0 += wait;
        self.waited.1 += 1;
        if loss < self.loss {
            return;
        }
        let ecn = (self.mark)(wait, mark);
        let ack = Kind::Ack { seq, ce: ecn == Ecn::Ce, sce: ecn == Ecn::Ect1 };
        self.schedule(self.busy_until + self.flows[flow].rtt, flow, ack);
    }

    fn on_ack(&mut self, flow: usize, seq: u32, ce: bool, sce: bool) -> AckSample {
        self.flows[flow].on_ack(self.now, seq, ce, sce)
    }

    fn on_timeout(&mut self, index: usize) {
        let now = self.now;
        let flow = &mut self.flows[index];
        if now.since(flow.last_progress) >= RTO && flow.in_flight > 0 {
            flow.lose_before(now, u32::MAX);
            flow.state = CaState::Loss;
            flow.recovery_point = flow.next;
            flow.control.save();
            flow.control.on_congestion(now, &Event::Rto { in_flight: 0, cwnd: 1, reduce: true });
            flow.last_progress = now;
        }
        let at = flow.last_progress + RTO;
        self.schedule(at.max(now + Span::from_millis(1)), index, Kind::Timeout);
    }
}

impl Flow {
    fn validate_window(&mut self) {
        let limited = self.in_flight >= self.control.decision().cwnd;
        let una = self.outstanding.front().map_or(self.next, |p| p.seq);
        let more = !self.usage.limited && self.in_flight > self.usage.max_out;
        if una >= self.usage.end || limited || more {
            self.usage = Usage { limited, max_out: self.in_flight, end: self.next };
        }
    }

    fn transmit(&mut self, now: Time) -> u32 {
        self.in_flight += 1;
        let seq = self.next;
        self.next += 1;
        let sent = self.meter.on_sent(now, self.in_flight);
        self.outstanding.push_back(Outstanding { seq, sent, acked: false });
        let sent = Sent { seq, in_flight: self.in_flight, retransmission: false };
        self.control.on_sent(now, &sent);
        seq
    }

    fn on_ack(&mut self, now: Time, seq: u32, ce: bool, sce: bool) -> AckSample {
        let Some(first) = self.outstanding.front().map(|p| p.seq).filter(|&first| seq >= first)
        else {
            return AckSample::default(); // declared lost before
        };
        let packet = &mut self.outstanding[(seq - first) as usize];
        packet.acked = true;
        let packet = *packet;
        let prior_in_flight = self.in_flight;
        self.in_flight -= 1;
        self.meter.on_delivered(1, ce);
        self.sce += u64::from(sce);
        let (rtt, rate) = self.meter.sample(now, &packet.sent);
        self.last_progress = now;
        let lost = self.lose_before(now, seq.saturating_sub(2));
        let una = self.outstanding.front().map_or(self.next, |p| p.seq);
        let measured = Measured { cum_acked: 1, rtt: Some(rtt), ece: ce, ..Measured::default() };
        let control = self.control.decision();
        let (state, cwnd) = (self.state, control.cwnd);
        let view = SenderView { state, cwnd, ..self.meter.view(una, self.next) };
        show(&mut *self.control, now, measured, &view);
        let sample_state = self.update_state(now, lost > 0, ce);
        let sample = AckSample {
            state: sample_state,
            may_grow: matches!(sample_state, CaState::Open | CaState::Loss),
            cwnd_limited: self.usage.limited
                || (control.cwnd < control.ssthresh && control.cwnd < 2 * self.usage.max_out),
            acked: 1,
            cum_acked: 1,
            lost,
            rtt: Some(rtt),
            prior_in_flight,
            in_flight: self.in_flight,
            una,
            next: self.next,
            ece: ce,
            esce: sce,
            rate,
            ..self.meter.ack_sample()
        };
        self.control.on_ack(now, &sample);
        sample
    }

    /// Declares what was sent before `seq` and not acknowledged lost.
    fn lose_before(&mut self, now: Time, seq: u32) -> u32 {
        let mut lost = 0;
        while let Some(packet) = self.outstanding.front().copied() {
            if !packet.acked && packet.seq >= seq {
                break;
            }
            self.outstanding.pop_front();
            if !packet.acked {
                lost += 1;
                self.in_flight -= 1;
                let lost = self.meter.on_lost(packet.seq, &packet.sent);
                self.control.on_packet_lost(now, &lost);
            }
        }
        lost
    }

    /// Recovery and window reduction, at once where a sender would do it gradually.
    fn update_state(&mut self, now: Time, lost: bool, ce: bool) -> CaState {
        let una = self.outstanding.front().map_or(self.next, |p| p.seq);
        if self.state != CaState::Open && una >= self.recovery_point {
            self.state = CaState::Open;
            self.control.on_congestion(now, &Event::Recovered);
        }
        if lost && matches!(self.state, CaState::Open | CaState::Cwr) {
            self.reduce(now, CaState::Recovery, &Event::Loss { in_flight: self.in_flight });
        } else if ce && self.state == CaState::Open {
            self.reduce(now, CaState::Cwr, &Event::Ecn { in_flight: self.in_flight });
        }
        self.state
    }

    fn reduce(&mut self, now: Time, state: CaState, event: &Event) {
        self.state = state;
        self.recovery_point = self.next;
        self.control.save();
        self.control.on_congestion(now, event);
        let control = self.control.decision();
        if !control.owns_recovery {
            let cwnd = control.ssthresh.min(control.cwnd);
            self.control.on_congestion(now, &Event::ReductionEnd { cwnd });
        }
    }
}
