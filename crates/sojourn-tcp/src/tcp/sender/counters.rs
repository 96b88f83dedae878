//! Counters of a sender.

use super::{Phase, Sender};
use crate::cc::CaState;
use crate::counters::{
    ArrivalCounters, EchoCounters, FlowCounters, LimitCounters, RateCounters, RecoveryCounters,
    RttCounters, SenderCounters, WindowCounters,
};
use crate::units::{Span, Time};

/// Counters that are kept up to date; gauges are filled in when they are read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub sent: SenderCounters,
    pub syn_acks: u64,
    pub arrivals: ArrivalCounters,
    /// Whether data was sent since the last acknowledgment arrived.
    pub sent_since_ack: bool,
    pub window: WindowCounters,
    pub rtt: RttCounters,
    pub rate: RateCounters,
    pub recovery: RecoveryCounters,
    pub echoes: EchoCounters,
    pub limits: LimitCounters,
}

impl Counters {
    /// Packets that have arrived; those that came before the handshake was complete, and were no SYN-ACK,
    /// are not counted.
    pub(super) fn received(&self) -> u64 {
        self.arrivals.acks_received + self.syn_acks
    }
}

impl Sender {
    /// Brings the time integrals up to `now`, from the handshake to the end of the transfer.
    #[inline]
    pub(super) fn integrate(&mut self, now: Time) {
        let elapsed = now.since(self.integrated_at);
        let counts = self.phase == Phase::Established && self.completed_at.is_none();
        if elapsed == Span::ZERO || !counts {
            self.integrated_at = now;
            return;
        }
        let seconds = elapsed.as_secs_f64();
        self.counters.window.cwnd_time += f64::from(self.cwnd) * seconds;
        self.counters.window.in_flight_time += f64::from(self.board.in_flight()) * seconds;
        let srtt = self.rtt.srtt();
        if srtt > Span::ZERO {
            self.counters.rtt.srtt_time += srtt.as_secs_f64() * seconds;
            self.counters.rtt.srtt_known += seconds;
        }
        if matches!(self.recovery.state, CaState::Recovery | CaState::Loss) {
            self.counters.recovery.recovery_time += elapsed;
        }
        self.integrated_at = now;
    }

    /// An acknowledgment has arrived.
    #[inline]
    pub(super) fn count_ack(&mut self) {
        let counters = &mut self.counters;
        counters.arrivals.acks_received += 1;
        let begins = std::mem::take(&mut counters.sent_since_ack);
        counters.arrivals.ack_blocks += u64::from(begins);
    }

    /// A data packet is sent; to be called before `last_sent_at` is updated.
    #[inline]
    pub(super) fn count_data(&mut self, now: Time) {
        let counters = &mut self.counters;
        if std::mem::replace(&mut counters.sent_since_ack, true) {
            counters.arrivals.send_gap_sum += now.since(self.last_sent_at);
            counters.arrivals.send_gap_count += 1;
        }
    }

    /// Reports all parts but the receiver's, as of `now`.
    pub(super) fn count(&mut self, now: Time, flow: &mut FlowCounters) {
        self.integrate(now);
        self.count_limit(now);
        let Counters { sent, arrivals, window, rtt, rate, recovery, echoes, limits, .. } =
            self.counters;
        let min_rtt = self.rtt.min_rtt();
        flow.sent = Some(SenderCounters { written_bytes: self.app.accepted(), ..sent });
        flow.arrivals = Some(arrivals);
        flow.window = Some(WindowCounters {
            cwnd: self.cwnd,
            ssthresh: self.decision.ssthresh,
            in_flight: self.board.in_flight(),
            ..window
        });
        flow.rtt = Some(RttCounters {
            srtt: self.rtt.srtt(),
            min_rtt: if min_rtt == Span::MAX { Span::ZERO } else { min_rtt },
            ..rtt
        });
        flow.rate = Some(RateCounters { pacing_rate: self.pacer.rate(), ..rate });
        flow.recovery = Some(recovery);
        flow.echoes = Some(echoes);
        flow.limits = Some(limits);
        flow.established_at = self.established_at;
        flow.completed_at = self.completed_at;
    }
}
