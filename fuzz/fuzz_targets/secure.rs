//! Fuzzes SLIQ's sealed channel: `make fuzz-parsers TARGET=secure`. The law is in `checks/secure.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/secure.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
