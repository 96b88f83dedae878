//! Transmission times of packets where the rate is not one fixed number.

use super::bucket::TokenBucket;
use super::outage::Outages;
use super::schedule::Schedule;
use super::trace::Trace;
use crate::units::{Rate, Span, Time};

/// Later than the end of any run, but not [`Time::NEVER`], which means an idle transmitter.
const TOO_LATE: Time = Time::from_nanos(u64::MAX - 1);

/// The pace of a transmitter: a rate, scheduled or fixed, or a trace, limited by a token bucket and
/// interrupted by outages.
#[derive(Debug)]
pub struct Pace {
    model: RateModel,
    bucket: Option<TokenBucket>,
    pauses: Option<Outages>,
    /// End of the run: later times need not be distinguished.
    horizon: Time,
}

/// Model of the rate while nothing interrupts it.
#[derive(Debug)]
pub enum RateModel {
    /// No serialisation time.
    Immediate,
    /// A fixed rate.
    Fixed(Rate),
    /// A rate that changes.
    Scheduled(Schedule<Rate>),
    /// Delivery opportunities.
    Trace(Trace),
}

impl Pace {
    /// A pace that starts at time zero.
    pub fn new(
        model: RateModel,
        bucket: Option<TokenBucket>,
        pauses: Option<Outages>,
        horizon: Time,
    ) -> Self {
        Pace { model, bucket, pauses, horizon }
    }

    /// End of the transmission of a packet of `length` framed bytes that may begin at `now`.
    /// `carry` keeps the work, in bit-nanoseconds, that rounding down to whole nanoseconds leaves.
    pub fn end(&mut self, now: Time, length: u32, carry: &mut u64) -> Time {
        let now = self.bucket.as_mut().map_or(now, |bucket| bucket.departure(now, length));
        if let RateModel::Trace(trace) = &mut self.model {
            return trace.delivered(now, length, self.horizon).min(TOO_LATE);
        }
        let mut work = u64::from(length) * 8 * 1_000_000_000 + *carry;
        let mut time = self.resume(now);
        while time <= self.horizon {
            let (rate, until) = self.segment(time);
            let Some(rate) = rate else { return time };
            let needed = work / rate.as_bps();
            if needed <= until.since(time).as_nanos() {
                *carry = work % rate.as_bps();
                return time + Span::from_nanos(needed);
            }
            work -= rate.as_bps() * until.since(time).as_nanos();
            time = self.resume(until);
        }
        TOO_LATE
    }

    /// The rate at `time`, and until when it holds.
    fn segment(&mut self, time: Time) -> (Option<Rate>, Time) {
        let (rate, change) = match &mut self.model {
            RateModel::Immediate | RateModel::Trace(_) => (None, Time::NEVER),
            RateModel::Fixed(rate) => (Some(*rate), Time::NEVER),
            RateModel::Scheduled(schedule) => (Some(schedule.at(time)), schedule.next_change()),
        };
        let pause = self.pauses.as_ref().map_or(Time::NEVER, |pauses| pauses.next(time));
        (rate, change.min(pause))
    }

    /// The first time from `time` on that is outside every outage.
    fn resume(&self, mut time: Time) -> Time {
        while time <= self.horizon
            && let Some(end) = self.pauses.as_ref().and_then(|pauses| pauses.end(time))
        {
            time = end;
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::link::outage::{OutageEffect, OutageSpec};
    use crate::edge::link::schedule::{ScheduleSpec, Step};
    use crate::quantity::Percent;
    use crate::rng::StreamKey;

    const HORIZON: Time = Time::from_nanos(100_000_000_000);

    fn scheduled(spec: &ScheduleSpec<Rate>, pauses: Option<Outages>) -> Pace {
        let schedule = Schedule::new(spec, Rate::from_bps(1), StreamKey::root(2));
        Pace::new(RateModel::Scheduled(schedule), None, pauses, HORIZON)
    }

    fn step(ms: u64, bps: u64) -> Step<Rate> {
        Step { at: Span::from_millis(ms), value: Rate::from_bps(bps) }
    }

    #[test]
    fn a_backlog_gets_the_integral_of_the_rate_to_the_byte() {
        let steps = vec![step(0, 7_000_000), step(13, 1_234_567), step(40, 99_999_999)];
        let repeat = Some(Span::from_millis(55));
        let mut pace = scheduled(&ScheduleSpec::Steps { steps, repeat }, None);
        let per_round = 7_000_000 * 13 + 1_234_567 * 27 + 99_999_999 * 15; // bits x 1000
        let (mut now, mut carry, mut sent) = (Time::ZERO, 0, 0u64);
        for index in 0..50_000u64 {
            let length = 40 + (index * 977 % 1461) as u32;
            now = pace.end(now, length, &mut carry);
            sent += u64::from(length) * 8;
            let ms = now.as_nanos() / 1_000_000;
            let (round, into) = (ms / 55, now.as_nanos() - ms / 55 * 55_000_000);
            let area = |from: u64, to: u64, bps: u64| {
                u128::from(into.clamp(from * 1_000_000, to * 1_000_000) - from * 1_000_000)
                    * u128::from(bps)
            };
            let done = area(0, 13, 7_000_000) + area(13, 40, 1_234_567) + area(40, 55, 99_999_999);
            let capacity = u128::from(round * per_round) * 1_000_000 + done;
            let work = u128::from(sent) * 1_000_000_000;
            assert_eq!(work, capacity + u128::from(carry), "packet {index}");
        }
    }

    #[test]
    fn a_backlog_follows_a_walk_to_the_byte() {
        let mbps = |m: u64| Rate::from_bps(m * 1_000_000);
        let walk = ScheduleSpec::Walk {
            start: mbps(10),
            step: mbps(1),
            interval: Span::from_millis(7),
            correlation: Percent::new(50.0),
            least: mbps(2),
            most: mbps(20),
        };
        let mut rates = Schedule::new(&walk, Rate::from_bps(1), StreamKey::root(2));
        let mut pace = scheduled(&walk, None);
        let (mut now, mut carry) = (Time::ZERO, 0);
        // Bits times 1e9: sent, and offered by the walk until `since`.
        let (mut sent, mut offered, mut since) = (0u128, 0u128, Time::ZERO);
        for index in 0..50_000u64 {
            let length = 40 + (index * 977 % 1461) as u32;
            now = pace.end(now, length, &mut carry);
            sent += u128::from(length) * 8_000_000_000;
            while since < now {
                let step = Span::from_millis(7 * (since.as_nanos() / 7_000_000 + 1));
                let until = now.min(Time::ZERO + step);
                let bps = u128::from(rates.at(since).as_bps());
                offered += bps * u128::from(until.since(since).as_nanos());
                since = until;
            }
            assert_eq!(sent, offered + u128::from(carry), "packet {index}");
        }
    }

    #[test]
    fn pauses_stretch_what_they_interrupt() {
        let pause = OutageSpec {
            start: Span::from_millis(5),
            duration: Span::from_millis(7),
            every: Some(Span::from_millis(20)),
            effect: OutageEffect::Pause,
            two_way: false,
        };
        let pauses = Outages::with(&[pause], OutageEffect::Pause);
        let mut pace =
            Pace::new(RateModel::Fixed(Rate::from_bps(8_000_000)), None, pauses, HORIZON);
        let (mut now, mut carry) = (Time::ZERO, 0);
        let ends: Vec<_> = (0..24)
            .map(|_| {
                now = pace.end(now, 1500, &mut carry);
                now.as_nanos() as f64 / 1e6
            })
            .collect();
        // 5 ms of work before the first pause at 5, 13 between 12 and 25, then from 32 on.
        assert_eq!(ends[..5], [1.5, 3.0, 4.5, 13.0, 14.5]);
        assert_eq!(ends[11..14], [25.0, 33.5, 35.0]);
        // The third pause, from 45 to 52.
        assert_eq!(ends[19..22], [44.0, 52.5, 54.0]);
    }

    #[test]
    fn a_packet_that_cannot_be_sent_within_the_run_is_too_late() {
        let mut pace = Pace::new(RateModel::Fixed(Rate::from_bps(1)), None, None, HORIZON);
        assert!(pace.end(Time::ZERO, 1500, &mut 0) > HORIZON);
        let square = ScheduleSpec::Square {
            high: Rate::from_bps(2),
            low: Rate::from_bps(1),
            period: Span::from_millis(1),
            duty: crate::quantity::Percent::new(50.0),
        };
        assert_eq!(scheduled(&square, None).end(Time::ZERO, 1500, &mut 0), TOO_LATE);
    }
}
