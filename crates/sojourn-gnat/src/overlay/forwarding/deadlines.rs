//! Packets with a deadline: those that cannot arrive in time are given up, those that can only by a
//! neighbour that they have passed are sent at once.
//!
//! The latter are the program's critical packets. They take the fastest path as soon as its
//! transmit queue has any room, whatever the gradient. With paths that avoid the nodes that a
//! packet has passed (`multipath = "conditioned"`) there are none. Model:
//! `ZombifyAndCriticalizePkts` of IRON's `backpressure_dequeue_alg.cc`.

use super::Forwarding;
use crate::overlay::link::Neighbour;
use crate::overlay::members::bits;
use crate::overlay::message::{Cargo, Class, Parcel};
use crate::overlay::params::{Expired, Ways};
use crate::overlay::queue::SEARCH;
use sojourn_base::units::{Span, Time};

/// Treatment of a packet by its deadline, before gradients are considered.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It cannot arrive in time.
    Late,
    /// It is sent to this neighbour at once.
    Goes(usize),
}

impl Forwarding {
    /// Gives up packets that can no longer arrive in time, and sends those that must be sent at
    /// once; returns whether any was sent.
    #[inline(never)]
    pub(super) fn look_at_deadlines(&mut self, now: Time) -> bool {
        let mut any = false;
        for to in bits(self.bins.waiting(Class::Timed)) {
            while let Some((place, fate)) = self.first_apart(now, to) {
                match fate {
                    Fate::Late => self.give_up(now, to, place),
                    Fate::Goes(neighbour) => any |= self.send_at_once(now, to, place, neighbour),
                }
            }
        }
        any
    }

    /// Delay of a packet that has passed the members `seen`, to member `to` by a neighbour; `None`
    /// if no path leads there.
    pub(super) fn takes(&self, neighbour: &Neighbour, to: usize, seen: u64) -> Option<Span> {
        let beyond = match self.params.multipath {
            Ways::SourceBased => self.map.delay(neighbour.member, to)?,
            Ways::Conditioned => self.map.delay_avoiding(neighbour.member, to, seen)?,
        };
        let there = neighbour.delay().unwrap_or_default();
        Some(Span::from_secs_f64((there + beyond).enough()))
    }

    /// The first packet of a queue that its deadline decides about, as far as the queue is
    /// searched.
    fn first_apart(&self, now: Time, to: usize) -> Option<(usize, Fate)> {
        let mut searched = 0;
        for (place, parcel) in self.bins[to].packets(Class::Timed).enumerate() {
            if let Some(fate) = self.fate(now, to, parcel) {
                return Some((place, fate));
            }
            searched += u64::from(parcel.size);
            if searched > SEARCH {
                break;
            }
        }
        None
    }

    fn fate(&self, now: Time, to: usize, parcel: &Parcel) -> Option<Fate> {
        let due = parcel.due?;
        let mut fastest: Option<(Span, usize)> = None;
        let mut is_free = false;
        for (index, neighbour) in self.neighbours.iter().enumerate() {
            let takes = neighbour.works().then(|| self.takes(neighbour, to, parcel.seen)).flatten();
            let Some(takes) = takes else { continue };
            if fastest.is_none_or(|(least, _)| takes < least) {
                fastest = Some((takes, index));
            }
            let been = parcel.seen >> neighbour.member & 1 == 1;
            is_free |= !been && now + takes <= due;
        }
        let Some((takes, index)) = fastest else { return (now > due).then_some(Fate::Late) };
        if now + takes > due {
            return Some(Fate::Late);
        }
        let must = !is_free && self.params.multipath == Ways::SourceBased;
        (must && self.neighbours[index].has_space()).then_some(Fate::Goes(index))
    }

    fn give_up(&mut self, now: Time, to: usize, place: usize) {
        self.expired += 1;
        let expired = self.params.expired;
        self.bins.change(to, |bin| match expired {
            Expired::Zombie => bin.kill(Class::Timed, place),
            Expired::Drop => bin.take(now, Class::Timed, place, false),
        });
    }

    fn send_at_once(&mut self, now: Time, to: usize, place: usize, neighbour: usize) -> bool {
        let zombies = self.params.zombies;
        let parcel = self.bins.change(to, |bin| bin.take(now, Class::Timed, place, zombies));
        let Some(parcel) = parcel else { return false };
        let seen = parcel.seen | 1 << self.me;
        self.neighbours.change(neighbour, |neighbour| {
            neighbour.push(now, Class::Timed, Cargo::Parcel(Parcel { seen, ..parcel }));
        });
        true
    }
}
