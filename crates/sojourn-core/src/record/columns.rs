//! Which columns the samples of flows and links have. Names are those of the counters.

use super::table::{Figure, SampleColumn};
use super::{FlowCounters, LinkCounters};
use crate::units::Span;

/// `name: Kind` for a counter that keeps its name, `name: Kind(how)` for one that does not.
macro_rules! figures {
    ($($name:ident: $kind:ident $(($how:expr))?),* $(,)?) => {
    &[$((stringify!($name), Figure::$kind(figures!(@get $name $($how)?)))),*]
    };
    (@get $name:ident) => { |counters| counters.$name };
    (@get $name:ident $how:expr) => { $how };
}

/// A span that is zero before it is known.
fn known(span: Span) -> f64 {
    if span == Span::ZERO { f64::NAN } else { span.as_secs_f64() }
}

/// Columns of `flow_samples` after `time` and `flow`.
pub static FLOW_COLUMNS: &[SampleColumn<FlowCounters>] = figures! {
    delivered_bytes: Count,
    delivered_packets: Count,
    in_order_bytes: Count,
    one_way_delay_sum: Spans,
    one_way_delay_count: Count,
    ce_received: Count,
    sce_received: Count,
    duplicates_received: Count,
    acks_sent: Count,
    ack_bytes_sent: Count,
    written_bytes: Count,
    sent_bytes: Count,
    sent_packets: Count,
    wire_bytes_sent: Count,
    retransmissions: Count,
    spurious_retransmissions: Count,
    rtos: Count,
    probes: Count,
    probe_retransmissions: Count,
    lost: Count,
    ece_acks: Count,
    esce_acks: Count,
    cwnd_time: Integral,
    in_flight_time: Integral,
    srtt_time: Integral,
    srtt_known: Integral,
    rtt_sum: Spans,
    rtt_count: Count,
    delivery_rate_sum: Integral,
    delivery_rate_count: Count,
    recoveries: Count,
    recovery_time: Spans,
    limited_by_cwnd: Spans,
    limited_by_pacing: Spans,
    limited_by_receiver: Spans,
    limited_by_send_buffer: Spans,
    limited_by_application: Spans,
    cwnd: Level(|c| c.cwnd.into()),
    ssthresh: Level(|c| c.ssthresh.into()),
    in_flight: Level(|c| c.in_flight.into()),
    srtt: Gauge(|c| known(c.srtt)),
    min_rtt: Gauge(|c| known(c.min_rtt)),
    delivery_rate: Gauge(|c| if c.delivery_rate > 0.0 { c.delivery_rate } else { f64::NAN }),
    pacing_rate: Gauge(|c| c.pacing_rate.map_or(f64::NAN, |rate| rate.as_bps() as f64)),
    idt_ewma: Gauge(|c| known(c.idt_ewma)),
};

/// Columns of `link_samples` after `time` and `link`.
pub static LINK_COLUMNS: &[SampleColumn<LinkCounters>] = figures! {
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
};
