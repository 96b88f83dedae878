//! Variation of a propagation delay: a schedule, jitter, packets held back, batches.
//!
//! - `delay_schedule`: the delay itself changes ([`Schedule`]).
//! - `jitter`: each packet's delay differs by a random amount, uniform in plus or minus `spread`, or
//!   normal with that standard deviation. The delay never falls below zero.
//! - `reorder`: packets are held back by `delay` with the given probability; those behind
//!   overtake them.
//! - `aggregation`: packets arrive in batches, at whole multiples of `interval` only, as over Wi-Fi
//!   or a cable modem's request-grant cycle. With `acks_per_flow`, only that many of the newest plain
//!   acknowledgments of one flow stay in a batch: ACK thinning. An acknowledgment that carries SACK
//!   blocks, another ECN echo, SYN or FIN is never removed.
//!
//! Order is kept (a packet arrives no sooner than the one before it) unless `jitter.reorder` is
//! set or a packet was held back. Keeping order makes the mean delay longer than the nominal one
//! when packets come closer together than the jitter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draw;
use super::schedule::Schedule;
use crate::error::FieldError;
use crate::packet::Packet;
use crate::quantity::Percent;
use crate::rng::StreamKey;
use crate::units::{Span, Time};

/// Jitter as a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JitterSpec {
    /// Half width, or standard deviation.
    pub spread: Span,
    /// Distribution of the differences.
    #[serde(default)]
    pub distribution: Distribution,
    /// Whether packets may overtake each other.
    #[serde(default)]
    pub reorder: bool,
}

/// Distribution of jitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Uniform within plus or minus the spread.
    #[default]
    Uniform,
    /// Normal with the spread as its standard deviation.
    Normal,
}

/// Reordering as a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderSpec {
    /// Share of packets held back.
    pub probability: Percent,
    /// Time for which they are held back.
    pub delay: Span,
}

/// Aggregation and ACK thinning as a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AggregationSpec {
    /// Time between batches.
    pub interval: Span,
    /// Number of plain acknowledgments of one flow that stay in a batch. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acks_per_flow: Option<u32>,
}

impl AggregationSpec {
    /// Checks the numbers.
    ///
    /// # Errors
    /// Names the key, relative to the aggregation.
    pub fn validate(&self) -> Result<(), FieldError> {
        if self.interval == Span::ZERO {
            return Err(FieldError::new("interval", "0 ms given; allowed: above 0 ms"));
        }
        match self.acks_per_flow {
            Some(0) => Err(FieldError::new("acks_per_flow", "0 given; allowed: 1 or more")),
            _ => Ok(()),
        }
    }
}

/// Arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time of the arrival.
    pub time: Time,
    /// For a plain acknowledgment to be thinned: number of them that stay in its batch.
    pub thin: Option<u32>,
}

/// All variations of one link's delay.
#[derive(Debug)]
pub struct Variation {
    /// The delay where no schedule gives it.
    pub delay: Span,
    /// Schedule of the delay.
    pub schedule: Option<Schedule<Span>>,
    /// Random differences.
    pub jitter: Option<JitterSpec>,
    /// Packets held back.
    pub reorder: Option<ReorderSpec>,
    /// Batches.
    pub aggregation: Option<AggregationSpec>,
    /// Names the link.
    pub key: StreamKey,
}

impl Variation {
    /// Whether a packet may arrive before another that entered before it.
    pub fn reorders(&self) -> bool {
        self.reorder.is_some() || self.jitter.is_some_and(|jitter| jitter.reorder)
    }

    /// Arrival of `packet`, which enters at `now`; `last` is the latest arrival so far.
    pub fn arrival(&mut self, now: Time, packet: &Packet, last: Time) -> Arrival {
        let delay = self.schedule.as_mut().map_or(self.delay, |schedule| schedule.at(now));
        let mut time = now + self.jittered(delay, packet);
        if !self.reorders() {
            time = time.max(last);
        }
        if let Some(ReorderSpec { probability, delay }) = self.reorder
            && draw::uniform(self.key.child("reorder"), packet) < probability.fraction()
        {
            time += delay;
        }
        let Some(AggregationSpec { interval, acks_per_flow }) = self.aggregation else {
            return Arrival { time, thin: None };
        };
        let batch = time.as_nanos().div_ceil(interval.as_nanos());
        let time = Time::from_nanos(batch.saturating_mul(interval.as_nanos()));
        Arrival { time, thin: acks_per_flow.filter(|_| packet.is_plain_ack()) }
    }

    fn jittered(&self, delay: Span, packet: &Packet) -> Span {
        let Some(JitterSpec { spread, distribution, .. }) = self.jitter else { return delay };
        let key = self.key.child("jitter");
        let share = match distribution {
            Distribution::Uniform => 2.0 * draw::uniform(key, packet) - 1.0,
            Distribution::Normal => draw::normal(key, packet),
        };
        let nanos = delay.as_nanos() as f64 + share * spread.as_nanos() as f64;
        Span::from_nanos(nanos.round().max(0.0) as u64)
    }
}
