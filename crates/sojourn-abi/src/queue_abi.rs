//! The structures of `sojourn_queue.h`, field by field; that file documents them.
#![allow(missing_docs)]

use std::ffi::{c_char, c_void};

use sojourn_base::packet::{Flags, Header, MAX_SACK_BLOCKS};

use crate::abi::Tell;

/// The version of the interface.
pub const ABI: u32 = 2;
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
#[derive(Debug, Default)]
pub struct RawTcp {
    pub flags: u32,
    pub ack: u32,
    pub options: u32,
    pub sent: u32,
    pub echoed: u32,
    pub blocks: u32,
    pub sack: [[u32; 2]; MAX_SACK_BLOCKS],
}

/// The bits of flags in a TCP header.
const FLAGS: [(Flags, u32); 5] = [
    (Flags::SYN, 0x02),
    (Flags::ACK, 0x10),
    (Flags::ECE, 0x40),
    (Flags::CWR, 0x80),
    (Flags::ESCE, 0x100),
];
/// Nanoseconds of a tick of timestamps.
const TICK: u64 = 1_000_000;

impl RawTcp {
    /// What a discipline reads of a TCP header: all of an acknowledgment.
    pub fn of(header: &Header) -> Self {
        let Header::Ack(ack) = header else {
            return RawTcp { flags: 0x10, ..RawTcp::default() };
        };
        let bits = |(flag, bit): &(Flags, u32)| if ack.flags.has(*flag) { *bit } else { 0 };
        let mut raw = RawTcp {
            flags: FLAGS.iter().map(bits).sum(),
            ack: ack.next,
            options: 1,
            sent: (ack.sent_at.as_nanos() / TICK) as u32,
            echoed: (ack.echo.as_nanos() / TICK) as u32,
            blocks: ack.sacks().len() as u32,
            ..RawTcp::default()
        };
        for (to, block) in raw.sack.iter_mut().zip(ack.sacks()) {
            *to = [block.start, block.end];
        }
        raw
    }
}

#[repr(C)]
#[derive(Debug)]
pub struct RawPacket {
    pub packet: u32,
    pub size: u32,
    pub tos: u32,
    pub source: u32,
    pub destination: u32,
    pub ports: u32,
    pub protocol: u32,
    pub tcp: RawTcp,
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
