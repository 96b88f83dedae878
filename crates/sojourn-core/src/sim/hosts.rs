//! What sits on the simulated network: sockets, the applications that write to them, the recorder.
//!
//! Between a socket and its first edge is the host's own path; what a host does to the packets of
//! its sockets (merging of arrivals, as GRO, which receivers do for themselves so far; small queues
//! are the senders', who are told of departures) belongs into [`FlowHosts::pump`] and
//! [`FlowHosts::on_packet`](Hosts::on_packet).

use super::application::Application;
use super::timer::Timer;
use crate::edge::Departure;
use crate::net::{Alarm, Hosts, Network, Step, Wake};
use crate::packet::Packet;
use crate::record::{FlowCounters, FlowFacts, Outcome, Recorder};
use crate::traffic::Action;
use crate::transport::Endpoint;
use crate::units::{Span, Time};

/// Sockets, applications and the recorder of a run.
pub struct FlowHosts {
    /// From when distributions count.
    pub warmup: Time,
    /// Time between samples.
    pub sample_interval: Span,
    /// How many edges are recorded: the first ones of the network.
    pub recorded_links: usize,
    /// By socket: sender and receiver of flow 0, of flow 1, and so on.
    pub endpoints: Vec<Box<dyn Endpoint>>,
    /// One per flow, until it is done.
    pub applications: Vec<Option<Application>>,
    /// What is known of each flow.
    pub flows: Vec<FlowFacts>,
    /// One per socket.
    pub alarms: Vec<Alarm>,
    /// Samples so far.
    pub recorder: Recorder,
}

impl FlowHosts {
    /// Sets the timers that a run begins with.
    pub fn start(&self, net: &mut Network, end: Time) {
        for (flow, facts) in (0..).zip(&self.flows) {
            net.set_timer(facts.start, Timer::Source(flow).pack());
            if facts.stop < end {
                net.set_timer(facts.stop, Timer::Stop(flow).pack());
            }
        }
        net.set_timer(self.warmup, Timer::WarmupEnd.pack());
        net.set_timer(Time::ZERO + self.sample_interval, Timer::Sample.pack());
    }

    fn on_endpoint(&mut self, net: &mut Network, socket: usize) -> Step {
        match self.alarms[socket].fired(net.now()) {
            Wake::Now => {
                self.endpoints[socket].on_timeout(net.now());
                return self.pump(net, socket);
            }
            Wake::At(time) => net.set_timer(time, Timer::Endpoint(socket as u32).pack()),
            Wake::Not => {}
        }
        Ok(())
    }

    /// The application of a flow does what is due.
    fn on_source(&mut self, net: &mut Network, flow: usize) -> Step {
        let sender = 2 * flow;
        let timer = Timer::Source(flow as u32).pack();
        while let Some(application) = &mut self.applications[flow] {
            match application.poll(net.now()) {
                Ok(action) => {
                    self.act(net.now(), sender, action);
                    self.pump(net, sender)?;
                }
                Err(Some(next)) => {
                    net.set_timer(next, timer);
                    return Ok(());
                }
                Err(None) => self.applications[flow] = None,
            }
            net.count_step(self, timer)?;
        }
        Ok(())
    }

    fn act(&mut self, now: Time, sender: usize, action: Action) {
        let sender = &mut self.endpoints[sender];
        match action {
            Action::Open => sender.open(now),
            Action::Write(bytes) => sender.write(now, bytes),
            Action::Close => sender.close(now),
        }
    }

    fn on_stop(&mut self, net: &mut Network, flow: usize) -> Step {
        self.applications[flow] = None;
        self.endpoints[2 * flow].stop(net.now());
        self.pump(net, 2 * flow)
    }

    /// Sends what the endpoint has to send.
    #[inline]
    fn pump(&mut self, net: &mut Network, socket: usize) -> Step {
        while let Some(packet) = self.endpoints[socket].poll_transmit(net.now()) {
            net.count_step(self, Timer::Endpoint(socket as u32).pack())?;
            net.inject(&packet);
        }
        let want = self.endpoints[socket].next_timeout().unwrap_or(Time::NEVER);
        if let Some(time) = self.alarms[socket].arm(want.max(net.now())) {
            net.set_timer(time, Timer::Endpoint(socket as u32).pack());
        }
        Ok(())
    }

    /// Records a sample, and checks that the network conserves packets.
    pub fn sample(&mut self, net: &mut Network) -> Step {
        let now = net.now();
        let flows = self.endpoints.chunks_exact_mut(2).map(|ends| counters(now, ends));
        let links = (0..self.recorded_links).map(|link| net.report(link));
        self.recorder.sample(now, flows, links);
        self.recorder.sample_nodes(now, net.sample_nodes().map(|(_, node)| node));
        net.check()
    }

    /// The counters of flow number `flow`, brought up to `now`.
    pub fn flow(&mut self, now: Time, flow: usize) -> FlowCounters {
        counters(now, &mut self.endpoints[2 * flow..2 * flow + 2])
    }

    /// What has been recorded.
    pub fn outcome(mut self, net: &Network) -> Outcome {
        let last = self.recorder.last();
        let ends = self.endpoints.chunks_exact_mut(2);
        let counters: Vec<_> = ends.map(|ends| counters(last, ends)).collect();
        let senders = self.endpoints.iter().step_by(2);
        let rtts: Vec<_> = senders.map(|sender| sender.rtt_histogram()).collect();
        let links = 0..self.recorded_links;
        let sojourns: Vec<_> = links.map(|link| net.sojourn_histogram(link)).collect();
        Outcome::gather(self.recorder, &self.flows, &counters, &rtts, &sojourns, net.events())
    }
}

/// The counters of a flow, from its two endpoints.
fn counters(now: Time, ends: &mut [Box<dyn Endpoint>]) -> FlowCounters {
    let mut counters = FlowCounters::default();
    ends.iter_mut().for_each(|end| end.report(now, &mut counters));
    counters
}

impl Hosts for FlowHosts {
    #[inline]
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
        let socket = packet.socket as usize;
        let Some(endpoint) = self.endpoints.get_mut(socket) else {
            return Err(net.fault(format!("socket {socket}"), "exists"));
        };
        endpoint.on_packet(net.now(), packet);
        self.pump(net, socket)
    }

    fn on_departure(&mut self, net: &mut Network, departure: Departure) -> Step {
        let socket = 2 * departure.flow as usize;
        if let Some(endpoint) = self.endpoints.get_mut(socket) {
            endpoint.on_departure(net.now(), departure.bytes);
            return self.pump(net, socket);
        }
        Ok(())
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        match Timer::unpack(timer) {
            Timer::Endpoint(socket) => self.on_endpoint(net, socket as usize),
            Timer::Source(flow) => self.on_source(net, flow as usize),
            Timer::Stop(flow) => self.on_stop(net, flow as usize),
            Timer::Sample => {
                self.sample(net)?;
                net.set_timer(net.now() + self.sample_interval, timer);
                Ok(())
            }
            Timer::WarmupEnd => {
                net.end_warmup();
                self.endpoints.iter_mut().for_each(|endpoint| endpoint.end_warmup());
                Ok(())
            }
        }
    }

    fn component(&self, timer: u32) -> String {
        match Timer::unpack(timer) {
            Timer::Endpoint(socket) if socket % 2 == 0 => format!("sender of flow {}", socket / 2),
            Timer::Endpoint(socket) => format!("receiver of flow {}", socket / 2),
            Timer::Source(flow) | Timer::Stop(flow) => format!("application of flow {flow}"),
            Timer::Sample | Timer::WarmupEnd => "recorder".to_owned(),
        }
    }
}
