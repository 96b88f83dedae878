//! Forwarding of groups: choice of the packet, the neighbour and the destinations.

use super::{Choice, Forwarding};
use crate::overlay::link::Neighbour;
use crate::overlay::members::bits as members;
use crate::overlay::message::{Cargo, Class, Copies};
use crate::overlay::queue::{Gradients, ZOMBIE};
use crate::overlay::routing::Slope;
use sojourn_base::units::Time;
use sojourn_net::multicast::MOST_MEMBERS;

/// A packet also goes to destinations whose gradient, in bytes, is not below this and nowhere larger.
const FLOOR: f64 = -4_000.0;

impl Forwarding {
    /// A packet of a stream joins its group's queue, for these members but this node.
    pub(crate) fn push_copies(&mut self, now: Time, group: u16, copies: Copies) {
        let to = copies.to & !(1 << self.me);
        if to != 0 {
            self.groups[usize::from(group)].push(now, Copies { to, ..copies });
        }
    }

    /// The difference in depth to a neighbour for a destination of a group.
    fn difference(&self, neighbour: &Neighbour, group: usize, to: usize) -> Slope {
        let mine = self.groups[group].last_shown()[to];
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

    /// A group's gradient to a neighbour: the larger of that of packets and that of zombies.
    pub(super) fn choice(&self, index: usize, group: usize) -> Choice {
        let (neighbour, queue) = (&self.neighbours[index], &self.groups[group]);
        let mut each = [0.0; MOST_MEMBERS];
        let (set, sum) = self.sum(neighbour, group, queue.waiting(), &mut each);
        let (haunted, zombies) = self.sum(neighbour, group, queue.only_zombies(), &mut each);
        let (set, gradient) = if zombies > sum { (haunted, zombies) } else { (set, sum) };
        Choice { neighbour: index, group, set, zombies: zombies > sum, gradient }
    }

    /// The group and neighbour with room that have the largest gradient.
    pub(super) fn best_group(&self) -> Option<Choice> {
        let mut best: Option<Choice> = None;
        for (group, queue) in self.groups.iter().enumerate() {
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

    /// Sends the packets of a group that best match its gradient, as many as the neighbour has room
    /// for.
    #[inline(never)]
    pub(super) fn move_copies(&mut self, now: Time, choice: Choice) {
        let Choice { neighbour: index, group, set, zombies, .. } = choice;
        if zombies {
            let bytes = self.groups[group].take_zombies(now, set, ZOMBIE);
            return self.neighbours.change(index, |neighbour| {
                neighbour.push(now, Class::Normal, Cargo::Zombie(bytes as u32));
            });
        }
        let mut each = [0.0; MOST_MEMBERS];
        let (mut set, _) = self.sum(&self.neighbours[index], group, set, &mut each);
        let mut room = self.neighbours[index].room();
        while room > 0 && set != 0 {
            let packets = self.groups[group].packets();
            let Some((number, chosen)) = packets.suits(set, &each) else { break };
            let chosen = chosen | self.opportunities(index, group, number, chosen);
            let reduce = self.params.zombies;
            let queue = &mut self.groups[group];
            let Some((parcel, stays)) = queue.take(now, number, chosen, reduce) else { break };
            if stays {
                self.groups.on_copy();
            }
            let size = parcel.size;
            self.neighbours.change(index, |neighbour| {
                neighbour.push(now, Class::Normal, Cargo::Copies(parcel));
            });
            room = room.saturating_sub(size.into());
            let queued = self.groups[group].waiting();
            for to in members(chosen & set) {
                let gradient = self.difference(&self.neighbours[index], group, to).gradient();
                each[to] = gradient.unwrap_or(0.0);
                if gradient.is_none() || queued >> to & 1 == 0 {
                    set &= !(1 << to);
                }
            }
        }
    }

    /// Further destinations that a packet may be sent to by this neighbour: their gradient is
    /// larger by no other.
    fn opportunities(&self, index: usize, group: usize, number: u64, chosen: u64) -> u64 {
        let rest = self.groups[group].packets().destinations(number) & !chosen;
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
}
