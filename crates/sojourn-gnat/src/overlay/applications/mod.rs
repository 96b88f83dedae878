//! What a node that is a program exchanges with applications: IP packets of theirs, and the bytes of
//! their connections. In the simulator there is none.
//!
//! Both sides have one [`Applications`]: a daemon opens, reads and writes, the node carries. A datagram
//! is admitted as those of a simulated flow are, one for each [`DatagramKey`] and only as long as it is
//! used. A connection is one of the core's at each node, over which both ends send; each direction is
//! admitted where it enters. In the stream are records, each after its length (2 bytes): the first from
//! the node that asks is the [`Opening`], one without bytes is the end of that direction.
//!
//! Connections are kept alive and reset by packets of their own. An end that does not know a connection
//! answers its packets by a reset, and one that hears nothing for 30 s gives it up: what has vanished is
//! never taken for an end of the stream.
//!
//! | part | module |
//! | --- | --- |
//! | what both sides have | `shared` |
//! | a connection's buffers between them | `pipe` |
//! | records of its stream | `records` |
//! | its bytes by the numbers of segments | `bytes` |
//! | one end of it; all of a node | `connection`, `connections` |
//! | flows of datagrams | `datagrams` |

mod bytes;
mod connection;
mod connections;
mod datagrams;
mod pipe;
mod records;
mod shared;

pub(super) use connections::Connections;
pub(super) use datagrams::Datagrams;
pub use shared::Applications;
pub(super) use shared::Outgoing;

/// Where datagrams go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum To {
    /// To a member, by its place.
    Member(u16),
    /// To the receivers of a stream of the overlay, by its number.
    Stream(u16),
}

/// What the datagrams of an application's flow have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DatagramKey {
    /// IPv4 address of the source.
    pub source: u32,
    /// IPv4 address of the destination.
    pub destination: u32,
    /// Ports of the source and of the destination; zeros if the protocol has none.
    pub ports: [u16; 2],
    /// IP's number of the protocol.
    pub protocol: u8,
}

/// Who is connected with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// IPv4 address and port of the end that asks for the connection.
    pub client: (u32, u16),
    /// The same of the end that is asked.
    pub server: (u32, u16),
}

/// What the node tells the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An IP packet for an application here.
    Datagram(Box<[u8]>),
    /// Another node asks for a connection here.
    Opened {
        /// Number of its flow.
        flow: u32,
        /// Between whom.
        opening: Opening,
    },
    /// Bytes have come, where none waited to be read.
    Readable {
        /// Number of its flow.
        flow: u32,
    },
    /// There is room again, where not all bytes could be written.
    Writable {
        /// Number of its flow.
        flow: u32,
    },
    /// The other end writes no more, and all that it has written has been read.
    Finished {
        /// Number of its flow.
        flow: u32,
    },
    /// The connection is no more; what was not read is lost.
    Reset {
        /// Number of its flow.
        flow: u32,
    },
}

/// What has passed between a node and its applications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApplicationCounts {
    /// Connections that there are.
    pub open: u64,
    /// Connections that have been opened, from here or from elsewhere.
    pub opened: u64,
    /// Connections that have been reset.
    pub reset: u64,
    /// Datagrams from applications.
    pub datagrams_in: u64,
    /// Datagrams to applications.
    pub datagrams_out: u64,
    /// Datagrams that found no flow or no room.
    pub datagrams_refused: u64,
    /// Bytes of connections from applications.
    pub bytes_in: u64,
    /// Bytes of connections to applications.
    pub bytes_out: u64,
}
