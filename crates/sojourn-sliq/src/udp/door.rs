//! Who may open a connection: nothing is kept of an address before it has shown, with a cookie, that
//! it reads what is sent to it.
//!
//! A hello is answered by a hello with a cookie: a code over the client's address, its number and its
//! controls, under a key that only this process has. The confirmation brings it back with all that
//! the connection needs. The same was done for TCP (SYN cookies) and is done by DTLS 1.3 (RFC 9147,
//! 5.1) and QUIC (RFC 9000, 8.1.2). An answer is no more than twice as long as the hello.

use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

use blake2::Blake2bMac;
use blake2::digest::consts::U16;
use blake2::digest::{KeyInit, Mac};

use crate::clock::micros;
use crate::wire::{Cookie, Handshake, HandshakeKind};
use sojourn_base::units::{Span, Time};

/// A cookie is good for the rest of the period in which it was given, and for the next one. A client
/// asks for 10.7 s.
const PERIOD: Span = Span::from_secs(15);
/// Cookies of connections that were opened, which open no second one.
const USED: usize = 4_096;

/// A server's door.
pub(super) struct Door {
    key: [u8; 64],
    /// Names of the controls that a client may ask for.
    controls: BTreeSet<String>,
    /// The latest last, with the period in which each was used.
    used: VecDeque<(u64, Cookie)>,
}

impl Door {
    /// Of a server with these controls.
    pub(super) fn new(controls: BTreeSet<String>) -> Self {
        Door { key: rand::random(), controls, used: VecDeque::new() }
    }

    /// The answer to a client's hello, which nothing is kept of.
    pub(super) fn answer(&self, now: Time, from: SocketAddr, hello: &Handshake) -> Handshake {
        let known = hello.controls.iter().all(|name| self.controls.contains(name));
        let (kind, cookie) = if known {
            (HandshakeKind::ServerHello, Some(self.cookie(period(now), from, hello)))
        } else {
            (HandshakeKind::Reject, None)
        };
        let (stamp, echo) = (micros(now).max(1), hello.stamp);
        Handshake {
            kind,
            controls: hello.controls.clone(),
            stamp,
            echo,
            client: hello.client,
            cookie,
        }
    }

    /// Whether this confirmation opens a connection: it has the cookie of this address, which opens
    /// no other one.
    pub(super) fn admits(&mut self, now: Time, from: SocketAddr, confirm: &Handshake) -> bool {
        let Some(cookie) = confirm.cookie else { return false };
        let current = period(now);
        let given = (current.saturating_sub(1)..=current)
            .any(|period| self.code(period, from, confirm).verify_slice(&cookie).is_ok());
        while self.used.front().is_some_and(|(period, _)| period + 1 < current) {
            self.used.pop_front();
        }
        if !given || self.used.iter().any(|(_, used)| *used == cookie) {
            return false;
        }
        if self.used.len() == USED {
            self.used.pop_front();
        }
        self.used.push_back((current, cookie));
        true
    }

    fn cookie(&self, period: u64, from: SocketAddr, hello: &Handshake) -> Cookie {
        self.code(period, from, hello).finalize().into_bytes().into()
    }

    fn code(&self, period: u64, from: SocketAddr, handshake: &Handshake) -> Blake2bMac<U16> {
        let mut code = Blake2bMac::<U16>::new(&self.key.into());
        code.update(&period.to_be_bytes());
        match from.ip() {
            IpAddr::V4(address) => code.update(&address.to_ipv6_mapped().octets()),
            IpAddr::V6(address) => code.update(&address.octets()),
        }
        code.update(&from.port().to_be_bytes());
        code.update(&handshake.client.to_be_bytes());
        for name in &handshake.controls {
            code.update(&[name.len() as u8]);
            code.update(name.as_bytes());
        }
        code
    }
}

fn period(now: Time) -> u64 {
    now.since(Time::ZERO).as_nanos() / PERIOD.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Datagram, encode};

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn hello(names: &[&str]) -> Handshake {
        Handshake {
            kind: HandshakeKind::ClientHello,
            controls: names.iter().map(|&name| name.to_owned()).collect(),
            stamp: 5,
            echo: 0,
            client: 77,
            cookie: None,
        }
    }

    fn door() -> Door {
        Door::new(["cubic", "copa"].map(str::to_owned).into())
    }

    fn confirm(answer: &Handshake) -> Handshake {
        Handshake { kind: HandshakeKind::ClientConfirm, echo: answer.stamp, ..answer.clone() }
    }

    #[test]
    fn a_cookie_opens_one_connection_for_its_address_for_a_while() {
        let mut door = door();
        let (now, from) = (Time::from_nanos(1), address("192.0.2.1:9"));
        let answer = door.answer(now, from, &hello(&["cubic"]));
        assert_eq!(answer.kind, HandshakeKind::ServerHello);
        let confirm = confirm(&answer);
        for other in ["192.0.2.2:9", "192.0.2.1:10", "[2001:db8::1]:9"] {
            assert!(!door.admits(now, address(other), &confirm), "{other}");
        }
        for changed in [
            Handshake { client: 78, ..confirm.clone() },
            Handshake { controls: vec!["copa".to_owned()], ..confirm.clone() },
            Handshake { cookie: None, ..confirm.clone() },
            Handshake {
                cookie: confirm.cookie.map(|mut c| {
                    c[15] ^= 1;
                    c
                }),
                ..confirm.clone()
            },
        ] {
            assert!(!door.admits(now, from, &changed), "{changed:?}");
        }
        assert!(!door.admits(now + PERIOD * 2, from, &confirm), "too late");
        assert!(door.admits(now + Span::from_secs(11), from, &confirm));
        assert!(!door.admits(now + Span::from_secs(11), from, &confirm), "a second time");
    }

    #[test]
    fn two_servers_have_different_keys() {
        let (now, from) = (Time::from_nanos(1), address("192.0.2.1:9"));
        let answer = door().answer(now, from, &hello(&["cubic"]));
        assert!(!door().admits(now, from, &confirm(&answer)));
    }

    #[test]
    fn unknown_controls_are_refused_without_a_cookie() {
        let answer =
            door().answer(Time::ZERO, address("192.0.2.1:9"), &hello(&["cubic", "nosuch"]));
        assert_eq!((answer.kind, answer.cookie), (HandshakeKind::Reject, None));
    }

    #[test]
    fn an_answer_is_at_most_three_times_as_long_as_what_it_answers() {
        let (door, from) = (door(), address("192.0.2.1:9"));
        let longest = "x".repeat(255);
        for names in [&["copa"][..], &["cubic"], &["cubic", "copa"], &[""], &[&longest[..]; 5]] {
            let size = |handshake: Handshake| {
                let mut bytes = Vec::new();
                encode::<crate::udp::Message>(&Datagram::Handshake(handshake), &mut bytes);
                bytes.len()
            };
            let answer = door.answer(Time::ZERO, from, &hello(names));
            assert!(size(answer) <= 3 * size(hello(names)), "{names:?}");
        }
    }
}
