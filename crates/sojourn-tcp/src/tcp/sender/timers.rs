//! The sender's one transmission timer, as in Linux: retransmission timeout, tail loss probe
//! (RFC 8985 §7) or RACK's reordering timer, whichever was set last; and pacing, and the control's.

use super::ack::Ack;
use super::waits::{Probe, Timer, TimerKind};
use super::{Phase, Sender};
use crate::cc::{CaState, Event};
use crate::recovery::prr::Progress;
use crate::tcp::profile::TailProbe;
use crate::units::{Span, Time};

/// Least time of a probe or reordering timer, in ticks (`TCP_TIMEOUT_MIN`).
const MIN_TICKS: u64 = 2;

impl Sender {
    /// Sets the retransmission timer to a full timeout from now.
    pub(super) fn start_rto(&mut self, now: Time) {
        self.set_timer(now, TimerKind::Retransmission, self.rtt.rto());
    }

    fn set_timer(&mut self, now: Time, kind: TimerKind, wait: Span) {
        self.timer = Some(Timer { kind, since: now, wait });
    }

    /// Sets the timer as much later, in whole ticks, as pacing holds the next segment back (Linux
    /// `tcp_pacing_delay`).
    fn set_paced_timer(&mut self, now: Time, kind: TimerKind, wait: Span) {
        let (held, tick) = (self.pacer.next().since(now), self.profile.tick);
        let delays = self.profile.timer_wheel && self.profile.internal_pacing && held >= tick;
        let more = if delays { tick * (held.as_nanos() / tick.as_nanos()) } else { Span::ZERO };
        self.set_timer(now, kind, wait + more);
    }

    /// Until the timeout of the first outstanding segment is over, at least a microsecond.
    fn head_timeout(&self, now: Time) -> Span {
        let sent_at = self.board.segment(self.board.una()).snapshot.sent_at;
        self.rtt.rto().saturating_sub(now.micros_since(sent_at)).max(Span::from_micros(1))
    }

    /// Linux `tcp_rearm_rto`: a probe or reordering timer gives way to the head's own timeout.
    pub(super) fn rearm_rto(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            self.timer = None;
            return;
        }
        let short = self.timer.is_some_and(|timer| timer.kind != TimerKind::Retransmission);
        let wait = if short { self.head_timeout(now) } else { self.rtt.rto() };
        self.set_paced_timer(now, TimerKind::Retransmission, wait);
    }

    /// The first segment was retransmitted: a full timeout, from when pacing lets the next one go.
    pub(super) fn restart_rto(&mut self, now: Time) {
        self.set_paced_timer(now, TimerKind::Retransmission, self.rtt.rto());
    }

    /// After an ACK of new data: a probe if the state allows it, else the timeout.
    pub(super) fn set_ack_timer(&mut self, now: Time) {
        if !self.schedule_probe(now, true) {
            self.rearm_rto(now);
        }
    }

    /// Sets the tail loss probe two RTTs ahead (more with one segment out, for a delayed ACK), but
    /// not past the timeout. `fresh`: the timeout would be counted from now.
    #[inline(always)] // once per ACK
    pub(super) fn schedule_probe(&mut self, now: Time, fresh: bool) -> bool {
        let Some(rule) = self.profile.tail_probe else { return false };
        let out = self.board.packets_out();
        if out == 0 || !self.may_probe(rule) {
            return false;
        }
        let srtt = self.rtt.srtt();
        let wait = match (rule, out) {
            _ if srtt == Span::ZERO => self.profile.rto_initial,
            (TailProbe::Recent, 1) => srtt * 2 + self.profile.rto_min,
            (TailProbe::Recent, _) => srtt * 2 + self.profile.tick * MIN_TICKS,
            (TailProbe::Early, 1) => {
                (srtt * 2).max(Span::from_nanos(srtt.as_nanos() * 3 / 2) + self.profile.rto_min)
            }
            (TailProbe::Early, _) => (srtt * 2).max(Span::from_millis(10)),
        };
        let limit = if fresh { self.rtt.rto() } else { self.head_timeout(now) };
        self.set_paced_timer(now, TimerKind::Probe, wait.min(limit));
        true
    }

    /// Whether the state is one in which a probe is of use.
    fn may_probe(&self, rule: TailProbe) -> bool {
        match rule {
            TailProbe::Recent => matches!(self.recovery.state, CaState::Open | CaState::Cwr),
            TailProbe::Early => self.recovery.state == CaState::Open && self.is_held(),
        }
    }

    /// Whether the window or the data permits no more.
    #[inline(never)] // in old stacks alone
    fn is_held(&self) -> bool {
        self.board.in_flight() >= self.cwnd || !self.has_new_data()
    }

    /// The receiver reneged on SACKs: sets an early timeout (Linux `tcp_check_sack_reneging`).
    pub(super) fn hurry_timeout(&mut self, now: Time) {
        let wait = (self.rtt.srtt() / 2).max(Span::from_millis(10));
        self.set_timer(now, TimerKind::Retransmission, wait);
    }

    /// Sets RACK's timer: a segment becomes overdue then.
    pub(super) fn arm_reordering(&mut self, now: Time, wait: Span) {
        let wait = (wait + self.profile.tick * MIN_TICKS).min(self.rtt.rto());
        self.set_timer(now, TimerKind::Reordering, wait);
    }

    pub(super) fn on_timers(&mut self, now: Time) {
        if self.burst.blocked_until.is_some_and(|at| at <= now) {
            self.burst.blocked_until = None;
            self.burst.begin();
        }
        if self.cc.next_timer().is_some_and(|at| at <= now) {
            self.cc.on_timer(now);
            self.consult();
            self.update_pacing();
            self.burst.begin();
        }
        let Some(timer) = self.timer.filter(|timer| timer.at(self.profile) <= now) else { return };
        self.burst.begin();
        match timer.kind {
            _ if self.phase == Phase::SynSent => self.on_syn_timeout(),
            TimerKind::Retransmission => self.on_rto(now),
            TimerKind::Probe => self.on_probe_timer(now),
            TimerKind::Reordering => self.on_reordering_timer(now),
            TimerKind::Persist => self.on_persist_timer(now),
        }
    }

    fn on_syn_timeout(&mut self) {
        if self.syns > self.profile.syn_linear_timeouts {
            self.rtt.back_off();
        }
        self.timer = None;
        self.phase = Phase::SynDue;
    }

    fn on_rto(&mut self, now: Time) {
        if self.board.packets_out() == 0 {
            self.timer = None;
            return;
        }
        self.counters.recovery.rtos += 1;
        self.enter_loss(now);
        self.recovery.timeouts += 1;
        self.probe = Probe::Head;
        self.rtt.back_off();
        self.start_rto(now);
    }

    /// One probe at a time; while one is out, the timeout is next.
    fn on_probe_timer(&mut self, now: Time) {
        if self.recovery.probe_end.is_some() || self.board.packets_out() == 0 {
            self.rearm_rto(now);
        } else {
            self.probe = Probe::Tail;
        }
    }

    fn on_reordering_timer(&mut self, now: Time) {
        let prior = self.board.in_flight();
        self.rack.look_again();
        self.detect_losses(now);
        if self.board.in_flight() != prior && self.recovery.state != CaState::Recovery {
            self.enter_recovery(now, false);
            self.force_first_retransmission();
        }
        self.rearm_rto(now);
    }

    /// The receiver's window is closed: sets the persist timer (Linux `tcp_probe_timer`).
    pub(super) fn watch_closed_window(&mut self, now: Time) {
        if self.board.packets_out() == 0 && self.timer.is_none() {
            self.set_timer(now, TimerKind::Persist, self.rtt.rto());
        }
    }

    fn on_persist_timer(&mut self, now: Time) {
        self.probe = Probe::Window;
        self.rtt.back_off();
        self.set_timer(now, TimerKind::Persist, self.rtt.rto());
    }

    /// An ACK arrived: the window has opened, or the persist timer restarts (Linux
    /// `tcp_ack_probe`).
    pub(super) fn judge_closed_window(&mut self, now: Time) {
        if !self.timer.is_some_and(|timer| timer.kind == TimerKind::Persist) {
            return;
        }
        if self.has_new_data() {
            self.timer = None;
            self.rtt.end_backoff();
        } else {
            self.set_timer(now, TimerKind::Persist, self.rtt.rto());
        }
    }

    /// Recovery that begins without an ACK still sends its first retransmission.
    fn force_first_retransmission(&mut self) {
        if self.decision.owns_recovery {
            self.consult();
            return;
        }
        let progress = Progress {
            delivered: 1,
            lost: 0,
            advanced: false,
            retransmission_delivered: false,
            retransmission_lost: false,
        };
        let in_flight = self.board.in_flight();
        let (bound, ssthresh) = (self.profile.prr, self.decision.ssthresh);
        if let Some(cwnd) = self.prr.on_ack(bound, ssthresh, in_flight, progress) {
            self.cwnd = cwnd;
        }
    }

    /// Processes a tail loss probe that `next` may acknowledge (Linux `tcp_process_tlp_ack`): a
    /// probe that repaired a loss costs one reduction.
    #[inline]
    pub(super) fn settle_probe(&mut self, now: Time, next: u32, ack: &Ack) {
        if let Some(end) = self.recovery.probe_end.filter(|&end| next >= end) {
            self.settle_probe_before(now, end, next, ack);
        }
    }

    #[cold]
    fn settle_probe_before(&mut self, now: Time, end: u32, next: u32, ack: &Ack) {
        let duplicate = !ack.advanced && ack.sacked == 0 && !ack.dsack && !ack.window_update;
        if !self.recovery.probe_retransmitted || ack.dsack_of_probe || duplicate {
            self.recovery.probe_end = None;
        } else if next > end {
            self.begin_reduction(now, Event::Loss { in_flight: self.board.in_flight() });
            self.set_state(now, CaState::Cwr);
            self.end_reduction(now);
            self.keep_open(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::endpoint::Endpoint as _;
    use crate::spec::Pacing;
    use crate::tcp::TcpInit;
    use crate::tcp::tests::{Rig, init};
    use crate::units::{Rate, Span};

    /// At 1 Mbit/s the tenth segment holds the next one back by 11.584 ms.
    #[test]
    fn a_probe_waits_as_much_longer_as_pacing_holds_the_next_segment_back() {
        for (pacing, ms) in [(Pacing::Off, 202), (Pacing::AtMost(Rate::from_bps(1_000_000)), 213)] {
            let init = TcpInit { pacing: Some(pacing), ..init("linux-6") };
            let mut rig = Rig::new(init, "reno", 100);
            rig.start(u64::MAX);
            rig.run(101.0);
            let wait = rig.sender.timer.map(|timer| timer.wait);
            assert_eq!(wait, Some(Span::from_millis(ms)), "two round trips and two ticks");
        }
    }

    #[test]
    fn what_arrives_when_pacing_lets_go_comes_before_its_timer() {
        let pacing = Some(Pacing::AtMost(Rate::from_bps(1_000_000)));
        let mut rig = Rig::new(TcpInit { pacing, ..init("linux-6") }, "reno", 100);
        rig.start(u64::MAX);
        rig.run(101.0);
        let next = rig.sender.pacer.next();
        assert_eq!(rig.sender.pacer.blocked_until(next), None);
        assert!(rig.sender.next_timeout().is_some_and(|at| at > next));
    }
}
