//! `[applications]`: what programs at the nodes reach, and with which service.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use sojourn_base::error::FieldError;

use super::code_point::CodePoint;
use super::prefix::Prefix;
use crate::ServiceSpec;

/// The device's name unless it is given.
const DEVICE: &str = "sojourn0";
/// The longest name of an interface, in bytes.
const LONGEST: usize = 15;
/// At most so many members have applications.
pub(in crate::daemon) const MEMBERS: usize = 64;
/// Programs at the nodes, and how they reach each other.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationsConfig {
    /// The name of the network interface.
    pub device: String,
    /// All members that have applications.
    pub members: Vec<MemberConfig>,
    /// Multicast groups.
    pub groups: Vec<GroupConfig>,
    /// Services: the first that fits.
    pub services: Vec<ServiceRule>,
}

/// A member with applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberConfig {
    /// Its name in the scenario.
    pub node: String,
    /// Its programs' addresses, the first of which is its own.
    pub prefix: Prefix,
}

/// A multicast group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupConfig {
    /// Its address.
    pub address: Ipv4Addr,
    /// The members whose programs receive.
    pub receivers: Vec<String>,
}

/// A service of what has such ports or such a code point.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceRule {
    /// First and last port, of either end.
    pub ports: Option<(u16, u16)>,
    /// The code point.
    pub dscp: Option<u8>,
    /// The service.
    pub service: ServiceSpec,
}

/// The section in a file's words.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::daemon) struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::daemon) device: Option<String>,
    pub(in crate::daemon) members: Vec<WrittenMember>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::daemon) groups: Vec<GroupConfig>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    services: Vec<WrittenRule>,
}

/// A member in a file's words.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::daemon) struct WrittenMember {
    pub(in crate::daemon) node: String,
    pub(in crate::daemon) prefix: String,
}

/// A rule in a file's words.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    #[serde(skip_serializing_if = "Option::is_none")]
    ports: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dscp: Option<CodePoint>,
    service: ServiceSpec,
}

impl Written {
    /// That of these members and groups, with nothing else.
    pub(in crate::daemon) fn of(members: Vec<WrittenMember>, groups: Vec<GroupConfig>) -> Self {
        Written { device: None, members, groups, services: Vec::new() }
    }

    /// What it says.
    ///
    /// # Errors
    /// Names the field, and the remedy.
    pub(in crate::daemon) fn read(self) -> Result<ApplicationsConfig, FieldError> {
        let device = self.device.unwrap_or_else(|| DEVICE.to_owned());
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let fits = (1..=LONGEST).contains(&device.len()) && device.bytes().all(is_name);
        if !fits || device.starts_with(['-', '.']) {
            let message = format!(
                "{device:?} given; allowed: up to {LONGEST} letters, digits, '-', '_' and '.', the first \
                 a letter or a digit"
            );
            return Err(FieldError::new("device", message));
        }
        let members = each("members", self.members, |member| {
            Ok(MemberConfig { node: member.node, prefix: member.prefix.parse()? })
        })?;
        let services = each("services", self.services, WrittenRule::read)?;
        let config = ApplicationsConfig { device, members, groups: self.groups, services };
        config.check()?;
        Ok(config)
    }
}

fn each<W, T>(
    field: &str,
    written: Vec<W>,
    read: impl Fn(W) -> Result<T, FieldError>,
) -> Result<Vec<T>, FieldError> {
    let one = |(place, one)| read(one).map_err(|error| error.within(&format!("{field}.{place}")));
    written.into_iter().enumerate().map(one).collect()
}

impl WrittenRule {
    fn read(self) -> Result<ServiceRule, FieldError> {
        if self.ports.is_none() && self.dscp.is_none() {
            let message = "given without ports and dscp; give one of them, to which it applies";
            return Err(FieldError::new("service", message));
        }
        self.service.validate().map_err(|error| error.within("service"))?;
        if self.service.group.is_some() {
            let message = "given; groups of programs are those of applications.groups";
            return Err(FieldError::new("service.group", message));
        }
        let ports = self.ports.map(|text| ports(&text)).transpose()?;
        let dscp = self.dscp.map(|one| one.number()).transpose()?;
        Ok(ServiceRule { ports, dscp, service: self.service })
    }
}

fn ports(text: &str) -> Result<(u16, u16), FieldError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = (first.trim().parse(), last.trim().parse());
    match range {
        (Ok(first), Ok(last)) if first <= last => Ok((first, last)),
        _ => {
            let message = format!("{text:?} given; allowed: a port, or two as in \"5001-5010\"");
            Err(FieldError::new("ports", message))
        }
    }
}

impl ApplicationsConfig {
    /// Each prefix and each group is there once.
    fn check(&self) -> Result<(), FieldError> {
        if self.members.len() > MEMBERS {
            let message =
                format!("{} given; at most {MEMBERS} have applications", self.members.len());
            return Err(FieldError::new("members", message));
        }
        for (place, member) in self.members.iter().enumerate() {
            for (other, before) in self.members[..place].iter().enumerate() {
                if before.node == member.node {
                    let message = format!(
                        "'{}' is members.{other} already; leave one of them out",
                        member.node
                    );
                    return Err(FieldError::new(format!("members.{place}.node"), message));
                }
                if before.prefix.meets(member.prefix) {
                    let message =
                        format!("{} is in members.{other}, too; give each its own", member.prefix);
                    return Err(FieldError::new(format!("members.{place}.prefix"), message));
                }
            }
        }
        for (place, GroupConfig { address, .. }) in self.groups.iter().enumerate() {
            let known = self.groups[..place].iter().any(|group| group.address == *address);
            // The kernel speaks to those of the first range itself.
            let local = address.octets()[..3] == [224, 0, 0];
            if known || local || !address.is_multicast() {
                let message = format!(
                    "{address} given; allowed: a multicast address, such as 239.1.1.1, once"
                );
                return Err(FieldError::new(format!("groups.{place}.address"), message));
            }
        }
        Ok(())
    }

    /// The names are those of members, and the node's own is among them.
    ///
    /// # Errors
    /// Names the field, relative to the section.
    pub(super) fn check_names(&self, node: &str, members: &[&str]) -> Result<(), FieldError> {
        let unknown = |field: &str, name: &str, known: &[&str]| {
            FieldError::unknown_name(field, "overlay node", name, known)
        };
        for (place, member) in self.members.iter().enumerate() {
            let at = members.iter().position(|known| *known == member.node);
            match at {
                None => {
                    return Err(unknown(&format!("members.{place}.node"), &member.node, members));
                }
                Some(at) if at >= MEMBERS => {
                    let message = format!(
                        "'{}' is not among the first {MEMBERS} overlay nodes, which alone have applications",
                        member.node
                    );
                    return Err(FieldError::new(format!("members.{place}.node"), message));
                }
                Some(_) => {}
            }
        }
        let names: Vec<_> = self.members.iter().map(|member| &member.node[..]).collect();
        if !names.contains(&node) {
            let message =
                format!("'{node}' is missing, which is this node; add it with its prefix");
            return Err(FieldError::new("members", message));
        }
        for (place, group) in self.groups.iter().enumerate() {
            let other = group.receivers.iter().find(|name| !names.contains(&&name[..]));
            if let Some(name) = other {
                return Err(unknown(&format!("groups.{place}.receivers"), name, &names));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sojourn_base::reading;
    use sojourn_sim::spec::toml_to_json;

    use super::*;

    const RIGHT: &str = r#"
[[members]]
node = "1"
prefix = "10.9.1.0/24"
[[members]]
node = "2"
prefix = "10.9.2.0/24"
[[groups]]
address = "239.1.1.1"
receivers = ["2"]
[[services]]
ports = "5001-5010"
dscp = "EF"
service = { priority = 2.0, deadline = "100 ms" }
[[services]]
dscp = 8
service = { priority = 0.1 }
"#;

    fn read(text: &str) -> Result<ApplicationsConfig, FieldError> {
        let written: Written = reading::read(&toml_to_json(text)?)?;
        let config = written.read()?;
        config.check_names("1", &["1", "2", "3"])?;
        Ok(config)
    }

    #[test]
    fn the_section_is_that_of_its_text() {
        let config = read(RIGHT).unwrap();
        assert_eq!(config.device, "sojourn0");
        let prefix = config.members[1].prefix;
        assert_eq!(prefix.first(), Ipv4Addr::new(10, 9, 2, 1));
        assert!(
            prefix.has(Ipv4Addr::new(10, 9, 2, 255)) && !prefix.has(Ipv4Addr::new(10, 9, 3, 0))
        );
        let rules: Vec<_> = config.services.iter().map(|rule| (rule.ports, rule.dscp)).collect();
        assert_eq!(rules, [(Some((5_001, 5_010)), Some(46)), (None, Some(8))]);
    }

    #[test]
    fn what_is_wrong_is_told_with_the_remedy() {
        for (from, to, expected) in [
            (
                "\n[[members]]",
                "device = \"a b\"\n[[members]]",
                "device: \"a b\" given; allowed: up to 15 ",
            ),
            ("node = \"2\"", "node = \"1\"", "members.1.node: '1' is members.0 already; "),
            ("node = \"2\"", "node = \"9\"", "members.1.node: unknown overlay node '9'; "),
            ("node = \"1\"", "node = \"3\"", "members: '1' is missing, which is this node; "),
            ("10.9.2.0/24", "10.9.2.1/24", "members.1.prefix: \"10.9.2.1/24\" given; allowed: "),
            ("10.9.2.0/24", "10.9.0.0/16", "members.1.prefix: 10.9.0.0/16 is in members.0, too; "),
            ("10.9.2.0/24", "127.0.0.0/8", "members.1.prefix: \"127.0.0.0/8\" given; allowed: "),
            ("239.1.1.1", "224.0.0.9", "groups.0.address: 224.0.0.9 given; allowed: "),
            ("[\"2\"]", "[\"3\"]", "groups.0.receivers: unknown overlay node '3'; allowed: 1, 2"),
            ("5001-", "5011-", "services.0.ports: \"5011-5010\" given; allowed: a port, or two"),
            ("\"EF\"", "\"XF\"", "services.0.dscp: \"XF\" given; allowed: 0 to 63, or a name"),
            ("dscp = 8", "dscp = 64", "services.1.dscp: 64 given; allowed: 0 to 63"),
            ("dscp = 8", "", "services.1.service: given without ports and dscp; "),
            ("priority = 2.0", "priority = 0.0", "services.0.service.priority: 0 given; "),
        ] {
            let told = read(&RIGHT.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(told.starts_with(expected), "{told}\n{expected}");
        }
    }
}
