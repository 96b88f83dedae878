//! A simple sender: always data to send, an ACK per packet; lost packets are not sent again.

use std::collections::VecDeque;

use super::{Meter, Snapshot, show};
use crate::cc::{AckSample, CaState, CongestionControl, Event, Measured, SenderView, Sent};
use crate::units::{Span, Time};

pub(super) const RTO: Span = Span::from_secs(1);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Outstanding {
    pub seq: u32,
    pub sent: Snapshot,
    pub acked: bool,
}

/// A sender.
pub(crate) struct Flow {
    pub control: Box<dyn CongestionControl>,
    pub meter: Meter,
    pub sce: u64,
    pub in_flight: u32,
    pub rtt: Span,
    pub outstanding: VecDeque<Outstanding>,
    pub next: u32,
    pub state: CaState,
    pub recovery_point: u32,
    pub next_send: Time,
    pub send_scheduled: bool,
    pub last_progress: Time,
    pub usage: Usage,
}

/// Whether the window limited sending in the last round (Linux `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub limited: bool,
    pub max_out: u32,
    pub end: u32,
}

impl Flow {
    pub(crate) fn validate_window(&mut self) {
        let limited = self.in_flight >= self.control.decision().cwnd;
        let una = self.outstanding.front().map_or(self.next, |p| p.seq);
        let more = !self.usage.limited && self.in_flight > self.usage.max_out;
        if una >= self.usage.end || limited || more {
            self.usage = Usage { limited, max_out: self.in_flight, end: self.next };
        }
    }

    pub(crate) fn transmit(&mut self, now: Time) -> u32 {
        self.in_flight += 1;
        let seq = self.next;
        self.next += 1;
        let sent = self.meter.on_sent(now, self.in_flight);
        self.outstanding.push_back(Outstanding { seq, sent, acked: false });
        let sent = Sent { seq, in_flight: self.in_flight, retransmission: false };
        self.control.on_sent(now, &sent);
        seq
    }

    pub(crate) fn on_ack(&mut self, now: Time, seq: u32, ce: bool, sce: bool) -> AckSample {
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
        let said = Measured { cum_acked: 1, rtt: Some(rtt), ece: ce, ..Measured::default() };
        let measured = Measured { esce: sce, ..said };
        let control = self.control.decision();
        let (state, cwnd) = (self.state, control.cwnd);
        let cwnd_limited = self.usage.limited;
        let view = SenderView { state, cwnd, cwnd_limited, ..self.meter.view(una, self.next) };
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
            departs_in: self.next_send.since(now),
            rate,
            ..self.meter.ack_sample()
        };
        self.control.on_ack(now, &sample);
        sample
    }

    /// Declares what was sent before `seq` and not acknowledged lost.
    pub(crate) fn lose_before(&mut self, now: Time, seq: u32) -> u32 {
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
    pub(crate) fn update_state(&mut self, now: Time, lost: bool, ce: bool) -> CaState {
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

    pub(crate) fn reduce(&mut self, now: Time, state: CaState, event: &Event) {
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
