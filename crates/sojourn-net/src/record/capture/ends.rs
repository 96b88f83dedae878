//! Places at which packets are captured: the hosts of flows, the ends of links.

use super::{Capture, Towards};
use crate::packet::Packet;
use crate::units::Time;

/// The interface of a host.
#[derive(Clone, Debug)]
pub struct HostTap {
    pub(super) capture: Capture,
    pub(super) interface: u32,
}

impl HostTap {
    /// The host sends a packet.
    pub fn sent(&self, now: Time, packet: &Packet) {
        self.capture.packet(now, self.interface, Towards::Out, packet, None);
    }

    /// The host receives a packet.
    pub fn received(&self, now: Time, packet: &Packet) {
        self.capture.packet(now, self.interface, Towards::In, packet, None);
    }
}

/// The ends of a link: interfaces for what is offered to it, what arrives, and what it loses.
#[derive(Clone, Debug)]
pub struct LinkEnds {
    pub(super) capture: Capture,
    /// The first of the three.
    pub(super) interface: u32,
}

impl LinkEnds {
    /// A packet reaches the near end.
    pub fn near(&self, now: Time, packet: &Packet) {
        self.capture.packet(now, self.interface, Towards::Out, packet, None);
    }

    /// A packet arrives at the far end.
    pub fn far(&self, now: Time, packet: &Packet) {
        self.capture.packet(now, self.interface + 1, Towards::In, packet, None);
    }

    /// A packet is dropped, or lost on its way, for a reason.
    pub fn lost(&self, now: Time, packet: &Packet, reason: &str) {
        self.capture.packet(now, self.interface + 2, Towards::Out, packet, Some(reason));
    }
}
