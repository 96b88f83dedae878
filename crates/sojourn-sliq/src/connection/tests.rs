use super::*;
use crate::control::{Copa, Cubic};
use crate::stream::{Counts, Reliability, Target};
use crate::virtual_payload::Virtual;
use crate::wire::{MAX_DATAGRAM, Message, WINDOW};
use sojourn_base::rng::StreamKey;
use sojourn_base::units::Span;

/// Two connections and a path of fixed delay between them that loses some datagrams.
struct Pair {
    ends: [Connection<Virtual>; 2],
    now: Time,
    /// In transit to each end: arrival, datagram.
    way: [VecDeque<(Time, Datagram<Virtual>)>; 2],
    delay: Span,
    loss: [f64; 2],
    sent: [u64; 2],
    events: [Vec<Event>; 2],
    read: Vec<u16>,
    /// Streams of the client's data packets, in the order of sending.
    order: Vec<u8>,
}

impl Pair {
    fn new(names: &[&str]) -> Self {
        let end = |role| {
            let control = |name: &&str| -> (String, Box<dyn Control>) {
                match *name {
                    "copa" => ((*name).to_owned(), Box::new(Copa::default())),
                    _ => ((*name).to_owned(), Box::new(Cubic::new(Time::ZERO))),
                }
            };
            let controls = names.iter().map(control).collect();
            Connection::new(Config {
                role,
                client: 7,
                initial_seq: u32::MAX - 20,
                controls,
                reject_outliers: false,
                window: WINDOW,
                largest: MAX_DATAGRAM,
            })
        };
        let mut pair = Pair {
            ends: [end(Role::Client), end(Role::Server)],
            now: Time::ZERO,
            way: [VecDeque::new(), VecDeque::new()],
            delay: Span::from_millis(10),
            loss: [0.0; 2],
            sent: [0; 2],
            events: [Vec::new(), Vec::new()],
            read: Vec::new(),
            order: Vec::new(),
        };
        pair.ends[0].connect(Time::ZERO);
        pair
    }

    fn transmit(&mut self) {
        for from in 0..2 {
            let mut datagram = Datagram::default();
            while self.ends[from].poll_transmit(self.now, &mut datagram) {
                if let Datagram::Message(Message { data: Some((data, _)), .. }) = &datagram
                    && from == 0
                {
                    self.order.push(data.stream);
                }
                let n = self.sent[from];
                self.sent[from] += 1;
                let draw = StreamKey::root(1).index(from as u64).uniform_at(n);
                if draw >= self.loss[from] {
                    self.way[1 - from].push_back((self.now + self.delay, datagram.clone()));
                }
            }
            while let Some(event) = self.ends[from].poll_event() {
                self.events[from].push(event);
            }
        }
        for stream in 1..=3 {
            while let Some(delivered) = self.ends[1].read(stream) {
                self.read.push(delivered.payload.bytes);
            }
        }
    }

    /// Runs until `end`, or until nothing is left to happen.
    fn run(&mut self, end: u64) {
        let end = Time::ZERO + Span::from_millis(end);
        self.transmit();
        loop {
            let arrivals = self.way.iter().filter_map(|way| way.front().map(|(at, _)| *at));
            let timeouts = self.ends.iter().filter_map(|end| end.next_timeout(self.now));
            let Some(next) = arrivals.chain(timeouts).min().filter(|next| *next <= end) else {
                self.now = end;
                return;
            };
            self.now = self.now.max(next);
            for to in 0..2 {
                while self.way[to].front().is_some_and(|(at, _)| *at <= self.now) {
                    let (_, mut datagram) = self.way[to].pop_front().unwrap();
                    self.ends[to].on_datagram(self.now, &mut datagram);
                }
                if self.ends[to].next_timeout(self.now).is_some_and(|at| at <= self.now) {
                    self.ends[to].on_timeout(self.now);
                }
            }
            self.transmit();
        }
    }

    fn write(&mut self, stream: u8, messages: std::ops::Range<u16>) {
        for bytes in messages {
            assert!(self.ends[0].write(self.now, stream, Virtual::new(bytes, self.now)));
        }
    }
}

fn reliable(priority: u8) -> StreamConfig {
    StreamConfig { priority, ..StreamConfig::default() }
}

#[test]
fn a_stream_opens_after_two_round_trips_and_ends() {
    let mut pair = Pair::new(&["cubic"]);
    pair.ends[0].create_stream(Time::ZERO, 1, reliable(0)).unwrap();
    pair.write(1, 1..6);
    pair.ends[0].finish(1);
    pair.run(39);
    assert_eq!(pair.events[0], [Event::Connected]);
    pair.run(2_000);
    assert_eq!(pair.read, [1, 2, 3, 4, 5]);
    let all = [Event::Connected, Event::StreamOpen(1), Event::StreamFinished(1)];
    assert_eq!(pair.events[0], all);
    assert_eq!(pair.events[1], [Event::Connected, Event::StreamOpen(1), Event::StreamEnded(1)]);
    pair.ends[0].close(pair.now, 3);
    pair.run(3_000);
    assert!(pair.ends.iter().all(Connection::is_closed));
    let sent = pair.sent;
    pair.run(100_000);
    assert_eq!(pair.sent, sent, "nothing is sent on a closed connection");
}

#[test]
fn everything_arrives_in_order_whatever_is_lost() {
    for names in [&["cubic"][..], &["copa"], &["cubic", "copa"], &["copa", "cubic"]] {
        for loss in [0.05, 0.3] {
            let mut pair = Pair::new(names);
            pair.loss = [loss; 2];
            pair.ends[0].create_stream(Time::ZERO, 1, reliable(0)).unwrap();
            pair.write(1, 1..301);
            pair.ends[0].finish(1);
            pair.run(300_000);
            assert_eq!(pair.read, (1..301).collect::<Vec<u16>>(), "{names:?} {loss}");
            assert!(pair.events[0].contains(&Event::StreamFinished(1)), "{names:?} {loss}");
            let measured = pair.ends[0].measured();
            assert_eq!(measured.in_flight, 0);
        }
    }
}

#[test]
fn the_higher_priority_goes_first_and_equals_take_turns() {
    let mut pair = Pair::new(&["cubic"]);
    for (id, priority) in [(1, 5), (2, 1), (3, 5)] {
        pair.ends[0].create_stream(Time::ZERO, id, reliable(priority)).unwrap();
    }
    pair.run(45);
    pair.write(1, 100..120);
    pair.write(3, 300..320);
    pair.write(2, 200..220);
    pair.run(5_000);
    let first_low = pair.order.iter().position(|id| *id != 2).unwrap();
    // Packets that the window permitted when only the first stream had been written to.
    let after = &pair.order[first_low..];
    let last_high = after.iter().rposition(|id| *id == 2).unwrap_or(0);
    let between = after[..last_high].iter().filter(|id| **id != 2).count();
    assert!(between <= 3, "{:?}", pair.order);
    let low = &after[after.len() - 30..];
    assert!(low.windows(2).all(|pair| pair[0] != pair[1]), "{:?}", pair.order);
    assert_eq!(pair.read.len(), 60);
}

#[test]
fn limited_retransmission_gives_up() {
    let mut pair = Pair::new(&["copa"]);
    let reliability = Reliability::SemiReliable { retransmissions: 1 };
    let config = StreamConfig { reliability, ordered: false, ..StreamConfig::default() };
    pair.ends[0].create_stream(Time::ZERO, 1, config).unwrap();
    pair.run(100);
    pair.loss[0] = 0.5;
    pair.write(1, 1..1_001);
    pair.run(60_000);
    let share = pair.read.len() as f64 / 1_000.0;
    assert!((0.68..0.82).contains(&share), "three quarters: {share}");
    assert_eq!(pair.ends[0].measured().in_flight, 0);
}

#[test]
fn an_adaptive_stream_delivers_in_time_what_it_promises() {
    for (deadline, mode) in [(28, "pure-fec"), (45, "coded-arq"), (300, "pure-arq")] {
        let mut pair = Pair::new(&["copa"]);
        let target = Target::Deadline(Span::from_millis(deadline));
        let reliability = Reliability::Adaptive { retransmissions: 20, probability: 0.99, target };
        let config = StreamConfig { reliability, ordered: false, ..StreamConfig::default() };
        pair.ends[0].create_stream(Time::ZERO, 1, config).unwrap();
        pair.run(100);
        pair.loss = [0.2; 2];
        let mut found = Counts::default();
        for step in 0..5_000u64 {
            pair.write(1, 1_000..1_001);
            pair.run(100 + 5 * step);
            if step == 1_000 {
                // The error rate is known.
                found = pair.ends[1].counts(1);
            }
        }
        let stream = pair.ends[0].stream(1).unwrap();
        assert_eq!(stream.sender.mode(), Some(mode), "{deadline}");
        let counts = pair.ends[1].counts(1);
        let in_time = counts.delivered_in_time - found.delivered_in_time;
        assert!(in_time as f64 >= 0.985 * 4_000.0, "{deadline}: {found:?} {counts:?}");
    }
}

#[test]
fn a_silent_peer_is_noticed_and_heard_again() {
    let mut pair = Pair::new(&["cubic", "copa"]);
    pair.ends[0].create_stream(Time::ZERO, 1, reliable(0)).unwrap();
    pair.write(1, 1..60_000);
    pair.run(1_000);
    pair.loss = [1.0; 2];
    let sent = pair.sent[0];
    pair.run(6_000);
    assert!(pair.ends[0].outage().is_some());
    let probes = pair.sent[0] - sent;
    assert!(probes < 3_000, "{probes} packets into the dark");
    pair.loss = [0.0; 2];
    let read = pair.read.len();
    pair.run(7_500);
    assert!(pair.ends[0].outage().is_none() && pair.read.len() > read + 1_000);
    assert_eq!(pair.ends[0].measured().outages, 1);
}

#[test]
fn a_peer_with_other_controls_is_refused() {
    let mut pair = Pair::new(&["cubic"]);
    let controls: Vec<(String, Box<dyn Control>)> =
        vec![("copa".to_owned(), Box::new(Copa::default()))];
    pair.ends[1] = Connection::new(Config {
        role: Role::Server,
        client: 0,
        initial_seq: 0,
        controls,
        reject_outliers: false,
        window: WINDOW,
        largest: MAX_DATAGRAM,
    });
    pair.run(1_000);
    assert_eq!(pair.events[0], [Event::Refused]);
}

#[test]
fn the_packet_error_rate_is_found() {
    let mut pair = Pair::new(&["copa"]);
    pair.loss = [0.2, 0.0];
    pair.ends[0].create_stream(Time::ZERO, 1, reliable(0)).unwrap();
    for step in 0..2_000u64 {
        pair.write(1, 1_000..1_002);
        pair.run(3 * step);
    }
    let rate = pair.ends[0].measured().error_rate;
    assert!((0.17..0.23).contains(&rate), "{rate}");
}

#[test]
fn an_application_that_offers_lets_a_packet_go_early() {
    let mut pair = Pair::new(&["copa"]);
    pair.ends[0].create_stream(Time::ZERO, 1, reliable(0)).unwrap();
    pair.run(200);
    pair.write(1, 1_000..1_040);
    pair.transmit();
    let (now, end) = (pair.now, &mut pair.ends[0]);
    let due = end.pacing_timer(now).expect("pacing holds a packet back");
    let early = end.next_offer(now).unwrap();
    assert_eq!(due.since(early), Span::from_millis(1));
    let mut datagram = Datagram::default();
    assert!(!end.poll_transmit(early - Span::from_micros(1), &mut datagram));
    assert!(end.poll_transmit(early, &mut datagram));
    assert!(!end.poll_transmit(early, &mut datagram), "the next one is a gap away");
}
