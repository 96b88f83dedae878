//! SLIQ: messages over UDP, under several congestion controls at once, repaired by retransmission,
//! by an erasure code, or by both, against a deadline.
//!
//! Model: chapters 3.1 to 3.3 of the GNAT report (Raytheon BBN, 2021), and where it is silent the
//! program behind it (raytheonbbn/IRON, `iron/sliq`). `mss` is the payload of a message packet;
//! `cca` names one control or several, in the order of preference: each packet belongs to the first
//! that lets it go, and so do its ACK and its loss. `cubic` and `copa` are SLIQ's own versions;
//! any other control of the catalogue can be listed.
//!
//! | part | file |
//! | --- | --- |
//! | headers, and how they are written as bytes | `wire/` |
//! | handshake, ACKs, timeouts, outages, what goes next | `connection/` |
//! | packets sent and received, losses, groups of the code | `stream/` |
//! | SLIQ's Cubic and Copa; controls of the catalogue | `control/` |
//! | which error control, and how much of it | `aec/` |
//! | RTT; error rate, one-way delay; capacity | `rtt`, `measure`, `capacity` |
//! | the ends of a flow in the simulator | `endpoint/`, `build` |
//!
//! Keys under `stream` of the flow:
//!
//! | key | meaning and default |
//! | --- | --- |
//! | `reliability` | `reliable` (default), `best-effort`, `semi-reliable` (up to `retransmissions`), `adaptive` (retransmission and erasure code against a deadline) |
//! | `retransmissions` | of a packet, in semi-reliable and adaptive streams; default 2 |
//! | `deadline` | adaptive: time from writing to delivery |
//! | `rounds` | adaptive: rounds instead of a deadline, 1 to 7 |
//! | `probability` | adaptive: share to be delivered in time, 0.95 to 0.999; default 0.995 |
//! | `priority` | 0 (highest, default) to 7 |
//! | `ordered` | whether messages are delivered in order; default: if reliable |
//! | `queue` | messages that wait before the application writes more; default 16 |
//! | `reject_outliers` | whether the largest RTT, which decides if there is time for another round, is the median of the largest of the last five intervals instead of the largest of two |
//! | `both_ways` | whether the receiving end sends as well, without end; links' samples show it |
//!
//! A flow is one connection with one stream. A data packet has 16 bytes of SLIQ's header, in an
//! adaptive stream 24; a coded one two and its protected sequence number more. Not modelled:
//! times to go of single packets, direct connections, forced changes of a stream while it is open.
//! Deviations from the program: timers are exact, but like there a packet may go up to 1 ms early;
//! datagrams are processed one by one; the end of a stream is sent once and retransmitted like data,
//! not 32 times; a datagram has at most one ACK.
//!
//! Observes: of the connection `capacity` (bit/s), `error_rate`, `outage`; of each control, by its
//! name, `NAME.sent_packets`, `NAME.window` and `NAME.in_flight` (bytes) and what it observes
//! itself; of an adaptive stream `mode` (`pure-arq`, `coded-arq`, `pure-fec`) and
//! `groups_pure_arq`, `groups_coded_arq`, `groups_pure_fec`.

mod aec;
mod build;
mod capacity;
mod clock;
mod connection;
mod control;
mod endpoint;
mod lane;
mod mailbox;
mod measure;
mod payload;
mod rtt;
mod section;
mod stream;
mod virtual_payload;
pub mod wire;

pub use aec::{Decider, Expected, Path};
pub use build::{Sliq, control_init, make_control};
pub use connection::{Config, Connection, Event, Measured, Role};
pub use control::{Catalogued, Control, Copa, Cubic};
pub use mailbox::{Mailbox, Spare};
pub use payload::{Payload, Received};
pub use section::{FlowKeys, ReliabilityMode, StreamSpec, sections};
pub use stream::{Delivered, Reliability, StreamConfig, Target};
