//! Two gates, between which the input loses, repeats, delays, changes, cuts and adds datagrams.
//! Content is opened once at most, and only what the other end has sealed; and when nothing happens to
//! datagrams any longer, the two hear each other.
//!
//! The input is a list of steps: what happens (in its lowest bit, on the way to which end), a number,
//! and what that step needs.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use sojourn_base::units::{Span, Time};
use sojourn_sliq::secure::{Ages, Gate, Moment, PeerId, Secret};

const STEPS: usize = 200;
/// Times that the input lets pass: each may bring a few handshakes, which take the most time.
const PASSES: usize = 4;

/// Returns how many datagrams have arrived.
pub(super) fn check(bytes: &[u8]) -> usize {
    let mut pair = Pair::new();
    let mut rest = bytes;
    for _ in 0..STEPS {
        let [what, number, after @ ..] = rest else { break };
        rest = pair.step(*what, *number, after);
        pair.now += Span::from_micros(100);
        pair.poll();
    }
    pair.deliver_all();
    assert!(pair.talks() || pair.talk_in_time(), "they are deaf");
    pair.arrived
}

struct End {
    gate: Gate,
    peer: PeerId,
    /// Numbers that it has sealed, and those that it has opened.
    sealed: BTreeSet<u32>,
    opened: BTreeSet<u32>,
}

struct Pair {
    ends: [End; 2],
    /// Datagrams on their way to each.
    way: [VecDeque<Vec<u8>>; 2],
    now: Time,
    next: u32,
    passes: usize,
    arrived: usize,
}

fn ages() -> Ages {
    Ages {
        renew: Span::from_millis(2_000),
        refuse: Span::from_millis(3_000),
        retry: Span::from_millis(500),
        keepalive: Span::from_millis(400),
        silence: Span::from_millis(1_000),
        cookie: Span::from_millis(2_000),
    }
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, end as u8], 7_100))
}

impl Pair {
    fn new() -> Self {
        let secret = |end: usize| Secret::from_bytes([3 + end as u8; 32]);
        let end = |end: usize| {
            let mut gate = Gate::new(secret(end), [end as u8; 8], ages());
            let peer = gate.add(secret(1 - end).public(), Some(address(1 - end)));
            End { gate, peer, sealed: BTreeSet::new(), opened: BTreeSet::new() }
        };
        let now = Time::ZERO + Span::from_millis(1);
        Pair {
            ends: [end(0), end(1)],
            way: Default::default(),
            now,
            next: 0,
            passes: 0,
            arrived: 0,
        }
    }

    fn moment(&self) -> Moment {
        Moment::new(self.now, Duration::from_nanos(self.now.as_nanos()))
    }

    /// Returns what the step leaves of the input.
    fn step<'a>(&mut self, what: u8, number: u8, rest: &'a [u8]) -> &'a [u8] {
        let to = usize::from(what & 1);
        match what >> 1 & 7 {
            0 => {
                for _ in 0..=number {
                    let Some(bytes) = self.way[to].pop_front() else { break };
                    self.arrive(to, address(1 - to), &bytes);
                }
                rest
            }
            1 => {
                self.say(1 - to);
                rest
            }
            6 => {
                self.passes += 1;
                if self.passes <= PASSES {
                    self.now += Span::from_millis(u64::from(number) * 10);
                }
                rest
            }
            7 => {
                let (strange, rest) = rest.split_at(usize::from(number).min(rest.len()));
                self.arrive(to, address(usize::from(number % 3)), strange);
                rest
            }
            step => self.harm(to, step, usize::from(number), rest),
        }
    }

    /// Something happens to the next datagram.
    fn harm<'a>(&mut self, to: usize, step: u8, number: usize, rest: &'a [u8]) -> &'a [u8] {
        let way = &mut self.way[to];
        let Some(first) = way.front_mut().filter(|first| !first.is_empty()) else { return rest };
        let at = number % first.len();
        match step {
            2 => drop(way.pop_front()),
            3 => {
                let copy = first.clone();
                way.push_back(copy);
            }
            4 => {
                let Some((change, rest)) = rest.split_first() else { return rest };
                first[at] ^= change;
                return rest;
            }
            _ => first.truncate(at),
        }
        rest
    }

    fn arrive(&mut self, to: usize, from: SocketAddr, bytes: &[u8]) {
        let (at, mut plain) = (self.moment(), Vec::new());
        self.arrived += 1;
        self.ends[to].gate.hear(&at, from, bytes, &mut plain);
        if plain.is_empty() {
            return;
        }
        let number = u32::from_le_bytes(plain[..].try_into().expect("content of this check"));
        assert!(self.ends[1 - to].sealed.contains(&number), "{number} was not sent");
        assert!(self.ends[to].opened.insert(number), "{number} a second time");
    }

    fn say(&mut self, from: usize) {
        let (at, mut out) = (self.moment(), Vec::new());
        self.next += 1;
        let end = &mut self.ends[from];
        if end.gate.seal(&at, end.peer, &self.next.to_le_bytes(), &mut out).is_some() {
            end.sealed.insert(self.next);
            self.way[1 - from].push_back(out);
        }
    }

    /// Both ends say what is due.
    fn poll(&mut self) {
        let (at, mut out) = (self.moment(), Vec::new());
        for from in 0..2 {
            let mut count = 0;
            while let Some(to) = self.ends[from].gate.poll(&at, &mut out) {
                if to == address(1 - from) {
                    self.way[1 - from].push_back(out.clone());
                }
                count += 1;
                assert!(count < 8, "it does not end");
            }
        }
    }

    fn deliver_all(&mut self) {
        self.poll();
        while self.way.iter().any(|way| !way.is_empty()) {
            for to in 0..2 {
                if let Some(bytes) = self.way[to].pop_front() {
                    self.arrive(to, address(1 - to), &bytes);
                    self.poll();
                }
            }
        }
    }

    /// Whether they hear each other before no old session could be left, if all datagrams arrive.
    fn talk_in_time(&mut self) -> bool {
        let end = self.now + ages().refuse * 2;
        while self.now < end {
            self.now += Span::from_millis(50);
            self.deliver_all();
            if self.talks() {
                return true;
            }
        }
        false
    }

    /// Whether what each says now arrives.
    fn talks(&mut self) -> bool {
        (0..2).all(|from| {
            self.say(from);
            self.deliver_all();
            self.ends[1 - from].opened.contains(&self.next)
        })
    }
}
