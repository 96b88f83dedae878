//! The send buffer: what the application has written and the sender has not yet cut into segments.
//!
//! Bytes are accepted while written but unacknowledged data is below the buffer's size; the
//! application is woken when a 64th of the buffer is free, so that few acceptance times need to be
//! remembered.

use std::collections::VecDeque;

use crate::units::Time;

/// A byte stream from the application.
#[derive(Debug)]
pub struct SendBuffer {
    capacity: u64,
    /// Bytes the application wants to send in all; `u64::MAX` is endless.
    offered: u64,
    accepted: u64,
    cut: u64,
    acked: u64,
    closed: bool,
    /// When the bytes that are being cut were accepted, and all bytes accepted up to then.
    accepted_first: (Time, u64),
    /// The same of later ones.
    later: VecDeque<(Time, u64)>,
}

impl SendBuffer {
    /// An empty buffer of `capacity` bytes; `None` is unlimited.
    pub fn new(capacity: Option<u64>) -> Self {
        SendBuffer {
            capacity: capacity.unwrap_or(u64::MAX),
            offered: 0,
            accepted: 0,
            cut: 0,
            acked: 0,
            closed: false,
            accepted_first: (Time::ZERO, 0),
            later: VecDeque::new(),
        }
    }

    /// The application offers more bytes; `u64::MAX` is endless.
    pub fn write(&mut self, now: Time, bytes: u64) {
        if !self.closed {
            self.offered = self.offered.saturating_add(bytes);
            self.accept(now);
        }
    }

    /// No more will be offered.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets what has not been cut.
    pub fn truncate(&mut self) {
        self.offered = self.cut;
        self.accepted = self.cut;
        self.later.clear();
        self.closed = true;
    }

    /// Bytes were acknowledged: room for more.
    pub fn on_acked(&mut self, now: Time, bytes: u64) {
        self.acked += bytes;
        if self.accepted < self.offered {
            let room = self.acked.saturating_add(self.capacity) - self.accepted;
            if room >= (self.capacity / 64).max(1) {
                self.accept(now);
            }
        }
    }

    fn accept(&mut self, now: Time) {
        // An endless, unlimited stream would be accepted all at once: then accept it as it is cut.
        let limit = self.acked.saturating_add(self.capacity);
        let accepted = self.offered.min(limit);
        if accepted > self.accepted && accepted < u64::MAX {
            self.accepted = accepted;
            self.later.push_back((now, accepted));
        }
    }

    /// Payload of the next segment of at most `mss` bytes; zero if nothing is left.
    #[inline]
    pub fn available(&self, mss: u32) -> u32 {
        let limit = if self.unlimited() { u64::MAX } else { self.accepted };
        (limit - self.cut).min(u64::from(mss)) as u32
    }

    /// Whether all that will ever be sent is among the next `bytes`.
    pub fn ends_within(&self, bytes: u64) -> bool {
        self.closed && self.offered - self.cut <= bytes
    }

    fn unlimited(&self) -> bool {
        self.offered == u64::MAX && self.capacity == u64::MAX
    }

    /// Cuts `bytes` off; returns when their first was written.
    pub fn cut(&mut self, now: Time, bytes: u32) -> Time {
        if self.unlimited() {
            self.cut += u64::from(bytes);
            self.accepted = self.cut;
            return now;
        }
        while self.accepted_first.1 <= self.cut
            && let Some(next) = self.later.pop_front()
        {
            self.accepted_first = next;
        }
        let (written, up_to) = self.accepted_first;
        let written = if up_to > self.cut { written } else { now };
        self.cut += u64::from(bytes);
        written
    }

    /// Bytes accepted from the application.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Whether all that will ever be offered has been acknowledged.
    pub fn is_complete(&self) -> bool {
        self.closed && self.acked >= self.offered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn endless_data_fills_the_buffer_and_waits_in_it() {
        let mut buffer = SendBuffer::new(Some(6400));
        buffer.write(Time::ZERO, u64::MAX);
        assert_eq!(buffer.accepted(), 6400);
        for _ in 0..64 {
            assert_eq!(buffer.cut(Time::ZERO, 100), Time::ZERO);
        }
        assert_eq!(buffer.available(100), 0);
        let later = Time::ZERO + Span::from_millis(5);
        buffer.on_acked(later, 100);
        assert_eq!(buffer.available(1000), 100);
        assert_eq!(buffer.cut(later + Span::from_millis(1), 100), later);
    }

    #[test]
    fn a_transfer_completes_when_all_is_acknowledged() {
        let mut buffer = SendBuffer::new(None);
        buffer.write(Time::ZERO, 2000);
        buffer.close();
        assert_eq!((buffer.available(1448), buffer.cut(Time::ZERO, 1448)), (1448, Time::ZERO));
        assert_eq!(buffer.available(1448), 552);
        buffer.cut(Time::ZERO, 552);
        buffer.on_acked(Time::ZERO, 1448);
        assert!(!buffer.is_complete());
        buffer.on_acked(Time::ZERO, 552);
        assert!(buffer.is_complete());
    }
}
