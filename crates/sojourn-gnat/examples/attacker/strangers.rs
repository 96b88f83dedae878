//! Datagrams of strangers.

use std::net::SocketAddr;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use sojourn_base::units::{Span, Time};
use sojourn_sliq::secure::{Ages, Gate, Moment, PeerId, Public, Secret};

/// Kinds of datagrams that [`Stranger::says`] makes.
const KINDS: u64 = 5;
/// Lengths of an initiation, a response and a cookie reply.
const INITIATION: usize = 156;
const RESPONSE: usize = 84;
const REPLY: usize = 64;

/// One that has a key which no node knows, and calls a node.
pub(crate) struct Stranger {
    gate: Gate,
    peer: PeerId,
    begun: Instant,
    /// Its call, with the cookie that the node has given it.
    pub(crate) call: Vec<u8>,
}

impl Stranger {
    /// One with this number, which calls a node with this key at this address.
    #[allow(clippy::disallowed_methods)] // real nodes are attacked in real time
    pub(crate) fn new(number: u64, node: Public, address: SocketAddr) -> Self {
        let mut secret = [7; 32];
        secret[..8].copy_from_slice(&number.to_le_bytes());
        let mut gate = Gate::new(Secret::from_bytes(secret), number.to_le_bytes(), Ages::default());
        let peer = gate.add(node, Some(address));
        let mut stranger = Stranger { gate, peer, begun: Instant::now(), call: Vec::new() };
        stranger.calls();
        stranger
    }

    #[allow(clippy::disallowed_methods)] // as above
    fn moment(&self) -> Moment {
        let passed = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment::new(Time::ZERO + Span::from_secs(1) + Span::from_nanos(passed), unix)
    }

    /// Makes what is due; whether there was something.
    fn calls(&mut self) -> bool {
        let (at, mut out) = (self.moment(), Vec::new());
        let calls = self.gate.poll(&at, &mut out).is_some();
        if calls {
            self.call = out;
        }
        calls
    }

    /// The node has answered: with a cookie its call is another one. Whether it is.
    pub(crate) fn hears(&mut self, from: SocketAddr, bytes: &[u8]) -> bool {
        let at = self.moment();
        self.gate.hear(&at, from, bytes, &mut Vec::new());
        assert!(self.gate.told(at.now, self.peer).age.is_none(), "a stranger has a session");
        self.calls()
    }

    /// A datagram of the next kind, beside this genuine one.
    pub(crate) fn says(&self, number: u64, genuine: &[u8]) -> Vec<u8> {
        let noise = |kind: u8, length: usize| {
            let mut bytes: Vec<u8> =
                (0..length as u64).map(|at| (at * number % 251) as u8).collect();
            bytes[..4].copy_from_slice(&[kind, 0, 0, 0]);
            bytes
        };
        match number % KINDS {
            0 => self.call.clone(),
            1 => noise(1, INITIATION),
            2 => noise(2, RESPONSE),
            3 => noise(3, REPLY),
            // For the same session, with a counter to come.
            _ => {
                let mut bytes = genuine.to_vec();
                if let Some(counter) = bytes.get_mut(8..12) {
                    counter.copy_from_slice(&[0xff; 4]);
                }
                bytes
            }
        }
    }
}
