//! The two programs as a user starts them.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use serde_json::Value;

/// A server that waits, and where; what else it has to say stays open. It ends with this.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    _stderr: BufReader<ChildStderr>,
}

impl Server {
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn-sliq"));
        command.args(["server", "127.0.0.1:0"]).args(options);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        Server { child, address, _stderr: stderr }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn client(address: &str, options: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn-sliq"));
    command.args(["client", address]).args(options).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub(crate) fn told(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}
