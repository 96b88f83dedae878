//! What is recorded of a run as it happens: where it goes, and the ends of flows that tell it.

use std::collections::BTreeSet;

use crate::endpoint::Endpoint;
use crate::record::RecordedEndpoint;
use crate::record::capture::{Capture, Conversation, Headers, HostTap, Setup, address};
use crate::record::live::{Log, Sink, Watch};
use crate::record::qlog::{About, QlogTap};
use crate::scenario::Scenario;
use crate::spec::{BufferSize, EcnMode, Flow, FlowSpec, Recorded};

/// Destination of what the scenario asks to be recorded.
pub(super) fn log(scenario: &Scenario, sink: Sink) -> Log {
    let log = Log::new(&scenario.record, sink);
    match scenario.record.contains(&Recorded::Pcap) {
        true => log.capturing(setup(scenario), Box::<Headers>::default()),
        false => log,
    }
}

/// What the capture of a scenario consists of, with the hosts of its plan.
pub fn setup(scenario: &Scenario) -> Setup {
    let (plan, spec) = (scenario.plan(), scenario.pcap.clone().unwrap_or_default());
    let wanted =
        |path: usize| spec.flows.as_ref().is_none_or(|flows| flows.contains(&(path as u32)));
    let routes = plan.routes.iter().enumerate().filter(|(path, _)| wanted(*path));
    let hosts: BTreeSet<u16> =
        routes.flat_map(|(_, routes)| [routes.source, routes.destination]).collect();
    let host = |number: u16| (plan.nodes[usize::from(number)].name.clone(), address(number).into());
    let recorded = plan.links.iter().filter(|link| link.recorded).map(|link| link.id.clone());
    Setup {
        comment: format!("{}, seed {}", scenario.name, scenario.seed),
        application: format!("sojourn {}", env!("CARGO_PKG_VERSION")),
        snap: spec.snap,
        flows: spec.flows,
        hosts: hosts.into_iter().map(host).collect(),
        links: spec.links.unwrap_or_else(|| recorded.collect()),
    }
}

/// The capture of a path's packets at its two hosts.
#[derive(Clone, Debug)]
pub(super) struct Captured {
    capture: Capture,
    /// Of the sender's host and of the receiver's.
    hosts: [HostTap; 2],
    /// Numbers of these.
    numbers: [u16; 2],
}

impl Captured {
    /// That of path number `path`, if its packets are captured.
    pub(super) fn of(path: usize, scenario: &Scenario, log: Option<&Log>) -> Option<Self> {
        let capture = log?.capture()?.clone();
        let (plan, routes) = (scenario.plan(), &scenario.plan().routes[path]);
        let host = |number: u16| capture.host(&plan.nodes[usize::from(number)].name);
        let numbers = [routes.source, routes.destination];
        let hosts = [host(routes.source)?, host(routes.destination)?];
        capture.wants(path as u32).then_some(Captured { capture, hosts, numbers })
    }

    /// The taps of a flow of this path, which begins at these ends; `both` may send data.
    fn begin(
        &self,
        ends: &[Box<dyn Endpoint>; 2],
        (flow, spec, both): (u32, &FlowSpec, bool),
    ) -> [HostTap; 2] {
        let buffer = match spec.receive_buffer {
            BufferSize::Auto => u32::MAX.into(),
            BufferSize::Stack => 0,
            BufferSize::Bytes(bytes) => bytes,
        };
        let ecn = spec.ecn.unwrap_or_default();
        let (mss, hosts) = (spec.mss, self.numbers);
        self.capture.open(flow, Conversation { mss, ecn, buffer, both, hosts });
        let carried = ends.each_ref().map(|end| end.datagrams());
        if carried.iter().any(Option::is_some) {
            self.capture.carry(flow, carried);
        }
        self.hosts.clone()
    }
}

/// What records the sender of a declared flow.
#[derive(Debug, Default)]
pub(super) struct Told {
    watch: Option<Watch>,
    qlog: Option<Box<QlogTap>>,
}

impl Told {
    /// What the scenario asks for.
    pub(super) fn of(flow: &Flow<'_>, scenario: &Scenario, log: Option<&Log>) -> Self {
        let Some(log) = log else { return Told::default() };
        let about = About {
            flow: flow.id,
            title: &scenario.name,
            transport: &flow.spec.transport.kind,
            ecn: flow.spec.ecn.unwrap_or_default() != EcnMode::Off,
            version: scenario.qlog.unwrap_or_default().version,
        };
        let asked = scenario.record.contains(&Recorded::Qlog);
        Told {
            watch: log.watch(Recorded::Cc, &format!("flow.{}.cc", flow.id)),
            qlog: asked.then(|| Box::new(QlogTap::new(log.clone(), &about))),
        }
    }
}

/// The two ends of a flow, the sender's first, `about` which is known: its number, its keys, whether
/// both may send data. `told` records the sender, `captured` the packets of both.
pub(super) fn ends(
    ends: [Box<dyn Endpoint>; 2],
    about: (u32, &FlowSpec, bool),
    told: Told,
    captured: Option<&Captured>,
) -> [Box<dyn Endpoint>; 2] {
    let taps = captured.map(|captured| captured.begin(&ends, about).map(Some));
    let [sender, receiver] = ends;
    let [here, there] = taps.unwrap_or_default();
    [recorded(sender, told, here), recorded(receiver, Told::default(), there)]
}

fn recorded(end: Box<dyn Endpoint>, told: Told, tap: Option<HostTap>) -> Box<dyn Endpoint> {
    let Told { watch, qlog } = told;
    match watch.is_some() || qlog.is_some() || tap.is_some() {
        true => Box::new(RecordedEndpoint::new(end, watch, tap, qlog)),
        false => end,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::catalogue::builtin;
    use crate::record::FlowCounters;
    use crate::record::live::Batch;
    use crate::sim::Simulation;

    const LOSSY: &str = r#"
duration = "8 s"
record = ["pcap"]
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
queue = { kind = "fifo", limit = "20 packets" }
loss = "1 %"
[[flows]]
cca = "reno"
rtt = "20 ms"
[[flows]]
cca = "cubic"
rtt = "40 ms"
ecn = "classic"
traffic = { kind = "on-off", rate = "8 Mbit/s", size = "5 kB", on = "200 ms", off = "100 ms" }
"#;

    /// A packet at an interface.
    struct Seen {
        time: u64,
        bytes: Vec<u8>,
    }

    /// A TCP header.
    struct Tcp {
        ports: [u16; 2],
        seq: u32,
        ack: u32,
        payload: u32,
        opens: bool,
        edges: Vec<u32>,
    }

    impl Seen {
        fn tcp(&self) -> Tcp {
            let bytes = &self.bytes;
            let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
            let long = |at: usize| u32::from(short(at)) << 16 | u32::from(short(at + 2));
            let header = usize::from(bytes[32] >> 4) * 4;
            let opens = bytes[33] & 2 != 0;
            let edges = if opens { 0..0 } else { 56..(20 + header).max(56) };
            Tcp {
                ports: [short(20), short(22)],
                seq: long(24),
                ack: long(28),
                payload: u32::from(short(2)) - 20 - header as u32,
                opens,
                edges: edges.step_by(4).map(long).collect(),
            }
        }
    }

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// The packets of a file, by the names of interfaces.
    fn parsed(mut file: &[u8]) -> BTreeMap<String, Vec<Seen>> {
        let (mut names, mut seen) = (Vec::new(), BTreeMap::<String, Vec<Seen>>::new());
        while !file.is_empty() {
            let (block, rest) = file.split_at(word(file, 4) as usize);
            match word(block, 0) {
                1 => {
                    let length = usize::from(u16::from_le_bytes([block[18], block[19]]));
                    let name = String::from_utf8(block[20..20 + length].to_vec()).unwrap();
                    seen.insert(name.clone(), Vec::new());
                    names.push(name);
                }
                6 => {
                    let time = u64::from(word(block, 12)) << 32 | u64::from(word(block, 16));
                    let bytes = block[28..28 + word(block, 20) as usize].to_vec();
                    let interface = &names[word(block, 8) as usize];
                    seen.get_mut(interface).unwrap().push(Seen { time, bytes });
                }
                _ => {}
            }
            file = rest;
        }
        seen
    }

    /// The packets of a run, the counters of its declared flows, and the packets that its first link
    /// has at the end.
    fn captured(text: &str) -> (BTreeMap<String, Vec<Seen>>, Vec<FlowCounters>, usize) {
        let scenario = Scenario::from_toml(text, builtin()).unwrap();
        let file = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&file);
        let sink = move |batch: Batch, _: &[Arc<str>]| {
            let Batch::Capture(bytes) = batch else { panic!("nothing else is recorded") };
            written.lock().unwrap().extend(bytes);
        };
        let mut simulation = Simulation::recording(&scenario, Box::new(sink)).unwrap();
        simulation.advance(simulation.end()).unwrap();
        let counters = (0..scenario.flow_count()).map(|flow| simulation.flow(flow)).collect();
        let held = simulation.held(0).packets as usize;
        simulation.outcome().unwrap();
        let seen = parsed(&file.lock().unwrap());
        (seen, counters, held)
    }

    /// Packets with these ports.
    fn between(seen: &[Seen], ports: [u16; 2]) -> Vec<Tcp> {
        seen.iter().map(Seen::tcp).filter(|packet| packet.ports == ports).collect()
    }

    #[test]
    fn numbers_of_bytes_add_up_to_the_counters() {
        let (seen, counters, held) = captured(LOSSY);
        let names = ["bottleneck:far", "bottleneck:lost", "bottleneck:near"];
        assert!(names.iter().all(|name| !seen[*name].is_empty()));
        for host in ["left", "right"] {
            assert!(seen[host].is_sorted_by_key(|packet| packet.time), "{host}");
        }
        let [far, lost, near] = names.map(|name| seen[name].len());
        assert_eq!(near, far + lost + held);
        for (port, counters) in (10_000..).zip(&counters) {
            let (there, back) = ([40_000, port], [port, 40_000]);
            let (mut next, mut again, mut total) = (1, 0, 0);
            let mut ends = HashSet::from([1]);
            for packet in between(&seen["left"], there).iter().filter(|packet| packet.payload > 0) {
                if packet.seq < next {
                    again += 1;
                    assert!(ends.contains(&packet.seq), "{}", packet.seq);
                } else {
                    assert_eq!(packet.seq, next);
                    next += packet.payload;
                }
                total += u64::from(packet.payload);
                ends.insert(packet.seq + packet.payload);
            }
            assert!(again > 3, "{again}");
            assert_eq!(counters.recovery.unwrap().retransmissions, again);
            assert_eq!(counters.sent.unwrap().sent_bytes, total);
            let answers = between(&seen["left"], back);
            assert!(answers.iter().any(|packet| !packet.edges.is_empty()));
            for packet in answers {
                assert!(ends.contains(&packet.ack), "{}", packet.ack);
                assert!(packet.edges.iter().all(|edge| ends.contains(edge)), "{:?}", packet.edges);
            }
            let arrived = between(&seen["right"], there);
            let data = arrived.iter().filter(|packet| packet.payload > 0);
            let new: BTreeMap<u32, u32> = data.map(|packet| (packet.seq, packet.payload)).collect();
            let delivered: u64 = new.values().map(|payload| u64::from(*payload)).sum();
            assert_eq!(counters.received.unwrap().delivered_bytes, delivered);
        }
    }

    #[test]
    fn what_is_not_asked_for_is_left_out() {
        let pcap = "pcap = { flows = [1], links = [], snap = 80 }";
        let (seen, ..) = captured(&format!("{pcap}\n{LOSSY}"));
        assert!(seen.keys().eq(["left", "right"]));
        for packet in &seen["left"] {
            assert!(packet.tcp().ports.contains(&10_001));
            assert!(packet.bytes.len() <= 80);
        }
        assert!(seen["left"].iter().any(|packet| packet.bytes.len() == 80));
    }

    /// Checks that what is acknowledged between these ports, at a host that sends from the first, are
    /// ends of segments; returns the number of segments each way.
    fn acknowledges(seen: &[Seen], [own, other]: [u16; 2]) -> [usize; 2] {
        let ways = [[own, other], [other, own]].map(|ports| between(seen, ports));
        let edges = |way: &Vec<Tcp>| -> HashSet<u32> {
            let edges = way.iter().flat_map(|packet| [packet.seq, packet.seq + packet.payload]);
            edges.chain([1]).collect()
        };
        for (way, back) in [(&ways[0], &ways[1]), (&ways[1], &ways[0])] {
            let known = edges(back);
            for packet in way.iter().filter(|packet| !packet.opens) {
                assert!(known.contains(&packet.ack), "{}", packet.ack);
                assert!(packet.edges.iter().all(|edge| known.contains(edge)), "{:?}", packet.edges);
            }
        }
        ways.map(|way| way.iter().filter(|packet| packet.payload > 0).count())
    }

    #[test]
    fn each_connection_that_comes_is_one_of_its_own() {
        let (scenario, _) = LOSSY.split_once("[[flows]]").unwrap();
        let arrivals = "[[arrivals]]\ncca = \"reno\"\nrtt = \"20 ms\"\nsize = \"20 kB\"\n\
                        process = \"deterministic\"\nrate = \"10 /s\"\nrequest = \"2 kB\"";
        let plain = arrivals.rsplit_once('\n').unwrap().0;
        for (keys, asks) in [(plain, false), (arrivals, true)] {
            let (seen, ..) = captured(&format!("{scenario}\n{keys}"));
            let mut opened = BTreeSet::new();
            let packets = seen["left"].iter().map(Seen::tcp);
            for packet in packets.filter(|packet| packet.opens && packet.ack == 0) {
                let [from, to] = packet.ports;
                opened.insert(if asks { [to, from] } else { [from, to] });
            }
            assert!(opened.len() >= 70, "{}", opened.len());
            let mut most = [0; 2];
            for ports in opened {
                let sent = acknowledges(&seen["left"], ports);
                most = [0, 1].map(|way: usize| most[way].max(sent[way]));
            }
            assert!(most[0] >= 14 && (most[1] >= 2) == asks, "{most:?}");
        }
    }
}
