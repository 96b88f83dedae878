//! Room for the application to write in a send buffer that grows (Linux `tcp_check_space`,
//! `tcp_sendmsg_locked`).
//!
//! The application is woken after all that could be sent was sent. If it then fills the only
//! waiting buffer, that is sent at once (`tcp_push_one`), without waiting for more as a large
//! segment does.

use super::Sender;
use crate::units::Time;

impl Sender {
    /// Called before data is taken from the send buffer: wakes the application if sent data made
    /// room (Linux `tcp_event_new_data_sent`), or lets one that is writing continue.
    pub(super) fn make_room(&mut self, now: Time) {
        if self.burst.written {
            self.burst.written = self.app.write_head(now);
        } else if self.burst.sent > 0 {
            self.app.expand(self.cwnd.max(self.reordering + 1));
        }
    }

    /// Called when nothing can be sent: whether the application now writes data that can be.
    pub(super) fn gets_more(&mut self, now: Time) -> bool {
        if std::mem::take(&mut self.burst.written) {
            self.app.write_rest(now);
            return false;
        }
        let in_flight = self.board.in_flight();
        if in_flight < self.cwnd {
            self.app.expand(self.cwnd.max(self.reordering + 1));
        }
        let Some(waiting) = self.app.wakes(self.peer_window) else { return false };
        if waiting < u64::from(self.init.mss)
            && in_flight < self.cwnd
            && self.board.lost_out() <= self.board.retrans_out()
        {
            self.delivery.set_app_limited(in_flight);
        }
        self.burst.written = self.app.write_head(now);
        if !self.burst.written {
            self.app.write_rest(now);
        }
        true
    }
}
