//! Measurements of a path besides the RTT: packet error rate, one-way delay, capacity.

use super::clock::distance;
use super::wire::ReceivedCount;
use sojourn_base::units::{Span, Time};

/// Data packets received between two updates of the packet error rate, at least.
const PER_PACKETS: u32 = 200;
const PER_TIME: Span = Span::from_secs(2);
const DELAY_PERIOD: Span = Span::from_secs(10);
const DELAY_SAMPLES: u32 = 1_000;

/// The packet error rate toward the peer, from its counts of what it received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ErrorRate {
    /// Share of data packets that are lost.
    pub rate: f64,
    start: Option<(u32, u32, Time)>,
    last: u32,
}

impl ErrorRate {
    /// Processes the peer's count of received data packets at the arrival of a packet that was
    /// number `sent` of all sent; `None` if that number is no longer known.
    pub(crate) fn on_count(&mut self, now: Time, count: &ReceivedCount, sent: Option<u32>) {
        if self.start.is_some() && distance(count.received, self.last) <= 0 {
            return;
        }
        self.last = count.received;
        let Some(sent) = sent else { return };
        let restart = Some((sent, count.received, now + PER_TIME));
        let Some((sent_before, received_before, from)) = self.start else {
            self.start = restart;
            return;
        };
        let received = count.received.wrapping_sub(received_before);
        if received < PER_PACKETS || now < from {
            return;
        }
        let sent = sent.wrapping_sub(sent_before);
        if sent >= received {
            self.rate = f64::from(sent - received) / f64::from(sent);
        }
        self.start = restart;
    }

    /// Restarts the counts, as after an outage.
    pub(crate) fn restart(&mut self) {
        self.start = None;
    }
}

/// The delay from the peer: half the minimum RTT, and by how much a packet was slower than the
/// fastest one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OneWayDelay {
    current: Option<(f64, i64)>,
    count: u32,
    least: (i64, i64),
    end: Time,
    /// Of the same packets.
    pub clocks: ClockDifference,
}

impl OneWayDelay {
    /// A packet arrived with difference of clocks `local`, and its sender measured `remote` in the
    /// other direction, both in microseconds. Returns its one-way delay in seconds.
    #[inline(never)] // few connections have one-way delays
    pub(crate) fn on_packet(&mut self, now: Time, local: i64, remote: i64) -> f64 {
        if self.count == 0 {
            self.count = 1;
            self.least = (local, remote);
            self.end = now + DELAY_PERIOD;
            self.current.get_or_insert(((local + remote) as f64 * 1e-6, local));
        } else {
            self.count += 1;
            self.least = (self.least.0.min(local), self.least.1.min(remote));
            if self.count >= DELAY_SAMPLES && now >= self.end {
                let rtt = (self.least.0 + self.least.1).abs();
                self.current = Some((rtt as f64 * 1e-6, self.least.0));
                self.count = 0;
            }
        }
        let (rtt, least) = self.current.unwrap_or_default();
        rtt / 2.0 + (local - least).max(0) as f64 * 1e-6
    }
}

/// Difference of the two ends' clocks: half that of the least differences between arrival and
/// sending in either direction, in the present period and the one before. It is right to half the
/// difference of the least delays of the two directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockDifference {
    /// From the peer and to it, in microseconds: of this period, and of the last one.
    least: [[Option<i64>; 2]; 2],
    end: Time,
}

impl ClockDifference {
    /// A packet of the peer arrived with difference of clocks `local`; the peer measured `remote` in
    /// the other direction, if it tells that.
    #[inline(never)] // few clocks are shown
    pub(crate) fn on_packet(&mut self, now: Time, local: i64, remote: Option<i64>) {
        if now >= self.end {
            self.end = now + DELAY_PERIOD;
            self.least = [[None; 2], self.least[0]];
        }
        for (least, sample) in self.least[0].iter_mut().zip([Some(local), remote]) {
            *least = (*least).into_iter().chain(sample).min();
        }
    }

    /// By how many microseconds the peer's clock is ahead of this one, if that is known.
    pub(crate) fn ahead(&self) -> Option<i64> {
        let [from, to] = [0, 1].map(|way| self.least.iter().filter_map(|least| least[way]).min());
        Some((to? - from?) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_rate_is_the_share_that_did_not_arrive() {
        let mut per = ErrorRate::default();
        let mut feed = |ms: u64, received: u32, sent: u32| {
            let count = ReceivedCount { received, ..ReceivedCount::default() };
            per.on_count(Time::from_nanos(ms * 1_000_000), &count, Some(sent));
            per.rate
        };
        feed(0, 100, 100);
        assert_eq!(feed(1_999, 400, 500), 0.0, "too soon");
        assert_eq!(feed(2_000, 400, 500), 0.0, "a duplicate");
        assert_eq!(feed(2_001, 400 + 30, 500 + 40), 1.0 - 330.0 / 440.0);
    }

    #[test]
    fn clocks_differ_by_half_the_difference_of_the_least_delays() {
        let (mut clocks, at) = (ClockDifference::default(), |s| Time::ZERO + Span::from_secs(s));
        assert_eq!(clocks.ahead(), None);
        // The peer is 3 ms ahead, the delay 10 ms or, with a queue, more.
        for (local, remote) in [(12_000, None), (7_000, Some(18_000)), (9_000, Some(13_000))] {
            clocks.on_packet(at(0), local, remote);
        }
        assert_eq!(clocks.ahead(), Some(3_000));
        clocks.on_packet(at(10), 50_000, Some(60_000));
        assert_eq!(clocks.ahead(), Some(3_000), "what was found is not forgotten at once");
        clocks.on_packet(at(20), 5_000, Some(15_000));
        assert_eq!(clocks.ahead(), Some(5_000), "clocks drift");
    }

    #[test]
    fn a_delay_is_half_the_round_trip_and_the_queue() {
        let mut delay = OneWayDelay::default();
        let at = Time::ZERO;
        assert_eq!(delay.on_packet(at, 1_000 + 20_000, -1_000 + 20_000), 0.02);
        assert!((delay.on_packet(at, 1_000 + 25_000, 19_000) - 0.025).abs() < 1e-12);
    }
}
