//! The calls to a peer: initiations until one is answered.

use std::net::SocketAddr;

use sojourn_base::units::{Span, Time};

use super::frame::{self, Code, INITIATION, Reply, Response};
use super::keys::{Public, Secret};
use super::load::Bucket;
use super::mac::{Codes, second};
use super::noise::{Ciphers, Initiator, initiate};
use super::{Ages, Boot, Moment};

/// Responses that are read: many within the time of a round trip, then one in a millisecond.
const RESPONSES: (Span, u64) = (Span::from_millis(1), 64);

/// What this end says of itself in a call.
pub(super) struct Own<'a> {
    pub secret: &'a Secret,
    pub boot: &'a Boot,
}

/// What became of a handshake message.
#[derive(Debug)]
pub(super) enum Heeded<T> {
    /// It is used.
    Yes(T),
    /// It changes nothing, because it is beyond the number that is read.
    Limited,
    /// It changes nothing, because it was not made by the peer for this call.
    Unopened,
}

/// The calls to a peer, of which the latest may be answered.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Before this there is no call.
    pub not_before: Time,
    call: Option<Call>,
    /// How many there were since the last one that was answered.
    count: u32,
    cookie: Option<(Code, Time)>,
    /// The wall clock that was said last.
    wall: [u8; 12],
    responses: Bucket,
}

/// An initiation that was sent.
#[derive(Debug)]
struct Call {
    index: u32,
    initiator: Initiator,
    message: [u8; INITIATION],
    to: SocketAddr,
    at: Time,
    /// Whether a cookie has come for it, and whether it is to be sent with that.
    answered: bool,
    again: bool,
}

impl Calls {
    /// Whether the latest has this number.
    pub(super) fn has(&self, index: u32) -> bool {
        self.call.as_ref().is_some_and(|call| call.index == index)
    }

    /// Whether what comes from there now was sent before the latest had arrived.
    pub(super) fn crosses(&self, now: Time, from: SocketAddr, ages: &Ages) -> bool {
        let recent = |call: &Call| call.to == from && now.since(call.at) < ages.retry / 10;
        self.call.as_ref().is_some_and(recent)
    }

    /// Replaces `out` by a call to one of two places in turn; returns to which.
    pub(super) fn place(
        &mut self,
        at: &Moment,
        ages: &Ages,
        own: &Own<'_>,
        (public, codes): (&Public, &Codes),
        (index, places): (u32, [SocketAddr; 2]),
        out: &mut Vec<u8>,
    ) -> Option<SocketAddr> {
        let to = places[self.count as usize % 2];
        let wait = ages.retry / 16 * (1 << self.count.min(4));
        let jitter = Span::from_nanos(rand::random_range(0..=wait.as_nanos() / 15));
        self.count = self.count.saturating_add(1);
        self.not_before = at.now + wait + jitter;
        self.wall = later(self.wall, at.wall);
        let (initiator, noise) = initiate(own.secret, public, &self.wall, own.boot)?;
        let mut message = frame::initiation(index, &noise, |bytes| codes.first(bytes));
        let fresh = |(_, since): &(Code, Time)| at.now.since(*since) < ages.cookie;
        if let Some((cookie, _)) = self.cookie.filter(fresh) {
            frame::with_second(&mut message, |bytes| second(&cookie, bytes));
        }
        out.clear();
        out.extend(message);
        let (answered, again) = (false, false);
        self.call = Some(Call { index, initiator, message, to, at: at.now, answered, again });
        Some(to)
    }

    /// Whether the latest is to be repeated at once, with a cookie.
    pub(super) fn is_due(&self) -> bool {
        self.call.as_ref().is_some_and(|call| call.again)
    }

    /// Replaces `out` by the latest with its cookie, if that is due; returns where it goes to.
    pub(super) fn repeat(&mut self, out: &mut Vec<u8>) -> Option<SocketAddr> {
        let call = self.call.as_mut().filter(|call| call.again)?;
        call.again = false;
        out.clear();
        out.extend(call.message);
        Some(call.to)
    }

    /// A cookie for the latest has come.
    pub(super) fn on_cookie(&mut self, now: Time, codes: &Codes, reply: &Reply<'_>) -> Heeded<()> {
        let Some(call) = self.call.as_mut().filter(|call| !call.answered) else {
            return Heeded::Limited;
        };
        let first = frame::first_code(&call.message);
        let Some(cookie) = codes.cookie(reply, &first) else { return Heeded::Unopened };
        (call.answered, call.again) = (true, true);
        frame::with_second(&mut call.message, |bytes| second(&cookie, bytes));
        self.cookie = Some((cookie, now));
        Heeded::Yes(())
    }

    /// A response to the latest has come: it is over, and gives ciphers and the peer's boot.
    pub(super) fn on_response(
        &mut self,
        now: Time,
        frame: &Response<'_>,
    ) -> Heeded<(Ciphers, Boot)> {
        if !self.responses.admits(now, RESPONSES) {
            return Heeded::Limited;
        }
        let read = self.call.as_mut().and_then(|call| call.initiator.read(frame.noise));
        let Some(boot) = read else { return Heeded::Unopened };
        let ciphers = self.call.take().and_then(|call| call.initiator.ciphers());
        let Some(ciphers) = ciphers else { return Heeded::Unopened };
        (self.not_before, self.count) = (Time::ZERO, 0);
        Heeded::Yes((ciphers, boot))
    }
}

/// The wall clock, or the next time after the last one that was said: it may go back.
fn later(last: [u8; 12], wall: [u8; 12]) -> [u8; 12] {
    if wall > last {
        return wall;
    }
    let mut number = [0; 16];
    number[4..].copy_from_slice(&last);
    let next = u128::from_be_bytes(number).wrapping_add(1).to_be_bytes();
    let mut said = [0; 12];
    said.copy_from_slice(&next[4..]);
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_is_not_followed() {
        let wall =
            |second: u64| Moment::new(Time::ZERO, std::time::Duration::from_secs(second)).wall;
        assert_eq!(later(wall(5), wall(6)), wall(6));
        let next = later(wall(6), wall(5));
        assert!(next > wall(6) && next < wall(7));
        assert!(later(next, wall(5)) > next);
    }
}
