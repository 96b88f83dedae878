//! A medium that two stations share.

use std::collections::VecDeque;

use sojourn_base::packet::{Backlog, Packet, Route};
use sojourn_base::units::{Span, Time};
use sojourn_net::edge::Medium;
use sojourn_net::net::{Arrivals, Builder, Network};
use sojourn_net::record::LinkCounters;

use super::{drive, ms, packet};

/// A packet is on the air for a millisecond. Stations take turns.
#[derive(Default)]
struct Air {
    waiting: [VecDeque<Packet>; 2],
    /// Until when, from whom.
    on_air: Option<(Time, usize)>,
    counters: [LinkCounters; 2],
    /// Added to the channel that a packet is said to have come over.
    off_by: usize,
}

impl Air {
    /// The next station begins to send, the other one first if both want to.
    fn transmit(&mut self, now: Time, other: usize) {
        let wants = |station: &usize| !self.waiting[*station].is_empty();
        let station = [other, 1 - other].into_iter().find(wants);
        self.on_air = station.map(|station| (now + Span::from_millis(1), station));
    }
}

impl Medium for Air {
    fn offer(&mut self, now: Time, channel: usize, packet: Packet) {
        self.counters[channel].offered_packets += 1;
        self.counters[channel].offered_bytes += u64::from(packet.size);
        self.waiting[channel].push_back(packet);
        if self.on_air.is_none() {
            self.transmit(now, channel);
        }
    }

    fn poll(&mut self, now: Time) -> Option<(usize, Packet)> {
        let (_, station) = self.on_air.filter(|(until, _)| *until <= now)?;
        let packet = self.waiting[station].pop_front()?;
        self.counters[station].arrived_packets += 1;
        self.counters[station].arrived_bytes += u64::from(packet.size);
        self.transmit(now, 1 - station);
        Some((station + self.off_by, packet))
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.on_air.map(|(until, _)| until)
    }

    fn report(&mut self, _now: Time, channel: usize) -> LinkCounters {
        self.counters[channel]
    }

    fn held(&self, channel: usize) -> Backlog {
        let mut held = Backlog::default();
        self.waiting[channel].iter().for_each(|packet| held.add(packet));
        held
    }
}

/// Two stations send to one another over this medium; their routes.
fn stations(air: Air) -> (Network, [Route; 2]) {
    let mut net = Builder::new();
    let [one, two] = ["one", "two"].map(|name| Some(net.plain_node(name)));
    let air = net.medium(Box::new(air));
    let there = net.channel("there", [one, two], air).unwrap();
    let back = net.channel("back", [two, one], air).unwrap();
    let routes = [there, back].map(|channel| net.route(&[channel]).unwrap());
    (net.build(), routes)
}

#[test]
fn one_station_sends_at_a_time() {
    let (mut net, [there, back]) = stations(Air::default());
    (0..10).for_each(|index| net.inject(&packet(there, index)));
    (10..15).for_each(|index| net.inject(&packet(back, index)));
    let arrivals = drive(&mut net, ms(20));
    let seen: Vec<_> = arrivals.iter().map(|(time, packet)| (*time, packet.index)).collect();
    // Turns until one has nothing left; never two packets within a millisecond.
    let order = [0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 6, 7, 8, 9];
    assert!(seen.into_iter().eq((1..).map(ms).zip(order)));
    assert_eq!([net.report(0), net.report(1)].map(|c| c.arrived_packets), [10, 5]);
}

#[test]
fn a_medium_that_loses_packets_is_named() {
    let (mut net, [there, _]) = stations(Air { off_by: 1, ..Air::default() });
    net.inject(&packet(there, 0));
    net.advance(ms(5), &mut Arrivals::default()).unwrap();
    // Packets that entered on one channel left on the other, although the medium's own counters
    // show them on neither.
    net.check().unwrap();
    let (mut net, [_, back]) = stations(Air { off_by: 1, ..Air::default() });
    net.inject(&packet(back, 0));
    let fault = net.advance(ms(5), &mut Arrivals::default()).unwrap_err();
    assert!(fault.to_string().contains("not from channel 2"), "{fault}");
}
