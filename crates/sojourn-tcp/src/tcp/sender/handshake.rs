//! Connection establishment.

use super::waits::Probe;
use super::{Phase, Sender};
use crate::cc::{ControlInit, Event, Step};
use crate::packet::TcpAck;
use crate::spec::Pacing;
use crate::tcp::{HEADER, TcpInit};
use crate::units::{Span, Time};

impl Sender {
    /// Parameters of this connection for its control.
    pub fn control_init(
        init: &TcpInit,
        base_rtt: Span,
        random: crate::rng::StreamKey,
    ) -> ControlInit {
        ControlInit {
            initial_window: init.initial_window,
            initial_ssthresh: init.initial_ssthresh,
            undo_doubles: init.profile.undo_doubles,
            mss: init.mss,
            packet_size: init.mss + HEADER,
            now: init.now,
            paced: init.pacing.is_some_and(Pacing::is_on),
            // Wired devices do scatter-gather: there, no offload means only that links carry single
            // segments.
            offload: init.offload || !init.small_queue,
            base_rtt,
            random,
            flow: init.forward.flow,
        }
    }

    pub(super) fn on_syn_ack(&mut self, now: Time, ack: &TcpAck) {
        if self.phase != Phase::SynSent {
            return;
        }
        self.count_limit(now);
        self.phase = Phase::Established;
        self.established_at = Some(now);
        self.timer = None;
        self.update_peer_window(ack);
        // The echo identifies the SYN that is answered.
        let rtt = now.since(ack.echo);
        self.rtt.sample(rtt, 0, 1);
        self.rtt.sample_min(now, rtt);
        self.show(now, &Step::Callback);
        self.heed_lost_syns(now, ack);
        self.recall(now);
        self.cc.on_established(now, rtt);
        self.consult();
        self.usage.used_at = now;
        // Idle time counts from here (Linux `tcp_finish_connect` sets `lsndtime`).
        self.last_sent_at = now;
        self.integrated_at = now;
        self.update_pacing();
        self.probe = Probe::Handshake;
        self.burst.begin();
    }

    /// If several SYNs were needed, the window becomes one segment (RFC 5681 §3.1; Linux
    /// `tcp_init_transfer`, `tcp_try_undo_spurious_syn`).
    fn heed_lost_syns(&mut self, now: Time, ack: &TcpAck) {
        let needed = self.timestamp(ack.echo) > self.timestamp(self.opened_at);
        let too_many = self.profile.syn_losses.is_some_and(|most| self.syns > most + 1);
        if needed && too_many {
            let ssthresh = self.decision.ssthresh;
            self.cc.on_congestion(now, &Event::Restart { cwnd: 1, ssthresh });
        }
    }
}
