//! Fuzzes captures: `make fuzz-parsers TARGET=capture`. The law is in `checks/capture.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/capture.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
