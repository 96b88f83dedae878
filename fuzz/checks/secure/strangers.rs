//! Gates that were set up once hear what an attacker may send: copies of genuine datagrams of all
//! four kinds, as they were where they have been heard before, changed and cut where they have not;
//! a stranger's handshakes; and any bytes. That changes nothing but counters, is answered with nothing
//! but a shorter cookie, and the genuine ones are heard as ever.
//!
//! Of each datagram the input has: which record it is a copy of; to whom, from where, whether its first
//! code is made anew, how many bytes change, and whether it is cut; then places and changes, and its
//! length. Of any bytes: their number, and these.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

use blake2::digest::consts::U16;
use blake2::digest::{Digest, KeyInit, Mac};
use blake2::{Blake2s256, Blake2sMac};
use sojourn_base::units::{Span, Time};
use sojourn_sliq::secure::{Ages, Counters, Gate, Heard, Moment, PeerId, Public, Secret};

/// Datagrams of an input.
const MOST: usize = 512;
/// After so many inputs the gates hear what they were waiting for, and others are set up.
const INPUTS: u32 = 512;
/// Bytes of an initiation before its second code, which only a stranger needs: who knows it not may
/// change it on the way of one that needs none.
const FIRST: usize = 140;
/// Bytes of handshake messages before Noise's: who makes the first code anew may change the number of
/// the sender's session, which makes that handshake one in vain.
const NUMBERS: usize = 12;

/// Those that hear: one has called, and another has heard nothing; two have a session. The one at even
/// places has the lesser public key, so that its calls have precedence.
const CALLING: usize = 0;
const WAITING: usize = 1;
const TALKING: [usize; 2] = [2, 3];

thread_local! {
    static GROUND: RefCell<Ground> = RefCell::new(Ground::new());
}

/// Returns how many datagrams have arrived.
pub(super) fn check(bytes: &[u8]) -> usize {
    GROUND.with_borrow_mut(|ground| {
        let (mut rest, mut count) = (bytes, 0);
        while let Some(left) = ground.attack(rest).filter(|_| count < MOST) {
            (rest, count) = (left, count + 1);
        }
        ground.is_unharmed();
        if ground.inputs == INPUTS {
            ground.goes_on();
            *ground = Ground::new();
        }
        count
    })
}

struct End {
    gate: Gate,
    peer: PeerId,
    digest: u64,
}

/// A genuine datagram, and who would hear it as it is.
struct Record {
    bytes: Vec<u8>,
    fresh: Option<usize>,
}

struct Records(Vec<Record>);

struct Ground {
    ends: [End; 4],
    records: Vec<Record>,
    /// The response to the call, and the end that has answered it.
    answer: Vec<u8>,
    answered: End,
    now: Time,
    inputs: u32,
    said: u32,
}

/// Nothing is due in the time of a ground.
fn ages() -> Ages {
    let long = Span::from_secs(1_000_000);
    Ages { renew: long, refuse: long, retry: long, keepalive: long, silence: long, cookie: long }
}

fn secret(which: u8) -> Secret {
    Secret::from_bytes([3 + which; 32])
}

fn address(which: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1 + which], 7_100))
}

/// The addresses that datagrams come from: each neighbour's, a stranger's, and one that nobody has.
fn places() -> [SocketAddr; 4] {
    [address(0), address(1), address(9), SocketAddr::from(([192, 0, 2, 1], 0))]
}

/// An end of these two, which knows the other's address or waits.
fn end(which: u8, place: Option<SocketAddr>) -> End {
    let mut gate = Gate::new(secret(which), [which; 8], ages());
    let peer = gate.add(secret(1 - which).public(), place);
    End { gate, peer, digest: 0 }
}

fn moment(now: Time) -> Moment {
    Moment::new(now, Duration::from_nanos(now.as_nanos()))
}

/// What an end says next of its own.
fn said(end: &mut End, now: Time) -> Vec<u8> {
    let mut out = Vec::new();
    end.gate.poll(&moment(now), &mut out).expect("it has something to say");
    out
}

fn hear(end: &mut End, now: Time, from: SocketAddr, bytes: &[u8]) -> (Heard, Vec<u8>) {
    let mut plain = Vec::new();
    (end.gate.hear(&moment(now), from, bytes, &mut plain), plain)
}

fn sealed(end: &mut End, now: Time, content: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let to = end.gate.seal(&moment(now), end.peer, &content.to_le_bytes(), &mut out);
    assert!(to.is_some(), "there is a session");
    out
}

impl Records {
    fn keep(&mut self, bytes: &[u8], fresh: Option<usize>) {
        self.0.push(Record { bytes: bytes.to_vec(), fresh });
    }

    /// A call that waits for its cookie or its response; who has answered it, and with what.
    fn of_a_call(&mut self, now: Time) -> (End, End, Vec<u8>) {
        let mut calling = end(0, Some(address(1)));
        let call = said(&mut calling, now);
        self.keep(&call, Some(WAITING));
        let mut unknowing = end(1, None);
        hear(&mut unknowing, now, address(0), &call);
        self.keep(&said(&mut unknowing, now), Some(CALLING));
        let mut answered = end(1, Some(address(0)));
        hear(&mut answered, now, address(0), &call);
        let answer = said(&mut answered, now);
        self.keep(&answer, Some(CALLING));
        (calling, answered, answer)
    }

    /// Two that have a session.
    fn of_a_session(&mut self, now: Time) -> [End; 2] {
        let [mut one, mut two] = [end(0, Some(address(1))), end(1, None)];
        // The call, its cookie, the call with it, the response, and what confirms it.
        for message in 0..5 {
            let ends = [(&mut one, 0), (&mut two, 1)];
            let [(from, place), (to, _)] = if message % 2 == 0 {
                ends
            } else {
                let [one, two] = ends;
                [two, one]
            };
            let bytes = said(from, now);
            // One that has heard nothing would heed the calls, as one that was started anew does.
            self.keep(&bytes, (bytes[0] == 1).then_some(WAITING));
            hear(to, now, address(place), &bytes);
        }
        self.keep(&sealed(&mut one, now, u32::MAX), Some(TALKING[1]));
        self.keep(&sealed(&mut two, now, u32::MAX), Some(TALKING[0]));
        [one, two]
    }

    /// A stranger's call, without its cookie and with it.
    fn of_a_stranger(&mut self, now: Time, called: &mut End) {
        let mut gate = Gate::new(secret(6), [6; 8], ages());
        let peer = gate.add(secret(1).public(), Some(address(1)));
        let mut stranger = End { gate, peer, digest: 0 };
        let call = said(&mut stranger, now);
        self.keep(&call, None);
        hear(called, now, address(9), &call);
        let cookie = said(called, now);
        hear(&mut stranger, now, address(1), &cookie);
        self.keep(&said(&mut stranger, now), None);
    }
}

impl Ground {
    fn new() -> Self {
        let now = Time::ZERO + Span::from_secs(1);
        let mut records = Records(Vec::new());
        let (calling, answered, answer) = records.of_a_call(now);
        // The one that waits has called as well, and heard nothing.
        let mut waiting = end(1, Some(address(0)));
        said(&mut waiting, now);
        let now = now + Span::from_secs(1);
        let [one, mut two] = records.of_a_session(now);
        records.of_a_stranger(now, &mut two);
        let ends = [calling, waiting, one, two];
        let Records(records) = records;
        let mut ground = Ground { ends, records, answer, answered, now, inputs: 0, said: 0 };
        ground.note();
        ground
    }

    fn note(&mut self) {
        self.ends.iter_mut().for_each(|end| end.digest = end.gate.digest());
    }

    /// A datagram of the input arrives; returns what is left of it, `None` if there is none.
    fn attack<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let [which, how, rest @ ..] = bytes else { return None };
        let (to, from) = (usize::from(how & 3), places()[usize::from(how >> 2 & 3)]);
        let Some(record) = self.records.get(usize::from(which % 16)) else {
            let (length, rest) = rest.split_first()?;
            let (bytes, rest) = rest.split_at(usize::from(*length).min(rest.len()));
            self.arrives(to, from, bytes);
            return Some(rest);
        };
        let (mut rest, mut bytes) = (rest, record.bytes.clone());
        let (first, last) = match (bytes[0], how >> 4 & 1) {
            (1 | 2, 1) => (NUMBERS, bytes.len().min(FIRST)),
            (1, _) => (0, FIRST),
            _ => (0, bytes.len()),
        };
        for _ in 0..how >> 5 & 3 {
            let [at, change, after @ ..] = rest else { break };
            bytes[first + usize::from(*at) % (last - first)] ^= change;
            rest = after;
        }
        if how >> 4 & 1 == 1 {
            with_first_code(&mut bytes, to);
        }
        if let (1, Some((length, after))) = (how >> 7, rest.split_first()) {
            bytes.resize(usize::from(*length), 0);
            rest = after;
        }
        if record.fresh != Some(to) || bytes != record.bytes {
            self.arrives(to, from, &bytes);
        }
        Some(rest)
    }

    /// A datagram of an attacker arrives.
    fn arrives(&mut self, to: usize, from: SocketAddr, bytes: &[u8]) {
        let (at, end) = (moment(self.now), &mut self.ends[to]);
        let counted: Counters = *end.gate.counters();
        assert_eq!(hear(end, self.now, from, bytes), (Heard::Nothing, Vec::new()));
        assert_ne!(*end.gate.counters(), counted, "it is counted");
        let mut out = Vec::new();
        if let Some(place) = end.gate.poll(&at, &mut out) {
            assert!(place == from && out[0] == 3 && out.len() < bytes.len(), "{out:?}");
            assert_eq!(end.gate.poll(&at, &mut out), None);
        }
    }

    /// Nothing has changed, and those who have a session hear each other.
    fn is_unharmed(&mut self) {
        for (which, end) in self.ends.iter().enumerate() {
            assert_eq!(end.gate.digest(), end.digest, "{which} has changed");
        }
        (self.now, self.inputs) = (self.now + Span::from_millis(1), self.inputs + 1);
        for (from, to) in [(TALKING[0], TALKING[1]), (TALKING[1], TALKING[0])] {
            self.said += 1;
            let bytes = sealed(&mut self.ends[from], self.now, self.said);
            let place = address((from - TALKING[0]) as u8);
            let (heard, plain) = hear(&mut self.ends[to], self.now, place, &bytes);
            assert_eq!(heard, Heard::Data(self.ends[to].peer));
            assert_eq!(plain, self.said.to_le_bytes());
        }
        self.note();
    }

    /// The others hear what is genuine.
    fn goes_on(&mut self) {
        // Time for those that are heeded without a cookie.
        self.now += Span::from_secs(10);
        let (now, [calling, waiting, ..]) = (self.now, &mut self.ends);
        let (heard, _) = hear(calling, now, address(1), &self.answer);
        assert!(matches!(heard, Heard::Session { .. }), "the response: {heard:?}");
        let first = said(calling, now);
        let (heard, _) = hear(&mut self.answered, now, address(0), &first);
        assert!(matches!(heard, Heard::Session { .. }), "the first datagram: {heard:?}");
        hear(waiting, now, address(0), &self.records[0].bytes);
        assert_eq!(said(waiting, now)[0], 2, "the call is answered");
    }
}

/// Makes the first code of a handshake message anew, for who hears it.
fn with_first_code(bytes: &mut [u8], to: usize) {
    let at = match bytes[0] {
        1 => bytes.len() - 32,
        2 => bytes.len() - 16,
        _ => return,
    };
    let public: Public = secret((to & 1) as u8).public();
    let key = Blake2s256::new().chain_update(b"mac1----").chain_update(public.bytes()).finalize();
    let code = <Blake2sMac<U16> as KeyInit>::new_from_slice(&key).expect("32 bytes");
    let code = code.chain_update(&bytes[..at]).finalize().into_bytes();
    bytes[at..at + 16].copy_from_slice(&code);
}
