//! What an arriving ACK says (Linux `tcp_ack`, `tcp_sacktag_write_queue`, `tcp_clean_rtx_queue`).

use super::Sender;
use crate::cc::{AckSample, CaState, EcnMode, Lost, RateSample};
use crate::packet::{Flags, SackBlock, TcpAck};
use crate::transport::tcp::OPEN_WINDOW;
use crate::transport::tcp::profile::LossDetection;
use crate::transport::tcp::scoreboard::{Marks, Scoreboard, Segment};
use crate::transport::recovery::rack;
use crate::transport::recovery::rate::{Delivery, Sampler};
use crate::units::{Span, Time};

/// What one ACK brought.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ack {
    /// The cumulative acknowledgment advanced.
    pub advanced: bool,
    /// Segments newly SACKed.
    pub sacked: u32,
    /// Segments newly covered by the cumulative acknowledgment.
    pub cum_acked: u32,
    /// Congestion echo.
    pub ece: bool,
    /// A D-SACK came.
    pub dsack: bool,
    /// The D-SACK was for the tail loss probe.
    pub dsack_of_probe: bool,
    /// A retransmitted segment was cumulatively acknowledged.
    pub retransmission_acked: bool,
    /// A segment sent once, before the recovery point, was delivered.
    pub original_delivered: bool,
    /// A retransmission was found lost.
    pub retransmission_lost: bool,
    /// The retransmission timer must be set anew.
    pub rearm: bool,
    /// Payload bytes newly covered by the cumulative acknowledgment.
    bytes: u64,
    /// Lowest segment delivered out of order, if any.
    pub reordered: Option<u32>,
    /// Send times of the first and last segments, sent once, that were acknowledged.
    acked_sent: Option<(Time, Time)>,
    /// The same of those SACKed.
    sacked_sent: Option<(Time, Time)>,
}

impl Ack {
    /// Whether the ACK may change the congestion state (Linux `tcp_ack_is_dubious`).
    fn is_dubious(&self, state: CaState) -> bool {
        !self.advanced || self.sacked > 0 || self.ece || self.dsack || state != CaState::Open
    }
}

/// First and last of the times seen.
fn extend(range: &mut Option<(Time, Time)>, at: Time) {
    *range = Some((range.map_or(at, |(first, _)| first), at));
}

impl Sender {
    pub(super) fn on_ack(&mut self, now: Time, packet: &TcpAck) {
        let prior_in_flight = self.board.in_flight();
        let prior_una = self.board.una();
        let prior_delivered = self.delivery.delivered;
        let prior_lost = self.delivery.lost;
        let was_empty = self.board.packets_out() == 0;
        let mut sampler = Sampler::default();
        let mut ack = Ack {
            advanced: packet.next > prior_una,
            ece: self.congestion_echo(packet),
            ..Ack::default()
        };
        self.update_peer_window(packet);
        self.last_echo = packet.echo;
        if was_empty {
            return self.on_late_ack(now, packet, ack);
        }
        if !packet.sacks().is_empty() {
            self.process_sacks(now, packet, &mut ack, &mut sampler);
        }
        if ack.advanced {
            self.process_cumulative(now, packet.next, &mut ack, &mut sampler);
        }
        let rtt = self.take_rtt(now, &ack);
        if let Some(low) = ack.reordered {
            self.on_reordering(low);
        }
        let delivered = self.delivery.delivered - prior_delivered;
        self.count_marked(packet, delivered, ack.ece);
        self.rack.adapt(sampler.snapshot().map(|s| s.delivered), self.delivery.delivered);
        self.settle_probe(now, packet.next, &ack);
        if ack.is_dubious(self.recovery.state) {
            self.on_dubious_ack(now, &mut ack, prior_una);
        }
        if ack.rearm {
            self.set_ack_timer(now);
        }
        let rate = self.delivery.finish(now, sampler, delivered, self.rtt.min_rtt());
        if let Some(segments) = rate.delivered {
            self.count_rate(segments, rate.interval);
        }
        let sample = AckSample {
            state: self.recovery.state,
            may_grow: self.may_grow(&ack),
            cwnd_limited: self.cwnd_limited(),
            acked: delivered,
            cum_acked: ack.cum_acked,
            lost: self.delivery.lost - prior_lost,
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            prior_in_flight,
            in_flight: self.board.in_flight(),
            una: self.board.una(),
            next: self.board.next(),
            delivered: u64::from(self.delivery.delivered),
            delivered_ce: u64::from(self.delivery.delivered_ce),
            total_lost: u64::from(self.delivery.lost),
            ece: ack.ece,
            esce: packet.flags.has(Flags::ESCE),
            app_limited: self.delivery.app_limited(),
            ack_delayed: self.maybe_delayed(&ack, &rate),
            rate,
        };
        self.steer(now, &ack, &sample);
    }

    /// An ACK while nothing is outstanding: only a D-SACK still means something.
    fn on_late_ack(&mut self, now: Time, packet: &TcpAck, mut ack: Ack) {
        self.process_dsack(packet, &mut ack);
        self.settle_probe(now, packet.next, &ack);
        if ack.dsack {
            self.on_dubious_ack(now, &mut ack, packet.next);
        }
    }

    /// Lets the control and proportional rate reduction set the window (Linux `tcp_cong_control`).
    fn steer(&mut self, now: Time, ack: &Ack, sample: &AckSample) {
        self.cc.on_ack(now, sample);
        self.consult();
        if self.in_reduction() {
            self.reduce(ack, sample);
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

    /// Whether the window limits the sending (Linux `tcp_is_cwnd_limited`).
    fn cwnd_limited(&self) -> bool {
        !self.profile.cwnd_validation
            || self.usage.limited
            || (self.in_slow_start() && self.cwnd < 2 * self.usage.max_packets_out)
    }

    /// The ECN echo of an ACK, by the feedback in use.
    fn congestion_echo(&mut self, packet: &TcpAck) -> bool {
        self.counters.esce_acks += u64::from(packet.flags.has(Flags::ESCE));
        let echo = match self.init.ecn {
            EcnMode::Off => false,
            EcnMode::Accurate | EcnMode::L4s => packet.ce_packets > self.peer_ce,
            _ => packet.flags.has(Flags::ECE),
        };
        self.counters.ece_acks += u64::from(echo);
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

    pub(super) fn update_peer_window(&mut self, packet: &TcpAck) {
        if packet.next >= self.board.una() {
            self.peer_window = match packet.window {
                OPEN_WINDOW => u64::MAX,
                window => u64::from(window),
            };
        }
    }

    fn process_dsack(&mut self, packet: &TcpAck, ack: &mut Ack) -> Option<SackBlock> {
        let block = *packet.sacks().first()?;
        if !packet.flags.has(Flags::DSACK) {
            return None;
        }
        ack.dsack = true;
        self.counters.spurious_retransmissions += u64::from(block.end - block.start);
        if self.recovery.probe_retransmitted && self.recovery.probe_end == Some(block.end) {
            ack.dsack_of_probe = true;
        } else {
            self.rack.on_dsack();
        }
        let marker = self.recovery.undo_marker.unwrap_or(u32::MAX);
        if block.end > marker {
            self.recovery.retransmission_was_needless(block.end - block.start);
        }
        Some(block)
    }

    fn process_sacks(&mut self, now: Time, packet: &TcpAck, ack: &mut Ack, sampler: &mut Sampler) {
        let mut blocks = packet.sacks();
        if let Some(block) = self.process_dsack(packet, ack) {
            blocks = &blocks[1..];
            if block.start >= self.board.una() && block.start < self.board.next() {
                self.board.clear_retransmission(block.start);
            }
        }
        let una = self.board.una().max(packet.next);
        for block in blocks {
            let start = block.start.max(una);
            let end = block.end.min(self.board.next());
            if start >= end {
                continue;
            }
            let mut from = start;
            while let Some(seq) = self.board.first_unsacked(from, end) {
                self.on_sacked(now, seq, end, ack, sampler);
                from = seq + 1;
            }
            self.board.close_block(start, end);
        }
    }

    /// A segment is SACKed for the first time (Linux `tcp_sacktag_one`).
    fn on_sacked(&mut self, now: Time, seq: u32, end: u32, ack: &mut Ack, sampler: &mut Sampler) {
        let prior_highest = self.board.highest_sacked();
        let segment = self.board.mark_sacked(seq, end);
        self.frontier.on_sacked(seq);
        self.count_for_rack(now, seq, &segment);
        if !segment.marks.has(Marks::EVER_RETRANSMITTED) {
            if seq + 1 < prior_highest {
                ack.reordered = Some(ack.reordered.map_or(seq, |low| low.min(seq)));
            }
            ack.original_delivered |= seq < self.recovery.high_seq;
            extend(&mut ack.sacked_sent, segment.snapshot.sent_at);
        }
        ack.sacked += 1;
        self.deliver(seq, &segment, sampler);
        self.board.mark_rate_sampled(seq);
    }

    #[inline]
    fn deliver(&mut self, seq: u32, segment: &Segment, sampler: &mut Sampler) {
        self.delivery.delivered += 1;
        if let Some(delivered) = segment.rate_candidate(seq) {
            sampler.on_delivered(&mut self.delivery, delivered);
        }
    }

    #[inline]
    fn count_for_rack(&mut self, now: Time, seq: u32, segment: &Segment) {
        let retransmitted = segment.marks.has(Marks::EVER_RETRANSMITTED);
        let sent = (segment.snapshot.sent_at, seq);
        self.rack.on_delivered(now, sent, retransmitted, self.rtt.min_rtt());
    }

    /// Takes the segments below `next` off the scoreboard (Linux `tcp_clean_rtx_queue`).
    fn process_cumulative(&mut self, now: Time, next: u32, ack: &mut Ack, sampler: &mut Sampler) {
        let prior_highest = self.board.highest_sacked();
        let next = next.min(self.board.next());
        while self.board.una() < next {
            let seq = self.board.una();
            let segment = self.board.pop_acked();
            ack.bytes += u64::from(segment.payload);
            let sacked = segment.marks.has(Marks::SACKED);
            self.frontier.on_acked(seq, sacked);
            if segment.marks.has(Marks::EVER_RETRANSMITTED) {
                ack.retransmission_acked |= segment.marks.has(Marks::RETRANSMITTED);
            } else if !sacked {
                extend(&mut ack.acked_sent, segment.snapshot.sent_at);
                if seq + 1 < prior_highest {
                    ack.reordered = Some(ack.reordered.map_or(seq, |low| low.min(seq)));
                }
                ack.original_delivered |= seq < self.recovery.high_seq;
            }
            if !sacked {
                self.count_for_rack(now, seq, &segment);
                self.deliver(seq, &segment, sampler);
            }
            ack.cum_acked += 1;
        }
        self.outstanding_bytes -= ack.bytes;
        self.app.on_acked(now, ack.bytes);
        self.recovery.timeouts = 0;
        ack.rearm = true;
    }

    /// RTT samples (Linux `tcp_ack_update_rtt`): the smoothed RTT sees the oldest segment sent
    /// once, delayed ACK included; controls and the minimum see the newest. Without such a segment
    /// the timestamp echo serves, at its resolution of a millisecond.
    fn take_rtt(&mut self, now: Time, ack: &Ack) -> Option<Span> {
        let acked = ack.acked_sent.filter(|_| !ack.retransmission_acked);
        let newest = ack.sacked_sent.or(acked).map(|(_, last)| now.since(last));
        let oldest = acked.or(ack.sacked_sent).map(|(first, _)| now.since(first));
        let smoothed = oldest.or_else(|| {
            let ticks = |time: Time| time.as_nanos() / 1_000_000;
            let elapsed = ticks(now).saturating_sub(ticks(self.last_echo)).max(1);
            (ack.cum_acked > 0 && self.last_echo > Time::ZERO).then(|| Span::from_millis(elapsed))
        })?;
        self.rtt.sample(smoothed, self.board.una(), self.board.next());
        self.counters.rtt_sum += smoothed;
        self.counters.rtt_count += 1;
        self.rtts.add(smoothed);
        let newest = newest.or(Some(smoothed));
        if let Some(rtt) = newest {
            self.rtt.sample_min(now, rtt);
        }
        newest
    }

    fn count_rate(&mut self, segments: u32, interval: Span) {
        if interval > Span::ZERO {
            let bits = f64::from(segments) * f64::from(self.init.mss) * 8.0;
            self.counters.delivery_rate = bits / interval.as_secs_f64();
            self.counters.delivery_rate_sum += self.counters.delivery_rate;
            self.counters.delivery_rate_count += 1;
        }
    }

    /// Reordering was seen (Linux `tcp_check_sack_reordering`): the degree grows to its extent.
    pub(super) fn on_reordering(&mut self, low: u32) {
        /// `tcp_max_reordering`.
        const MAX: u32 = 300;
        let extent = self.board.highest_sacked().saturating_sub(low);
        if extent > self.reordering {
            self.reordering = extent.min(MAX);
        }
        self.rack.on_reordering();
        self.recovery.reordering_seen = true;
    }

    /// Looks for losses by the profile's method (Linux `tcp_identify_packet_loss` and
    /// `tcp_update_scoreboard`). Returns how long to wait before looking again.
    pub(super) fn detect_losses(&mut self, now: Time) -> Option<Span> {
        let recovering = matches!(self.recovery.state, CaState::Recovery | CaState::Loss);
        let situation = rack::Situation {
            evident: recovering || self.board.sacked_out() >= self.reordering,
            min_rtt: self.rtt.min_rtt(),
            srtt: self.rtt.srtt(),
        };
        let before = self.board.retrans_out();
        let mut losses = Losses { now, delivery: &mut self.delivery, cc: &mut *self.cc };
        let board = &mut self.board;
        let wait = match self.profile.loss_detection {
            LossDetection::Rack => {
                self.rack.detect(now, board, situation, |board, seq| losses.mark(board, seq))
            }
            LossDetection::Fack | LossDetection::Sack => {
                let by_fack = self.profile.loss_detection == LossDetection::Fack;
                let mut mark = |board: &mut Scoreboard, seq| losses.mark(board, seq);
                if by_fack && !self.recovery.reordering_seen {
                    self.frontier.fack(board, self.reordering, &mut mark);
                } else {
                    self.frontier.sack(board, self.reordering, &mut mark);
                }
                if by_fack && recovering {
                    let sent = &mut self.retransmissions;
                    sent.detect(now, &mut self.rack, board, situation, mark);
                }
                None
            }
        };
        self.counters.lost = u64::from(self.delivery.lost);
        self.recovery.retransmission_lost |= self.board.retrans_out() < before;
        wait
    }

    /// Sets the rate of pacing, if this flow is paced.
    pub(super) fn update_pacing(&mut self) {
        if !self.paced() {
            self.pacer.set_rate(None);
            return;
        }
        self.pacer.set_rate(self.pacing_rate());
    }
}

/// Marks segments lost, counts them and tells the control.
pub(super) struct Losses<'a> {
    pub now: Time,
    pub delivery: &'a mut Delivery,
    pub cc: &'a mut dyn crate::cc::CongestionControl,
}

impl Losses<'_> {
    pub fn mark(&mut self, board: &mut Scoreboard, seq: u32) {
        let Segment { snapshot, marks, .. } = *board.segment(seq);
        board.mark_lost(seq);
        self.delivery.lost += 1;
        let lost = Lost {
            seq,
            tx_in_flight: snapshot.in_flight,
            prior_delivered: u64::from(snapshot.delivered),
            prior_lost: u64::from(snapshot.lost),
            total_lost: u64::from(self.delivery.lost),
            app_limited: marks.has(Marks::APP_LIMITED),
        };
        self.cc.on_packet_lost(self.now, &lost);
    }
}
