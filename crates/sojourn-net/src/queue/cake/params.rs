//! Parameters of Cake.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::cobalt::check_rtt;
use super::super::cobalt::law::{FOUR_STEPS, NEAREST, Roots};
use crate::error::{FieldError, quoted};
use crate::quantity::{Bytes, Limit};
use crate::spec::Stack;
use crate::units::{Rate, Span};

/// Parameters of Cake; names and defaults as `tc-cake(8)` where it has them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Rate of the shaper, such as "10 Mbit/s", or "unlimited". By default the link's rate; the
    /// link then adds no serialisation time of its own.
    pub bandwidth: Option<Bandwidth>,
    /// Flows or hosts that are isolated from each other.
    pub isolation: Isolation,
    /// Round-trip time that COBALT is tuned for.
    pub rtt: Span,
    /// Bytes added to each IP packet. By default `raw`: what the link counts (14 B, as a Linux
    /// qdisc on Ethernet).
    pub overhead: Option<Bytes>,
    /// Smallest size on the wire, after overhead.
    pub mpu: Bytes,
    /// Link-layer framing for which the shaper compensates.
    pub framing: Framing,
    /// Buffer memory; packets and bandwidth-delay products are converted with the memory of a full
    /// packet. By default four intervals at the rate, at least 4 MiB.
    pub memory: Option<Limit>,
    /// Whether Cake shapes traffic that has already passed the bottleneck: drops then count as
    /// sent, and the target grows with the number of bulk flows.
    pub ingress: bool,
    /// SCE marking: "off", "sce" (ramp certain at target), "sce-single" (for a single queue), or
    /// "sce-thresh N" with N in 1 to 1024.
    pub sce: Sce,
    /// Which description of the SCE ramp to follow.
    pub ramp: RampText,
    /// Version of the table of roots: `linux-6`, or `linux-5.1` for all until 6.11. With SCE always
    /// the latter.
    pub version: Stack,
}

impl Params {
    /// COBALT's table of roots.
    pub(super) fn roots(&self) -> &'static Roots {
        let old = matches!(self.version, Stack::Linux49 | Stack::Linux51);
        if old || self.sce != Sce::Off { &FOUR_STEPS } else { &NEAREST }
    }
}

impl Default for Params {
    fn default() -> Self {
        Params {
            bandwidth: None,
            isolation: Isolation::TripleIsolate,
            rtt: Span::from_millis(100),
            overhead: None,
            mpu: Bytes(0),
            framing: Framing::None,
            memory: None,
            ingress: false,
            sce: Sce::Off,
            ramp: RampText::Code,
            version: Stack::Linux6,
        }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        let too_large = |field: &str, Bytes(given): Bytes| {
            Err(FieldError::new(field, format!("{} is outside 0 B to 256 B", Bytes(given))))
        };
        match (self.overhead, self.mpu) {
            (Some(overhead), _) if overhead > Bytes(256) => too_large("overhead", overhead),
            (_, mpu) if mpu > Bytes(256) => too_large("mpu", mpu),
            _ => check_rtt(self.rtt),
        }
    }
}

/// Isolation modes, as the keywords of `tc-cake(8)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Nothing: one queue.
    Flowblind,
    /// A queue per source host.
    Srchost,
    /// A queue per destination host.
    Dsthost,
    /// A queue per pair of hosts.
    Hosts,
    /// A queue per flow.
    Flows,
    /// A queue per flow, and fairness between source hosts above it.
    DualSrchost,
    /// A queue per flow, and fairness between destination hosts above it.
    DualDsthost,
    /// A queue per flow, and fairness between source and between destination hosts.
    TripleIsolate,
}

/// Link-layer framing, as the keywords of `tc-cake(8)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// None.
    None,
    /// ATM cells: 53 bytes for each 48 or part of them.
    Atm,
    /// PTM of VDSL2: one byte for each 64 or part of them.
    Ptm,
}

/// Which description of the SCE ramp to follow where they contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RampText {
    /// The code of July 2019 (chromi/sce at 56915a82).
    Code,
    /// The text of draft-heist-tsvwg-sce-one-and-two-flow-tests-00.
    Draft,
}

/// The shaper's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Bandwidth {
    /// No shaping: packets depart as the link takes them.
    Unlimited,
    /// Shaped to this rate.
    Limited(Rate),
}

/// SCE marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Sce {
    /// None.
    Off,
    /// `sce-thresh N`; 1 is plain `sce`.
    Threshold(u16),
    /// `sce-single`, for a queue shared with flows that do not respond to SCE.
    Single,
}

impl FromStr for Bandwidth {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "unlimited" => Ok(Bandwidth::Unlimited),
            _ => text
                .parse()
                .map(Bandwidth::Limited)
                .map_err(|why| format!("'{}': {why}, or \"unlimited\"", quoted(text))),
        }
    }
}

impl FromStr for Sce {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let threshold = |text: &str| text.strip_prefix("sce-thresh ")?.trim().parse().ok();
        match text {
            "off" => Ok(Sce::Off),
            "sce" => Ok(Sce::Threshold(1)),
            "sce-single" => Ok(Sce::Single),
            _ => match threshold(text) {
                Some(n @ 1..=1024) => Ok(Sce::Threshold(n)),
                _ => Err(format!(
                    "'{}': allowed: \"off\", \"sce\", \"sce-single\", \"sce-thresh N\" with N in 1 \
                     to 1024",
                    quoted(text)
                )),
            },
        }
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bandwidth::Unlimited => f.write_str("unlimited"),
            Bandwidth::Limited(rate) => rate.fmt(f),
        }
    }
}

impl fmt::Display for Sce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sce::Off => f.write_str("off"),
            Sce::Threshold(1) => f.write_str("sce"),
            Sce::Threshold(n) => write!(f, "sce-thresh {n}"),
            Sce::Single => f.write_str("sce-single"),
        }
    }
}

macro_rules! as_string {
    ($($type:ty),*) => {$(
        impl TryFrom<String> for $type {
            type Error = String;
            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }
    )*};
}

as_string!(Bandwidth, Sce);
