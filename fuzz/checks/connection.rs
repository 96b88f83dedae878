//! Two ends of a connection of SLIQ, between which the input loses, repeats, delays, changes and adds
//! datagrams. Nothing panics; and if it changes and adds none, the server reads what the client has
//! written, in that order.
//!
//! The input is a list of steps: what happens (in its lowest bit, on the way to which end), a number,
//! and what that step needs.

use std::collections::VecDeque;

use sojourn_base::units::{Span, Time};
use sojourn_sliq::udp::Message;
use sojourn_sliq::wire::{Datagram, MAX_DATAGRAM, WINDOW, decode, encode};
use sojourn_sliq::{Config, Connection, Control, Copa, Cubic, Event, Role, StreamConfig};

const STREAM: u8 = 1;
const STREAMS: std::ops::RangeInclusive<u8> = 1..=32;
const MESSAGES: u8 = 40;
const STEPS: usize = 200;

pub(crate) fn check(bytes: &[u8]) {
    let mut pair = Pair::new();
    let mut rest = bytes;
    for _ in 0..STEPS {
        let [what, number, after @ ..] = rest else { return };
        rest = pair.step(*what, *number, after);
        pair.now += Span::from_micros(100);
        pair.turn();
    }
}

struct Pair {
    /// The client and the server.
    ends: [Connection<Message>; 2],
    /// Datagrams on their way to each.
    way: [VecDeque<Vec<u8>>; 2],
    now: Time,
    /// Whether the ends alone have made what arrived.
    honest: bool,
    read: u8,
}

impl Pair {
    fn new() -> Self {
        let now = Time::ZERO + Span::from_millis(1);
        let mut client = end(Role::Client, 1_000, now);
        let stream = StreamConfig::default();
        client.create_stream(now, STREAM, stream).expect("the stream is allowed");
        client.connect(now);
        let server = end(Role::Server, u32::MAX - 3, now);
        let way = [VecDeque::new(), VecDeque::new()];
        Pair { ends: [client, server], way, now, honest: true, read: 0 }
    }

    /// Returns what the step leaves of the input.
    fn step<'a>(&mut self, what: u8, number: u8, rest: &'a [u8]) -> &'a [u8] {
        let to = usize::from(what & 1);
        let way = &mut self.way[to];
        let Some(first) = way.front_mut().filter(|_| (2..6).contains(&(what >> 1 & 7))) else {
            return self.without_datagram(what, number, rest);
        };
        let at = usize::from(number) % first.len();
        match what >> 1 & 7 {
            2 => drop(way.pop_front()),
            3 => {
                let copy = first.clone();
                way.push_back(copy);
            }
            4 => {
                first[at] ^= rest.first().copied().unwrap_or(1);
                self.honest = false;
            }
            _ => {
                first.truncate(at);
                self.honest = false;
            }
        }
        if first_is_empty(way) {
            way.pop_front();
        }
        if what >> 1 & 7 == 4 { rest.get(1..).unwrap_or_default() } else { rest }
    }

    /// The steps that need no datagram on its way.
    fn without_datagram<'a>(&mut self, what: u8, number: u8, rest: &'a [u8]) -> &'a [u8] {
        let to = usize::from(what & 1);
        match what >> 1 & 7 {
            6 => {
                self.now += Span::from_millis(number.into());
                rest
            }
            7 => {
                let (strange, rest) = rest.split_at(usize::from(number).min(rest.len()));
                self.honest = false;
                self.arrive(to, strange);
                rest
            }
            _ => {
                for _ in 0..=number {
                    let Some(bytes) = self.way[to].pop_front() else { break };
                    self.arrive(to, &bytes);
                }
                rest
            }
        }
    }

    fn arrive(&mut self, to: usize, bytes: &[u8]) {
        if let Ok(mut datagram) = decode(bytes) {
            self.ends[to].on_datagram(self.now, &mut datagram);
        }
    }

    /// Both ends do what is due.
    fn turn(&mut self) {
        for from in 0..2 {
            self.work(from);
            let mut count = 0;
            let mut datagram = Datagram::default();
            while self.ends[from].poll_transmit(self.now, &mut datagram) {
                let mut bytes = Vec::new();
                encode(&datagram, &mut bytes);
                self.way[1 - from].push_back(bytes);
                datagram = Datagram::default();
                count += 1;
                assert!(count < WINDOW);
            }
        }
    }

    fn work(&mut self, at: usize) {
        let end = &mut self.ends[at];
        if end.next_timeout(self.now).is_some_and(|due| due <= self.now) {
            end.on_timeout(self.now);
        }
        while let Some(event) = end.poll_event() {
            if at == 0 && event == Event::StreamOpen(STREAM) {
                for number in 0..MESSAGES {
                    end.write(self.now, STREAM, Message::from(&[number; 50][..]));
                }
            }
        }
        for id in STREAMS {
            while let Some(delivered) = end.read(id) {
                if at == 1 && self.honest {
                    assert_eq!(id, STREAM);
                    assert_eq!(delivered.payload.as_ref(), [self.read; 50]);
                    self.read += 1;
                }
            }
        }
    }
}

fn first_is_empty(way: &VecDeque<Vec<u8>>) -> bool {
    way.front().is_some_and(Vec::is_empty)
}

fn end(role: Role, initial_seq: u32, now: Time) -> Connection<Message> {
    let controls: Vec<(String, Box<dyn Control>)> = vec![
        ("cubic".to_owned(), Box::new(Cubic::new(now))),
        ("copa".to_owned(), Box::new(Copa::default())),
    ];
    Connection::new(Config {
        role,
        client: 7,
        initial_seq,
        controls,
        reject_outliers: false,
        window: WINDOW,
        largest: MAX_DATAGRAM,
    })
}
