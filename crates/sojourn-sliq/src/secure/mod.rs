//! Authenticated and encrypted peers, sans-io: `Noise_IK_25519_ChaChaPoly_BLAKE2s` in WireGuard's
//! framing and with its defences, but for datagrams of any content.
//!
//! | part | file |
//! | --- | --- |
//! | secret and public keys, their files | `keys` |
//! | the layouts of the four messages | `frame` |
//! | codes that are checked before any Diffie-Hellman, cookies | `mac` |
//! | the handshake and the ciphers | `noise` |
//! | which counters have been seen | `window` |
//! | the sessions of a peer: previous, current, next | `keyring` |
//! | the calls to a peer: initiations | `call` |
//! | a peer: address, timers, what it is owed | `peer` |
//! | how many handshakes are heeded | `load` |
//! | all peers of a socket, and what it tells of them | `gate`, `told` |
//! | what was refused, by reason | `counters` |
//!
//! What differs from WireGuard (its paper of 2020 and Linux 6.12's `drivers/net/wireguard`):
//!
//! - An initiation from an address that no peer is configured with always needs a cookie, and so do
//!   most from one that is; after it, an address has a share of its own in the handshakes. A cookie
//!   reply is answered at once, and a call is repeated soon at first, not after five seconds.
//! - Of two initiations that cross, the one of the lesser public key is heeded, so that one session
//!   results. A peer's address follows the newest datagram that opens, never an initiation, which may
//!   be a replay.
//! - Both handshake messages carry the *boot*, 8 random bytes of a process, so that a peer that was
//!   started anew is known as such.
//! - Only a peer that is configured with an address is called, and it is called for good.
//! - There is no second code in a response, no padding of data, and no pre-shared key.

mod call;
mod counters;
mod frame;
mod gate;
mod keyring;
mod keys;
mod load;
mod mac;
mod noise;
mod peer;
mod told;
mod window;

#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use sojourn_base::units::{Span, Time};

pub use counters::Counters;
pub use gate::Gate;
pub use keys::{KeyError, Public, Secret};
pub use told::{Heard, PeerId, Told};

/// By how many bytes a sealed datagram is longer than its content.
pub const SEALING: usize = 32;

/// Random bytes that name a process's run.
pub type Boot = [u8; 8];

/// Now: by the clock of timers, and by that which orders initiations across restarts (TAI64N).
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Time of the monotonic clock.
    pub now: Time,
    /// Seconds and nanoseconds of the wall clock, big-endian.
    pub wall: [u8; 12],
}

impl Moment {
    /// With the wall clock's time since the beginning of 1970.
    pub fn new(now: Time, unix: Duration) -> Self {
        let mut wall = [0; 12];
        // As WireGuard: TAI was 10 s ahead in 1970, and leap seconds are not counted.
        wall[..8].copy_from_slice(&((1 << 62) + 10 + unix.as_secs()).to_be_bytes());
        wall[8..].copy_from_slice(&unix.subsec_nanos().to_be_bytes());
        Moment { now, wall }
    }
}

/// How long things last; WireGuard's by default.
#[derive(Clone, Copy, Debug)]
pub struct Ages {
    /// After this the initiator of a session begins another one.
    pub renew: Span,
    /// After this a session neither seals nor opens.
    pub refuse: Span,
    /// An initiation without an answer is repeated after a sixteenth of this, then after twice as long
    /// and so on up to this, each and up to a fifteenth more.
    pub retry: Span,
    /// After this of only receiving, an empty datagram is sent.
    pub keepalive: Span,
    /// After this without a word from a peer that data was sent to, it is called again.
    pub silence: Span,
    /// How long a cookie is good.
    pub cookie: Span,
}

impl Default for Ages {
    fn default() -> Self {
        Ages {
            renew: Span::from_secs(120),
            refuse: Span::from_secs(180),
            retry: Span::from_secs(5),
            keepalive: Span::from_secs(10),
            silence: Span::from_secs(15),
            cookie: Span::from_secs(120),
        }
    }
}

/// Whether an answer can be sent to this address at all.
pub(crate) fn can_answer(address: SocketAddr) -> bool {
    let nobody = match address.ip() {
        IpAddr::V4(ip) => ip.is_unspecified() || ip.is_broadcast() || ip.is_multicast(),
        IpAddr::V6(ip) => ip.is_unspecified() || ip.is_multicast(),
    };
    address.port() != 0 && !nobody
}
