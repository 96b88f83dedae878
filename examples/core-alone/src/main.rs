//! The command line of Sojourn with the core's members alone: GNAT, SLIQ and Wi-Fi are not compiled.
//!
//! ```sh
//! cargo build --release -p core-alone
//! target/release/core-alone run experiments/catalogue/dumbbell.toml
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    sojourn::command_line(|_| {})
}
