//! A digest of all that happens at the border of a kernel, and of when.

use blake2::digest::consts::U16;
use blake2::{Blake2b, Digest as _};
use sojourn_base::units::Time;

/// What happened.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A packet left this card.
    Sent(usize),
    /// A packet reached this card.
    Received(usize),
    /// A program became this process.
    Started(u32, u32),
    /// A program wrote to a stream.
    Wrote(u32, u8),
    /// A program ended with this status.
    Ended(u32, i32),
}

/// The digest of a run: equal if the same happened at the same nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Digest(Blake2b<U16>);

impl Digest {
    /// Something happened, with these bytes.
    pub(super) fn add(&mut self, now: Time, event: Event, bytes: &[u8]) {
        let (kind, number, detail) = match event {
            Event::Sent(card) => (0_u8, card as u32, 0),
            Event::Received(card) => (1, card as u32, 0),
            Event::Started(program, process) => (2, program, i64::from(process)),
            Event::Wrote(program, stream) => (3, program, i64::from(stream)),
            Event::Ended(program, status) => (4, program, i64::from(status)),
        };
        self.0.update(now.as_nanos().to_le_bytes());
        self.0.update([kind]);
        self.0.update(number.to_le_bytes());
        self.0.update(detail.to_le_bytes());
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// The digest of what has happened so far, in hexadecimal digits.
    pub(super) fn text(&self) -> String {
        self.0.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_what_happened_where_and_when() {
        let of = |events: &[(u64, Event, &[u8])]| {
            let mut digest = Digest::default();
            for (time, event, bytes) in events {
                digest.add(Time::from_nanos(*time), *event, bytes);
            }
            digest.text()
        };
        let all = [
            of(&[]),
            of(&[(5, Event::Sent(2), b"ab")]),
            of(&[(6, Event::Sent(2), b"ab")]),
            of(&[(5, Event::Received(2), b"ab")]),
            of(&[(5, Event::Sent(3), b"ab")]),
            of(&[(5, Event::Sent(2), b"a"), (5, Event::Sent(2), b"b")]),
            of(&[(5, Event::Started(2, 41), b"")]),
            of(&[(5, Event::Started(2, 42), b"")]),
            of(&[(5, Event::Wrote(2, 1), b"ab")]),
            of(&[(5, Event::Wrote(2, 2), b"ab")]),
            of(&[(5, Event::Ended(2, 0), b"")]),
            of(&[(5, Event::Ended(2, 1), b"")]),
        ];
        for (number, text) in all.iter().enumerate() {
            assert_eq!(text.len(), 32);
            assert!(!all[..number].contains(text), "{number}");
        }
        assert_eq!(of(&[(5, Event::Sent(2), b"ab")]), all[1]);
    }
}
