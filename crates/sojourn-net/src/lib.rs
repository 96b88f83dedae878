//! A packet-level network: links with their queues, shared media, nodes, the event loop that drives
//! them, and recorded counters. Endpoints, flows and scenarios are not in it: `sojourn-tcp` and
//! `sojourn-sim` have them.
//!
//! Times are integer nanoseconds, rates integer bit/s, sizes bytes of IP packets; a link adds its
//! `overhead` in bytes of framing to each.
//!
//! Each kind of part has one file and one registry line per member:
//!
//! | new | file | line in `members!` of |
//! | --- | --- | --- |
//! | queue discipline, AQM | `src/queue/NAME.rs` | `src/queue/mod.rs` |
//! | shared medium | `src/edge/medium/NAME.rs` | `src/edge/medium/mod.rs` |
//! | kind of node | `src/node/NAME.rs` | `src/node/mod.rs` |
//!
//! `sojourn new queue NAME` writes the file and the line (`medium`, `node` likewise). A queue discipline implements [`queue::QueueDiscipline`]
//! and [`queue::Registered`];
//! a control law that disciplines share goes to `src/queue/law/`. What a link does to packets
//! (loss, delay, schedules) is in `src/edge/link/`. A new member changes the pages and the golden
//! digests: `make docs`, then `python tests/goldens.py`.
//!
//! A queue discipline by itself: twice as many packets come as leave, and CoDel drops.
//!
//! ```
//! use sojourn_base::{Packet, Rate, Span, StreamKey, Time};
//! use sojourn_net::queue::Registered;
//! use sojourn_net::queue::codel::{Codel, Params};
//! use sojourn_net::{QueueContext, QueueCounters, QueueDiscipline, QueueInit};
//!
//! let init = QueueInit::new(Some(Rate::from_bps(12_000_000)), StreamKey::root(1));
//! let mut queue = Codel::new(Params::default(), &init);
//! let mut counters = QueueCounters::default();
//! for millisecond in 0..1_000 {
//!     let now = Time::ZERO + Span::from_millis(millisecond);
//!     let mut cx = QueueContext::new(&mut counters);
//!     for _ in 0..2 {
//!         let packet = Packet { size: 1500, enqueued_at: now, ..Packet::default() };
//!         queue.enqueue(now, packet, &mut cx);
//!     }
//!     queue.dequeue(now, &mut cx);
//! }
//! assert!(counters.drops.iter().sum::<u64>() > 0);
//! ```
// A test may compute expected values in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod edge;
pub mod multicast;
pub mod net;
pub mod node;
pub mod queue;
pub mod record;
pub mod spec;

#[cfg(test)]
mod catalogue;

mod ring;

pub use sojourn_base::{
    counters, endpoint, error, given, observe, packet, quantity, registry, rng, units,
};

pub use edge::Link;
pub use net::Network;
pub use queue::{QueueContext, QueueCounters, QueueDiscipline, QueueInit};
pub use record::Outcome;

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
