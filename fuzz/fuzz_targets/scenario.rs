//! Fuzzes the reader of scenarios: `make fuzz-parsers TARGET=scenario`. The law is in `checks/scenario.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/scenario.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
