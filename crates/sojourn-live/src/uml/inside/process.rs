//! A program of a scenario, and the process that it becomes.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::Arc;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use sojourn_base::units::Time;

use crate::sys::{Room, put_in};

/// What a shell returns for a program that it does not find, and for one that it cannot run.
const NOT_FOUND: i32 = 127;
const NOT_RUN: i32 = 126;

/// A program.
pub(super) struct Program {
    /// Itself and its arguments.
    pub line: Vec<String>,
    /// All of its environment.
    pub environment: BTreeMap<String, String>,
    /// Where it runs, and its directory there.
    pub room: Arc<Room>,
    /// See `room`.
    pub directory: CString,
    /// When it starts.
    pub start: Time,
    /// Whether the run waits for it.
    pub wait: bool,
    /// What has become of it.
    pub state: State,
}

/// What has become of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It has not started yet.
    Due,
    /// It is a process of this number.
    Runs(u32),
    /// It has ended.
    Ended,
}

/// What a program writes.
pub(super) struct Stream {
    /// The program's number.
    pub program: u32,
    /// 1 for its standard output, 2 for its standard error.
    pub number: u8,
    pipe: File,
}

/// Why a program does not run.
pub(super) struct NoProcess {
    /// What a shell would say, and return.
    pub message: String,
    /// See `message`.
    pub status: i32,
}

impl Program {
    /// Starts it as the program with this number; returns its process's number, and what it writes.
    pub(super) fn start(&self, number: u32) -> Result<(u32, [Stream; 2]), NoProcess> {
        let program = self.line.first().map_or("", String::as_str);
        self.spawn(program, number).map_err(|error| NoProcess {
            message: format!("{program}: cannot be run: {error}\n"),
            status: if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN },
        })
    }

    fn spawn(&self, program: &str, number: u32) -> io::Result<(u32, [Stream; 2])> {
        let mut command = Command::new(program);
        command.args(self.line.iter().skip(1)).env_clear().envs(&self.environment);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        put_in(&mut command, Arc::clone(&self.room), self.directory.clone());
        let mut child = command.spawn()?;
        let gone = || io::Error::other("a pipe is missing");
        let output = OwnedFd::from(child.stdout.take().ok_or_else(gone)?);
        let errors = OwnedFd::from(child.stderr.take().ok_or_else(gone)?);
        let streams = [Stream::new(number, 1, output)?, Stream::new(number, 2, errors)?];
        // The child is not waited for by its handle, but with all other children.
        Ok((child.id(), streams))
    }
}

impl Stream {
    fn new(program: u32, number: u8, pipe: OwnedFd) -> io::Result<Self> {
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Stream { program, number, pipe: File::from(pipe) })
    }

    /// Reads what has been written, as far as there is room: `Some(0)` if no more will come, `None` if
    /// no more has come yet.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn read(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.pipe.read(room) {
                Ok(length) => return Ok(Some(length)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}
