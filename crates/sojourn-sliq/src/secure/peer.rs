//! A peer: where it is, when it is called, and what it is owed.

use std::net::SocketAddr;

use sojourn_base::units::{Span, Time};

use super::call::{Calls, Heeded, Own};
use super::frame::{self, Reply, Response};
use super::keyring::{Keyring, Session};
use super::keys::Public;
use super::load::Bucket;
use super::mac::Codes;
use super::noise::Said;
use super::{Ages, Moment};

/// Initiations from its configured address that need no cookie: some at once, then one a second.
const TRUSTED: (Span, u64) = (Span::from_secs(1), 5);

/// A peer.
#[derive(Debug)]
pub(super) struct Peer {
    pub public: Public,
    pub keys: Keyring,
    /// Where it was last heard, or is said to be.
    pub address: Option<SocketAddr>,
    /// When it was last heard.
    pub heard: Option<Time>,
    codes: Codes,
    configured: Option<SocketAddr>,
    /// The wall clock of its latest initiation.
    wall: [u8; 12],
    calls: Calls,
    /// When an empty datagram is due, because nothing else was sent.
    owed: Option<Time>,
    /// Since when data has been sent without a word from the peer.
    unheard: Option<Time>,
    trusted: Bucket,
}

impl Peer {
    /// A peer of which nothing was heard.
    pub(super) fn new(public: Public) -> Self {
        Peer {
            public,
            keys: Keyring::default(),
            address: None,
            heard: None,
            codes: Codes::to(&public),
            configured: None,
            wall: [0; 12],
            calls: Calls::default(),
            owed: None,
            unheard: None,
            trusted: Bucket::default(),
        }
    }

    /// It is there, and is called; or it is not known where.
    pub(super) fn configure(&mut self, address: Option<SocketAddr>) {
        if self.configured != address {
            self.configured = address;
            self.address = address.or(self.address);
            self.calls.not_before = Time::ZERO;
        }
    }

    /// Whether an initiation from this address is heeded without a cookie.
    pub(super) fn trusts(&mut self, now: Time, from: SocketAddr) -> bool {
        self.configured == Some(from) && self.trusted.admits(now, TRUSTED)
    }

    /// Whether this number is of a call or a session.
    pub(super) fn has(&self, index: u32) -> bool {
        self.calls(index) || self.keys.has(index)
    }

    /// Whether this number is of the call that waits for its answer.
    pub(super) fn calls(&self, index: u32) -> bool {
        self.calls.has(index)
    }

    /// Whether an initiation is newer than all before.
    pub(super) fn is_new(&self, said: &Said) -> bool {
        said.wall > self.wall
    }

    /// Whether an initiation from there crosses a call of this end, which has precedence.
    pub(super) fn crosses(&self, now: Time, from: SocketAddr, own: Public, ages: &Ages) -> bool {
        own < self.public && self.calls.crosses(now, from, ages)
    }

    /// An initiation was answered; returns the response.
    pub(super) fn offer(
        &mut self,
        ages: &Ages,
        said: &Said,
        session: Session,
        noise: &[u8; frame::SECOND],
    ) -> Vec<u8> {
        self.wall = said.wall;
        let response = frame::response(session.indices, noise, |bytes| self.codes.first(bytes));
        // Time for the peer to take the session into use; replays get no more of it.
        let until = session.since + ages.retry / 10;
        if self.keys.offer(session) {
            self.calls.not_before = self.calls.not_before.max(until);
        }
        response.to_vec()
    }

    /// A response to the call has come.
    pub(super) fn on_response(
        &mut self,
        now: Time,
        from: SocketAddr,
        frame: &Response<'_>,
    ) -> Heeded<()> {
        let (ciphers, boot) = match self.calls.on_response(now, frame) {
            Heeded::Yes(made) => made,
            Heeded::Limited => return Heeded::Limited,
            Heeded::Unopened => return Heeded::Unopened,
        };
        let indices = [frame.receiver, frame.sender];
        self.keys.begin(Session { indices, ciphers, since: now, initiator: true, boot });
        self.address = Some(from);
        self.on_heard(now);
        // The other end takes the session into use when it opens a datagram.
        self.owed = Some(now);
        Heeded::Yes(())
    }

    /// A cookie for the call has come.
    pub(super) fn on_cookie(&mut self, now: Time, reply: &Reply<'_>) -> Heeded<()> {
        self.calls.on_cookie(now, &self.codes, reply)
    }

    /// A datagram was opened.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        ages: &Ages,
        from: SocketAddr,
        newest: bool,
        empty: bool,
    ) {
        if newest {
            self.address = Some(from);
        }
        self.on_heard(now);
        if !empty {
            self.owed.get_or_insert(now + ages.keepalive);
        }
    }

    fn on_heard(&mut self, now: Time) {
        self.heard = Some(now);
        self.unheard = None;
    }

    /// Replaces `out` by the sealed content; returns where it goes to, if there is a session.
    pub(super) fn seal(
        &mut self,
        now: Time,
        ages: &Ages,
        plain: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<SocketAddr> {
        out.clear();
        let to = self.address?;
        if !self.keys.seal(now, ages, plain, out) {
            out.clear();
            return None;
        }
        self.owed = None;
        if !plain.is_empty() {
            self.unheard.get_or_insert(now);
        }
        Some(to)
    }

    /// When there is something to do.
    pub(super) fn due(&self, ages: &Ages) -> Time {
        if self.calls.is_due() {
            return Time::ZERO;
        }
        let owed = self.owed.unwrap_or(Time::NEVER);
        owed.min(self.calls_at(ages)).min(self.keys.ends_at(ages))
    }

    /// When it is called next.
    fn calls_at(&self, ages: &Ages) -> Time {
        if self.configured.is_none() {
            return Time::NEVER;
        }
        let silent = self.unheard.map_or(Time::NEVER, |since| since + ages.silence);
        self.keys.renew_at(ages).min(silent).max(self.calls.not_before)
    }

    /// Replaces `out` by what is due; returns where it goes to.
    pub(super) fn poll(
        &mut self,
        at: &Moment,
        ages: &Ages,
        own: &Own<'_>,
        index: u32,
        out: &mut Vec<u8>,
    ) -> Option<SocketAddr> {
        self.keys.forget(at.now, ages);
        if let Some(to) = self.calls.repeat(out) {
            return Some(to);
        }
        if let Some(configured) = self.configured.filter(|_| self.calls_at(ages) <= at.now) {
            // It may have moved, or be where it was said to be again.
            let places = [self.address.unwrap_or(configured), configured];
            let whom = (&self.public, &self.codes);
            return self.calls.place(at, ages, own, whom, (index, places), out);
        }
        if self.owed.is_some_and(|owed| owed <= at.now) {
            self.owed = None;
            return self.seal(at.now, ages, &[], out);
        }
        None
    }
}
