//! A node: built from its configuration, driven until it is to end, and told about.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sojourn_base::error::FieldError;
use sojourn_base::given::Given;
use sojourn_base::units::{Span, Time};
use sojourn_net::net::Links;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Part;
use sojourn_sliq::secure::{Ages, Gate, Secret};
use sojourn_sliq::udp::{Clock, Port, unix};

use super::applications::{Programs, Setup as Reached};
use super::network::{LARGEST, members};
use super::peers::Peers;
use super::translate::{Translator, Way};
use super::turn::{Pace, Turning};
use super::{
    Changes, Config, Desk, Error, Level, Log, Names, NodeOptions, PeerConfig, Shared, Signals,
    Told, changes, gather,
};
use crate::overlay::{
    Applications, Bounds, LastNumber, Mailboxes, Order, Orders, OverlayConfig, WireTimes,
};

/// How often its state is told.
const TELLING: Span = Span::from_millis(100);
/// The beginning of 2026 in seconds of UNIX time.
const FIRST_SECOND: u64 = 1_767_225_600;
/// At most so many advertisements of its links are made in a second.
const ADVERTISED: u64 = 2;

/// Runs the node of a configuration until it is ended.
///
/// # Errors
/// Names what of the configuration, of the files that it names, or of the system is not usable; or a
/// fault of the simulation.
pub fn run(options: &NodeOptions) -> Result<(), Error> {
    let config = Config::read(&options.config)?;
    let signals = Signals::listen().map_err(Error::file(&options.config))?;
    Node::new(config, Arc::default())?.run(&signals, options.lasts)
}

/// A node of an overlay.
pub struct Node {
    config: Config,
    scenario: Scenario,
    turning: Turning,
    names: Names,
    log: Log,
    told: Told,
    shared: Arc<Shared>,
    /// Who answers those who ask.
    _desk: Desk,
}

impl Node {
    /// The node of a configuration at its time zero, which is now. It tells its state to `shared`.
    ///
    /// # Errors
    /// As of [`run`].
    pub fn new(config: Config, shared: Arc<Shared>) -> Result<Self, Error> {
        let scenario = config.scenario()?;
        let gate = Gate::new(Secret::read(&config.key)?, rand::random(), Ages::default());
        let links = if config.emulate { Links::Kept } else { Links::Outside };
        let setup = Setup { config: &config, scenario: &scenario, links, begins: unix() };
        let turning = setup.turning(gate)?;
        let desk = Desk::open(&config, &shared)?;
        let (names, log) = (Names::of(&scenario, &config.node), Log::of(&config.node));
        let told = Told::default();
        Ok(Node { config, scenario, turning, names, log, told, shared, _desk: desk })
    }

    /// Runs until a signal ends it, or for so long.
    ///
    /// # Errors
    /// If a socket cannot be used, or the simulation has broken an invariant.
    pub fn run(&mut self, signals: &Signals, lasts: Option<Span>) -> Result<(), Error> {
        let listen = json!(self.config.listen.to_string());
        self.log.tell(Level::Info, "started", &[("listen", listen)]);
        let ended = self.drive(signals, lasts);
        match &ended {
            Ok(()) => self.log.tell(Level::Info, "stopped", &[]),
            Err(error) => {
                self.log.tell(Level::Error, "fault", &[("error", json!(error.to_string()))]);
            }
        }
        ended
    }

    fn drive(&mut self, signals: &Signals, lasts: Option<Span>) -> Result<(), Error> {
        let end = lasts.map_or(Time::NEVER, |lasts| Time::ZERO + lasts);
        let mut tell_at = Time::ZERO;
        loop {
            let some = self.turning.turn()?;
            let now = self.turning.part.now();
            let ends = now >= end || signals.stop();
            if now >= tell_at || ends {
                self.tell(now);
                tell_at = now + TELLING;
            }
            if ends {
                return Ok(());
            }
            if signals.take_reload() {
                self.reload();
            }
            self.turning.rest(some, tell_at.min(end))?;
        }
    }

    /// Tells the state to those who ask, and the log what has changed.
    fn tell(&mut self, now: Time) {
        let Turning { part, peers, programs, .. } = &mut self.turning;
        let mut told = gather(part, &self.names, peers.gate(), peers.links(), now, &self.told);
        told.applications = programs.as_ref().map(Programs::told);
        for (place, new) in told.neighbours.iter().enumerate() {
            let named = [("neighbour", json!(new.node))];
            if self.told.neighbours.get(place).is_some_and(|old| old.works) != new.works {
                let (level, event) = match new.works {
                    true => (Level::Info, "neighbour up"),
                    false => (Level::Warning, "neighbour down"),
                };
                self.log.tell(level, event, &named);
            }
        }
        for place in self.turning.restarted.drain(..) {
            let node = &told.neighbours[place].node;
            self.log.tell(Level::Warning, "neighbour restarted", &[("neighbour", json!(node))]);
        }
        self.turning.read_clocks();
        self.turning.peers.look();
        self.shared.set(told.clone());
        self.told = told;
    }

    /// Reads the configuration again; what cannot change leaves all as it was.
    fn reload(&mut self) {
        match self.read() {
            Ok((changes, config, scenario)) => {
                self.take(changes);
                (self.config, self.scenario) = (config, scenario);
                self.log.tell(Level::Info, "reloaded", &[]);
            }
            Err(error) => {
                let why = [("error", json!(error.to_string()))];
                self.log.tell(Level::Warning, "reload refused", &why);
            }
        }
    }

    fn read(&self) -> Result<(Changes, Config, Scenario), Error> {
        let config = Config::read(&self.config.file)?;
        let scenario = config.scenario()?;
        let changes = changes((&self.config, &self.scenario), (&config, &scenario))?;
        Ok((changes, config, scenario))
    }

    fn take(&mut self, changes: Changes) {
        let Turning { part, peers, orders, .. } = &mut self.turning;
        for (old, new) in changes.peers {
            if let Some(place) = part.neighbours().iter().position(|to| to.id == new.node) {
                peers.change(place, [old.key, new.key], new.address);
            }
        }
        for (flow, service) in changes.services {
            orders.push(Order::Service { flow, service: Box::new(service) });
        }
        part.wake();
    }
}

/// What a node is made of.
pub(super) struct Setup<'a> {
    pub config: &'a Config,
    pub scenario: &'a Scenario,
    pub links: Links,
    /// The UNIX time of its time zero.
    pub begins: Duration,
}

impl Setup<'_> {
    /// A node behind this gate, whose clock starts now.
    ///
    /// # Errors
    /// As of [`run`], but for its file and key, which are not read.
    pub(super) fn turning(&self, gate: Gate) -> Result<Turning, Error> {
        let orders = Arc::new(Orders::default());
        let (clock, times) = (Clock::start(), WireTimes::new(self.begins));
        let reached = self.reached();
        let part = self.part(&orders, times, reached.as_ref())?;
        let overlay = part.given().get::<OverlayConfig>().unwrap_or_default();
        let mailboxes = part.given().get::<Mailboxes>().unwrap_or_default();
        let nodes = &self.scenario.plan().nodes;
        let me = nodes.iter().position(|node| node.name == self.config.node).unwrap_or_default();
        let mut peers = self.peers(gate)?;
        let mut ways = Vec::new();
        for neighbour in part.neighbours() {
            let PeerConfig { node, key, address } = self.peer(&neighbour.id)?;
            peers.add(node, *key, *address);
            let member = overlay.member(neighbour.node).unwrap_or_default();
            ways.push(Way::new(me as u16, neighbour, member as u16, &mailboxes));
        }
        let programs = self.programs(reached, &part, &overlay)?;
        if let Some(programs) = &programs {
            let waits = peers.also(programs.descriptor());
            waits.map_err(|error| peers.refused(error))?;
        }
        let bounds = match &programs {
            Some(_) => Bounds::new(overlay).with_applications(),
            None => Bounds::new(overlay),
        };
        Ok(Turning {
            programs,
            translator: Translator::new(bounds, times),
            part,
            peers,
            ways,
            orders,
            clock,
            pace: Pace::default(),
            bytes: Vec::new(),
            restarted: Vec::new(),
        })
    }

    /// The overlay with the groups of programs.
    fn overlay(&self, reached: &Reached) -> Result<OverlayConfig, Error> {
        let gift = self.scenario.gift().map_err(Error::config(&self.config.overlay))?;
        let known = gift.nodes.get::<OverlayConfig>();
        drop(gift);
        let known = known.and_then(Arc::into_inner).unwrap_or_default();
        Ok(known.with_application_groups(&reached.groups()))
    }

    fn reached(&self) -> Option<Reached> {
        let section = self.config.applications.as_ref()?;
        Some(Reached::new(section, &self.config.node, &members(self.scenario)))
    }

    fn programs(
        &self,
        reached: Option<Reached>,
        part: &Part,
        overlay: &Arc<OverlayConfig>,
    ) -> Result<Option<Programs>, Error> {
        let (Some(section), Some(reached)) = (&self.config.applications, reached) else {
            return Ok(None);
        };
        let device = &section.device;
        let given = part.given().get::<Applications>().expect("it has been given");
        let opened = Programs::open(reached, device, given, Arc::clone(overlay));
        opened.map(Some).map_err(|error| Error::Network { address: device.clone(), error })
    }

    fn peers(&self, gate: Gate) -> Result<Peers, Error> {
        let opened = Port::open(self.config.listen).and_then(|port| Peers::new(gate, port));
        let address = self.config.listen.to_string();
        opened.map_err(|error| Error::Network { address, error })
    }

    /// What the configuration says of a neighbour.
    fn peer(&self, node: &str) -> Result<&PeerConfig, Error> {
        let found = self.config.peers.iter().find(|peer| peer.node == node);
        found.ok_or_else(|| {
            let message = format!("none is node '{node}', to which a link leads; add it");
            Error::config(&self.config.file)(FieldError::new("peers", message))
        })
    }

    fn part(
        &self,
        orders: &Arc<Orders>,
        times: WireTimes,
        reached: Option<&Reached>,
    ) -> Result<Part, Error> {
        let mut given = Given::default();
        given.give(Arc::clone(orders));
        given.give(Arc::new(times));
        given.give(Arc::new(LARGEST));
        if let Some(reached) = reached {
            given.give(Arc::new(reached.applications()));
            given.give(Arc::new(self.overlay(reached)?));
        }
        let since = self.begins.as_secs().saturating_sub(FIRST_SECOND);
        given.give(Arc::new(LastNumber((ADVERTISED * since) as u32)));
        let refused = |error| Error::config(&self.config.file)(error);
        Part::new(self.scenario, &self.config.node, self.links, &given).map_err(refused)
    }
}
