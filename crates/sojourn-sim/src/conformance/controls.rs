//! Conformance of congestion controls: a bottleneck of 20 Mbit/s with a buffer of one
//! bandwidth-delay product and a round-trip time of 40 ms; controls that need marks run over a
//! queue that marks.

use serde_json::json;

use super::network::{Network, RATE};
use super::{Check, Measured, Subject};

const ANY: f64 = f64::INFINITY;

/// Every check.
pub static CHECKS: &[Check] = &[
    Check {
        name: "clean link",
        legend: "share of a clean link with a buffer of one BDP used from 5 s to 30 s; at least 0.90",
        measure: |c| Ok(Network::new(c, 30).run()?.utilisation(RATE, 5.0, 30.0)),
        required: (0.90, ANY),
    },
    Check {
        name: "same again",
        legend: "1 if a second run of the same scenario, with 1 % loss, gives the same columns",
        measure: |c| {
            // As text, since columns contain NaN where a value is unknown.
            let once = || lossy(c).run().map(|run| format!("{:?}", run.0));
            Ok(f64::from(u8::from(once()? == once()?)))
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "late start",
        legend: "packets of the handshake and the first window over 500 ms, of a flow that starts \
                 at 6 s, relative to one at 0 s; 1",
        measure: |c| {
            let first = |start: u32| {
                let network = Network::new(c, start + 1).flow("rtt", json!("500 ms"));
                let run = network.starting_at(&format!("{start} s")).run()?;
                Ok(run.first_packets(start.into()))
            };
            Ok(first(6)? / first(0)?)
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "floor",
        legend: "smallest window in segments, over an outage of 2 s; at least 1",
        measure: |c| Ok(outage(c).run()?.smallest_window()),
        required: (1.0, ANY),
    },
    Check {
        name: "loss",
        legend: "segments in flight with 1 % loss, relative to none; at most 0.9",
        measure: |c| {
            let clean = Network::new(c, 30).run()?.in_flight(5.0, 30.0);
            Ok(lossy(c).run()?.in_flight(5.0, 30.0) / clean)
        },
        required: (0.0, 0.9),
    },
    Check {
        name: "marks",
        legend: "segments in flight when CoDel marks all but shortest queues (target 0.5 ms), \
                 relative to a FIFO; at most 0.9",
        measure: |c| {
            let fifo = json!({ "kind": "fifo", "limit": "1 bdp" });
            let free = Network::new(c, 30).bottleneck("queue", fifo).run()?.in_flight(5.0, 30.0);
            let codel = json!({ "kind": "codel", "target": "500 us", "interval": "20 ms" });
            Ok(Network::new(c, 30).with_marks(codel).run()?.in_flight(5.0, 30.0) / free)
        },
        required: (0.0, 0.9),
    },
    Check {
        name: "timeout",
        legend: "share of the link used from 8 s to 18 s after an outage of 2 s, 0 without a \
                 timeout; at least 0.8",
        measure: |c| {
            let run = outage(c).run()?;
            let timed_out = run.total("rtos") >= 1.0;
            Ok(if timed_out { run.utilisation(RATE, 20.0, 30.0) } else { 0.0 })
        },
        required: (0.8, ANY),
    },
    Check {
        name: "rate halved",
        legend: "share of the link used from 10 s to 20 s after its rate was halved; at least 0.85",
        measure: |c| Ok(changing_rate(c).run()?.utilisation(RATE / 2.0, 30.0, 40.0)),
        required: (0.85, ANY),
    },
    Check {
        name: "rate doubled",
        legend: "the same after it was doubled; at least 0.85",
        measure: |c| Ok(changing_rate(c).run()?.utilisation(RATE, 50.0, 60.0)),
        required: (0.85, ANY),
    },
    Check {
        name: "longer path",
        legend: "share of the link used from 10 s to 20 s after the RTT doubled; at least 0.8",
        measure: |c| Ok(changing_delay(c).run()?.utilisation(RATE, 30.0, 40.0)),
        required: (0.8, ANY),
    },
    Check {
        name: "shorter path",
        legend: "the same after it was halved again; at least 0.8",
        measure: |c| Ok(changing_delay(c).run()?.utilisation(RATE, 50.0, 60.0)),
        required: (0.8, ANY),
    },
    Check {
        name: "idle",
        legend: "share delivered of 16 Mbit/s that the application offers every other 3 s; at \
                 least 0.95",
        measure: |c| {
            let traffic = json!({ "kind": "on-off", "rate": "16 Mbit/s", "size": "14480 B",
                                  "on": "3 s", "off": "3 s", "times": "fixed" });
            let run = Network::new(c, 30).flow("traffic", traffic).run()?;
            Ok(run.total("delivered_bytes") / run.total("written_bytes"))
        },
        required: (0.95, ANY),
    },
    Check {
        name: "fairness",
        legend: "Jain's index from 60 s to 120 s of two equal flows, the second about 10 s late, mean \
                 of four entries over 38 to 42 ms; at least 0.90",
        // Without randomness, a drop-tail queue may favour one phase, and the first flow meets each entry in
        // the same one; so several entries are tried, over paths of several lengths.
        measure: |c| {
            let entries =
                [("9.7 s", "38 ms"), ("10 s", "40 ms"), ("10.3 s", "41 ms"), ("10.8 s", "42 ms")];
            let index = |(at, rtt)| {
                let network = Network::new(c, 120).flow("rtt", json!(rtt)).joined_at(at);
                Ok(network.run()?.fairness(60.0, 120.0))
            };
            let sum: f64 = entries.into_iter().map(index).sum::<Measured>()?;
            Ok(sum / entries.len() as f64)
        },
        required: (0.90, ANY),
    },
];

fn lossy(control: &Subject) -> Network {
    Network::new(control, 30).bottleneck("loss", json!("1 %"))
}

fn steps(steps: &[(&str, &str)]) -> serde_json::Value {
    let steps = steps.iter().map(|(at, value)| json!({ "at": at, "value": value }));
    json!({ "kind": "steps", "steps": steps.collect::<Vec<_>>() })
}

fn outage(control: &Subject) -> Network {
    let loss = steps(&[("10 s", "100 %"), ("12 s", "0 %")]);
    Network::new(control, 30).bottleneck("loss_schedule", loss)
}

fn changing_rate(control: &Subject) -> Network {
    let rate = steps(&[("0 s", "20 Mbit/s"), ("20 s", "10 Mbit/s"), ("40 s", "20 Mbit/s")]);
    Network::new(control, 60).bottleneck("rate_schedule", rate)
}

fn changing_delay(control: &Subject) -> Network {
    let delay = steps(&[("20 s", "20 ms"), ("40 s", "0 ms")]);
    Network::new(control, 60).bottleneck("delay_schedule", delay)
}
