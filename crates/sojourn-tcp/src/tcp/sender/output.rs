//! Output: choice and sending of the next segment (Linux `tcp_xmit_retransmit_queue`,
//! `tcp_write_xmit`).

use super::limits::Limit;
use super::small_queue::Host;
use super::waits::{Probe, TimerKind};
use super::{Phase, Sender};
use crate::cc::{Event, Sent, Step};
use crate::packet::{Flags, Packet};
use crate::tcp::scoreboard::{Marks, Segment};
use crate::units::Time;

/// A stretch of sending between two events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// An event occurred since the last stretch was closed.
    open: bool,
    /// New segments sent in this stretch.
    pub sent: u32,
    /// What is still in the host.
    pub host: Host,
    /// New segments left of the large one that is being sent.
    pub batch: u32,
    /// Whether the segment being sent belongs to the large one of the segment before.
    pub joined: bool,
    /// The application is writing buffer by buffer, each of which is sent at once.
    pub written: bool,
    /// It has written so much that all goes that can before it goes on.
    pub forced: bool,
    /// The application is filling the send buffer: what can be is sent, however little (`TCP_NAGLE_PUSH`).
    pub pushed: bool,
    /// The congestion window allows some segments, which wait for more.
    pub waiting: bool,
    /// The first segment was retransmitted, which restarts the timeout when all that is are.
    restarts_timeout: bool,
    /// Pacing forbids sending until then.
    pub blocked_until: Option<Time>,
}

impl Burst {
    pub(super) fn begin(&mut self) {
        self.open = true;
    }

    /// Whether the segment being sent is the last of a large one; `more`: there is new data.
    pub(super) fn ends_several(&self, more: bool) -> bool {
        self.joined && !(self.batch > 0 && more)
    }
}

/// The next segment to send. Decided before its packet is made, which is then made in place: a
/// packet that passes through several `Option`s is copied at each of them.
enum Next {
    /// A new one with this payload.
    New(u32),
    /// A retransmission of this segment.
    Again(u32),
    Nothing,
}

impl Sender {
    /// The next packet to send, if any.
    pub(super) fn next_packet(&mut self, now: Time) -> Option<Packet> {
        match self.phase {
            Phase::Established => {}
            Phase::SynDue => return Some(self.syn(now)),
            Phase::Closed | Phase::SynSent => return None,
        }
        if !self.burst.open {
            return None;
        }
        if self.probe != Probe::None {
            return self.send_probe(now);
        }
        loop {
            match self.next_segment(now) {
                Next::New(payload) => return Some(self.new_segment(now, payload)),
                Next::Again(seq) => return Some(self.retransmit(now, seq)),
                Next::Nothing if self.gets_more(now) => {}
                Next::Nothing => break,
            }
        }
        self.end_burst(now);
        None
    }

    /// The segment that may be sent now.
    #[inline]
    fn next_segment(&mut self, now: Time) -> Next {
        if self.is_held_back() {
            return Next::Nothing;
        }
        self.burst.blocked_until = self.pacer.blocked_until(now);
        if self.burst.blocked_until.is_none() && self.board.in_flight() < self.cwnd {
            return self.choose(now);
        }
        Next::Nothing
    }

    /// Kept out of the path of every segment.
    #[cold]
    fn send_probe(&mut self, now: Time) -> Option<Packet> {
        match std::mem::take(&mut self.probe) {
            Probe::None => None,
            Probe::Handshake => Some(self.bare_ack(now)),
            Probe::Head => self.send_head(now),
            Probe::Tail => self.send_tail_probe(now),
            Probe::Window => Some(self.window_probe(now)),
        }
    }

    /// Bookkeeping when nothing more can be sent now.
    fn end_burst(&mut self, now: Time) {
        let limited = self.burst.waiting || self.board.in_flight() >= self.cwnd;
        if self.burst.sent > 0 || limited {
            self.validate_window(now, limited);
        }
        if self.burst.sent > 0 {
            self.schedule_probe(now, false);
        }
        let limit = self.note_limit(now, limited);
        if limit == Limit::Receiver {
            self.watch_closed_window(now);
        }
        // Linux `tcp_rate_check_app_limited`, called when the application writes, does not
        // distinguish between an application and a send buffer that hold data back. Where the
        // buffer grows, it is asked when the application is woken (`gets_more`).
        let lacks_data = match limit {
            Limit::Application => true,
            Limit::SendBuffer => !self.app.grows(),
            _ => false,
        };
        if lacks_data && self.burst.blocked_until.is_none() {
            self.delivery.set_app_limited(self.board.in_flight());
        }
        self.burst = Burst { blocked_until: self.burst.blocked_until, ..Burst::default() };
    }

    /// The next segment that the congestion window permits.
    #[inline]
    fn choose(&mut self, now: Time) -> Next {
        let lost = self.board.lost_out() > 0;
        let new_data_first = self.recovery.new_data_first;
        if lost
            && !new_data_first
            && let Some(seq) = self.due_retransmission()
        {
            return Next::Again(seq);
        }
        if let Some(payload) = self.takes_from_batch(now) {
            return Next::New(payload);
        }
        if lost && new_data_first {
            return self.due_retransmission().map_or(Next::Nothing, Next::Again);
        }
        Next::Nothing
    }

    /// There must be new data.
    #[inline(always)] // most of what is sent
    fn new_segment(&mut self, now: Time, payload: u32) -> Packet {
        let idle = self.board.packets_out() == 0;
        if idle && (self.sent > 0 || self.accepted) {
            self.restart_after_idle(now);
        }
        let in_flight = self.board.in_flight() + 1;
        if in_flight == 1 {
            self.start_sending(now);
        }
        let end = self.board.next() + 1;
        let written_at = self.app.cut(now, payload, end, self.burst.joined);
        let snapshot = self.delivery.snapshot(now, idle, in_flight);
        let limited = self.delivery.app_limited();
        let seq = self.board.push(payload as u16, written_at, snapshot, limited);
        self.outstanding_bytes += u64::from(payload);
        if payload < self.init.mss {
            self.small_end = seq + 1;
        }
        self.burst.sent += 1;
        let probing = self.timer.is_some_and(|timer| timer.kind == TimerKind::Probe);
        self.account(now, seq, in_flight, payload, None);
        if idle || probing {
            self.rearm_rto(now);
        }
        let place = if self.init.whole_bursts { self.place_in_burst() } else { Flags::default() };
        self.data_packet(now, seq, payload, written_at, place, false)
    }

    #[inline(never)] // only when nothing is in flight
    fn start_sending(&mut self, now: Time) {
        self.show(now, &Step::Callback);
        self.cc.on_congestion(now, &Event::TxStart { idle: now.since(self.last_sent_at) });
        self.consult();
    }

    /// What tells of a new segment which large one it belongs to.
    #[inline(never)] // few flows have whole bursts
    fn place_in_burst(&self) -> Flags {
        let more = self.burst.batch > 0 && self.next_payload(true) > 0;
        Flags::default().with(Flags::MORE, more).with(Flags::JOINED, self.burst.joined)
    }

    /// The first lost segment that waits to be retransmitted.
    #[inline(never)] // only while something is lost
    fn due_retransmission(&mut self) -> Option<u32> {
        let seq = self.board.next_to_retransmit()?;
        let restarts = self.profile.patient || self.timer.is_none();
        if restarts
            && seq == self.board.una()
            && !self.timer.is_some_and(|t| t.kind == TimerKind::Reordering)
        {
            self.burst.restarts_timeout = true;
        }
        Some(seq)
    }

    fn retransmit(&mut self, now: Time, seq: u32) -> Packet {
        let in_flight = self.board.in_flight() + 1;
        let burst = self.sent_again_together(seq);
        let snapshot = self.delivery.snapshot(now, false, in_flight);
        self.board.mark_retransmitted(seq, snapshot, self.delivery.app_limited());
        self.recovery.on_retransmission(now);
        self.counters.recovery.retransmissions += 1;
        let Segment { payload, written_at, .. } = *self.board.segment(seq);
        self.account(now, seq, in_flight, u32::from(payload), Some(burst));
        if self.burst.restarts_timeout {
            self.restart_rto(now);
        }
        self.data_packet(now, seq, u32::from(payload), written_at, Flags::default(), true)
    }

    /// Updates counters, pacing and the control for a segment being sent, `again` as one of this number.
    #[inline(always)] // once per segment
    fn account(&mut self, now: Time, seq: u32, in_flight: u32, payload: u32, again: Option<u32>) {
        if self.in_reduction() {
            self.prr.on_sent(1);
        }
        if self.pacer.rate().is_some() {
            let one = if self.init.offload { self.burst.batch + 1 } else { 1 };
            let burst = again.unwrap_or(one);
            self.pacer.on_sent(now, payload, burst, self.counters.sent.sent_packets);
        }
        self.counters.sent.sent_packets += 1;
        self.counters.sent.sent_bytes += u64::from(payload);
        self.count_data(now);
        self.last_sent_at = now;
        self.cc.on_sent(now, &Sent { seq, in_flight, retransmission: again.is_some() });
    }

    /// After a timeout the first segment is sent whatever the window is.
    fn send_head(&mut self, now: Time) -> Option<Packet> {
        if self.board.packets_out() == 0 {
            return None;
        }
        let head = self.board.una();
        Some(self.retransmit(now, head))
    }

    /// Tail loss probe: new data if there is some, else the last segment again.
    fn send_tail_probe(&mut self, now: Time) -> Option<Packet> {
        let last = self.board.next() - 1;
        let new = self.has_new_data();
        self.recovery.probe_retransmitted = !new;
        let marks = self.board.segment(last).marks;
        let sacked = marks.has(Marks::SACKED);
        let packet = if new {
            Some(self.new_segment(now, self.next_payload(self.burst.joined)))
        } else {
            (!sacked).then(|| self.retransmit(now, last))
        };
        if packet.is_some() {
            self.counters.recovery.probes += 1;
            let again = u64::from(!new && !marks.has(Marks::LOST));
            self.counters.recovery.probe_retransmissions += again;
            self.recovery.probe_end = Some(self.board.next());
            // The timeout after a probe counts from the probe.
            self.timer = None;
        }
        // The probe itself must not schedule another.
        self.burst.sent = 0;
        self.rearm_rto(now);
        packet
    }
}
