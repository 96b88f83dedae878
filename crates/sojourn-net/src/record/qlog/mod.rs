//! Events of a flow's sender in qlog, which other programs show: JSON text sequences (RFC 7464) by
//! draft-ietf-quic-qlog-main-schema-14 and draft-ietf-quic-qlog-quic-events-14, or as version 0.3 had
//! them.
//!
//! TCP is told in QUIC's words, and says so. A packet's number is its index among those that the end
//! has sent, whatever it carries; a segment's payload is a frame of stream 0. An acknowledgment is told
//! as the packets that it acknowledges anew: the last ones that carried their segments. A control's own
//! state is told in events of a namespace of its own. Of other transports there are packets alone.
//!
//! | part | file |
//! | --- | --- |
//! | what is written | `events` |
//! | which packet carries which bytes | `carried` |
//! | what has changed since it was told | `told` |

mod carried;
mod events;
mod told;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::live::Log;
use crate::endpoint::{Endpoint, RecoveryPhase, RecoveryState};
use crate::observe::Observed;
use crate::packet::{Flags, Header, Packet, TcpAck};
use crate::spec::QlogVersion;
use crate::units::Time;
use carried::{Carried, Segments};
use events::{CONTROL, Frame, Names, PacketData, Raw};
use told::Told;

/// What [`Endpoint::observe`] tells that the metrics of recovery have in qlog's units.
const IN_METRICS: [&str; 3] = ["cwnd", "ssthresh", "pacing_rate"];

/// Whose events they are.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// Number of the flow.
    pub flow: u32,
    /// Name of the run.
    pub title: &'a str,
    /// Name of the transport.
    pub transport: &'a str,
    /// Whether its packets are ECN-capable.
    pub ecn: bool,
    /// Version of the format.
    pub version: QlogVersion,
}

/// Writes the events of one flow's sender.
#[derive(Debug)]
pub struct QlogTap {
    log: Log,
    flow: u32,
    version: QlogVersion,
    names: &'static Names,
    segments: Segments,
    /// Whether its connection asks for ECN.
    ecn: bool,
    /// The state of ECN, of recovery, its metrics, and the control's state, as they were told last.
    ecn_state: Option<&'static str>,
    phase: Option<RecoveryPhase>,
    metrics: Told,
    control: Told,
}

impl QlogTap {
    /// The events of a flow that has not begun.
    pub fn new(log: Log, about: &About<'_>) -> Self {
        log.events(about.flow, |out| events::record(out, &events::header(about)));
        QlogTap {
            log,
            flow: about.flow,
            version: about.version,
            names: Names::of(about.version),
            segments: Segments::default(),
            ecn: about.ecn,
            ecn_state: None,
            phase: None,
            metrics: Told::default(),
            control: Told::default(),
        }
    }

    /// A packet has arrived, which the end has not looked at.
    pub fn received(&mut self, now: Time, packet: &Packet) {
        let frames = match &packet.header {
            Header::Ack(ack) => Some(self.acknowledged(ack)),
            Header::Segment(_) => Some(Vec::new()),
            _ => None,
        };
        let data =
            PacketData { frames, raw: Some(Raw::of(packet)), ..PacketData::of(packet.index) };
        self.put(now, self.names.received, &data);
        if matches!(&packet.header, Header::Ack(ack) if ack.flags.has(Flags::SYN)) {
            self.ecn_is(now, "capable");
        }
    }

    /// A packet is sent.
    pub fn sent(&mut self, now: Time, packet: &Packet) {
        let frames = match &packet.header {
            Header::Segment(segment) => {
                if segment.flags.has(Flags::SYN) {
                    self.ecn_is(now, "testing");
                }
                let carried = self.segments.note(packet.index, segment);
                Some(carried.and_then(|carried| self.stream(carried)).into_iter().collect())
            }
            Header::Ack(_) => Some(Vec::new()),
            _ => None,
        };
        let data =
            PacketData { frames, raw: Some(Raw::of(packet)), ..PacketData::of(packet.index) };
        self.put(now, self.names.sent, &data);
    }

    /// The end has looked at a packet, or at a timeout: what it takes for lost, and whether that changes
    /// its state.
    pub fn found(&mut self, now: Time, state: &RecoveryState) {
        let mut lost = state.lost.clone();
        lost.sort_unstable();
        let trigger = (state.phase == RecoveryPhase::Timeout).then_some("pto_expired");
        for segment in lost {
            let Some(carried) = self.segments.lose(segment) else { continue };
            let frames = Some(self.stream(carried).into_iter().collect());
            let data = PacketData { frames, trigger, ..PacketData::of(carried.index) };
            self.put(now, self.names.lost, &data);
        }
        if self.phase != Some(state.phase) {
            let before = self.phase.replace(state.phase);
            self.put(now, self.names.congestion, &events::phases(before, state.phase));
        }
    }

    /// The end has nothing more to send now: what else has changed.
    pub fn settled(&mut self, now: Time, end: &dyn Endpoint) {
        if let Some(state) = end.recovery() {
            self.found(now, &state);
            let mut changed = Map::new();
            for (name, value) in events::metrics(&state) {
                self.metrics.tell(name, value, &mut changed);
            }
            self.put_changed(now, self.names.metrics, &changed);
        }
        let mut changed = Map::new();
        let control = &mut self.control;
        end.observe(&mut |name, value| {
            let value = match value {
                Observed::Number(number) => Value::from(number),
                Observed::Text(text) => Value::from(text),
            };
            if !IN_METRICS.contains(&name) {
                control.tell(name, value, &mut changed);
            }
        });
        self.put_changed(now, CONTROL, &changed);
    }

    fn acknowledged(&mut self, ack: &TcpAck) -> Vec<Frame> {
        let numbers = self.segments.acknowledge(ack);
        if numbers.is_empty() { Vec::new() } else { vec![Frame::acknowledged(&numbers)] }
    }

    /// The frame of a segment's payload, if it has some.
    fn stream(&self, carried: Carried) -> Option<Frame> {
        (carried.payload > 0).then(|| Frame::stream(&carried, self.version))
    }

    fn ecn_is(&mut self, now: Time, state: &'static str) {
        if !self.ecn || self.ecn_state == Some(state) {
            return;
        }
        let data = match self.ecn_state.replace(state) {
            Some(old) => json!({ "old": old, "new": state }),
            None => json!({ "new": state }),
        };
        self.put(now, self.names.ecn, &data);
    }

    fn put_changed(&self, now: Time, name: &str, changed: &Map<String, Value>) {
        if !changed.is_empty() {
            self.put(now, name, changed);
        }
    }

    fn put(&self, now: Time, name: &str, data: &impl Serialize) {
        self.log.events(self.flow, |out| events::event(out, now, name, data));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::packet::{SackBlock, TcpSegment};
    use crate::record::live::Batch;
    use crate::units::Span;

    const STATE: RecoveryState = RecoveryState {
        cwnd: 14_480,
        ssthresh: None,
        packets_in_flight: 2,
        bytes_in_flight: 2_896,
        srtt: None,
        min_rtt: None,
        pacing_rate: None,
        phase: RecoveryPhase::SlowStart,
        lost: Vec::new(),
    };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn segment(index: u32, seq: u32, payload: u16, flags: Flags) -> Packet {
        let header = TcpSegment { seq, payload, flags, ..TcpSegment::default() };
        let size = 52 + u32::from(payload);
        Packet { index, size, header: Header::Segment(header), ..Packet::default() }
    }

    fn ack(index: u32, next: u32, blocks: &[(u32, u32)], flags: Flags) -> Packet {
        let mut ack = TcpAck { next, flags, ..TcpAck::default() };
        ack.set_sacks(blocks.iter().map(|&(start, end)| SackBlock { start, end }));
        Packet { index, size: 52, header: Header::Ack(ack), ..Packet::default() }
    }

    /// What is written of what `act` does.
    fn written(version: QlogVersion, act: impl FnOnce(&mut QlogTap)) -> Vec<Value> {
        let file = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&file);
        let sink = move |batch: Batch, _: &[Arc<str>]| {
            let Batch::Events { flow: 3, bytes } = batch else { panic!("those of flow 3 alone") };
            kept.lock().unwrap().extend(bytes);
        };
        let log = Log::new(&[], Box::new(sink));
        let about = About { flow: 3, title: "a", transport: "tcp", ecn: true, version };
        let mut tap = QlogTap::new(log.clone(), &about);
        act(&mut tap);
        log.flush();
        let bytes = file.lock().unwrap();
        let mut records = bytes.split(|byte| *byte == 0x1e);
        assert_eq!(records.next(), Some(&[][..]));
        let read = |record: &[u8]| -> Value {
            assert_eq!(record.last(), Some(&b'\n'));
            serde_json::from_slice(record).unwrap()
        };
        records.map(read).collect()
    }

    fn some_events(tap: &mut QlogTap) {
        tap.sent(at(0), &segment(0, 0, 0, Flags::SYN));
        tap.received(at(20), &ack(0, 1, &[], Flags::SYN));
        for (index, payload) in [(1, 1000), (2, 1000), (3, 500)] {
            tap.sent(at(21), &segment(index, index, payload, Flags::ACK));
        }
        tap.received(at(41), &ack(1, 1, &[(2, 4)], Flags::ACK));
        let phase = RecoveryPhase::Recovery;
        tap.found(at(41), &RecoveryState { lost: vec![1], phase, ..STATE });
        tap.found(at(41), &RecoveryState { lost: vec![1], phase, ..STATE });
        tap.sent(at(41), &segment(4, 1, 1000, Flags::ACK));
        tap.received(at(61), &ack(2, 4, &[], Flags::ACK));
    }

    #[test]
    fn events_have_the_words_of_the_draft() {
        let told = written(QlogVersion::Draft14, some_events);
        assert_eq!(told[0]["file_schema"], "urn:ietf:params:qlog:file:sequential");
        let schemas = told[0]["trace"]["event_schemas"].as_array().unwrap();
        assert_eq!(schemas[0], "urn:ietf:params:qlog:events:quic-14");
        assert!(told[0]["description"].as_str().unwrap().starts_with("TCP, not QUIC"));
        let names: Vec<&str> =
            told[1..].iter().map(|told| told["name"].as_str().unwrap()).collect();
        let expected = [
            ["ecn_state_updated", "packet_sent", "packet_received", "ecn_state_updated"].as_slice(),
            &["packet_sent", "packet_sent", "packet_sent", "packet_received", "packet_lost"],
            &["congestion_state_updated", "packet_sent", "packet_received"],
        ];
        let expected: Vec<String> =
            expected.concat().into_iter().map(|name| format!("quic:{name}")).collect();
        assert_eq!(names, expected);
        let length = |bytes: u32| json!({ "length": bytes, "payload_length": bytes });
        let stream = |offset: u32, bytes: u32| {
            let raw = length(bytes);
            json!([{ "frame_type": "stream", "stream_id": 0, "offset": offset, "raw": raw }])
        };
        let header = |number: u32| json!({ "packet_type": "1RTT", "packet_number": number });
        assert_eq!(told[4]["data"], json!({ "old": "testing", "new": "capable" }));
        let raw = json!({ "length": 552, "payload_length": 500 });
        let last = json!({ "header": header(3), "frames": stream(2000, 500), "raw": raw });
        assert_eq!((&told[7]["data"], &told[7]["time"]), (&last, &json!(21.0)));
        let ranges = |told: &Value| told["data"]["frames"][0]["acked_ranges"].clone();
        assert_eq!(ranges(&told[3]), json!([[0]]));
        assert_eq!(ranges(&told[8]), json!([[2, 3]]));
        let lost = json!({ "header": header(1), "frames": stream(0, 1000) });
        assert_eq!(told[9]["data"], lost);
        assert_eq!(told[10]["data"], json!({ "new": "recovery" }));
        assert_eq!(told[11]["data"]["frames"], stream(0, 1000));
        assert_eq!(ranges(&told[12]), json!([[4]]));
    }

    #[test]
    fn an_older_version_has_other_names() {
        let told = written(QlogVersion::V03, some_events);
        assert_eq!(told[0]["qlog_version"], "0.3");
        assert_eq!(told[2]["name"], "transport:packet_sent");
        assert_eq!(told[9]["name"], "recovery:packet_lost");
        assert_eq!(told[9]["data"]["frames"][0]["length"], 1000);
    }

    #[test]
    fn only_what_changes_is_told() {
        struct Steady(u64);

        impl Endpoint for Steady {
            fn on_packet(&mut self, _now: Time, _packet: &Packet) {}

            fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
                None
            }

            fn report(&mut self, _now: Time, _counters: &mut crate::counters::FlowCounters) {}

            fn recovery(&self) -> Option<RecoveryState> {
                Some(RecoveryState { cwnd: self.0, ..STATE })
            }

            fn observe(&self, out: &mut crate::observe::Observer<'_>) {
                out("cwnd", 10.0.into());
                out("mode", "startup".into());
            }
        }

        let told = written(QlogVersion::Draft14, |tap| {
            tap.settled(at(1), &Steady(14_480));
            tap.settled(at(2), &Steady(14_480));
            tap.settled(at(3), &Steady(15_928));
        });
        let data: Vec<(&str, &Value)> =
            told[1..].iter().map(|told| (told["name"].as_str().unwrap(), &told["data"])).collect();
        let first = json!({
            "congestion_window": 14_480, "packets_in_flight": 2, "bytes_in_flight": 2_896,
        });
        let expected = [
            ("quic:congestion_state_updated", &json!({ "new": "slow_start" })),
            ("quic:recovery_metrics_updated", &first),
            ("control:state_updated", &json!({ "mode": "startup" })),
            ("quic:recovery_metrics_updated", &json!({ "congestion_window": 15_928 })),
        ];
        assert_eq!(data, expected);
    }
}
