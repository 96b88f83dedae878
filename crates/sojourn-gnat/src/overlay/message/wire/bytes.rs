//! Numbers from bytes and to bytes.

use sojourn_base::units::{Span, Time};

/// What is left of a message.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// All of it.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    /// The next bytes; `None` if there are fewer.
    pub(super) fn next<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    /// The next so many bytes; `None` if there are fewer.
    pub(super) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.next().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.next().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.next().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.next().map(u64::from_be_bytes)
    }

    pub(super) fn time(&mut self) -> Option<Time> {
        self.u32().map(|micros| Time::ZERO + Span::from_micros(micros.into()))
    }
}

/// The lowest bits of a time's microseconds.
pub(super) fn of_time(at: Time) -> [u8; 4] {
    (at.since(Time::ZERO).as_micros() as u32).to_be_bytes()
}
