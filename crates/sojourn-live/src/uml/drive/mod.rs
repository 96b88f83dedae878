//! The loop in virtual time: frames sent by a kernel's cards pass a [`Network`] and are delivered
//! to the other card at the time that the network computes. The kernel and the network take turns:
//! the time is that of the earlier next event.

mod ending;
mod hearing;

use std::sync::atomic::AtomicBool;

use sojourn_base::packet::Packet;
use sojourn_base::units::Time;
use sojourn_net::net::{Hosts, Network, Step};

use super::HOSTS;
use super::bottlenecks::Bottlenecks;
use super::console::Console;
use super::doings::Doings;
use super::failure::{broken, with_last_words};
use super::frames::{frame_to, packet_of, said};
use super::machine::Machine;
use super::rings;
use super::sending::Sending;
use crate::background::Progress;
use crate::drive::Tap;
use crate::error::Error;
use crate::kept::Border;
use crate::watched::Watched;

/// Drives a network and a kernel together.
pub(super) struct Virtual {
    machine: Machine,
    border: Border,
    watched: Watched,
    /// What programs do, if there are any.
    doings: Option<Doings>,
    bottlenecks: Bottlenecks,
    sending: Sending,
    /// What the agent is told.
    description: Vec<u8>,
    /// The kernel's time at which the run began.
    zero: Option<u64>,
    /// Rings with input for the kernel, a bit each.
    due: u64,
    frame: Vec<u8>,
    failure: Option<Error>,
}

impl Virtual {
    /// A loop of what is watched and of a machine that has just been started; `description` is for
    /// the agent.
    pub(super) fn new(
        machine: Machine,
        (watched, doings): (Watched, Option<Doings>),
        (border, bottlenecks, sending): (Border, Bottlenecks, Sending),
        description: String,
    ) -> Self {
        Virtual {
            machine,
            border,
            watched,
            doings,
            bottlenecks,
            sending,
            description: description.into_bytes(),
            zero: None,
            due: 0,
            frame: Vec::new(),
            failure: None,
        }
    }

    /// Drives both until `end` of the network's time, or until all programs have ended that the run
    /// waits for.
    ///
    /// # Errors If the kernel ends or violates the protocol, or an invariant of the network is
    /// broken: with the last lines of the kernel's console. If a turn takes too long.
    pub(super) fn run(
        &mut self,
        net: &mut Network,
        end: Time,
        stop: &AtomicBool,
        progress: &Progress,
    ) -> Result<(), Error> {
        let driven = self.drive(net, end, stop, progress);
        driven.map_err(|error| {
            let error = self.last_message().unwrap_or(error);
            self.explained(error, net.now())
        })
    }

    /// An error with what is known of its cause.
    fn explained(&self, error: Error, now: Time) -> Error {
        if let (Some(stuck), Some(zero)) = (&self.machine.stuck, self.zero) {
            return stuck.error(Time::from_nanos(stuck.time.saturating_sub(zero)));
        }
        let place = match self.zero {
            Some(_) => format!("at {:.6} s", now.as_secs_f64()),
            None => "before it began".to_owned(),
        };
        match self.machine.console() {
            Ok(words) => with_last_words(error, &place, words),
            Err(_) => error,
        }
    }

    fn drive(
        &mut self,
        net: &mut Network,
        end: Time,
        stop: &AtomicBool,
        progress: &Progress,
    ) -> Result<(), Error> {
        loop {
            self.machine.settle(stop)?;
            self.collect(net)?;
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if self.doings.as_ref().is_some_and(|doings| doings.finished) {
                return Ok(());
            }
            self.feed_routers()?;
            if self.due != 0 {
                self.hand_over(net, self.machine.calendar.now())?;
                continue;
            }
            let request = self.machine.calendar.request();
            let next = self.next(net);
            let last = self.zero.map_or(u64::MAX, |zero| zero + end.as_nanos());
            let soonest = next.into_iter().chain(request).min();
            let Some(soonest) = soonest.filter(|time| *time <= last) else {
                if self.zero.is_some() {
                    return Ok(net.advance(end, self)?);
                }
                return Err(broken("the kernel is idle without a timer"));
            };
            if next.is_some_and(|next| next <= soonest) {
                self.advance(net, soonest)?;
                while let Some((card, head)) = self.sending.sent(soonest) {
                    self.give_back(card, head)?;
                }
                progress.reached(net.now());
                self.feed_routers()?;
                if self.due != 0 {
                    self.hand_over(net, soonest)?;
                }
            } else {
                self.hand_over(net, soonest)?;
            }
        }
    }

    /// Advances the network to the kernel's time.
    fn advance(&mut self, net: &mut Network, now: u64) -> Result<(), Error> {
        let Some(zero) = self.zero else { return Ok(()) };
        Ok(net.advance(Time::from_nanos(now - zero), self)?)
    }

    /// The kernel runs, and processes its cards' input.
    fn hand_over(&mut self, net: &mut Network, time: u64) -> Result<(), Error> {
        let free_until = self.next(net).unwrap_or(0);
        self.machine.run(time, std::mem::take(&mut self.due), free_until)
    }

    /// Time of the next event outside the kernel, in the kernel's time.
    fn next(&self, net: &mut Network) -> Option<u64> {
        let next = self.zero.zip(net.next_wakeup()).map(|(zero, t)| zero + t.as_nanos());
        next.into_iter().chain(self.sending.next()).min()
    }

    /// Takes what the kernel has sent since it ran last, which is now.
    fn collect(&mut self, net: &mut Network) -> Result<(), Error> {
        let mut frame = std::mem::take(&mut self.frame);
        for card in 0..self.machine.cards.len() {
            while let Some(head) = self.machine.cards[card].rings.take(&mut frame)? {
                let keeps = match packet_of(&frame) {
                    Some(packet) => self.sent(net, (card, head), packet)?,
                    None => false,
                };
                if !keeps {
                    self.give_back(card, head)?;
                }
            }
            if self.machine.cards[card].rings.give_held()? {
                self.due |= rings::bit(card, rings::RECEIVING);
            }
        }
        self.frame = frame;
        Ok(())
    }

    /// A card has sent the content of a buffer.
    fn give_back(&mut self, card: usize, head: u16) -> Result<(), Error> {
        if self.machine.cards[card].rings.give_back(head)? {
            self.due |= rings::bit(card, rings::SENDING);
        }
        Ok(())
    }

    /// A packet leaves a card; returns whether the card keeps its buffer until it has been sent.
    fn sent(
        &mut self,
        net: &mut Network,
        (card, head): (usize, u16),
        bytes: &[u8],
    ) -> Result<bool, Error> {
        if let Some(what) = said(bytes).filter(|_| card < HOSTS) {
            return self.heard(net, card, bytes, what).map(|()| false);
        }
        let now = self.machine.calendar.now();
        self.advance(net, now)?;
        if self.bottlenecks.has(card) {
            self.bottlenecks.leave(net, card, bytes);
            return Ok(false);
        }
        if let Some(doings) = &mut self.doings {
            doings.sent(net.now(), card, bytes);
        }
        let Some(mut packet) = self.watched.enters(net.now(), card, bytes) else {
            return Ok(false);
        };
        self.border.enter(net.now(), card, &mut packet, bytes);
        net.inject(&packet);
        let zero = now - net.now().as_nanos();
        let (side, path) = self.watched.way(card, &packet);
        Ok(self.sending.begin((card, head), (side, path, packet.size), net.now(), zero))
    }

    /// Gives packets that reach a queue of the kernel to the card of its router.
    fn feed_routers(&mut self) -> Result<(), Error> {
        while let Some((card, packet)) = self.bottlenecks.next(&self.border) {
            self.deliver(card, &packet.ok_or_else(forgotten)?)?;
        }
        Ok(())
    }

    /// A packet arrives at a card.
    fn deliver(&mut self, side: usize, packet: &[u8]) -> Result<(), Error> {
        let mut frame = Vec::with_capacity(packet.len() + 14);
        frame_to(side as u8, packet, &mut frame);
        self.machine.cards[side].rings.give(&frame)?;
        self.due |= rings::bit(side, rings::RECEIVING);
        Ok(())
    }

    /// The kernel's console.
    ///
    /// # Errors
    /// If there are no more descriptors.
    pub(super) fn console(&self) -> Result<Console, Error> {
        self.machine.console()
    }

    /// What has been watched, with its counters, and what programs have done.
    pub(super) fn finish(self) -> (Watched, Option<Doings>) {
        (self.watched, self.doings)
    }
}

impl Hosts for Virtual {
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
        let watched = &mut self.watched;
        let left = self.border.leave(net.now(), packet, |bytes| {
            (watched.leaves(net.now(), packet, bytes), bytes.clone())
        });
        if let (Some((card, bytes)), Some(doings)) = (&left, &mut self.doings) {
            doings.received(net.now(), *card, bytes);
        }
        let delivered = match left {
            Some((side, bytes)) => self.deliver(side, &bytes),
            None => Err(forgotten()),
        };
        if let Err(error) = delivered {
            self.failure = Some(error);
        }
        Ok(())
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        self.watched.on_timer(net, timer)
    }

    fn component(&self, timer: u32) -> String {
        format!("timer {timer} of the kernel run")
    }
}

fn forgotten() -> Error {
    broken("a packet was lost, as more than 131,072 waited; lower the rate, or the queue's limit")
}
