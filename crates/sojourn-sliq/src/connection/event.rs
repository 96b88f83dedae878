//! What a connection tells the application.

/// Event for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is established.
    Connected,
    /// The peer did not answer, or refused.
    Refused,
    /// A stream can be written to; the peer may have created it.
    StreamOpen(u8),
    /// All of a stream of this end has arrived.
    StreamFinished(u8),
    /// All of a stream of the peer has arrived.
    StreamEnded(u8),
    /// The peer is silent.
    Outage,
    /// The peer is no longer silent.
    OutageOver,
    /// The connection is closed, with the reason of the end that closed it.
    Closed(u16),
}
