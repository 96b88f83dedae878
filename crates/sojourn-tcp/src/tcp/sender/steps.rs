//! State that the sender exposes to a control that follows every step.

use super::Sender;
use super::ack::Ack;
use crate::cc::{CaState, Measured, SenderView, Step};
use crate::units::{Span, Time};

impl Sender {
    /// Exposes the sender's state to a control that follows it.
    #[inline]
    pub(super) fn show(&mut self, now: Time, step: &Step) {
        if self.steps {
            self.show_view(now, step);
        }
    }

    #[inline(never)] // few controls follow
    fn show_view(&mut self, now: Time, step: &Step) {
        let view = self.view();
        self.cc.on_step(now, step, &view);
    }

    /// An ACK has been measured; the recovery state has not yet been updated.
    #[inline]
    pub(super) fn show_measured(
        &mut self,
        now: Time,
        ack: &Ack,
        rtt: Option<Span>,
        sampled: Option<u32>,
        has_sacks: bool,
    ) {
        if self.steps {
            let slow_path = !ack.advanced || has_sacks || ack.ece || ack.window_update;
            self.show_ack(now, ack, rtt, sampled, slow_path);
        }
    }

    #[inline(never)] // few controls follow
    fn show_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        rtt: Option<Span>,
        sampled: Option<u32>,
        slow_path: bool,
    ) {
        let measured = Measured {
            cum_acked: ack.cum_acked,
            rtt,
            in_flight: self.delivery.delivered - sampled.unwrap_or(0),
            ece: ack.ece,
            esce: ack.esce,
            window_update: ack.window_update,
            slow_path,
        };
        self.show(now, &Step::Measured(measured));
        self.consult();
    }

    /// The state that the sender is about to enter.
    #[inline]
    pub(super) fn set_state(&mut self, now: Time, state: CaState) {
        self.show(now, &Step::State(state));
        self.recovery.state = state;
    }

    fn view(&self) -> SenderView {
        let (max_packets_out, cwnd_limited) = self.usage.seen();
        let (first_sent_at, delivered_at) = self.delivery.phases();
        SenderView {
            state: self.recovery.state,
            cwnd: self.cwnd,
            una: self.board.una(),
            next: self.board.next(),
            packets_out: self.board.packets_out(),
            sacked_out: self.board.sacked_out(),
            lost_out: self.board.lost_out(),
            retrans_out: self.board.retrans_out(),
            reordering: self.reordering,
            max_packets_out,
            cwnd_limited,
            delivered: self.delivery.delivered,
            delivered_ce: self.delivery.delivered_ce,
            lost: self.delivery.lost,
            app_limited: self.delivery.app_limited_until(),
            delivered_at,
            first_sent_at,
            srtt: self.rtt.srtt(),
            mdev: self.rtt.mdev(),
            rttvar: self.rtt.rttvar(),
            min_rtt: self.rtt.min_rtt(),
            rto: self.rtt.rto(),
            last_sent_at: self.last_sent_at,
            departs_at: self.pacer.next(),
            echo: self.last_echo,
            peer_sent_at: self.peer_sent_at,
        }
    }
}
