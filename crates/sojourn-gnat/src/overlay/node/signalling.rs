//! Signalling of queues and links to other nodes when it is due, and the related timers.

use super::{Overlay, Place};
use crate::overlay::queue::RELIEF_INTERVAL;
use sojourn_base::units::Time;

impl Overlay {
    /// Sends the messages that are due now.
    pub(super) fn signal(&mut self, now: Time) {
        if self.advertising.is_due(now, self.forwarding.reached().working()) {
            self.advertise(now);
        }
        while let Some((flow, priority)) = self.priorities.due(now) {
            self.set_priority(flow, priority);
        }
        if now >= self.relieve_at {
            self.relieve_at = now + RELIEF_INTERVAL;
            self.show_depths();
            self.forwarding.relieve(now);
        }
        if self.forwarding.reached().tells(now) {
            self.forwarding.tell_depths(now);
        }
    }

    fn set_priority(&mut self, flow: u32, priority: f64) {
        let place = self.places[flow as usize];
        if let Some(watched) = self.watched.iter().position(|watched| *watched == place) {
            self.supervision.set_priority(watched, priority);
        }
        match place {
            Place::UdpIn(flow) => self.udp.set_priority(flow, priority),
            Place::Tcp(flow) => self.tcp.set_priority(flow, priority),
            _ => {}
        }
    }

    #[cold]
    fn advertise(&mut self, now: Time) {
        self.advertising.look(now, self.forwarding.reached().working());
        self.forwarding.map().forget(now);
        let links = self.forwarding.measured_links();
        if let Some(state) = self.advertising.say(now, self.me, links) {
            self.forwarding.map().learn(now, &state);
            self.forwarding.flood(now, &state, None);
            self.forwarding.neighbours().change_all(|_, neighbour| neighbour.wake());
        }
    }
}
