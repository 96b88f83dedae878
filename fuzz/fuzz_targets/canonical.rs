//! Fuzzes canonical forms: `make fuzz-parsers TARGET=canonical`. The law is in `checks/canonical.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/canonical.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
