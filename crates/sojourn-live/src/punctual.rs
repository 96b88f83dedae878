//! What makes the process punctual: beside real-time priority, pages that stay in memory, and
//! processors that do not fall asleep.

use std::fs::{File, OpenOptions};
use std::io::Write;

use nix::libc;
use nix::sys::mman::{MlockAllFlags, mlockall};

/// Keeps the processors ready as long as it lives.
///
/// A virtual machine's processor that halts has to be scheduled anew by the machine below, which
/// takes milliseconds where that is busy. While this descriptor is open the kernel's idle loop polls
/// instead, and it is closed however the process ends.
#[derive(Debug)]
pub struct Awake {
    _latency: Option<File>,
}

impl Awake {
    /// Asks for it, and locks what pages the process uses from now on. Both only make it more
    /// punctual: where they are not allowed, the verdict shows.
    pub fn keep() -> Self {
        // On fault: a Python process maps hundreds of megabytes that it never touches.
        let on_fault = MlockAllFlags::from_bits_retain(libc::MCL_ONFAULT);
        let all = MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE;
        let _ = mlockall(all | on_fault);
        Awake { _latency: no_latency().ok() }
    }
}

/// Zero microseconds to wake up (the kernel's power management interface for quality of service).
fn no_latency() -> std::io::Result<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency")?;
    file.write_all(&0i32.to_ne_bytes())?;
    Ok(file)
}
