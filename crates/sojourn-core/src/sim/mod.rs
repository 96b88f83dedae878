//! The simulation: build, run, outcome.
//!
//! The event loop knows only *whom* to wake: a link, an endpoint's timer, an application, the
//! recorder. Packets are handed on at once, from the link they leave to the next one of their
//! route or to the endpoint, without an event in between.

mod alarm;
mod application;
mod build;
mod ends;
#[cfg(test)]
mod random_runs;
mod routes;

use std::collections::VecDeque;

use crate::error::{Fault, FieldError};
use crate::event::{EventQueue, Target};
use crate::link::Link;
use crate::packet::{Direction, Packet};
use crate::record::{FlowFacts, Outcome, Recorder};
use crate::scenario::Scenario;
use crate::traffic::Action;
use crate::transport::Endpoint;
use crate::units::{Span, Time};

use alarm::{Alarm, Wake};
use application::Application;
use routes::RouteTable;

/// More steps than this at one instant mean that time stands still.
const MOST_STEPS_AT_AN_INSTANT: u64 = 10_000_000;

/// Outcome of a step, small enough for a register.
type Step = Result<(), Box<Fault>>;

/// A network with flows on it, and how far it has been simulated.
pub struct Simulation {
    now: Time,
    /// Events and packets handled at `now`.
    steps: u64,
    events: EventQueue,
    parts: Parts,
    link_alarms: Vec<Alarm>,
    endpoint_alarms: Vec<Alarm>,
    recorder: Recorder,
    /// Packets whose route has no links.
    direct: VecDeque<Packet>,
}

/// What a simulation is put together from.
struct Parts {
    /// How long to simulate.
    end: Time,
    /// From when distributions count.
    warmup: Time,
    sample_interval: Span,
    /// Recorded links first.
    links: Vec<Link>,
    link_ids: Vec<String>,
    recorded_links: usize,
    routes: RouteTable,
    /// Sender and receiver of flow 0, of flow 1, and so on.
    endpoints: Vec<Box<dyn Endpoint>>,
    /// One per flow, until it is done.
    applications: Vec<Option<Application>>,
    flows: Vec<FlowFacts>,
}

impl Simulation {
    /// Builds the network of a scenario and the flows on it.
    ///
    /// # Errors
    /// If the scenario cannot be built; never for one that was read by [`Scenario::from_json`].
    pub fn new(scenario: &Scenario) -> Result<Self, FieldError> {
        Ok(Simulation::of(build::parts(scenario)?))
    }

    fn of(parts: Parts) -> Self {
        let mut events = EventQueue::default();
        for (flow, facts) in (0..).zip(&parts.flows) {
            events.push(facts.start, Target::Source(flow));
            if facts.stop < parts.end {
                events.push(facts.stop, Target::Stop(flow));
            }
        }
        let intervals =
            (parts.end.as_nanos() / parts.sample_interval.as_nanos().max(1) + 1) as usize;
        events.push(parts.warmup, Target::WarmupEnd);
        events.push(Time::ZERO + parts.sample_interval, Target::Sample);
        Simulation {
            now: Time::ZERO,
            steps: 0,
            events,
            link_alarms: vec![Alarm::default(); parts.links.len()],
            endpoint_alarms: vec![Alarm::default(); parts.endpoints.len()],
            recorder: Recorder::new(parts.flows.len(), parts.recorded_links, intervals),
            direct: VecDeque::new(),
            parts,
        }
    }

    /// How far it has been simulated.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Until when it can be simulated.
    pub fn end(&self) -> Time {
        self.parts.end
    }

    /// Simulates up to and including `until`, at most to the end.
    ///
    /// # Errors
    /// If an invariant of the simulator is broken. The simulation cannot be continued then.
    pub fn advance(&mut self, until: Time) -> Result<(), Fault> {
        self.run_until(until.min(self.parts.end)).map_err(|fault| *fault)
    }

    fn run_until(&mut self, until: Time) -> Step {
        while let Some((time, target)) = self.events.pop_until(until) {
            self.step(time, target)?;
            self.wake(target)?;
            while let Some(packet) = self.direct.pop_front() {
                self.arrive(&packet)?;
            }
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// Simulates to the end.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn run(mut self) -> Result<Outcome, Fault> {
        self.advance(self.parts.end)?;
        self.outcome()
    }

    /// What has been recorded so far.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn outcome(mut self) -> Result<Outcome, Fault> {
        if self.recorder.last() < self.now {
            self.sample().map_err(|fault| *fault)?;
        }
        let Parts { flows, endpoints, links, .. } = &mut self.parts;
        Ok(Outcome::gather(self.recorder, flows, endpoints, links, self.events.scheduled()))
    }

    fn wake(&mut self, target: Target) -> Step {
        match target {
            Target::Link(link) => self.on_link(link as usize),
            Target::Endpoint(endpoint) => self.on_endpoint(endpoint as usize),
            Target::Source(flow) => self.on_source(flow as usize),
            Target::Stop(flow) => self.on_stop(flow as usize),
            Target::Sample => {
                self.sample()?;
                self.events.push(self.now + self.parts.sample_interval, Target::Sample);
                Ok(())
            }
            Target::WarmupEnd => {
                self.parts.links.iter_mut().for_each(|link| link.end_warmup(self.now));
                self.parts.endpoints.iter_mut().for_each(|endpoint| endpoint.end_warmup());
                Ok(())
            }
        }
    }

    /// Packets arrive at the far end of a link and are handed on.
    fn on_link(&mut self, link: usize) -> Step {
        match self.link_alarms[link].fired(self.now) {
            Wake::Now => {}
            Wake::At(time) => {
                self.schedule(time, Target::Link(link as u32));
                return Ok(());
            }
            Wake::Not => return Ok(()),
        }
        let mut packet = Packet::default();
        while self.parts.links[link].poll_into(self.now, &mut packet) {
            packet.hop += 1;
            match self.parts.routes.next(&packet) {
                Some(next) => self.offer(next, &packet),
                None => self.arrive(&packet)?,
            }
        }
        self.arm_link(link);
        Ok(())
    }

    fn on_endpoint(&mut self, endpoint: usize) -> Step {
        match self.endpoint_alarms[endpoint].fired(self.now) {
            Wake::Now => {
                self.parts.endpoints[endpoint].on_timeout(self.now);
                return self.pump(endpoint);
            }
            Wake::At(time) => self.schedule(time, Target::Endpoint(endpoint as u32)),
            Wake::Not => {}
        }
        Ok(())
    }

    /// The application of a flow does what is due.
    fn on_source(&mut self, flow: usize) -> Step {
        let sender = 2 * flow;
        while let Some(application) = &mut self.parts.applications[flow] {
            match application.poll(self.now) {
                Ok(action) => {
                    self.act(sender, action);
                    self.pump(sender)?;
                }
                Err(Some(next)) => {
                    self.events.push(next, Target::Source(flow as u32));
                    return Ok(());
                }
                Err(None) => self.parts.applications[flow] = None,
            }
            self.step(self.now, Target::Source(flow as u32))?;
        }
        Ok(())
    }

    fn act(&mut self, sender: usize, action: Action) {
        let sender = &mut self.parts.endpoints[sender];
        match action {
            Action::Open => sender.open(self.now),
            Action::Write(bytes) => sender.write(self.now, bytes),
            Action::Close => sender.close(self.now),
        }
    }

    fn on_stop(&mut self, flow: usize) -> Step {
        self.parts.applications[flow] = None;
        self.parts.endpoints[2 * flow].stop(self.now);
        self.pump(2 * flow)
    }

    /// Records a sample, and checks that the links conserve packets.
    fn sample(&mut self) -> Step {
        let Parts { endpoints, links, .. } = &mut self.parts;
        self.recorder.sample(self.now, endpoints, links);
        match links.iter_mut().position(|link| !link.is_balanced(self.now)) {
            Some(link) => {
                Err(self.fault(Target::Link(link as u32), "neither loses nor makes packets"))
            }
            None => Ok(()),
        }
    }

    /// A packet reaches its endpoint.
    #[inline]
    fn arrive(&mut self, packet: &Packet) -> Step {
        let endpoint =
            2 * packet.flow as usize + usize::from(packet.direction == Direction::Forward);
        self.parts.endpoints[endpoint].on_packet(self.now, packet);
        self.pump(endpoint)
    }

    /// Sends what the endpoint has to send.
    #[inline]
    fn pump(&mut self, endpoint: usize) -> Step {
        while let Some(packet) = self.parts.endpoints[endpoint].poll_transmit(self.now) {
            let target = Target::Endpoint(endpoint as u32);
            if packet.flow as usize != endpoint / 2 {
                return Err(self.fault(target, "sends packets of its own flow only"));
            }
            self.step(self.now, target)?;
            match self.parts.routes.next(&packet) {
                Some(first) => self.offer(first, &packet),
                None => self.direct.push_back(packet),
            }
        }
        let want = self.parts.endpoints[endpoint].next_timeout().unwrap_or(Time::NEVER);
        if let Some(time) = self.endpoint_alarms[endpoint].arm(want.max(self.now)) {
            self.schedule(time, Target::Endpoint(endpoint as u32));
        }
        Ok(())
    }

    #[inline]
    fn offer(&mut self, link: usize, packet: &Packet) {
        let steady = self.parts.links[link].is_steady();
        self.parts.links[link].offer(self.now, *packet);
        if !steady {
            return self.arm_link(link);
        }
        debug_assert!(
            self.parts.links[link].next_wakeup().is_none_or(|t| t >= self.link_alarms[link].want()),
            "an offer brought the wake-up forward"
        );
    }

    #[inline]
    fn arm_link(&mut self, link: usize) {
        let want = self.parts.links[link].next_wakeup().unwrap_or(Time::NEVER);
        if let Some(time) = self.link_alarms[link].arm(want.max(self.now)) {
            self.schedule(time, Target::Link(link as u32));
        }
    }

    /// Apart, because most of the time nothing needs to be scheduled.
    #[inline(never)]
    fn schedule(&mut self, time: Time, target: Target) {
        self.events.push(time, target);
    }

    /// Counts a step of `target` at `time`; notices when time does not move on as it should.
    #[inline]
    fn step(&mut self, time: Time, target: Target) -> Step {
        if time > self.now {
            self.now = time;
            self.steps = 0;
            return Ok(());
        }
        if time < self.now {
            return Err(self.fault(target, "is not woken for a time that has passed"));
        }
        self.steps += 1;
        if self.steps > MOST_STEPS_AT_AN_INSTANT {
            return Err(self.fault(target, "lets time move on"));
        }
        Ok(())
    }

    #[cold]
    fn fault(&self, target: Target, holds: &str) -> Box<Fault> {
        let component = match target {
            Target::Link(link) => format!("link {}", self.parts.link_ids[link as usize]),
            Target::Endpoint(end) if end % 2 == 0 => format!("sender of flow {}", end / 2),
            Target::Endpoint(end) => format!("receiver of flow {}", end / 2),
            Target::Source(flow) | Target::Stop(flow) => format!("application of flow {flow}"),
            Target::Sample | Target::WarmupEnd => "recorder".to_owned(),
        };
        let message = format!("broken invariant: it {holds}");
        Box::new(Fault { time: self.now, component, message })
    }
}

#[cfg(test)]
mod tests;
