//! Recorders: samples and results of a run.
//!
//! Endpoints and links keep cumulative counters and time integrals; at every sampling instant the
//! recorder copies them, and when the run ends, or many rows have come together ([`Chunks`]), it
//! computes the differences between successive samples. Observation costs nothing per packet beyond
//! the counters themselves.

pub mod capture;
mod chunks;
mod columns;
mod endpoint;
mod growing;
mod link;
pub mod live;
mod measured;
mod node;
mod outcome;
pub mod qlog;
mod recorder;
mod samples;
mod table;

pub use crate::counters::{
    AckCounters, ArrivalCounters, ChoiceCounters, EchoCounters, FlowCounters, LimitCounters,
    MessageCounters, OrderCounters, RateCounters, ReceiverCounters, RecoveryCounters, RttCounters,
    SenderCounters, WindowCounters, histogram, reception,
};
pub use chunks::{CHUNK, Chunks, TableSink};
pub use endpoint::RecordedEndpoint;
pub use link::{AirCounters, LinkCounters};
pub use measured::MeasuredEndpoint;
pub use node::NodeSample;
pub use outcome::{FlowFacts, Outcome};
pub use recorder::Recorder;
pub use table::{Column, Table, Values};
