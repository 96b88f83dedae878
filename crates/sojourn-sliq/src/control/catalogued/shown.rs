//! Calls of the control for packets sent and ACKs, and the reduction of its window.

use sojourn_tcp::cc::{AckSample, CaState, Measured, SenderView, Sent, Step};
use sojourn_tcp::recovery::prr::{Progress, PrrBound};
use sojourn_tcp::recovery::rate::Snapshot;

use super::Catalogued;
use crate::control::{Control, View};

impl Catalogued {
    /// Passes the measurements of an ACK to a control that follows steps, before the response to
    /// losses.
    pub(super) fn show_measured(&mut self, view: &View) {
        if !self.control.follows_steps() {
            return;
        }
        let cum_acked = view.una.saturating_sub(self.event.una) as u32;
        let slow_path = cum_acked == 0 || self.event.lost > 0;
        let rtt = self.event.rtt;
        let measured = Measured { cum_acked, rtt, slow_path, ..Measured::default() };
        let shown = SenderView {
            state: self.state,
            cwnd: self.window,
            una: view.una as u32,
            next: view.next as u32,
            delivered: self.delivery.delivered,
            lost: self.delivery.lost,
            ..SenderView::default()
        };
        self.control.on_step(view.now, &Step::Measured(measured), &shown);
    }

    pub(super) fn sample(&mut self, view: &View) -> AckSample {
        let event = std::mem::take(&mut self.event);
        let rate = self.delivery.finish(view.now, event.sampler, event.acked, self.min_rtt);
        let advanced = view.una.saturating_sub(event.una) as u32;
        AckSample {
            state: self.state,
            may_grow: event.acked > 0 && self.state != CaState::Recovery,
            cwnd_limited: event.prior + 1 >= self.window,
            acked: event.acked,
            cum_acked: advanced,
            lost: event.lost,
            rtt: event.rtt,
            srtt: view.srtt,
            min_rtt: self.min_rtt,
            prior_in_flight: event.prior,
            in_flight: self.in_flight(view),
            una: view.una as u32,
            next: view.next as u32,
            delivered: self.delivery.delivered.into(),
            total_lost: self.delivery.lost.into(),
            app_limited: self.delivery.app_limited(),
            rate,
            ..AckSample::default()
        }
    }

    pub(super) fn reduce(&mut self, view: &View, sample: &AckSample, resent: bool) {
        let progress = Progress {
            delivered: sample.acked,
            lost: sample.lost,
            advanced: sample.cum_acked > 0,
            retransmission_delivered: resent,
            retransmission_lost: false,
        };
        let threshold = self.decision().ssthresh;
        let in_flight = self.in_flight(view);
        if let Some(window) =
            self.prr.on_ack(PrrBound::AdvancingAck, threshold, in_flight, progress)
        {
            self.window = window;
        }
    }

    pub(super) fn note(&mut self, view: &View, number: u64, again: bool) {
        let in_flight = self.in_flight(view) + 1;
        let idle = view.flight.packets == 0;
        let snapshot = self.delivery.snapshot(view.now, idle, in_flight);
        if again {
            let slot = number.checked_sub(self.first).map(|index| index as usize);
            if let Some(kept) = slot.and_then(|index| self.snapshots.get_mut(index)) {
                *kept = (snapshot, true);
            }
        } else {
            if self.snapshots.is_empty() {
                self.first = number;
            }
            self.snapshots.push_back((snapshot, false));
        }
        self.prr.on_sent(1);
        let sent = Sent { seq: number as u32, in_flight, retransmission: again };
        self.control.on_sent(view.now, &sent);
    }

    pub(super) fn pace(&mut self, view: &View, bytes: u32) {
        let bps = match self.decision().pacing_rate {
            Some(rate) => rate.as_bps() as f64,
            None => 1.2 * self.send_rate(view.srtt),
        };
        self.clock.sent(view.now, f64::from(bytes) * 8.0 / bps.max(1.0));
    }

    pub(super) fn known(&self, number: u64) -> Option<(Snapshot, bool)> {
        self.snapshots.get(number.checked_sub(self.first)? as usize).copied()
    }
}
