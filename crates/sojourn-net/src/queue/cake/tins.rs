//! Cake's tins: each with its queues and its tuning, and a clock of its own that decides which is
//! served.
//!
//! Shaped, the highest of those goes first that keep within their share of the rate; if none does,
//! the one that will be within its share first. Unlimited, they take turns by weight.

use std::cmp::Reverse;

use rand::Rng;

use super::classify::Classifier;
use super::diffserv::{Share, Table};
use super::drr::Scheduler;
use super::params::{Isolation, Masquerade, Params};
use crate::observe::Observer;
use crate::packet::Dscp;
use crate::queue::QueueInit;
use crate::queue::cobalt::law::Tuning;
use crate::rng::Stream;
use crate::units::{Rate, Span, Time};

/// Least rate of a tin, in B/s.
const LEAST: u64 = 64;

/// A tin.
#[derive(Debug)]
pub(super) struct Tin {
    /// Its queues.
    pub scheduler: Scheduler,
    /// Tuning of their laws.
    pub tuning: Tuning,
    /// Packets that wait in it.
    pub packets: u64,
    /// Its share of the rate, unless that is all.
    share: Option<Rate>,
    carry: u64,
    /// When it is within its share again.
    next: Time,
    /// Bytes that it may send in this round, and of each round.
    deficit: i32,
    quantum: i32,
}

impl Tin {
    /// A packet came while none waited: unused time is lost.
    #[inline]
    pub(super) fn on_busy(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// Counts a packet of `length` framed bytes against its share; `whole` is the time that the
    /// packet takes at the whole rate.
    #[inline]
    fn advance(&mut self, now: Time, length: u32, whole: Span) {
        let span = match self.share {
            None => whole,
            Some(rate) => rate.transmission(length, &mut self.carry),
        };
        // A tin that is behind catches up; one that is ahead is not put off further.
        self.next = if self.next < now { self.next + span } else { self.next.max(now + span) };
    }
}

/// The tins, lowest priority first.
#[derive(Debug)]
pub(super) struct Tins {
    /// All of them.
    pub list: Box<[Tin]>,
    table: &'static Table,
    shaped: bool,
    /// The tin whose turn it is, where nothing is shaped.
    turn: usize,
}

impl Tins {
    /// For a shaper's rate; `random` perturbs the hashes.
    pub(super) fn new(
        params: &Params,
        rate: Option<Rate>,
        init: &QueueInit,
        random: &mut Stream,
    ) -> Self {
        let flowblind = params.isolation == Isolation::Flowblind;
        let keys = (!flowblind).then(|| std::array::from_fn(|_| random.next_u32()));
        let hidden = if params.nat { Masquerade::None } else { params.masquerade };
        let mtu = init.full_packet + init.overhead;
        let whole = rate.map_or(0, |rate| rate.as_bps() / 8);
        let tin = |Share { rate: share, quantum }: Share| {
            let own = (share < whole).then(|| Rate::from_bps(share.max(LEAST) * 8));
            let rate = own.or(rate);
            let classifier = keys.map(|keys| Classifier::new(params.isolation, hidden, keys));
            Tin {
                scheduler: Scheduler::new(rate, classifier),
                tuning: Tuning::for_path(rate, mtu, params.rtt, params.roots()),
                packets: 0,
                share: own,
                carry: 0,
                next: Time::ZERO,
                deficit: 0,
                quantum: quantum.into(),
            }
        };
        Tins {
            list: params.diffserv.shares(whole).into_iter().map(tin).collect(),
            table: params.diffserv.table(),
            shaped: rate.is_some(),
            turn: 0,
        }
    }

    /// The tin of a codepoint.
    #[inline]
    pub(super) fn of(&self, dscp: Dscp) -> usize {
        usize::from(self.table[usize::from(dscp.number())])
    }

    /// The tin to serve.
    #[inline]
    pub(super) fn next(&mut self, now: Time) -> Option<usize> {
        match (self.list.len(), self.shaped) {
            (1, _) => Some(0),
            (_, true) => self.by_schedule(now),
            (_, false) => self.by_turns(),
        }
    }

    /// The highest that is within its share, else the first to be so.
    #[inline]
    fn by_schedule(&self, now: Time) -> Option<usize> {
        let mut best = None::<(usize, Time)>;
        for (number, tin) in self.list.iter().enumerate() {
            if tin.scheduler.is_active()
                && (tin.next <= now || best.is_none_or(|(_, next)| tin.next <= next))
            {
                best = Some((number, tin.next));
            }
        }
        best.map(|(number, _)| number)
    }

    /// Deficit round robin.
    fn by_turns(&mut self) -> Option<usize> {
        let (mut wrapped, mut empty) = (false, true);
        loop {
            let tin = &mut self.list[self.turn];
            let active = tin.scheduler.is_active();
            if active && tin.deficit >= 0 {
                return Some(self.turn);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            empty &= !active;
            self.turn += 1;
            if self.turn == self.list.len() {
                self.turn = 0;
                if wrapped && empty {
                    return None;
                }
                wrapped = true;
            }
        }
    }

    /// Counts a packet against the share of its tin.
    #[inline]
    pub(super) fn advance(&mut self, number: usize, now: Time, length: u32, whole: Span) {
        if self.shaped && self.list.len() > 1 {
            self.list[number].advance(now, length, whole);
        }
    }

    /// Counts a packet against the turn of its tin.
    #[inline]
    pub(super) fn charge(&mut self, number: usize, length: u32) {
        if !self.shaped && self.list.len() > 1 {
            self.list[number].deficit -= length as i32;
        }
    }

    /// The queue with the most bytes, and its tin.
    pub(super) fn longest(&self) -> Option<(usize, usize)> {
        let used = self.list.iter().enumerate().filter(|(_, tin)| tin.packets > 0);
        let longest = |(number, tin): (usize, &Tin)| {
            let queue = tin.scheduler.longest();
            (tin.scheduler.queues[queue].backlog, Reverse(number), queue)
        };
        used.map(longest).max().map(|(_, Reverse(number), queue)| (number, queue))
    }

    /// Names and values of their state together.
    pub(super) fn observe(&self, out: &mut Observer<'_>) {
        let states: Vec<_> = self.list.iter().map(|tin| tin.scheduler.state()).collect();
        out("bulk_flows", states.iter().map(|state| state.bulk).sum::<u32>().into());
        out("sparse_flows", states.iter().map(|state| state.sparse).sum::<u32>().into());
        out("decaying_flows", states.iter().map(|state| state.decaying).sum::<u32>().into());
        let count = states.iter().map(|state| state.most_count).max();
        out("most_count", count.unwrap_or(0).into());
        let blue = states.iter().map(|state| state.most_blue).fold(0.0, f64::max);
        out("most_blue_probability", blue.into());
    }
}
