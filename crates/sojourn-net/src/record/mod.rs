//! Recorders: what a run leaves behind.
//!
//! Endpoints and links keep cumulative counters and time integrals; at every sampling instant the
//! recorder notes them, and when the run ends it takes their differences from one to the next.
//! Observation costs nothing per packet beyond the counters themselves.

mod columns;
mod endpoint;
mod link;
pub mod live;
mod node;
mod outcome;
mod recorder;
mod table;

pub use crate::counters::{
    AckCounters, ArrivalCounters, ChoiceCounters, EchoCounters, FlowCounters, LimitCounters,
    MessageCounters, OrderCounters, RateCounters, ReceiverCounters, RecoveryCounters, RttCounters,
    SenderCounters, WindowCounters, histogram,
};
pub use endpoint::RecordedEndpoint;
pub use link::{AirCounters, LinkCounters};
pub use node::NodeSample;
pub use outcome::{FlowFacts, Outcome};
pub use recorder::Recorder;
pub use table::{Column, Table, Values};
