//! Forwarding: fills transmit queues from the queues with the largest gradients.

mod copies;
mod deadlines;
mod relief;
mod unicast;

use std::sync::Arc;

use super::link::{Neighbour, Neighbours};
use super::message::{Cargo, Class, Delay, LinkState, Parcel};
use super::params::Params;
use super::queue::{Bin, Bins, Groups};
use super::routing::Map;
use sojourn_base::packet::Backlog;
use sojourn_base::units::{Span, Time};
use sojourn_net::multicast::{self, Stream};

/// A group that may go to a neighbour.
#[derive(Clone, Copy, Debug)]
struct Choice {
    neighbour: usize,
    group: usize,
    /// Destinations with a positive gradient.
    set: u64,
    /// Whether only zombies wait for them.
    zombies: bool,
    /// The sum of their gradients.
    gradient: f64,
}

/// The queues of a node, its neighbours, its map of the network, and the forwarding decisions.
#[derive(Debug)]
pub(super) struct Forwarding {
    me: usize,
    params: Params,
    map: Map,
    bins: Bins,
    groups: Groups,
    neighbours: Neighbours,
    /// Whether any flow's packets have a deadline.
    timed: bool,
    expired: u64,
}

impl Forwarding {
    /// State of member `me`; `timed` if any flow's packets have a deadline.
    pub(super) fn new(params: Params, me: usize, known: &multicast::Groups, timed: bool) -> Self {
        let members = known.members.len().max(1);
        Forwarding {
            me,
            map: Map::new(me, members),
            bins: Bins::new(members, params.depth),
            groups: Groups::new(known, params.depth, params.search as usize),
            neighbours: Neighbours::default(),
            timed,
            expired: 0,
            params,
        }
    }

    /// Members of the overlay.
    pub(super) fn members(&self) -> usize {
        self.bins.len()
    }

    /// The map of the network.
    pub(super) fn map(&mut self) -> &mut Map {
        &mut self.map
    }

    /// The queue of each member.
    pub(super) fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// The queues of groups.
    pub(super) fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The neighbours.
    pub(super) fn neighbours(&mut self) -> &mut Neighbours {
        &mut self.neighbours
    }

    /// The neighbours, read-only.
    pub(super) fn reached(&self) -> &Neighbours {
        &self.neighbours
    }

    /// Whether packets have deadlines, so that work may be due at any instant.
    pub(super) fn is_timed(&self) -> bool {
        self.timed
    }

    /// Packets of a flow have this deadline from now on.
    pub(super) fn expect(&mut self, deadline: Option<Span>) {
        self.timed |= deadline.is_some();
    }

    /// Packets have deadlines from now on.
    pub(super) fn expect_deadlines(&mut self) {
        self.timed = true;
    }

    /// Packets that came too late.
    pub(super) fn expired(&self) -> u64 {
        self.expired
    }

    /// The depth of a queue in bits: the price of admission to it.
    pub(super) fn price(&mut self, now: Time, to: usize) -> f64 {
        8.0 * self.bins.change(to, |bin| bin.shown(now))[0]
    }

    /// The same of a stream to several receivers.
    pub(super) fn stream_price(&mut self, now: Time, stream: &Stream) -> f64 {
        8.0 * self.groups.price(now, stream)
    }

    /// Appends a packet to the queue of its destination.
    pub(super) fn push(&mut self, now: Time, parcel: Parcel) {
        self.bins.push(now, parcel);
    }

    /// Sum and maximum of the capacities of the neighbours that work, in bit/s.
    pub(super) fn capacities(&self) -> (f64, f64) {
        let working = self.neighbours.iter().filter(|neighbour| neighbour.works());
        let capacities = || working.clone().map(Neighbour::capacity);
        (capacities().sum(), capacities().fold(0.0, f64::max))
    }

    /// The working, measured links, as they are advertised from now on.
    pub(super) fn measured_links(&mut self) -> Vec<(u16, Delay)> {
        self.neighbours.change_all(|_, neighbour| neighbour.adopt_delay());
        let working = self.neighbours.iter().filter(|neighbour| neighbour.works());
        let measured = working.filter_map(|neighbour| Some((neighbour.member, neighbour.delay()?)));
        measured.map(|(member, delay)| (member as u16, delay.advertised())).collect()
    }

    /// Sends an advertisement to all neighbours but the one that it came from.
    pub(super) fn flood(&mut self, now: Time, state: &Arc<LinkState>, except: Option<usize>) {
        self.neighbours.change_all(|index, neighbour| {
            if Some(index) != except && neighbour.works() {
                neighbour.advertise(now, Cargo::LinkState(state.clone()));
                neighbour.wake();
            }
        });
    }

    /// Sends the depths of queues to the neighbours for which that is due.
    #[cold]
    pub(super) fn tell_depths(&mut self, now: Time) {
        let depths = self.bins.show(now);
        let groups = Arc::new(self.groups.shown(now));
        self.neighbours.change_all(|_, neighbour| {
            if neighbour.wants_depths(now) {
                neighbour.tell(now, depths.clone(), groups.clone());
            }
        });
    }

    /// Fills transmit queues as long as one has room and there is a gradient; whether any got
    /// something.
    pub(super) fn fill(&mut self, now: Time) -> bool {
        let mut filled = self.timed && self.look_at_deadlines(now);
        loop {
            let best = self.best(now);
            let timed = best.is_some_and(|best| best.class == Class::Timed);
            let steeper =
                |choice: &Choice| best.is_none_or(|b| !timed && choice.gradient > b.gradient);
            match (self.best_group().filter(steeper), best) {
                (Some(choice), _) => self.move_copies(now, choice),
                (None, Some(best)) => self.move_packets(now, best),
                (None, None) => break,
            }
            filled = true;
        }
        filled
    }

    /// Packets waiting in queues.
    pub(super) fn backlog(&self) -> Backlog {
        let packets: usize = self.bins.iter().map(Bin::count).sum();
        let bytes: u64 = self.bins.iter().map(Bin::packet_bytes).sum();
        let packets = packets as u64 + self.groups.packets() as u64;
        Backlog { packets, bytes: bytes + self.groups.bytes() }
    }
}
