//! Records of events between the samples: the state of components whenever it changes, and the
//! passage of each packet through the recorded links, as rows or as a capture.
//!
//! A recorded component is wrapped: a queue discipline, an endpoint or a node in one that delegates
//! to it, a link in a medium of one channel. So components that are not recorded cost nothing, and
//! recorded ones run as they would otherwise.

mod rows;
mod tap;
mod watch;

pub use rows::{Batch, PacketRows, StateRows, Word};
pub use tap::Tap;
pub use watch::Watch;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::capture::{Capture, Setup, Wire};
use crate::spec::Recorded;
use rows::Rows;

/// Receives rows, a bounded number at a time, and the words that their [`Word`]s index.
pub type Sink = Box<dyn FnMut(Batch, &[Arc<str>]) + Send>;

/// Destination of all recorders. Rows of one component, and of one link, are in the order of time;
/// a link is driven only when something depends on it, so rows of several links need not be.
#[derive(Clone)]
pub struct Log {
    kinds: Arc<[Recorded]>,
    rows: Arc<Mutex<Rows>>,
    capture: Option<Capture>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

impl Log {
    /// Passes records of these kinds to `sink`.
    pub fn new(kinds: &[Recorded], sink: Sink) -> Self {
        let rows = Arc::new(Mutex::new(Rows::new(sink)));
        Log { kinds: kinds.into(), rows, capture: None }
    }

    /// The same with a capture of packets, which `wire` writes as bytes.
    #[must_use]
    pub fn capturing(self, setup: Setup, wire: Box<dyn Wire>) -> Self {
        let rows = Arc::clone(&self.rows);
        let pass = Box::new(move |bytes| locked(&rows).capture(bytes));
        Log { capture: Some(Capture::new(setup, wire, pass)), ..self }
    }

    /// The capture of packets, if there is one.
    pub fn capture(&self) -> Option<&Capture> {
        self.capture.as_ref()
    }

    /// The recorder of the state of `component`, if that kind is recorded.
    pub fn watch(&self, kind: Recorded, component: &str) -> Option<Watch> {
        self.kinds.contains(&kind).then(|| Watch::new(self.clone(), component))
    }

    /// The recorder of the packets of `link`, if packets are recorded, or captured there.
    pub fn tap(&self, link: &str) -> Option<Tap> {
        let rows = self.kinds.contains(&Recorded::Packets).then_some(self);
        Tap::new(link, rows, self.capture.as_ref().and_then(|capture| capture.link(link)))
    }

    /// Has `write` append to the events of a flow, which are a file of their own.
    pub fn events(&self, flow: u32, write: impl FnOnce(&mut Vec<u8>)) {
        self.rows().events(flow, write);
    }

    /// Passes the remaining rows, and bytes of the capture and of events, to the sink.
    pub fn flush(&self) {
        self.rows().flush();
        if let Some(capture) = &self.capture {
            capture.flush();
        }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        locked(&self.rows)
    }
}

fn locked(rows: &Mutex<Rows>) -> MutexGuard<'_, Rows> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}
