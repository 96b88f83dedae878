//! Signals: SIGTERM and SIGINT end a node, SIGHUP lets it read its configuration again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register;

/// What was asked for by signals.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
}

impl Signals {
    /// Listens to the process's signals.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn listen() -> io::Result<Self> {
        let signals = Signals::default();
        for signal in [SIGTERM, SIGINT] {
            register(signal, Arc::clone(&signals.stop))?;
        }
        register(SIGHUP, Arc::clone(&signals.reload))?;
        Ok(signals)
    }

    /// Whether the node is to end.
    pub fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the configuration is to be read again; true once for each time.
    pub fn take_reload(&self) -> bool {
        self.reload.swap(false, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use signal_hook::low_level::raise;

    use super::*;

    #[test]
    fn each_signal_is_heeded() {
        let signals = Signals::listen().unwrap();
        assert!(!signals.stop() && !signals.take_reload());
        raise(SIGHUP).unwrap();
        assert_eq!([signals.take_reload(), signals.take_reload()], [true, false]);
        raise(SIGTERM).unwrap();
        assert!(signals.stop() && !signals.take_reload());
    }
}
