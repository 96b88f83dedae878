//! Specification of a model.

use serde::{Deserialize, Serialize};

use serde_json::Value;
use sojourn_base::error::FieldError;
use sojourn_base::reading;
use sojourn_base::registry::named;

named! {
    /// Content of the queues besides packets.
    #[derive(Default)]
    Queues, "queues" {
        /// Nothing: basic backpressure.
        #[default]
        Backpressure = "backpressure",
        /// Zombies, sent when no destination with a gradient has packets (original ZLR).
        Zombies = "zombies",
        /// Zombies, sent when destinations without packets have the larger gradient (improved ZLR).
        ImprovedZombies = "improved-zombies",
        /// Virtual queues learnt by a stochastic dual gradient.
        DualGradient = "dual-gradient",
        /// The same, forwarded only while they are larger than `1 / mu` times the packets (IDG).
        ImprovedDualGradient = "improved-dual-gradient",
    }
}

named! {
    /// Information that neighbours have of each other's queues.
    #[derive(Default)]
    Signals, "signals" {
        /// The depth of each destination in each group.
        #[default]
        Each = "each",
        /// The sum of each destination's depths, and the sum of each group's.
        Totals = "totals",
    }
}

/// A link, in both directions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// One end.
    pub from: usize,
    /// The other.
    pub to: usize,
    /// Mbit/s from the beginning.
    pub rate: f64,
    /// Other rates, Mbit/s, each from a time in seconds.
    #[serde(default)]
    pub changes: Vec<(f64, f64)>,
}

/// A source with several receivers; its multicast group is its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// The source.
    pub from: usize,
    /// The receivers.
    pub to: Vec<usize>,
    /// Weight of its utility.
    #[serde(default = "one")]
    pub priority: f64,
    /// Largest rate at which it is admitted, Mbit/s.
    #[serde(default = "most")]
    pub ceiling: f64,
}

fn one() -> f64 {
    1.0
}

fn most() -> f64 {
    100.0
}

/// A model.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// Number of nodes; at most 32.
    pub nodes: usize,
    /// Links between them.
    pub links: Vec<LinkSpec>,
    /// Sources and their receivers.
    pub streams: Vec<StreamSpec>,
    /// Length in seconds.
    pub seconds: f64,
    /// Weighs utility against queues, in packets squared per second.
    pub k: f64,
    /// Content of the queues besides packets.
    pub queues: Queues,
    /// Information of neighbours.
    pub signals: Signals,
    /// Packets of a generation that are coded together; 0 without network coding.
    pub generation: usize,
    /// Bits of a packet.
    pub packet_bits: f64,
    /// Slots per second.
    pub slots: f64,
    /// Seconds between samples.
    pub sample: f64,
    /// Seeds the draws of coefficients.
    pub seed: u64,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            nodes: 2,
            links: Vec::new(),
            streams: Vec::new(),
            seconds: 40.0,
            k: 5_000.0,
            queues: Queues::default(),
            signals: Signals::default(),
            generation: 0,
            packet_bits: 10_000.0,
            slots: 1_200.0,
            sample: 0.1,
            seed: 42,
        }
    }
}

impl Model {
    /// Reads a model from JSON.
    ///
    /// # Errors
    /// The JSON is invalid: names the field and the reason.
    pub fn from_json(text: &str) -> Result<Self, FieldError> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| FieldError::new("", format!("not valid JSON: {error}")))?;
        reading::read(&value)
    }

    /// Checks what types cannot say.
    ///
    /// # Errors
    /// A field is out of range: names it, its value and the allowed values.
    pub fn check(&self) -> Result<(), FieldError> {
        let refuse = |field: String, message: String| Err(FieldError::new(field, message));
        if !(2..=32).contains(&self.nodes) {
            return refuse("nodes".into(), format!("{} given; allowed: 2 to 32", self.nodes));
        }
        if self.generation > 255 {
            return refuse(
                "generation".into(),
                format!("{} given; allowed: 0 to 255", self.generation),
            );
        }
        if self.generation > 0 && (self.queues, self.signals) != Default::default() {
            let message = format!(
                "{} given; allowed: 0, except with queues backpressure and signals each",
                self.generation
            );
            return refuse("generation".into(), message);
        }
        if self.signals == Signals::Totals && self.queues != Queues::Backpressure {
            return refuse(
                "signals".into(),
                "totals given; allowed with queues backpressure only".into(),
            );
        }
        let numbers = [
            ("seconds", self.seconds, 1e5),
            ("k", self.k, 1e12),
            ("packet_bits", self.packet_bits, 1e6),
            ("slots", self.slots, 1e6),
            ("sample", self.sample, self.seconds),
        ];
        for (field, value, top) in numbers {
            if !(value > 0.0 && value <= top) {
                return refuse(
                    field.into(),
                    format!("{value} given; allowed: above 0, up to {top}"),
                );
            }
        }
        self.check_links()?;
        self.check_streams()
    }

    fn check_links(&self) -> Result<(), FieldError> {
        for (index, link) in self.links.iter().enumerate() {
            let ends = link.from != link.to && link.from.max(link.to) < self.nodes;
            let rates = link.changes.iter().map(|(_, rate)| *rate).chain([link.rate]);
            if !ends || rates.into_iter().any(|rate| !(rate > 0.0 && rate <= 1e4)) {
                let message = format!(
                    "from and to must be two different nodes from 0 to {}, and every rate above 0, up \
                     to 1e4",
                    self.nodes - 1
                );
                return Err(FieldError::new(format!("links.{index}"), message));
            }
        }
        Ok(())
    }

    fn check_streams(&self) -> Result<(), FieldError> {
        for (index, stream) in self.streams.iter().enumerate() {
            let known = stream.to.iter().chain([&stream.from]).all(|node| *node < self.nodes);
            let positive = stream.priority > 0.0 && stream.ceiling > 0.0;
            if !known || stream.to.is_empty() || stream.to.contains(&stream.from) || !positive {
                let message = format!(
                    "from must be a node from 0 to {}, to one or more others, and priority and \
                     ceiling above 0",
                    self.nodes - 1
                );
                return Err(FieldError::new(format!("streams.{index}"), message));
            }
        }
        Ok(())
    }
}
