//! Fuzzes overlay nodes by a hostile one: `make fuzz-parsers TARGET=overlay`. The law is in
//! `checks/overlay.rs`. Each hundred thousand of messages is told, since an input has many.
#![no_main]

use std::sync::atomic::{AtomicUsize, Ordering};

use libfuzzer_sys::fuzz_target;

#[path = "../checks/overlay.rs"]
mod check;

const MANY: usize = 100_000;

static CAME: AtomicUsize = AtomicUsize::new(0);

fuzz_target!(|bytes: &[u8]| {
    let count = check::check(bytes);
    let before = CAME.fetch_add(count, Ordering::Relaxed);
    if before / MANY < (before + count) / MANY {
        eprintln!("{} messages", (before + count) / MANY * MANY);
    }
});
