//! Results of a model.

use serde::Serialize;

/// Packets received by a receiver.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Received {
    /// The stream, and the node.
    pub stream: usize,
    /// The receiver.
    pub node: usize,
    /// Mbit/s in each sample; of decoded packets where there is coding.
    pub rates: Vec<f64>,
    /// Mean delay in ms from admission to arrival, or to decoding; none where nothing arrived.
    pub delays: Vec<Option<f64>>,
    /// Packets in all.
    pub packets: u64,
    /// Coded packets that brought nothing new.
    pub useless: u64,
}

/// Load of a direction of a link.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Load {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// Mbit/s in each sample, coefficients included, zombies not.
    pub rates: Vec<f64>,
    /// Zombies in all.
    pub zombies: u64,
}

/// Results of a simulation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Ends of the samples, in seconds.
    pub times: Vec<f64>,
    /// By stream: packets admitted in Mbit/s in each sample.
    pub admitted: Vec<Vec<f64>>,
    /// By stream: packets admitted in all.
    pub admitted_packets: Vec<u64>,
    /// By stream and receiver.
    pub received: Vec<Received>,
    /// By link and direction.
    pub loads: Vec<Load>,
    /// By node, group and sample: mean number of packets in the queue.
    pub queued: Vec<Vec<Vec<f64>>>,
    /// Mean bytes that a node tells a neighbour of its queues at a time.
    pub signal_bytes: f64,
    /// Packets of a stream for a node that are in transit at the end.
    pub under_way: Vec<(usize, usize, u64)>,
}
