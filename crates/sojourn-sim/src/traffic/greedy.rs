//! Greedy: always more data to send.
//!
//! One write of unlimited data at the flow's start; the connection is never closed by the
//! application. It needs a transport with congestion control, so it cannot use UDP.

use super::{Registered, UNLIMITED, Workload, Write};
use crate::registry::NoParams;
use crate::rng::Stream;
use crate::units::Span;

/// Always more data to send.
#[derive(Debug, Default)]
pub struct Greedy;

impl Registered for Greedy {
    type Params = NoParams;
    const SELF_PACED: bool = false;

    fn new(_params: NoParams) -> Self {
        Greedy
    }
}

impl Workload for Greedy {
    fn next(&mut self, _rng: &mut Stream) -> Option<Write> {
        Some(Write { after: Span::ZERO, bytes: UNLIMITED })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Action;
    use crate::traffic::testing::actions;

    #[test]
    fn writes_once_and_never_closes() {
        let seen = actions("'greedy'", Span::MAX);
        assert_eq!(seen, [(Span::ZERO, Action::Open), (Span::ZERO, Action::Write(UNLIMITED))]);
    }
}
