//! A payload without bytes, for the simulator.

use std::ops::Range;
use std::sync::Arc;

use super::payload::{Payload, Received};
use sojourn_base::units::Time;

/// Bytes that the code adds to protect a packet's sequence number (the public program appends 4; the
/// length is coded in the header).
const PROTECTED: u16 = 4;

/// Number of bytes, and the time at which the application wrote them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Virtual {
    /// Bytes.
    pub bytes: u16,
    /// When the application wrote it.
    pub written_at: Time,
    /// Of a coded packet: its source packets.
    sources: Option<Arc<[(u32, Virtual)]>>,
}

impl Virtual {
    /// A message of `bytes` bytes.
    pub(crate) fn new(bytes: u16, written_at: Time) -> Self {
        Virtual { bytes, written_at, sources: None }
    }
}

impl Payload for Virtual {
    fn len(&self) -> usize {
        self.bytes.into()
    }

    fn encode(sources: &[(u32, Self)], range: Range<u8>) -> Vec<(Self, u16)> {
        let longest = sources.iter().map(|(_, source)| source.bytes).max().unwrap_or(0);
        let bytes = (longest + PROTECTED).next_multiple_of(2);
        let sources: Arc<[_]> = sources.into();
        let coded = Virtual { bytes, written_at: Time::ZERO, sources: Some(sources) };
        range.map(|_| (coded.clone(), bytes)).collect()
    }

    fn decode(sources: u8, received: &[Received<Self>]) -> Option<Vec<(u32, Self)>> {
        if received.len() < sources.into() {
            return None;
        }
        let all = received.iter().find_map(|received| received.payload.sources.clone())?;
        let have = |seq: u32| received.iter().any(|r| r.index < sources && r.seq == seq);
        Some(all.iter().filter(|(seq, _)| !have(*seq)).cloned().collect())
    }
}
