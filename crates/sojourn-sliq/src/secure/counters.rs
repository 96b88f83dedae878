//! What was refused, by reason.

/// Datagrams that changed nothing but one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// That have no message's length or type, or come from an address that nobody has.
    pub malformed: u64,
    /// Of a session that there is none of, or of a key that no peer has.
    pub stranger: u64,
    /// Handshake messages whose code is not of this end's public key.
    pub mac: u64,
    /// Initiations that were answered with a cookie.
    pub cookies: u64,
    /// Handshake messages beyond the number that is heeded.
    pub limited: u64,
    /// Initiations no newer than an earlier one of their peer.
    pub old: u64,
    /// Data that had arrived before, or is too old to know.
    pub replayed: u64,
    /// That were changed on their way, or sealed with another key.
    pub unopened: u64,
}
