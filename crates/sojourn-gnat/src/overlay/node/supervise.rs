//! Inputs of supervisory control, and the execution of its decisions.

use super::{Overlay, Place};
use crate::overlay::admission::{Seen, Standing};
use sojourn_base::units::Time;

impl Overlay {
    /// Does the work of supervisory control that is due now.
    pub(super) fn supervise(&mut self, now: Time) {
        if self.supervision.notes(now) {
            self.note(now);
        }
        if self.supervision.triages(now) {
            self.triage(now);
        }
    }

    #[cold]
    fn triage(&mut self, now: Time) {
        let (capacity, _) = self.forwarding.capacities();
        for order in self.supervision.decide(now, capacity) {
            if let Place::UdpIn(flow) = self.watched[order.flow] {
                self.udp.turn(now, flow, order.on);
            }
        }
    }

    #[cold]
    fn note(&mut self, now: Time) {
        self.supervision.note_queues();
        for (index, place) in self.watched.iter().enumerate() {
            let seen = match *place {
                Place::UdpIn(flow) => self.udp.seen(flow),
                Place::Tcp(flow) => Seen {
                    admitted: self.tcp.admitted(flow),
                    came_at: now,
                    standing: Standing::On,
                    toggles: 0,
                    nominal: 0.0,
                },
                _ => continue,
            };
            self.supervision.note(now, index, seen);
        }
    }

    /// Passes the depths of queues to supervisory control.
    pub(super) fn show_depths(&mut self) {
        if self.supervision.works() {
            for (to, bin) in self.forwarding.bins().iter().enumerate() {
                self.supervision.on_depth(to, bin.bytes() as f64);
            }
        }
    }
}
