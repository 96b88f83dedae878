//! Counters of a flow's ends, and histograms. Endpoints count; recorders and other programs read.

mod flow;
pub mod histogram;
pub mod reception;

pub use flow::{
    AckCounters, ArrivalCounters, ChoiceCounters, EchoCounters, FlowCounters, LimitCounters,
    MessageCounters, OrderCounters, RateCounters, ReceiverCounters, RecoveryCounters, RttCounters,
    SenderCounters, WindowCounters,
};
