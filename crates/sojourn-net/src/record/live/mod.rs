//! What happens between the samples: the state of components whenever it changes, and the way of
//! each packet through the recorded links.
//!
//! What is recorded is wrapped: a queue discipline, an endpoint or a node in another that passes
//! everything on, a link in a medium of one channel. So what is not recorded costs nothing, and what
//! is recorded runs as it would otherwise.

mod rows;
mod tap;
mod watch;

pub use rows::{Batch, PacketRows, StateRows, Word};
pub use tap::Tap;
pub use watch::Watch;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::spec::Recorded;
use rows::Rows;

/// Takes rows, a bounded number at a time, and the words that their [`Word`]s stand for.
pub type Sink = Box<dyn FnMut(Batch, &[Arc<str>]) + Send>;

/// Where all that record write to. Rows of one component, and of one link, are in the order of
/// time; a link is driven only when something depends on it, so those of several need not be.
#[derive(Clone)]
pub struct Log {
    kinds: Arc<[Recorded]>,
    rows: Arc<Mutex<Rows>>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

impl Log {
    /// Gives what is of these kinds to `sink`.
    pub fn new(kinds: &[Recorded], sink: Sink) -> Self {
        Log { kinds: kinds.into(), rows: Arc::new(Mutex::new(Rows::new(sink))) }
    }

    /// Who watches the state of `component`, if that kind is recorded.
    pub fn watch(&self, kind: Recorded, component: &str) -> Option<Watch> {
        self.kinds.contains(&kind).then(|| Watch::new(self.clone(), component))
    }

    /// Who follows the packets of `link`, if packets are recorded.
    pub fn tap(&self, link: &str) -> Option<Tap> {
        self.kinds.contains(&Recorded::Packets).then(|| Tap::new(self.clone(), link))
    }

    /// Hands out the rows that are left.
    pub fn flush(&self) {
        self.rows().flush();
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
