//! The nodes of a run that has all of them: in threads of one process, with keys that only it knows.
//!
//! A scenario knows no keys, and simulated nodes exchange none. So the members' sessions are there when
//! the run begins: the handshakes are made in memory.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sojourn_base::error::FieldError;
use sojourn_base::units::{Span, Time};
use sojourn_net::net::Links;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Part;
use sojourn_sliq::secure::{Ages, Gate, Moment, Secret};
use sojourn_sliq::udp::{Clock, unix};

use super::node::Setup;
use super::turn::Turning;
use super::{Config, Error, PeerConfig, network};

/// How often a member looks at its neighbours' clocks and addresses.
const LOOKING: Span = Span::from_millis(100);
/// Time between messages of handshakes, of which a gate bears few at once.
const STEP: Span = Span::from_millis(2);

/// What makes a member, in whatever thread is to drive it.
pub struct Membership {
    config: Config,
    gate: Gate,
    begins: Duration,
}

/// A node, driven by its owner, which repeats [`Member::turn`] and [`Member::rest`].
pub struct Member {
    turning: Turning,
    look_at: Time,
}

/// The names of a scenario's overlay nodes that can run by themselves, in the order of the nodes.
///
/// # Errors
/// Names what of the scenario cannot.
pub fn member_names(scenario: &Scenario) -> Result<Vec<String>, FieldError> {
    let names = network::members(scenario);
    for name in &names {
        network::neighbours(scenario, name, Links::Shared)?;
    }
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// The members of a scenario at these addresses, in the order of [`member_names`], where each has
/// sessions with its neighbours.
///
/// # Errors
/// As of [`member_names`].
pub fn memberships(
    scenario: &Scenario,
    addresses: &[SocketAddr],
) -> Result<Vec<Membership>, FieldError> {
    let names = member_names(scenario)?;
    let secrets: Vec<Secret> = names.iter().map(|_| Secret::from_bytes(rand::random())).collect();
    let publics: Vec<_> = secrets.iter().map(Secret::public).collect();
    let begins = unix();
    let mut members = Vec::with_capacity(names.len());
    for ((name, secret), listen) in names.iter().zip(secrets).zip(addresses) {
        let mut gate = Gate::new(secret, rand::random(), Ages::default());
        let mut peers = Vec::new();
        for node in network::neighbours(scenario, name, Links::Shared)? {
            let place = names.iter().position(|known| *known == node).unwrap_or_default();
            let (key, address) = (publics[place], Some(addresses[place]));
            gate.add(key, address);
            peers.push(PeerConfig { node, key, address });
        }
        members.push(Membership { config: config(name, *listen, peers), gate, begins });
    }
    acquaint(&mut members);
    Ok(members)
}

/// A configuration without files.
fn config(node: &str, listen: SocketAddr, peers: Vec<PeerConfig>) -> Config {
    let [file, overlay, key] = [(); 3].map(|()| PathBuf::new());
    let (node, status, metrics, applications) = (node.to_owned(), None, None, None);
    Config {
        file,
        node,
        overlay,
        listen,
        key,
        emulate: false,
        status,
        metrics,
        applications,
        peers,
    }
}

/// Passes on what the gates have to say until they are silent. Who has heard something is asked next, before
/// others: a gate keeps no more than one answer.
fn acquaint(members: &mut [Membership]) {
    let (mut now, mut bytes, mut plain) = (Time::ZERO, Vec::new(), Vec::new());
    let mut asked: Vec<usize> = (0..members.len()).collect();
    while let Some(from) = asked.pop() {
        now += STEP;
        let at = Moment::new(now, unix());
        let Some(to) = members[from].gate.poll(&at, &mut bytes) else { continue };
        asked.push(from);
        let address = members[from].config.listen;
        if let Some(other) = members.iter().position(|member| member.config.listen == to) {
            members[other].gate.hear(&at, address, &bytes, &mut plain);
            asked.push(other);
        }
    }
}

impl Membership {
    /// The node at its time zero, in the calling thread's network.
    ///
    /// # Errors
    /// If the network refuses its address.
    pub fn join(self, scenario: &Scenario) -> Result<Member, Error> {
        let Membership { config, gate, begins } = self;
        let turning =
            Setup { config: &config, scenario, links: Links::Shared, begins }.turning(gate)?;
        Ok(Member { turning, look_at: Time::ZERO })
    }
}

impl Member {
    /// Its time zero was at that instant.
    pub fn begin(&mut self, at: Instant) {
        self.turning.clock = Clock::since(at);
    }

    /// Its part of the scenario.
    pub fn part(&mut self) -> &mut Part {
        &mut self.turning.part
    }

    /// Takes what has come, does all up to `now`, and sends what is to be sent; whether more may have
    /// come.
    ///
    /// # Errors
    /// If a socket cannot be used, or the simulation has broken an invariant.
    pub fn turn(&mut self, now: Time) -> Result<bool, Error> {
        let some = self.turning.turn_at(now)?;
        if now >= self.look_at {
            self.turning.read_clocks();
            self.turning.peers.look();
            self.look_at = now + LOOKING;
        }
        Ok(some)
    }

    /// Waits until there is something to do, at most until then; if `more` may have come, hardly.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub fn rest(&mut self, more: bool, until: Time) -> Result<(), Error> {
        self.turning.rest(more, until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::builtin;

    /// Nodes of which each has links to all others.
    fn text(names: &[&str]) -> String {
        let node = |name: &&str| format!("{{ id = \"{name}\", kind = \"overlay\" }}");
        let nodes: Vec<_> = names.iter().map(node).collect();
        let mut text = format!(
            "name = \"all\"\nduration = \"1 s\"\n[topology]\nkind = \"graph\"\nnodes = [{}]\n",
            nodes.join(", ")
        );
        for (place, from) in names.iter().enumerate() {
            for to in &names[place + 1..] {
                text += &format!(
                    "[[topology.links]]\nid = \"{from}-{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
                     rate = \"9 Mbit/s\"\nqueue = {{ kind = \"fifo\", limit = \"9000 B\" }}\n"
                );
            }
        }
        text + "[[flows]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\nmss = 1024\n\
                traffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }\nservice = {}\n"
    }

    #[test]
    fn members_can_talk_before_they_run() {
        let scenario = Scenario::from_toml(&text(&["a", "b", "c", "d"]), builtin()).unwrap();
        let addresses = [1, 2, 3, 4].map(|last| SocketAddr::from(([10, 0, 0, last], 7100)));
        let mut members = memberships(&scenario, &addresses).unwrap();
        let at = Moment::new(Time::ZERO, unix());
        for (from, to) in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))) {
            let peers = &members[from].config.peers;
            let Some(peer) = peers.iter().find(|peer| peer.address == Some(addresses[to])) else {
                assert_eq!(from, to);
                continue;
            };
            let key = peer.key;
            let peer = members[from].gate.add(key, Some(addresses[to]));
            let (mut sealed, mut plain) = (Vec::new(), Vec::new());
            let there = members[from].gate.seal(&at, peer, b"word", &mut sealed);
            assert_eq!(there, Some(addresses[to]), "{from} to {to}");
            members[to].gate.hear(&at, addresses[from], &sealed, &mut plain);
            assert_eq!(plain, b"word", "{from} to {to}");
        }
    }
}
