//! A transport of ten lines and a control, in a catalogue of their own.

use std::sync::Arc;

use serde_json::{Value, json};
use sojourn_base::error::FieldError;
use sojourn_base::packet::{Address, Direction, Header, Packet};
use sojourn_base::registry::{Catalogue, NoParams};
use sojourn_base::units::Time;
use sojourn_catalogue::{builtin, own};
use sojourn_net::record::{FlowCounters, Outcome, ReceiverCounters, SenderCounters};
use sojourn_sim::catalogue::to_json;
use sojourn_sim::conformance;
use sojourn_sim::scenario::{Scenario, json_schema};
use sojourn_sim::sim::Simulation;
use sojourn_sim::transport::{self, Endpoint, TransportInit};
use sojourn_tcp::cc::{self, AckSample, CongestionControl, ControlInit, Decision, Event};

/// Both ends of a transport that sends what is written, in packets of 1000 bytes.
struct Plain {
    address: Address,
    written: u64,
    sent: u64,
    received: u64,
}

impl Endpoint for Plain {
    fn write(&mut self, _now: Time, bytes: u64) {
        self.written += bytes;
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        let size = (self.written - self.sent).min(1000) as u16;
        self.sent += u64::from(size);
        let index = self.sent.div_ceil(1000) as u32;
        (size > 0).then(|| self.address.packet(index, u32::from(size) + 20, Header::opaque(size)))
    }

    fn on_packet(&mut self, _now: Time, packet: &Packet) {
        self.received += u64::from(packet.payload());
    }

    fn report(&mut self, _now: Time, counters: &mut FlowCounters) {
        let packets = self.sent.div_ceil(1000);
        match self.address.direction {
            Direction::Forward => {
                counters.sent = Some(SenderCounters {
                    written_bytes: self.written,
                    sent_bytes: self.sent,
                    sent_packets: packets,
                    wire_bytes_sent: self.sent + 20 * packets,
                });
            }
            Direction::Backward => {
                let received =
                    ReceiverCounters { delivered_bytes: self.received, ..Default::default() };
                counters.received = Some(received);
            }
        }
    }
}

impl transport::Registered for Plain {
    type Params = NoParams;
    const HEADERS: u32 = 20;
    const CONTROLLED: bool = false;
    const REPAIRS: bool = false;

    fn endpoints(
        _params: NoParams,
        init: &TransportInit<'_>,
        _catalogue: &Catalogue,
    ) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
        let end = |address| Plain { address, written: 0, sent: 0, received: 0 };
        Ok(init.addresses.map(|address| -> Box<dyn Endpoint> { Box::new(end(address)) }))
    }
}

/// Keeps a window of seven segments.
struct Seven;

impl CongestionControl for Seven {
    fn on_ack(&mut self, _now: Time, _ack: &AckSample) {}

    fn on_congestion(&mut self, _now: Time, _event: &Event) {}

    fn decision(&self) -> Decision {
        let mut decision = Decision::new(7, cc::INFINITE_SSTHRESH);
        decision.owns_recovery = true;
        decision
    }
}

impl cc::Registered for Seven {
    type Params = NoParams;

    fn new(_params: NoParams, _init: &ControlInit) -> Self {
        Seven
    }
}

fn catalogue() -> Catalogue {
    own()
        .with(vec![transport::entry::<Plain>("plain", "//! Plain: sends what is written.\n")])
        .with(vec![cc::entry::<Seven>("seven", "//! Seven: a window of seven segments.\n")])
}

/// Ten seconds of this flow over 10 Mbit/s.
fn scenario(flow: Value) -> Value {
    json!({
        "duration": "10 s",
        "topology": { "kind": "dumbbell", "bottleneck": { "rate": "10 Mbit/s" } },
        "flows": [flow],
    })
}

fn run(flow: Value) -> Outcome {
    let scenario = Scenario::from_json(&scenario(flow), &Arc::new(catalogue())).unwrap();
    Simulation::new(&scenario).unwrap().run().unwrap()
}

fn total(outcome: &Outcome, column: &str) -> f64 {
    outcome.flow_samples.reals(column).unwrap().iter().sum()
}

#[test]
fn a_transport_of_ten_lines_delivers() {
    let traffic = json!({ "kind": "cbr", "rate": "800 kbit/s", "size": "1000 B" });
    let outcome = run(json!({ "transport": "plain", "rtt": "20 ms", "traffic": traffic }));
    // A packet every 10 ms from 0 to 9.99 s, the last of which is still on its way.
    assert_eq!(total(&outcome, "written_bytes"), 1_000_000.0);
    assert_eq!(total(&outcome, "sent_bytes"), 1_000_000.0);
    assert_eq!(total(&outcome, "delivered_bytes"), 999_000.0);
    let absent = outcome.flow_samples.reals("cwnd").unwrap();
    assert!(absent.iter().all(|cwnd| cwnd.is_nan()), "what it has not is absent: {absent:?}");
}

#[test]
fn a_control_keeps_its_window() {
    let outcome = run(json!({ "cca": "seven", "rtt": "100 ms", "ack_every": 1 }));
    // A window per round trip: propagation, and a segment of 1500 bytes in a frame of 1514.
    let round_trip = 0.1 + 1514.0 * 8.0 / 10e6;
    // The handshake takes a round trip, the first data half of one.
    let windows = (10.0 - 1.5 * round_trip) / round_trip;
    let delivered = total(&outcome, "delivered_bytes") / (7.0 * 1448.0);
    assert!((delivered - windows).abs() <= 1.0, "{delivered} of {windows} windows");
    let windows = outcome.flow_samples.reals("cwnd").unwrap();
    assert!(windows.iter().skip(2).all(|cwnd| *cwnd == 7.0), "{windows:?}");
}

#[test]
fn runs_with_members_from_outside_are_deterministic() {
    let flow = json!({ "cca": "seven", "rtt": "30 ms", "count": 3 });
    assert_eq!(format!("{:?}", run(flow.clone())), format!("{:?}", run(flow)));
}

#[test]
fn the_suite_is_for_them_too() {
    let catalogue = Arc::new(catalogue());
    let subjects = |names| conformance::subjects(&catalogue, names);
    let failed = conformance::failures(conformance::transports::CHECKS, &subjects(&["plain"]));
    // It counts what the link duplicates twice.
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].starts_with("plain: share that arrives where the link dup"), "{failed:?}");
    let clean = &conformance::controls::CHECKS[..1];
    let failed = conformance::failures(clean, &subjects(&["seven", "reno"]));
    assert!(failed.len() == 1 && failed[0].starts_with("seven: share of a clean"), "{failed:?}");
}

#[test]
fn the_catalogue_and_the_schema_list_them() {
    let (catalogue, theirs) = (catalogue(), own());
    let names = |kind: &str| to_json(&catalogue)[kind].as_array().unwrap().len();
    assert_eq!(names("ccas"), to_json(&theirs)["ccas"].as_array().unwrap().len() + 1);
    let schema = json_schema(&catalogue)["$defs"]["transport"].to_string();
    assert!(schema.contains("Plain: sends what is written."), "{schema}");
}

#[test]
fn other_catalogues_do_not_know_them() {
    let read = Scenario::from_json(&scenario(json!({ "cca": "seven", "rtt": "1 ms" })), builtin());
    assert!(read.unwrap_err().to_string().starts_with("flows.0.cca: unknown congestion control"));
}
