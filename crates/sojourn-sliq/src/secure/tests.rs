//! Two gates, and what happens to datagrams between them.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use sojourn_base::units::{Span, Time};

use super::*;

/// An end: its gate, where it is, and what it has read.
struct End {
    gate: Gate,
    at: SocketAddr,
    peer: PeerId,
    heard: Vec<Heard>,
    read: Vec<Vec<u8>>,
}

/// Two ends; datagrams on their way, with their sender's address.
struct Pair {
    ends: [End; 2],
    way: VecDeque<(usize, SocketAddr, Vec<u8>)>,
    now: Time,
}

fn secret(end: usize) -> Secret {
    Secret::from_bytes([3 + end as u8; 32])
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1 + end as u8], 7_100))
}

/// An end that knows the other one's address, or waits for it.
fn end(which: usize, calls: bool, boot: u8) -> End {
    let mut gate = Gate::new(secret(which), [boot; 8], Ages::default());
    let peer = gate.add(secret(1 - which).public(), calls.then_some(address(1 - which)));
    End { gate, at: address(which), peer, heard: Vec::new(), read: Vec::new() }
}

impl Pair {
    /// Of which the first calls, and perhaps the second.
    fn new(both: bool) -> Self {
        let ends = [end(0, true, 10), end(1, both, 11)];
        Pair { ends, way: VecDeque::new(), now: Time::ZERO + Span::from_secs(1) }
    }

    /// That has a session, and the other end has heard of it.
    fn connected() -> Self {
        let mut pair = Pair::new(false);
        pair.settle();
        assert!(pair.age(0).is_some() && pair.age(1).is_some());
        pair
    }

    fn moment(&self) -> Moment {
        Moment::new(self.now, Duration::from_nanos(self.now.as_nanos()))
    }

    fn age(&self, end: usize) -> Option<Span> {
        self.ends[end].gate.told(self.now, self.ends[end].peer).age
    }

    /// Puts what an end has to say on its way.
    fn poll(&mut self, from: usize) {
        let (at, mut out) = (self.moment(), Vec::new());
        while let Some(to) = self.ends[from].gate.poll(&at, &mut out) {
            let to = usize::from(to == self.ends[1].at);
            self.way.push_back((to, self.ends[from].at, out.clone()));
        }
    }

    fn say(&mut self, from: usize, content: &[u8]) -> bool {
        let (at, mut out) = (self.moment(), Vec::new());
        let end = &mut self.ends[from];
        let to = end.gate.seal(&at, end.peer, content, &mut out);
        self.way.extend(to.map(|_| (1 - from, end.at, out)));
        to.is_some()
    }

    fn arrive(&mut self, to: usize, from: SocketAddr, bytes: &[u8]) -> Heard {
        let (at, mut plain) = (self.moment(), Vec::new());
        let end = &mut self.ends[to];
        let heard = end.gate.hear(&at, from, bytes, &mut plain);
        end.heard.extend((heard != Heard::Nothing).then_some(heard));
        end.read.extend((!plain.is_empty()).then_some(plain));
        heard
    }

    /// Both say and hear what there is, until there is nothing.
    fn settle(&mut self) {
        self.poll(0);
        self.poll(1);
        while let Some((to, from, bytes)) = self.way.pop_front() {
            self.arrive(to, from, &bytes);
            self.poll(to);
        }
    }

    /// Time passes, in which both do what is due.
    fn pass(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            self.settle();
            let due = self.ends.iter().map(|end| end.gate.next_timeout()).min().unwrap_or(end);
            if due >= end {
                break;
            }
            self.now = due.max(self.now + Span::from_nanos(1));
        }
        self.now = end;
        self.settle();
    }

    /// The only datagram on its way, taken off it.
    fn only(&mut self) -> Vec<u8> {
        assert_eq!(self.way.len(), 1);
        self.way.pop_front().unwrap().2
    }

    /// That the messages get through both ways.
    fn talk(&mut self) {
        for from in 0..2 {
            assert!(self.say(from, b"hello"), "{from}");
            self.settle();
            assert_eq!(self.ends[1 - from].read.pop().as_deref(), Some(&b"hello"[..]));
        }
    }
}

#[test]
fn a_stranger_to_an_address_gets_a_cookie_and_then_a_session() {
    let mut pair = Pair::new(false);
    pair.settle();
    pair.talk();
    let session = |peer, boot, end| Heard::Session { peer, boot: [boot; 8], address: address(end) };
    assert_eq!(pair.ends[0].heard[0], session(pair.ends[0].peer, 11, 1));
    assert_eq!(pair.ends[1].heard[0], session(pair.ends[1].peer, 10, 0));
    assert_eq!(pair.ends[1].gate.counters().cookies, 1);
}

#[test]
fn a_neighbour_at_its_address_needs_no_cookie_and_both_may_begin_at_once() {
    let mut pair = Pair::new(true);
    pair.settle();
    pair.talk();
    for end in &pair.ends {
        assert_eq!(*end.gate.counters(), Counters::default());
        // One of the two calls is heeded.
        let begun = end.heard.iter().filter(|heard| matches!(heard, Heard::Session { .. }));
        assert_eq!(begun.count(), 1);
    }
}

#[test]
fn a_call_that_is_lost_is_repeated_soon_and_then_seldom() {
    let mut pair = Pair::new(false);
    let mut calls = 0;
    for _ in 0..600 {
        pair.poll(0);
        calls += pair.way.drain(..).count();
        pair.now += Span::from_millis(100);
    }
    // After 0, 0.3, 0.9, 2.2, 4.7 and then every 5 to 5.4 s.
    assert!((15..=16).contains(&calls), "{calls}");
    let mut pair = Pair::new(false);
    pair.poll(0);
    pair.way.clear();
    pair.pass(Span::from_millis(400));
    pair.talk();
}

#[test]
fn a_changed_datagram_changes_nothing_but_a_counter() {
    let mut pair = Pair::new(false);
    pair.poll(0);
    // Question, cookie, question again, response, and the datagram that confirms it.
    for message in 0..5 {
        let (to, from, bytes) = pair.way.pop_front().unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            refused(&mut pair, to, &changed, &format!("{message}, {at}"));
            refused(&mut pair, to, &bytes[..at], &format!("{message}, {at}, cut"));
        }
        pair.arrive(to, from, &bytes);
        pair.poll(to);
    }
    pair.talk();
}

/// That this datagram is counted, and changes nothing else.
fn refused(pair: &mut Pair, to: usize, bytes: &[u8], told: &str) {
    let (before, counted) = (pair.ends[to].gate.digest(), *pair.ends[to].gate.counters());
    assert_eq!(pair.arrive(to, pair.ends[1 - to].at, bytes), Heard::Nothing, "{told}");
    // Whatever it is answered with goes nowhere.
    let answers = pair.ends[to].gate.poll(&pair.moment(), &mut Vec::new());
    assert!(answers.is_none() || pair.ends[to].gate.counters().cookies > counted.cookies, "{told}");
    assert_eq!(pair.ends[to].gate.digest(), before, "{told}");
    assert_ne!(*pair.ends[to].gate.counters(), counted, "{told}");
}

#[test]
fn data_is_read_once_and_late_only_within_the_window() {
    let mut pair = Pair::connected();
    for number in 0..2_052u32 {
        assert!(pair.say(0, &number.to_le_bytes()));
    }
    let all: Vec<Vec<u8>> = pair.way.drain(..).map(|(_, _, bytes)| bytes).collect();
    let from = address(0);
    let mut hear = |number: usize| pair.arrive(1, from, &all[number]) != Heard::Nothing;
    assert!(hear(2_051));
    assert!(hear(2_051 - 2_047) && !hear(2_051 - 2_047));
    assert!(!hear(2_051 - 2_049));
    assert!(!hear(2_051));
    assert_eq!(pair.ends[1].gate.counters().replayed, 3);
}

#[test]
fn renewal_loses_nothing_and_old_keys_do_not_last() {
    let mut pair = Pair::connected();
    for sent in 0..500u32 {
        for from in 0..2 {
            assert!(pair.say(from, &sent.to_le_bytes()));
            // Still on its way while a session begins.
            pair.poll(from);
        }
        pair.pass(Span::from_secs(1));
    }
    for end in &pair.ends {
        assert_eq!(end.read.len(), 500);
        let begun = end.heard.iter().filter(|heard| matches!(heard, Heard::Session { .. }));
        assert_eq!(begun.count(), 1 + 500 / 120);
    }
    // The caller is gone: what is left is not used for longer than it may be.
    for second in 0..200 {
        pair.now += Span::from_secs(1);
        assert_eq!(pair.say(1, b"gone?"), pair.age(1).is_some(), "{second}");
        pair.way.clear();
    }
    assert_eq!(pair.age(1), None);
}

#[test]
fn a_process_that_starts_anew_is_known_as_such_and_opens_no_replayed_session() {
    for which in 0..2 {
        let mut pair = Pair::new(true);
        pair.poll(0);
        let initiation = pair.way[0].2.clone();
        pair.settle();
        pair.talk();
        assert!(pair.say(0, b"to the old one"));
        let data = pair.way.pop_front().unwrap().2;
        pair.ends[which] = end(which, true, 20);
        // Both may come again; of the initiation the new process cannot know.
        pair.arrive(1, address(0), &data);
        pair.arrive(1, address(0), &initiation);
        pair.poll(1);
        assert!(pair.ends[1].read.len() <= 1);
        pair.way.clear();
        pair.pass(Span::from_secs(1));
        pair.ends[1].read.clear();
        pair.talk();
        let told = pair.ends[1 - which].gate.told(pair.now, pair.ends[1 - which].peer);
        assert_eq!(told.boot, Some([20; 8]));
        // What the old process sealed is no more.
        let heard = pair.arrive(1, address(0), &data);
        assert_eq!(heard, Heard::Nothing);
    }
}

#[test]
fn a_listener_that_starts_anew_is_called_when_it_is_silent() {
    let mut pair = Pair::connected();
    pair.ends[1] = end(1, false, 20);
    assert!(pair.say(0, b"lost"));
    pair.pass(Span::from_secs(16));
    pair.talk();
}

#[test]
fn a_replayed_initiation_is_no_newer() {
    let mut pair = Pair::new(true);
    pair.poll(0);
    let initiation = pair.way[0].2.clone();
    pair.settle();
    assert_eq!(pair.arrive(1, address(0), &initiation), Heard::Nothing);
    assert_eq!(pair.ends[1].gate.poll(&pair.moment(), &mut Vec::new()), None);
    assert_eq!(pair.ends[1].gate.counters().old, 1);
}

#[test]
fn a_thousand_addresses_leave_nothing_and_are_answered_with_less() {
    let mut pair = Pair::connected();
    let mut stranger = Gate::new(Secret::from_bytes([9; 32]), [0; 8], Ages::default());
    stranger.add(secret(1).public(), Some(address(1)));
    let (at, mut question) = (pair.moment(), Vec::new());
    stranger.poll(&at, &mut question).unwrap();
    let before = pair.ends[1].gate.digest();
    for number in 0..1_000u16 {
        let from = SocketAddr::from(([198, 51, 100, 1], 1 + number));
        assert_eq!(pair.arrive(1, from, &question), Heard::Nothing);
        let mut answer = Vec::new();
        assert_eq!(pair.ends[1].gate.poll(&at, &mut answer), Some(from));
        assert!(answer.len() < question.len());
    }
    assert_eq!(pair.ends[1].gate.digest(), before);
    // With a cookie its key is read: nobody's here.
    let mut cookie = Vec::new();
    pair.arrive(1, address(0), &question);
    pair.ends[1].gate.poll(&at, &mut cookie).unwrap();
    stranger.hear(&at, address(1), &cookie, &mut Vec::new());
    stranger.poll(&at, &mut question).unwrap();
    refused(&mut pair, 1, &question, "a stranger's");
    assert_eq!(pair.ends[1].gate.counters().stranger, 1);
}

#[test]
fn a_flood_from_the_neighbours_own_address_does_not_keep_it_out() {
    let mut pair = Pair::new(true);
    let mut stranger = Gate::new(Secret::from_bytes([9; 32]), [0; 8], Ages::default());
    stranger.add(secret(1).public(), Some(address(1)));
    let (at, mut question) = (pair.moment(), Vec::new());
    stranger.poll(&at, &mut question).unwrap();
    for _ in 0..100 {
        pair.arrive(1, address(0), &question);
    }
    pair.settle();
    pair.talk();
    assert_eq!(pair.ends[1].gate.counters().stranger, 5, "those that were read");
}

#[test]
fn an_address_changes_with_the_newest_datagram() {
    let mut pair = Pair::connected();
    let (old, new) = (address(0), SocketAddr::from(([203, 0, 113, 9], 40_000)));
    pair.say(0, b"one");
    pair.say(0, b"two");
    let (_, _, late) = pair.way.pop_front().unwrap();
    let moved = pair.only();
    let place = |pair: &Pair| pair.ends[1].gate.told(pair.now, pair.ends[1].peer).address;
    assert_eq!(place(&pair), Some(old));
    pair.arrive(1, new, &moved);
    assert_eq!(place(&pair), Some(new));
    pair.arrive(1, old, &late);
    assert_eq!(place(&pair), Some(new), "an older one");
    pair.arrive(1, old, &moved);
    assert_eq!(place(&pair), Some(new), "the same one again");
}

#[test]
fn who_only_receives_says_a_word_now_and_then() {
    let mut pair = Pair::connected();
    assert!(pair.say(0, b"data"));
    pair.pass(Span::from_secs(9));
    assert!(pair.ends[0].gate.told(pair.now, pair.ends[0].peer).heard < Some(pair.now));
    let before = pair.ends[0].gate.told(pair.now, pair.ends[0].peer).heard;
    pair.pass(Span::from_secs(2));
    assert!(pair.ends[0].gate.told(pair.now, pair.ends[0].peer).heard > before);
    // And nobody answers such a word.
    let after = pair.ends[1].gate.told(pair.now, pair.ends[1].peer).heard;
    pair.pass(Span::from_secs(60));
    assert_eq!(pair.ends[1].gate.told(pair.now, pair.ends[1].peer).heard, after);
}

#[test]
fn who_is_removed_is_a_stranger() {
    let mut pair = Pair::connected();
    let peer = pair.ends[1].peer;
    pair.ends[1].gate.remove(peer);
    assert!(pair.say(0, b"still there?"));
    pair.settle();
    assert!(pair.ends[1].read.is_empty());
    assert_eq!(pair.ends[1].gate.counters().stranger, 1);
    assert!(!pair.say(1, b"no"));
}

#[test]
fn nobody_is_answered_at_an_address_that_nobody_has() {
    for text in ["127.0.0.1:0", "255.255.255.255:9", "0.0.0.0:9", "224.0.0.1:9", "[ff02::1]:9"] {
        assert!(!can_answer(text.parse().unwrap()), "{text}");
    }
    assert!(can_answer("127.0.0.1:9".parse().unwrap()));
}
