//! A member in its thread and namespace: its loop, and its samples.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use nix::sys::prctl::set_timerslack;
use sojourn_base::counters::reception::ReceptionFigures;
use sojourn_base::units::Time;
use sojourn_net::record::histogram::Histogram;
use sojourn_sim::scenario::Scenario;

use super::came::Came;
use super::places::Places;
use super::rows::Rows;
use super::{Join, Member};
use crate::clock::Clock;
use crate::error::{Error, failed};
use crate::namespace;
use crate::sys::run_early;

/// Bytes of the longest packets between members.
const MTU: u32 = 1500;

/// What a member's thread needs.
#[derive(Clone)]
pub(super) struct Setting {
    pub scenario: Scenario,
    pub address: [u8; 4],
    /// Its place among all.
    pub place: usize,
    pub rows: Arc<Rows>,
    /// Datagrams that wait for it.
    pub came: Arc<Came>,
    pub places: Places,
    pub stop: Arc<AtomicBool>,
}

impl Setting {
    /// Before a member has been given its address and place; of so many flows and members.
    pub(super) fn of(
        scenario: &Scenario,
        flows: usize,
        members: usize,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        Setting {
            scenario: scenario.clone(),
            address: [0; 4],
            place: 0,
            rows: Arc::new(Rows::of(scenario, flows, members)),
            came: Arc::new(Came::new(members)),
            places: Places::share_out(),
            stop: Arc::clone(stop),
        }
    }
}

/// What a member has when the run ends.
#[derive(Default)]
pub(super) struct Ended {
    /// By flow, of senders that are there.
    pub rtts: Vec<Option<Histogram>>,
    /// By flow, of receivers that are there.
    pub receptions: Vec<Option<ReceptionFigures>>,
    /// Times from when turns were due, or the first datagram for them came, until they began.
    pub lateness: Histogram,
    /// Packets that its device and its sockets have lost.
    pub drops: u64,
}

/// A member that runs.
pub(super) struct Driven {
    setting: Setting,
    member: Box<dyn Member>,
    clock: Clock,
    /// The number of the next sample.
    sample: usize,
    warmup: Option<Time>,
    lateness: Histogram,
}

impl Driven {
    /// A member's thread, which tells its device when it is ready, and waits for the run's clock.
    ///
    /// # Errors
    /// Why it ended early. Whoever waits for its device hears of what came before.
    pub(super) fn thread(
        setting: Setting,
        join: Join,
        ready: &Sender<Result<OwnedFd, Error>>,
        start: &Receiver<Clock>,
    ) -> Result<Ended, Error> {
        let made = namespace::enter().and_then(|()| {
            let device = namespace::device(namespace::DEVICE, setting.address, MTU)?;
            Ok((device, join(&setting.scenario)?))
        });
        let (device, member) = match made {
            Ok(made) => made,
            Err(error) => {
                let _ = ready.send(Err(error));
                return Ok(Ended::default());
            }
        };
        let _ = ready.send(Ok(device));
        let Ok(clock) = start.recv() else { return Ok(Ended::default()) };
        // Not in real time: nodes that fill a processor beside the loop would stop it. Each second the kernel
        // takes 50 ms from threads in real time if they leave others nothing.
        run_early();
        setting.places.hold_node();
        let _ = set_timerslack(1); // only makes it more punctual
        let warmup = Some(Time::ZERO + setting.scenario.warmup);
        let lateness = Histogram::default();
        let mut driven = Driven { setting, member, clock, sample: 0, warmup, lateness };
        driven.member.begin(clock.began());
        driven.run()?;
        driven.ended()
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut due = Time::ZERO;
        while !self.setting.stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            self.measure(now)?;
            let Some(sample) = self.setting.rows.times.get(self.sample).copied() else { break };
            let came = self.setting.came.take(self.setting.place);
            self.lateness.add(now.since(due.min(came)));
            let some = self.member.turn(now.min(sample))?;
            due =
                if some { self.clock.now() } else { self.member.part().next_wakeup().min(sample) };
            self.member.rest(some, sample)?;
        }
        Ok(())
    }

    /// Takes the samples that are due, at their times.
    fn measure(&mut self, now: Time) -> Result<(), Error> {
        let Driven { setting, member, warmup, sample, .. } = self;
        let part = member.part();
        loop {
            let next = setting.rows.times.get(*sample).copied().unwrap_or(Time::NEVER);
            let until = warmup.unwrap_or(Time::NEVER).min(next);
            if until > now {
                return Ok(());
            }
            part.advance(until).map_err(Error::Fault)?;
            if *warmup == Some(until) {
                *warmup = None;
                part.end_warmup();
            }
            if next == until {
                setting.rows.add(*sample, setting.place, part);
                part.check().map_err(Error::Fault)?;
                *sample += 1;
            }
        }
    }

    fn ended(mut self) -> Result<Ended, Error> {
        let flows = 0..self.setting.scenario.flows_expanded().len();
        let part = self.member.part();
        Ok(Ended {
            rtts: flows.clone().map(|flow| part.rtts(flow).cloned()).collect(),
            receptions: flows.map(|flow| part.reception(flow)).collect(),
            lateness: self.lateness,
            drops: namespace::device_drops()
                .and_then(|device| Ok(device + namespace::socket_drops()?))
                .map_err(failed("reading a node's counters"))?,
        })
    }
}
