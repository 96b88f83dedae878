//! An application that is woken and writes into a buffer that grows.

use super::{SendBuffer, Size};
use crate::units::Time;

/// What an application that is writing has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Wrote {
    /// All that it has, or all that there is room for.
    Last,
    /// The only waiting buffer, which goes at once (Linux `tcp_push_one`).
    Head,
    /// That and so much before it that all which waits goes (Linux `forced_push`).
    Much,
}

impl SendBuffer {
    /// Makes a growing buffer whose application waits hold windows of `segments`; returns whether it waits.
    pub(in crate::tcp) fn expand(&mut self, segments: u32) -> bool {
        match &mut self.size {
            Size::Tuned(memory) if self.accepted < self.offered => {
                memory.expand(self.windows, segments);
                true
            }
            _ => false,
        }
    }

    /// Whether the limit of the buffer follows the window.
    #[inline]
    pub(in crate::tcp) fn grows(&self) -> bool {
        matches!(self.size, Size::Tuned(_))
    }

    /// Wakes the application if it waits for a buffer that grows, and this has room. Returns how much waits
    /// to be sent.
    pub(in crate::tcp) fn wakes(&mut self, peer_window: u64) -> Option<u64> {
        let (waits, waiting, at) = (self.is_full(), self.unsent(), self.stream());
        let Size::Tuned(memory) = &mut self.size else { return None };
        let wakes = waits && memory.is_writable(at.accepted - at.acked);
        wakes.then(|| {
            memory.fit(peer_window);
            waiting
        })
    }

    /// Lets an application that was woken write the next buffer, which is sent at once if it fills
    /// the only waiting one and is not the last. The rest of one of which a part was sent is filled up
    /// even if there is no room: `tcp_sendmsg_locked` looks at the limit only before it begins a buffer.
    pub(in crate::tcp) fn write_head(&mut self, now: Time) -> Wrote {
        let (at, offered) = (self.stream(), self.offered);
        let Size::Tuned(memory) = &mut self.size else { return Wrote::Last };
        if !memory.has_one_buffer() {
            return Wrote::Last;
        }
        let accepted = memory.write_head(at, offered);
        let fills = accepted - at.cut >= memory.largest_buffer();
        let wrote = if accepted == offered {
            memory.mark(accepted);
            Wrote::Last
        } else if !fills {
            Wrote::Last
        } else if memory.is_forced(accepted) {
            Wrote::Much
        } else {
            Wrote::Head
        };
        self.accept_to(now, accepted);
        wrote
    }

    /// Whether what is written next begins a buffer behind the one that is sent from.
    pub(in crate::tcp) fn has_full_head(&self) -> bool {
        matches!(&self.size, Size::Tuned(memory) if memory.waits_full(self.cut))
    }

    /// The application writes as much as there is room for.
    pub(in crate::tcp) fn write_rest(&mut self, now: Time) {
        self.accept(now);
    }
}

#[cfg(test)]
mod tests {
    use super::Wrote;
    use crate::spec::BufferSize;
    use crate::tcp::send_buffer::tests::buffer;
    use crate::units::Time;

    /// Linux `tcp_sendmsg_locked`: the end of what is written is no head of more, and has PSH.
    #[test]
    fn the_last_buffer_that_is_written_has_psh() {
        let mut buffer = buffer(BufferSize::Stack);
        buffer.write(Time::ZERO, 1448);
        assert_eq!(buffer.write_head(Time::ZERO), Wrote::Last);
        buffer.cut(Time::ZERO, 1448, 2, false);
        assert!(buffer.is_pushed());
    }

    /// Linux `tcp_sendmsg_locked`: behind a buffer that takes no more the next begins; one of which a part
    /// was sent takes more.
    #[test]
    fn a_head_is_full_until_a_part_is_sent() {
        let mut buffer = buffer(BufferSize::Stack);
        buffer.write(Time::ZERO, u64::MAX);
        assert!(!buffer.has_full_head());
        buffer.write_head(Time::ZERO);
        assert!(buffer.has_full_head());
        buffer.cut(Time::ZERO, 1448, 2, false);
        assert!(!buffer.has_full_head());
    }

    /// Linux `tcp_sendmsg_locked`: the rest of a partly sent buffer is filled up whatever memory there
    /// is, and none is begun without.
    #[test]
    fn only_a_buffer_that_is_begun_needs_memory() {
        let mut buffer = buffer(BufferSize::Stack);
        buffer.write(Time::ZERO, u64::MAX);
        for end in 2..100 {
            assert_ne!(buffer.write_head(Time::ZERO), Wrote::Last);
            buffer.cut(Time::ZERO, 1448, end, false);
        }
        let accepted = buffer.accepted;
        assert!(!buffer.memory().unwrap().has_room(accepted));
        while buffer.available(1448) > 0 {
            let payload = buffer.available(1448);
            buffer.cut(Time::ZERO, payload, 100, true);
        }
        assert_eq!(buffer.write_head(Time::ZERO), Wrote::Last);
        assert_eq!(buffer.accepted, accepted);
    }
}
