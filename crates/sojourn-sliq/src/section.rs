//! SLIQ's section of the scenario: the parameters of a flow's stream of messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stream::{Reliability, StreamConfig, Target};
use super::wire::MAX_DATAGRAM;
use sojourn_base::error::FieldError;
use sojourn_base::quantity::Packets;
use sojourn_base::registry::{Entry, NoParams};
use sojourn_base::units::Span;
use sojourn_sim::section::{self, Section, Sections};
use sojourn_sim::spec::own::{Keys, Place};
use sojourn_sim::spec::{FlowSpec, Transport};

/// SLIQ's largest data header.
const DATA_HEADER: usize = 30;
/// Bytes by which a coded packet is longer than its longest source packet, at most.
const CODED: usize = 5;

/// Keys of a flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlowKeys {
    /// Parameters of a SLIQ flow's stream of messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamSpec>,
}

impl Keys for FlowKeys {
    const PLACES: &'static [Place] = &[("stream", Some("rtt"))];
}

/// SLIQ's section.
enum Streams {}

/// The section.
pub(crate) fn section() -> Entry<Sections> {
    section::entry::<Streams>("stream")
}

impl Section for Streams {
    type OfScenario = NoParams;
    type OfFlow = FlowKeys;

    fn check_flow(
        own: &FlowKeys,
        flow: &FlowSpec,
        transport: &Entry<Transport>,
    ) -> Result<(), FieldError> {
        if transport.facts.stream {
            return check(flow.mss, &own.stream.clone().unwrap_or_default()).map(drop);
        }
        if own.stream.is_none() {
            return Ok(());
        }
        let message = format!("given with transport {}, which has none", transport.listing.name);
        Err(FieldError::new("stream", message))
    }
}

/// Reliability of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReliabilityMode {
    /// Retransmits until everything has arrived.
    #[default]
    Reliable,
    /// Does not retransmit.
    BestEffort,
    /// Retransmits a packet up to `retransmissions` times.
    SemiReliable,
    /// Retransmits, codes, or both, against a deadline.
    Adaptive,
}

/// A stream of messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StreamSpec {
    /// Reliability: `reliable`, `best-effort`, `semi-reliable` or `adaptive`.
    pub reliability: ReliabilityMode,
    /// Retransmissions of a packet in semi-reliable and adaptive streams.
    pub retransmissions: u8,
    /// Time from writing to delivery, in adaptive streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// Rounds of sending instead of a deadline, in adaptive streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u8>,
    /// Share of messages to be delivered in time, in adaptive streams.
    pub probability: f64,
    /// 0 (highest) to 7.
    pub priority: u8,
    /// Whether messages are delivered in order. Default: if the stream is reliable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordered: Option<bool>,
    /// Messages that wait in the stream before the application writes more.
    pub queue: Packets,
    /// Whether the largest RTT, which decides if there is time for another round, is the median of
    /// the largest in the last five intervals instead of the largest in two.
    pub reject_outliers: bool,
    /// Whether the receiving end sends as well, without end.
    pub both_ways: bool,
}

impl Default for StreamSpec {
    fn default() -> Self {
        StreamSpec {
            reliability: ReliabilityMode::Reliable,
            retransmissions: 2,
            deadline: None,
            rounds: None,
            probability: 0.995,
            priority: 0,
            ordered: None,
            queue: Packets(16),
            reject_outliers: false,
            both_ways: false,
        }
    }
}

/// A flow's stream, with messages of `mss` bytes.
///
/// # Errors
/// A connection would not have it: the field, and what it allows.
pub(crate) fn check(mss: u32, spec: &StreamSpec) -> Result<StreamConfig, FieldError> {
    let most = MAX_DATAGRAM - DATA_HEADER - CODED;
    if mss as usize > most {
        let message = format!("{mss} B given; sliq's messages have at most {most} B");
        return Err(FieldError::new("mss", message));
    }
    stream(spec)
}

fn stream(spec: &StreamSpec) -> Result<StreamConfig, FieldError> {
    let retransmissions = spec.retransmissions;
    let reliability = match spec.reliability {
        ReliabilityMode::BestEffort => Reliability::BestEffort,
        ReliabilityMode::SemiReliable => Reliability::SemiReliable { retransmissions },
        ReliabilityMode::Reliable => Reliability::Reliable,
        ReliabilityMode::Adaptive => {
            let target = match (spec.deadline, spec.rounds) {
                (Some(deadline), None) => Target::Deadline(deadline),
                (None, Some(rounds)) => Target::Rounds(rounds),
                _ => {
                    let message = "reliability adaptive needs exactly one of deadline and rounds";
                    return Err(FieldError::new("stream", message));
                }
            };
            let probability = spec.probability;
            Reliability::Adaptive { retransmissions, probability, target }
        }
    };
    let ordered = spec.ordered.unwrap_or(reliability == Reliability::Reliable);
    let config = StreamConfig { priority: spec.priority, reliability, ordered };
    let refuse = |(field, allowed)| {
        FieldError::new(format!("stream.{field}"), format!("out of range; allowed: {allowed}"))
    };
    config.check().map_err(refuse)?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a connection would refuse is refused before there is one.
    #[test]
    fn limits_are_those_of_connections() {
        let most = u32::try_from(MAX_DATAGRAM - DATA_HEADER - CODED).unwrap();
        let adaptive = |deadline| StreamSpec {
            reliability: ReliabilityMode::Adaptive,
            deadline: Some(deadline),
            ..StreamSpec::default()
        };
        assert!(check(most, &StreamSpec::default()).is_ok());
        assert!(check(most + 1, &StreamSpec::default()).is_err());
        assert!(check(most, &adaptive(Span::from_secs(65))).is_ok());
        assert!(check(most, &adaptive(Span::from_secs(66))).is_err());
        let both = StreamSpec { rounds: Some(3), ..adaptive(Span::from_secs(1)) };
        assert!(check(most, &both).is_err());
    }
}
