//! Use of the host's metrics cache: what a connection takes from earlier ones to the same host, and
//! stores for later ones.

use super::Sender;
use crate::cc::Event;
use crate::tcp::HostMemory;
use crate::tcp::metrics::Ended;
use crate::units::Time;

impl Sender {
    /// The same sender with its host's metrics cache, if it has one.
    #[must_use]
    pub fn remembering(self, memory: Option<&HostMemory>) -> Self {
        let path =
            memory.and_then(|memory| memory.path(self.init.forward.tuple, self.init.profile));
        Sender { path, ..self }
    }

    /// The connection is open: initialises it from the cache (Linux `tcp_init_metrics`). A window
    /// reduced by lost SYNs stays reduced.
    pub(super) fn recall(&mut self, now: Time) {
        let Some(path) = &self.path else { return };
        let known = path.recall(now);
        if let Some(ssthresh) = known.ssthresh {
            let cwnd = self.cc.decision().cwnd;
            self.cc.on_congestion(now, &Event::Restart { cwnd, ssthresh });
        }
        self.reordering = known.reordering.unwrap_or(self.reordering);
        if let Some(rtt) = known.rtt {
            self.rtt.expect(rtt);
        }
    }

    /// The connection ends when the application has closed it and all is acknowledged.
    #[inline]
    pub(super) fn end_if_complete(&mut self, now: Time) {
        if self.app.is_complete() && self.completed_at.is_none() {
            self.complete(now);
        }
    }

    #[cold]
    fn complete(&mut self, now: Time) {
        self.completed_at = Some(now);
        if let Some(path) = &self.path
            && self.established_at.is_some()
        {
            path.keep(now, &self.ended());
        }
    }

    fn ended(&self) -> Ended {
        Ended {
            srtt: (!self.rtt.is_backed_off()).then(|| self.rtt.srtt()),
            cwnd: self.cwnd,
            ssthresh: self.decision.ssthresh,
            state: self.recovery.state,
            reordering: self.reordering,
        }
    }
}
