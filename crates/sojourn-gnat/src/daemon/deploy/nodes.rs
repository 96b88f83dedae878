//! The nodes of a deployment, the links between them, and where each is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use sojourn_base::error::FieldError;
use sojourn_net::net::Links;
use sojourn_sim::scenario::Scenario;

use crate::daemon::{DeployOptions, Error, network};

/// The port of a node that is alone at its address, and the last one before those of nodes that share
/// the loopback.
const PORT: u16 = 7100;
/// Before the addresses of the first link between namespaces: each has four.
const LINKS: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 0);

/// All nodes.
pub(super) struct Nodes {
    pub(super) all: Vec<Node>,
    /// Whether links are as in the scenario.
    pub(super) emulate: bool,
}

/// A node.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) listen: SocketAddr,
    /// In the order of its links.
    pub(super) neighbours: Vec<To>,
}

/// A neighbour as a node sees it.
pub(super) struct To {
    /// Its place among all nodes.
    pub(super) place: usize,
    /// Where the node reaches it.
    pub(super) address: SocketAddr,
}

impl Nodes {
    /// Those of a scenario, which can all run by themselves.
    ///
    /// # Errors
    /// Names what cannot, or an address that is not usable.
    pub(super) fn of(scenario: &Scenario, options: &DeployOptions) -> Result<Self, Error> {
        let refused = Error::config(&options.file);
        let names = names(scenario).map_err(&refused)?;
        let mut neighbours = Vec::new();
        for name in &names {
            let found = network::neighbours(scenario, name, Links::Kept).map_err(&refused)?;
            let place = |other: &String| names.iter().position(|name| name == other);
            neighbours.push(found.iter().filter_map(place).collect::<Vec<_>>());
        }
        let at = if options.namespaces {
            check_labels(&names, &neighbours).map_err(&refused)?;
            At::Links(pairs(&neighbours))
        } else {
            At::Addresses(addresses(&names, options)?)
        };
        let to = |from, place| To { place, address: at.reached(from, place) };
        let node = |(place, (name, others)): (usize, (&&str, Vec<usize>))| Node {
            name: (*name).to_owned(),
            listen: at.listens(place),
            neighbours: others.into_iter().map(|other| to(place, other)).collect(),
        };
        let all = names.iter().zip(neighbours).enumerate().map(node).collect();
        Ok(Nodes { all, emulate: options.emulate || options.namespaces })
    }

    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|node| &node.name[..])
    }

    /// Each two neighbours, the former first, and where each is reached by the other.
    pub(super) fn links(&self) -> Vec<[(&Node, SocketAddr); 2]> {
        let mut links = Vec::new();
        for (place, node) in self.all.iter().enumerate() {
            for to in node.neighbours.iter().filter(|to| to.place > place) {
                let other = &self.all[to.place];
                let back = other.neighbours.iter().find(|back| back.place == place);
                links.extend(back.map(|back| [(node, back.address), (other, to.address)]));
            }
        }
        links
    }
}

/// Where nodes are.
enum At {
    /// Each at an address of its own.
    Addresses(Vec<SocketAddr>),
    /// Each at one end of each of its links; the links' places.
    Links(Vec<[usize; 2]>),
}

impl At {
    fn listens(&self, place: usize) -> SocketAddr {
        match self {
            At::Links(_) => SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), PORT),
            At::Addresses(all) if all[place].ip().is_loopback() => all[place],
            // It may be another machine's address, which translates to this one.
            At::Addresses(all) => {
                let ip = match all[place].ip() {
                    IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
                    IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
                };
                SocketAddr::new(ip, all[place].port())
            }
        }
    }

    fn reached(&self, from: usize, to: usize) -> SocketAddr {
        match self {
            At::Addresses(all) => all[to],
            At::Links(links) => {
                let pair = [from.min(to), from.max(to)];
                let link =
                    links.iter().position(|link| *link == pair).expect("they are neighbours");
                let end = if to == pair[0] { 1 } else { 2 };
                let ip = Ipv4Addr::from_bits(LINKS.to_bits() + 4 * link as u32 + end);
                SocketAddr::new(ip.into(), PORT)
            }
        }
    }
}

/// The places of each two neighbours.
fn pairs(neighbours: &[Vec<usize>]) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    for (place, others) in neighbours.iter().enumerate() {
        pairs.extend(others.iter().filter(|other| **other > place).map(|other| [place, *other]));
    }
    pairs
}

/// The members' names, which can name files.
fn names(scenario: &Scenario) -> Result<Vec<&str>, FieldError> {
    let names = network::members(scenario);
    let refused = |message: String| Err(FieldError::new("topology.nodes", message));
    if names.is_empty() {
        return refused("none is a node of an overlay; give such nodes kind = \"overlay\"".into());
    }
    let fits = |name: &&&str| {
        name.starts_with(|first: char| first.is_ascii_alphanumeric())
            && name.chars().all(|one| one.is_ascii_alphanumeric() || "._-".contains(one))
    };
    if let Some(name) = names.iter().find(|name| !fits(name)) {
        return refused(format!(
            "'{name}' cannot name files; use letters, digits, '.', '_' and '-', the first a letter \
             or a digit"
        ));
    }
    Ok(names)
}

/// Each link can be named by its ends.
fn check_labels(names: &[&str], neighbours: &[Vec<usize>]) -> Result<(), FieldError> {
    let mut seen = BTreeSet::new();
    for [one, two] in pairs(neighbours) {
        for [from, to] in [[one, two], [two, one]] {
            let label = format!("{}-{}", names[from], names[to]);
            if !seen.insert(label.clone()) {
                let message = format!("two links would be called {label}; rename one of the nodes");
                return Err(FieldError::new("topology.nodes", message));
            }
        }
    }
    Ok(())
}

/// Where each node is reached: as the options say, or on the loopback.
fn addresses(names: &[&str], options: &DeployOptions) -> Result<Vec<SocketAddr>, Error> {
    let refused = |message| Error::Option { option: "address", message };
    let mut given = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for one in &options.address {
        if !names.contains(&&one.node[..]) {
            let error = FieldError::unknown_name("", "overlay node", &one.node, names);
            return Err(refused(error.message));
        }
        if given.insert(&one.node[..], one.address).is_some() {
            return Err(refused(format!("{} is given twice; leave one of them out", one.node)));
        }
        if !taken.insert(one.address) {
            return Err(refused(format!("{} is given twice; give each its own", one.address)));
        }
    }
    let of = |(place, name): (usize, &&str)| match given.get(name) {
        Some(address) => Ok(*address),
        None if given.is_empty() => {
            let port = PORT + 1 + place as u16;
            Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))
        }
        None => Err(refused(format!("{name} has none; give one for each node, or for no node"))),
    };
    names.iter().enumerate().map(of).collect()
}
