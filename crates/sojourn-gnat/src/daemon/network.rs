//! The scenario of which nodes are parts: its file, its overlay's members, and who is whose neighbour.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sojourn_base::error::FieldError;
use sojourn_base::given::Given;
use sojourn_net::net::Links;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Part;
use sojourn_sliq::secure::SEALING;
use sojourn_sliq::wire::MAX_DATAGRAM;

use super::Error;
use crate::catalogue::builtin;
use crate::check_sizes;
use crate::overlay::Largest;

/// Datagrams between nodes, which a seal makes longer.
pub(super) const LARGEST: Largest = Largest(MAX_DATAGRAM - SEALING);

/// Bytes of the longest text.
const LONGEST: u64 = 64 << 20;

/// The text of a regular file.
///
/// # Errors
/// It cannot be read, is too long, or no regular file.
pub(super) fn text(path: &Path) -> Result<String, Error> {
    let read = || {
        if !path.metadata()?.is_file() {
            return Err(io::Error::other("no regular file"));
        }
        let mut text = String::new();
        File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
        let fits = text.len() as u64 <= LONGEST;
        if fits { Ok(text) } else { Err(io::Error::other("longer than 64 MiB")) }
    };
    read().map_err(Error::file(path))
}

/// The scenario of this text, whose file is named in errors.
///
/// # Errors
/// Names the field, and what is allowed.
pub(super) fn scenario(path: &Path, text: &str) -> Result<Scenario, Error> {
    Scenario::from_toml(text, builtin()).map_err(Error::config(path))
}

/// The members of the overlay, in the order of the nodes.
pub(super) fn members(scenario: &Scenario) -> Vec<&str> {
    let nodes = scenario.plan().nodes.iter();
    let overlay = |kind: &str| kind == "overlay";
    nodes
        .filter(|node| node.kind.as_ref().is_some_and(|of| overlay(&of.kind)))
        .map(|node| node.name.as_str())
        .collect()
}

/// The neighbours of a member, in the order of its links, which are so.
///
/// # Errors
/// Names what of the scenario cannot run by itself.
pub(super) fn neighbours(
    scenario: &Scenario,
    node: &str,
    links: Links,
) -> Result<Vec<String>, FieldError> {
    let of_nodes = |message: String| FieldError::new("topology.nodes", message);
    let part = Part::new(scenario, node, links, &Given::default());
    let part = part.map_err(|error| match &error.field[..] {
        "node" => of_nodes(error.message),
        _ => error,
    })?;
    check_sizes(scenario, LARGEST)?;
    let known = members(scenario);
    let names = part.neighbours().iter().map(|other| other.id.as_str());
    if let Some(other) = names.clone().find(|other| !known.contains(other)) {
        return Err(of_nodes(format!(
            "'{node}' is joined to '{other}', which is no overlay node; nodes that run by \
             themselves have such for neighbours alone"
        )));
    }
    Ok(names.map(str::to_owned).collect())
}
