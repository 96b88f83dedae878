//! What programs do: they start at their times, write, end, and leave files. One thread sees all of it,
//! in an order that does not depend on anything but time.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::{Builder, sleep};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::unistd::Pid;
use sojourn_base::units::{Span, Time};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::spec::ProgramSpec;

use super::super::control::{Copied, ROOM, Said};
use super::super::failure::doing;
use super::super::place::Place;
use super::process::{Program, State, Stream};
use super::{copies, root};
use crate::clock::Clock;
use crate::error::Error;
use crate::hosts::HostTable;
use crate::sys::{Room, ended};

/// From the end of a run until programs are asked to end: what they then do is no part of it.
const AFTER: Duration = Duration::from_millis(1);
/// Time that they have for that.
const GRACE: Span = Span::from_millis(100);
/// Bytes that are read at once.
const PIECE: usize = 1 << 14;

/// The programs of a run, as the agent's process sees them.
pub(in super::super) struct Guest {
    control: UdpSocket,
    clock: Clock,
    place: Place,
    programs: Vec<Program>,
    /// What they write, as long as somebody may.
    streams: Vec<Stream>,
    /// Tells that a child has ended.
    signals: SignalFd,
    /// When the run ends at the latest.
    end: Time,
}

/// Makes the calling thread, and those that it starts, leave the ends of children to the one that waits
/// for them.
///
/// # Errors
/// Those of the kernel.
pub(in super::super) fn prepare() -> io::Result<()> {
    Ok(children().thread_block()?)
}

fn children() -> SigSet {
    let mut set = SigSet::empty();
    set.add(Signal::SIGCHLD);
    set
}

impl Guest {
    /// The programs of a scenario with these hosts, whose rooms these are. They tell by `control`, and
    /// their run began when the clock was started.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(in super::super) fn new(
        scenario: &Scenario,
        (table, rooms): (&HostTable, &[Arc<Room>]),
        place: Place,
        control: UdpSocket,
        clock: Clock,
    ) -> io::Result<Self> {
        let directory = CString::new(place.cwd.as_os_str().as_bytes())?;
        let program = |(spec, host): (&ProgramSpec, &usize)| Program {
            line: spec.command.words(),
            environment: environment(&place, table, *host),
            room: Arc::clone(&rooms[*host]),
            directory: directory.clone(),
            start: Time::ZERO + spec.start,
            wait: spec.wait,
            state: State::Due,
        };
        let programs = scenario.programs.iter().zip(&table.of_program).map(program).collect();
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let signals = SignalFd::with_flags(&children(), flags)?;
        let (streams, end) = (Vec::new(), Time::ZERO + scenario.duration);
        Ok(Guest { control, clock, place, programs, streams, signals, end })
    }

    /// Runs them in a thread of its own.
    ///
    /// # Errors
    /// If there are no more threads.
    pub(in super::super) fn begin(mut self) -> io::Result<()> {
        let work = move || {
            if let Err(error) = self.run() {
                let _ = self.say(&Said::Failed(&error.to_string())); // nobody else to tell
            }
        };
        Builder::new().spawn(work).map(drop)
    }

    fn run(&mut self) -> Result<(), Error> {
        loop {
            let now = self.clock.now();
            self.start(now)?;
            if self.is_finished() {
                self.say(&Said::Finished)?;
                break;
            }
            if now > self.end {
                break;
            }
            self.wait(self.wakeup().since(now))?;
            self.listen()?;
            self.reap()?;
        }
        self.wind_up()
    }

    /// When something is to be done that nobody else causes.
    fn wakeup(&self) -> Time {
        let due = self.programs.iter().filter(|program| program.state == State::Due);
        // Whoever drives this kernel ends the run first.
        due.map(|program| program.start).fold(self.end + Span::from_nanos(1), Time::min)
    }

    /// Whether all programs have ended that the run waits for, if there are any.
    fn is_finished(&self) -> bool {
        let mut waited = self.programs.iter().filter(|program| program.wait).peekable();
        waited.peek().is_some() && waited.all(|program| program.state == State::Ended)
    }

    /// Starts what is due.
    fn start(&mut self, now: Time) -> Result<(), Error> {
        for number in 0..self.programs.len() {
            let program = &self.programs[number];
            if program.state != State::Due || program.start > now {
                continue;
            }
            let told = number as u32;
            match program.start(told) {
                Ok((process, streams)) => {
                    self.programs[number].state = State::Runs(process);
                    self.streams.extend(streams);
                    self.say(&Said::Started(told, process))?;
                }
                Err(why) => {
                    self.programs[number].state = State::Ended;
                    for piece in why.message.as_bytes().chunks(ROOM) {
                        self.say(&Said::Wrote(told, 2, piece))?;
                    }
                    self.say(&Said::Ended(told, why.status))?;
                }
            }
        }
        Ok(())
    }

    /// Waits until something is written or a child ends, at most for `most`.
    fn wait(&self, most: Span) -> Result<(), Error> {
        let mut wanted = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        let streams = self.streams.iter();
        wanted.extend(streams.map(|stream| PollFd::new(stream.as_fd(), PollFlags::POLLIN)));
        let most = TimeSpec::from_duration(Duration::from_nanos(most.as_nanos()));
        match ppoll(&mut wanted, Some(most), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(doing("waiting for programs", error.into())),
        }
    }

    /// Tells what has been written.
    fn listen(&mut self) -> Result<(), Error> {
        let mut room = vec![0; PIECE];
        for mut stream in std::mem::take(&mut self.streams) {
            if self.pass_on(&mut stream, &mut room)? {
                self.streams.push(stream);
            }
        }
        Ok(())
    }

    /// Tells what has been written to a stream; returns whether more may come.
    fn pass_on(&self, stream: &mut Stream, room: &mut [u8]) -> Result<bool, Error> {
        loop {
            let read = stream.read(room).map_err(|e| doing("reading from a program", e))?;
            let Some(length) = read else { return Ok(true) };
            if length == 0 {
                return Ok(false);
            }
            for piece in room[..length].chunks(ROOM) {
                self.say(&Said::Wrote(stream.program, stream.number, piece))?;
            }
        }
    }

    /// Tells which programs have ended, with all that they have written before; returns whether there
    /// are children left. They may be others', too, which have lost their parents.
    fn reap(&mut self) -> Result<bool, Error> {
        let failed = |error| doing("waiting for the end of programs", error);
        while self.signals.read_signal().map_err(|error| failed(error.into()))?.is_some() {}
        loop {
            let (process, status) = match ended() {
                Ok(Some(child)) => child,
                Ok(None) => return Ok(true),
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(false),
                Err(error) => return Err(failed(error)),
            };
            let is_it = |program: &Program| program.state == State::Runs(process);
            if let Some(number) = self.programs.iter().position(is_it) {
                self.listen()?;
                self.programs[number].state = State::Ended;
                self.say(&Said::Ended(number as u32, status))?;
            }
        }
    }

    /// After the run: all processes end, so that they write what they keep until then, and files are
    /// copied, if they are wanted.
    fn wind_up(&mut self) -> Result<(), Error> {
        let Some(files) = self.place.files.clone() else { return Ok(()) };
        sleep(AFTER);
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            let _ = kill(Pid::from_raw(-1), signal); // there may be nobody left
            let end = self.clock.now() + GRACE;
            while self.reap()? && self.clock.now() < end {
                self.wait(end.since(self.clock.now()))?;
                self.listen()?;
            }
        }
        self.say(&Said::Copying)?;
        self.say(&Said::Copied(self.copy(&files)))
    }

    /// Copies what programs wrote in their directory to this one of the machine.
    fn copy(&self, files: &Path) -> Copied {
        match root::outside(files) {
            Ok(outside) => {
                let hidden = self.place.hidden_below();
                copies::copy((&root::written(), &outside), self.place.keep, hidden)
            }
            Err(error) => Copied { left_out: 0, uncopied: Some(error.to_string()) },
        }
    }

    fn say(&self, what: &Said<'_>) -> Result<(), Error> {
        let said = self.control.send(&what.to_bytes());
        said.map(drop).map_err(|error| doing("reporting from inside the kernel", error))
    }
}

/// The environment of programs on a host.
fn environment(place: &Place, table: &HostTable, host: usize) -> BTreeMap<String, String> {
    let receiver = Ipv4Addr::from(table.receiver(host)).to_string();
    let mut all = place.env.clone();
    all.insert("SOJOURN_HOST".to_owned(), table.hosts[host].names[0].clone());
    all.insert("SOJOURN_RECEIVER".to_owned(), receiver);
    all
}
