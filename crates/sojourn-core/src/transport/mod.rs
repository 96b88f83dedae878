//! Transport endpoints.
//!
//! An endpoint is sans-io: packets and times go in, packets and the next timeout come out. TCP is
//! one; other transports are further implementations of [`Endpoint`], not variants of TCP.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::observe::Observer;
use crate::packet::{Address, Packet};
use crate::record::FlowCounters;
use crate::record::histogram::Histogram;
use crate::registry::{self, Catalogue, Entry, Listing, Params, members};
use crate::rng::StreamKey;
use crate::spec::FlowSpec;
use crate::units::{Span, Time};
use kind::Transport;

pub mod kind;
pub mod recovery;

mod recorded;

pub use recorded::RecordedEndpoint;

/// What `sojourn new transport` writes must compile and pass its own test.
#[cfg(test)]
#[path = "../../../../python/sojourn/templates/transport.rs"]
#[allow(clippy::upper_case_acronyms)]
mod template;

members! {
    Transport;
    "tcp" tcp::Tcp,
    "udp" udp::Udp,
}

/// What is known of a transport besides its listing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TransportFacts {
    /// IP and transport headers of a data packet, in bytes.
    pub headers: u32,
    /// Whether a congestion control decides what it may send.
    pub controlled: bool,
    /// Whether what the network loses arrives all the same.
    pub repairs: bool,
    /// Names of controls of which it has versions of its own.
    pub own_controls: &'static [&'static str],
    /// Whether a flow may have several controls at once.
    pub several_controls: bool,
    /// Whether it has streams, described under `stream`.
    pub stream: bool,
}

/// How the two endpoints of a flow are built, the sender first. Errors: a parameter is unknown, of
/// the wrong type or out of range; the field is relative to the flow.
pub type Make = fn(
    &Map<String, Value>,
    &TransportInit<'_>,
    &Catalogue,
) -> Result<[Box<dyn Endpoint>; 2], FieldError>;

/// What the endpoints of a flow are built from.
#[derive(Clone, Copy, Debug)]
pub struct TransportInit<'a> {
    /// What the scenario says of the flow.
    pub flow: &'a FlowSpec,
    /// How the sender's and the receiver's packets are addressed.
    pub addresses: [Address; 2],
    /// Round-trip propagation delay.
    pub base_rtt: Span,
    /// Whether its sender is told of departures: it is a station of a shared medium.
    pub small_queue: bool,
    /// Whether a packet may arrive twice: something in the network makes two of one.
    pub copied: bool,
    /// Names the flow's random draws.
    pub random: StreamKey,
    /// What hosts remember of their earlier connections, if anything.
    pub memory: Option<&'a tcp::HostMemory>,
}

/// A transport that can be registered.
pub trait Registered: Sized + 'static {
    /// Its parameters.
    type Params: Params;

    /// IP and transport headers of a data packet, in bytes.
    const HEADERS: u32;

    /// Whether a congestion control decides what it may send.
    const CONTROLLED: bool;

    /// Whether what the network loses arrives all the same.
    const REPAIRS: bool = true;

    /// Names of controls of which it has versions of its own, without parameters.
    const OWN_CONTROLS: &'static [&'static str] = &[];

    /// Whether a flow may have several controls at once.
    const SEVERAL_CONTROLS: bool = false;

    /// Whether it has streams, described under `stream` of a flow.
    const STREAM: bool = false;

    /// Builds the sender and the receiver of a flow.
    ///
    /// # Errors
    /// If the flow's keys do not fit; the field is relative to the flow.
    fn endpoints(
        params: Self::Params,
        init: &TransportInit<'_>,
        catalogue: &Catalogue,
    ) -> Result<[Box<dyn Endpoint>; 2], FieldError>;
}

/// The entry of the transport `T`, whose `source` begins with its documentation.
pub fn entry<T: Registered>(name: &'static str, source: &'static str) -> Entry<Transport> {
    Entry {
        listing: Listing::new::<T::Params>(name, source),
        facts: TransportFacts {
            headers: T::HEADERS,
            controlled: T::CONTROLLED,
            repairs: T::REPAIRS,
            own_controls: T::OWN_CONTROLS,
            several_controls: T::SEVERAL_CONTROLS,
            stream: T::STREAM,
        },
        make: |params, init, catalogue| {
            let params = registry::parse_params(params, catalogue);
            T::endpoints(params.map_err(|e| e.within("transport"))?, init, catalogue)
        },
    }
}

/// One end of a flow.
pub trait Endpoint: Send {
    /// A packet arrived.
    fn on_packet(&mut self, now: Time, packet: &Packet);

    /// The next packet to send now, if any. Called until it returns `None` after every
    /// `on_packet` and `on_timeout`.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// When `on_timeout` wants to be called next, if at all.
    fn next_timeout(&self) -> Option<Time> {
        None
    }

    /// The time asked for has come (or has passed: late calls are allowed, early ones are not).
    fn on_timeout(&mut self, _now: Time) {}

    /// Packets of so many bytes of this end have left its host. Only some media tell; to be
    /// followed by `poll_transmit`.
    fn on_departure(&mut self, _now: Time, _bytes: u32) {}

    /// Adds this end's share of the flow's counters, integrals brought up to `now`. Each field is
    /// filled by one of the two ends.
    fn report(&mut self, now: Time, counters: &mut FlowCounters);

    /// The application opens the connection: TCP's sender sends its SYN. Comes before any `write`;
    /// like `write`, `close` and `stop`, it is followed by `poll_transmit`.
    fn open(&mut self, _now: Time) {}

    /// The application writes `bytes` more (unlimited: `u64::MAX`). Only a sender takes them.
    fn write(&mut self, _now: Time, _bytes: u64) {}

    /// The application writes no more; the flow completes when all is acknowledged.
    fn close(&mut self, _now: Time) {}

    /// The flow's `stop` has come: nothing is sent any more for the first time. What is
    /// outstanding is still retransmitted and acknowledged; what was never sent is forgotten.
    fn stop(&mut self, now: Time) {
        self.close(now);
    }

    /// Names and values of internal state worth recording, such as those of a congestion control.
    fn observe(&self, _out: &mut Observer<'_>) {}

    /// RTT samples since the end of the warm-up, where this end takes them.
    fn rtt_histogram(&self) -> Option<&Histogram> {
        None
    }

    /// The warm-up is over: distributions (not counters) start afresh.
    fn end_warmup(&mut self) {}
}
