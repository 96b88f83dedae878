//! KIND: one sentence that says when the application writes, and how much.
//!
//! Say here what it stands for and where that is described; this header is the documentation page.
//! It writes at its own rate, so UDP can carry it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Registered, Workload, Write, check_interval};
use crate::error::FieldError;
use crate::quantity::Bytes;
use crate::rng::Stream;
use crate::units::Span;

/// Parameters of KIND.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Params {
    /// Payload of one write.
    pub size: Bytes,
    /// Time between two writes.
    pub interval: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { size: Bytes(1448), interval: Span::from_millis(10) }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.size.0 == 0 {
            return Err(FieldError::new("size", "0 B given; allowed: at least 1 B"));
        }
        check_interval("interval", self.interval)
    }
}

/// KIND.
#[derive(Debug)]
pub(super) struct KIND {
    params: Params,
}

impl Registered for KIND {
    type Params = Params;

    fn new(params: Params) -> Self {
        KIND { params }
    }
}

impl Workload for KIND {
    fn next(&mut self, _rng: &mut Stream) -> Option<Write> {
        Some(Write { after: self.params.interval, bytes: self.params.size.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;

    #[test]
    fn it_writes_its_size_at_its_interval() {
        let mut rng = StreamKey::root(1).stream();
        let mut workload = KIND::new(Params::default());
        for _ in 0..3 {
            let write = workload.next(&mut rng).expect("another write");
            assert_eq!(write, Write { after: Span::from_millis(10), bytes: 1448 });
        }
    }
}
