//! PIE: drops or marks arriving packets with a probability set by a PI controller.
//!
//! Model: RFC 8033 and Linux `net/sched/sch_pie.c`, `include/net/pie.h`. Every `update` the
//! probability moves by alpha (delay - target) + beta (change of the delay), with gains that
//! shrink with the probability. Nothing is dropped during the first `burst` of queueing after an
//! idle phase, while the delay is below half the target and the probability below 20 %, or while
//! less than two full packets wait. ECN-capable packets are marked instead, as long as the
//! probability is at most `mark_below`. The law, shared with FQ-PIE, is in `queue/law/pie.rs`.
//!
//! | | `version = "linux-6"` (default) | `version = "linux-4"` (3.14 to 4.20) |
//! | --- | --- | --- |
//! | target, update, burst | 15 ms, 15 ms, 150 ms | 20 ms, 30 ms, 100 ms |
//! | queueing delay | sojourn time of the last packet that left | backlog / drain rate, measured over 10 kB |
//! | gains below 1 % and 10 % | / 8, / 2, and down to / 2048 below 0.0001 % | / 8, / 2 |
//! | decay while idle | 63/64 | 98/100, wrapping round above 1 % as its 32-bit arithmetic does |
//! | drops | spread out (RFC 8033, section 5.3) | independent |
//!
//! `rate_estimator = true` makes linux-6 estimate the delay from the drain rate, over 16 kB.
//! Common defaults are Linux's: alpha 2/16, beta 20/16, limit 1000 packets. As in Linux 6 the
//! probability can exceed 1 under a load that does not give way, and a certain signal (after
//! probabilities that add up to 8.5) that marks instead of dropping is followed by more of them,
//! until something is dropped or the probability is zero. Deviations: `ecn` follows the
//! flows instead of being off; the update timer is exact instead of counting jiffies, and starts
//! with the run instead of half a second after the discipline's creation. Byte mode is left out.
//!
//! Observes: `drop_probability` (at most 1), `queue_delay` (s, as the law estimates it) and
//! `burst_allowance` (s: what is left of the time without drops).

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::pie::{self, PieConfig};
use super::packet_list::{Framing, PacketList};
use super::{Backlog, DropReason, QueueContext, QueueDiscipline, QueueInit, Registered};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::Packet;
use crate::quantity::{Limit, Percent};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Version of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Version {
    /// Linux since 5.1.
    #[default]
    #[serde(rename = "linux-6")]
    Linux6,
    /// Linux 3.14 to 4.20.
    #[serde(rename = "linux-4")]
    Linux4,
}

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version of PIE: `linux-6` or `linux-4`.
    pub version: Version,
    /// Waiting packets, bytes or bandwidth-delay products at which the tail is dropped.
    pub limit: Limit,
    /// Reference queueing delay; default 15 ms (linux-4: 20 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Span>,
    /// Time between updates of the probability; default 15 ms (linux-4: 30 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Span>,
    /// Queueing time without drops after an idle phase; default 150 ms (linux-4: 100 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Span>,
    /// Integral gain in sixteenths of 1/s, up to 32.
    pub alpha: u32,
    /// Proportional gain in sixteenths of 1/s, up to 32.
    pub beta: u32,
    /// Estimate the delay from the drain rate; default: only linux-4 does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_estimator: Option<bool>,
    /// Mark ECN-capable packets instead of dropping; default: if the flows use ECN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Drop even ECN-capable packets when the probability is above this.
    pub mark_below: Percent,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            version: Version::Linux6,
            limit: Limit::Packets(1000),
            target: None,
            update: None,
            burst: None,
            alpha: 2,
            beta: 20,
            rate_estimator: None,
            ecn: None,
            mark_below: Percent::new(10.0),
        }
    }
}

/// Checks parameters that PIE and FQ-PIE share.
///
/// # Errors
/// Names the field that is out of range.
pub fn validate_gains(alpha: u32, beta: u32, update: Option<Span>) -> Result<(), FieldError> {
    for (field, gain) in [("alpha", alpha), ("beta", beta)] {
        if gain > 32 {
            return Err(FieldError::new(
                field,
                format!("is {gain}; allowed: 0 to 32 sixteenths of 1/s"),
            ));
        }
    }
    update.map_or(Ok(()), validate_update)
}

/// Checks the time between updates of a PI controller.
///
/// # Errors
/// If it is so short that a run would mostly process updates.
pub fn validate_update(update: Span) -> Result<(), FieldError> {
    if update < Span::from_micros(100) {
        return Err(FieldError::new("update", format!("is {update}; allowed: 0.1 ms and more")));
    }
    Ok(())
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.version == Version::Linux4 && self.rate_estimator == Some(false) {
            return Err(FieldError::new(
                "rate_estimator",
                "false given; allowed: true with version linux-4",
            ));
        }
        validate_gains(self.alpha, self.beta, self.update)
    }
}

impl Params {
    /// The time between updates and the law's constants.
    fn resolve(&self, mtu: u64) -> (Span, PieConfig) {
        let (era, target, update, burst) = match self.version {
            Version::Linux6 => (pie::LINUX_6, 15, 15, 150),
            Version::Linux4 => (pie::LINUX_4, 20, 30, 100),
        };
        let config = PieConfig {
            era,
            target: self.target.unwrap_or(Span::from_millis(target)),
            burst: self.burst.unwrap_or(Span::from_millis(burst)),
            alpha: u64::from(self.alpha),
            beta: u64::from(self.beta),
            rate_estimator: self.rate_estimator.unwrap_or(self.version == Version::Linux4),
            mtu,
        };
        (self.update.unwrap_or(Span::from_millis(update)), config)
    }
}

/// A PIE queue.
#[derive(Debug)]
pub struct Pie {
    packets: PacketList,
    law: pie::Pie,
    config: PieConfig,
    update: Span,
    next_update: Time,
    max_packets: u64,
    max_bytes: u64,
    ecn: bool,
    mark_below: f64,
    random: Stream,
}

impl Registered for Pie {
    type Params = Params;

    fn new(params: Params, init: &QueueInit) -> Self {
        let framing = Framing::new(init);
        let (update, config) = params.resolve(framing.mtu);
        let (max_packets, max_bytes) = init.limit(params.limit);
        Pie {
            packets: PacketList::new(framing),
            law: pie::Pie::new(&config),
            config,
            update,
            next_update: Time::ZERO + update,
            max_packets,
            max_bytes,
            ecn: params.ecn.unwrap_or(init.ecn),
            mark_below: params.mark_below.fraction(),
            random: init.random.stream(),
        }
    }
}

impl QueueDiscipline for Pie {
    fn enqueue(&mut self, now: Time, mut packet: Packet, cx: &mut QueueContext<'_>) {
        let backlog = self.packets.framed_bytes();
        let bytes = backlog + self.packets.framing.len(&packet);
        let reason = if self.packets.len() >= self.max_packets || bytes > self.max_bytes {
            DropReason::Overflow
        } else if self.law.drops_early(&self.config, backlog, || self.random.next_u64())
            && !(self.ecn
                && self.law.probability(&self.config) <= self.mark_below
                && cx.mark_ce(now, &mut packet))
        {
            DropReason::Aqm
        } else {
            return self.packets.push(packet);
        };
        self.law.on_drop();
        cx.drop(now, packet, reason);
    }

    fn dequeue(&mut self, now: Time, _cx: &mut QueueContext<'_>) -> Option<Packet> {
        let packet = self.packets.pop()?;
        let bytes = self.packets.framing.len(&packet);
        let backlog = self.packets.framed_bytes();
        self.law.on_dequeue(&self.config, now, packet.enqueued_at, bytes, backlog);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.next_update)
    }

    fn on_timer(&mut self, now: Time, _cx: &mut QueueContext<'_>) {
        if now >= self.next_update {
            self.law.update(&self.config, self.packets.framed_bytes());
            self.next_update += self.update;
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        out("drop_probability", self.law.probability(&self.config).min(1.0).into());
        out("queue_delay", self.law.delay().as_secs_f64().into());
        out("burst_allowance", self.law.burst_allowance().as_secs_f64().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::tests::{Bench, init};
    use crate::registry::Params as _;

    /// Offers `load` times the link's capacity of one kind of packet for some seconds; returns the
    /// mean sojourn time in the second half.
    fn run(bench: &mut Bench<Pie>, load: f64, ecn: Ecn, seconds: u64) -> f64 {
        let slot = init().rate.expect("a rate").span_of(1514);
        let (mut due, mut index, mut sum, mut count) = (0.0, 0, 0.0, 0u32);
        while bench.now < Time::ZERO + Span::from_secs(seconds) {
            due += load;
            while due >= 1.0 {
                due -= 1.0;
                index += 1;
                bench.offer(0, index, 1500, ecn);
            }
            if let Some(packet) = bench.take()
                && bench.now > Time::ZERO + Span::from_secs(seconds / 2)
            {
                sum += bench.now.since(packet.enqueued_at).as_millis_f64();
                count += 1;
            }
            bench.pause(slot);
        }
        sum / f64::from(count)
    }

    #[test]
    fn holds_its_target_under_a_load_that_does_not_respond() {
        for (version, target) in [(Version::Linux6, 15.0), (Version::Linux4, 20.0)] {
            let params = Params { version, ..Params::default() };
            let mut bench = Bench::new(Pie::new(params, &init()));
            let delay = run(&mut bench, 1.25, Ecn::NotEct, 60);
            assert!((delay / target - 1.0).abs() < 0.2, "{version:?}: {delay} ms");
        }
    }

    #[test]
    fn marks_only_while_the_probability_is_low() {
        let mut bench = Bench::new(Pie::new(Params::default(), &init()));
        run(&mut bench, 1.05, Ecn::Ect0, 10);
        assert!(bench.counters.ce_marks > 50, "{:?}", bench.counters);
        // The source ignores marks: the probability rises beyond 10 % and drops begin.
        assert!(bench.counters.drops[DropReason::Aqm as usize] > 50, "{:?}", bench.counters);
        let unmarked = Params { ecn: Some(false), ..Params::default() };
        let mut bench = Bench::new(Pie::new(unmarked, &init()));
        run(&mut bench, 1.05, Ecn::Ect0, 10);
        assert_eq!(bench.counters.ce_marks, 0);
    }

    #[test]
    fn marks_up_to_a_tenth_and_drops_beyond() {
        for version in [Version::Linux6, Version::Linux4] {
            let params = Params { version, ..Params::default() };
            let mut bench = Bench::new(Pie::new(params, &init()));
            let [marked, dropped] =
                bench.signalled_up_to(|queue| queue.law.probability(&queue.config));
            assert!((0.09..=0.1).contains(&marked), "{version:?}: marked at {marked}");
            assert!((0.1..0.12).contains(&dropped), "{version:?}: dropped at {dropped}");
        }
    }

    #[test]
    fn defaults_follow_the_version() {
        let (update, config) = Params::default().resolve(1514);
        assert_eq!((update, config.target), (Span::from_millis(15), Span::from_millis(15)));
        let old = Params { version: Version::Linux4, ..Params::default() };
        let (update, config) = old.resolve(1514);
        assert_eq!((update, config.target), (Span::from_millis(30), Span::from_millis(20)));
        assert_eq!((config.burst, config.rate_estimator), (Span::from_millis(100), true));
        assert!(Params { alpha: 33, ..Params::default() }.validate().is_err());
        assert!(Params { rate_estimator: Some(false), ..old }.validate().is_err());
    }
}
