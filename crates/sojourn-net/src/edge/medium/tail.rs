//! Effects of links on a medium after reception, and the recording of their packets.

use crate::edge::{Departure, Link, Medium};
use crate::packet::{Backlog, Packet};
use crate::record::LinkCounters;
use crate::record::histogram::Histogram;
use crate::record::live::Tap;
use crate::units::Time;

/// A medium whose channels end in links, which apply delay, losses and other impairments.
pub struct Tail {
    medium: Box<dyn Medium>,
    /// For each channel, the link after reception: one without transmitter.
    links: Vec<Option<Link>>,
    taps: Vec<Option<Tap>>,
}

impl Tail {
    /// Adds to each channel of a medium the link after reception and the recorder of its packets.
    pub fn new(medium: Box<dyn Medium>, links: Vec<Option<Link>>, taps: Vec<Option<Tap>>) -> Self {
        Tail { medium, links, taps }
    }

    fn deliver(&self, now: Time, channel: usize, packet: &Packet) {
        if let Some(tap) = &self.taps[channel] {
            tap.deliver(now, packet);
        }
    }
}

impl Medium for Tail {
    fn offer(&mut self, now: Time, channel: usize, packet: Packet) {
        if let Some(tap) = &self.taps[channel] {
            tap.enqueue(now, &packet);
        }
        self.medium.offer(now, channel, packet);
    }

    fn poll(&mut self, now: Time) -> Option<(usize, Packet)> {
        while let Some((channel, packet)) = self.medium.poll(now) {
            match &mut self.links[channel] {
                Some(link) => link.offer(now, &packet),
                None => {
                    self.deliver(now, channel, &packet);
                    return Some((channel, packet));
                }
            }
        }
        let beyond = self.links.iter_mut().enumerate();
        let (channel, packet) = beyond
            .filter_map(|(channel, link)| Some((channel, link.as_mut()?)))
            .find_map(|(channel, link)| Some((channel, link.poll(now)?)))?;
        self.deliver(now, channel, &packet);
        Some((channel, packet))
    }

    fn departure(&mut self) -> Option<Departure> {
        self.medium.departure()
    }

    fn next_wakeup(&self) -> Option<Time> {
        let links = self.links.iter().flatten().filter_map(Link::next_wakeup);
        links.chain(self.medium.next_wakeup()).min()
    }

    fn report(&mut self, now: Time, channel: usize) -> LinkCounters {
        let counters = self.medium.report(now, channel);
        let Some(link) = &mut self.links[channel] else { return counters };
        let beyond = link.report(now);
        LinkCounters {
            arrived_packets: beyond.arrived_packets,
            arrived_bytes: beyond.arrived_bytes,
            drops_loss: counters.drops_loss + beyond.drops_loss,
            lost_bytes: counters.lost_bytes + beyond.lost_bytes,
            duplicated_packets: beyond.duplicated_packets,
            duplicated_bytes: beyond.duplicated_bytes,
            thinned_packets: beyond.thinned_packets,
            thinned_bytes: beyond.thinned_bytes,
            ..counters
        }
    }

    fn held(&self, channel: usize) -> Backlog {
        let mut held = self.medium.held(channel);
        if let Some(link) = &self.links[channel] {
            let beyond = link.held();
            held.packets += beyond.packets;
            held.bytes += beyond.bytes;
        }
        held
    }

    fn sojourn_histogram(&self, channel: usize) -> Option<&Histogram> {
        self.medium.sojourn_histogram(channel)
    }

    fn end_warmup(&mut self, now: Time) {
        self.medium.end_warmup(now);
    }
}
