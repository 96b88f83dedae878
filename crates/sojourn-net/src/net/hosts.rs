//! What sits on a network.

use super::Network;
use crate::edge::Departure;
use crate::error::Fault;
use crate::packet::Packet;
use crate::units::Time;

/// Outcome of a step, small enough for a register.
pub type Step = Result<(), Box<Fault>>;

/// What sits on a network: gets its packets and the timers it has set.
pub trait Hosts {
    /// A packet has come to the end of its route.
    ///
    /// # Errors
    /// If an invariant is broken; ends the run.
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step;

    /// A packet of a flow has left its sender's station on a shared medium.
    ///
    /// # Errors
    /// If an invariant is broken; ends the run.
    fn on_departure(&mut self, _net: &mut Network, _departure: Departure) -> Step {
        Ok(())
    }

    /// The time of [`Network::set_timer`] has come.
    ///
    /// # Errors
    /// If an invariant is broken; ends the run.
    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step;

    /// The component that a timer belongs to, for messages.
    fn component(&self, timer: u32) -> String;
}

/// Collects what arrives: the plainest way to drive a network.
#[derive(Debug, Default)]
pub struct Arrivals(pub Vec<(Time, Packet)>);

impl Hosts for Arrivals {
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
        self.0.push((net.now(), *packet));
        Ok(())
    }

    fn on_timer(&mut self, _net: &mut Network, _timer: u32) -> Step {
        Ok(())
    }

    fn component(&self, timer: u32) -> String {
        format!("timer {timer}")
    }
}
