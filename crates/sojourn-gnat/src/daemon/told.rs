//! What a node tells of itself. SKELETON: fields to be completed by the part of `told`.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// The state of a node at an instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Told {
    /// Its name.
    pub node: String,
    /// Seconds since it was started.
    pub uptime: f64,
    /// By neighbour, in the order of its links.
    pub neighbours: Vec<NeighbourTold>,
    /// By member of the overlay.
    pub queues: Vec<QueueTold>,
    /// Of each flow that begins or ends here.
    pub flows: Vec<FlowTold>,
    /// Datagrams that were refused at the gate.
    pub strangers: StrangersTold,
}

/// A neighbour, and the connection to it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NeighbourTold {
    /// Its name.
    pub node: String,
}

/// The queue of what goes to a member.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct QueueTold {
    /// Its name.
    pub node: String,
}

/// A flow that begins or ends at the node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowTold {
    /// Its label.
    pub label: String,
}

/// Refused datagrams, by reason.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StrangersTold {}

/// The latest state, for those who ask.
#[derive(Debug, Default)]
pub struct Shared(Mutex<Told>);

impl Shared {
    /// The latest state.
    pub fn get(&self) -> Told {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces it.
    pub fn set(&self, told: Told) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }
}
