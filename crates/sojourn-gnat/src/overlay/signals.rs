//! What nodes tell each other of their queues and links, and the timers of that.

use std::sync::Arc;

use super::bin::Class;
use super::cargo::Cargo;
use super::delays::Delay;
use super::links::{HOLD_DOWN, INTERVAL, LinkState};
use super::neighbours::bits;
use super::starvation;
use super::{Overlay, Place};
use sojourn_base::units::{Span, Time};

/// Timers of a node.
#[derive(Debug)]
pub struct Signals {
    advertise_at: Time,
    advertised_at: Time,
    number: u32,
    /// Which neighbours worked when links were advertised last, as bits.
    worked: Option<u64>,
    relieve_at: Time,
    /// Priorities that are to change, the next last: when, of which flow, to what.
    priorities: Vec<(Time, u32, f64)>,
}

impl Default for Signals {
    fn default() -> Self {
        let never = Time::NEVER;
        Signals {
            advertise_at: never,
            advertised_at: Time::ZERO,
            number: 0,
            worked: None,
            relieve_at: never,
            priorities: vec![],
        }
    }
}

impl Signals {
    /// Begins.
    pub fn start(&mut self, now: Time) {
        self.advertise_at = now + Span::from_millis(1);
        self.relieve_at = now + starvation::INTERVAL;
    }

    /// A flow's priority is to change.
    pub fn plan(&mut self, at: Time, flow: u32, priority: f64) {
        self.priorities.push((at, flow, priority));
        self.priorities.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    }

    /// Whether these are the neighbours that were advertised last, as bits.
    pub fn knows(&self, working: u64) -> bool {
        self.worked == Some(working)
    }

    /// Links are to be advertised anew as soon as that is allowed; at first at once.
    pub fn hasten(&mut self, now: Time) {
        let soon = (self.advertised_at + HOLD_DOWN).max(now);
        let at = if self.number == 0 { now } else { soon };
        self.advertise_at = self.advertise_at.min(at);
    }

    /// When something is due.
    pub fn next(&self) -> Time {
        let priority = self.priorities.last().map_or(Time::NEVER, |(at, ..)| *at);
        self.advertise_at.min(self.relieve_at).min(priority)
    }
}

impl Overlay {
    /// Does what is due now.
    pub(super) fn signal(&mut self, now: Time) {
        self.advertise(now);
        while let Some((_, flow, priority)) = self.signals.priorities.pop_if(|(at, ..)| *at <= now)
        {
            let place = self.places[flow as usize];
            self.supervision.set_priority(place, priority);
            match place {
                Place::UdpIn(flow) => self.udp.set_priority(flow, priority),
                Place::Tcp(flow) => self.tcp.set_priority(flow, priority),
                _ => {}
            }
        }
        if now >= self.signals.relieve_at {
            self.signals.relieve_at = now + starvation::INTERVAL;
            self.show_depths();
            if self.params.anti_starvation {
                self.relieve(now);
            }
        }
        if self.neighbours.tells(now) {
            self.tell(now);
        }
    }

    fn advertise(&mut self, now: Time) {
        let works = Some(self.neighbours.working());
        if works != self.signals.worked {
            self.signals.hasten(now);
        }
        if now >= self.signals.advertise_at {
            self.advertise_now(now);
        }
    }

    #[cold]
    fn advertise_now(&mut self, now: Time) {
        self.signals.worked = Some(self.neighbours.working());
        self.signals.advertise_at = now + INTERVAL;
        self.map.forget(now);
        self.neighbours.change_all(|_, neighbour| neighbour.adopt_delay());
        let links = self.links();
        // Before there is any link, there is nothing to say, nor to wait after it.
        if links.is_empty() && self.signals.number == 0 {
            return;
        }
        self.signals.advertised_at = now;
        self.signals.number += 1;
        let state = LinkState { origin: self.me as u16, number: self.signals.number, links };
        let state = Arc::new(state);
        self.map.learn(now, &state);
        self.flood(now, &state, None);
        self.neighbours.change_all(|_, neighbour| neighbour.wake());
    }

    /// The links that work and have been measured.
    fn links(&self) -> Vec<(u16, Delay)> {
        let working = self.neighbours.iter().filter(|neighbour| neighbour.works());
        let measured = working.filter_map(|neighbour| Some((neighbour.member, neighbour.delay()?)));
        measured.map(|(member, delay)| (member as u16, delay.advertised())).collect()
    }

    /// Sends an advertisement to all neighbours but the one that it came from.
    pub(super) fn flood(&mut self, now: Time, state: &Arc<LinkState>, except: Option<usize>) {
        self.neighbours.change_all(|index, neighbour| {
            if Some(index) != except && neighbour.works() {
                neighbour.advertise(now, Cargo::LinkState(state.clone()));
                neighbour.wake();
            }
        });
    }

    #[cold]
    fn tell(&mut self, now: Time) {
        let depths = self.bins.show(now);
        let groups = Arc::new(self.multicast.shown(now));
        self.neighbours.change_all(|_, neighbour| {
            if neighbour.wants_depths(now) {
                neighbour.tell(now, depths.clone(), groups.clone());
            }
        });
    }

    /// Relieves queues that starve: what each one's gradient lacks to be the largest.
    #[cold]
    fn relieve(&mut self, now: Time) {
        let waiting = self.bins.waiting(Class::Normal) | self.bins.waiting(Class::Timed);
        if waiting == 0 && self.multicast.packets() == 0 {
            return;
        }
        let gradients: Vec<f64> = (0..self.bins.len()).map(|to| self.best_gradient(to)).collect();
        let largest = gradients.iter().copied().fold(self.steepest_group(), f64::max);
        let working = self.neighbours.iter().filter(|neighbour| neighbour.works());
        let capacity = working.map(|neighbour| neighbour.capacity()).fold(0.0, f64::max);
        for to in bits(waiting).filter(|to| gradients[*to] < largest) {
            let lacks = largest - gradients[to] + 1.0;
            self.bins.change(to, |bin| bin.relieve(now, capacity, lacks));
        }
        self.relieve_groups(now, capacity, largest);
    }
}
