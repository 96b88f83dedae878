//! Measures for exact timing besides real-time priority: pages locked in memory, and processors
//! that do not enter idle states.

use std::fs::{File, OpenOptions};
use std::io::Write;

use nix::libc;
use nix::sys::mman::{MlockAllFlags, mlockall};

/// Keeps the processors awake until it is dropped.
///
/// A halted virtual processor must be scheduled again by the hypervisor, which takes milliseconds
/// where that is busy. While this descriptor is open the kernel's idle loop polls instead; it is
/// closed in whatever way the process ends.
#[derive(Debug)]
pub struct Awake {
    _latency: Option<File>,
}

impl Awake {
    /// Requests it, and locks the pages that the process uses from now on. Both only improve
    /// timing: where they are not allowed, the quality of the run shows it.
    pub fn keep() -> Self {
        // On fault: a Python process maps hundreds of megabytes that it never touches.
        let on_fault = MlockAllFlags::from_bits_retain(libc::MCL_ONFAULT);
        let all = MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE;
        let _ = mlockall(all | on_fault);
        Awake { _latency: no_latency().ok() }
    }
}

/// Requests a wake-up latency of zero microseconds (the kernel's power management interface for
/// quality of service).
fn no_latency() -> std::io::Result<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency")?;
    file.write_all(&0i32.to_ne_bytes())?;
    Ok(file)
}
