//! A link as a scenario describes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::limits::{FASTEST, LONGEST_DELAY, MOST_BYTES, MOST_PACKETS, refuse, require};
use super::spec::{Queue, Spec};
use crate::error::FieldError;
use crate::quantity::{Bytes, Limit, Packets, Percent};
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
    /// Queue discipline before the transmitter. Default: `fifo` of `1 bdp` if there is a rate,
    /// else none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Spec<Queue>>,
    /// A FIFO between the discipline and the transmitter, as devices have.
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
}

impl Default for LinkSpec {
    fn default() -> Self {
        LinkSpec {
            rate: None,
            delay: Span::ZERO,
            queue: None,
            device_queue: Packets(0),
            loss: Percent::default(),
            reverse_loss: Percent::default(),
            overhead: Bytes(14),
            mtu: None,
        }
    }
}

impl LinkSpec {
    /// Fills in the default queue and the queue's parameters, and checks what one link can say.
    ///
    /// # Errors
    /// Names the key, relative to the link.
    pub fn resolve(&mut self) -> Result<(), FieldError> {
        if self.queue.is_none() && self.rate.is_some() {
            let params = Map::from_iter([("limit".to_owned(), json!(Limit::Bdp(1.0)))]);
            self.queue = Some(Spec::new("fifo", params));
        }
        self.queue
            .as_mut()
            .map_or(Ok(()), |queue| queue.resolve().map_err(|e| e.within("queue")))?;
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
        for (key, limit) in self.queue_limits() {
            let field = format!("queue.{key}");
            if matches!(limit, Limit::Bdp(_)) && self.rate.is_none() {
                return refuse(&field, limit, "packets or bytes, since the link has no rate");
            }
            check_size(&field, limit)?;
        }
        Ok(())
    }

    /// The queue's parameters that are sizes.
    pub fn queue_limits(&self) -> impl Iterator<Item = (&str, Limit)> {
        let params = self.queue.iter().flat_map(|queue| &queue.params);
        params.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?.parse().ok()?)))
    }

    /// The other direction of a link that is alike both ways.
    #[must_use]
    pub fn reversed(&self) -> LinkSpec {
        LinkSpec { loss: self.reverse_loss, reverse_loss: Percent::default(), ..self.clone() }
    }

    /// Whether a packet that passes is neither delayed nor changed, so that no link is needed.
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
