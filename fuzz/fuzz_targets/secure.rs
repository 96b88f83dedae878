//! Fuzzes SLIQ's sealed channel: `make fuzz-parsers TARGET=secure`. The law is in `checks/secure.rs`.
//! Each million of datagrams is told, since an input has many.
#![no_main]

use std::sync::atomic::{AtomicUsize, Ordering};

use libfuzzer_sys::fuzz_target;

#[path = "../checks/secure.rs"]
mod check;

const MILLION: usize = 1_000_000;

static HEARD: AtomicUsize = AtomicUsize::new(0);

fuzz_target!(|bytes: &[u8]| {
    let count = check::check(bytes);
    let before = HEARD.fetch_add(count, Ordering::Relaxed);
    if before / MILLION < (before + count) / MILLION {
        eprintln!("{} million datagrams", (before + count) / MILLION);
    }
});
