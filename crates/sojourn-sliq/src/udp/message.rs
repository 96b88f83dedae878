//! Bytes as what a data packet carries.

use std::sync::Arc;

/// The longest message, in bytes.
pub(super) const MAX_PAYLOAD: u16 = 1_430;

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
