//! The loop in virtual time: what a kernel's cards send goes through a [`Network`] and, when that
//! says so, into the other card. The kernel and the network take turns: time is that of whichever
//! has something to do first.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sojourn_core::net::{Hosts, Network, Step};
use sojourn_core::packet::Packet;
use sojourn_core::units::Time;

use super::calendar::Calendar;
use super::card::Card;
use super::control::{PIECE, Report, Said};
use super::failure::{broken, doing};
use super::frames::{answer, frame_to, packet_of, said};
use super::guest::{Console, Door, Guest, Image};
use crate::background::Begun;
use crate::drive::Tap;
use crate::error::Error;
use crate::flows::Flows;
use crate::store::Store;

/// Between two looks whether the kernel still lives, in ms.
const PATIENCE: u16 = 200;
/// The rings of a card, as it names them.
const RECEIVING: u32 = 0;
const SENDING: u32 = 1;

/// A kernel, its calendar and its cards.
pub struct Machine {
    calendar: Calendar,
    cards: Vec<Card>,
    guest: Guest,
    /// The kernel has set up its cards and speaks to its calendar only.
    booted: bool,
}

impl Machine {
    /// Starts a kernel with two cards.
    ///
    /// # Errors
    /// If it cannot be run, or ends.
    pub fn start(image: &Image, seed: u64, stop: &AtomicBool) -> Result<Self, Error> {
        let doors = [Door::new(0)?, Door::new(1)?, Door::new(2)?];
        let [calendar, cards @ ..] = &doors;
        let guest = Guest::start(image, calendar, cards, seed)?;
        let words = guest.console()?;
        let started = Machine::connect(&doors, guest, stop);
        started.map_err(|error| with_last_words(error, "while it started", words))
    }

    fn connect(doors: &[Door; 3], mut guest: Guest, stop: &AtomicBool) -> Result<Self, Error> {
        let [calendar, cards @ ..] = doors;
        let opened = accept(calendar, &mut guest, stop)?;
        let patience = Some(Duration::from_millis(PATIENCE.into()));
        opened.set_read_timeout(patience).map_err(|e| doing("waiting for the kernel", e))?;
        let mut machine =
            Machine { calendar: Calendar::new(opened)?, cards: Vec::new(), guest, booted: false };
        for (number, door) in (0..).zip(cards) {
            let socket = machine.until_connected(door, stop)?;
            machine.cards.push(Card::new(socket, number));
        }
        Ok(machine)
    }

    /// Keeps the kernel going until it opens a door.
    fn until_connected(
        &mut self,
        door: &Door,
        stop: &AtomicBool,
    ) -> Result<std::os::unix::net::UnixStream, Error> {
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

    /// Whether there is a reason not to go on.
    fn check(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        if stop.load(Ordering::Relaxed) {
            return Err(broken("it was told to end"));
        }
        if self.guest.has_ended() { Err(broken("the kernel has ended")) } else { Ok(()) }
    }

    /// Lets the kernel run when it wants to.
    fn run_on(&mut self) -> Result<(), Error> {
        let time = self.calendar.request().ok_or_else(|| broken("the kernel waits for nothing"))?;
        self.calendar.set_time(time);
        self.calendar.run()
    }

    /// Answers what the kernel asks, on whichever socket; waits for it for a moment.
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
    fn settle(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        while !self.calendar.is_waiting() {
            if !self.booted || !self.calendar.listen()? {
                self.check(stop)?;
                self.attend(None)?;
            }
        }
        Ok(())
    }

    /// Lets the kernel see at `time` what its cards have for it.
    fn interrupt(&mut self, time: u64, rings: &[(usize, u32)]) -> Result<(), Error> {
        self.calendar.set_time(time);
        for (card, ring) in rings {
            self.cards[*card].interrupt(*ring)?;
            self.wait_for_confirmation(*card)?;
        }
        // With interrupts off it only notes them, and may not run before it wants to.
        match self.calendar.request() {
            Some(wanted) if wanted <= time => self.calendar.run(),
            _ => Ok(()),
        }
    }

    /// The kernel has noted an interrupt, for which it may ask its calendar for the time.
    fn wait_for_confirmation(&mut self, card: usize) -> Result<(), Error> {
        loop {
            let wanted = |fd| PollFd::new(fd, PollFlags::POLLIN);
            let Some(channel) = self.cards[card].channel() else { return Ok(()) };
            let mut sockets = [wanted(self.calendar.as_fd()), wanted(channel)];
            match poll(&mut sockets, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(doing("interrupting the kernel", error.into())),
            }
            let [asks, confirms] = sockets.map(|socket| socket.any() == Some(true));
            if asks {
                self.calendar.listen()?;
            } else if confirms {
                return self.cards[card].hear_confirmation();
            }
        }
    }
}

fn accept(
    door: &Door,
    guest: &mut Guest,
    stop: &AtomicBool,
) -> Result<std::os::unix::net::UnixStream, Error> {
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

/// A failure, where it happened, and what the kernel said before.
fn with_last_words(error: Error, place: &str, console: Console) -> Error {
    match error {
        Error::System(message) => {
            let words = console.last_words();
            Error::System(format!("{message}, {place}; the kernel's last words:\n{words}"))
        }
        other => other,
    }
}

/// Drives a network and a kernel together.
pub struct Virtual {
    machine: Machine,
    store: Store,
    flows: Flows,
    scenario: Vec<u8>,
    /// The kernel's time at which the run has begun.
    zero: Option<u64>,
    /// Rings that have something for the kernel: card and ring.
    due: Vec<(usize, u32)>,
    frame: Vec<u8>,
    failure: Option<Error>,
}

impl Virtual {
    /// Of flows and a machine that has just been started; `scenario` is for the agent.
    pub fn new(machine: Machine, flows: Flows, scenario: String) -> Self {
        Virtual {
            machine,
            store: Store::default(),
            flows,
            scenario: scenario.into_bytes(),
            zero: None,
            due: Vec::new(),
            frame: Vec::new(),
            failure: None,
        }
    }

    /// Drives both until `end` of the network's time.
    ///
    /// # Errors
    /// If the kernel ends or breaks the protocol, or an invariant of the network is broken: with the
    /// kernel's last words.
    pub fn run(
        &mut self,
        net: &mut Network,
        end: Time,
        stop: &AtomicBool,
        begun: &Begun,
    ) -> Result<(), Error> {
        let words = self.machine.guest.console()?;
        let driven = self.drive(net, end, stop, begun);
        driven.map_err(|error| {
            let place = match self.zero {
                Some(_) => format!("at {:.6} s", net.now().as_secs_f64()),
                None => "before it began".to_owned(),
            };
            with_last_words(error, &place, words)
        })
    }

    fn drive(
        &mut self,
        net: &mut Network,
        end: Time,
        stop: &AtomicBool,
        begun: &Begun,
    ) -> Result<(), Error> {
        loop {
            self.machine.settle(stop)?;
            self.collect(net)?;
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let request = self.machine.calendar.request();
            if !self.due.is_empty() {
                self.hand_over(self.machine.calendar.now())?;
                continue;
            }
            let next = self.zero.zip(net.next_wakeup()).map(|(zero, t)| zero + t.as_nanos());
            let last = self.zero.map_or(u64::MAX, |zero| zero + end.as_nanos());
            let soonest = next.into_iter().chain(request).min();
            let Some(soonest) = soonest.filter(|time| *time <= last) else {
                if self.zero.is_some() {
                    return Ok(net.advance(end, self)?);
                }
                return Err(broken("the kernel waits for nothing"));
            };
            if next.is_some_and(|next| next <= soonest) {
                self.advance(net, soonest)?;
                begun.reached(net.now());
                if self.due.is_empty() {
                    continue;
                }
                self.hand_over(soonest)?;
            } else {
                self.machine.run_on()?;
            }
        }
    }

    /// Brings the network to the kernel's time.
    fn advance(&mut self, net: &mut Network, now: u64) -> Result<(), Error> {
        let Some(zero) = self.zero else { return Ok(()) };
        Ok(net.advance(Time::from_nanos(now - zero), self)?)
    }

    /// The kernel runs, and sees what its cards have for it.
    fn hand_over(&mut self, time: u64) -> Result<(), Error> {
        self.due.sort_unstable();
        self.due.dedup();
        let due = std::mem::take(&mut self.due);
        self.machine.interrupt(time, &due)?;
        self.due = due;
        self.due.clear();
        Ok(())
    }

    /// Takes what the kernel has sent since it ran last, which is now.
    fn collect(&mut self, net: &mut Network) -> Result<(), Error> {
        let mut frame = std::mem::take(&mut self.frame);
        for side in 0..self.machine.cards.len() {
            let mut any = false;
            while self.machine.cards[side].rings.take(&mut frame)? {
                any = true;
                if let Some(packet) = packet_of(&frame) {
                    self.sent(net, side, packet)?;
                }
            }
            let rings = &mut self.machine.cards[side].rings;
            if any && rings.wants_buffers()? {
                self.due.push((side, SENDING));
            }
            if rings.give_held()? {
                self.due.push((side, RECEIVING));
            }
        }
        self.frame = frame;
        Ok(())
    }

    /// A packet leaves a card.
    fn sent(&mut self, net: &mut Network, side: usize, bytes: &[u8]) -> Result<(), Error> {
        if let Some(what) = said(bytes) {
            return self.heard(net, side, bytes, what);
        }
        let now = self.machine.calendar.now();
        self.advance(net, now)?;
        if let Some(mut packet) = self.flows.enters(net.now(), side, bytes) {
            packet.socket = self.store.keep(bytes);
            net.inject(&packet);
        }
        Ok(())
    }

    /// The agent says something.
    fn heard(
        &mut self,
        net: &mut Network,
        side: usize,
        question: &[u8],
        what: &[u8],
    ) -> Result<(), Error> {
        let now = self.machine.calendar.now();
        match Said::parse(what) {
            Some(Said::Piece(number)) => {
                let from = (number as usize * PIECE).min(self.scenario.len());
                let to = (from + PIECE).min(self.scenario.len());
                let reply = answer(question, &self.scenario[from..to]);
                self.deliver(side, &reply)
            }
            Some(Said::Begun(passed)) => {
                self.zero = Some(now - passed.as_nanos());
                self.machine.booted = true;
                Ok(())
            }
            Some(Said::Reports(mut reports)) => {
                self.advance(net, now)?;
                while let Some(report) = Report::take_from(&mut reports) {
                    self.flows.report(net.now(), &report);
                }
                Ok(())
            }
            Some(Said::Failed(why)) => Err(broken(&format!("inside the kernel: {why}"))),
            None => Err(broken("the agent inside the kernel is not understood")),
        }
    }

    /// A packet arrives at a card.
    fn deliver(&mut self, side: usize, packet: &[u8]) -> Result<(), Error> {
        let mut frame = Vec::with_capacity(packet.len() + 14);
        frame_to(side as u8, packet, &mut frame);
        self.machine.cards[side].rings.give(&frame)?;
        self.due.push((side, RECEIVING));
        Ok(())
    }

    /// What was done with the packets.
    pub fn finish(self) -> Flows {
        self.flows
    }
}

impl Hosts for Virtual {
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
        let Some(bytes) = self.store.get(packet.socket) else {
            self.failure = Some(broken("a packet waited behind 131,072 others"));
            return Ok(());
        };
        let side = self.flows.leaves(net.now(), packet, bytes);
        let bytes = std::mem::take(bytes);
        if let Err(error) = self.deliver(side, &bytes) {
            self.failure = Some(error);
        }
        if let Some(place) = self.store.get(packet.socket) {
            *place = bytes; // the network may have copied the packet
        }
        Ok(())
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        self.flows.on_timer(net, timer)
    }

    fn component(&self, timer: u32) -> String {
        format!("timer {timer} of the kernel run")
    }
}
