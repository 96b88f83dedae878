//! Options of the programs.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sojourn_base::units::Span;

/// One of the programs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs a node until it is ended by Ctrl-C or SIGTERM; SIGHUP lets it read its configuration again.
    Node(NodeOptions),
    /// Writes the configurations and the keys of a scenario's nodes.
    Deploy(DeployOptions),
    /// Tells what a running node does.
    Status(StatusOptions),
}

/// Options of a node.
#[derive(Args, Debug)]
pub struct NodeOptions {
    /// Its configuration, as `deploy` writes it.
    pub config: PathBuf,
    /// Ends after this long, such as "60 s".
    #[arg(long = "for", value_name = "TIME")]
    pub lasts: Option<Span>,
}

/// Options of deployments.
#[derive(Args, Debug)]
pub struct DeployOptions {
    /// The scenario.
    pub file: PathBuf,
    /// The directory of what is written: for each node NAME.toml and NAME.key, and the scenario.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Where a node is reached, such as "a=192.0.2.1:7100"; once for each node. Without it all are on
    /// this machine's loopback, from port 7101 on.
    #[arg(long, value_name = "NODE=IP:PORT", value_parser = named, conflicts_with = "namespaces")]
    pub address: Vec<NodeAddress>,
    /// Gives the nodes' links the rates, delays, queues and outages of the scenario.
    #[arg(long)]
    pub emulate: bool,
    /// Puts each node into a network namespace of its own, with links as with --emulate, and writes
    /// the programs DIR/up, cut, mend, status and in. Implies --applications.
    #[arg(long)]
    pub namespaces: bool,
    /// Lets programs at the nodes reach each other as they are: those at the first node have addresses of
    /// 10.9.1.0/24, those at the second of 10.9.2.0/24, and so on.
    #[arg(long)]
    pub applications: bool,
    /// A multicast group of programs and the nodes at which they receive, such as "239.1.1.1=b,c".
    #[arg(long, value_name = "ADDRESS=NODE,NODE", value_parser = group)]
    pub group: Vec<GroupOption>,
}

/// Where a node is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAddress {
    /// The node's name.
    pub node: String,
    /// Its address and port.
    pub address: SocketAddr,
}

/// A multicast group of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOption {
    /// Its address.
    pub address: Ipv4Addr,
    /// The names of the nodes where programs receive.
    pub receivers: Vec<String>,
}

/// Options of questions to a node.
#[derive(Args, Debug)]
pub struct StatusOptions {
    /// The socket that its configuration names.
    pub socket: PathBuf,
    /// How it is told.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// How a node's state is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

fn named(text: &str) -> Result<NodeAddress, &'static str> {
    let told = "the name of a node and where it is are expected, such as a=192.0.2.1:7100";
    let (node, address) = text.rsplit_once('=').ok_or(told)?;
    let address = address.parse().map_err(|_| told)?;
    Ok(NodeAddress { node: node.to_owned(), address })
}

fn group(text: &str) -> Result<GroupOption, &'static str> {
    let told = "an address and the nodes that receive are expected, such as 239.1.1.1=b,c";
    let (address, receivers) = text.split_once('=').ok_or(told)?;
    let address = address.parse().map_err(|_| told)?;
    Ok(GroupOption { address, receivers: receivers.split(',').map(str::to_owned).collect() })
}
