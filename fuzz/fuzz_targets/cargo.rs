//! Fuzzes messages between overlay nodes: `make fuzz-parsers TARGET=cargo`. The law is in
//! `checks/cargo.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/cargo.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
