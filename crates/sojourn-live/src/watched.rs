//! All packets of a run on a kernel in virtual time: those of the scenario's own flows, and those of
//! its programs. Sides are cards here: the senders' is 0, the receivers' 1, and those of programs'
//! hosts follow.

use sojourn_base::error::Fault;
use sojourn_base::packet::Packet;
use sojourn_base::units::{Span, Time};
use sojourn_net::net::{Network, Step};
use sojourn_net::record::{FlowCounters, LinkCounters, Outcome, Recorder};
use sojourn_sim::topology::Plan;

use crate::drive::Tap;
use crate::external::{self, Data};
use crate::flows::{ASK_KERNEL, Flows, SAMPLE, path};
use crate::news::News;
use crate::tcp_info;
use crate::traffic::{Traffic, Unrouted};

/// Cards of the scenario's own flows.
const OWN: usize = 2;

/// The flows of a run, and the traffic of its programs, if it has any.
pub(crate) struct Watched {
    flows: Flows,
    programs: Option<Programs>,
}

/// The traffic of programs, and the samples of all: until the run ends nobody knows how many flows
/// there will be.
struct Programs {
    traffic: Traffic,
    /// Numbers of the flows that send themselves.
    own: Vec<usize>,
    /// The recorded links on the way of each flow, there and back.
    paths: Vec<[Vec<u32>; 2]>,
    samples: Vec<Sample>,
}

struct Sample {
    time: Time,
    /// Of the flows that send themselves.
    own: Vec<FlowCounters>,
    /// Of both sides of all connections.
    connections: Vec<[FlowCounters; 2]>,
    links: Vec<LinkCounters>,
}

/// A flow of the tables, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Transport, and the ends of the data of a connection's side; none for a flow of the scenario that
    /// sends itself.
    pub label: Option<String>,
    /// Number of the scenario's flow, or of the one whose way the data went.
    pub flow: u32,
    /// The flow number of its packets.
    pub packets: u32,
    /// The recorded links that its data passed.
    pub path: Vec<u32>,
}

impl Watched {
    /// The flows of a scenario without programs.
    pub(crate) fn flows_only(flows: Flows) -> Self {
        Watched { flows, programs: None }
    }

    /// The flows of a scenario, some of which are ways of programs' traffic; the network has this plan.
    pub(crate) fn new(flows: Flows, traffic: Traffic, plan: &Plan) -> Self {
        let recorded = flows.recording().0;
        let of = |links: &Vec<u32>| -> Vec<u32> {
            links.iter().copied().filter(|link| (*link as usize) < recorded).collect()
        };
        let routes = plan.routes.iter().take(flows.facts().len());
        let paths = routes.map(|routes| [&routes.forward, &routes.backward].map(of)).collect();
        let own = traffic.own_flows().collect();
        let programs = Programs { traffic, own, paths, samples: Vec::new() };
        Watched { flows, programs: Some(programs) }
    }

    /// Sets the timers with which a run begins.
    pub(crate) fn start(&self, net: &mut Network, warmup: Span) {
        self.flows.start(net, warmup);
    }

    /// Report of the kernel on a flow, as [`Flows::report`] has it.
    pub(crate) fn report(&mut self, now: Time, flow: u32, told: (u64, u64), info: &[u8]) {
        self.flows.report(now, flow, told.0, told.1, info);
    }

    /// News of a transfer.
    pub(crate) fn hear(&mut self, news: News) {
        self.flows.hear(news);
    }

    /// The side from which a packet that has entered goes through the network, and the flow whose way
    /// it goes; it entered at this card.
    pub(crate) fn way(&self, card: usize, packet: &Packet) -> (usize, usize) {
        match &self.programs {
            Some(programs) if card >= OWN => programs.traffic.way(packet),
            _ => (card, path(packet)),
        }
    }

    /// The packets of programs that had no way.
    pub(crate) fn unrouted(&self) -> Vec<Unrouted> {
        self.programs.as_ref().map_or_else(Vec::new, |programs| programs.traffic.unrouted())
    }

    /// The recorded tables when the run ends, and their flows, if there are programs. Kinds of nodes
    /// name these `counters`.
    ///
    /// # Errors
    /// If the network lost packets without a reason.
    pub(crate) fn outcome(
        self,
        net: &mut Network,
        counters: &[&'static str],
    ) -> Result<(Outcome, Vec<Row>), Box<Fault>> {
        let Watched { mut flows, programs } = self;
        let Some(mut programs) = programs else { return Ok((flows.outcome(net)?, Vec::new())) };
        if programs.samples.last().is_none_or(|sample| sample.time < net.now()) {
            programs.sample(&mut flows, net)?;
        }
        let (all, rows) = programs.outcome(&flows, net, counters);
        let [transfers, arrival_samples] = flows.into_transfers(net.now());
        Ok((Outcome { transfers, arrival_samples, ..all }, rows))
    }
}

impl Programs {
    fn sample(&mut self, flows: &mut Flows, net: &mut Network) -> Step {
        let time = net.now();
        flows.update(time);
        let all: Vec<_> = flows.counters().collect();
        let own = self.own.iter().map(|flow| all[*flow]).collect();
        let links = (0..flows.recording().0).map(|link| net.report(link)).collect();
        let connections = self.traffic.connections.sample();
        self.samples.push(Sample { time, own, connections, links });
        flows.sample_transfers(time)?;
        net.check()
    }

    fn outcome(
        &self,
        flows: &Flows,
        net: &Network,
        counters: &[&'static str],
    ) -> (Outcome, Vec<Row>) {
        let (links, connections) = (flows.recording().0, &self.traffic.connections);
        let data = connections.data();
        let (own, count) = (self.own.len(), self.own.len() + data.len());
        let of = |sample: &Sample| -> Vec<FlowCounters> {
            let known = |data: &Data| connections.counters(&sample.connections, data);
            sample.own.iter().copied().chain(data.iter().map(known)).collect()
        };
        let mut recorder = Recorder::new([count, links, 0], counters, self.samples.len());
        for sample in &self.samples {
            let of_links = sample.links.iter().copied();
            recorder.sample(sample.time, of(sample).into_iter(), of_links);
        }
        let last = self.samples.last().map(of).unwrap_or_default();
        let of_data = data.iter().map(|data| connections.facts(data, flows.facts()[data.route]));
        let facts: Vec<_> =
            self.own.iter().map(|flow| flows.facts()[*flow]).chain(of_data).collect();
        let rtts = self.own.iter().map(|flow| Some(flows.rtts(*flow)));
        let rtts: Vec<_> =
            rtts.chain(data.iter().map(|data| Some(connections.rtts(data)))).collect();
        let sojourns: Vec<_> = (0..links).map(|link| net.sojourn_histogram(link)).collect();
        let all = Outcome::gather(recorder, &facts, &last, &rtts, &sojourns, net.events());
        let is_data = |row: usize| row % count >= own;
        let samples = all.flow_samples.without(&flows.unknown());
        let samples = samples.blank(external::UNKNOWN, is_data);
        (Outcome { flow_samples: samples, ..all }, self.rows(&data))
    }

    fn rows(&self, data: &[Data]) -> Vec<Row> {
        let own = self.own.iter().map(|flow| Row {
            label: None,
            flow: *flow as u32,
            packets: *flow as u32,
            path: self.paths[*flow][0].clone(),
        });
        let of_data = data.iter().map(|data| Row {
            label: Some(self.traffic.name(data)),
            flow: data.route as u32,
            packets: data.flow,
            path: self.paths[data.route][data.side].clone(),
        });
        own.chain(of_data).collect()
    }
}

impl Tap for Watched {
    fn enters(&mut self, now: Time, card: usize, bytes: &[u8]) -> Option<Packet> {
        match &mut self.programs {
            Some(programs) if card >= OWN => programs.traffic.enters(now, card, bytes),
            _ => self.flows.enters(now, card, bytes),
        }
    }

    fn leaves(&mut self, now: Time, packet: &Packet, bytes: &mut [u8]) -> usize {
        match &mut self.programs {
            Some(programs) if programs.traffic.has(packet) => {
                programs.traffic.leaves(now, packet, bytes)
            }
            _ => self.flows.leaves(now, packet, bytes),
        }
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        let Some(programs) = &mut self.programs else { return self.flows.on_timer(net, timer) };
        let now = net.now();
        match timer {
            SAMPLE => {
                programs.sample(&mut self.flows, net)?;
                net.set_timer(now + self.flows.recording().1, SAMPLE);
            }
            ASK_KERNEL => {
                self.flows.update(now);
                programs.traffic.connections.integrate(tcp_info::INTERVAL);
                net.set_timer(now + tcp_info::INTERVAL, ASK_KERNEL);
            }
            _ => {
                net.end_warmup();
                self.flows.end_warmup();
                programs.traffic.connections.end_warmup();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sojourn_net::net::Hosts;
    use sojourn_sim::sim::Surroundings;

    use super::*;
    use crate::flows::{FIRST_PORT, Sender};
    use crate::kept::Border;
    use crate::traffic::tests::{packet, scenario, traffic};

    struct Driver {
        watched: Watched,
        border: Border,
        arrived: Vec<usize>,
    }

    impl Driver {
        fn send(&mut self, net: &mut Network, card: usize, bytes: &[u8]) {
            let mut packet = self.watched.enters(net.now(), card, bytes).unwrap();
            self.border.enter(net.now(), card, &mut packet, bytes);
            net.inject(&packet);
        }
    }

    impl Hosts for Driver {
        fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
            let watched = &mut self.watched;
            let leave = |bytes: &mut Vec<u8>| (watched.leaves(net.now(), packet, bytes), ());
            let (card, ()) = self.border.leave(net.now(), packet, leave).unwrap();
            self.arrived.push(card);
            Ok(())
        }

        fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
            self.watched.on_timer(net, timer)
        }

        fn component(&self, timer: u32) -> String {
            format!("timer {timer}")
        }
    }

    #[test]
    fn own_flows_and_connections_are_rows_of_the_same_tables() {
        let scenario = scenario();
        let traffic = traffic(&scenario);
        let Surroundings { mut net, addresses, flows, recorder, recorded_links, .. } =
            Surroundings::new(&scenario, None).unwrap();
        let senders = vec![Sender::default(); flows.len()];
        let recording = (recorder, recorded_links, scenario.sample_interval);
        let own = Flows::new(addresses, senders, flows, None, recording);
        let watched = Watched::new(own, traffic, scenario.plan());
        watched.start(&mut net, Span::ZERO);
        let mut driver = Driver { watched, border: Border::default(), arrived: Vec::new() };
        let mut own = packet([1, 2], 50);
        own[22..24].copy_from_slice(&FIRST_PORT.to_be_bytes());
        driver.send(&mut net, 0, &own);
        (0..3).for_each(|_| driver.send(&mut net, 2, &packet([1, 2], 100)));
        net.advance(Time::ZERO + Span::from_secs(1), &mut driver).unwrap();
        assert_eq!(driver.arrived, [1, 3, 3, 3]);
        let (outcome, rows) = driver.watched.outcome(&mut net, &[]).unwrap();
        let samples = |name: &str| outcome.flow_samples.reals(name).unwrap();
        assert_eq!(samples("flow"), [0.0, 1.0].repeat(10));
        assert_eq!(samples("delivered_bytes")[..4], [50.0, 300.0, 0.0, 0.0]);
        let written = samples("written_bytes");
        assert!(!written[0].is_nan() && written[1].is_nan());
        let path = vec![0];
        let label = Some("udp flow-1.sender:7>flow-1.receiver:9".to_owned());
        let connection = Row { label, flow: 1, packets: 1, path: path.clone() };
        assert_eq!(rows, [Row { label: None, flow: 0, packets: 0, path }, connection]);
        assert_eq!(outcome.flows.reals("base_rtt").unwrap(), [0.02; 2]);
    }
}
