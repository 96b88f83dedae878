//! `sojourn-sliq client|server|key`: a stream or a file between two hosts.

use std::process::ExitCode;

use clap::Parser;
use sojourn_sliq::udp::{Command, client, key, server};

/// A stream or a file between two hosts, over SLIQ.
#[derive(Debug, Parser)]
#[command(version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let done = match Program::parse().command {
        Command::Client(options) => client(&options),
        Command::Server(options) => server(&options),
        Command::Key(options) => key(&options).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("sojourn-sliq: {error}");
            ExitCode::from(2)
        }
    }
}
