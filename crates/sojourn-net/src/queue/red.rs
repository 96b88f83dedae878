//! RED: drops or marks with a probability that grows with the average queue length.
//!
//! Model: Floyd and Jacobson 1993 as in Linux `net/sched/sch_red.c`, `include/net/red.h`. The
//! average moves by 2^-n of its distance to the queue's length in bytes at each arrival. Between
//! `min` and `max` packets are signalled with a probability that rises to `probability`, spaced
//! uniformly; above `max` all are. `gentle` (Floyd 2000; not in Linux) lets the probability rise
//! on to 1 at twice `max`. `adaptive` (Floyd, Gummadi, Shenker 2001) adjusts `probability` every
//! 500 ms, within 1 % and 50 %. With ECN, capable packets are marked, also above `max` unless
//! `hard_drop`.
//!
//! Defaults follow `tc red`: `max` is three times `min`, or a quarter of `limit`; `min` a third
//! of `max`; `burst` (2 min + max) / (3 average packets), from which the weight 2^-n follows;
//! probability 2 %; average packet 1000 B. `tc` demands a limit; its manual's example of 400 kB
//! is the default here. Bytes count the link's overhead, as in Linux.
//!
//! Deviations: `ecn` follows the flows instead of being off. Probabilities are real numbers
//! instead of 32-bit fractions. The average of an idle queue decays exactly as by one empty sample
//! per average packet's transmission time at the link's rate (10 Mbit/s if it has none), as the
//! paper says; Linux approximates that by bit shifts from a table that `tc` computes in units
//! of 64 ns and the kernel reads in microseconds.
//!
//! Observes: `average` (B: the average queue length), `drop_probability` (at this average) and
//! `max_probability` (that at `max`, which `adaptive` moves).

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::red::{Red as Law, RedAction, RedConfig, weight_log_for_burst};
use super::packet_list::{Framing, PacketList};
use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::quantity::{Bytes, Limit, Percent};
use crate::rng::Stream;
use crate::units::{Rate, Span, Time};

/// Parameters of RED.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Waiting bytes at which the tail is dropped; packets and bandwidth-delay products are
    /// converted with the full packet size.
    pub limit: Limit,
    /// Average below which nothing is signalled; default a third of `max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Bytes>,
    /// Average at which the probability is `probability`; default three times `min`, or a quarter
    /// of `limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
    /// Probability of a signal at `max`.
    pub probability: Percent,
    /// Packets of average size that may arrive at once and pass; default (2 min + max) / 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Average packet size.
    pub average_packet: Bytes,
    /// Let the probability rise from `probability` at `max` to 1 at twice `max`.
    pub gentle: bool,
    /// Adapt the probability so that the average stays between `min` and `max`.
    pub adaptive: bool,
    /// Mark ECN-capable packets instead of dropping; default: if the flows use ECN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Drop even ECN-capable packets when the average is beyond the range of probabilities.
    pub hard_drop: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            limit: Limit::Bytes(400_000),
            min: None,
            max: None,
            probability: Percent::new(2.0),
            burst: None,
            average_packet: Bytes(1000),
            gentle: false,
            adaptive: false,
            ecn: None,
            hard_drop: false,
        }
    }
}

impl Params {
    /// Thresholds of the average and burst, by the rules of `tc red`.
    fn thresholds(&self, limit: u64) -> (u64, u64, u64) {
        let max = match (self.max, self.min) {
            (Some(Bytes(max)), _) => max,
            (None, Some(Bytes(min))) => 3 * min,
            (None, None) => limit / 4,
        };
        let min = self.min.map_or(max / 3, |bytes| bytes.0);
        let burst = self.burst.map_or((2 * min + max) / (3 * self.average_packet.0), u64::from);
        (min, max, burst)
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.average_packet.0 == 0 {
            return Err(FieldError::new("average_packet", "0 B given; allowed: above 0 B"));
        }
        // A limit in packets or bandwidth-delay products is not known in bytes yet.
        let limit = if let Limit::Bytes(bytes) = self.limit { bytes } else { u64::MAX };
        let (min, max, burst) = self.thresholds(limit);
        if (self.min.is_some() || self.max.is_some()) && (min >= max || max > limit) {
            let allowed = "allowed: min below max, max not above limit";
            return Err(FieldError::new("max", format!("min {min} B, max {max} B; {allowed}")));
        }
        if self.burst.is_some() && weight_log_for_burst(min, burst, self.average_packet.0).is_none()
        {
            let least = min / self.average_packet.0;
            let message = format!("is {burst}; allowed: at least min / average_packet = {least}");
            return Err(FieldError::new("burst", message));
        }
        Ok(())
    }
}

/// A RED queue.
#[derive(Debug)]
pub struct Red {
    packets: PacketList,
    law: Law,
    config: RedConfig,
    limit: u64,
    ecn: bool,
    hard_drop: bool,
    /// Time since which a dequeue has found nothing.
    idle_since: Option<Time>,
    next_adaptation: Option<Time>,
    random: Stream,
}

/// Time between adaptations.
const ADAPTATION: Span = Span::from_millis(500);

impl Registered for Red {
    type Params = Params;

    fn new(params: Params, init: &QueueInit) -> Self {
        let framing = Framing::new(init);
        let limit = framing.limit_in_bytes(params.limit, init);
        let (min, max, burst) = params.thresholds(limit);
        let rate = init.rate.unwrap_or(Rate::from_bps(10_000_000));
        let config = RedConfig {
            min: min as f64,
            max: max.max(min + 1) as f64,
            max_p: params.probability.fraction(),
            weight_log: weight_log_for_burst(min, burst, params.average_packet.0).unwrap_or(1),
            gentle: params.gentle,
            packet_time: rate.span_of(params.average_packet.0),
        };
        Red {
            packets: PacketList::new(framing),
            law: Law::new(&config),
            config,
            limit,
            ecn: params.ecn.unwrap_or(init.ecn),
            hard_drop: params.hard_drop,
            idle_since: Some(Time::ZERO),
            next_adaptation: params.adaptive.then_some(Time::ZERO + ADAPTATION),
            random: init.random.stream(),
        }
    }
}

impl Red {
    fn uniform(random: &mut Stream) -> f64 {
        (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl QueueDiscipline for Red {
    fn enqueue(&mut self, now: Time, mut packet: Packet, cx: &mut QueueContext<'_>) {
        let backlog = self.packets.framed_bytes();
        match self.idle_since.take() {
            Some(since) => self.law.sample_after_idle(&self.config, now.since(since)),
            None => self.law.sample(&self.config, backlog),
        }
        let action = self.law.decide(&self.config, || Self::uniform(&mut self.random));
        let may_mark = self.ecn && !(action == RedAction::Forced && self.hard_drop);
        if action != RedAction::Pass && !(may_mark && cx.mark_ce(now, &mut packet)) {
            cx.drop(now, packet, DropReason::Aqm);
        } else if backlog + self.packets.framing.len(&packet) > self.limit {
            cx.drop(now, packet, DropReason::Overflow);
        } else {
            self.packets.push(packet);
        }
    }

    fn dequeue(&mut self, now: Time, _cx: &mut QueueContext<'_>) -> Option<Packet> {
        let packet = self.packets.pop();
        if packet.is_none() && self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    fn next_timer(&self) -> Option<Time> {
        self.next_adaptation
    }

    fn on_timer(&mut self, now: Time, _cx: &mut QueueContext<'_>) {
        if let Some(time) = &mut self.next_adaptation
            && now >= *time
        {
            *time += ADAPTATION;
            // What the average would be after the idle time so far (Linux does the same).
            let mut law = self.law;
            if let Some(since) = self.idle_since {
                law.sample_after_idle(&self.config, now.since(since));
            }
            self.law.adapt_to(&self.config, law.average(&self.config));
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        out("average", self.law.average(&self.config).into());
        out("drop_probability", self.law.probability(&self.config).into());
        out("max_probability", self.law.max_p().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::tests::{Bench, init};
    use crate::registry::Params as _;

    fn red(params: Params) -> Bench<Red> {
        Bench::new(Red::new(params, &init()))
    }

    /// Keeps about `waiting` packets in the queue while `count` packets pass.
    fn pass(bench: &mut Bench<Red>, waiting: u64, count: u32, ecn: Ecn) {
        for index in 0..count {
            bench.offer(0, index, 1500, ecn);
            while bench.queue.backlog().packets > waiting {
                bench.take();
            }
        }
    }

    #[test]
    fn defaults_are_those_of_tc() {
        let Bench { queue, .. } = red(Params::default());
        // limit / 4, a third of it, and 55 average packets in a burst.
        assert_eq!((queue.config.min, queue.config.max), (33_333.0, 100_000.0));
        assert_eq!(queue.config.weight_log, 5);
        assert_eq!(queue.limit, 400_000);
        let bdp = red(Params { limit: Limit::Bdp(1.0), ..Params::default() });
        // 10 Mbit/s x 40 ms = 50 kB in packets of 1514 bytes, rounded up.
        assert_eq!(bdp.queue.limit, 34 * 1514);
    }

    #[test]
    fn signals_by_the_average_not_by_the_queue() {
        let mut bench = red(Params::default());
        (0..40).for_each(|i| bench.offer(0, i, 1500, Ecn::NotEct));
        // 60 kB at once, yet the average is still below min.
        assert_eq!(bench.counters.drops, [0; DropReason::COUNT]);
        pass(&mut bench, 45, 20_000, Ecn::NotEct);
        let average = bench.queue.law.average(&bench.queue.config);
        assert!((average / (45.0 * 1514.0) - 1.0).abs() < 0.05, "{average}");
        let drops = bench.counters.drops[DropReason::Aqm as usize] as f64 / 20_040.0;
        let p = 0.02 * (45.0 * 1514.0 - 33_333.0) / 66_667.0;
        assert!((drops / (2.0 * p) - 1.0).abs() < 0.15, "{drops} for p = {p}");
    }

    #[test]
    fn above_max_everything_is_signalled() {
        for (ecn, hard_drop, marked) in
            [(Ecn::Ect0, false, true), (Ecn::Ect0, true, false), (Ecn::NotEct, false, false)]
        {
            let mut bench = red(Params { hard_drop, ..Params::default() });
            bench.queue.law = {
                let mut law = bench.queue.law;
                (0..1000).for_each(|_| law.sample(&bench.queue.config, 200_000));
                law
            };
            bench.queue.idle_since = None;
            (0..10).for_each(|i| bench.offer(0, i, 1500, ecn));
            let expected = if marked { (10, 0) } else { (0, 10) };
            let drops = bench.counters.drops[DropReason::Aqm as usize];
            assert_eq!((bench.counters.ce_marks, drops), expected);
        }
    }

    #[test]
    fn gentle_and_adaptive_change_what_is_signalled() {
        let at_one_and_a_half_max = |gentle| {
            let params = Params { gentle, limit: Limit::Bytes(400_000), ..Params::default() };
            let mut bench = red(params);
            // 150 kB wait: the average lies half way between max and twice max.
            bench.queue.config.weight_log = 1;
            pass(&mut bench, 99, 20_000, Ecn::Ect0);
            bench.counters.ce_marks as f64 / 20_000.0
        };
        assert!(at_one_and_a_half_max(false) > 0.99);
        let gentle = at_one_and_a_half_max(true);
        assert!((0.4..0.95).contains(&gentle), "{gentle}");
        for adaptive in [false, true] {
            let mut bench = red(Params { adaptive, ..Params::default() });
            pass(&mut bench, 60, 1_000, Ecn::Ect0);
            let before = bench.queue.law.max_p();
            bench.pause(Span::from_millis(1_000));
            assert_eq!(bench.queue.law.max_p() > 1.2 * before, adaptive);
        }
    }

    #[test]
    fn refuses_thresholds_that_contradict() {
        let min = Some(Bytes(90_000));
        assert!(Params { min, max: Some(Bytes(60_000)), ..Params::default() }.validate().is_err());
        assert!(Params { max: Some(Bytes(500_000)), ..Params::default() }.validate().is_err());
        assert!(Params { min, burst: Some(10), ..Params::default() }.validate().is_err());
        assert!(Params { min, burst: Some(150), ..Params::default() }.validate().is_ok());
    }
}
