//! Socket buffers: a size, `auto` or `stack`.

use std::fmt;
use std::str::FromStr;

use crate::quantity::{Bytes, quantity};

/// The size of a socket buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BufferSize {
    /// Never the limit: the send buffer grows with the outstanding data, the receive window is
    /// always open.
    #[default]
    Auto,
    /// The stack's own maximum (`tcp_wmem[2]`, `tcp_rmem[2]`), autotuned up to it.
    Stack,
    /// A number of bytes.
    Bytes(u64),
}

const EXPECTED: &str = "a buffer size such as \"4 MB\", \"auto\" or \"stack\"";

impl FromStr for BufferSize {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("auto") {
            return Ok(BufferSize::Auto);
        }
        if text.trim().eq_ignore_ascii_case("stack") {
            return Ok(BufferSize::Stack);
        }
        match text.parse().map_err(|why: String| format!("{why}, \"auto\" or \"stack\""))? {
            Bytes(0) => Err(format!("must be above zero; expected {EXPECTED}")),
            Bytes(bytes) => Ok(BufferSize::Bytes(bytes)),
        }
    }
}

impl fmt::Display for BufferSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferSize::Auto => f.write_str("auto"),
            BufferSize::Stack => f.write_str("stack"),
            BufferSize::Bytes(bytes) => Bytes(*bytes).fmt(f),
        }
    }
}

quantity!(
    BufferSize,
    EXPECTED,
    "size, auto or stack",
    r"^\s*([0-9.eE+_-]+\s*(GB|MB|kB|B)|auto|stack)\s*$"
);
