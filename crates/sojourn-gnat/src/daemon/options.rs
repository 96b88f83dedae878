//! Options of the programs. SKELETON

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// One of the programs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs a node.
    Node(NodeOptions),
    /// Writes the configurations of a scenario's nodes.
    Deploy(DeployOptions),
    /// Tells what a running node does.
    Status(StatusOptions),
}

/// Options of a node.
#[derive(Args, Debug)]
pub struct NodeOptions {
    /// Its configuration.
    pub config: PathBuf,
}

/// Options of deployments.
#[derive(Args, Debug)]
pub struct DeployOptions {
    /// The scenario.
    pub file: PathBuf,
}

/// Options of questions to a node.
#[derive(Args, Debug)]
pub struct StatusOptions {
    /// Its socket.
    pub socket: PathBuf,
}
