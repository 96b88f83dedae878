//! A bottleneck and simple senders: one FIFO with a rate, a limit, marking by sojourn time and
//! independent loss; flows of their own round-trip times, always with data to send; an ACK per
//! packet. Lost packets count as lost when three later ones have arrived, and are not sent again,
//! which makes no difference to a control.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::flow::{Flow, RTO, Usage};
use super::{MSS, Meter, PACKET};
use crate::cc::{AckSample, CaState, CongestionControl, Event};
use crate::packet::Ecn;
use crate::rng::StreamKey;
use crate::units::{Rate, Span, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Ack { seq: u32, ce: bool, sce: bool },
    Send,
    Timeout,
}

/// The bottleneck and its flows.
pub(crate) struct Bottleneck {
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
    pub(crate) fn new(mbit: f64, limit: u64) -> Self {
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
    pub(crate) fn flow(mut self, rtt_ms: f64, control: Box<dyn CongestionControl>) -> Self {
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

    /// Runs until `seconds`, calling `seen` after every ACK with the time, the flow's number, flow
    /// and sample.
    pub(crate) fn run(
        &mut self,
        seconds: f64,
        mut seen: impl FnMut(f64, usize, &Flow, &AckSample),
    ) {
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
    pub(crate) fn utilisation(&self, delivered: u64, seconds: f64) -> f64 {
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
