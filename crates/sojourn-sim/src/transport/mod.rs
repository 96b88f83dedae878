//! Transport endpoints.
//!
//! An endpoint is sans-I/O: packets and times go in, packets and the next timeout come out. TCP is
//! one; other transports are further implementations of [`Endpoint`], not variants of TCP.

use serde::Serialize;
use serde_json::{Map, Value};

pub use crate::endpoint::Endpoint;
use crate::error::FieldError;
use crate::packet::Address;
use crate::registry::{self, Catalogue, Entry, Listing, Params, members};
use crate::rng::StreamKey;
use crate::spec::FlowSpec;
use crate::spec::Transport;
use crate::tcp::HostMemory;
use crate::units::{Span, Time};

mod kind;
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

/// Facts about a transport besides its listing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TransportFacts {
    /// IP and transport headers of a data packet, in bytes.
    pub headers: u32,
    /// Whether a congestion control limits its sending.
    pub controlled: bool,
    /// Whether lost data is retransmitted or reconstructed.
    pub repairs: bool,
    /// Names of controls of which it has its own versions.
    pub own_controls: &'static [&'static str],
    /// Whether a flow may have several controls at once.
    pub several_controls: bool,
    /// Whether it has streams, described under `stream`.
    pub stream: bool,
    /// Whether it paces itself, even on a stack that leaves pacing to the host's queue.
    pub paces: bool,
    /// Whether it heeds a flow's `initial_window` and `pacing`.
    pub tunable: bool,
}

/// Constructor of the two endpoints of a flow, the sender first. Errors: a parameter is unknown, of
/// the wrong type or out of range; the field is relative to the flow.
pub type Make = fn(
    &Map<String, Value>,
    &TransportInit<'_>,
    &Catalogue,
) -> Result<[Box<dyn Endpoint>; 2], FieldError>;

/// Parameters of the endpoints of a flow.
#[derive(Clone, Copy, Debug)]
pub struct TransportInit<'a> {
    /// The flow in the scenario.
    pub flow: &'a FlowSpec,
    /// Addresses of the sender's and the receiver's packets.
    pub addresses: [Address; 2],
    /// Round-trip propagation delay.
    pub base_rtt: Span,
    /// Whether its sender is notified of departures: it is a station of a shared medium.
    pub small_queue: bool,
    /// Whether its receiver opens the connection, and sends requests over it.
    pub requests: bool,
    /// Whether a packet may arrive twice: a link or node may duplicate it.
    pub copied: bool,
    /// Names the flow's random draws.
    pub random: StreamKey,
    /// What hosts remember of their earlier connections, if anything.
    pub memory: Option<&'a HostMemory>,
    /// When it is opened.
    pub now: Time,
}

/// A transport that can be registered.
pub trait Registered: Sized + 'static {
    /// Its parameters.
    type Params: Params;

    /// IP and transport headers of a data packet, in bytes.
    const HEADERS: u32;

    /// Whether a congestion control limits its sending.
    const CONTROLLED: bool;

    /// Whether lost data is retransmitted or reconstructed.
    const REPAIRS: bool = true;

    /// Names of controls of which it has its own versions, without parameters.
    const OWN_CONTROLS: &'static [&'static str] = &[];

    /// Whether a flow may have several controls at once.
    const SEVERAL_CONTROLS: bool = false;

    /// Whether it has streams, described under `stream` of a flow.
    const STREAM: bool = false;

    /// Whether it paces itself, even on a stack that leaves pacing to the host's queue.
    const PACES: bool = false;

    /// Whether it heeds a flow's `initial_window` and `pacing`.
    const TUNABLE: bool = false;

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
            paces: T::PACES,
            tunable: T::TUNABLE,
        },
        make: |params, init, catalogue| {
            let params = registry::parse_params(params, catalogue);
            T::endpoints(params.map_err(|e| e.within("transport"))?, init, catalogue)
        },
    }
}
