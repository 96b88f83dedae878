//! Fuzzes SLIQ's datagrams: `make fuzz-parsers TARGET=wire`. The law is in `checks/wire.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/wire.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
