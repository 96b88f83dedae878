//! The sessions of a peer: the current one seals; the previous one opens what was still on its way;
//! the next one, which the peer has begun, waits for the first datagram that it opens. So a replayed
//! initiation displaces nothing.

use sojourn_base::units::{Span, Time};

use super::frame::{Data, data};
use super::noise::Ciphers;
use super::window::Window;
use super::{Ages, Boot};

/// After so many bytes, both ways, the initiator begins another session (2^36).
const RENEW_BYTES: u64 = 1 << 36;
/// A session seals and opens no more messages than this.
const MOST: u64 = 1 << 60;

/// A session as a handshake has made it.
#[derive(Debug)]
pub(super) struct Session {
    /// Its number at this end and at the other.
    pub indices: [u32; 2],
    pub ciphers: Ciphers,
    pub since: Time,
    /// Whether this end has begun it.
    pub initiator: bool,
    /// The other end's.
    pub boot: Boot,
}

/// A session in use.
#[derive(Debug)]
struct Used {
    session: Session,
    window: Window,
    sent: u64,
    bytes: u64,
}

/// What became of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// It is of no session here.
    Unknown,
    /// It has come before, or is too old to know.
    Replayed,
    /// It was changed, or sealed with another key.
    Unopened,
    /// It was opened.
    Content {
        /// Whether it is the newest of its session.
        newest: bool,
        /// Whether the session is in use from now on.
        begins: bool,
    },
}

/// The sessions of a peer.
#[derive(Debug, Default)]
pub(super) struct Keyring {
    previous: Option<Used>,
    current: Option<Used>,
    next: Option<Used>,
}

impl Keyring {
    /// A session that this end has begun, and the other answered.
    pub(super) fn begin(&mut self, session: Session) {
        self.replace(Used::new(session));
    }

    /// A session that the other end has begun, and this one answered; whether it is the first since
    /// one was taken into use.
    pub(super) fn offer(&mut self, session: Session) -> bool {
        self.next.replace(Used::new(session)).is_none()
    }

    /// Whether a session here has this number.
    pub(super) fn has(&self, index: u32) -> bool {
        self.each().any(|used| used.session.indices[0] == index)
    }

    /// Opens data into `plain`, which is left empty otherwise.
    pub(super) fn open(
        &mut self,
        now: Time,
        ages: &Ages,
        frame: &Data<'_>,
        plain: &mut Vec<u8>,
    ) -> Opened {
        let all = [&mut self.previous, &mut self.current, &mut self.next];
        let found = all.into_iter().flatten().find(|used| used.is(frame.receiver, now, ages));
        let Some(used) = found else { return Opened::Unknown };
        if frame.counter >= MOST || !used.window.takes(frame.counter) {
            return Opened::Replayed;
        }
        if !used.session.ciphers.open(frame.counter, frame.sealed, plain) {
            return Opened::Unopened;
        }
        let newest = used.window.note(frame.counter);
        used.bytes += frame.sealed.len() as u64;
        let waited = |next: &mut Used| next.session.indices[0] == frame.receiver;
        let confirmed = self.next.take_if(waited);
        let begins = confirmed.is_some();
        if let Some(next) = confirmed {
            self.replace(next);
        }
        Opened::Content { newest, begins }
    }

    /// Appends the sealed content; whether there is a session to seal it.
    pub(super) fn seal(&mut self, now: Time, ages: &Ages, plain: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(used) = self.usable(now, ages) else { return false };
        let (session, counter) = (&used.session, used.sent);
        out.extend(data(session.indices[1], counter));
        if !session.ciphers.seal(counter, plain, out) {
            return false;
        }
        used.sent += 1;
        used.bytes += plain.len() as u64;
        true
    }

    /// When the current session is to be renewed by this end: at once without one.
    pub(super) fn renew_at(&self, ages: &Ages) -> Time {
        let Some(used) = &self.current else { return Time::ZERO };
        let spent = used.bytes >= RENEW_BYTES || used.sent >= MOST;
        match (used.session.initiator, spent) {
            (true, true) => Time::ZERO,
            (true, false) => used.session.since + ages.renew,
            (false, _) => used.session.since + ages.refuse,
        }
    }

    /// When the first of the sessions ends.
    pub(super) fn ends_at(&self, ages: &Ages) -> Time {
        let ends = self.each().map(|used| used.session.since + ages.refuse);
        ends.min().unwrap_or(Time::NEVER)
    }

    /// Drops the sessions that have ended.
    pub(super) fn forget(&mut self, now: Time, ages: &Ages) {
        for used in [&mut self.previous, &mut self.current, &mut self.next] {
            used.take_if(|used| used.age(now) >= ages.refuse);
        }
    }

    /// Of the current session: age, bytes under it, and the peer's boot.
    pub(super) fn told(&self, now: Time) -> Option<(Span, u64, Boot)> {
        let used = self.current.as_ref()?;
        Some((used.age(now), used.bytes, used.session.boot))
    }

    fn usable(&mut self, now: Time, ages: &Ages) -> Option<&mut Used> {
        self.current.as_mut().filter(|used| used.age(now) < ages.refuse && used.sent < MOST)
    }

    /// Makes it the current one. What a process sealed that is no more is not opened later.
    fn replace(&mut self, used: Used) {
        let boot = used.session.boot;
        self.previous = self.current.replace(used).filter(|old| old.session.boot == boot);
    }

    fn each(&self) -> impl Iterator<Item = &Used> {
        [&self.previous, &self.current, &self.next].into_iter().flatten()
    }
}

impl Used {
    fn new(session: Session) -> Self {
        Used { session, window: Window::new(), sent: 0, bytes: 0 }
    }

    fn age(&self, now: Time) -> Span {
        now.since(self.session.since)
    }

    /// Whether it has this number, and has not ended.
    fn is(&self, index: u32, now: Time, ages: &Ages) -> bool {
        self.session.indices[0] == index && self.age(now) < ages.refuse
    }
}
