//! Fuzzes SLIQ's connections: `make fuzz-parsers TARGET=connection`. The law is in `checks/connection.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/connection.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
