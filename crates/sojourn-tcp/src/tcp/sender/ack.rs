//! Processing of acknowledgments by the sending side (Linux `tcp_ack`).

use super::Sender;
use crate::cc::{AckSample, CaState, EcnMode, RateSample, Step};
use crate::packet::{Flags, TcpAck};
use crate::recovery::rate::Sampler;
use crate::recovery::rtt::RtoStyle;
use crate::tcp::OPEN_WINDOW;
use crate::units::{Span, Time};

/// Results of one ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ack {
    /// The cumulative acknowledgment advanced.
    pub advanced: bool,
    /// Segments newly SACKed.
    pub sacked: u32,
    /// The first outstanding segment before it.
    pub prior_una: u32,
    /// Segments newly covered by the cumulative acknowledgment.
    pub cum_acked: u32,
    /// Congestion echo.
    pub ece: bool,
    /// SCE echo.
    pub esce: bool,
    /// It carries a D-SACK.
    pub dsack: bool,
    /// The D-SACK was for the tail loss probe.
    pub dsack_of_probe: bool,
    /// A retransmitted segment was cumulatively acknowledged.
    pub retransmission_acked: bool,
    /// A segment sent once, before the recovery point, was delivered.
    pub original_delivered: bool,
    /// A retransmission was found lost.
    pub retransmission_lost: bool,
    /// It changed the receiver's window.
    pub window_update: bool,
    /// The retransmission timer must be set anew.
    pub rearm: bool,
    /// Payload bytes newly covered by the cumulative acknowledgment.
    pub bytes: u64,
    /// Lowest segment delivered out of order, if any.
    pub reordered: Option<u32>,
    /// Send times of the first and last segments, sent once, that were acknowledged.
    pub acked_sent: Option<(Time, Time)>,
    /// The same of those SACKed.
    pub sacked_sent: Option<(Time, Time)>,
}

/// The sender's counts before an ACK.
struct Before {
    in_flight: u32,
    delivered: u32,
    lost: u32,
}

impl Ack {
    /// Whether the ACK may change the congestion state (Linux `tcp_ack_is_dubious`).
    fn is_dubious(&self, state: CaState) -> bool {
        !self.advanced || self.sacked > 0 || self.ece || self.dsack || state != CaState::Open
    }
}

/// Bytes that a window allows.
pub(super) fn offered(window: u32) -> u64 {
    if window == OPEN_WINDOW { u64::MAX } else { window.into() }
}

impl Sender {
    pub(super) fn on_ack(&mut self, now: Time, packet: &TcpAck) {
        let before = Before {
            in_flight: self.board.in_flight(),
            delivered: self.delivery.delivered,
            lost: self.delivery.lost,
        };
        let reneged = self.recovery.reneged;
        let mut sampler = Sampler::default();
        let mut ack = Ack {
            advanced: packet.next > self.board.una(),
            prior_una: self.board.una(),
            ece: self.congestion_echo(packet),
            esce: packet.flags.has(Flags::ESCE),
            window_update: self.update_peer_window(packet),
            ..Ack::default()
        };
        self.last_echo = packet.echo;
        if self.board.packets_out() == 0 {
            return self.on_late_ack(now, packet, &mut ack);
        }
        let prior_highest = self.board.highest_sacked();
        if !packet.sacks().is_empty() {
            self.process_sacks(now, packet, &mut ack, &mut sampler);
        }
        if ack.advanced {
            self.process_cumulative(now, packet.next, prior_highest, &mut ack, &mut sampler);
        }
        let rtt = self.take_rtt(now, &ack);
        ack.rearm |= self.repairs_elsewhere(now, &ack);
        if let Some(low) = ack.reordered {
            self.on_reordering(low);
        }
        let delivered = self.delivery.delivered - before.delivered;
        self.count_marked(packet, delivered, ack.ece);
        self.rack.adapt(sampler.snapshot().map(|s| s.delivered), self.delivery.delivered);
        let sampled = sampler.snapshot().map(|sample| sample.delivered);
        self.show_measured(now, &ack, rtt, sampled, !packet.sacks().is_empty());
        self.settle_probe(now, packet.next, &ack);
        if ack.is_dubious(self.recovery.state) {
            self.on_dubious_ack(now, &mut ack);
        }
        if ack.rearm {
            self.set_ack_timer(now);
        }
        let best = sampler.best().filter(|_| !reneged);
        let rate = self.delivery.finish(now, best, delivered, self.rtt.min_rtt());
        let sample = self.sample(now, &before, &ack, (rtt, rate));
        if let Some(segments) = sample.rate.delivered {
            self.count_rate(segments, sample.rate.interval);
        }
        self.steer(now, &ack, &sample);
    }

    /// The sample of an ACK for the control.
    #[inline]
    fn sample(
        &self,
        now: Time,
        before: &Before,
        ack: &Ack,
        (rtt, rate): (Option<Span>, RateSample),
    ) -> AckSample {
        AckSample {
            state: self.recovery.state,
            may_grow: self.may_grow(ack),
            cwnd_limited: self.cwnd_limited(),
            acked: self.delivery.delivered - before.delivered,
            cum_acked: ack.cum_acked,
            lost: self.delivery.lost - before.lost,
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            prior_in_flight: before.in_flight,
            in_flight: self.board.in_flight(),
            una: self.board.una(),
            next: self.board.next(),
            delivered: u64::from(self.delivery.delivered),
            delivered_ce: u64::from(self.delivery.delivered_ce),
            total_lost: u64::from(self.delivery.lost),
            ece: ack.ece,
            esce: ack.esce,
            app_limited: self.delivery.app_limited(),
            ack_delayed: self.maybe_delayed(ack, &rate),
            departs_in: self.pacer.next().since(now),
            rate,
        }
    }

    /// An ACK while nothing is outstanding: only a D-SACK is still relevant.
    #[cold]
    fn on_late_ack(&mut self, now: Time, packet: &TcpAck, ack: &mut Ack) {
        self.judge_closed_window(now);
        self.process_dsack(packet, ack);
        self.settle_probe(now, packet.next, ack);
        if ack.dsack {
            self.on_dubious_ack(now, ack);
        }
    }

    /// Lets the control and proportional rate reduction set the window (Linux `tcp_cong_control`).
    fn steer(&mut self, now: Time, ack: &Ack, sample: &AckSample) {
        self.show(now, &Step::Callback);
        self.cc.on_ack(now, sample);
        self.consult();
        if self.in_reduction() {
            self.reduce(ack, sample);
        }
        if self.steps && self.cc.wants_reduction() {
            self.enter_cwr(now);
        }
        self.update_pacing();
    }

    /// Whether a delayed-ACK timer may have held the ACK: it covers one small segment only
    /// (Linux `FLAG_ACK_MAYBE_DELAYED`).
    fn maybe_delayed(&self, ack: &Ack, rate: &RateSample) -> bool {
        ack.cum_acked == 1
            && ack.sacked == 0
            && ack.bytes < u64::from(self.init.mss)
            && rate.prior_delivered + 1 == u64::from(self.delivery.delivered)
    }

    /// Whether the ACK may raise the window (Linux `tcp_may_raise_cwnd`).
    fn may_grow(&self, ack: &Ack) -> bool {
        let progress = if self.reordering > self.profile.dupthresh {
            ack.cum_acked > 0 || ack.sacked > 0
        } else {
            ack.cum_acked > 0
        };
        progress && !self.in_reduction()
    }

    /// The ECN echo of an ACK, by the feedback in use.
    fn congestion_echo(&mut self, packet: &TcpAck) -> bool {
        self.counters.echoes.esce_acks += u64::from(packet.flags.has(Flags::ESCE));
        let echo = match self.init.ecn {
            EcnMode::Off => false,
            EcnMode::Accurate | EcnMode::L4s => packet.ce_packets > self.peer_ce,
            _ => packet.flags.has(Flags::ECE),
        };
        self.counters.echoes.ece_acks += u64::from(echo);
        echo
    }

    /// Counts delivered segments known to be marked: by the counter where there is one, else all
    /// that an echoing ACK delivered.
    fn count_marked(&mut self, packet: &TcpAck, delivered: u32, ece: bool) {
        match self.init.ecn {
            EcnMode::Accurate | EcnMode::L4s => {
                let news = packet.ce_packets.saturating_sub(self.peer_ce);
                self.peer_ce += news;
                self.delivery.delivered_ce += news.min(delivered);
            }
            _ if ece => self.delivery.delivered_ce += delivered,
            _ => {}
        }
    }

    /// Adopts the receiver's window; returns whether it has changed.
    pub(super) fn update_peer_window(&mut self, packet: &TcpAck) -> bool {
        let before = self.peer_window;
        if packet.next >= self.board.una() {
            self.peer_window = offered(packet.window);
        }
        self.peer_window != before
    }

    /// RTT samples (Linux `tcp_ack_update_rtt`): the smoothed RTT uses the oldest segment sent
    /// once, delayed ACK included; controls and the minimum use the newest. Without such a segment
    /// the timestamp echo serves, at its resolution.
    fn take_rtt(&mut self, now: Time, ack: &Ack) -> Option<Span> {
        let acked = ack.acked_sent.filter(|_| !ack.retransmission_acked);
        let newest = ack.sacked_sent.or(acked).map(|(_, last)| now.micros_since(last));
        let oldest = acked.or(ack.sacked_sent).map(|(first, _)| now.micros_since(first));
        let smoothed = oldest.or_else(|| self.echoed_rtt(now, ack))?;
        self.rtt.sample(smoothed, self.board.una(), self.board.next());
        self.counters.rtt.rtt_sum += smoothed;
        self.counters.rtt.rtt_count += 1;
        self.rtts.add(smoothed);
        self.rtt.sample_min(now, newest.unwrap_or(smoothed));
        // Kernels whose timestamps count ticks do not pass their RTTs to controls.
        newest.or_else(|| (self.profile.timestamp <= Span::from_millis(1)).then_some(smoothed))
    }

    #[inline(never)] // few ACKs are of retransmissions alone
    fn echoed_rtt(&self, now: Time, ack: &Ack) -> Option<Span> {
        let elapsed = self.timestamp(now).saturating_sub(self.timestamp(self.last_echo)).max(1);
        (ack.cum_acked > 0 && self.last_echo > Time::ZERO).then(|| self.profile.timestamp * elapsed)
    }

    /// Whether an ACK that acknowledges nothing SACKs what was sent before the first segment was last
    /// sent: the timeout of that one starts again (Linux `tcp_clean_rtx_queue`).
    fn repairs_elsewhere(&self, now: Time, ack: &Ack) -> bool {
        let Some((first, _)) = ack.sacked_sent.filter(|_| ack.cum_acked == 0) else { return false };
        let head = self.board.segment(self.board.una()).snapshot.sent_at;
        let restarts = self.profile.rto_style == RtoStyle::Linux;
        restarts && now.micros_since(first) > now.micros_since(head)
    }

    fn count_rate(&mut self, segments: u32, interval: Span) {
        if interval > Span::ZERO {
            let bits = f64::from(segments) * f64::from(self.init.mss) * 8.0;
            self.counters.rate.delivery_rate = bits / interval.as_secs_f64();
            self.counters.rate.delivery_rate_sum += self.counters.rate.delivery_rate;
            self.counters.rate.delivery_rate_count += 1;
        }
    }

    /// Sets the rate of pacing, if this flow is paced.
    #[inline]
    pub(super) fn update_pacing(&mut self) {
        self.update_window_pace();
        if self.paced() {
            self.pace();
        } else {
            self.pacer.set_rate(None);
        }
    }

    #[inline(never)]
    fn pace(&mut self) {
        self.pacer.set_rate(self.pacing_rate());
    }
}
