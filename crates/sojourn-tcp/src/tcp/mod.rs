//! TCP, with Linux as the reference: a sender and a receiver, independent of the simulator. The
//! page of the transport, `transport/tcp.rs` in `sojourn-sim`, lists the parts and their files.

mod autotune;
mod card_memory;
mod duplex;
mod dupthresh;
mod echo;
mod metrics;
mod profile;
mod reassembly;
mod receiver;
mod relay;
mod scoreboard;
pub mod script;
mod send_buffer;
mod send_memory;
mod sender;
mod wheel;

pub use duplex::Duplex;
pub use metrics::HostMemory;
pub use profile::{LossDetection, Profile, RFC};
pub use receiver::Receiver;
pub use relay::Relay;
pub use sender::Sender;

use crate::cc::{EcnMode, INFINITE_SSTHRESH};
use crate::packet::{Address, Direction, headers};
use crate::spec::{BufferSize, Pacing};
use crate::units::{Span, Time};

/// IP and TCP headers with the timestamp option, in bytes.
pub const HEADER: u32 = headers::IP + headers::TCP;
/// Size of a SYN or SYN-ACK with its options, in bytes.
pub const SYN_SIZE: u32 = 60;

/// A receive window that never limits the sender.
const OPEN_WINDOW: u32 = u32::MAX;

/// Bytes that a SACK option with `blocks` blocks adds to a header, padding included.
pub fn sack_option_size(blocks: usize) -> u32 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks as u32 }
}

/// Parameters of both ends of a TCP flow.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TcpInit {
    /// Address of the sender's packets.
    pub forward: Address,
    /// Address of the receiver's packets.
    pub backward: Address,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Stack and era.
    pub profile: &'static Profile,
    /// ECN feedback in use.
    pub ecn: EcnMode,
    /// Segments per delayed ACK.
    pub ack_every: u32,
    /// Initial window in segments, also after idle times.
    pub initial_window: u32,
    /// Initial slow-start threshold in segments.
    pub initial_ssthresh: u32,
    /// Size of the send buffer: data that the sender accepts before it is acknowledged.
    pub send_buffer: BufferSize,
    /// Size of the receive buffer, which limits the receive window.
    pub receive_buffer: BufferSize,
    /// Whether segments are paced, whatever the control is; `None` leaves it to control and stack.
    pub pacing: Option<Pacing>,
    /// Whether segments are sent in bursts (TSO/GSO).
    pub offload: bool,
    /// Whether a burst stays one packet on its path.
    pub whole_bursts: bool,
    /// Whether a small segment waits while an earlier small one is not acknowledged.
    pub nagle: bool,
    /// For how long the receiver collects segments that arrive back to back, to acknowledge them as
    /// one (GRO).
    pub gro: Option<Span>,
    /// Whether the sender's host tells it of departures, so that it keeps little in its queues.
    pub small_queue: bool,
    /// When the flow is created.
    pub now: Time,
}

impl TcpInit {
    /// Of a connection of flow 0 that is created at time 0, with segments of 1448 bytes, an ACK for
    /// every second one, buffers without a limit, and everything optional off.
    pub fn new(profile: &'static Profile) -> Self {
        TcpInit {
            forward: Address::default(),
            backward: Address { direction: Direction::Backward, ..Address::default() },
            mss: 1448,
            profile,
            ecn: EcnMode::Off,
            ack_every: 2,
            initial_window: profile.initial_window,
            initial_ssthresh: INFINITE_SSTHRESH,
            send_buffer: BufferSize::Auto,
            receive_buffer: BufferSize::Auto,
            pacing: None,
            offload: false,
            whole_bursts: false,
            nagle: profile.nagle,
            gro: None,
            small_queue: false,
            now: Time::ZERO,
        }
    }
}

#[cfg(test)]
mod callbacks;
#[cfg(test)]
mod duplex_tests;
#[cfg(test)]
mod first_flight;
#[cfg(test)]
mod relay_tests;
#[cfg(test)]
mod tests;
