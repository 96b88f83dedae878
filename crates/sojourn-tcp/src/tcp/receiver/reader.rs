//! An application that reads at its own pace. Unread data stays in the receive buffer and closes
//! the window: the window is the buffer's less the unread data, and never revokes what was
//! advertised before (Linux `__tcp_select_window`, `tcp_select_window`, `tcp_cleanup_rbuf`).

use super::Receiver;
use super::due::Due;
use crate::tcp::OPEN_WINDOW;
use crate::tcp::reassembly::MOST_FRAGMENTS;
use crate::units::Time;

/// Data that waits to be read, and the window advertised beyond it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unread {
    /// Bytes that arrived in order and were not read.
    pub bytes: u64,
    /// Whether the end of a write (PSH) is among what has not been acknowledged.
    pub pushed: bool,
    /// Bytes from the first to the end of the window advertised last.
    edge: u64,
}

impl Receiver {
    /// The same, for an application that calls [`Receiver::read`]; others read at once. A receive
    /// buffer without a limit (`auto`) never closes its window.
    #[must_use]
    pub fn with_reader(mut self) -> Self {
        self.unread = Some(Unread::default());
        self
    }

    /// Bytes that have arrived in order and wait to be read.
    pub fn readable(&self) -> u64 {
        self.unread.map_or(0, |unread| unread.bytes)
    }

    /// The application reads `most` bytes, or all there are; returns how many. To be followed by
    /// `poll_transmit`: the window may open.
    pub fn read(&mut self, now: Time, most: u64) -> u64 {
        let Some(unread) = &mut self.unread else { return 0 };
        let bytes = most.min(unread.bytes);
        unread.bytes -= bytes;
        let read_all = unread.pushed && unread.bytes == 0;
        if bytes > 0 {
            let together = u64::from(MOST_FRAGMENTS * self.init.mss);
            self.tune.on_read(now, bytes, together, self.queue.waiting_bytes());
            if self.opens_window() || (read_all && matches!(self.due, Due::At(_))) {
                self.due = Due::Now;
            }
        }
        bytes
    }

    /// Whether a window update is due at once: the window is twice the advertised one.
    fn opens_window(&self) -> bool {
        let Some(unread) = self.unread else { return false };
        let announced = unread.edge.saturating_sub(self.received.in_order_bytes);
        let window = self.room(unread);
        self.tune.window() != OPEN_WINDOW && window > 0 && window >= 2 * announced
    }

    /// Room in the buffer in bytes; zero if it is less than a segment.
    fn room(&self, unread: Unread) -> u64 {
        let room = u64::from(self.tune.window()).saturating_sub(unread.bytes);
        if room < u64::from(self.init.mss) { 0 } else { room }
    }

    /// The window to advertise while data is unread.
    #[inline(never)] // few applications read at their own pace
    pub(super) fn window_left(&mut self, unread: Unread) -> u32 {
        if self.tune.window() == OPEN_WINDOW {
            return OPEN_WINDOW;
        }
        let announced = unread.edge.saturating_sub(self.received.in_order_bytes);
        let window = self.room(unread).max(announced);
        let edge = self.received.in_order_bytes + window;
        self.unread = Some(Unread { edge, ..unread });
        window as u32
    }
}
