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
        let mut measured = Measured::default();
        (measured.cum_acked, measured.rtt, measured.slow_path) = (cum_acked, rtt, slow_path);
        let mut shown = SenderView::default();
        shown.state = self.state;
        shown.cwnd = self.window;
        shown.cwnd_limited = self.event.prior + 1 >= self.window;
        shown.una = view.una as u32;
        shown.next = view.next as u32;
        shown.delivered = self.delivery.delivered;
        shown.lost = self.delivery.lost;
        self.control.on_step(view.now, &Step::Measured(measured), &shown);
    }

    pub(super) fn sample(&mut self, view: &View) -> AckSample {
        let event = std::mem::take(&mut self.event);
        let rate = self.delivery.finish(view.now, event.sampler.best(), event.acked, self.min_rtt);
        let advanced = view.una.saturating_sub(event.una) as u32;
        let mut sample = AckSample::default();
        sample.state = self.state;
        sample.may_grow = event.acked > 0 && self.state != CaState::Recovery;
        sample.cwnd_limited = event.prior + 1 >= self.window;
        sample.acked = event.acked;
        sample.cum_acked = advanced;
        sample.lost = event.lost;
        sample.rtt = event.rtt;
        sample.srtt = view.srtt;
        sample.min_rtt = self.min_rtt;
        sample.prior_in_flight = event.prior;
        sample.in_flight = self.in_flight(view);
        sample.una = view.una as u32;
        sample.next = view.next as u32;
        sample.delivered = self.delivery.delivered.into();
        sample.total_lost = self.delivery.lost.into();
        sample.app_limited = self.delivery.app_limited();
        sample.departs_in = self.clock.next().since(view.now);
        sample.rate = rate;
        sample
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
