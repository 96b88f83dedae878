//! A running kernel with its calendar and its cards: its start, and its turns.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sojourn_base::units::Time;

use super::arguments::{Image, Wanted};
use super::calendar::{Calendar, Running};
use super::card::Card;
use super::console::Console;
use super::counter::with_clock;
use super::failure::{broken, doing, with_last_words};
use super::guest::{Door, Guest};
use crate::clock::Clock;
use crate::error::Error;

/// Interval of checks whether the kernel still lives, in ms.
const PATIENCE: u16 = 200;

/// A turn of the kernel that does not end: something computes without a system call, which takes none
/// of the kernel's time.
#[derive(Debug)]
pub(super) struct Stuck {
    /// The real time after which it was given up.
    after: Duration,
    /// When it was in the kernel's ns.
    pub time: u64,
    /// What runs, if the kernel tells that.
    running: Option<Running>,
}

impl Stuck {
    /// It as an error, at this time of the run.
    pub(super) fn error(&self, at: Time) -> Error {
        let who = match &self.running {
            Some(Running { process, name, host }) => {
                format!("{name} (process {process}) on {host}")
            }
            None => "something inside".to_owned(),
        };
        let (after, at) = (self.after.as_secs_f64(), at.as_secs_f64());
        broken(&format!(
            "{who} has computed for {after} s without a system call, at {at:.6} s; a program that \
             spins never ends, since computation takes no time: --watchdog {} if it is only slow",
            10.0 * after
        ))
    }
}

/// A kernel, its calendar and its cards.
pub(super) struct Machine {
    /// Decides when the kernel runs.
    pub calendar: Calendar,
    /// In the order in which the kernel finds them.
    pub cards: Vec<Card>,
    guest: Guest,
    /// Whether the kernel has set up its cards and communicates only with its calendar.
    booted: bool,
    /// Longest real time of a turn, if that has a limit.
    pub longest: Option<Duration>,
    /// What ran in a turn that took longer.
    pub stuck: Option<Stuck>,
}

impl Machine {
    /// Starts a kernel.
    ///
    /// # Errors
    /// If it cannot be run, or ends.
    pub(super) fn start(image: &Image, wanted: Wanted, stop: &AtomicBool) -> Result<Self, Error> {
        let date = wanted.programs.and_then(|asked| asked.date);
        let longest = wanted.programs.map(|asked| asked.longest);
        let calendar = Door::new()?;
        let cards = (0..wanted.cards).map(|_| Door::new()).collect::<Result<Vec<_>, _>>()?;
        let guest = Guest::start(image, &calendar, &cards, wanted)?;
        let words = guest.console()?;
        let started = Machine::connect(&calendar, &cards, guest, (date, longest), stop);
        started.map_err(|error| with_last_words(error, "while it started", words))
    }

    /// The kernel's console, which outlives the process.
    ///
    /// # Errors
    /// If there are no more descriptors.
    pub(super) fn console(&self) -> Result<Console, Error> {
        self.guest.console()
    }

    fn connect(
        calendar: &Door,
        cards: &[Door],
        mut guest: Guest,
        (date, longest): (Option<u64>, Option<Duration>),
        stop: &AtomicBool,
    ) -> Result<Self, Error> {
        let opened = accept(calendar, &mut guest, stop)?;
        let patience = Some(Duration::from_millis(PATIENCE.into()));
        opened.set_read_timeout(patience).map_err(|e| doing("waiting for the kernel", e))?;
        let calendar = Calendar::new(opened, date)?;
        let mut machine =
            Machine { calendar, cards: Vec::new(), guest, booted: false, longest, stuck: None };
        for (number, door) in (0..).zip(cards) {
            let socket = machine.until_connected(door, stop)?;
            machine.cards.push(Card::new(socket, number));
        }
        Ok(machine)
    }

    /// Keeps the kernel running until it connects to a door.
    fn until_connected(&mut self, door: &Door, stop: &AtomicBool) -> Result<UnixStream, Error> {
        loop {
            self.check(stop)?;
            if let Ok((socket, _)) = door.listener.accept() {
                let blocking = socket.set_nonblocking(false);
                return blocking.map(|()| socket).map_err(|e| doing("waiting for the kernel", e));
            }
            if self.calendar.is_waiting() {
                self.run_on()?;
            }
            self.attend(Some(door))?;
        }
    }

    /// Checks whether the run must end.
    fn check(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        if stop.load(Ordering::Relaxed) {
            return Err(broken("stopped on request"));
        }
        if self.guest.has_ended() { Err(broken("the kernel has ended")) } else { Ok(()) }
    }

    /// Lets the kernel run when it requests so.
    fn run_on(&mut self) -> Result<(), Error> {
        let time =
            self.calendar.request().ok_or_else(|| broken("the kernel is idle without a timer"))?;
        self.run(time, 0, 0)
    }

    /// The agent has begun: from now on the kernel communicates only with its calendar, and stops
    /// when it has sent something.
    ///
    /// # Errors
    /// If a ring is broken.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        self.booted = true;
        let shared = self.calendar.is_shared();
        self.cards.iter_mut().filter(|_| shared).try_for_each(|card| card.rings.announce())
    }

    /// Answers the kernel's requests, on any socket; waits for them for a moment.
    fn attend(&mut self, door: Option<&Door>) -> Result<(), Error> {
        let wanted = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut sockets = vec![wanted(self.calendar.as_fd())];
        sockets.extend(self.cards.iter().map(|card| wanted(card.as_fd())));
        sockets.extend(door.map(|door| wanted(door.listener.as_fd())));
        match poll(&mut sockets, PollTimeout::from(PATIENCE)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(doing("waiting for the kernel", error.into())),
        }
        let ready: Vec<bool> = sockets.iter().map(|socket| socket.any() == Some(true)).collect();
        if ready[0] {
            self.calendar.listen()?;
        }
        for (card, _) in self.cards.iter_mut().zip(&ready[1..]).filter(|(_, ready)| **ready) {
            card.listen()?;
        }
        Ok(())
    }

    /// Waits until the kernel has nothing more to do now.
    ///
    /// # Errors
    /// If it is gone, told to end, or `stuck`.
    pub(super) fn settle(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        let mut late = None;
        while !self.calendar.is_waiting() {
            if !self.booted || !self.calendar.listen()? {
                self.check(stop)?;
                self.check_length(late.get_or_insert_with(|| with_clock(Clock::start)))?;
                self.attend(None)?;
            }
        }
        Ok(())
    }

    /// Checks that a turn, which is late since the clock was started, does not take too long.
    fn check_length(&mut self, late: &Clock) -> Result<(), Error> {
        let taken = Duration::from_nanos(with_clock(|| late.now()).as_nanos());
        let Some(after) = self.longest.filter(|longest| self.booted && taken > *longest) else {
            return Ok(());
        };
        let (time, running) = (self.calendar.reached(), self.calendar.running());
        self.stuck = Some(Stuck { after, time, running });
        Err(broken("something inside has computed for too long"))
    }

    /// Lets the kernel run at `time` and process its cards' input: a bit for each ring; alone until
    /// `free_until` if it can.
    ///
    /// # Errors
    /// If it is gone.
    pub(super) fn run(&mut self, time: u64, rings: u64, free_until: u64) -> Result<(), Error> {
        self.calendar.set_time(time);
        self.calendar.run(rings, free_until)
    }
}

fn accept(door: &Door, guest: &mut Guest, stop: &AtomicBool) -> Result<UnixStream, Error> {
    loop {
        if let Ok((socket, _)) = door.listener.accept() {
            let blocking = socket.set_nonblocking(false);
            return blocking.map(|()| socket).map_err(|e| doing("waiting for the kernel", e));
        }
        if guest.has_ended() || stop.load(Ordering::Relaxed) {
            return Err(broken("the kernel has ended"));
        }
        let mut wanted = [PollFd::new(door.listener.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut wanted, PollTimeout::from(PATIENCE)); // else it is looked at again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_spins_is_named() {
        let (name, host) = ("openssl".to_owned(), "sender".to_owned());
        let running = Some(Running { process: 41, name, host });
        let stuck = Stuck { after: Duration::from_secs(60), time: 0, running };
        let message = "kernel run: openssl (process 41) on sender has computed for 60 s without a \
                       system call, at 1.160226 s; a program that spins never ends, since \
                       computation takes no time: --watchdog 600 if it is only slow";
        assert_eq!(stuck.error(Time::from_nanos(1_160_226_000)).to_string(), message);
    }
}
