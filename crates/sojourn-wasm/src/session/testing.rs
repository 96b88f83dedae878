//! Runs of texts, for tests.

use serde_json::Value;

use super::Session;

/// The block of a run to its end.
pub(crate) fn finished(text: &str) -> Vec<u8> {
    let mut session = Session::open(text).unwrap_or_else(|refusal| panic!("{refusal:?}: {text}"));
    session.advance(f64::INFINITY).unwrap();
    session.finish().unwrap()
}

/// The bytes of a block's index.
pub(crate) fn length_of(block: &[u8]) -> usize {
    u64::from_le_bytes(block[..8].try_into().unwrap()) as usize
}

/// The index of a block.
pub(crate) fn index_of(block: &[u8]) -> Value {
    serde_json::from_slice(&block[8..8 + length_of(block)]).unwrap()
}
