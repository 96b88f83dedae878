//! Orders to a node that runs by itself: what nothing in the simulation can tell it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ServiceSpec;

/// What a node is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// The connection to a neighbour begins anew, because its process has: what has been sent and not
    /// acknowledged is lost, and counted.
    Restart {
        /// Its place among the members.
        member: u16,
    },
    /// A flow has another service from now on; its packets that wait stay.
    Service {
        /// Number of the flow in the scenario.
        flow: u32,
        /// The service.
        service: Box<ServiceSpec>,
    },
}

/// Orders that a node has not carried out yet, oldest first. In the simulator there are none.
#[derive(Debug, Default)]
pub struct Orders(Mutex<VecDeque<Order>>);

impl Orders {
    /// Gives an order.
    pub fn push(&self, order: Order) {
        self.all().push_back(order);
    }

    /// The next one.
    pub(super) fn next(&self) -> Option<Order> {
        self.all().pop_front()
    }

    /// Whether there is any.
    pub(super) fn waits(&self) -> bool {
        !self.all().is_empty()
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<Order>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
