//! Measurements and observable state of a connection.

use super::Connection;
use crate::payload::Payload;
use crate::stream::{Counts, Sender};
use sojourn_base::observe::Observer;
use sojourn_base::units::Span;

/// RTT samples so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttSum {
    /// Sum.
    pub sum: Span,
    /// Number of samples.
    pub count: u64,
    /// The latest.
    pub latest: Span,
    /// The least.
    pub least: Option<Span>,
}

impl<P: Payload> Connection<P> {
    /// The part of the measurements that is integrated over time.
    pub fn levels(&self) -> Levels {
        let lanes = &self.shared.lanes;
        Levels {
            srtt: self.shared.rtt.smoothed(),
            rtts: self.rtts,
            window: lanes.iter().map(|lane| lane.control.window()).sum(),
            threshold: lanes.first().and_then(|lane| lane.control.threshold()),
            in_flight: lanes.iter().map(|lane| lane.flight.bytes).sum::<i64>() as u64,
        }
    }

    /// The estimate of the capacity in bit/s, framing and headers included; none in an outage.
    pub fn capacity(&self) -> Option<f64> {
        self.outage.is_none().then(|| self.shared.capacity.estimate())
    }

    /// The connection's clock is this many microseconds, cut to 32 bits, ahead of the times that it is
    /// called with, and does not follow the peer's: both show one clock, such as UNIX time. To be
    /// called before it begins.
    pub fn show_clock(&mut self, ahead: u32) {
        self.shared.clock.show(ahead);
    }

    /// By how many microseconds the peer's clock is ahead of this one's where both show one clock
    /// ([`Connection::show_clock`]), right to half the difference of the two directions' least delays;
    /// none before packets have passed both ways.
    pub fn clock_difference(&self) -> Option<i64> {
        self.delays.clocks.ahead()
    }

    /// Messages that were written and are neither acknowledged nor given up.
    pub fn held(&self) -> impl Iterator<Item = &P> {
        self.streams.iter().flat_map(|stream| stream.sender.held())
    }

    /// The packets that the latest datagram acknowledged: of which stream, and how long each took from
    /// when it was written until it arrived.
    pub fn delivery_delays(&self) -> &[(u8, Span)] {
        &self.delivery_delays
    }

    /// The present measurements.
    pub fn measured(&self) -> Measured {
        let sum = |of: fn(&Sender<P>) -> u64| self.streams.iter().map(|s| of(&s.sender)).sum();
        let lanes = &self.shared.lanes;
        let Levels { srtt, rtts, window, threshold, in_flight } = self.levels();
        Measured {
            srtt,
            rtts,
            window,
            threshold,
            in_flight,
            send_rate: lanes.iter().map(|lane| lane.control.send_rate(srtt)).sum(),
            capacity: self.capacity(),
            error_rate: self.shared.per.rate,
            retransmissions: sum(|sender| sender.retransmissions),
            losses: sum(|sender| sender.losses),
            timeouts: self.timers.timeouts,
            outages: self.outages,
            first_control: lanes.first().map_or(0, |lane| lane.next),
            controlled: lanes.iter().map(|lane| lane.next).sum(),
            groups: self.groups_begun(),
        }
    }

    /// Groups begun on all streams: pure ARQ, coded ARQ, pure FEC.
    fn groups_begun(&self) -> [u64; 3] {
        let begun = self.streams.iter().map(|stream| stream.sender.groups_begun());
        begun.fold([0; 3], |sum, begun| [0, 1, 2].map(|i| sum[i] + begun[i]))
    }

    /// Packets received on a stream, for the efficiency of its error control.
    pub fn counts(&self, id: u8) -> Counts {
        self.stream(id).map_or_else(Default::default, |stream| stream.receiver.counts)
    }

    /// Reports the names and values of its observable state.
    pub fn observe(&self, out: &mut Observer<'_>) {
        let measured = self.measured();
        out("capacity", measured.capacity.unwrap_or(0.0).into());
        out("error_rate", measured.error_rate.into());
        out("outage", u32::from(self.outage.is_some()).into());
        for (name, lane) in self.names.iter().zip(&self.shared.lanes) {
            out(&format!("{name}.sent_packets"), (lane.next as f64).into());
            out(&format!("{name}.window"), (lane.control.window() as f64).into());
            out(&format!("{name}.in_flight"), (lane.flight.bytes as f64).into());
            lane.control.observe(&mut |key, value| out(&format!("{name}.{key}"), value));
        }
        for stream in &self.streams {
            if let Some(mode) = stream.sender.mode() {
                out("mode", mode.into());
                let names = ["groups_pure_arq", "groups_coded_arq", "groups_pure_fec"];
                for (name, groups) in names.into_iter().zip(stream.sender.groups_begun()) {
                    out(name, (groups as f64).into());
                }
            }
        }
    }
}

/// Measurements that change with every packet.
#[derive(Clone, Copy, Debug)]
pub struct Levels {
    /// Smoothed RTT.
    pub srtt: Span,
    /// RTT samples.
    pub rtts: RttSum,
    /// Windows of all controls together, in bytes.
    pub window: u64,
    /// Slow-start threshold of the first control in bytes.
    pub threshold: Option<u64>,
    /// Bytes outstanding.
    pub in_flight: u64,
}

/// Measurements of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Smoothed RTT.
    pub srtt: Span,
    /// RTT samples.
    pub rtts: RttSum,
    /// Windows of all controls together, in bytes.
    pub window: u64,
    /// Slow-start threshold of the first control in bytes.
    pub threshold: Option<u64>,
    /// Bytes outstanding.
    pub in_flight: u64,
    /// Sending rate of all controls together, in bit/s.
    pub send_rate: f64,
    /// The estimate of the capacity in bit/s, framing and headers included; none in an outage.
    pub capacity: Option<f64>,
    /// Share of packets lost on the path to the peer.
    pub error_rate: f64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Packets marked lost.
    pub losses: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Outages.
    pub outages: u64,
    /// New packets that the first control permitted.
    pub first_control: u64,
    /// New packets that any control permitted.
    pub controlled: u64,
    /// Groups of adaptive streams: pure ARQ, coded ARQ, pure FEC.
    pub groups: [u64; 3],
}
