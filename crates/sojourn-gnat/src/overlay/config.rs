//! Overlay configuration: the members and the flows of an overlay, which its nodes know before they
//! exchange messages.

use std::net::Ipv4Addr;
use std::ops::Deref;

use super::numbers::DATAGRAMS;
use crate::ServiceSpec;
use sojourn_base::units::Time;
use sojourn_net::multicast::{Groups, Receiver, Stream};

/// Transport of a flow's hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowTransport {
    /// Datagrams.
    Udp,
    /// TCP, which the proxies terminate.
    Tcp {
        /// Payload of a full segment, in bytes.
        mss: u32,
    },
    /// Datagrams of a stream to several receivers, of which this flow is the first.
    Stream {
        /// Number of the stream.
        index: u16,
    },
}

/// A flow of the overlay.
#[derive(Clone, Debug)]
pub struct OverlayFlow {
    /// Its number.
    pub flow: u32,
    /// The members where it begins and ends.
    pub ends: [u16; 2],
    /// Its service.
    pub service: ServiceSpec,
    /// Transport of its hosts.
    pub transport: FlowTransport,
    /// When it starts.
    pub start: Time,
}

/// A node's first advertisement of links has the number after this one; without it, the first is 1.
/// One that has run before is given a number above those that others may remember of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastNumber(pub u32);

/// Bytes of the largest datagram between two nodes; without it, that of SLIQ. Where datagrams are
/// sealed, the seal takes some. It bounds what is added to a packet; a packet that is too long by
/// itself is refused by [`check_sizes`](crate::check_sizes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Largest(pub usize);

/// A group to which applications send datagrams, from any member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOfApplications {
    /// Its IPv4 address.
    pub address: u32,
    /// The members at which it is received, by their places.
    pub receivers: Vec<u16>,
}

/// Members and flows of an overlay.
#[derive(Debug, Default)]
pub struct OverlayConfig {
    /// The members, and the groups.
    known: Groups,
    /// The flows.
    pub flows: Vec<OverlayFlow>,
    /// Addresses of applications' groups, each of which has a stream from every member, in this order
    /// after the scenario's; and the number of those.
    addresses: Vec<u32>,
    scenario_streams: usize,
}

impl Deref for OverlayConfig {
    type Target = Groups;

    fn deref(&self) -> &Groups {
        &self.known
    }
}

impl OverlayConfig {
    /// The configuration of these nodes, with these flows.
    pub fn new(known: Groups, flows: Vec<OverlayFlow>) -> Self {
        OverlayConfig { known, flows, addresses: Vec::new(), scenario_streams: 0 }
    }

    /// The same with groups of applications, which all nodes of the overlay must have alike. Each member
    /// sends a stream to every group, always on; there are at most 65,536 streams.
    #[must_use]
    pub fn with_application_groups(mut self, groups: &[GroupOfApplications]) -> Self {
        self.scenario_streams = self.known.streams.len();
        for group in groups {
            let number = self.known.groups.len() as u16;
            self.known.groups.push(Ipv4Addr::from(group.address).to_string());
            self.addresses.push(group.address);
            let streams = (0..self.known.members.len() as u16).map(|sender| {
                let others = group.receivers.iter().filter(|member| **member != sender);
                let receivers = others.map(|member| Receiver {
                    flow: DATAGRAMS,
                    member: *member,
                    start: Time::ZERO,
                    stop: Time::NEVER,
                });
                Stream { group: number, receivers: receivers.collect() }
            });
            self.known.streams.extend(streams);
        }
        self
    }

    /// The stream by which a member sends to a group of applications, if anybody else receives it.
    pub fn stream_of(&self, sender: u16, address: u32) -> Option<u16> {
        let members = self.known.members.len();
        let group = self.addresses.iter().position(|known| *known == address)?;
        let stream = self.scenario_streams + group * members + usize::from(sender);
        let received = !self.known.streams.get(stream)?.receivers.is_empty();
        (usize::from(sender) < members && received).then_some(stream as u16)
    }

    /// Whether a stream is one of applications.
    pub(super) fn is_of_applications(&self, stream: u16) -> bool {
        !self.addresses.is_empty() && usize::from(stream) >= self.scenario_streams
    }
}
