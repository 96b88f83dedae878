//! A flow in a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::own::{Keys, Own};
use super::{
    AccessCategory, BufferSize, Controls, EcnMode, FlowDirection, Gro, HostQueue, Pacing, Spec,
    Stack, Traffic, Transport,
};
use crate::packet::Dscp;
use crate::units::{Rate, Span};

/// One or more identical flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlowSpec {
    /// Name for tables and figures, at most 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Transport protocol, such as `tcp`, or `udp` for datagrams without feedback.
    pub transport: Spec<Transport>,
    /// Congestion control; every TCP flow names one, and some transports take a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cca: Option<Controls>,
    /// Round-trip propagation delay outside the topology's links, half in each direction. Without
    /// it 0 ms: refused where a buffer is given in bandwidth-delay products, unless a link on the
    /// way has a delay.
    #[serde(serialize_with = "zero_unless_given")]
    pub rtt: Option<Span>,
    /// Rate of this flow's own access link, on the sender's side. Default: the topology's
    /// `access_rate`, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_rate: Option<Rate>,
    /// When the connection is opened (the SYN is sent).
    pub start: Span,
    /// When the sender stops offering data. Default: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// Number of flows like this.
    pub count: u32,
    /// ECN feedback. Default: what the control requires, else `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnMode>,
    /// Bytes that the sender accepts from the application ahead of their acknowledgment.
    pub send_buffer: BufferSize,
    /// Receive buffer; Linux announces a share of it (half, or 0.62 in Linux 6), and with `stack`
    /// opens the window up to that as data is read.
    pub receive_buffer: BufferSize,
    /// Direction of the data.
    pub direction: FlowDirection,
    /// Model of what the application writes, and when.
    pub traffic: Spec<Traffic>,
    /// Indices (from 0) of this flow's data packets that the path loses, for exact replays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<u32>,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Segments per delayed ACK.
    pub ack_every: u32,
    /// Initial window, in segments, to which the window also falls back when the connection was idle
    /// (`ip route ... initcwnd`). Default: the stack's, which is 10. Controls with a first window of
    /// their own, such as Hybla and LEDBAT, ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Slow-start threshold, in segments, with which the connection begins: what Linux remembers of
    /// earlier connections to a host, or is told by `ip route`. Default: none. Controls without a
    /// threshold ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// Queue between transport and device of the sending host.
    pub host_queue: HostQueue,
    /// Whether the sender paces its segments from the eleventh on, whatever its control and its stack
    /// do: `on`, `off`, or a rate of payload that it does not exceed (`SO_MAX_PACING_RATE`). Default:
    /// if the control asks for it, as far as the stack lets it, or if `host_queue` is `fq`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// Whether the sender sends bursts, as with segmentation offload (TSO, GSO): a paced one a
    /// millisecond's worth at a time, another one by waiting for more. Default: what the stack
    /// does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offload: Option<bool>,
    /// Whether links carry a burst as one packet, as between virtual interfaces: `loss` and a
    /// `fifo` drop it as a whole, a limit in packets counts it once, and it is acknowledged when
    /// all of it has arrived.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole_bursts: bool,
    /// Whether a segment of less than `mss` waits while an earlier such one is unacknowledged
    /// (Nagle's algorithm as Minshall's; false is `TCP_NODELAY`). Default: what the stack does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nagle: Option<bool>,
    /// Whether the receiver merges segments that arrive back to back (GRO) and acknowledges them
    /// together: those of 50 us, or of the time given.
    pub gro: Gro,
    /// Whether the receiver measures every packet: quantiles of one-way delays, jitter, runs of
    /// losses. Default: of datagrams, not of what a congestion control sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_metrics: Option<bool>,
    /// Priority of its packets in the contention for a shared medium, in both directions.
    #[serde(skip_serializing_if = "is_usual")]
    pub access_category: AccessCategory,
    /// DiffServ codepoint of its packets, in both directions, such as `ef`, `cs1`, `af41` or 46: the
    /// tins of Cake are chosen by it. Default: `cs0`, best effort.
    #[serde(skip_serializing_if = "is_best_effort")]
    pub dscp: Dscp,
    /// Stack and version of this flow's endpoints. Default: the scenario's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<Stack>,
    /// Sending host: a node of a graph, or any name in the other topologies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Receiving host, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Receiving hosts of a multicast stream of datagrams, in place of `to`: the same as an entry
    /// for each, with the same `group` of its `service`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub receivers: Vec<String>,
    /// Links that the data passes, in order; the acknowledgments return over the reverse ones.
    /// Default: the shortest path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// Multicast group, if it has one.
    #[serde(skip)]
    pub group: Option<String>,
    /// Keys of the scenario's sections.
    #[serde(skip)]
    pub own: Own,
}

impl Default for FlowSpec {
    fn default() -> Self {
        FlowSpec {
            label: None,
            transport: Spec::named("tcp"),
            cca: None,
            rtt: None,
            access_rate: None,
            start: Span::ZERO,
            stop: None,
            count: 1,
            ecn: None,
            send_buffer: BufferSize::Auto,
            receive_buffer: BufferSize::Auto,
            direction: FlowDirection::default(),
            traffic: Spec::named("greedy"),
            drop: Vec::new(),
            mss: 1448,
            ack_every: 2,
            initial_window: None,
            initial_ssthresh: None,
            host_queue: HostQueue::default(),
            pacing: None,
            offload: None,
            whole_bursts: false,
            nagle: None,
            gro: Gro::default(),
            packet_metrics: None,
            access_category: AccessCategory::default(),
            dscp: Dscp::BEST_EFFORT,
            stack: None,
            from: None,
            to: None,
            receivers: Vec::new(),
            route: None,
            group: None,
            own: Own::default(),
        }
    }
}

impl FlowSpec {
    /// Its round-trip propagation delay outside the topology's links.
    pub fn rtt(&self) -> Span {
        self.rtt.unwrap_or(Span::ZERO)
    }

    /// Sets a section's keys.
    pub fn bring<T: Keys>(&mut self, keys: &T) {
        self.own.set(keys);
        self.group = keys.group().map(str::to_owned).or(self.group.take());
    }
}

fn is_usual(category: &AccessCategory) -> bool {
    *category == AccessCategory::default()
}

fn is_best_effort(dscp: &Dscp) -> bool {
    *dscp == Dscp::BEST_EFFORT
}

/// The canonical form has a value for every key.
fn zero_unless_given<S: Serializer>(rtt: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
    rtt.unwrap_or(Span::ZERO).serialize(serializer)
}

/// One flow of the run: `count` is expanded. Or what the connections of a variant of arrivals have
/// in common.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    /// Its number, from 0 in the order of the file.
    pub id: u32,
    /// Index of its entry in the file's `flows`, or `arrivals`.
    pub entry: usize,
    /// Its description.
    pub spec: &'a FlowSpec,
    /// Whether its entry is one of `arrivals`.
    pub arrives: bool,
}

impl Flow<'_> {
    /// Its entry, as errors name it.
    pub fn field(&self) -> String {
        let list = if self.arrives { "arrivals" } else { "flows" };
        format!("{list}.{}", self.entry)
    }
}
