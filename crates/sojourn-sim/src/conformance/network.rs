//! Networks of the controls' checks, and measurements of their runs.

use super::Subject;
use crate::cc::external::needed_ecn;
use crate::error::Fault;
use crate::record::Outcome;
use crate::spec::{Cca, EcnMode};
use serde_json::{Map, Value, json};

/// Rate of the bottleneck in Mbit/s.
pub(super) const RATE: f64 = 20.0;
/// Share of the rate available to payload: 1448 of 1514 bytes.
pub(super) const PAYLOAD_SHARE: f64 = 1448.0 / 1514.0;

/// A dumbbell of 20 Mbit/s and 40 ms with a buffer of one bandwidth-delay product, to be varied.
pub(super) struct Network {
    control: Subject,
    /// ECN feedback that the control needs.
    ecn: EcnMode,
    seconds: u32,
    bottleneck: Map<String, Value>,
    flow: Map<String, Value>,
    starts: Vec<String>,
}

impl Network {
    /// One greedy flow of this control for `seconds`.
    pub(super) fn new(control: &Subject, seconds: u32) -> Self {
        let ecn = needed_ecn(&control.entry::<Cca>().facts, &control.params);
        let bottleneck = json!({ "rate": format!("{RATE} Mbit/s"), "queue": home_queue(ecn) });
        let flow = json!({ "cca": control.table(), "rtt": "40 ms" });
        Network {
            control: control.clone(),
            ecn,
            seconds,
            bottleneck: bottleneck.as_object().cloned().unwrap_or_default(),
            flow: flow.as_object().cloned().unwrap_or_default(),
            starts: vec!["0 s".to_owned()],
        }
    }

    /// Sets a key of the bottleneck.
    pub(super) fn bottleneck(mut self, key: &str, value: Value) -> Self {
        self.bottleneck.insert(key.to_owned(), value);
        self
    }

    /// Sets a key of the flows.
    pub(super) fn flow(mut self, key: &str, value: Value) -> Self {
        self.flow.insert(key.to_owned(), value);
        self
    }

    /// Starts the flow later.
    pub(super) fn starting_at(mut self, start: &str) -> Self {
        self.starts = vec![start.to_owned()];
        self
    }

    /// Adds an equal flow that starts later.
    pub(super) fn joined_at(mut self, start: &str) -> Self {
        self.starts.push(start.to_owned());
        self
    }

    /// Marks with the ECN feedback that the control needs, or else the classic one.
    pub(super) fn with_marks(self, queue: Value) -> Self {
        let ecn = if self.ecn == EcnMode::Off { EcnMode::Classic } else { self.ecn };
        self.bottleneck("queue", queue).flow("ecn", json!(ecn))
    }

    /// Runs it.
    pub(super) fn run(self) -> Result<Run, Fault> {
        let flows = self.starts.iter().map(|start| {
            let mut flow = self.flow.clone();
            flow.insert("start".to_owned(), json!(start));
            Value::Object(flow)
        });
        let scenario = json!({
            "duration": format!("{} s", self.seconds),
            "topology": { "kind": "dumbbell", "bottleneck": self.bottleneck },
            "flows": flows.collect::<Vec<_>>(),
        });
        self.control.run(&scenario).map(Run)
    }
}

/// The queue for which a control is made: one that gives the signals it responds to.
fn home_queue(ecn: EcnMode) -> Value {
    match ecn {
        EcnMode::L4s => json!({ "kind": "dualpi2" }),
        EcnMode::Sce => json!({ "kind": "cake", "bandwidth": "unlimited", "isolation": "flowblind",
                    "sce": "sce" }),
        EcnMode::Dctcp => {
            json!({ "kind": "codel", "target": "1 s", "interval": "10 s", "ce_threshold": "3 ms" })
        }
        _ => json!({ "kind": "fifo", "limit": "1 bdp" }),
    }
}

/// A finished run.
pub(super) struct Run(pub Outcome);

impl Run {
    /// Values of a column of the flow samples of `flow` that end within `from..=to` seconds.
    fn samples(&self, column: &str, flow: usize, from: f64, to: f64) -> Vec<f64> {
        let read = |name: &str| self.0.flow_samples.reals(name).unwrap_or_default();
        let rows = read("time").into_iter().zip(read("flow")).zip(read(column));
        let within = |time: f64| time > from + 1e-6 && time < to + 1e-6;
        rows.filter(|((time, of), _)| *of == flow as f64 && within(*time)).map(|r| r.1).collect()
    }

    /// Sum of a counter of flow 0 over the run.
    pub(super) fn total(&self, column: &str) -> f64 {
        self.samples(column, 0, 0.0, f64::MAX).iter().sum()
    }

    /// Packets that flow 0 sends in the first second from `start` s on.
    pub(super) fn first_packets(&self, start: f64) -> f64 {
        self.samples("sent_packets", 0, start, start + 1.0).iter().sum()
    }

    /// Mbit/s of payload delivered to a flow's receiver.
    pub(super) fn throughput(&self, flow: usize, from: f64, to: f64) -> f64 {
        let bytes: f64 = self.samples("delivered_bytes", flow, from, to).iter().sum();
        bytes * 8e-6 / (to - from)
    }

    /// Share of a bottleneck of `rate` Mbit/s that flow 0 uses.
    pub(super) fn utilisation(&self, rate: f64, from: f64, to: f64) -> f64 {
        self.throughput(0, from, to) / (rate * PAYLOAD_SHARE)
    }

    /// Mean of segments in flight over time.
    pub(super) fn in_flight(&self, from: f64, to: f64) -> f64 {
        let sum: f64 = self.samples("in_flight_time", 0, from, to).iter().sum();
        sum / (to - from)
    }

    /// Smallest window at a sample, in segments.
    pub(super) fn smallest_window(&self) -> f64 {
        self.samples("cwnd", 0, 0.0, f64::MAX).into_iter().fold(f64::MAX, f64::min)
    }

    /// Jain's fairness index of two flows' throughputs.
    pub(super) fn fairness(&self, from: f64, to: f64) -> f64 {
        let (a, b) = (self.throughput(0, from, to), self.throughput(1, from, to));
        (a + b) * (a + b) / (2.0 * (a * a + b * b))
    }
}
