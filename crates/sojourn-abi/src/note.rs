//! A record of the running callback of an external control, in a file that other processes read: it
//! survives this process, however that ends.
//!
//! The file holds, as the machine's integers, a count of callbacks (u64), the simulated time in
//! nanoseconds (u64), the flow (u32, [`DISCIPLINE`] for a queue discipline) and the callback (u32, 0
//! for none).

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use memmap2::MmapMut;
use sojourn_base::units::Time;

/// Callback of an external control or queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Callback {
    /// Its construction.
    New = 1,
    /// The names below are those of its methods.
    OnAck,
    /// As its name.
    OnCongestion,
    /// As its name.
    Decision,
    /// As its name.
    OnEstablished,
    /// As its name.
    OnSent,
    /// As its name.
    OnPacketLost,
    /// As its name.
    NextTimer,
    /// As its name.
    OnTimer,
    /// As its name.
    Save,
    /// As its name.
    Undo,
    /// As its name.
    Observe,
    /// As its name.
    OnStep,
    /// Construction of a queue discipline; the names below are those of its functions.
    Create,
    /// As its name.
    Enqueue,
    /// As its name.
    Dequeue,
    /// A watchdog or timer.
    Timer,
}

/// Value of the flow's field for a queue discipline.
pub const DISCIPLINE: u32 = u32::MAX;

/// The names of the callbacks in their order; the first stands for none.
pub const NAMES: [&str; 18] = [
    "",
    "__init__",
    "on_ack",
    "on_congestion",
    "decision",
    "on_established",
    "on_sent",
    "on_packet_lost",
    "next_timer",
    "on_timer",
    "save",
    "undo",
    "observe",
    "on_step",
    "create",
    "enqueue",
    "dequeue",
    "timer",
];

impl Callback {
    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

#[repr(C)]
struct Note {
    count: AtomicU64,
    time: AtomicU64,
    flow: AtomicU32,
    callback: AtomicU32,
}

static NOTE: OnceLock<&'static Note> = OnceLock::new();

/// Keeps the record in this file from now on, for the life of the process.
///
/// # Errors
/// The file cannot be mapped.
pub fn keep_in(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    file.set_len(size_of::<Note>() as u64)?;
    // SAFETY: no process truncates the file, whose other readers only read single integers.
    let map = Box::leak(Box::new(unsafe { MmapMut::map_mut(&file)? }));
    // SAFETY: a mapping begins at a page, is long enough, is never unmapped, and any bytes are
    // integers.
    let note = unsafe { &*map.as_ptr().cast::<Note>() };
    NOTE.get_or_init(|| note);
    Ok(())
}

/// A callback begins.
#[inline]
pub fn enter(flow: u32, callback: Callback, now: Time) {
    if let Some(note) = NOTE.get() {
        note.time.store(now.as_nanos(), Relaxed);
        note.flow.store(flow, Relaxed);
        note.callback.store(callback as u32, Relaxed);
    }
}

/// The callback has returned.
#[inline]
pub fn leave() {
    if let Some(note) = NOTE.get() {
        note.callback.store(0, Relaxed);
        note.count.store(note.count.load(Relaxed) + 1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_what_is_running() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path();
        keep_in(path).unwrap();
        let read = || {
            let bytes = std::fs::read(path).unwrap();
            let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
            (word(0), word(8), word(16), word(20))
        };
        enter(7, Callback::OnAck, Time::from_nanos(1_000));
        assert_eq!(read(), (0, 1_000, 7, 2));
        leave();
        assert_eq!(read(), (1, 1_000, 7, 0));
    }

    #[test]
    fn callbacks_have_their_names() {
        assert_eq!(Callback::OnAck.name(), "on_ack");
        assert_eq!(Callback::OnStep.name(), "on_step");
        assert_eq!(Callback::Timer.name(), *NAMES.last().unwrap());
    }
}
