//! Conformance of transports: a bottleneck of 10 Mbit/s and a round-trip time of 40 ms, which
//! loses, duplicates and reorders packets, and packets of other transports.

use serde_json::{Value, json};

use super::{Check, Subject};
use crate::endpoint::Endpoint;
use crate::error::Fault;
use crate::packet::{Address, Datagram, Direction, Header, Opaque, TcpAck, TcpSegment};
use crate::record::Outcome;
use crate::rng::StreamKey;
use crate::spec::{Cca, FlowSpec, Spec, Transport};
use crate::transport::TransportInit;
use crate::units::{Span, Time};

/// Every check.
pub static CHECKS: &[Check] = &[
    Check {
        name: "delivers",
        legend: "share of what is written that arrives over a clean link; 1",
        measure: |t| Ok(delivered(&run(t, json!({}))?)),
        required: (1.0, 1.0),
    },
    Check {
        name: "ends",
        legend: "packets sent in the second half of a run whose transfer ended in the first; 0",
        measure: |t| {
            let samples = run(t, json!({}))?.flow_samples;
            let sent = samples.reals("sent_packets").unwrap_or_default();
            Ok(sent[sent.len() / 2..].iter().sum())
        },
        required: (0.0, 0.0),
    },
    Check {
        name: "loss",
        legend: "with 20 % loss, 1 if it repairs losses and all arrives, or else the share that \
                 arrives divided by 0.8; 0.8 to 1.2",
        measure: |t| {
            let share = delivered(&run(t, json!({ "loss": "20 %" }))?);
            Ok(match (t.entry::<Transport>().facts.repairs, share == 1.0) {
                (true, all) => f64::from(u8::from(all)),
                (false, _) => share / 0.8,
            })
        },
        required: (0.8, 1.2),
    },
    Check {
        name: "reordering",
        legend: "share that arrives where packets overtake each other; 1",
        measure: |t| {
            let jitter = json!({ "spread": "20 ms", "reorder": true });
            Ok(delivered(&run(t, json!({ "jitter": jitter }))?))
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "duplication",
        legend: "share that arrives where the link duplicates every fifth packet; 1",
        measure: |t| Ok(delivered(&run(t, json!({ "duplicate": "20 %" }))?)),
        required: (1.0, 1.0),
    },
    Check {
        name: "same again",
        legend: "1 if a second run of the same scenario, with 5 % loss, gives the same columns",
        measure: |t| {
            let lossy = || run(t, json!({ "loss": "5 %" })).map(|outcome| format!("{outcome:?}"));
            Ok(f64::from(u8::from(lossy()? == lossy()?)))
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "foreign headers",
        legend: "packets that it sends in answer to those of other transports; 0",
        measure: |t| Ok(f64::from(answers_to_foreign_headers(t))),
        required: (0.0, 0.0),
    },
];

/// Payload bytes that fit into a packet of any transport.
const MSS: u32 = 1000;

/// A flow with a control for transports that take one, and a transfer that ends.
fn flow(transport: &Subject) -> Value {
    let mut flow = json!({ "transport": transport.table(), "rtt": "40 ms", "mss": MSS });
    if transport.entry::<Transport>().facts.controlled {
        flow["cca"] = json!("reno");
        flow["traffic"] = json!({ "kind": "sized", "size": "200 kB" });
    } else {
        flow["stop"] = json!("10 s");
        flow["traffic"] = json!({ "kind": "cbr", "rate": "500 kbit/s" });
    }
    flow
}

/// Five minutes over a bottleneck with these keys besides its rate.
fn run(transport: &Subject, keys: Value) -> Result<Outcome, Fault> {
    let mut bottleneck = keys;
    bottleneck["rate"] = json!("10 Mbit/s");
    transport.run(&json!({
        "duration": "300 s",
        "topology": { "kind": "dumbbell", "bottleneck": bottleneck },
        "flows": [flow(transport)],
    }))
}

/// Share of the written bytes that has arrived.
fn delivered(outcome: &Outcome) -> f64 {
    let sum = |column: &str| -> f64 {
        outcome.flow_samples.reals(column).unwrap_or_default().iter().sum()
    };
    sum("delivered_bytes") / sum("written_bytes")
}

fn ends(transport: &Subject) -> [Box<dyn Endpoint>; 2] {
    let entry = transport.entry::<Transport>();
    let cca = entry.facts.controlled.then(|| {
        let mut reno = Spec::<Cca>::named("reno");
        reno.resolve(&transport.catalogue).unwrap_or_else(|error| panic!("{error}"));
        reno.into()
    });
    let spec = Spec::named(&transport.name);
    let flow = FlowSpec { transport: spec, cca, mss: MSS, ..FlowSpec::default() };
    let there = Address { socket: 1, ..Address::default() };
    let back = Address { direction: Direction::Backward, ..Address::default() };
    let init = TransportInit {
        small_queue: false,
        requests: false,
        copied: true,
        flow: &flow,
        addresses: [there, back],
        base_rtt: Span::from_millis(40),
        random: StreamKey::root(1),
        memory: None,
        now: Time::ZERO,
    };
    (entry.make)(&flow.transport.params, &init, &transport.catalogue)
        .unwrap_or_else(|error| panic!("{}: {error}", transport.name))
}

/// Both ends exchange packets; then each is given packets with other transports' headers.
fn answers_to_foreign_headers(transport: &Subject) -> u32 {
    let mut ends = ends(transport);
    let mut own = Vec::new();
    ends[0].open(Time::ZERO);
    ends[0].write(Time::ZERO, 10_000);
    for turn in 0..20 {
        let now = Time::ZERO + Span::from_millis(20 * turn);
        let from = (turn % 2) as usize;
        while let Some(packet) = ends[from].poll_transmit(now) {
            own.push(std::mem::discriminant(&packet.header));
            ends[1 - from].on_packet(now, &packet);
        }
    }
    let headers = [
        Header::Segment(TcpSegment { seq: 5, payload: 100, ..TcpSegment::default() }),
        Header::Ack(TcpAck { next: 1_000_000, ..TcpAck::default() }),
        Header::Datagram(Datagram { seq: 5, payload: 100, ..Datagram::default() }),
        Header::Opaque(Opaque { handle: u32::MAX, payload: 100 }),
    ];
    let foreign = headers.iter().filter(|header| !own.contains(&std::mem::discriminant(*header)));
    let now = Time::ZERO + Span::from_millis(400);
    let mut answers = 0;
    for header in foreign {
        for end in &mut ends {
            while end.poll_transmit(now).is_some() {}
            end.on_packet(now, &Address::default().packet(7, 128, *header));
            answers += std::iter::from_fn(|| end.poll_transmit(now)).take(100).count() as u32;
        }
    }
    answers
}
