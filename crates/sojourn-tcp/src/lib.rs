//! TCP modelled on Linux, sans-io: senders and receivers, loss recovery, and congestion controls.
//! The caller passes in packets and times, and takes out packets and the time of the next timer;
//! the crate has no network, clock or socket. Times are integer nanoseconds, rates bit/s; sequence
//! numbers and windows count segments; sizes are bytes of IP packets. A new congestion control is a
//! file in `cc/` and a line in `members!` of `cc/mod.rs`; the crate's README says where a new
//! loss-detection rule goes.
//!
//! A sender and a receiver against a link of 10 Mbit/s and 10 ms each way:
//!
//! ```
//! use std::collections::VecDeque;
//!
//! use sojourn_base::counters::FlowCounters;
//! use sojourn_base::{Endpoint, Rate, Span, StreamKey, Time};
//! use sojourn_tcp::cc::{Registered, reno};
//! use sojourn_tcp::{Profile, Receiver, Sender, TcpInit};
//!
//! let (rate, delay) = (Rate::from_bps(10_000_000), Span::from_millis(10));
//! let init = TcpInit::new(Profile::named("linux-6").unwrap());
//! let about = Sender::control_init(&init, delay * 2, StreamKey::root(1));
//! let control = reno::Reno::new(Default::default(), &about);
//! let (mut sender, mut receiver) = (Sender::new(init, Box::new(control)), Receiver::new(init));
//! let (mut there, mut back) = (VecDeque::new(), VecDeque::new());
//! let (mut now, mut free) = (Time::ZERO, Time::ZERO);
//! sender.open(now);
//! sender.write(now, 1_000_000);
//! sender.close(now);
//! loop {
//!     while let Some(packet) = sender.poll_transmit(now) {
//!         free = free.max(now) + rate.span_of(packet.size.into());
//!         there.push_back((free + delay, packet));
//!     }
//!     while let Some(packet) = receiver.poll_transmit(now) {
//!         back.push_back((now + delay, packet));
//!     }
//!     let arrivals = [there.front(), back.front()].map(|first| first.map(|(at, _)| *at));
//!     let next = arrivals.into_iter().chain([sender.next_timeout(), receiver.next_timeout()]);
//!     let Some(next) = next.flatten().min() else { break };
//!     now = next;
//!     while there.front().is_some_and(|(at, _)| *at <= now) {
//!         receiver.on_packet(now, &there.pop_front().unwrap().1);
//!     }
//!     while back.front().is_some_and(|(at, _)| *at <= now) {
//!         sender.on_packet(now, &back.pop_front().unwrap().1);
//!     }
//!     for end in [&mut sender as &mut dyn Endpoint, &mut receiver] {
//!         if end.next_timeout().is_some_and(|at| at <= now) {
//!             end.on_timeout(now);
//!         }
//!     }
//! }
//! let mut counters = FlowCounters::default();
//! receiver.report(now, &mut counters);
//! assert_eq!(counters.received.unwrap().in_order_bytes, 1_000_000);
//! assert!(now.as_secs_f64() > 0.8, "8 Mbit at 10 Mbit/s");
//! ```
// A test may compute what it expects in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod cc;
pub mod recovery;
pub mod spec;
pub mod tcp;

#[cfg(test)]
mod catalogue;

pub use cc::{AckSample, CongestionControl, ControlInit, Decision, Event};
pub use tcp::{Profile, Receiver, Sender, TcpInit};

pub use sojourn_base::{
    counters, endpoint, error, given, observe, packet, quantity, registry, rng, units,
};

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
