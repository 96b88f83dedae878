//! A link as a scenario describes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::bucket::BucketSpec;
use super::burst_loss::BurstLossSpec;
use super::ecn_fault::EcnFault;
use super::outage::OutageSpec;
use super::schedule::ScheduleSpec;
use super::trace::TraceSpec;
use super::variation::{AggregationSpec, JitterSpec, ReorderSpec};
use crate::edge::medium_spec::LinkMedium;
use crate::error::FieldError;
use crate::packet::headers;
use crate::quantity::{Bytes, Limit, Packets, Percent};
use crate::registry::Catalogue;
use crate::spec::limits::{FASTEST, LONGEST_DELAY, MOST_BYTES, MOST_PACKETS, refuse, require};
use crate::spec::{Queue, Spec};
use crate::units::{Rate, Span};

/// A link: transmitter, queue, propagation and impairments of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkSpec {
    /// Rate, counting IP packets plus `overhead`; without it, packets pass at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay of this direction.
    pub delay: Span,
    /// Queue discipline before the transmitter; a table without `kind` is a `fifo`. Default: `fifo`
    /// of `1 bdp` if there is a rate, else none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Spec<Queue>>,
    /// The shared medium that carries it in both directions: the `id` of an entry of `media`, or a
    /// table with `kind` and the keys of a medium of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<LinkMedium>,
    /// Size of a FIFO between the discipline and the transmitter, as devices have.
    pub device_queue: Packets,
    /// Random independent loss of any packet on leaving the link, after the queue.
    pub loss: Percent,
    /// The same loss in the other direction.
    pub reverse_loss: Percent,
    /// Bytes of framing counted on top of each IP packet.
    pub overhead: Bytes,
    /// Largest IP packet; without it, as large as the flows send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Bytes>,
    /// A token bucket above the rate: packets wait for tokens. Without `rate`, bursts pass at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaper: Option<BucketSpec>,
    /// A token bucket before the queue: packets that find no tokens are dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policer: Option<BucketSpec>,
    /// A rate that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_schedule: Option<ScheduleSpec<Rate>>,
    /// Delivery opportunities instead of a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// A propagation delay that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_schedule: Option<ScheduleSpec<Span>>,
    /// Random variation of the propagation delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterSpec>,
    /// Packets held back, so that others overtake them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderSpec>,
    /// Arrival in batches, and ACK thinning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<AggregationSpec>,
    /// A random loss that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_schedule: Option<ScheduleSpec<Percent>>,
    /// Loss in bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_loss: Option<BurstLossSpec>,
    /// Share of packets that arrive twice.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicate: Percent,
    /// Fault of the ECN field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_fault: Option<EcnFault>,
    /// Times at which the link carries nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<OutageSpec>,
}

fn is_zero(share: &Percent) -> bool {
    share.fraction() == 0.0
}

impl Default for LinkSpec {
    fn default() -> Self {
        LinkSpec {
            rate: None,
            delay: Span::ZERO,
            queue: None,
            medium: None,
            device_queue: Packets(0),
            loss: Percent::default(),
            reverse_loss: Percent::default(),
            overhead: Bytes(headers::ETHERNET.into()),
            mtu: None,
            shaper: None,
            policer: None,
            rate_schedule: None,
            trace: None,
            delay_schedule: None,
            jitter: None,
            reorder: None,
            aggregation: None,
            loss_schedule: None,
            burst_loss: None,
            duplicate: Percent::default(),
            ecn_fault: None,
            outages: Vec::new(),
        }
    }
}

impl LinkSpec {
    /// Fills in the default queue and the queue's parameters, and checks the keys of this link.
    ///
    /// # Errors
    /// Names the key, relative to the link.
    pub fn resolve(&mut self, catalogue: &Catalogue) -> Result<(), FieldError> {
        self.validate_models()?;
        if let Some(medium) = &mut self.medium {
            medium.resolve(catalogue).map_err(|e| e.within("medium"))?;
            self.validate_shared()?;
        }
        self.rate = self.rate.or_else(|| self.varying_rate());
        if self.queue.is_none() && self.nominal_rate().is_some() {
            let params = Map::from_iter([("limit".to_owned(), json!(Limit::Bdp(1.0)))]);
            self.queue = Some(Spec::new("fifo", params));
        }
        self.queue
            .as_mut()
            .map_or(Ok(()), |queue| queue.resolve(catalogue).map_err(|e| e.within("queue")))?;
        self.validate()
    }

    fn validate(&self) -> Result<(), FieldError> {
        let fast = self.rate.filter(|rate| rate.as_bps() > FASTEST.as_bps());
        fast.map_or(Ok(()), |rate| refuse("rate", rate, format!("at most {FASTEST}")))?;
        require(self.delay <= LONGEST_DELAY, "delay", self.delay, "at most 1 hour")?;
        require(self.overhead.0 <= 10_000, "overhead", self.overhead, "at most 10 kB")?;
        let mtu = self.mtu.unwrap_or(Bytes(1_500));
        require((68..=70_000).contains(&mtu.0), "mtu", mtu, "68 B to 70 kB")?;
        check_size("device_queue", Limit::Packets(self.device_queue.0))?;
        for (key, limit) in self.queue_sizes() {
            let field = format!("queue.{key}");
            if matches!(limit, Limit::Bdp(_)) && self.nominal_rate().is_none() {
                return refuse(&field, limit, "packets or bytes, since the link has no rate");
            }
            check_size(&field, limit)?;
        }
        Ok(())
    }

    /// Refuses keys that a shared medium decides, and a queue whose discipline it would choose.
    fn validate_shared(&self) -> Result<(), FieldError> {
        let given = [
            ("rate", self.rate.is_some()),
            ("rate_schedule", self.rate_schedule.is_some()),
            ("trace", self.trace.is_some()),
            ("shaper", self.shaper.is_some()),
            ("policer", self.policer.is_some()),
            ("device_queue", self.device_queue.0 > 0),
        ];
        if self.queue.as_ref().is_some_and(|queue| queue.kind.is_empty()) {
            let message = "kind is missing; which discipline is usual depends on the medium";
            return Err(FieldError::new("queue", message));
        }
        let Some((key, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
        let message = "given as well as medium, which decides when the link's packets are sent";
        Err(FieldError::new(key, message))
    }

    /// Whether packets take time to be sent.
    pub fn is_paced(&self) -> bool {
        self.nominal_rate().is_some() || self.medium.is_some()
    }

    /// The part of a link on a medium that applies after reception.
    #[must_use]
    pub fn beyond_medium(&self) -> LinkSpec {
        LinkSpec { medium: None, queue: None, ..self.clone() }
    }

    /// Checks schedules, buckets, outages and batches.
    fn validate_models(&self) -> Result<(), FieldError> {
        fn each<T>(
            key: &str,
            given: Option<&T>,
            validate: impl Fn(&T) -> Result<(), FieldError>,
        ) -> Result<(), FieldError> {
            given.map_or(Ok(()), |given| validate(given).map_err(|e| e.within(key)))
        }
        each("shaper", self.shaper.as_ref(), BucketSpec::validate)?;
        each("policer", self.policer.as_ref(), BucketSpec::validate)?;
        each("rate_schedule", self.rate_schedule.as_ref(), ScheduleSpec::validate)?;
        each("trace", self.trace.as_ref(), TraceSpec::validate)?;
        each("delay_schedule", self.delay_schedule.as_ref(), ScheduleSpec::validate)?;
        each("loss_schedule", self.loss_schedule.as_ref(), ScheduleSpec::validate)?;
        each("aggregation", self.aggregation.as_ref(), AggregationSpec::validate)?;
        for (index, outage) in self.outages.iter().enumerate() {
            each(&format!("outages.{index}"), Some(outage), OutageSpec::validate)?;
        }
        if self.trace.is_some() && self.rate_schedule.is_some() {
            return Err(FieldError::new("trace", "given as well as rate_schedule; give one"));
        }
        Ok(())
    }

    /// A single representative rate: the mean of a trace or square wave, the first of a schedule.
    fn varying_rate(&self) -> Option<Rate> {
        let full = self.mtu.map_or(1_500, |mtu| mtu.0) + self.overhead.0;
        let trace = self.trace.as_ref().map(|trace| trace.mean_rate(full));
        trace.or_else(|| self.rate_schedule.as_ref()?.nominal())
    }

    /// The long-run rate limit: the link's or its shaper's.
    pub fn nominal_rate(&self) -> Option<Rate> {
        let bps = |rate: Rate| rate.as_bps();
        let shaper = self.shaper.map(|shaper| shaper.rate);
        self.rate.into_iter().chain(shaper).min_by_key(|rate| bps(*rate))
    }

    /// Adds the `two_way` outages of each direction to the other one.
    pub fn share_outages(there: &mut LinkSpec, back: &mut LinkSpec) {
        let shared = |link: &LinkSpec| {
            link.outages.iter().filter(|outage| outage.two_way).copied().collect::<Vec<_>>()
        };
        let (of_there, of_back) = (shared(there), shared(back));
        back.outages.extend(of_there);
        there.outages.extend(of_back);
    }

    /// The queue's parameters that are sizes; those in products of bandwidth and delay limit the
    /// waiting packets.
    pub fn queue_sizes(&self) -> impl Iterator<Item = (&str, Limit)> {
        let params = self.queue.iter().flat_map(|queue| &queue.params);
        params.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?.parse().ok()?)))
    }

    /// The opposite direction of a link that is equal in both.
    #[must_use]
    pub fn reversed(&self) -> LinkSpec {
        let mut outages = self.outages.clone();
        outages.retain(|outage| outage.two_way);
        LinkSpec {
            loss: self.reverse_loss,
            reverse_loss: Percent::default(),
            outages,
            ..self.clone()
        }
    }

    /// Whether packets pass without delay or change, so that no link is needed.
    pub fn is_transparent(&self) -> bool {
        let framing = LinkSpec {
            overhead: self.overhead,
            mtu: self.mtu,
            reverse_loss: self.reverse_loss,
            ..LinkSpec::default()
        };
        *self == framing
    }
}

fn check_size(field: &str, limit: Limit) -> Result<(), FieldError> {
    let fits = match limit {
        Limit::Packets(packets) => packets <= MOST_PACKETS,
        Limit::Bytes(bytes) => bytes <= MOST_BYTES,
        Limit::Bdp(_) => true,
    };
    let most = format!("at most {MOST_PACKETS} packets or {}", Bytes(MOST_BYTES));
    require(fits, field, limit, &most)
}
