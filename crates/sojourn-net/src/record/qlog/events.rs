//! What is written: a header, and events with their data.

use serde::Serialize;
use serde_json::{Value, json};

use super::About;
use super::carried::Carried;
use crate::endpoint::{RecoveryPhase, RecoveryState};
use crate::packet::{Header, Packet};
use crate::spec::QlogVersion;
use crate::units::{Span, Time};

/// Begins a record of a JSON text sequence, which the end of a line closes.
const RECORD: u8 = 0x1e;
const QUIC_EVENTS: &str = "urn:ietf:params:qlog:events:quic-14";
/// Of what each control holds, by the names of its page.
const CONTROL_EVENTS: &str = "urn:sojourn:qlog:events:control-1";
/// Name of the event that tells it.
pub(super) const CONTROL: &str = "control:state_updated";

/// Names of events.
#[derive(Debug)]
pub(super) struct Names {
    pub sent: &'static str,
    pub received: &'static str,
    pub lost: &'static str,
    pub metrics: &'static str,
    pub congestion: &'static str,
    pub ecn: &'static str,
}

const DRAFT: Names = Names {
    sent: "quic:packet_sent",
    received: "quic:packet_received",
    lost: "quic:packet_lost",
    metrics: "quic:recovery_metrics_updated",
    congestion: "quic:congestion_state_updated",
    ecn: "quic:ecn_state_updated",
};
const OLDER: Names = Names {
    sent: "transport:packet_sent",
    received: "transport:packet_received",
    lost: "recovery:packet_lost",
    metrics: "recovery:metrics_updated",
    congestion: "recovery:congestion_state_updated",
    ecn: "recovery:ecn_state_updated",
};

impl Names {
    pub(super) fn of(version: QlogVersion) -> &'static Names {
        match version {
            QlogVersion::Draft14 => &DRAFT,
            QlogVersion::V03 => &OLDER,
        }
    }
}

/// The data of an event of a packet.
#[derive(Debug, Serialize)]
pub(super) struct PacketData {
    pub header: HeaderData,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<Vec<Frame>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<&'static str>,
}

/// What identifies a packet.
#[derive(Debug, Serialize)]
pub(super) struct HeaderData {
    packet_type: &'static str,
    packet_number: u32,
}

impl PacketData {
    /// That of a packet with this number, with no more.
    pub(super) fn of(packet_number: u32) -> Self {
        // All packets of a connection are numbered together, those of its handshake too.
        let header = HeaderData { packet_type: "1RTT", packet_number };
        PacketData { header, frames: None, raw: None, trigger: None }
    }
}

/// Bytes of something, and those of its payload.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Raw {
    length: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_length: Option<u32>,
}

impl Raw {
    /// Those of an IP packet.
    pub(super) fn of(packet: &Packet) -> Self {
        let payload_length = match &packet.header {
            Header::Segment(segment) => Some(segment.payload.into()),
            Header::Ack(_) => Some(0),
            _ => None,
        };
        Raw { length: packet.size, payload_length }
    }
}

/// A part of a packet.
#[derive(Debug, Serialize)]
#[serde(tag = "frame_type", rename_all = "snake_case")]
pub(super) enum Frame {
    Stream {
        stream_id: u32,
        offset: u64,
        /// Before `raw` had it.
        #[serde(skip_serializing_if = "Option::is_none")]
        length: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<Raw>,
    },
    Ack {
        acked_ranges: Vec<Range>,
    },
}

/// Numbers from the first to the last.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Range {
    One([u32; 1]),
    Several([u32; 2]),
}

impl Frame {
    pub(super) fn stream(carried: &Carried, version: QlogVersion) -> Frame {
        let length = u32::from(carried.payload);
        let raw = Raw { length, payload_length: Some(length) };
        let (length, raw) = match version {
            QlogVersion::Draft14 => (None, Some(raw)),
            QlogVersion::V03 => (Some(length), None),
        };
        Frame::Stream { stream_id: 0, offset: carried.offset, length, raw }
    }

    pub(super) fn acknowledged(ranges: &[[u32; 2]]) -> Frame {
        let range = |&[from, to]: &[u32; 2]| match from == to {
            true => Range::One([from]),
            false => Range::Several([from, to]),
        };
        Frame::Ack { acked_ranges: ranges.iter().map(range).collect() }
    }
}

/// The data of a change of recovery's state.
pub(super) fn phases(before: Option<RecoveryPhase>, now: RecoveryPhase) -> Value {
    let name = |phase| match phase {
        RecoveryPhase::SlowStart => "slow_start",
        RecoveryPhase::Avoidance => "congestion_avoidance",
        RecoveryPhase::Recovery | RecoveryPhase::Echo | RecoveryPhase::Timeout => "recovery",
    };
    let mut data = json!({ "new": name(now) });
    if let Some(before) = before {
        data["old"] = name(before).into();
    }
    match now {
        RecoveryPhase::Echo => data["trigger"] = "ecn".into(),
        RecoveryPhase::Timeout => data["trigger"] = "persistent_congestion".into(),
        _ => {}
    }
    data
}

/// Metrics of recovery: bytes, packets, milliseconds, bit/s.
pub(super) fn metrics(state: &RecoveryState) -> impl Iterator<Item = (&'static str, Value)> {
    let span = |span: Span| Value::from(span.as_millis_f64());
    let all: [(&'static str, Option<Value>); 7] = [
        ("congestion_window", Some(state.cwnd.into())),
        ("ssthresh", state.ssthresh.map(Value::from)),
        ("packets_in_flight", Some(state.packets_in_flight.into())),
        ("bytes_in_flight", Some(state.bytes_in_flight.into())),
        ("smoothed_rtt", state.srtt.map(span)),
        ("min_rtt", state.min_rtt.map(span)),
        ("pacing_rate", state.pacing_rate.map(|rate| rate.as_bps().into())),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

/// The first record of a file.
pub(super) fn header(about: &About<'_>) -> Value {
    let transport = about.transport.to_uppercase();
    let description = format!(
        "{transport}, not QUIC: a packet's number is its index among all that the sender has sent; \
         stream 0 is the connection's data; an ACK is told as the packets that it acknowledges anew"
    );
    let name = format!("sender of flow {}", about.flow);
    let vantage_point = json!({ "name": name, "type": "client" });
    match about.version {
        QlogVersion::Draft14 => json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": about.title,
            "description": description,
            "trace": {
                "vantage_point": vantage_point,
                "event_schemas": [QUIC_EVENTS, CONTROL_EVENTS],
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                    "protocol_types": [transport],
                },
            },
        }),
        QlogVersion::V03 => json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": about.title,
            "description": description,
            "trace": {
                "vantage_point": vantage_point,
                "common_fields": {
                    "time_format": "relative",
                    "reference_time": 0.0,
                    "protocol_type": [transport],
                },
            },
        }),
    }
}

#[derive(Serialize)]
struct Event<'a, D> {
    /// Milliseconds since the run began.
    time: f64,
    name: &'a str,
    data: &'a D,
}

/// Appends an event.
pub(super) fn event(out: &mut Vec<u8>, now: Time, name: &str, data: &impl Serialize) {
    let time = now.as_nanos() as f64 / 1e6;
    record(out, &Event { time, name, data });
}

/// Appends a record.
pub(super) fn record(out: &mut Vec<u8>, content: &impl Serialize) {
    out.push(RECORD);
    // Names are words, and what is no number is null: nothing of it cannot be written.
    let written = serde_json::to_writer(&mut *out, content);
    debug_assert!(written.is_ok());
    out.push(b'\n');
}
