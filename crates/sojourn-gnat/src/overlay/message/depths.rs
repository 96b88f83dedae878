//! Message about a node's queues to a neighbour.

use std::sync::Arc;

/// Headers of a message about queues: IP and UDP are the path controller's.
const HEADERS: u32 = 8;
/// A destination's entry there: its number, all bytes, bytes of latency-sensitive traffic.
const DESTINATION: u32 = 9;
/// A group's entry: its number, and how many destinations follow.
const GROUP: u32 = 5;

/// Depths of a node's queues.
#[derive(Clone, Debug)]
pub struct Depths {
    /// Number of the message, to tell old ones.
    pub number: u32,
    /// For each member: all bytes, bytes of latency-sensitive traffic.
    pub bytes: Vec<[f64; 2]>,
    /// For each group and member.
    pub groups: Arc<Vec<Vec<f64>>>,
    size: u32,
}

impl Depths {
    /// The depths of queues for members, and for groups and members.
    pub fn new(number: u32, bytes: Vec<[f64; 2]>, groups: Arc<Vec<Vec<f64>>>) -> Self {
        let told = bytes.iter().filter(|bytes| bytes[0] > 0.0).count();
        let size = HEADERS + DESTINATION * told as u32 + group_bytes(&groups);
        Depths { number, bytes, groups, size }
    }

    /// Its bytes in a message.
    pub fn message_bytes(&self) -> u32 {
        self.size
    }
}

/// Bytes of the entries of groups.
fn group_bytes(groups: &[Vec<f64>]) -> u32 {
    let told = groups.iter().map(|depths| depths.iter().filter(|depth| **depth > 0.0).count());
    told.filter(|count| *count > 0).map(|count| GROUP + DESTINATION * count as u32).sum()
}
