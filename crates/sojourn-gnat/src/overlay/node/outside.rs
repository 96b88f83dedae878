//! What a node that runs by itself is given from outside the simulation.

use std::sync::Arc;

use crate::overlay::applications::{Applications, Connections, Datagrams};
use crate::overlay::config::Largest;
use crate::overlay::message::{Parcel, WireTimes};
use crate::overlay::orders::Orders;
use sojourn_base::rng::StreamKey;
use sojourn_base::units::Time;
use sojourn_net::node::NodeInit;
use sojourn_sliq::wire::MAX_DATAGRAM;

/// What it is given; in the simulator, nothing.
#[derive(Debug)]
pub(super) struct Outside {
    pub orders: Option<Arc<Orders>>,
    /// Bytes of the largest datagram.
    pub largest: usize,
    /// Microseconds of UNIX time, cut to 32 bits, before time zero.
    pub clock: Option<u32>,
    /// Names random draws.
    pub random: StreamKey,
    /// When the connections to neighbours are looked at next.
    pub look_at: Time,
    pub applications: Option<Box<Attended>>,
}

/// Applications, and what the node keeps for them.
#[derive(Debug)]
pub(super) struct Attended {
    pub shared: Arc<Applications>,
    pub datagrams: Datagrams,
    pub connections: Connections,
    pub parcels: Vec<Parcel>,
}

impl Default for Outside {
    fn default() -> Self {
        Outside {
            orders: None,
            largest: MAX_DATAGRAM,
            clock: None,
            random: StreamKey::root(0),
            look_at: Time::NEVER,
            applications: None,
        }
    }
}

impl Outside {
    pub(super) fn new(init: &NodeInit) -> Self {
        let orders = init.given.get::<Orders>();
        Outside {
            look_at: if orders.is_some() { Time::ZERO } else { Time::NEVER },
            orders,
            largest: init.given.get::<Largest>().map_or(MAX_DATAGRAM, |largest| largest.0),
            clock: init.given.get::<WireTimes>().map(|times| times.micros_before_zero()),
            random: init.random,
            applications: None,
        }
    }

    /// Whether an order waits, or an application.
    pub(super) fn waits(&self) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.waits())
            || self.applications.as_ref().is_some_and(|attended| attended.shared.waits())
    }

    /// When something is to be done next.
    pub(super) fn next(&self) -> Time {
        let connections = self.applications.as_ref().map(|attended| attended.connections.next());
        self.look_at.min(connections.unwrap_or(Time::NEVER))
    }
}
