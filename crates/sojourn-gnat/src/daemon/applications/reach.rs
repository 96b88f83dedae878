//! What a node's programs reach: the prefixes of members, groups, and the service of what they send.

use std::net::Ipv4Addr;

use super::ip::{Head, TCP};
use crate::ServiceSpec;
use crate::daemon::config::{ApplicationsConfig, GroupConfig, Prefix, ServiceRule};
use sojourn_base::units::Rate;

/// The most that a program gets without a rule of its own.
const CEILING: Rate = Rate::from_bps(1_000_000_000);

/// What is reached from a node.
pub(super) struct Reach {
    /// This node's place among the members.
    pub(super) me: u16,
    own: Prefix,
    /// By place among the members of the overlay; the node itself has none.
    others: Vec<Option<Prefix>>,
    groups: Vec<Group>,
    /// Addresses of groups whose packets are for programs here.
    received: Vec<Ipv4Addr>,
    rules: Vec<ServiceRule>,
}

/// A group of receivers.
pub(super) struct Group {
    pub(super) address: Ipv4Addr,
    /// Their places among the members.
    pub(super) receivers: Vec<u16>,
}

impl Reach {
    /// That of a node by its configuration and the names of the overlay's members. The configuration has
    /// been checked: the node is in it, and its names are members'.
    pub(super) fn new(config: &ApplicationsConfig, node: &str, members: &[&str]) -> Self {
        let prefix = |name: &str| {
            config.members.iter().find(|member| member.node == name).map(|member| member.prefix)
        };
        let place = |name: &String| members.iter().position(|known| known == name);
        let group = |group: &GroupConfig| Group {
            address: group.address,
            receivers: group.receivers.iter().filter_map(place).map(|at| at as u16).collect(),
        };
        let is_here = |group: &&GroupConfig| group.receivers.iter().any(|name| name == node);
        let other = |name: &&str| prefix(name).filter(|_| *name != node);
        let me = members.iter().position(|name| *name == node).unwrap_or_default() as u16;
        Reach {
            me,
            own: prefix(node).unwrap_or(Prefix { address: Ipv4Addr::UNSPECIFIED, bits: 32 }),
            others: members.iter().map(other).collect(),
            groups: config.groups.iter().map(group).collect(),
            received: config.groups.iter().filter(is_here).map(|group| group.address).collect(),
            rules: config.services.clone(),
        }
    }

    /// The node's own address: the first of its prefix for a host.
    pub(super) fn address(&self) -> Ipv4Addr {
        self.own.first()
    }

    /// The prefixes of the others.
    pub(super) fn others(&self) -> impl Iterator<Item = Prefix> {
        self.others.iter().flatten().copied()
    }

    /// The groups.
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Whether an address is of this node's prefix.
    pub(super) fn is_own(&self, address: Ipv4Addr) -> bool {
        self.own.has(address)
    }

    /// The other member whose prefix has an address.
    pub(super) fn member(&self, address: Ipv4Addr) -> Option<u16> {
        let has = |prefix: &Option<Prefix>| prefix.is_some_and(|prefix| prefix.has(address));
        self.others.iter().position(has).map(|place| place as u16)
    }

    /// Whether what comes from another member is for programs here.
    pub(super) fn takes(&self, head: &Head) -> bool {
        let to = *head.ends.to.ip();
        let is_here = self.is_own(to) || self.received.contains(&to);
        is_here && head.protocol != TCP && self.member(*head.ends.from.ip()).is_some()
    }

    /// The services, by class: first that of what no rule fits.
    pub(super) fn services(&self) -> Vec<ServiceSpec> {
        let other = ServiceSpec { ceiling: CEILING, ..ServiceSpec::default() };
        let rules = self.rules.iter().map(|rule| rule.service.clone());
        std::iter::once(other).chain(rules).collect()
    }

    /// The class of a packet: that of the first rule that fits it. TCP takes rules with a logarithmic
    /// utility alone.
    pub(super) fn class(&self, head: &Head) -> usize {
        let fits = |rule: &ServiceRule| {
            let [from, to] = [head.ends.from.port(), head.ends.to.port()];
            let of_ports = |(first, last): (u16, u16)| {
                (first..=last).contains(&from) || (first..=last).contains(&to)
            };
            rule.ports.is_none_or(of_ports)
                && rule.dscp.is_none_or(|dscp| dscp == head.dscp)
                && (head.protocol != TCP || rule.service.utility.takes_tcp())
        };
        self.rules.iter().position(fits).map_or(0, |place| place + 1)
    }
}
