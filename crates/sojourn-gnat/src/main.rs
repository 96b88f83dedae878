//! `sojourn-gnat node|deploy|status`: an overlay's nodes as programs.

use std::process::ExitCode;

use clap::Parser;
use sojourn_gnat::daemon::{Command, deploy, run, status};

/// Nodes of an overlay that forwards by backpressure.
#[derive(Debug, Parser)]
#[command(version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let done = match Program::parse().command {
        Command::Node(options) => run(&options),
        Command::Deploy(options) => deploy(&options),
        Command::Status(options) => status(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sojourn-gnat: {error}");
            ExitCode::from(error.status())
        }
    }
}
