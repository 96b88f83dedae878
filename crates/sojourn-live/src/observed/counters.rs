//! Counters of a flow, from its packets or from the kernel.

use sojourn_base::units::Time;
use sojourn_net::record::{
    AckCounters, EchoCounters, FlowCounters, LimitCounters, RateCounters, ReceiverCounters,
    RecoveryCounters, RttCounters, SenderCounters, WindowCounters,
};

/// All parts of the core's counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub received: ReceiverCounters,
    pub acks: AckCounters,
    pub sent: SenderCounters,
    pub window: WindowCounters,
    pub rtt: RttCounters,
    pub rate: RateCounters,
    pub recovery: RecoveryCounters,
    pub echoes: EchoCounters,
    pub limits: LimitCounters,
    pub established_at: Option<Time>,
    pub completed_at: Option<Time>,
}

impl Counters {
    /// Converted to the core's counters: only TCP has the parts about feedback.
    pub(crate) fn report(&self, tcp: bool) -> FlowCounters {
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
