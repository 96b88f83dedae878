//! Fuzzes SLIQ's sessions: `make fuzz-parsers TARGET=sliq`. The law is in `checks/sliq.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/sliq.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
