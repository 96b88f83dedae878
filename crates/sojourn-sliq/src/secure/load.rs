//! How many handshakes are heeded, so that they take a small part of a core however many come.

use std::fmt;
use std::net::SocketAddr;

use sojourn_base::units::{Span, Time};

use super::keys::KEY;
use super::mac::{code, octets};

/// Of all that proved their address: one Diffie-Hellman exchange in a millisecond.
const ALL: (Span, u64) = (Span::from_millis(1), 16);
/// Of one address among them.
const ONE: (Span, u64) = (Span::from_millis(50), 5);
/// Addresses share so many buckets, of which a secret tells who has which.
const PLACES: usize = 256;

/// Lets one through in every span, and some at once (a leaky bucket, as GCRA).
#[derive(Clone, Copy, Default)]
pub(super) struct Bucket(Time);

/// What it has let through is no part of a peer's state: [`super::Gate::digest`].
impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bucket")
    }
}

impl Bucket {
    /// Whether one more may pass now, where one may in each span and so many at once.
    pub(super) fn admits(&mut self, now: Time, (span, burst): (Span, u64)) -> bool {
        let empty = self.0.max(now);
        let admits = empty.since(now) <= span * (burst - 1);
        if admits {
            self.0 = empty + span;
        }
        admits
    }
}

/// The handshakes of addresses that have proved to be their senders'.
pub(super) struct Load {
    all: Bucket,
    each: Box<[Bucket; PLACES]>,
    secret: [u8; KEY],
}

impl Load {
    /// Nothing has come.
    pub(super) fn new() -> Self {
        let each = Box::new([Bucket::default(); PLACES]);
        Load { all: Bucket::default(), each, secret: rand::random() }
    }

    /// Whether one from this address is heeded.
    pub(super) fn admits(&mut self, now: Time, from: SocketAddr) -> bool {
        let mut bytes = octets(from.ip());
        if from.ip().to_canonical().is_ipv6() {
            // One network has so many addresses that it is one.
            bytes[8..].fill(0);
        }
        let place = usize::from(code(&self.secret, &bytes)[0]) % PLACES;
        self.each[place].admits(now, ONE) && self.all.admits(now, ALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_takes_none_of_the_share_of_others() {
        let mut load = Load::new();
        let mut heeded = |now, text: &str| load.admits(now, text.parse().unwrap());
        let flood = (0..1_000).filter(|_| heeded(Time::ZERO, "192.0.2.1:9")).count();
        assert_eq!(flood, 5);
        // One in 256 may share its bucket.
        let others = (0..8).filter(|last| heeded(Time::ZERO, &format!("198.51.100.{last}:9")));
        assert!(others.count() >= 5);
        assert!(heeded(Time::ZERO + Span::from_millis(50), "192.0.2.1:10"));
    }

    #[test]
    fn all_together_are_one_in_a_millisecond() {
        let mut load = Load::new();
        let mut heeded = 0;
        for index in 0..10_000u32 {
            let now = Time::ZERO + Span::from_micros(u64::from(index) * 10);
            let ip = std::net::Ipv4Addr::from(index * 7_919);
            heeded += u32::from(load.admits(now, SocketAddr::from((ip, 9))));
        }
        // One that an address was due counts as its own, though it was one too many of all.
        assert!((50..=116).contains(&heeded), "{heeded}");
    }
}
