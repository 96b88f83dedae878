//! A node's map of the network: advertised links, and the hops and delays of paths over them.
//!
//! Each node advertises its working links every second, and sooner when one fails or recovers or
//! its delay changes. Advertisements are flooded; one that is not renewed expires.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::overlay::members::bits;
use crate::overlay::message::{Delay, LinkState, is_later};
use sojourn_base::units::{Span, Time};

/// Time between a node's advertisements.
pub(super) const INTERVAL: Span = Span::from_secs(1);
/// Least time between them.
pub(super) const HOLD_DOWN: Span = Span::from_millis(500);
/// Number of intervals after which an advertisement that is not renewed expires.
const FORGOTTEN_AFTER: u64 = 5;

/// There is no path.
pub(super) const UNREACHABLE: u32 = u32::MAX;

/// Delays from each member from which there is a path.
type FromEach = Vec<Option<Delay>>;

/// Map of all links.
#[derive(Debug)]
pub(crate) struct Map {
    me: usize,
    states: Vec<Option<(Arc<LinkState>, Time)>>,
    /// Hops from each member to each member by paths that avoid this node.
    hops: Vec<Vec<u32>>,
    /// Delays to each member from each member by paths that avoid this node, computed on demand.
    delays: Vec<OnceCell<FromEach>>,
    /// The same to a member by paths that also avoid a set of members.
    avoiding: RefCell<BTreeMap<(usize, u64), FromEach>>,
}

impl Map {
    /// The map of a network of `members` members, kept at `me`.
    pub(crate) fn new(me: usize, members: usize) -> Self {
        let states = vec![None; members];
        let (hops, delays, avoiding) = Default::default();
        let mut map = Map { me, states, hops, delays, avoiding };
        map.find_ways();
        map
    }

    /// Processes an advertisement; returns whether it is new, and to be flooded.
    pub(crate) fn learn(&mut self, now: Time, state: &Arc<LinkState>) -> bool {
        let Some(known) = self.states.get_mut(usize::from(state.origin)) else { return false };
        if known.as_ref().is_some_and(|(old, _)| !is_later(state.number, old.number)) {
            return false;
        }
        let ends = |state: &LinkState| state.links.iter().map(|(to, _)| *to).collect::<Vec<_>>();
        let same = known.as_ref().is_some_and(|(old, _)| ends(old) == ends(state));
        *known = Some((state.clone(), now));
        if same {
            self.forget_delays();
        } else {
            self.find_ways();
        }
        true
    }

    /// Removes advertisements that were not renewed.
    pub(crate) fn forget(&mut self, now: Time) {
        let me = self.me;
        let old = |at: Time| now.since(at) > INTERVAL * FORGOTTEN_AFTER;
        let mut changed = false;
        for (member, known) in self.states.iter_mut().enumerate() {
            if member != me && known.as_ref().is_some_and(|(_, at)| old(*at)) {
                *known = None;
                changed = true;
            }
        }
        if changed {
            self.find_ways();
        }
    }

    /// Hops from one member to each by paths that avoid this node; [`UNREACHABLE`] if there is
    /// none: a packet sent to such a neighbour could only return.
    pub(crate) fn hops(&self, from: usize) -> &[u32] {
        &self.hops[from]
    }

    /// The delay from a neighbour to a member by the path with the smallest sufficient delay that
    /// avoids this node.
    pub(crate) fn delay(&self, from: usize, to: usize) -> Option<Delay> {
        self.delays[to].get_or_init(|| self.delays_to(to, 0))[from]
    }

    /// The same by paths that avoid these members as well, given as bits.
    pub(crate) fn delay_avoiding(&self, from: usize, to: usize, members: u64) -> Option<Delay> {
        let mut known = self.avoiding.borrow_mut();
        known.entry((to, members)).or_insert_with(|| self.delays_to(to, members))[from]
    }

    fn links(&self, from: usize) -> &[(u16, Delay)] {
        self.states[from].as_ref().map_or(&[], |(state, _)| &state.links)
    }

    /// A link counts if both ends advertise it.
    fn joined(&self, from: usize, to: usize) -> bool {
        self.links(to).iter().any(|(back, _)| usize::from(*back) == from)
    }

    fn find_ways(&mut self) {
        let members = self.states.len();
        self.hops = (0..members).map(|from| self.hops_from(from)).collect();
        self.forget_delays();
    }

    fn forget_delays(&mut self) {
        self.delays = vec![OnceCell::new(); self.states.len()];
        self.avoiding.get_mut().clear();
    }

    fn hops_from(&self, from: usize) -> Vec<u32> {
        let mut hops = vec![UNREACHABLE; self.states.len()];
        hops[from] = 0;
        let mut next = VecDeque::from([from]);
        while let Some(at) = next.pop_front() {
            if at == self.me && at != from {
                continue;
            }
            for (to, _) in self.links(at) {
                let to = usize::from(*to);
                if hops[to] == UNREACHABLE && self.joined(at, to) {
                    hops[to] = hops[at] + 1;
                    next.push_back(to);
                }
            }
        }
        hops
    }

    /// The delay of a link that both ends advertise.
    fn link(&self, from: usize, to: usize) -> Option<Delay> {
        let ends = |(end, _): &&(u16, Delay)| usize::from(*end) == to;
        self.links(from).iter().find(ends).map(|(_, delay)| *delay)
    }

    /// Dijkstra's algorithm backwards from a member, by sufficient delays, through neither this
    /// node nor `avoid`. It is the program's, and not always optimal: the sufficient delay of two
    /// links is less than the sum of theirs.
    fn delays_to(&self, to: usize, avoid: u64) -> FromEach {
        let enough = |delay: Option<Delay>| delay.map_or(f64::INFINITY, Delay::enough);
        let mut delays = vec![None; self.states.len()];
        delays[to] = Some(Delay::default());
        let mut left = !(avoid | 1 << self.me) | 1 << to;
        let nearest = |delays: &[Option<Delay>], left: u64| {
            let known = bits(left).take_while(|member| *member < delays.len());
            let known = known.filter(|member| delays[*member].is_some());
            known.min_by(|a, b| enough(delays[*a]).total_cmp(&enough(delays[*b])))
        };
        while let Some(at) = nearest(&delays, left) {
            left &= !(1 << at);
            for (from, _) in self.links(at) {
                let from = usize::from(*from);
                let way = delays[at].zip(self.link(from, at)).map(|(rest, link)| rest + link);
                if left >> from & 1 == 1 && enough(way) < enough(delays[from]) {
                    delays[from] = way;
                }
            }
        }
        delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(ms: u64) -> Delay {
        Delay { mean: ms as f64, variance: 0.0 }
    }

    fn state(origin: u16, number: u32, links: &[(u16, u64)]) -> Arc<LinkState> {
        let links = links.iter().map(|(to, ms)| (*to, steady(*ms))).collect();
        Arc::new(LinkState { origin, number, links })
    }

    /// 0 - 1 - 2 in a row, and a slow link from 0 to 2.
    fn row() -> Map {
        let mut map = Map::new(0, 3);
        assert!(map.learn(Time::ZERO, &state(0, 1, &[(1, 5), (2, 50)])));
        assert!(map.learn(Time::ZERO, &state(1, 1, &[(0, 5), (2, 5)])));
        assert!(map.learn(Time::ZERO, &state(2, 1, &[(1, 5), (0, 50)])));
        map
    }

    #[test]
    fn ways_are_found_and_do_not_come_back() {
        let map = row();
        assert_eq!((map.hops(0)[2], map.hops(1)[2]), (1, 1));
        assert_eq!(map.delay(1, 2), Some(steady(5)));
        assert_eq!(map.delay(2, 1), Some(steady(5)));
        assert_eq!(map.delay(2, 0), Some(steady(10)), "by 1");
        assert_eq!(map.delay(1, 0), Some(steady(5)));
    }

    #[test]
    fn the_way_with_less_spread_is_preferred() {
        let mut map = Map::new(0, 4);
        // From 1 to 3 by 2, or directly in less time on average.
        let link = |to, mean, variance| (to, Delay { mean, variance });
        let states = [
            (0, vec![link(1, 1.0, 0.0)]),
            (1, vec![link(0, 1.0, 0.0), link(2, 10.0, 9.0), link(3, 18.0, 100.0)]),
            (2, vec![link(1, 10.0, 9.0), link(3, 10.0, 16.0)]),
            (3, vec![link(2, 10.0, 16.0), link(1, 18.0, 100.0)]),
        ];
        for (origin, links) in states {
            assert!(map.learn(Time::ZERO, &Arc::new(LinkState { origin, number: 1, links })));
        }
        assert_eq!(map.delay(1, 3), Some(Delay { mean: 20.0, variance: 25.0 }));
        let direct = Delay { mean: 18.0, variance: 100.0 };
        assert_eq!(map.delay_avoiding(1, 3, 1 << 2), Some(direct), "not through 2");
    }

    #[test]
    fn ways_can_avoid_what_a_packet_has_come_through() {
        let mut map = Map::new(0, 4);
        // 0 - 1 - 2 - 3 in a row, and a slow link from 1 to 3.
        assert!(map.learn(Time::ZERO, &state(0, 1, &[(1, 5)])));
        assert!(map.learn(Time::ZERO, &state(1, 1, &[(0, 5), (2, 5), (3, 50)])));
        assert!(map.learn(Time::ZERO, &state(2, 1, &[(1, 5), (3, 5)])));
        assert!(map.learn(Time::ZERO, &state(3, 1, &[(2, 5), (1, 50)])));
        let ms = |ms| Some(steady(ms));
        assert_eq!(map.delay_avoiding(1, 3, 0), ms(10));
        assert_eq!(map.delay_avoiding(1, 3, 1 << 2), ms(50), "not through 2");
        assert_eq!(map.delay_avoiding(1, 3, 1 << 3), ms(10), "the destination does not count");
        assert_eq!(map.delay_avoiding(1, 3, 1 << 1), None, "back to 1");
        assert!(map.learn(Time::ZERO, &state(1, 2, &[(0, 5), (2, 5)])));
        assert_eq!(map.delay_avoiding(1, 3, 1 << 2), None, "what was found is forgotten");
    }

    #[test]
    fn a_link_that_one_end_does_not_see_is_none() {
        let mut map = row();
        assert!(map.learn(Time::ZERO, &state(2, 2, &[(0, 50)])));
        assert_eq!((map.hops(1)[2], map.hops(0)[2]), (UNREACHABLE, 1), "1 leads there only by us");
        assert_eq!(map.delay(1, 2), None, "only through here");
    }

    #[test]
    fn numbers_go_on_after_the_largest() {
        let mut map = Map::new(0, 3);
        assert!(map.learn(Time::ZERO, &state(1, u32::MAX, &[(2, 5)])));
        assert!(map.learn(Time::ZERO, &state(1, 0, &[(2, 5)])));
        assert!(!map.learn(Time::ZERO, &state(1, u32::MAX, &[])), "an echo of the flood");
    }

    #[test]
    fn old_advertisements_are_neither_taken_nor_kept() {
        let mut map = row();
        assert!(!map.learn(Time::ZERO, &state(1, 1, &[])), "an echo of the flood");
        let later = Time::ZERO + Span::from_secs(4);
        assert!(map.learn(later, &state(1, 2, &[(0, 5), (2, 5)])));
        map.forget(Time::ZERO + Span::from_secs(6));
        assert_eq!(map.hops(0)[1], 1);
        assert_eq!(map.hops(0)[2], UNREACHABLE, "2 has not been heard");
    }
}
