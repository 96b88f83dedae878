//! Codes that are checked before any Diffie-Hellman, as WireGuard's (5.4.4, 5.4.7).
//!
//! The first code of a handshake message is of the receiver's public key: who does not know it is not
//! answered. The second is of a cookie, which the receiver gives to an address and keeps nothing of:
//! who has it reads what is sent there.

use std::net::{IpAddr, SocketAddr};

use blake2::digest::consts::U16;
use blake2::digest::{Digest, KeyInit, Mac};
use blake2::{Blake2s256, Blake2sMac};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInPlace, KeyInit as SealInit};
use sojourn_base::units::{Span, Time};

use super::frame::{Code, Reply, SEALED_COOKIE, reply};
use super::keys::{KEY, Public};

/// Keys of the codes and cookies in messages to one public key.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    first: [u8; KEY],
    cookie: [u8; KEY],
}

impl Codes {
    /// Of messages to the owner of this key.
    pub(super) fn to(public: &Public) -> Self {
        let key = |label: &[u8]| Blake2s256::new().chain_update(label).chain_update(public.bytes());
        let [first, cookie] = [b"mac1----", b"cookie--"].map(|label| key(label).finalize().into());
        Codes { first, cookie }
    }

    /// The first code of a message's beginning.
    pub(super) fn first(&self, bytes: &[u8]) -> Code {
        code(&self.first, bytes)
    }

    /// Whether the first code is that of what precedes it.
    pub(super) fn is_first(&self, (bytes, found): (&[u8], &Code)) -> bool {
        is_code(&self.first, bytes, found)
    }

    /// The reply that gives a cookie to the sender of an initiation with this first code.
    pub(super) fn reply(&self, receiver: u32, first: &Code, cookie: &Code) -> Vec<u8> {
        let nonce: [u8; 24] = rand::random();
        let mut sealed = [0; SEALED_COOKIE];
        let (content, tag) = sealed.split_at_mut(cookie.len());
        content.copy_from_slice(cookie);
        let made = self.cipher().encrypt_in_place_detached((&nonce).into(), first, content);
        tag.copy_from_slice(&made.expect("a cookie is not too long"));
        reply(receiver, &nonce, &sealed).to_vec()
    }

    /// The cookie in a reply to an initiation with this first code.
    pub(super) fn cookie(&self, reply: &Reply<'_>, first: &Code) -> Option<Code> {
        let (content, tag) = reply.sealed.split_first_chunk()?;
        let mut cookie: Code = *content;
        let nonce = reply.nonce.into();
        let opened = self.cipher().decrypt_in_place_detached(nonce, first, &mut cookie, tag.into());
        opened.is_ok().then_some(cookie)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        <XChaCha20Poly1305 as SealInit>::new((&self.cookie).into())
    }
}

/// The second code of a message's beginning, of the cookie that its sender has.
pub(super) fn second(cookie: &Code, bytes: &[u8]) -> Code {
    code(cookie, bytes)
}

/// What makes cookies: a secret, which is another one after a while.
#[derive(Debug)]
pub(super) struct Cookies {
    secret: [u8; KEY],
    since: Option<Time>,
    age: Span,
}

impl Cookies {
    /// That are good for this long.
    pub(super) fn new(age: Span) -> Self {
        Cookies { secret: [0; KEY], since: None, age }
    }

    /// The cookie of an address.
    pub(super) fn of(&mut self, now: Time, from: SocketAddr) -> Code {
        if self.since.is_none_or(|since| now.since(since) >= self.age) {
            (self.secret, self.since) = (rand::random(), Some(now));
        }
        let mut bytes = [0; 18];
        bytes[..16].copy_from_slice(&octets(from.ip()));
        bytes[16..].copy_from_slice(&from.port().to_le_bytes());
        code(&self.secret, &bytes)
    }

    /// Whether the second code is of this address's cookie.
    pub(super) fn is_second(
        &mut self,
        now: Time,
        from: SocketAddr,
        (bytes, found): (&[u8], &Code),
    ) -> bool {
        is_code(&self.of(now, from), bytes, found)
    }
}

/// The bytes of an address, of either family.
pub(super) fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

fn keyed(key: &[u8], bytes: &[u8]) -> Blake2sMac<U16> {
    let code = <Blake2sMac<U16> as KeyInit>::new_from_slice(key).expect("keys have 16 or 32 bytes");
    code.chain_update(bytes)
}

/// A code of these bytes.
pub(super) fn code(key: &[u8], bytes: &[u8]) -> Code {
    keyed(key, bytes).finalize().into_bytes().into()
}

/// Whether it is, in a time that does not tell how much of it is right.
fn is_code(key: &[u8], bytes: &[u8], found: &Code) -> bool {
    keyed(key, bytes).verify_slice(found).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::frame::{self, Frame};
    use super::super::keys::Secret;
    use super::*;

    #[test]
    fn a_cookie_is_of_an_address_and_a_time() {
        let mut cookies = Cookies::new(Span::from_secs(120));
        let from: SocketAddr = "192.0.2.1:9".parse().unwrap();
        let cookie = cookies.of(Time::ZERO, from);
        let later = Time::ZERO + Span::from_secs(119);
        assert_eq!(cookies.of(later, from), cookie);
        for other in ["192.0.2.2:9", "192.0.2.1:10", "[2001:db8::1]:9"] {
            assert_ne!(cookies.of(later, other.parse().unwrap()), cookie, "{other}");
        }
        assert_ne!(cookies.of(later + Span::from_secs(1), from), cookie);
        assert_ne!(
            Cookies::new(Span::from_secs(120)).of(Time::ZERO, from),
            cookie,
            "another secret"
        );
    }

    #[test]
    fn a_reply_is_read_by_who_sent_that_initiation() {
        let codes = Codes::to(&Secret::from_bytes([3; KEY]).public());
        let bytes = codes.reply(7, &[1; 16], &[2; 16]);
        let Some(Frame::Reply(reply)) = frame::parse(&bytes) else { panic!("no reply") };
        assert_eq!((reply.receiver, codes.cookie(&reply, &[1; 16])), (7, Some([2; 16])));
        assert_eq!(codes.cookie(&reply, &[3; 16]), None, "of another initiation");
        let others = Codes::to(&Secret::from_bytes([4; KEY]).public());
        assert_eq!(others.cookie(&reply, &[1; 16]), None, "of another key");
    }
}
