//! The configurations, keys and scenario of an overlay's nodes, in a directory.
//!
//! | part | file |
//! | --- | --- |
//! | the nodes and the links between them, where each is reached | `nodes` |
//! | the directory, and what may be in it | `folder` |
//! | programs that put the nodes into namespaces | `scripts` |

mod folder;
mod nodes;
mod scripts;

use std::ffi::OsStr;
use std::path::Path;

use sojourn_base::error::FieldError;
use sojourn_sliq::secure::Public;

use super::config::{
    Config, GroupConfig, MEMBERS, Written, WrittenApplications, WrittenMember, WrittenPeer,
};
use super::{DeployOptions, Error, GroupOption, network};
use folder::Folder;
use nodes::Nodes;

const HEAD: &str =
    "# Written by `sojourn-gnat deploy`, which also replaces it. Besides what is here there is
# metrics = \"127.0.0.1:9464\", where metrics are told.
";

/// Writes, for each member of the scenario's overlay, its configuration and its key, which is made
/// unless it is there; a copy of the scenario; and where that is asked for programs that put the
/// nodes into namespaces. Says how they are started.
///
/// # Errors
/// A node or a flow cannot run by itself, or the directory has files of something else; in both
/// cases nothing is written.
pub fn deploy(options: &DeployOptions) -> Result<(), Error> {
    let text = network::text(&options.file)?;
    let scenario = network::scenario(&options.file, &text)?;
    let nodes = Nodes::of(&scenario, options)?;
    check_applications(&nodes, options)?;
    let name = options.file.file_name().unwrap_or(OsStr::new("scenario.toml"));
    let folder = Folder::open(options, &nodes, name)?;
    let keys = nodes.names().map(|node| folder.key(node)).collect::<Result<Vec<_>, _>>()?;
    let mut configs = Vec::new();
    for place in 0..keys.len() {
        configs.push(config(
            &nodes,
            place,
            &keys,
            Path::new(name),
            &folder,
            applications(&nodes, options),
        )?);
    }
    for (node, config) in nodes.names().zip(&configs) {
        folder.write(format!("{node}.toml"), config)?;
    }
    folder.write(name, &text)?;
    let out = options.out.display();
    if !options.namespaces {
        println!("{out}: start each node with");
        nodes.names().for_each(|node| println!("  sojourn-gnat node {out}/{node}.toml"));
        return Ok(());
    }
    for (name, text) in scripts::all(&nodes) {
        folder.write_program(name, &text)?;
    }
    folder.write("links", &scripts::links(&nodes))?;
    println!("{out}: start the nodes with {out}/up");
    Ok(())
}

/// What all nodes say of programs, if that is asked for.
fn applications(nodes: &Nodes, options: &DeployOptions) -> Option<WrittenApplications> {
    let member = |(place, node): (usize, &str)| WrittenMember {
        node: node.to_owned(),
        prefix: format!("10.9.{}.0/24", place + 1),
    };
    let group = |group: &GroupOption| GroupConfig {
        address: group.address,
        receivers: group.receivers.clone(),
    };
    let asked = options.applications || options.namespaces && nodes.all.len() <= MEMBERS;
    asked.then(|| {
        let members = nodes.names().enumerate().map(member).collect();
        WrittenApplications::of(members, options.group.iter().map(group).collect())
    })
}

/// There are not too many nodes for programs, and groups are of these nodes.
fn check_applications(nodes: &Nodes, options: &DeployOptions) -> Result<(), Error> {
    if options.applications && nodes.all.len() > MEMBERS {
        let message = format!("{} nodes; at most {MEMBERS} have applications", nodes.all.len());
        return Err(Error::Option { option: "applications", message });
    }
    let refused = |message| Err(Error::Option { option: "group", message });
    if !options.group.is_empty() && !options.applications && !options.namespaces {
        return refused("given without --applications; give that, too".to_owned());
    }
    let names: Vec<_> = nodes.names().collect();
    let mut receivers = options.group.iter().flat_map(|group| &group.receivers);
    if let Some(name) = receivers.find(|name| !names.contains(&&name[..])) {
        return refused(FieldError::unknown_name("", "overlay node", name, &names).message);
    }
    // All else is as it should be.
    match applications(nodes, options).map(WrittenApplications::read) {
        Some(Err(error)) => refused(error.message),
        _ => Ok(()),
    }
}

/// The text of a node's configuration, which can be read.
fn config(
    nodes: &Nodes,
    place: usize,
    keys: &[Public],
    overlay: &Path,
    folder: &Folder<'_>,
    applications: Option<WrittenApplications>,
) -> Result<String, Error> {
    let node = &nodes.all[place];
    let peers = node.neighbours.iter().map(|to| WrittenPeer {
        node: nodes.all[to.place].name.clone(),
        key: keys[to.place].to_string(),
        address: Some(to.address.to_string()),
    });
    let written = Written {
        node: node.name.clone(),
        overlay: overlay.to_owned(),
        listen: node.listen.to_string(),
        key: format!("{}.key", node.name).into(),
        emulate: nodes.emulate,
        status: Some(format!("{}.sock", node.name).into()),
        metrics: None,
        applications,
        peers: peers.collect(),
    };
    let file = folder.path(&format!("{}.toml", node.name));
    let text = toml::to_string(&written).expect("names and addresses are TOML");
    Config::of(&file, &text).map_err(Error::config(&file))?;
    Ok(format!("{HEAD}{text}"))
}

#[cfg(test)]
mod tests;
