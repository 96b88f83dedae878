//! A queue discipline of the Linux kernel, unchanged.
//!
//! Model: the source itself; `source` is its file, `version` the version of the kernel's interface
//! (6.1 or 6.12), `hz` its ticks per second, and `observe` names fields of its private state that
//! are recorded. `masquerade` says which address a NAT of the same router hides: `source` or
//! `destination`. Further keys are the attributes that configure it, in the kernel's own units,
//! named as in its netlink policy without their common prefix: `target`, `limit`.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;

use libloading::Library;
use serde_json::{Map, Value};
use sojourn_base::error::FieldError;
use sojourn_base::observe::Observer;
use sojourn_base::packet::{Backlog, Dscp, Ecn, Header, Packet};
use sojourn_base::units::Time;
use sojourn_net::queue::{DropReason, QueueContext, QueueDiscipline, QueueInit};

use crate::note::{self, Callback};
use crate::queue_abi::{
    ABI, RawAttribute, RawInit, RawListener, RawPacket, RawQueue, RawTcp, SYMBOL,
};

/// Its documentation.
pub const SOURCE: &str = include_str!("queue.rs");
const NONE: u32 = u32::MAX;
const TCP: u32 = 6;
const UDP: u32 = 17;
/// Ports that no two flows of a run share and that tell two flows apart.
const PORTS: u32 = 0x1000_0000;

/// A discipline whose functions are a library's. It holds packets by number; the packets are kept
/// here.
pub struct KernelQueue {
    functions: &'static RawQueue,
    this: *mut c_void,
    packets: Vec<Packet>,
    free: Vec<u32>,
    backlog: Backlog,
}

// SAFETY: a discipline is used by one thread at a time, of a process that runs one simulation.
unsafe impl Send for KernelQueue {}

/// Builds the discipline of a library, `path`, whose other keys are its attributes.
///
/// # Errors
/// The library cannot be loaded, or refuses an attribute.
pub fn make(table: &Map<String, Value>, init: &QueueInit) -> Result<KernelQueue, FieldError> {
    note::enter(note::DISCIPLINE, Callback::Create, Time::ZERO); // to load it runs its code, too
    let functions = load(table).inspect_err(|_| note::leave())?;
    let names: Vec<_> = table.keys().filter(|key| *key != "path").collect();
    let texts: Vec<_> = names.iter().map(|name| c_text(name)).collect();
    let values: Vec<_> = names.iter().map(|name| value(&table[name.as_str()])).collect();
    let attribute = |(text, (value, bytes)): (&CString, &(f64, Vec<u8>))| RawAttribute {
        name: text.as_ptr(),
        value: *value,
        bytes: if bytes.is_empty() { std::ptr::null() } else { bytes.as_ptr() },
        count: bytes.len() as u32,
    };
    let given: Vec<_> = texts.iter().zip(&values).map(attribute).collect();
    let raw = RawInit {
        mtu: init.full_packet,
        overhead: init.overhead,
        now: 0,
        seed: init.random.seed(),
    };
    let mut error = [0 as c_char; 256];
    // SAFETY: all of it outlives the call, and the library writes no more than 256 bytes.
    let this = unsafe {
        (functions.create)(&raw const raw, given.as_ptr(), given.len() as u32, error.as_mut_ptr())
    };
    note::leave();
    if this.is_null() {
        // SAFETY: the library ends what it writes with a zero.
        let told = unsafe { CStr::from_ptr(error.as_ptr()) }.to_string_lossy();
        return Err(FieldError::new("", told.into_owned()));
    }
    let (packets, free) = (Vec::new(), Vec::new());
    Ok(KernelQueue { functions, this, packets, free, backlog: Backlog::default() })
}

fn load(table: &Map<String, Value>) -> Result<&'static RawQueue, FieldError> {
    let path = table.get("path").and_then(Value::as_str).unwrap_or_default();
    let refused = |told: String| FieldError::new("source", told);
    // SAFETY: the library is one that the package has compiled; a worker process contains the damage.
    let library = unsafe { Library::new(Path::new(path)) };
    let library = Box::leak(Box::new(library.map_err(|e| refused(format!("not loaded: {e}")))?));
    // SAFETY: `sojourn_queue.h` declares this function under this name.
    let described = unsafe { library.get::<unsafe extern "C" fn() -> *const RawQueue>(SYMBOL) };
    let described = described.map_err(|_| refused("registers no queue discipline".to_owned()))?;
    // SAFETY: as above; the description is static.
    let queue = unsafe { described().as_ref() };
    queue
        .filter(|queue| queue.abi == ABI && queue.size as usize == size_of::<RawQueue>())
        .ok_or_else(|| refused("is compiled for another version of Sojourn".to_owned()))
}

fn c_text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// A number, or a list of bytes.
fn value(given: &Value) -> (f64, Vec<u8>) {
    let byte = |value: &Value| value.as_u64().unwrap_or(0) as u8;
    match given {
        Value::Array(bytes) => (0.0, bytes.iter().map(byte).collect()),
        Value::Bool(flag) => (f64::from(u8::from(*flag)), Vec::new()),
        other => (other.as_f64().unwrap_or(0.0), Vec::new()),
    }
}

/// Calls of the library while one of its functions runs.
struct Told<'a, 'b> {
    now: Time,
    packets: &'a mut [Packet],
    free: &'a mut Vec<u32>,
    backlog: &'a mut Backlog,
    cx: &'a mut QueueContext<'b>,
    reason: DropReason,
}

unsafe extern "C" fn dropped(out: *mut c_void, packet: u32, _ecn: u32) {
    // SAFETY: `out` is what the listener was given, which lives as long as the call.
    let told = unsafe { &*out.cast::<RefCell<Told<'_, '_>>>() };
    let mut told = told.borrow_mut();
    let Told { now, packets, free, backlog, cx, reason } = &mut *told;
    let gone = packets[packet as usize];
    backlog.remove(&gone);
    free.push(packet);
    cx.drop(*now, gone, *reason);
}

unsafe extern "C" fn marked(out: *mut c_void, packet: u32, ecn: u32) {
    // SAFETY: as above.
    let told = unsafe { &*out.cast::<RefCell<Told<'_, '_>>>() };
    let mut told = told.borrow_mut();
    let Told { now, packets, cx, .. } = &mut *told;
    let packet = &mut packets[packet as usize];
    if field(ecn) == Ecn::Ce {
        let _ = cx.mark_ce(*now, packet);
    } else {
        cx.mark_sce(*now, packet);
    }
}

fn field(bits: u32) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

fn bits(field: Ecn) -> u32 {
    match field {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

impl KernelQueue {
    /// Calls a function of the library, which may drop and mark.
    fn listening<T>(
        &mut self,
        (callback, now): (Callback, Time),
        cx: &mut QueueContext<'_>,
        reason: DropReason,
        call: impl FnOnce(&'static RawQueue, *mut c_void, &RawListener) -> T,
    ) -> T {
        let KernelQueue { functions, this, packets, free, backlog } = self;
        let told = RefCell::new(Told { now, packets, free, backlog, cx, reason });
        let out = (&raw const told).cast_mut().cast();
        note::enter(note::DISCIPLINE, callback, now);
        let made = call(functions, *this, &RawListener { out, dropped, marked });
        note::leave();
        made
    }

    /// Reason of a drop: overflow if the discipline is full, else its own decision.
    fn reason(&self) -> DropReason {
        // SAFETY: `this` is what the library created.
        let full = unsafe { (self.functions.full)(self.this) };
        if full == 0 { DropReason::Aqm } else { DropReason::Overflow }
    }
}

impl Drop for KernelQueue {
    fn drop(&mut self) {
        // SAFETY: `this` is what the library created, and is not used again.
        unsafe { (self.functions.destroy)(self.this) }
    }
}

// SAFETY of all calls below: `this` is what the library created; arguments outlive the call.
impl QueueDiscipline for KernelQueue {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        let reason = self.reason();
        self.backlog.add(&packet);
        let number = match self.free.pop() {
            Some(number) => {
                self.packets[number as usize] = packet;
                number
            }
            None => {
                self.packets.push(packet);
                (self.packets.len() - 1) as u32
            }
        };
        let raw = RawPacket {
            packet: number,
            size: packet.size,
            tos: u32::from(packet.dscp().number()) << 2 | bits(packet.ecn),
            source: u32::from(packet.tuple.source),
            destination: u32::from(packet.tuple.destination),
            ports: packet.tuple.ports | PORTS,
            protocol: if matches!(packet.header, Header::Datagram(_)) { UDP } else { TCP },
            tcp: RawTcp::of(&packet.header),
        };
        self.listening((Callback::Enqueue, now), cx, reason, |functions, this, listener| unsafe {
            (functions.enqueue)(this, now.as_nanos(), &raw const raw, listener);
        });
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        let mut tos = 0;
        let call = (Callback::Dequeue, now);
        let number =
            self.listening(call, cx, DropReason::Aqm, |functions, this, listener| unsafe {
                (functions.dequeue)(this, now.as_nanos(), &raw mut tos, listener)
            });
        if number == NONE {
            return None;
        }
        let mut packet = self.packets[number as usize];
        packet.ecn = field(tos);
        packet.way = packet.way.with_dscp(Dscp::of_class(tos as u8));
        self.free.push(number);
        self.backlog.remove(&packet);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn can_bypass(&self) -> bool {
        (unsafe { (self.functions.can_bypass)(self.this) }) != 0
    }

    fn next_timer(&self) -> Option<Time> {
        let next = unsafe { (self.functions.next_timer)(self.this) };
        (next != u64::MAX).then(|| Time::from_nanos(next))
    }

    fn on_timer(&mut self, now: Time, cx: &mut QueueContext<'_>) {
        let call = (Callback::Timer, now);
        self.listening(call, cx, DropReason::Aqm, |functions, this, listener| unsafe {
            (functions.on_timer)(this, now.as_nanos(), listener);
        });
    }

    fn observe(&self, mut out: &mut Observer<'_>) {
        unsafe { (self.functions.observe)(self.this, (&raw mut out).cast(), crate::control::tell) }
    }
}
