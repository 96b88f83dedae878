//! Large segments (TSO, GSO), and when sending waits for more data for one (Linux
//! `tcp_tso_autosize`, `tcp_tso_should_defer`, `tcp_cwnd_test`).
//!
//! A stack that hands its device large segments (TSO, GSO) aims at about a millisecond's worth in
//! each, at least two segments. If the window allows less, it waits for the next ACK, unless that
//! is a third of the window, nothing was sent lately, the next ACK is far away, or losses are being
//! repaired. A sender that is not paced therefore sends bursts: 7 segments at 80 Mbit/s, 4 at 50
//! Mbit/s, what one ACK allows below 10 Mbit/s.
//!
//! What a large segment has at most follows from the rate, the window's own of which holds from one ACK to the
//! next whatever is sent.
//!
//! Deviation: only a send buffer that grows is cut into 64 kB buffers, at the ends of which bursts are shorter.

use super::Sender;
use crate::cc::CaState;
use crate::recovery::pacing;
use crate::spec::Pacing;
use crate::tcp::profile::Deferral;
use crate::units::{Rate, Span, Time};

/// This share of the window is sent without waiting for more (`tcp_tso_win_divisor`).
const WINDOW_SHARE: u64 = 3;
/// Sending waits only if something was sent this recently, or the next ACK comes this soon.
const SOON: Span = Span::from_millis(1);

/// Data that the windows permit to send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Batch {
    /// This number of new segments as one.
    Send(u32),
    /// Nothing until the next ACK; whether the congestion window is the reason.
    Wait { cwnd_limited: bool },
}

/// What the stack derives from the window, the round trip and what is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowPace {
    /// None before a round trip is known.
    rate: Option<Rate>,
    /// Segments of a large one.
    burst: u32,
}

impl WindowPace {
    /// Before a round trip is known.
    pub(super) fn unknown(mss: u32) -> Self {
        WindowPace { rate: None, burst: pacing::burst_segments(None, Span::MAX, mss) }
    }
}

impl Sender {
    /// Payload of a new segment that is sent as part of a large one, if one is.
    #[inline(always)] // once per segment
    pub(super) fn takes_from_batch(&mut self, now: Time) -> Option<u32> {
        self.burst.joined = self.burst.batch > 0;
        if !self.burst.joined && !self.begins_batch(now) {
            return None;
        }
        let payload = self.next_payload(self.burst.joined);
        if payload == 0 || self.waits_for_more() {
            self.end_batch();
            return None;
        }
        self.burst.batch -= 1;
        Some(payload)
    }

    /// Whether the next large segment may be sent now.
    #[inline(never)]
    fn begins_batch(&mut self, now: Time) -> bool {
        self.make_room(now);
        self.pacer.end_burst();
        match self.next_allowed_batch(now) {
            Batch::Send(segments) => {
                self.burst.host.take(segments, self.init.mss);
                self.burst.batch = segments;
            }
            Batch::Wait { cwnd_limited } => self.burst.waiting = cwnd_limited,
        }
        self.burst.batch > 0
    }

    /// The next large segment. To be asked when the congestion window is not full.
    fn next_batch(&mut self, now: Time) -> Batch {
        let room = self.cwnd - self.board.in_flight();
        if !self.init.offload {
            return Batch::Send(room);
        }
        let mss = u64::from(self.init.mss);
        let most = self.most_at_once(room);
        self.fill_head(most);
        let window = u64::from(room) * mss;
        let peer = self.peer_window.saturating_sub(self.outstanding_bytes);
        let allowed = window.min(peer);
        let share = self.peer_window.min(u64::from(self.cwnd) * mss) / WINDOW_SHARE;
        let may_wait = !self.burst.written
            && allowed < share
            && self.app.available(2 * self.init.mss) > self.init.mss
            && !self.app.ends_within(allowed)
            && !self.app.ends_buffer(allowed)
            && self.may_wait(now);
        if !may_wait && most == 1 {
            return Batch::Send(1);
        }
        let largest = self.batch_size();
        if may_wait && allowed < u64::from(largest) * mss {
            return Batch::Wait { cwnd_limited: window < peer };
        }
        Batch::Send(largest.min(most))
    }

    /// The same, after the card was emptied if that is necessary.
    fn next_allowed_batch(&mut self, now: Time) -> Batch {
        match self.next_batch(now) {
            Batch::Send(segments) if self.waits_for_card(segments) => {
                self.goes_idle(now, segments);
                self.next_batch(now)
            }
            batch => batch,
        }
    }

    /// Segments of a large one at most, when the congestion window has `room`.
    fn most_at_once(&self, room: u32) -> u32 {
        room.min((self.cwnd / 2).max(1))
    }

    /// Fills the buffer up that is sent from, before it is known whether it may be sent.
    #[inline]
    fn fill_head(&mut self, most: u32) {
        if self.app.grows() {
            self.fill_growing_head(most);
        }
    }

    #[inline(never)]
    fn fill_growing_head(&mut self, most: u32) {
        let bytes = u64::from(most.min(self.batch_size()) * self.init.mss);
        self.app.memory().into_iter().for_each(|memory| memory.fill_head(bytes));
    }

    /// A large segment has ended: what is sent later is another one, which is looked at now.
    fn end_batch(&mut self) {
        self.burst.batch = 0;
        let room = self.cwnd.saturating_sub(self.board.in_flight());
        self.fill_head(self.most_at_once(room));
    }

    /// Whether the little that the window allows may wait for more.
    fn may_wait(&self, now: Time) -> bool {
        let Some(rule) = self.profile.deferral else { return false };
        if matches!(self.recovery.state, CaState::Recovery | CaState::Loss)
            || self.board.packets_out() == 0
        {
            return false;
        }
        let sent_at = self.last_sent_at.max(self.pacer.next());
        let ticks = |time: Time| time.as_nanos() / self.profile.tick.as_nanos();
        let head_age = now.since(self.board.segment(self.board.una()).snapshot.sent_at);
        let srtt = self.rtt.srtt();
        match rule {
            Deferral::SameTick => ticks(now) <= ticks(sent_at) && head_age >= srtt / 2,
            Deferral::Recent => now.since(sent_at) <= SOON && head_age >= srtt / 2,
            Deferral::AckNear => {
                now.since(sent_at) <= SOON && srtt <= head_age + SOON.min(srtt / 2)
            }
        }
    }

    /// Whether data and the receiver's window permit a new segment.
    pub(super) fn has_new_data(&self) -> bool {
        self.next_payload(false) > 0
    }

    /// Payload of the next new segment that data and the receiver's window permit, 0 if there is none.
    /// A large segment (`joined`: its first one was sent) is cut where the window ends, also within a
    /// segment, unless an earlier small one is not acknowledged and the application is not writing (Linux
    /// `tcp_mss_split_point`).
    #[inline]
    pub(super) fn next_payload(&self, joined: bool) -> u32 {
        let payload = self.app.available(self.init.mss);
        let room = self.peer_window.saturating_sub(self.outstanding_bytes);
        if u64::from(payload) <= room {
            return payload;
        }
        let waits = self.init.nagle && self.small_end > self.board.una() && !self.burst.pushed;
        let cuts = joined && self.init.offload && !waits;
        if cuts { room as u32 } else { 0 }
    }

    /// Whether the next segment is small and waits for more, or for the ACK of an earlier small one
    /// (Linux `tcp_nagle_test`, `tcp_minshall_check`). The last one of all does not, nor the last that a
    /// full send buffer has; if that grows, when it has just been filled (`tcp_push`: `TCP_NAGLE_PUSH`).
    pub(super) fn waits_for_more(&self) -> bool {
        self.init.nagle && self.small_end > self.board.una() && self.waits_to_fill()
    }

    #[inline(never)] // few segments are small
    fn waits_to_fill(&self) -> bool {
        !self.app.ends_within(u64::from(self.init.mss))
            && (!self.app.is_full() || (self.app.grows() && !self.burst.pushed))
            && (1..self.init.mss).contains(&self.app.available(self.init.mss))
    }

    /// Segments that leave back to back as one.
    #[inline(always)] // once per ACK
    pub(super) fn batch_size(&self) -> u32 {
        if !self.init.offload {
            return 1;
        }
        self.decision.burst.unwrap_or_else(|| match self.decision.pacing_rate {
            Some(_) => self.burst_at(self.pacing_rate()),
            None => self.window_pace.burst,
        })
    }

    fn burst_at(&self, rate: Option<Rate>) -> u32 {
        let short = if self.profile.long_bursts_nearby { self.rtt.min_rtt() } else { Span::MAX };
        pacing::burst_segments(rate, short, self.init.mss)
    }

    /// Whether segments are paced: as the flow says, else if the control asks for it, as far as the
    /// stack lets it.
    pub(super) fn paced(&self) -> bool {
        let asked = self.decision.pacing_rate.is_some() && self.profile.internal_pacing;
        self.init.pacing.map_or(asked, Pacing::is_on)
    }

    /// The rate at which the stack would pace: the control's, or its own for window-based controls;
    /// no higher than the flow allows (Linux `sk_max_pacing_rate`).
    #[inline(always)] // once per ACK
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.at_most(self.decision.pacing_rate.or(self.window_pace.rate))
    }

    fn at_most(&self, rate: Option<Rate>) -> Option<Rate> {
        match self.init.pacing {
            Some(Pacing::AtMost(most)) => Some(rate.map_or(most, |rate| rate.min(most))),
            _ => rate,
        }
    }

    /// Sets the stack's own rate, which holds until the next ACK whatever is sent (Linux
    /// `tcp_update_pacing_rate`).
    pub(super) fn update_window_pace(&mut self) {
        if self.decision.pacing_rate.is_some() {
            return;
        }
        let (mut cwnd, mut out) = (self.cwnd, self.board.packets_out());
        // Linux computes the rate when the SYN-ACK comes, before it sets the window that the
        // route gives, and again with the first ACK of data (`tcp_rcv_synsent_state_process`);
        // an end that accepts a connection sets the window first.
        let usual = self.profile.initial_window;
        let early = !self.accepted && self.app.acked() == 0;
        if early && self.init.initial_window != usual {
            (cwnd, out) = (usual, 0);
        }
        let ssthresh = self.decision.ssthresh;
        let rate = pacing::window_rate(cwnd, ssthresh, out, self.init.mss, self.rtt.srtt());
        let burst = self.burst_at(self.at_most(rate));
        self.window_pace = WindowPace { rate, burst };
    }
}
