//! Counters of a flow.

use crate::units::{Rate, Span, Time};

/// What the two ends of a flow report, in parts. A part that a transport does not report is absent,
/// and so are the values of its columns. The sender fills some parts, the receiver the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowCounters {
    /// Receiver: data that arrived.
    pub received: Option<ReceiverCounters>,
    /// Receiver: acknowledgments sent.
    pub acks: Option<AckCounters>,
    /// Sender: data sent.
    pub sent: Option<SenderCounters>,
    /// Sender: acknowledgments received.
    pub arrivals: Option<ArrivalCounters>,
    /// Sender: congestion window.
    pub window: Option<WindowCounters>,
    /// Sender: RTT samples.
    pub rtt: Option<RttCounters>,
    /// Sender: delivery-rate samples and pacing rate.
    pub rate: Option<RateCounters>,
    /// Sender: losses and their repair.
    pub recovery: Option<RecoveryCounters>,
    /// Sender: echoes of congestion marks.
    pub echoes: Option<EchoCounters>,
    /// Sender: what limited its sending.
    pub limits: Option<LimitCounters>,
    /// Sender with several controls or with error control: its estimates and choices.
    pub choices: Option<ChoiceCounters>,
    /// Receiver of messages that are coded or have a deadline.
    pub messages: Option<MessageCounters>,
    /// Receiver of numbered datagrams: their order.
    pub order: Option<OrderCounters>,
    /// When the handshake completed at the sender, if it has.
    pub established_at: Option<Time>,
    /// When the last byte of a closed flow was acknowledged, if it has been.
    pub completed_at: Option<Time>,
}

/// Counters of a receiver, from the flow's creation.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReceiverCounters {
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
}

/// Order of arrival of a receiver's datagrams.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrderCounters {
    /// Datagrams that arrived after one that was sent later; duplicates do not count.
    pub reordered_packets: u64,
}

/// Packets that a receiver sends back.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckCounters {
    /// Packets the receiver sent (acknowledgments).
    pub acks_sent: u64,
    /// IP bytes the receiver sent.
    pub ack_bytes_sent: u64,
}

/// Estimates and choices of a sender with several controls or with error control.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChoiceCounters {
    /// New packets sent by permission of the first control.
    pub first_control_packets: u64,
    /// New packets sent by permission of any control.
    pub controlled_packets: u64,
    /// Groups sent with retransmission alone.
    pub arq_groups: u64,
    /// Groups sent with a code and retransmission.
    pub coded_groups: u64,
    /// Groups sent with a code alone.
    pub fec_groups: u64,
    /// Time in which the peer was silent.
    pub outage_time: Span,
    /// Estimate of the path's capacity in bit/s, framing included.
    pub capacity: f64,
    /// Share of packets lost on the path to the peer.
    pub error_rate: f64,
}

/// Counters of a receiver of messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageCounters {
    /// Data packets received in a round of their group, coded ones and duplicates included.
    pub received_packets: u64,
    /// Messages delivered in a round of their group.
    pub usable_messages: u64,
    /// Messages delivered after their deadline.
    pub late_messages: u64,
    /// 99.5th percentile of the time from writing to delivery so far.
    pub delay_p995: Span,
    /// Time in which this end considered the other one silent.
    pub peer_outage_time: Span,
}

/// Counters of data sent, from the flow's creation.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderCounters {
    /// Payload bytes sent, retransmissions included.
    pub sent_bytes: u64,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// IP bytes the sender sent.
    pub wire_bytes_sent: u64,
    /// Payload bytes accepted from the application.
    pub written_bytes: u64,
}

/// Acknowledgments that reach a sender, and the data sent between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArrivalCounters {
    /// Acknowledgments.
    pub acks_received: u64,
    /// Blocks of consecutive acknowledgments: data was sent between two blocks.
    pub ack_blocks: u64,
    /// Sum of the times between data packets with no acknowledgment between them.
    pub send_gap_sum: Span,
    /// Number of times in `send_gap_sum`.
    pub send_gap_count: u64,
}

/// A sender's window: integrals over time, and gauges.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowCounters {
    /// Integral of the congestion window, in segment-seconds.
    pub cwnd_time: f64,
    /// Integral of segments in flight, in segment-seconds.
    pub in_flight_time: f64,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Segments in flight.
    pub in_flight: u32,
}

/// A sender's RTT samples: sums, integrals over time, and gauges.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttCounters {
    /// Integral of the smoothed RTT, in seconds times seconds, while it is known.
    pub srtt_time: f64,
    /// Seconds during which the smoothed RTT was known.
    pub srtt_known: f64,
    /// Sum of RTT samples.
    pub rtt_sum: Span,
    /// Number of RTT samples.
    pub rtt_count: u64,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Span,
    /// Recent minimum of the RTT; zero before the first sample.
    pub min_rtt: Span,
}

/// A sender's delivery-rate samples, and its pacing.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateCounters {
    /// Sum of delivery-rate samples in bit/s of payload.
    pub delivery_rate_sum: f64,
    /// Number of delivery-rate samples.
    pub delivery_rate_count: u64,
    /// Last valid delivery-rate sample in bit/s of payload.
    pub delivery_rate: f64,
    /// Pacing rate, if the flow is paced.
    pub pacing_rate: Option<Rate>,
}

/// Counters of a sender's losses and retransmissions.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecoveryCounters {
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Retransmissions that were later found unnecessary (DSACK).
    pub spurious_retransmissions: u64,
    /// Retransmission timeouts.
    pub rtos: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// Retransmissions that were tail loss probes of segments not marked lost.
    pub probe_retransmissions: u64,
    /// Segments marked lost.
    pub lost: u64,
    /// Loss-recovery episodes begun (fast recovery or timeout).
    pub recoveries: u64,
    /// Time spent in loss recovery.
    pub recovery_time: Span,
}

/// Echoes of congestion marks that reach a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct EchoCounters {
    /// ACKs with ECN echo.
    pub ece_acks: u64,
    /// ACKs with SCE echo.
    pub esce_acks: u64,
}

/// Time in which each limit kept a sender from sending more.
#[derive(Clone, Copy, Debug, Default)]
pub struct LimitCounters {
    /// Time in which the congestion window kept the sender from sending more.
    pub limited_by_cwnd: Span,
    /// Time in which pacing limited sending.
    pub limited_by_pacing: Span,
    /// Time in which the receiver's window limited sending.
    pub limited_by_receiver: Span,
    /// Time in which the send buffer limited sending: all of it was sent, and the application had
    /// more.
    pub limited_by_send_buffer: Span,
    /// Time in which there was no more to send.
    pub limited_by_application: Span,
}
