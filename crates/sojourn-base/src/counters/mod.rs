//! What is counted where it happens, and in what: the counters of a flow's ends, and histograms.
//! Recorders take them from there, and so may anybody else.

mod flow;
pub mod histogram;

pub use flow::{
    AckCounters, ArrivalCounters, ChoiceCounters, EchoCounters, FlowCounters, LimitCounters,
    MessageCounters, OrderCounters, RateCounters, ReceiverCounters, RecoveryCounters, RttCounters,
    SenderCounters, WindowCounters,
};
