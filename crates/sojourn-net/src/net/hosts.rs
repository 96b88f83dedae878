//! The interface between a network and its user.

use super::Network;
use crate::edge::Departure;
use crate::error::Fault;
use crate::packet::Packet;
use crate::units::Time;

/// Result of a step, small enough for a register.
pub type Step = Result<(), Box<Fault>>;

/// User of a network: receives its packets and timers.
pub trait Hosts {
    /// A packet has reached the end of its route.
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

    /// The timer set by [`Network::set_timer`] is due.
    ///
    /// # Errors
    /// If an invariant is broken; ends the run.
    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step;

    /// Name of the component that a timer belongs to, for messages.
    fn component(&self, timer: u32) -> String;
}

/// Collects arrivals: the simplest user of a network.
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
