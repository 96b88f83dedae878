//! The structures of `sojourn_queue.h`, field by field; that file documents them.
#![allow(missing_docs)]

use std::ffi::{c_char, c_void};

use crate::abi::Tell;

/// The version of the interface.
pub const ABI: u32 = 1;
/// The function that a library exports.
pub const SYMBOL: &[u8] = b"sojourn_queue\0";

#[repr(C)]
#[derive(Debug)]
pub struct RawInit {
    pub mtu: u32,
    pub overhead: u32,
    pub now: u64,
    pub seed: u64,
}

#[repr(C)]
#[derive(Debug)]
pub struct RawAttribute {
    pub name: *const c_char,
    pub value: f64,
    pub bytes: *const u8,
    pub count: u32,
}

#[repr(C)]
#[derive(Debug)]
pub struct RawPacket {
    pub packet: u32,
    pub size: u32,
    pub ecn: u32,
    pub source: u32,
    pub destination: u32,
    pub ports: u32,
    pub protocol: u32,
    pub ack: u32,
}

type OfPacket = unsafe extern "C" fn(*mut c_void, u32, u32);

#[repr(C)]
#[derive(Debug)]
pub struct RawListener {
    pub out: *mut c_void,
    pub dropped: OfPacket,
    pub marked: OfPacket,
}

#[repr(C)]
#[derive(Debug)]
pub struct RawQueue {
    pub abi: u32,
    pub size: u32,
    pub create:
        unsafe extern "C" fn(*const RawInit, *const RawAttribute, u32, *mut c_char) -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub enqueue: unsafe extern "C" fn(*mut c_void, u64, *const RawPacket, *const RawListener),
    pub dequeue: unsafe extern "C" fn(*mut c_void, u64, *mut u32, *const RawListener) -> u32,
    pub next_timer: unsafe extern "C" fn(*const c_void) -> u64,
    pub on_timer: unsafe extern "C" fn(*mut c_void, u64, *const RawListener),
    pub full: unsafe extern "C" fn(*const c_void) -> u32,
    pub can_bypass: unsafe extern "C" fn(*const c_void) -> u32,
    pub observe: unsafe extern "C" fn(*const c_void, *mut c_void, Tell),
}
