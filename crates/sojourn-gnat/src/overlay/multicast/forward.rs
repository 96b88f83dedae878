//! Forwarding of groups: which packet goes to which neighbour, and to which of its destinations.

use std::sync::Arc;

use super::Parcel;
use crate::overlay::Overlay;
use crate::overlay::bin::Class;
use crate::overlay::cargo::Cargo;
use crate::overlay::forward::ZOMBIE;
use crate::overlay::gradient::Slope;
use crate::overlay::neighbour::Neighbour;
use crate::overlay::neighbours::bits as members;
use sojourn_base::packet::{Packet, Route};
use sojourn_base::units::Time;
use sojourn_net::multicast::MOST_MEMBERS;
use sojourn_net::node::NodeContext;

/// A packet also goes to destinations whose gradient, in bytes, is not below this and nowhere larger.
const FLOOR: f64 = -4_000.0;
/// By member.
pub type Gradients = [f64; MOST_MEMBERS];

/// A group that may go to a neighbour.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    neighbour: usize,
    group: usize,
    /// Destinations with a positive gradient.
    set: u64,
    /// Whether only zombies wait for them.
    zombies: bool,
    /// The sum of their gradients.
    pub gradient: f64,
}

impl Overlay {
    /// Packets admitted now join their group's queue.
    pub fn admit_copies(&mut self, now: Time, stream: usize, packet: Arc<Packet>) {
        let described = &self.together.streams[stream];
        let to = described.destinations(now) & !(1 << self.me);
        if to != 0 {
            let parcel = Parcel::new(packet, stream as u16, to);
            self.multicast.queues[usize::from(described.group)].push(now, parcel);
        }
    }

    /// A packet to several members has come: it may be for this node, and for others.
    #[inline(never)]
    pub fn on_copies(&mut self, now: Time, parcel: Parcel, cx: &mut NodeContext<'_>) {
        let together = self.together.clone();
        let stream = &together.streams[usize::from(parcel.stream)];
        let to = parcel.to & !(1 << self.me);
        if to != parcel.to {
            let mine = stream.receivers.iter().filter(|r| usize::from(r.member) == self.me);
            for receiver in mine {
                self.counts.delivered += 1;
                let packet = Packet { flow: receiver.flow, ..*parcel.packet };
                let socket = 2 * receiver.flow + 1;
                let copy = cx.copy(&packet, Route::default(), socket);
                cx.forward(copy);
            }
        }
        if to != 0 {
            self.multicast.queues[usize::from(stream.group)].push(now, Parcel { to, ..parcel });
        }
    }

    /// The difference in depth to a neighbour for a destination of a group.
    fn difference(&self, neighbour: &Neighbour, group: usize, to: usize) -> Slope {
        let mine = self.multicast.queues[group].last_shown()[to];
        let theirs = neighbour.group_depth(group, to);
        Slope::new(&self.map, [self.me, neighbour.member, to], [mine, theirs])
    }

    /// The destinations of a set with a gradient to a neighbour, these gradients, and their sum.
    fn sum(
        &self,
        neighbour: &Neighbour,
        group: usize,
        set: u64,
        each: &mut Gradients,
    ) -> (u64, f64) {
        let (mut found, mut sum) = (0, 0.0);
        for to in members(set) {
            if let Some(gradient) = self.difference(neighbour, group, to).gradient() {
                each[to] = gradient;
                found |= 1 << to;
                sum += gradient;
            }
        }
        (found, sum)
    }

    /// A group's gradient to a neighbour: that of packets or that of zombies, which is larger.
    fn choice(&self, index: usize, group: usize) -> Choice {
        let (neighbour, queue) = (&self.neighbours[index], &self.multicast.queues[group]);
        let mut each = [0.0; MOST_MEMBERS];
        let (set, sum) = self.sum(neighbour, group, queue.waiting(), &mut each);
        let (haunted, zombies) = self.sum(neighbour, group, queue.only_zombies(), &mut each);
        let (set, gradient) = if zombies > sum { (haunted, zombies) } else { (set, sum) };
        Choice { neighbour: index, group, set, zombies: zombies > sum, gradient }
    }

    /// The group and neighbour with room that have the largest gradient.
    pub fn best_group(&self) -> Option<Choice> {
        let mut best: Option<Choice> = None;
        for (group, queue) in self.multicast.queues.iter().enumerate() {
            if queue.waiting() | queue.only_zombies() == 0 {
                continue;
            }
            for (index, _) in self.neighbours.open() {
                let choice = self.choice(index, group);
                if choice.gradient > best.map_or(0.0, |best| best.gradient) {
                    best = Some(choice);
                }
            }
        }
        best
    }

    /// Sends of a group what goes best with its gradient, as much as the neighbour has room for.
    #[inline(never)]
    pub fn move_copies(&mut self, now: Time, choice: Choice) {
        let Choice { neighbour: index, group, set, zombies, .. } = choice;
        if zombies {
            let bytes = self.multicast.queues[group].take_zombies(now, set, ZOMBIE);
            return self.neighbours.change(index, |neighbour| {
                neighbour.push(now, Class::Normal, Cargo::Zombie(bytes as u32));
            });
        }
        let mut each = [0.0; MOST_MEMBERS];
        let (mut set, _) = self.sum(&self.neighbours[index], group, set, &mut each);
        let mut room = self.neighbours[index].room();
        while room > 0 && set != 0 {
            let packets = self.multicast.queues[group].packets();
            let Some((number, chosen)) = packets.suits(set, &each) else { break };
            let chosen = chosen | self.opportunities(index, group, number, chosen);
            let reduce = self.params.zombies;
            let queue = &mut self.multicast.queues[group];
            let Some((parcel, stays)) = queue.take(now, number, chosen, reduce) else { break };
            self.multicast.copied += u64::from(stays);
            let size = parcel.size;
            self.neighbours.change(index, |neighbour| {
                neighbour.push(now, Class::Normal, Cargo::Copies(parcel));
            });
            room = room.saturating_sub(size.into());
            let queued = self.multicast.queues[group].waiting();
            for to in members(chosen & set) {
                let gradient = self.difference(&self.neighbours[index], group, to).gradient();
                each[to] = gradient.unwrap_or(0.0);
                if gradient.is_none() || queued >> to & 1 == 0 {
                    set &= !(1 << to);
                }
            }
        }
    }

    /// More destinations of a packet that may as well go there: nowhere is their gradient larger.
    fn opportunities(&self, index: usize, group: usize, number: u64, chosen: u64) -> u64 {
        let rest = self.multicast.queues[group].packets().destinations(number) & !chosen;
        if !self.params.opportunistic || rest == 0 {
            return 0;
        }
        let to = |neighbour: &Neighbour, to| self.difference(neighbour, group, to).difference();
        let fits = |member: &usize| {
            let here = to(&self.neighbours[index], *member).filter(|here| *here >= FLOOR);
            let others = self.neighbours.iter().filter(|neighbour| neighbour.works());
            here.is_some_and(|here| others.filter_map(|n| to(n, *member)).all(|o| o <= here))
        };
        members(rest).filter(fits).fold(0, |set, member| set | 1 << member)
    }

    fn steepest(&self, group: usize) -> f64 {
        members(self.neighbours.working())
            .map(|index| self.choice(index, group).gradient)
            .fold(0.0, f64::max)
    }

    /// The largest gradient of any group.
    pub fn steepest_group(&self) -> f64 {
        (0..self.multicast.queues.len()).map(|group| self.steepest(group)).fold(0.0, f64::max)
    }

    /// Relieves groups that starve, each destination by itself.
    pub fn relieve_groups(&mut self, now: Time, capacity: f64, largest: f64) {
        for group in 0..self.multicast.queues.len() {
            let waiting = self.multicast.queues[group].waiting();
            let gradient = if waiting == 0 { largest } else { self.steepest(group) };
            if gradient < largest {
                for to in members(waiting) {
                    let lacks = largest - gradient + 1.0;
                    self.multicast.queues[group].relieve(now, to, capacity, lacks);
                }
            }
        }
    }
}
