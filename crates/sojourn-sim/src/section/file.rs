//! The root table of a scenario file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::ArrivalsSpec;
use crate::edge::medium_spec::MediumSpec;
use crate::spec::{
    Date, Flow, FlowSpec, PcapSpec, ProgramSpec, QlogSpec, Recorded, Spec, Stack, TcpMetrics,
    Topology,
};
use crate::units::Span;

/// A network, its flows and the measurement, as a scenario file gives them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioSpec {
    /// Name of the results.
    #[serde(default = "default_name")]
    pub name: String,
    /// Simulated time of the run.
    pub duration: Span,
    /// Seed of all random draws.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Stack and version of the endpoints.
    #[serde(default)]
    pub stack: Stack,
    /// What hosts remember of the TCP connections that they had with each other: nothing, what the
    /// stack remembers (Linux: RTT and reordering, before 5.6 the slow-start threshold), or all of
    /// it.
    #[serde(default, skip_serializing_if = "remembers_nothing")]
    pub tcp_metrics: TcpMetrics,
    /// Duration of a sample.
    #[serde(default = "default_sample_interval")]
    pub sample_interval: Span,
    /// Samples before this are left out of metrics.
    #[serde(default)]
    pub warmup: Span,
    /// Events that are recorded when they happen, in addition to the samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record: Vec<Recorded>,
    /// What a capture has (`pcap` of `record`): which flows, at which links, how much of a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcap: Option<PcapSpec>,
    /// How events are written (`qlog` of `record`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qlog: Option<QlogSpec>,
    /// Shared media, which links name by their `id`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<MediumSpec>,
    /// The network.
    pub topology: Spec<Topology>,
    /// The flows. Required, unless there are arrivals.
    #[serde(default)]
    pub flows: Vec<FlowSpec>,
    /// Programs that the hosts run, as they are: on a kernel in virtual time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramSpec>,
    /// What the clock of the programs' kernel shows when the run begins. Default: 2023-11-14, at
    /// 22:13:20 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Date>,
    /// Transfers that come and go. Their keys are read and written apart from the others.
    #[serde(skip)]
    pub arrivals: Vec<ArrivalsSpec>,
}

fn remembers_nothing(asked: &TcpMetrics) -> bool {
    *asked == TcpMetrics::Off
}

fn default_name() -> String {
    "scenario".to_owned()
}

fn default_seed() -> u64 {
    1
}

fn default_sample_interval() -> Span {
    Span::from_millis(100)
}

impl ScenarioSpec {
    /// The flows of the run, `count` expanded.
    pub fn flows_expanded(&self) -> Vec<Flow<'_>> {
        let copies = self.flows.iter().enumerate();
        let copies = copies.flat_map(|(entry, spec)| (0..spec.count).map(move |_| (entry, spec)));
        let flow = |((entry, spec), id)| Flow { id, entry, spec, arrives: false };
        copies.zip(0..).map(flow).collect()
    }

    /// Number of flows of the run, `count` expanded.
    pub fn flow_count(&self) -> usize {
        self.flows.iter().map(|flow| flow.count as usize).sum()
    }

    /// What has routes in the network: the flows, then one for each variant of each entry of
    /// `arrivals`, whose connections share them.
    pub fn paths(&self) -> Vec<Flow<'_>> {
        let mut paths = self.flows_expanded();
        for (entry, arrivals) in self.arrivals.iter().enumerate() {
            for (_, spec) in arrivals.variants() {
                paths.push(Flow { id: paths.len() as u32, entry, spec, arrives: true });
            }
        }
        paths
    }
}
