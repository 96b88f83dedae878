//! The way of datagrams from one node to the other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::attack::Attack;
use crate::between::State;
use crate::strangers::Stranger;

/// Longest wait for a datagram, after which it is asked whether to end.
const WAIT: Duration = Duration::from_millis(20);
const SHORTEST: Duration = Duration::from_micros(50);
/// How late one is that others overtake, and one that comes again.
const OVERTAKEN: Duration = Duration::from_millis(3);
const AGAIN: Duration = Duration::from_millis(5);
/// How many datagrams are kept to come again much later.
const KEPT: usize = 4_096;
/// The type of a cookie reply.
const COOKIE: u8 = 3;

/// A datagram that is sent at a time, and its number.
type Later = Reverse<(Instant, u64, Vec<u8>)>;

/// What a way needs.
pub(crate) struct Way {
    /// Where datagrams of the one node come in, and where it is.
    pub(crate) from: (UdpSocket, SocketAddr),
    /// Where they go out to the other one, and where that is.
    pub(crate) to: (UdpSocket, SocketAddr),
    /// What all share.
    pub(crate) state: Arc<State>,
    /// Who calls the other node.
    pub(crate) stranger: Stranger,
    /// Datagrams so far.
    pub(crate) count: u64,
    /// Those that were sent last, and those to be sent.
    pub(crate) kept: VecDeque<Vec<u8>>,
    /// To be sent later.
    pub(crate) later: BinaryHeap<Later>,
}

impl Way {
    /// Passes datagrams on, and attacks them, until the end.
    #[allow(clippy::disallowed_methods)] // real nodes are attacked in real time
    pub(crate) fn run(mut self) {
        let mut bytes = vec![0; 65_536];
        while !self.state.ends() {
            self.send_due(Instant::now());
            let due = self.later.peek().map(|Reverse((at, ..))| *at);
            let wait = due.map_or(WAIT, |at| at.saturating_duration_since(Instant::now()));
            let wait = wait.clamp(SHORTEST, WAIT);
            self.from.0.set_read_timeout(Some(wait)).expect("a time above zero");
            match self.from.0.recv_from(&mut bytes) {
                Ok((length, from)) if from == self.from.1 => {
                    self.passes(Instant::now(), &bytes[..length]);
                }
                // A stranger's, or an answer to one of ours that nobody waits for.
                Ok(_) => {}
                Err(error) => {
                    let quiet = [ErrorKind::WouldBlock, ErrorKind::TimedOut];
                    // A node that is not there yet refuses.
                    let refused = error.kind() == ErrorKind::ConnectionRefused;
                    assert!(refused || quiet.contains(&error.kind()), "{error}");
                }
            }
        }
    }

    fn send(&self, bytes: &[u8]) {
        // What the system refuses is lost, as on any way.
        let _ = self.to.0.send_to(bytes, self.to.1);
    }

    fn send_due(&mut self, now: Instant) {
        while self.later.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            if let Some(Reverse((_, _, bytes))) = self.later.pop() {
                self.send(&bytes);
            }
        }
    }

    fn send_later(&mut self, at: Instant, bytes: &[u8]) {
        self.later.push(Reverse((at, self.count, bytes.to_vec())));
    }

    /// Whether this one is of a share of all.
    fn is_of(&self, share: f64) -> bool {
        let before = |count: u64| (count as f64 * share) as u64;
        before(self.count) != before(self.count + 1)
    }

    fn passes(&mut self, now: Instant, bytes: &[u8]) {
        self.count += 1;
        let attack = self.state.attack();
        let attacks = match attack {
            Attack::None => false,
            Attack::Drop(share) | Attack::Cut(share) | Attack::Change(share) => self.is_of(share),
            Attack::Reorder => self.count.is_multiple_of(3),
            // Answers to what others have asked in the neighbour's name.
            Attack::Flood => bytes.first() == Some(&COOKIE),
            Attack::Delay(_) | Attack::Replay | Attack::Inject => true,
        };
        if !attacks {
            return self.send(bytes);
        }
        if attack != Attack::Flood {
            self.state.count(1);
        }
        self.harm(now, attack, bytes);
    }

    fn harm(&mut self, now: Instant, attack: Attack, bytes: &[u8]) {
        let place = self.count as usize % bytes.len().max(1);
        match attack {
            Attack::None | Attack::Drop(_) | Attack::Flood => {}
            Attack::Delay(by) => self.send_later(now + by, bytes),
            Attack::Reorder => self.send_later(now + OVERTAKEN, bytes),
            Attack::Replay => {
                self.send(bytes);
                self.send_later(now + AGAIN, bytes);
                self.kept.push_back(bytes.to_vec());
                if self.kept.len() > KEPT {
                    self.kept.pop_front();
                }
                let old = self.count as usize * 7_919 % self.kept.len();
                self.send(&self.kept[old]);
            }
            Attack::Cut(_) => self.send(&bytes[..place]),
            Attack::Change(_) => {
                let mut changed = bytes.to_vec();
                if let Some(byte) = changed.get_mut(place) {
                    *byte ^= 1 << (self.count % 8);
                }
                self.send(&changed);
            }
            Attack::Inject => {
                let strange = self.stranger.says(self.count, bytes);
                self.send(&strange);
                self.send(bytes);
            }
        }
    }
}
