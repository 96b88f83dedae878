//! A node's configuration: what its file has, and what of it cannot be.

mod applications;
mod checks;
mod code_point;
mod prefix;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sojourn_base::error::FieldError;
use sojourn_base::reading;
use sojourn_net::net::Links;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::spec::toml_to_json;
use sojourn_sliq::secure::{Public, Secret};

use super::{Error, network};
pub use applications::{ApplicationsConfig, GroupConfig, MemberConfig, ServiceRule};
pub(super) use applications::{MEMBERS, Written as WrittenApplications, WrittenMember};
pub use prefix::Prefix;

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
    /// Programs that use the overlay as they are.
    pub applications: Option<ApplicationsConfig>,
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

/// What a file has, in its words.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) node: String,
    pub(super) overlay: PathBuf,
    pub(super) listen: String,
    pub(super) key: PathBuf,
    #[serde(default)]
    pub(super) emulate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metrics: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) applications: Option<WrittenApplications>,
    #[serde(default)]
    pub(super) peers: Vec<WrittenPeer>,
}

/// A neighbour, in a file's words.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPeer {
    pub(super) node: String,
    pub(super) key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) address: Option<String>,
}

impl Config {
    /// The configuration in a file, whose key can be used, and whose peers are the node's neighbours.
    ///
    /// # Errors
    /// Names the field, and the remedy.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let (text, of_file) = (network::text(file)?, Error::config(file));
        let config = Config::of(file, &text).map_err(&of_file)?;
        let own = Secret::read(&config.key)?.public();
        checks::keys(&config, own).map_err(&of_file)?;
        let scenario = config.scenario()?;
        checks::name(&config, &scenario).map_err(&of_file)?;
        let neighbours = network::neighbours(&scenario, &config.node, Links::Kept);
        let neighbours = neighbours.map_err(Error::config(&config.overlay))?;
        checks::peers(&config, &neighbours).map_err(&of_file)?;
        checks::applications(&config, &scenario).map_err(&of_file)?;
        Ok(config)
    }

    /// The scenario of which the node is a part.
    ///
    /// # Errors
    /// Names the field, and the remedy.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        network::scenario(&self.overlay, &network::text(&self.overlay)?)
    }

    /// The configuration of this text; the files that it names are not looked at.
    pub(super) fn of(file: &Path, text: &str) -> Result<Self, FieldError> {
        let written: Written = reading::read(&toml_to_json(text)?)?;
        let beside = |path: &Path| file.with_file_name("").join(path);
        let mut peers = Vec::with_capacity(written.peers.len());
        for (place, peer) in written.peers.into_iter().enumerate() {
            peers.push(peer.read().map_err(|error| error.within(&format!("peers.{place}")))?);
        }
        let applications = written
            .applications
            .map(|section| section.read().map_err(|error| error.within("applications")));
        let config = Config {
            file: file.to_owned(),
            node: written.node,
            overlay: beside(&written.overlay),
            listen: address("listen", &written.listen)?,
            key: beside(&written.key),
            emulate: written.emulate,
            status: written.status.as_deref().map(beside),
            metrics: written.metrics.map(|text| address("metrics", &text)).transpose()?,
            applications: applications.transpose()?,
            peers,
        };
        checks::addresses(&config)?;
        Ok(config)
    }
}

impl WrittenPeer {
    fn read(self) -> Result<PeerConfig, FieldError> {
        let key = self.key.parse::<Public>();
        Ok(PeerConfig {
            node: self.node,
            key: key.map_err(|error| FieldError::new("key", error.to_string()))?,
            address: self.address.map(|text| address("address", &text)).transpose()?,
        })
    }
}

fn address(field: &str, text: &str) -> Result<SocketAddr, FieldError> {
    text.parse().map_err(|_| {
        let message = format!("{text:?} given; expected an IP address and a port, such as");
        FieldError::new(field, format!("{message} \"192.0.2.1:7100\" or \"[2001:db8::1]:7100\""))
    })
}

#[cfg(test)]
mod tests;
