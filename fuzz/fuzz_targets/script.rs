//! Fuzzes packet scripts: `make fuzz-parsers TARGET=script`. The law is in `checks/script.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/script.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
