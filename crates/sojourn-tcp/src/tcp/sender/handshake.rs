//! Connection establishment.

use super::ack::offered;
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
        self.counters.syn_acks += 1;
        if self.phase != Phase::SynSent {
            return;
        }
        self.update_peer_window(ack);
        // The echo identifies the SYN that is answered.
        self.establish(now, ack.echo);
        self.probe = Probe::Handshake;
        self.burst.begin();
    }

    /// The other end has opened the connection, and answers the SYN-ACK that was sent at `answered`;
    /// `syn_acks` were sent, the first of them then. It offers a window of `window` bytes. (Linux:
    /// `tcp_check_req`, and `tcp_rcv_state_process` in `TCP_SYN_RECV`, which do what is done after a
    /// SYN-ACK, but find the window of the route set already when they compute the pacing rate.)
    pub(in crate::tcp) fn accept(
        &mut self,
        now: Time,
        answered: Time,
        syn_acks: (u32, Time),
        window: u32,
    ) {
        if self.phase != Phase::Closed {
            return;
        }
        (self.syns, self.opened_at) = syn_acks;
        self.peer_window = offered(window);
        self.accepted = true;
        self.establish(now, answered);
    }

    /// Whether the handshake is complete at this end.
    pub(in crate::tcp) fn is_open(&self) -> bool {
        self.phase == Phase::Established
    }

    /// Its smoothed round-trip time.
    pub(in crate::tcp) fn srtt(&self) -> Span {
        self.rtt.srtt()
    }

    /// The handshake is complete: its packet that was sent at `answered` is the one that the other
    /// end answers.
    fn establish(&mut self, now: Time, answered: Time) {
        self.count_limit(now);
        self.phase = Phase::Established;
        self.established_at = Some(now);
        self.timer = None;
        // The SYN counts (Linux `tcp_clean_rtx_queue`): with the first segment that is delivered the
        // sending is no longer limited by the application, which had not written before.
        self.delivery.delivered = 1;
        let rtt = now.micros_since(answered);
        self.rtt.sample(rtt, 0, 1);
        self.rtt.sample_min(now, rtt);
        self.show(now, &Step::Callback);
        self.heed_lost_syns(now, answered);
        self.recall(now);
        self.cc.on_established(now, rtt);
        self.consult();
        self.usage.used_at = now;
        // Idle time counts from here (Linux `tcp_finish_connect` sets `lsndtime`).
        self.last_sent_at = now;
        self.integrated_at = now;
        self.update_pacing();
    }

    /// If several SYNs were needed, or SYN-ACKs at the other end, the window becomes one segment (RFC
    /// 5681 §3.1; Linux `tcp_init_transfer`, `tcp_try_undo_spurious_syn`).
    fn heed_lost_syns(&mut self, now: Time, answered: Time) {
        let needed = self.timestamp(answered) > self.timestamp(self.opened_at);
        let too_many = self.profile.syn_losses.is_some_and(|most| self.syns > most + 1);
        if needed && too_many {
            let ssthresh = self.decision.ssthresh;
            self.cc.on_congestion(now, &Event::Restart { cwnd: 1, ssthresh });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::endpoint::Endpoint as _;
    use crate::tcp::TcpInit;
    use crate::tcp::tests::{Rig, init};
    use crate::units::Span;

    /// Before it writes, the application limits the sending; with the first segment that is delivered
    /// it does no more.
    #[test]
    fn the_first_delivery_ends_what_the_handshake_left() {
        let mut rig = Rig::new(TcpInit { ack_every: 1, ..init("linux-6") }, "reno", 100);
        rig.sender.open(rig.now);
        rig.pump();
        rig.run(120.0);
        assert!(rig.sender.delivery.app_limited());
        rig.serialisation = Span::from_millis(10);
        rig.sender.write(rig.now, u64::MAX);
        rig.pump();
        rig.run(235.0);
        assert_eq!(rig.sender.delivery.delivered, 2, "the SYN and a segment");
        assert!(!rig.sender.delivery.app_limited());
    }
}
