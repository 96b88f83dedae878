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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Utility;
    use crate::daemon::config::MemberConfig;

    const UDP: u8 = 17;

    /// What the second of four members reaches, of which the third has no programs.
    fn reach() -> Reach {
        let member = |(node, prefix): (&str, &str)| MemberConfig {
            node: node.to_owned(),
            prefix: prefix.parse().unwrap(),
        };
        let group = |address: &str, receivers: &[&str]| GroupConfig {
            address: address.parse().unwrap(),
            receivers: receivers.iter().map(|name| (*name).to_owned()).collect(),
        };
        let rule = |ports, dscp, utility| ServiceRule {
            ports,
            dscp,
            service: ServiceSpec { utility, ..ServiceSpec::default() },
        };
        let config = ApplicationsConfig {
            device: "sojourn0".to_owned(),
            members: [("d", "10.9.4.0/24"), ("a", "10.9.1.0/24"), ("b", "10.9.2.0/24")]
                .map(member)
                .into(),
            groups: vec![group("239.1.1.1", &["b", "d"]), group("239.1.1.2", &["a"])],
            services: vec![
                rule(Some((5_001, 5_010)), None, Utility::Strap),
                rule(None, Some(46), Utility::Log),
                rule(Some((5_005, 5_020)), Some(8), Utility::Log),
                rule(Some((5_005, 5_005)), None, Utility::Log),
            ],
        };
        Reach::new(&config, "b", &["a", "b", "c", "d"])
    }

    fn head(from: &str, to: &str, protocol: u8, dscp: u8) -> Head {
        let [from, to] = [from, to].map(|end| end.parse::<std::net::SocketAddrV4>().unwrap());
        let mut packet = vec![0; 40];
        (packet[0], packet[1], packet[3], packet[9]) = (0x45, dscp << 2, 40, protocol);
        packet[12..16].copy_from_slice(&from.ip().octets());
        packet[16..20].copy_from_slice(&to.ip().octets());
        packet[20..22].copy_from_slice(&from.port().to_be_bytes());
        packet[22..24].copy_from_slice(&to.port().to_be_bytes());
        Head::of(&packet).unwrap()
    }

    #[test]
    fn members_are_reached_by_their_prefixes() {
        let reach = reach();
        let member = |address: &str| reach.member(address.parse().unwrap());
        assert_eq!((reach.me, reach.address()), (1, Ipv4Addr::new(10, 9, 2, 1)));
        assert_eq!([member("10.9.1.0"), member("10.9.4.255")], [Some(0), Some(3)]);
        assert_eq!([member("10.9.2.1"), member("10.9.3.1"), member("239.1.1.1")], [None; 3]);
        assert_eq!(reach.others().count(), 2);
        let groups = reach.groups().iter().map(|group| &group.receivers[..]);
        assert_eq!(groups.collect::<Vec<_>>(), [&[1, 3][..], &[0]]);
    }

    #[test]
    fn what_comes_is_for_programs_here_and_from_another_member() {
        let reach = reach();
        let takes = |from: &str, to: &str, protocol| {
            reach.takes(&head(&format!("{from}:1"), &format!("{to}:2"), protocol, 0))
        };
        assert!(takes("10.9.1.7", "10.9.2.9", UDP) && takes("10.9.1.7", "10.9.2.9", 1));
        assert!(takes("10.9.4.1", "239.1.1.1", UDP) && !takes("10.9.4.1", "239.1.1.2", UDP));
        assert!(!takes("10.9.1.7", "10.9.4.1", UDP), "of another member");
        assert!(!takes("10.9.2.7", "10.9.2.9", UDP) && !takes("192.0.2.1", "10.9.2.9", UDP));
        assert!(!takes("10.9.1.7", "10.9.2.9", TCP), "the kernel's connections alone");
    }

    #[test]
    fn services_go_by_ports_and_code_points() {
        let reach = reach();
        assert_eq!(reach.services().len(), 5);
        assert_eq!(reach.services()[0].ceiling, CEILING);
        let class = |from: u16, to: u16, protocol, dscp| {
            let [from, to] = [format!("10.9.2.1:{from}"), format!("10.9.1.1:{to}")];
            reach.class(&head(&from, &to, protocol, dscp))
        };
        assert_eq!([class(1, 5_001, UDP, 0), class(5_010, 1, UDP, 46)], [1, 1], "either end");
        assert_eq!([class(1, 5_011, UDP, 0), class(1, 2, UDP, 46)], [0, 2]);
        assert_eq!([class(1, 5_020, UDP, 8), class(1, 5_020, UDP, 9)], [3, 0], "both");
        assert_eq!([class(1, 5_005, TCP, 0), class(1, 5_001, TCP, 0)], [4, 0], "no strap for TCP");
        assert_eq!(class(0, 0, 1, 46), 2, "without ports");
    }
}
