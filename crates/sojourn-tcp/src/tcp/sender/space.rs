//! Room for the application to write in a send buffer that grows (Linux `tcp_check_space`,
//! `tcp_sendmsg_locked`).
//!
//! The application is woken after all that could be sent was sent. If it then fills the only
//! waiting buffer, that is sent at once (`tcp_push_one`), without waiting for more as a large
//! segment does, until so much is written that all goes that can (`forced_push`).

use super::Sender;
use crate::tcp::send_buffer::Wrote;
use crate::units::Time;

impl Sender {
    /// Bytes that the send buffer would take from the application now.
    pub fn room(&self) -> u64 {
        self.app.room()
    }

    /// Called before data is taken from the send buffer: wakes the application if sent data made
    /// room (Linux `tcp_event_new_data_sent`), or lets one that is writing continue.
    pub(super) fn make_room(&mut self, now: Time) {
        if self.app.grows() {
            self.make_room_to_grow(now);
        }
    }

    #[inline(never)] // few flows have a buffer that grows
    fn make_room_to_grow(&mut self, now: Time) {
        if self.burst.written {
            self.write_head(now);
        } else if self.burst.sent > 0 && !self.burst.forced {
            self.expand(now);
        }
    }

    /// Called when a large segment of `segments` waits until the host is idle: the application writes
    /// what there is room for, of which nothing goes at once, and waits; then the card is emptied.
    #[cold]
    pub(super) fn goes_idle(&mut self, now: Time, segments: u32) {
        let bytes = u64::from(segments) * u64::from(self.init.mss);
        self.app.memory().into_iter().for_each(|memory| memory.split_head(bytes));
        let writing = self.burst.written || self.burst.forced;
        if writing || self.app.wakes(self.peer_window).is_some() {
            self.app.write_rest(now);
        }
        (self.burst.written, self.burst.forced, self.burst.pushed) = (false, false, false);
        self.burst.host.empty_card();
    }

    /// The application writes the buffer that is sent next.
    fn write_head(&mut self, now: Time) {
        let wrote = self.app.write_head(now);
        self.burst.written = wrote == Wrote::Head;
        self.burst.forced = wrote == Wrote::Much;
    }

    /// The application writes until something is to be sent, or as much as there is room for. A buffer that
    /// was full before is not sent at once: `tcp_sendmsg_locked` looks only at the one it has written.
    fn write_on(&mut self, now: Time) {
        self.burst.forced = false;
        if !self.app.has_full_head() {
            self.write_head(now);
        }
        if !self.burst.written && !self.burst.forced {
            self.app.write_rest(now);
        }
        self.burst.pushed = true;
    }

    /// Called while the window is not full: it does not count as unused if the application waits for
    /// room (Linux `tcp_new_space`).
    fn expand(&mut self, now: Time) {
        if self.app.expand(self.cwnd.max(self.reordering + 1)) {
            self.usage.used_at = now;
        }
    }

    /// Called before segment `seq` is sent again: how many leave as one with it. Where the buffers are
    /// known, it is what the window and the length of a burst allow of its own.
    pub(super) fn sent_again_together(&mut self, seq: u32) -> u32 {
        let room = self.cwnd.saturating_sub(self.board.in_flight());
        let most = room.min(self.batch_size());
        match self.app.memory() {
            Some(memory) => memory.sent.on_sent_again(seq, most),
            None => self.board.lost_from(seq, most),
        }
    }

    /// Called when nothing can be sent: whether the application now writes data that can be.
    pub(super) fn gets_more(&mut self, now: Time) -> bool {
        self.pacer.end_burst();
        self.app.grows() && self.gets_written(now)
    }

    #[inline(never)] // as `make_room_to_grow`
    fn gets_written(&mut self, now: Time) -> bool {
        if std::mem::take(&mut self.burst.written) {
            self.app.write_rest(now);
            return false;
        }
        if self.burst.forced {
            self.write_on(now);
            return true;
        }
        let in_flight = self.board.in_flight();
        if in_flight < self.cwnd {
            self.expand(now);
        }
        let Some(waiting) = self.app.wakes(self.peer_window) else { return false };
        if waiting < u64::from(self.init.mss)
            && in_flight < self.cwnd
            && self.board.lost_out() <= self.board.retrans_out()
        {
            self.delivery.set_app_limited(in_flight);
        }
        self.write_on(now);
        true
    }
}
