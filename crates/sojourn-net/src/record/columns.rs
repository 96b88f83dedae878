//! Columns of the samples of flows, links and nodes, named like the counters.

use super::samples::{Figure, SampleColumn};
use super::{FlowCounters, LinkCounters, NodeSample};
use crate::units::Span;

/// `name: Kind` for a counter that always exists, `name: Kind of part` for one of an optional part
/// of the counters, with `(how)` if it is computed and not copied.
macro_rules! figures {
    ($($name:ident: $kind:ident $(of $part:ident $(($how:expr))?)?),* $(,)?) => {
    &[$((stringify!($name), Figure::$kind(figures!(@get $name $($part $($how)?)?)))),*]
    };
    (@get $name:ident) => { |counters| Some(counters.$name) };
    (@get $name:ident $part:ident) => { |counters| Some(counters.$part.as_ref()?.$name) };
    (@get $name:ident $part:ident $how:expr) => { |counters| counters.$part.as_ref().map($how) };
}

/// NaN for a span that is zero, which means not known yet.
fn known(span: Span) -> f64 {
    if span == Span::ZERO { f64::NAN } else { span.as_secs_f64() }
}

/// Columns of `flow_samples` after `time` and `flow`.
pub(super) static FLOW_COLUMNS: &[SampleColumn<FlowCounters>] = figures! {
    delivered_bytes: Count of received,
    delivered_packets: Count of received,
    in_order_bytes: Count of received,
    one_way_delay_sum: Spans of received,
    one_way_delay_count: Count of received,
    ce_received: Count of received,
    sce_received: Count of received,
    duplicates_received: Count of received,
    acks_sent: Count of acks,
    ack_bytes_sent: Count of acks,
    written_bytes: Count of sent,
    sent_bytes: Count of sent,
    sent_packets: Count of sent,
    wire_bytes_sent: Count of sent,
    retransmissions: Count of recovery,
    spurious_retransmissions: Count of recovery,
    rtos: Count of recovery,
    probes: Count of recovery,
    probe_retransmissions: Count of recovery,
    lost: Count of recovery,
    ece_acks: Count of echoes,
    esce_acks: Count of echoes,
    cwnd_time: Integral of window,
    in_flight_time: Integral of window,
    srtt_time: Integral of rtt,
    srtt_known: Integral of rtt,
    rtt_sum: Spans of rtt,
    rtt_count: Count of rtt,
    delivery_rate_sum: Integral of rate,
    delivery_rate_count: Count of rate,
    recoveries: Count of recovery,
    recovery_time: Spans of recovery,
    limited_by_cwnd: Spans of limits,
    limited_by_pacing: Spans of limits,
    limited_by_receiver: Spans of limits,
    limited_by_send_buffer: Spans of limits,
    limited_by_application: Spans of limits,
    cwnd: Level of window(|c| c.cwnd.into()),
    ssthresh: Level of window(|c| c.ssthresh.into()),
    in_flight: Level of window(|c| c.in_flight.into()),
    srtt: Gauge of rtt(|c| known(c.srtt)),
    min_rtt: Gauge of rtt(|c| known(c.min_rtt)),
    delivery_rate: Gauge of rate(|c| if c.delivery_rate > 0.0 { c.delivery_rate } else { f64::NAN }),
    pacing_rate: Gauge of rate(|c| c.pacing_rate.map_or(f64::NAN, |rate| rate.as_bps() as f64)),
    idt_ewma: Gauge of received(|c| known(c.idt_ewma)),
    first_control_packets: Count of choices,
    controlled_packets: Count of choices,
    arq_groups: Count of choices,
    coded_groups: Count of choices,
    fec_groups: Count of choices,
    outage_time: Spans of choices,
    capacity: Gauge of choices(|c| c.capacity),
    error_rate: Gauge of choices(|c| c.error_rate),
    received_packets: Count of messages,
    usable_messages: Count of messages,
    late_messages: Count of messages,
    delay_p995: Gauge of messages(|c| known(c.delay_p995)),
    acks_received: Count of arrivals,
    ack_blocks: Count of arrivals,
    send_gap_sum: Spans of arrivals,
    send_gap_count: Count of arrivals,
    peer_outage_time: Spans of messages,
    reordered_packets: Count of order,
};

/// Columns of `link_samples` after `time` and `link`.
pub(super) static LINK_COLUMNS: &[SampleColumn<LinkCounters>] = figures! {
    sent_packets: Count,
    sent_bytes: Count,
    offered_packets: Count,
    sojourn_sum: Spans,
    sojourn_count: Count,
    queue_time: Integral,
    drops_overflow: Count,
    drops_aqm: Count,
    drops_policed: Count,
    drops_loss: Count,
    duplicated_packets: Count,
    thinned_packets: Count,
    ce_marks: Count,
    sce_marks: Count,
    queue_packets: Level,
    airtime: Spans of air,
    attempts: Count of air,
    collisions: Count of air,
    failed: Count of air,
    mpdus: Count of air,
    retries: Count of air,
};

/// Columns of `node_samples` after `time` and `node`, whatever kinds of nodes there are.
static NODE_COLUMNS: &[SampleColumn<NodeSample>] = &[
    ("queue_packets", Figure::Level(|node| Some(node.waiting.packets))),
    ("queue_bytes", Figure::Level(|node| Some(node.waiting.bytes))),
    ("received_packets", Figure::Count(|node| Some(node.received_packets))),
    ("sent_packets", Figure::Count(|node| Some(node.sent_packets))),
    ("delivered_packets", Figure::Count(|node| Some(node.delivered_packets))),
    ("drops", Figure::Count(|node| Some(node.drops))),
];

/// All columns of `node_samples` after `time` and `node`, where kinds of nodes name these counters.
pub(super) fn node_columns(counters: &[&'static str]) -> Vec<SampleColumn<NodeSample>> {
    NODE_COLUMNS.iter().copied().chain(counters.iter().copied().map(node_counter)).collect()
}

fn node_counter(name: &'static str) -> SampleColumn<NodeSample> {
    (name, Figure::Named(|node, name| Some(node.count(name))))
}
