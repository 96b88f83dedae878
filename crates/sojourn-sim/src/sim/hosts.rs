//! Hosts of the simulated network: sockets, and the applications that write to them.
//!
//! The host's own path lies between a socket and its first edge. Effects of a host on its sockets'
//! packets belong in [`FlowHosts::pump`] and [`FlowHosts::on_packet`](Hosts::on_packet). So far,
//! receivers themselves merge arrivals (GRO), and senders, which are notified of departures, keep
//! queues small.

use super::application::Application;
use super::arrivals::Driver;
use super::sockets::Sockets;
use super::timer::Timer;
use crate::edge::Departure;
use crate::endpoint::Endpoint;
use crate::net::{Alarm, Hosts, Network, Step, Wake};
use crate::packet::Packet;
use crate::record::{FlowCounters, FlowFacts, Table};
use crate::traffic::Action;
use crate::units::Time;

/// Sockets and applications of a region of the network; those of other regions are inert.
pub(super) struct FlowHosts {
    /// By socket: sender and receiver of flow 0, of flow 1, and so on.
    pub endpoints: Vec<Box<dyn Endpoint>>,
    /// One per flow, until it is done.
    pub applications: Vec<Option<Application>>,
    /// One per socket.
    pub alarms: Vec<Alarm>,
    /// Sockets of flows that the scenario declares: the first ones. Those behind them are of
    /// connections that come and go.
    pub declared: usize,
    /// Connections that come and go, if there are any.
    pub arrivals: Option<Box<Driver>>,
}

/// A socket of another region.
pub(super) struct Elsewhere;

impl Endpoint for Elsewhere {
    fn on_packet(&mut self, _now: Time, _packet: &Packet) {
        debug_assert!(false, "packets come to the region of their socket");
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        None
    }

    fn report(&mut self, _now: Time, _counters: &mut FlowCounters) {}
}

impl FlowHosts {
    /// Sets the timers with which a run begins.
    pub(super) fn start(&mut self, net: &mut Network, flows: &[FlowFacts], end: Time) {
        for (flow, facts) in (0..).zip(flows) {
            if self.applications[flow as usize].is_none() {
                continue;
            }
            net.set_timer(facts.start, Timer::Source(flow).pack());
            if facts.stop < end {
                net.set_timer(facts.stop, Timer::Stop(flow).pack());
            }
        }
        if let Some(driver) = &mut self.arrivals {
            driver.start(net);
        }
    }

    fn on_endpoint(&mut self, net: &mut Network, socket: usize) -> Step {
        match self.alarms[socket].fired(net.now()) {
            Wake::Now => {
                self.endpoints[socket].on_timeout(net.now());
                self.pump(net, socket)?;
                return self.after(net, socket);
            }
            Wake::At(time) => net.set_timer(time, Timer::Endpoint(socket as u32).pack()),
            Wake::Not => {}
        }
        Ok(())
    }

    /// The application of a flow takes the actions that are due.
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

    /// Whoever connections belong to looks at what has become of them.
    #[inline]
    fn after(&mut self, net: &mut Network, socket: usize) -> Step {
        if socket < self.declared {
            return Ok(());
        }
        self.driven(|driver, hosts| driver.after(hosts, net, socket))
    }

    /// Lets the driver of arrivals act, if there is one.
    pub(super) fn driven(&mut self, act: impl FnOnce(&mut Driver, &mut Self) -> Step) -> Step {
        let Some(mut driver) = self.arrivals.take() else { return Ok(()) };
        let done = act(&mut driver, self);
        self.arrivals = Some(driver);
        done
    }

    /// Tables of transfers and of the samples of their entries, if there are any.
    pub(super) fn ended(&mut self, now: Time) -> Option<[Table; 2]> {
        let mut driver = self.arrivals.take()?;
        Some(driver.outcome(self, now))
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

    /// Sends all packets that the endpoint has to send.
    #[inline(never)]
    fn pump(&mut self, net: &mut Network, socket: usize) -> Step {
        self.pump_here(net, socket)
    }

    /// The same, where packets arrive: most of all that is sent answers them.
    #[inline(always)] // once per packet
    fn pump_here(&mut self, net: &mut Network, socket: usize) -> Step {
        let timer = Timer::Endpoint(socket as u32).pack();
        let endpoint = &mut self.endpoints[socket];
        // By reference: a packet that is taken out of its `Option` is copied.
        while let Some(packet) = &endpoint.poll_transmit(net.now()) {
            if !net.may_step() {
                return Err(net.stays(self, timer));
            }
            net.inject(packet);
        }
        let want = endpoint.next_timeout().unwrap_or(Time::NEVER);
        if let Some(time) = self.alarms[socket].arm(want.max(net.now())) {
            net.set_timer(time, timer);
        }
        Ok(())
    }
}

impl Sockets for FlowHosts {
    fn end(&mut self, socket: usize) -> &mut dyn Endpoint {
        &mut *self.endpoints[socket]
    }

    fn act(&mut self, now: Time, sender: usize, action: Action) {
        FlowHosts::act(self, now, sender, action);
    }

    fn pump(&mut self, net: &mut Network, socket: usize) -> Step {
        FlowHosts::pump(self, net, socket)
    }

    fn seat(&mut self, first: usize, ends: [Box<dyn Endpoint>; 2]) {
        for (socket, end) in (first..).zip(ends) {
            if socket == self.endpoints.len() {
                self.endpoints.push(end);
                self.alarms.push(Alarm::default());
            } else {
                self.endpoints[socket] = end;
            }
        }
    }

    fn clear(&mut self, first: usize) {
        for socket in [first, first + 1] {
            self.endpoints[socket] = Box::new(Elsewhere);
            self.alarms[socket].arm(Time::NEVER);
        }
    }

    fn count_step(&self, net: &mut Network, timer: u32) -> Step {
        net.count_step(self, timer)
    }
}

/// Whether a flow still has this socket, which connections have one after another.
fn owns(arrivals: Option<&Driver>, flow: u32, socket: usize) -> bool {
    arrivals.is_some_and(|driver| driver.admits(flow, socket))
}

impl Hosts for FlowHosts {
    #[inline(always)] // once per packet
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
        let socket = packet.socket as usize;
        let Some(endpoint) = self.endpoints.get_mut(socket) else {
            return Err(net.fault(format!("socket {socket}"), "exists"));
        };
        if socket >= self.declared && !owns(self.arrivals.as_deref(), packet.flow, socket) {
            return Ok(());
        }
        endpoint.on_packet(net.now(), packet);
        self.pump_here(net, socket)?;
        self.after(net, socket)
    }

    fn on_departure(&mut self, net: &mut Network, departure: Departure) -> Step {
        let socket = departure.socket as usize;
        if socket >= self.declared && !owns(self.arrivals.as_deref(), departure.flow, socket) {
            return Ok(());
        }
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
            Timer::Arrivals(entry) => {
                self.driven(|driver, hosts| driver.on_timer(hosts, net, entry as usize))
            }
        }
    }

    fn component(&self, timer: u32) -> String {
        match Timer::unpack(timer) {
            Timer::Endpoint(socket) if socket as usize >= self.declared => {
                "connection of an arrival".to_owned()
            }
            Timer::Endpoint(socket) if socket % 2 == 0 => format!("sender of flow {}", socket / 2),
            Timer::Endpoint(socket) => format!("receiver of flow {}", socket / 2),
            Timer::Source(flow) | Timer::Stop(flow) => format!("application of flow {flow}"),
            Timer::Arrivals(entry) => format!("arrivals.{entry}"),
        }
    }
}
