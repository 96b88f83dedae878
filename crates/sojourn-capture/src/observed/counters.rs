//! Counters of a flow, from its packets or from the kernel.

use sojourn_base::units::Time;
use sojourn_net::record::{
    AckCounters, EchoCounters, FlowCounters, LimitCounters, RateCounters, ReceiverCounters,
    RecoveryCounters, RttCounters, SenderCounters, WindowCounters,
};

/// All parts of the core's counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Of the receiver: data that arrived.
    pub received: ReceiverCounters,
    /// Of the receiver: what it sends back.
    pub acks: AckCounters,
    /// Of the sender: data.
    pub sent: SenderCounters,
    /// Of the sender: its window, and what is in flight.
    pub window: WindowCounters,
    /// RTTs.
    pub rtt: RttCounters,
    /// Delivery rates, and that of pacing.
    pub rate: RateCounters,
    /// Losses and their repair.
    pub recovery: RecoveryCounters,
    /// Echoes of marks.
    pub echoes: EchoCounters,
    /// What limited the sender.
    pub limits: LimitCounters,
    /// When the handshake was complete.
    pub established_at: Option<Time>,
    /// When the last byte of a flow that has ended was acknowledged.
    pub completed_at: Option<Time>,
}

impl Counters {
    /// Converted to the core's counters: only TCP has the parts about feedback.
    pub fn report(&self, tcp: bool) -> FlowCounters {
        FlowCounters {
            arrivals: None,
            order: None,
            received: Some(self.received),
            acks: tcp.then_some(self.acks),
            sent: Some(self.sent),
            window: tcp.then_some(self.window),
            rtt: tcp.then_some(self.rtt),
            rate: tcp.then_some(self.rate),
            recovery: tcp.then_some(self.recovery),
            echoes: tcp.then_some(self.echoes),
            limits: tcp.then_some(self.limits),
            choices: None,
            messages: None,
            established_at: self.established_at,
            completed_at: self.completed_at,
        }
    }
}
