//! Two sessions joined by a path that loses, duplicates and reorders datagrams, and into which
//! third parties inject datagrams: received data equals sent data, nothing crashes, and memory is
//! bounded.

use std::collections::VecDeque;

use proptest::prelude::*;
use sojourn_base::units::{Span, Time};
use sojourn_sim::catalogue::core;
use sojourn_sim::spec::Cca;
use sojourn_sliq::udp::{End, Session, Setup, Sink, Source, controls};
use sojourn_sliq::{Reliability, StreamConfig};

const DELAY: Span = Span::from_millis(2);

fn setup(cca: &[&str], stream: Option<StreamConfig>, bytes: u64) -> Setup {
    Setup {
        cca: cca.iter().map(|&name| name.to_owned()).collect(),
        stream,
        payload: 200,
        source: if stream.is_some() { Source::made(Some(bytes), None) } else { Source::Nothing },
        sink: Sink::counting(true),
        digest: true,
        give_up: Span::from_secs(5),
        largest: sojourn_sliq::wire::MAX_DATAGRAM,
    }
}

/// Both ends, and the datagrams in transit to each: arrival, datagram.
struct Path {
    ends: [Session; 2],
    way: [VecDeque<(Time, Vec<u8>)>; 2],
    now: Time,
    /// Everything that was sent.
    seen: Vec<Vec<u8>>,
    /// The most that either end had to send at once.
    most: usize,
}

impl Path {
    fn new(stream: StreamConfig, bytes: u64) -> Self {
        Path::with(&["cubic", "copa"], stream, bytes)
    }

    fn with(cca: &[&str], stream: StreamConfig, bytes: u64) -> Self {
        let now = Time::ZERO + Span::from_nanos(1);
        let client = Session::new(setup(cca, Some(stream), bytes), now).unwrap();
        let server = Session::new(setup(cca, None, 0), now).unwrap();
        let way = [VecDeque::new(), VecDeque::new()];
        Path { ends: [client, server], way, now, seen: Vec::new(), most: 0 }
    }

    /// Moves on to the next instant at which something happens; `passes` says what becomes of a
    /// datagram: how many copies arrive.
    fn step(&mut self, passes: &mut impl FnMut() -> usize) {
        for from in 0..2 {
            self.ends[from].work(self.now).unwrap();
            let mut bytes = Vec::new();
            let mut sent = 0;
            while self.ends[from].poll(self.now, &mut bytes).unwrap() {
                for copy in 0..passes() {
                    let at = self.now + DELAY + Span::from_micros(300 * copy as u64);
                    self.way[1 - from].push_back((at, bytes.clone()));
                }
                if self.seen.len() < 200 {
                    self.seen.push(bytes.clone());
                }
                bytes.clear();
                sent += 1;
            }
            self.most = self.most.max(sent);
        }
        let arrivals = self.way.iter().flat_map(|way| way.iter().map(|(at, _)| *at));
        let next = self.ends.iter().map(|end| end.next(self.now)).chain(arrivals).min().unwrap();
        self.now = next.max(self.now + Span::from_micros(1));
        for to in 0..2 {
            let (due, later) =
                self.way[to].drain(..).partition::<VecDeque<_>, _>(|(at, _)| *at <= self.now);
            self.way[to] = later;
            due.iter().for_each(|(_, bytes)| self.ends[to].on_bytes(self.now, bytes));
        }
    }

    fn over(&self) -> bool {
        self.ends.iter().all(|end| end.end(self.now).is_some())
    }

    /// Runs until both are done, or for so long.
    fn run(&mut self, time: Span, passes: &mut impl FnMut() -> usize) {
        let end = self.now + time;
        while !self.over() && self.now < end {
            self.step(passes);
        }
    }

    fn told(&self, end: usize) -> serde_json::Value {
        self.ends[end].report("127.0.0.1:1".parse().unwrap()).json()
    }
}

/// A small generator, so that a case is determined by its seed.
fn draws(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed | 1;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn a_killed_peer_is_noticed() {
    let mut path = Path::new(StreamConfig::default(), 3_000_000);
    path.run(Span::from_millis(25), &mut || 1);
    assert!(path.ends.iter().all(Session::is_connected));
    path.run(Span::from_secs(20), &mut || 0);
    for end in &path.ends {
        assert_eq!(end.end(path.now), Some(End::Silent));
    }
}

#[test]
fn without_a_server_the_client_gives_up() {
    let mut path = Path::new(StreamConfig::default(), 1);
    path.run(Span::from_secs(20), &mut || 0);
    assert_eq!(path.ends[0].end(path.now), Some(End::Refused));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    #[test]
    fn everything_arrives_intact(
        loss in 0.0..0.3f64,
        twice in 0.0..0.2f64,
        seed in any::<u64>(),
        bytes in 0u64..60_000,
        adaptive in any::<bool>(),
    ) {
        let mut stream = StreamConfig::default();
        if adaptive {
            use sojourn_sliq::Target;
            let target = Target::Deadline(Span::from_millis(30));
            stream.reliability =
                Reliability::Adaptive { retransmissions: 255, probability: 0.99, target };
        }
        let mut path = Path::new(stream, bytes);
        let mut draw = draws(seed);
        path.run(Span::from_secs(300), &mut || match draw() {
            x if x < loss => 0,
            x if x < loss + twice => 2,
            _ => 1,
        });
        let (client, server) = (path.told(0), path.told(1));
        prop_assert_eq!(&client["end"], "finished");
        prop_assert_eq!(&server["received_bytes"], bytes);
        prop_assert_eq!(&client["sent_digest"], &server["received_digest"]);
    }

    #[test]
    fn garbage_and_replays_do_no_harm(
        seed in any::<u64>(),
        garbage in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 1..60),
    ) {
        let mut path = Path::new(StreamConfig::default(), 30_000);
        let mut draw = draws(seed);
        for round in 0..400 {
            path.step(&mut || 1);
            // Of a close the transfer would end, as it would by any of the peer's.
            let replay = path.seen[(draw() * path.seen.len() as f64) as usize].clone();
            let noise = garbage[round % garbage.len()].clone();
            let mut bent = replay.clone();
            let at = (draw() * bent.len() as f64) as usize;
            bent[at] ^= 1 << ((draw() * 8.0) as u32);
            for bytes in [replay, noise, bent] {
                if bytes.first() != Some(&2) {
                    path.ends[round % 2].on_bytes(path.now, &bytes);
                }
            }
        }
        // An answer or a retransmission each, but nothing that grows.
        prop_assert!(path.most < 2_000, "{}", path.most);
    }
}

#[test]
fn every_control_of_the_catalogue_can_be_listed() {
    let members = core();
    let names = members.members::<Cca>().iter().map(|entry| entry.listing.name);
    // Not those that a kernel alone has, or that a file brings along.
    let made = |name: &&str| controls(&[(*name).to_owned()], 200, Time::ZERO).is_ok();
    let names: Vec<_> = names.filter(made).collect();
    assert!(names.len() > 20 && ["bbr3", "reno-sce", "ledbat"].iter().all(|n| names.contains(n)));
    for name in names {
        let mut path = Path::with(&[name], StreamConfig::default(), 150_000);
        let mut draw = draws(7);
        path.run(Span::from_secs(60), &mut || usize::from(draw() >= 0.02));
        assert_eq!(path.told(0)["end"], "finished", "{name}");
    }
}
