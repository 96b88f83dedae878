//! Fuzzes traces and schedules of links: `make fuzz-parsers TARGET=link`. The law is in `checks/link.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/link.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
