//! Forwarding to one destination: choice of the queue and the neighbour.

use super::Forwarding;
use crate::overlay::link::Neighbour;
use crate::overlay::members::bits;
use crate::overlay::message::{Cargo, Class, Parcel};
use crate::overlay::queue::{Bin, SEARCH, ZOMBIE};
use crate::overlay::routing::Slope;
use sojourn_base::units::Time;

/// A queue that may go to a neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    neighbour: usize,
    to: usize,
    /// Whether it is latency-sensitive traffic.
    pub class: Class,
    /// The packet's place in its queue; none for a zombie.
    place: Option<usize>,
    /// In bytes.
    pub gradient: f64,
}

impl Forwarding {
    /// The queue and neighbour with the largest gradient; latency-sensitive packets first, then
    /// their zombies, which may also go where no packet can arrive in time.
    pub(super) fn best(&self, now: Time) -> Option<Candidate> {
        self.neighbours.open().next()?;
        let timed = || {
            let packet =
                |neighbour: &Neighbour, to: usize| self.in_time(now, neighbour, to).map(Some);
            let zombie =
                |_: &Neighbour, to: usize| self.bins[to].has_zombies(Class::Timed).then_some(None);
            let packet = self.best_of(Class::Timed, packet);
            packet.or_else(|| self.best_of(Class::Timed, zombie))
        };
        let normal = |_: &Neighbour, to: usize| {
            let first = self.bins[to].packets(Class::Normal).next();
            Some(first.map(|_| 0))
        };
        let first = if self.timed { timed() } else { None };
        first.or_else(|| self.best_of(Class::Normal, normal))
    }

    /// The largest gradient of those to which `place` has something to send: which packet, or a zombie.
    fn best_of(
        &self,
        class: Class,
        place: impl Fn(&Neighbour, usize) -> Option<Option<usize>>,
    ) -> Option<Candidate> {
        let mut best: Option<Candidate> = None;
        let here = self.map.hops(self.me);
        let waiting = self.bins.waiting(class) & !(1 << self.me);
        for (index, neighbour) in self.neighbours.open() {
            let there = self.map.hops(neighbour.member);
            for to in bits(waiting) {
                let slope = Slope {
                    arrives: neighbour.member == to,
                    hops: [here[to], there[to]],
                    depths: [self.bins.last_shown(to), neighbour.depths(to)]
                        .map(|depths| depths[class as usize]),
                };
                let Some(gradient) = slope.gradient() else { continue };
                // Ties are broken by the first queue, then the first neighbour.
                let worse = |best: Candidate| {
                    gradient < best.gradient || gradient == best.gradient && to >= best.to
                };
                if best.is_some_and(worse) {
                    continue;
                }
                let Some(place) = place(neighbour, to) else { continue };
                best = Some(Candidate { neighbour: index, to, class, place, gradient });
            }
        }
        best
    }

    /// The gradient of a class: for latency-sensitive traffic from the depths of that traffic
    /// alone.
    fn gradient(&self, neighbour: &Neighbour, to: usize, class: Class) -> Option<f64> {
        let mine = self.bins.last_shown(to)[class as usize];
        let theirs = neighbour.depths(to)[class as usize];
        let members = [self.me, neighbour.member, to];
        Slope::new(&self.map, members, [mine, theirs]).gradient()
    }

    /// The largest gradient of a queue, in bytes; 0 if there is none.
    pub(super) fn best_gradient(&self, to: usize) -> f64 {
        let working = self.neighbours.iter().filter(|neighbour| neighbour.works());
        working
            .filter_map(|neighbour| self.gradient(neighbour, to, Class::Normal))
            .fold(0.0, f64::max)
    }

    /// The latency-sensitive packet of a queue that may go to a neighbour.
    fn in_time(&self, now: Time, neighbour: &Neighbour, to: usize) -> Option<usize> {
        let packets = self.bins[to].packets(Class::Timed);
        let (mut searched, most) = (0, SEARCH + neighbour.room());
        for (place, parcel) in packets.enumerate() {
            let been = parcel.seen >> neighbour.member & 1 == 1;
            let takes = if been { None } else { self.takes(neighbour, to, parcel.seen) };
            if takes.is_some_and(|takes| parcel.due.is_none_or(|due| now + takes <= due)) {
                return Some(place);
            }
            searched += u64::from(parcel.size);
            if searched > most {
                break;
            }
        }
        None
    }

    pub(super) fn move_packets(&mut self, now: Time, best: Candidate) {
        let Candidate { neighbour, to, class, place, .. } = best;
        let (me, zombies, neighbours) = (self.me, self.params.zombies, &mut self.neighbours);
        let pass = |bin: &mut Bin, neighbour: &mut Neighbour| {
            let mut room = neighbour.room();
            let mut place = place;
            loop {
                let size = match place.and_then(|place| bin.take(now, class, place, zombies)) {
                    Some(parcel) => {
                        let (seen, size) = (parcel.seen | 1 << me, parcel.size);
                        neighbour.push(now, class, Cargo::Parcel(Parcel { seen, ..parcel }));
                        u64::from(size)
                    }
                    None => {
                        let bytes = bin.take_zombie(now, class, ZOMBIE);
                        neighbour.push(now, Class::Normal, Cargo::Zombie(bytes as u32));
                        bytes.max(1)
                    }
                };
                room = room.saturating_sub(size);
                let more = class == Class::Normal && place.is_some() && room > 0;
                if !more || bin.packets(class).next().is_none() {
                    break;
                }
                place = Some(0);
            }
        };
        self.bins.change(to, |bin| neighbours.change(neighbour, |neighbour| pass(bin, neighbour)));
    }
}
