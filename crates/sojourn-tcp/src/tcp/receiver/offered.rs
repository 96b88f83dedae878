//! The window that ACKs advertise (Linux `tcp_select_window`).
//!
//! It is what the tuned window and the free memory of the buffer allow, and never ends before the end of
//! the one advertised last. An ACK at once goes before the application reads what has arrived, so
//! that its window is the smaller one; where reading makes it twice as large, another ACK follows.

use super::Receiver;
use crate::tcp::autotune::Choice;

/// What was advertised last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offered {
    window: u64,
    /// Bytes from the first one to its end.
    edge: u64,
    /// That of the ACK which is due, where the application has not read yet.
    unread: Option<Choice>,
}

impl Offered {
    /// The handshake's window.
    pub(super) fn new(window: u32) -> Self {
        let window = u64::from(window);
        Offered { window, edge: window, unread: None }
    }

    /// Bytes that were advertised last.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Whether a window does not shrink the last one.
    pub(super) fn admits(&self, choice: Choice) -> bool {
        u64::from(choice.window) >= self.window
    }

    /// The ACK that is due goes before the application reads.
    pub(super) fn precede_reading(&mut self, choice: Choice) {
        self.unread = Some(choice);
    }

    /// Whether it does so.
    pub(super) fn precedes_reading(&self) -> bool {
        self.unread.is_some()
    }
}

impl Receiver {
    /// Memory of what waits above a hole.
    pub(super) fn waiting_memory(&self) -> u64 {
        let buffers = u64::from(self.queue.waiting_buffers());
        self.queue.waiting_memory() + buffers * self.memory.head
    }

    /// The window of an ACK that is sent now.
    #[inline(always)] // once per ACK
    pub(super) fn advertise(&mut self) -> u32 {
        let chosen = self.offered.unread.take();
        let chosen = chosen.unwrap_or_else(|| self.tune.choose(self.waiting_memory()));
        self.heed_scarcity(chosen);
        let arrived = self.received.in_order_bytes;
        let left = self.offered.edge.saturating_sub(arrived);
        let shrinks = u64::from(chosen.window) < left;
        let window = if shrinks { self.tune.scaled(left) } else { chosen.window };
        self.offered.window = u64::from(window);
        self.offered.edge = arrived + self.offered.window;
        window
    }

    /// While less than half of the buffer is free, ACKs are delayed.
    pub(super) fn heed_scarcity(&mut self, choice: Choice) {
        if choice.is_scarce {
            self.quick = 0;
        }
    }

    /// Whether the application, which has read now, opens the window that was advertised.
    pub(super) fn reading_opens(&self) -> bool {
        self.tune.opens(self.offered.window, self.waiting_memory())
    }
}
