//! Applications over nodes by themselves: every datagram between two nodes passes as bytes.

use std::sync::Arc;
use std::time::Duration;

use super::{TRIANGLE, datagrams, scenario};
use crate::ServiceSpec;
use crate::catalogue::builtin;
use crate::overlay::message::{Bounds, Cargo, WireTimes};
use crate::overlay::{
    Applications, DatagramKey, Event, GroupOfApplications, Mailboxes, Opening, Order, Orders,
    OverlayConfig, To,
};
use sojourn_base::given::Given;
use sojourn_base::packet::{Header, Packet};
use sojourn_base::units::{Rate, Span, Time};
use sojourn_net::net::Links;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Part;
use sojourn_sliq::Spare;
use sojourn_sliq::wire::{Datagram, Message, decode, encode};

const WHO: Opening = Opening { client: (0x0a09_0101, 40_000), server: (0x0a09_0205, 8_080) };
const GROUP: u32 = 0xef01_0101;
const STEP: Span = Span::from_millis(1);

fn key(source_port: u16) -> DatagramKey {
    DatagramKey { source: 1, destination: 2, ports: [source_port, 9], protocol: 17 }
}

/// Bytes that tell whether one is missing or at another place.
fn pattern(from: usize, length: usize) -> Vec<u8> {
    (from..from + length).map(|at| (at * 31 + at / 251) as u8).collect()
}

/// A node, and what it shares with its applications.
struct Program {
    part: Part,
    applications: Arc<Applications>,
    mailboxes: Arc<Mailboxes>,
    orders: Arc<Orders>,
    events: Vec<Event>,
}

struct Rig {
    scenario: Scenario,
    services: Vec<ServiceSpec>,
    programs: Vec<Program>,
    bounds: Bounds,
    config: Arc<OverlayConfig>,
    times: WireTimes,
    now: Time,
    /// One of so many datagrams is lost.
    loses: Option<u32>,
    passed: u32,
    /// Whether no datagrams pass.
    parted: bool,
}

fn overlay(scenario: &Scenario) -> OverlayConfig {
    let nodes = scenario.gift().unwrap().nodes;
    let shared = nodes.get::<OverlayConfig>().unwrap();
    drop(nodes);
    let group = GroupOfApplications { address: GROUP, receivers: vec![1, 2] };
    Arc::into_inner(shared).unwrap().with_application_groups(&[group])
}

impl Rig {
    /// Three nodes with links of 100 Mbit/s.
    fn new() -> Self {
        let flow = datagrams(1, 2, 0.01, "");
        let text = scenario(100, "", &TRIANGLE, &[flow]).replace("10 Mbit/s", "100 Mbit/s");
        let scenario = Scenario::from_toml(&text.replace("25 kB", "250 kB"), builtin()).unwrap();
        let config = Arc::new(overlay(&scenario));
        let ceiling = Rate::from_bps(1_000_000_000);
        let plain = ServiceSpec { ceiling, ..ServiceSpec::default() };
        let timed = ServiceSpec { deadline: Some(Span::from_millis(300)), ..plain.clone() };
        let mut rig = Rig {
            scenario,
            services: vec![plain, timed],
            programs: Vec::new(),
            bounds: Bounds::new(Arc::clone(&config)).with_applications(),
            config,
            times: WireTimes::new(Duration::from_secs(1_800_000_000)),
            now: Time::ZERO,
            loses: None,
            passed: 0,
            parted: false,
        };
        rig.programs = (0..3).map(|member| rig.program(member, 5)).collect();
        rig
    }

    fn program(&self, member: u16, random: u32) -> Program {
        let applications = Arc::new(Applications::new(self.services.clone(), member, random));
        let (mailboxes, orders) = (Arc::default(), Arc::default());
        let mut given = Given::default();
        given.give(Arc::clone(&applications));
        given.give(Arc::clone(&mailboxes));
        given.give(Arc::clone(&orders));
        given.give(Arc::clone(&self.config));
        let node = ["1", "2", "3"][usize::from(member)];
        let part = Part::new(&self.scenario, node, Links::Kept, &given).unwrap();
        Program { part, applications, mailboxes, orders, events: Vec::new() }
    }

    /// A node is started anew.
    fn restart(&mut self, member: u16) {
        self.programs[usize::from(member)] = self.program(member, 77_777);
        for program in &self.programs {
            program.orders.push(Order::Restart { member });
        }
    }

    /// Hands a packet over as bytes.
    fn pass(&mut self, from: usize, place: usize, packet: Packet) {
        self.passed += 1;
        let lost = self.loses.is_some_and(|one| self.passed.is_multiple_of(one));
        let Header::Opaque(opaque) = packet.header else { panic!() };
        let to = usize::from(self.programs[from].part.neighbours()[place].node);
        let [a, b] = [from as u16, to as u16];
        let (mut datagram, mut spare) = (Box::<Datagram<Cargo>>::default(), Spare::default());
        let sent = self.programs[from].mailboxes.between(a, b);
        assert!(sent.get(opaque.handle, &mut datagram, &mut spare));
        if lost || self.parted {
            return;
        }
        if let Datagram::Message(Message { data: Some((_, cargo)), .. }) = &mut *datagram {
            self.times.send(cargo);
        }
        let mut bytes = Vec::new();
        encode(&datagram, &mut bytes);
        let mut read = decode::<Cargo>(&bytes).unwrap();
        assert_eq!(read.size(), bytes.len());
        if let Datagram::Message(Message { data: Some((_, cargo)), .. }) = &mut read {
            assert!(self.bounds.allows(cargo), "{cargo:?}");
            self.times.receive(self.now, 0.0, cargo);
        }
        *datagram = read;
        let handle = self.programs[to].mailboxes.between(a, b).put(&mut datagram, &mut spare);
        let header = Header::Opaque(sojourn_base::packet::Opaque { handle, ..opaque });
        let part = &mut self.programs[to].part;
        let back = part.neighbours().iter().position(|at| usize::from(at.node) == from);
        part.arrive(back.unwrap(), Packet { header, ..packet });
    }

    fn step(&mut self) {
        self.now += STEP;
        let now = self.now;
        for program in &mut self.programs {
            if program.applications.waits() {
                program.part.wake();
            }
            program.part.approach(now).unwrap();
        }
        for from in 0..3 {
            for place in 0..2 {
                while let Some(packet) = self.programs[from].part.take(place) {
                    self.pass(from, place, packet);
                }
            }
        }
        for program in &mut self.programs {
            program.part.advance(now).unwrap();
            program.events.extend(std::iter::from_fn(|| program.applications.next()));
        }
    }

    fn run(&mut self, ms: u64) {
        (0..ms).for_each(|_| self.step());
    }

    /// What a node has told since it was asked.
    fn events(&mut self, member: usize) -> Vec<Event> {
        std::mem::take(&mut self.programs[member].events)
    }

    /// A connection from the first node to the second.
    fn connection(&mut self) -> u32 {
        self.run(300);
        let flow = self.programs[0].applications.open(1, 0, &WHO);
        self.run(100);
        assert_eq!(self.events(1), [Event::Opened { flow, opening: WHO }]);
        flow
    }

    fn datagrams(&mut self, member: usize) -> Vec<Vec<u8>> {
        let bytes = |event| match event {
            Event::Datagram(bytes) => Some(bytes.into()),
            _ => None,
        };
        self.events(member).into_iter().filter_map(bytes).collect()
    }
}

/// Writes the pattern at one end and reads it at the other, as far as it goes now.
struct Transfer {
    ends: [usize; 2],
    flow: u32,
    written: usize,
    read: usize,
}

impl Transfer {
    fn go(&mut self, rig: &Rig, all: usize) {
        let from = &rig.programs[self.ends[0]].applications;
        let more = pattern(self.written, (all - self.written).min(60_000));
        self.written += from.write(self.flow, &more);
        if self.written == all {
            from.finish(self.flow);
        }
        self.read(rig);
    }

    fn read(&mut self, rig: &Rig) {
        let (to, mut bytes) = (&rig.programs[self.ends[1]].applications, [0; 60_000]);
        let read = to.read(self.flow, &mut bytes);
        assert!(bytes[..read] == pattern(self.read, read), "after {} bytes", self.read);
        self.read += read;
    }
}

#[test]
fn a_megabyte_passes_both_ways_where_datagrams_are_lost() {
    const ALL: usize = 1_000_000;
    let mut rig = Rig::new();
    rig.loses = Some(50);
    let flow = rig.connection();
    let mut ways = [[0, 1], [1, 0]].map(|ends| Transfer { ends, flow, written: 0, read: 0 });
    let mut steps = 0;
    while ways.iter().any(|way| way.read < ALL) {
        ways.iter_mut().for_each(|way| way.go(&rig, ALL));
        rig.step();
        steps += 1;
        assert!(steps < 20_000, "{:?}", ways.map(|way| way.read));
    }
    rig.run(100);
    for end in [0, 1] {
        rig.programs[end].applications.read(flow, &mut [0]);
        rig.run(1);
        assert!(rig.events(end).contains(&Event::Finished { flow }), "end {end}");
    }
    let counts = rig.programs[1].applications.counts();
    assert_eq!((counts.opened, counts.reset, counts.bytes_in), (1, 0, ALL as u64));
    rig.run(10_500);
    assert_eq!([0, 1].map(|end| rig.programs[end].applications.counts().open), [0, 0]);
    assert!([0, 1].iter().all(|end| rig.events(*end).is_empty()));
}

#[test]
fn a_stream_that_has_ended_one_way_goes_on_the_other() {
    let mut rig = Rig::new();
    let flow = rig.connection();
    rig.programs[0].applications.write(flow, b"question");
    rig.programs[0].applications.finish(flow);
    rig.run(50);
    assert_eq!(rig.events(1), [Event::Readable { flow }]);
    let mut bytes = [0; 20];
    assert_eq!(rig.programs[1].applications.read(flow, &mut bytes), 8);
    rig.run(35_000);
    assert_eq!(rig.events(1), [Event::Finished { flow }], "and it stays");
    assert_eq!(rig.programs[1].applications.write(flow, b"answer"), 6);
    rig.programs[1].applications.finish(flow);
    rig.run(50);
    assert_eq!(rig.programs[0].applications.read(flow, &mut bytes), 6);
    assert_eq!(&bytes[..6], b"answer");
    rig.run(2);
    assert_eq!(rig.events(0), [Event::Readable { flow }, Event::Finished { flow }]);
}

#[test]
fn what_has_ended_is_kept_until_it_is_read_or_not_wanted() {
    let mut rig = Rig::new();
    let flow = rig.connection();
    rig.programs[0].applications.write(flow, b"question");
    [0, 1].iter().for_each(|end| rig.programs[*end].applications.finish(flow));
    rig.run(10_500);
    assert_eq!([0, 1].map(|end| rig.programs[end].applications.counts().open), [0, 1]);
    rig.programs[1].applications.reset(flow);
    assert_eq!(rig.programs[1].applications.counts().open, 0);
    assert_eq!(rig.programs[1].applications.read(flow, &mut [0]), 0);
    rig.run(2);
    assert_eq!((rig.events(0), rig.events(1).len()), (vec![Event::Finished { flow }], 1));
}

#[test]
fn what_is_not_read_closes_the_window() {
    let mut rig = Rig::new();
    let flow = rig.connection();
    let mut way = Transfer { ends: [0, 1], flow, written: 0, read: 0 };
    for _ in 0..1_500 {
        let more = pattern(way.written, 60_000);
        way.written += rig.programs[0].applications.write(flow, &more);
        rig.step();
    }
    assert!((1_000_000..10_000_000).contains(&way.written), "{}", way.written);
    let (mut told, all) = (false, way.written);
    for _ in 0..3_000 {
        way.read(&rig);
        rig.step();
        told |= rig.events(0).contains(&Event::Writable { flow });
    }
    assert!(told && way.read == all, "{} of {all}", way.read);
}

#[test]
fn an_end_that_is_started_anew_resets_the_other() {
    for end in [0, 1] {
        let mut rig = Rig::new();
        let flow = rig.connection();
        rig.restart(end);
        rig.run(500);
        let other = 1 - usize::from(end);
        rig.programs[other].applications.write(flow, b"still there?");
        rig.run(11_000);
        assert!(rig.events(other).contains(&Event::Reset { flow }), "end {other}");
        assert!(rig.events(end.into()).is_empty());
    }
}

#[test]
fn both_ends_give_up_what_is_parted_and_a_reset_is_told() {
    let mut rig = Rig::new();
    let flow = rig.connection();
    rig.run(25_000);
    assert!(rig.events(0).is_empty() && rig.events(1).is_empty(), "it lives without a byte");
    rig.parted = true;
    rig.run(31_000);
    assert_eq!([rig.events(0), rig.events(1)], [[Event::Reset { flow }], [Event::Reset { flow }]]);
    rig.parted = false;
    rig.run(10_000);
    let flow = rig.programs[0].applications.open(1, 0, &WHO);
    rig.run(100);
    rig.events(1);
    rig.programs[1].applications.reset(flow);
    rig.run(100);
    assert_eq!((rig.events(0), rig.events(1)), (vec![Event::Reset { flow }], vec![]));
    let unknown = rig.programs[0].applications.open(9, 0, &WHO);
    rig.run(1);
    assert_eq!(rig.events(0), [Event::Reset { flow: unknown }]);
}

#[test]
fn datagrams_pass_whole_with_and_without_a_deadline() {
    let mut rig = Rig::new();
    rig.run(300);
    let sent: Vec<Vec<u8>> = (0..100).map(|n| pattern(n, 100 + 10 * n)).collect();
    for class in [0, 1] {
        for packet in &sent {
            let bytes = packet[..].into();
            rig.programs[0].applications.datagram(key(1), To::Member(2), class, bytes);
            rig.run(1);
        }
        rig.run(200);
        let mut got = rig.datagrams(2);
        got.sort_by_key(Vec::len);
        assert_eq!(got, sent, "class {class}");
    }
    rig.programs[0].applications.datagram(key(1), To::Member(0), 0, sent[0][..].into());
    rig.programs[0].applications.datagram(key(1), To::Stream(99), 0, sent[0][..].into());
    rig.run(2);
    let counts = rig.programs[0].applications.counts();
    assert_eq!((counts.datagrams_in, counts.datagrams_refused), (202, 2));
}

#[test]
fn datagrams_to_a_group_reach_all_who_receive_it() {
    let mut rig = Rig::new();
    rig.run(300);
    for sender in [0, 1] {
        let stream = rig.config.stream_of(sender, GROUP).unwrap();
        let program = &rig.programs[usize::from(sender)];
        program.applications.datagram(key(1), To::Stream(stream), 0, pattern(7, 500).into());
        rig.run(200);
        let got = [0, 1, 2].map(|member| rig.datagrams(member).len());
        assert_eq!(got, [0, usize::from(sender == 0), 1], "from {sender}");
    }
    assert_eq!([rig.config.stream_of(3, GROUP), rig.config.stream_of(0, 1)], [None; 2]);
}

#[test]
fn flows_of_datagrams_come_and_go() {
    let mut rig = Rig::new();
    rig.run(300);
    // More than there are places: the one that was idle longest gives way.
    for port in 0..5_000 {
        rig.programs[0].applications.datagram(key(port), To::Member(2), 0, [0; 20].into());
        if port % 50 == 49 {
            rig.run(5);
        }
    }
    rig.run(1_000);
    assert_eq!(rig.programs[0].applications.counts().datagrams_refused, 0);
    assert_eq!(rig.datagrams(2).len(), 5_000);
    rig.run(61_000);
    rig.programs[0].applications.datagram(key(1), To::Member(1), 0, [0; 20].into());
    rig.run(100);
    assert_eq!(rig.datagrams(1).len(), 1, "of a place that is used again");
}
