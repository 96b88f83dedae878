//! The C ABI: what a page calls. It imports nothing.
//!
//! | export | does | returns | reply |
//! | --- | --- | --- | --- |
//! | `sojourn_init()` | tells where panics go; once, before anything else | | |
//! | `sojourn_alloc(n)` | memory for a text of `n` bytes | its address | |
//! | `sojourn_open(text, n)` | reads the text (UTF-8, TOML), checks it, builds the run; frees the text | 1, or 0 if refused | *opened*, or *refusal* |
//! | `sojourn_advance(until)` | simulates up to that second, at most to the end | the second reached, or NaN | if NaN: *refusal* |
//! | `sojourn_finish()` | ends the run and gathers its results | 1, or 0 | *block*, or *refusal* |
//! | `sojourn_reply()`, `sojourn_reply_len()` | where the last reply is, and its bytes | address, bytes | |
//! | `sojourn_panic()`, `sojourn_panic_len()` | where the message of a panic is, readable after a trap | address, bytes | |
//!
//! A reply is valid until the next call that has one. Memory may grow in every call, so views of it are
//! made anew after each. After a trap the instance is spoilt but for the message: make another one.
//! `advance` and `finish` without a run that is open are refused.
//!
//! *opened* is JSON:
//!
//! ```json
//! {
//!   "scenario": {},
//!   "warnings": [{ "message": "...", "field": "flows.0", "line": 7, "column": 1, "local": null }],
//!   "flows": [{ "name": "bbr", "cca": "bbr", "transport": "tcp", "entry": 0, "base_rtt": 0.04,
//!               "start": 0.0, "stop": 10.0, "path": [0] }],
//!   "links": [{ "id": "bottleneck", "rate": 20000000.0, "overhead": 0.0, "ends": ["left", "right"] }],
//!   "end": 10.0,
//!   "warmup": 0.0,
//!   "sample_interval": 0.05,
//!   "modes_every": 0.01,
//!   "limits": { "seconds": 120, "flows": 16, "links": 64, "rows": 100000, "packets": 6000000, "events": 40000000 },
//!   "build": "0.1.0-7f0e2b9c41d85a36"
//! }
//! ```
//!
//! `scenario` is the canonical form of the file. Flows are in the order of the file, each `count` of an
//! entry expanded; `name` is its label, else its control or transport, and not unique; `cca` is `null` of
//! datagrams; `path` has the links that its data passes, by index. `links` are those with columns; a
//! `rate` in bit/s is `null` of a link without one, `overhead` is bytes of each packet, an end is `null` where it
//! stands for many hosts. Times are in seconds. `build` is that of `sojourn --version` where the sources that
//! simulate are the same.
//!
//! *refusal* is JSON: `{ "message", "field", "line", "column", "local" }`. `message` is the core's sentence,
//! `field` the path of the field (`flows.1.cca.beta`), `line` and `column` (from 1, in characters) where the text
//! has it, or the nearest table that it would be in; `local` says how the command line does what a page
//! cannot. All but `message` may be `null`.
//!
//! *block* is 8 bytes with the length of an index (little endian), the index (JSON, padded by spaces to a
//! multiple of 8), then columns of 8-byte floating-point numbers (little endian), one after the other:
//!
//! ```json
//! {
//!   "tables": { "flow_samples": { "rows": 400, "columns": { "time": 0, "flow": 400 } } },
//!   "modes": [{ "flow": 0, "time": 0.0, "mode": "startup", "phase": null }],
//!   "summary": { "flow": { "mean_throughput_l4": [17.6, 1.2] }, "link": {}, "net": { "jains_fairness_of_means_throughput_l4": 0.56 } }
//! }
//! ```
//!
//! A column's number is the index of its first value among all values behind the index, so that
//! `new Float64Array(buffer, 8 + length + 8 * column, rows)` is its view. Whole numbers are exact up to
//! 2^53; NaN is what is unknown. Tables and columns are those of `docs/results.md`. `modes` has what each
//! flow's control calls its mode and phase, whenever either was found changed (looked at every
//! `modes_every` seconds), in the order of time; flows whose control has neither have none. `summary`
//! has the metrics of [`crate::summary`] by scope and name, for each flow, link (in order), and the network;
//! `null` is what is undefined.

#![allow(unsafe_code)] // names that a linker sees, and a text that a page has written

use std::cell::RefCell;
use std::panic;

use crate::refusal::Refusal;
use crate::session::Session;

thread_local! {
    static OPEN: RefCell<Option<Session>> = const { RefCell::new(None) };
    static REPLY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// `None` before [`sojourn_init`].
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the reply: a text or a block.
fn reply(bytes: impl Into<Vec<u8>>) {
    REPLY.set(bytes.into());
}

fn refuse(refusal: &Refusal) {
    reply(refusal.to_json().to_string());
}

/// To be called once, before anything else: the message of a panic is kept.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_init() {
    assert!(PANIC.take().is_none(), "sojourn_init was called twice");
    PANIC.set(Some(String::new()));
    panic::set_hook(Box::new(|panic| PANIC.set(Some(panic.to_string()))));
}

/// Memory for a text of this many bytes, which [`sojourn_open`] frees.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_alloc(bytes: usize) -> *mut u8 {
    Box::leak(vec![0; bytes].into_boxed_slice()).as_mut_ptr()
}

/// Reads and builds the scenario whose text is there, in the place of the one before; 1, or 0 if it is
/// refused.
///
/// # Safety
/// `text` is what [`sojourn_alloc`] returned for `bytes`, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sojourn_open(text: *mut u8, bytes: usize) -> u32 {
    // SAFETY: a vector of so many bytes, as the caller promises, and nobody else's.
    let text = unsafe { Vec::from_raw_parts(text, bytes, bytes) };
    // The one before is freed first, so that memory need not grow.
    OPEN.set(None);
    let text = String::from_utf8_lossy(&text);
    match Session::open(&text) {
        Ok(session) => {
            reply(session.told().to_string());
            OPEN.set(Some(session));
            1
        }
        Err(refusal) => {
            refuse(&refusal);
            0
        }
    }
}

/// Simulates up to this second, at most to the end; the second that was reached, or NaN.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_advance(until: f64) -> f64 {
    let reached = OPEN.with_borrow_mut(|open| match open {
        Some(session) => session.advance(until),
        None => Err(Refusal::not_open()),
    });
    reached.unwrap_or_else(|refusal| {
        OPEN.set(None);
        refuse(&refusal);
        f64::NAN
    })
}

/// Ends the run where it is; its results are the reply. 1, or 0 with the reason.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_finish() -> u32 {
    match OPEN.take().ok_or_else(Refusal::not_open).and_then(Session::finish) {
        Ok(block) => {
            reply(block);
            1
        }
        Err(refusal) => {
            refuse(&refusal);
            0
        }
    }
}

/// Where the last reply is.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_reply() -> *const u8 {
    REPLY.with_borrow(|reply| reply.as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_reply_len() -> usize {
    REPLY.with_borrow(Vec::len)
}

/// Where the message of a panic is.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_panic() -> *const u8 {
    PANIC.with_borrow(|told| told.as_ref().map_or(std::ptr::null(), |told| told.as_ptr()))
}

/// How many bytes it has; 0 if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn sojourn_panic_len() -> usize {
    PANIC.with_borrow(|told| told.as_ref().map_or(0, String::len))
}
