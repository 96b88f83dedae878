//! A node's configuration. SKELETON: read, checked and written by the part of `config` and `deploy`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use sojourn_sim::scenario::Scenario;
use sojourn_sliq::secure::Public;

use super::Error;

/// A node's configuration. Relative paths are those of its file.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file it was read from.
    pub file: PathBuf,
    /// The node's name in the scenario.
    pub node: String,
    /// The scenario: what is simulated is what runs.
    pub overlay: PathBuf,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The file of its secret key.
    pub key: PathBuf,
    /// Whether its outgoing links have the scenario's rates, delays, queues and outages.
    pub emulate: bool,
    /// The socket at which it tells its status.
    pub status: Option<PathBuf>,
    /// The address at which it tells metrics, of the loopback.
    pub metrics: Option<SocketAddr>,
    /// Its neighbours.
    pub peers: Vec<PeerConfig>,
}

/// A neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerConfig {
    /// Its name in the scenario.
    pub node: String,
    /// Its public key.
    pub key: Public,
    /// Where it is; one without an address calls.
    pub address: Option<SocketAddr>,
}

impl Config {
    /// The configuration in a file.
    ///
    /// # Errors
    /// Names the field, and the remedy.
    pub fn read(_file: &Path) -> Result<Self, Error> {
        todo!()
    }

    /// The scenario of which the node is a part.
    ///
    /// # Errors
    /// Names the field, and the remedy.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        todo!()
    }
}
