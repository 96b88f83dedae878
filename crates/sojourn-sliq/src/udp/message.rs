//! Bytes as what a data packet carries.

use std::ops::Range;
use std::sync::Arc;

use crate::{Payload, Received};

use crate::udp::erasure;

/// A message's bytes; a copy shares them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Arc<[u8]>);

impl From<&[u8]> for Message {
    fn from(bytes: &[u8]) -> Self {
        Message(bytes.into())
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Payload for Message {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn encode(sources: &[(u32, Self)], range: Range<u8>) -> Vec<(Self, u16)> {
        erasure::encode(sources, range)
    }

    fn decode(sources: u8, received: &[Received<Self>]) -> Option<Vec<(u32, Self)>> {
        erasure::decode(sources, received)
    }
}
