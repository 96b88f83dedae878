//! Fuzzes a kernel's packets: `make fuzz-parsers TARGET=packet`. The law is in `checks/packet.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/packet.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
