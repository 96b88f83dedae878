//! What is counted about a flow.

use crate::units::{Rate, Span, Time};

/// Cumulative counters and present gauges of a flow. Counters grow from the flow's creation;
/// integrals are of a quantity over time. The sender fills one part, the receiver the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowCounters {
    // The receiver's part.
    /// Unique payload bytes delivered to the receiving transport, in whatever order.
    pub delivered_bytes: u64,
    /// Unique data packets delivered to the receiving transport.
    pub delivered_packets: u64,
    /// Payload bytes delivered in order to the application.
    pub in_order_bytes: u64,
    /// Sum over in-order segments of the time from application write to in-order delivery.
    pub one_way_delay_sum: Span,
    /// Segments counted in `one_way_delay_sum`.
    pub one_way_delay_count: u64,
    /// Smoothed time between data arrivals (gain 1/8).
    pub idt_ewma: Span,
    /// CE-marked data packets received.
    pub ce_received: u64,
    /// SCE-marked data packets received.
    pub sce_received: u64,
    /// Data packets received that had been received before.
    pub duplicates_received: u64,
    /// Packets the receiver sent (acknowledgments).
    pub acks_sent: u64,
    /// IP bytes the receiver sent.
    pub ack_bytes_sent: u64,

    // The sender's part: what every ACK or segment counts stands together, for the cache's sake.
    /// Payload bytes sent, retransmissions included.
    pub sent_bytes: u64,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// IP bytes the sender sent.
    pub wire_bytes_sent: u64,
    /// Integral of the congestion window, in segment-seconds.
    pub cwnd_time: f64,
    /// Integral of segments in flight, in segment-seconds.
    pub in_flight_time: f64,
    /// Integral of the smoothed RTT, in seconds times seconds, while it is known.
    pub srtt_time: f64,
    /// Seconds during which the smoothed RTT was known.
    pub srtt_known: f64,
    /// Sum of RTT samples.
    pub rtt_sum: Span,
    /// RTT samples.
    pub rtt_count: u64,
    /// Sum of delivery-rate samples in bit/s of payload.
    pub delivery_rate_sum: f64,
    /// Delivery-rate samples.
    pub delivery_rate_count: u64,
    /// Time spent in loss recovery.
    pub recovery_time: Span,
    /// Time in which the congestion window kept the sender from sending more.
    pub limited_by_cwnd: Span,
    /// Time in which pacing did.
    pub limited_by_pacing: Span,
    /// Time in which the receiver's window did.
    pub limited_by_receiver: Span,
    /// Time in which the send buffer did: it was sent, and the application had more.
    pub limited_by_send_buffer: Span,
    /// Time in which there was no more to send.
    pub limited_by_application: Span,
    /// Payload bytes accepted from the application.
    pub written_bytes: u64,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Of those, later found to have been unnecessary (DSACK).
    pub spurious_retransmissions: u64,
    /// Retransmission timeouts.
    pub rtos: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// Of the segments retransmitted, those that were such probes and had not been marked lost.
    pub probe_retransmissions: u64,
    /// Segments marked lost.
    pub lost: u64,
    /// ACKs with ECN echo.
    pub ece_acks: u64,
    /// ACKs with SCE echo.
    pub esce_acks: u64,
    /// Loss-recovery episodes begun (fast recovery or timeout).
    pub recoveries: u64,

    // Gauges of the sender.
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Span,
    /// Minimum RTT seen lately; zero before the first sample.
    pub min_rtt: Span,
    /// Last valid delivery-rate sample in bit/s of payload.
    pub delivery_rate: f64,
    /// Pacing rate, if the flow is paced.
    pub pacing_rate: Option<Rate>,
    /// When the handshake completed at the sender, if it has.
    pub established_at: Option<Time>,
    /// When the last byte of a closed flow was acknowledged, if it has been.
    pub completed_at: Option<Time>,
}
