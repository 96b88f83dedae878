//! Counters of the ends of a flow.

use crate::connection::{Levels, Measured};
use crate::stream::{Counts, Delivered};
use crate::virtual_payload::Virtual;
use sojourn_base::counters::histogram::Histogram;
use sojourn_base::counters::reception::Delays;
use sojourn_base::counters::{
    AckCounters, ChoiceCounters, FlowCounters, MessageCounters, RateCounters, ReceiverCounters,
    RecoveryCounters, RttCounters, SenderCounters, WindowCounters,
};
use sojourn_base::units::{Rate, Span, Time};

/// Counters of what an end sends.
#[derive(Debug, Default)]
pub(super) struct Departures {
    packets: u32,
    data_packets: u64,
    bytes: u64,
    wire_bytes: u64,
    /// Bytes that the application wrote.
    pub written_bytes: u64,
    /// When the connection was established.
    pub established_at: Option<Time>,
    /// When all of a closed stream was acknowledged.
    pub completed_at: Option<Time>,
    /// RTT samples.
    pub rtts: Histogram,
    rtt_count: u64,
    window: WindowCounters,
    rtt: RttCounters,
    /// Time in which the other end was silent.
    pub outage_time: Span,
    last: Time,
}

impl Departures {
    /// Packets sent.
    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    /// A packet of `size` bytes goes out.
    pub(super) fn count(&mut self, size: u32, payload: u16) {
        self.packets += 1;
        self.wire_bytes += u64::from(size);
        self.data_packets += u64::from(payload > 0);
        self.bytes += u64::from(payload);
    }

    /// Time passes up to `now`; how much.
    pub(super) fn pass(&mut self, now: Time, outage: bool) -> Span {
        let since = now.since(self.last);
        self.last = now;
        if outage {
            self.outage_time += since;
        }
        since
    }

    /// Adds to the integrals the levels that held for `since`.
    pub(super) fn integrate(&mut self, since: Span, measured: &Levels, mss: u64) {
        let passed = since.as_secs_f64();
        let window = &mut self.window;
        window.cwnd = (measured.window / mss) as u32;
        window.ssthresh = measured.threshold.map_or(u32::MAX, |bytes| (bytes / mss) as u32);
        window.in_flight = measured.in_flight.div_ceil(mss) as u32;
        window.cwnd_time += passed * f64::from(window.cwnd);
        window.in_flight_time += passed * f64::from(window.in_flight);
        let rtt = &mut self.rtt;
        rtt.rtt_sum = measured.rtts.sum;
        rtt.rtt_count = measured.rtts.count;
        if rtt.rtt_count > 0 {
            rtt.srtt = measured.srtt;
            rtt.srtt_time += passed * measured.srtt.as_secs_f64();
            rtt.srtt_known += passed;
        }
        if rtt.rtt_count > self.rtt_count {
            self.rtt_count = rtt.rtt_count;
            self.rtts.add(measured.rtts.latest);
        }
        rtt.min_rtt = measured.rtts.least.unwrap_or_default();
    }

    /// The sender's part of the flow's counters.
    pub(super) fn report(&self, measured: &Measured, counters: &mut FlowCounters) {
        counters.sent = Some(SenderCounters {
            sent_bytes: self.bytes,
            sent_packets: self.data_packets,
            wire_bytes_sent: self.wire_bytes,
            written_bytes: self.written_bytes,
        });
        counters.window = Some(self.window);
        counters.rtt = Some(self.rtt);
        counters.rate = Some(RateCounters {
            pacing_rate: Some(Rate::from_bps(measured.send_rate.max(1.0) as u64)),
            ..RateCounters::default()
        });
        counters.recovery = Some(RecoveryCounters {
            retransmissions: measured.retransmissions,
            rtos: measured.timeouts,
            lost: measured.losses,
            recoveries: measured.outages,
            ..RecoveryCounters::default()
        });
        let [arq_groups, coded_groups, fec_groups] = measured.groups;
        counters.choices = Some(ChoiceCounters {
            first_control_packets: measured.first_control,
            controlled_packets: measured.controlled,
            arq_groups,
            coded_groups,
            fec_groups,
            outage_time: self.outage_time,
            capacity: measured.capacity.unwrap_or(0.0),
            error_rate: measured.error_rate,
        });
        counters.established_at = self.established_at;
        counters.completed_at = self.completed_at;
    }

    /// Adds what a receiver sent.
    pub(super) fn report_acks(&self, counters: &mut FlowCounters) {
        counters.acks =
            Some(AckCounters { acks_sent: self.packets.into(), ack_bytes_sent: self.wire_bytes });
    }
}

/// Counters of what an end receives.
#[derive(Debug)]
pub(super) struct Arrivals {
    counters: ReceiverCounters,
    last: Option<Time>,
    deadline: Option<Span>,
    delays: Delays,
    late: u64,
    /// Packets with a congestion mark.
    pub marks: u64,
}

impl Arrivals {
    /// Messages that take longer than the deadline are late.
    pub(super) fn new(deadline: Option<Span>) -> Self {
        Arrivals {
            counters: ReceiverCounters::default(),
            last: None,
            deadline,
            delays: Delays::default(),
            late: 0,
            marks: 0,
        }
    }

    /// A message is delivered.
    pub(super) fn on_message(&mut self, now: Time, delivered: &Delivered<Virtual>) {
        let counters = &mut self.counters;
        let delay = now.since(delivered.payload.written_at);
        counters.delivered_bytes += u64::from(delivered.payload.bytes);
        counters.delivered_packets += 1;
        counters.in_order_bytes = counters.delivered_bytes;
        counters.one_way_delay_sum += delay;
        counters.one_way_delay_count += 1;
        counters.ce_received = self.marks;
        self.delays.add(delay);
        self.late += u64::from(self.deadline.is_some_and(|deadline| delay > deadline));
        if let Some(last) = self.last.replace(now) {
            let gap = now.since(last).as_nanos();
            let smooth = counters.idt_ewma.as_nanos();
            let next = if smooth == 0 { gap } else { smooth - smooth / 8 + gap / 8 };
            counters.idt_ewma = Span::from_nanos(next);
        }
    }

    /// The receiver's part of the flow's counters.
    pub(super) fn report(&self, counts: Counts, outage_time: Span, counters: &mut FlowCounters) {
        counters.received = Some(self.counters);
        counters.messages = Some(MessageCounters {
            received_packets: counts.received_in_time,
            usable_messages: counts.delivered_in_time,
            late_messages: self.late,
            delay_p995: self.delays.histogram().percentile(0.995).unwrap_or_default(),
            peer_outage_time: outage_time,
        });
    }

    /// Times from writing to delivery: median, 95th and 99th percentile.
    pub(super) fn delivery(&self) -> Option<[Span; 3]> {
        self.delays.quantiles()
    }

    /// Distributions start afresh.
    pub(super) fn end_warmup(&mut self) {
        self.delays.clear();
    }
}
