//! When what has arrived is acknowledged (Linux `__tcp_ack_snd_check`, and `__tcp_cleanup_rbuf` once
//! the application has read it).

use super::Receiver;
use super::due::Due;
use crate::packet::{Flags, Packet, TcpSegment};
use crate::tcp::autotune::Choice;
use crate::tcp::reassembly::InOrder;
use crate::units::{Span, Time};

/// SACKs sent at once after a hole appears (`TCP_FASTRETRANS_THRESH`).
const SACKS_AT_ONCE: u32 = 3;
/// SACKs held back at most (`tcp_comp_sack_nr`).
const COMPRESSED_MAX: u32 = 44;
/// Longest spacing of compressed SACKs (`tcp_comp_sack_delay_ns`).
const COMPRESSION_MAX: Span = Span::from_millis(1);
/// Segments that GRO merges at most (64 kB).
const GRO_SEGMENTS: u32 = 45;

impl Receiver {
    /// After a segment in order; `choice` is the window before the application reads.
    pub(super) fn schedule_in_order(
        &mut self,
        now: Time,
        segment: &TcpSegment,
        released: InOrder,
        choice: Choice,
    ) {
        let flags = segment.flags;
        let hole_filled = released.segments > 1 || !self.queue.is_contiguous();
        // A small one counts as the end of a write, too (`tcp_measure_rcv_mss`).
        let ends = flags.has(Flags::PSH) || u32::from(segment.payload) < self.init.mss;
        let pushed = self.init.profile.acks_pushed && ends;
        if let Some(unread) = &mut self.unread {
            unread.pushed |= pushed;
        }
        let several = self.unacked >= self.init.ack_every;
        if several {
            self.heed_scarcity(choice);
        }
        // Linux `__tcp_cleanup_rbuf`: nothing is left in the buffer.
        let read = pushed && self.unread.is_none();
        let due = several || self.quick > 0 || read;
        let merging =
            self.init.gro.is_some() && self.unacked < GRO_SEGMENTS && !hole_filled && !pushed;
        let rest = flags.has(Flags::MORE);
        if !rest && (hole_filled || (due && !merging)) {
            let widens = several && self.offered.admits(choice);
            self.due_at_once(now, hole_filled, widens, choice);
        } else {
            let merged = self.init.gro.filter(|_| due && !rest);
            let at = merged.map_or_else(|| self.delay(now), |wait| now + wait);
            self.due = self.due.no_later_than(at);
        }
    }

    /// The ACK goes before the application reads, or after that; what leaves a hole counts as
    /// an ACK above it, unless it acknowledges several segments with a window that `widens`.
    fn due_at_once(&mut self, now: Time, hole_filled: bool, widens: bool, choice: Choice) {
        let contiguous = self.queue.is_contiguous();
        let soon = widens || self.quick > 0 || (hole_filled && contiguous);
        if self.unread.is_none() && (soon || !contiguous) {
            self.offered.precede_reading(choice);
        }
        if !soon && contiguous {
            self.delay(now);
        } else if !soon && self.compressed < COMPRESSED_MAX {
            self.hole = self.queue.next();
            self.sacks_at_hole = 1;
        }
        self.due = Due::Now;
    }

    /// After a segment above a hole with these flags.
    pub(super) fn schedule_above_hole(&mut self, now: Time, flags: Flags) {
        let slack = self.init.profile.sack_compression;
        let compress = slack.is_some()
            && self.quick == 0
            && self.unacked < self.init.ack_every
            && self.compressed < COMPRESSED_MAX;
        if self.hole != self.queue.next() {
            self.hole = self.queue.next();
            self.sacks_at_hole = 0;
        }
        if !compress || self.sacks_at_hole < SACKS_AT_ONCE {
            self.sacks_at_hole += u32::from(compress);
            self.due = match flags.has(Flags::MORE) {
                true => self.due.no_later_than(self.delayed(now)),
                false => Due::Now,
            };
            return;
        }
        self.compressed += 1;
        if self.compressed_at.is_none() {
            let at = now + self.spacing_of_sacks() + slack.unwrap_or_default();
            // Linux `tcp_delack_timer_handler` sends what is held back, whatever the timer was set for.
            let early = self.init.profile.flushes_sacks && self.delay_ends > now;
            self.compressed_at = Some(if early { at.min(self.delay_ends) } else { at });
        }
    }

    /// The timestamp of an ACK for which a timer fires now: the timer of held SACKs does not look at the
    /// clock, as that of delayed ACKs does (`tcp_compressed_ack_kick`, `tcp_delack_timer_handler`).
    pub(super) fn stale_stamp(&self, now: Time) -> Option<Time> {
        let held = self.init.profile.tunes_exactly
            && self.compressed_at.is_some_and(|at| at <= now)
            && self.delay_ends != now;
        self.last_arrival.filter(|_| held)
    }

    /// The ACK that is due, after which the application reads.
    #[inline(always)] // once per ACK
    pub(super) fn due_acknowledgment(&mut self, now: Time) -> Packet {
        let precedes = self.offered.precedes_reading();
        let ack = self.acknowledgment(now, self.echo.flags());
        if precedes && self.reading_opens() {
            self.due = Due::Now;
        }
        ack
    }

    /// When the timer of a delayed ACK fires.
    fn delayed(&self, now: Time) -> Time {
        let wait = self.patience.wait(self.handshake_rtt.unwrap_or_default());
        self.init.profile.fires(now, wait)
    }

    /// Sets that timer, which remains set when the ACK is sent for another reason
    /// (`tcp_send_delayed_ack`, `inet_csk_clear_xmit_timer`).
    fn delay(&mut self, now: Time) -> Time {
        let at = self.delayed(now);
        self.delay_ends = match self.due {
            Due::At(earlier) => earlier.min(at),
            Due::No | Due::Now | Due::SynAck => at,
        };
        at
    }

    /// 5 % of the RTT, by timestamps or the connection's own where that is less: of an end that only
    /// receives, the handshake's (`__tcp_ack_snd_check`: `tp->srtt_us < rtt`).
    fn spacing_of_sacks(&self) -> Span {
        let least = self.tune.rtt().into_iter().chain(self.handshake_rtt).min();
        least.map_or(COMPRESSION_MAX, |rtt| COMPRESSION_MAX.min(rtt / 20))
    }
}
