//! Fuzzes what a kernel's agent says: `make fuzz-parsers TARGET=agent`. The law is in `checks/agent.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/agent.rs"]
mod check;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
