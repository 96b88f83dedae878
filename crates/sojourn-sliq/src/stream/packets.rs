//! Packets in the state of the sending side.

use super::past::{Member, Past};
use crate::clock::Moment;
use crate::wire::{Data, Fec};
use sojourn_base::units::Time;

/// A packet that was sent.
#[derive(Clone, Debug)]
pub(super) struct Sent<P> {
    /// Its payload; kept as long as it may have to be retransmitted.
    pub payload: P,
    /// Bytes of payload.
    pub bytes: u32,
    /// Bytes with SLIQ's headers.
    pub size: u32,
    /// The control that owns it.
    pub lane: u8,
    /// Its number there.
    pub number: u64,
    /// Its place among all packets of the connection.
    pub order: u64,
    /// The window that the control noted.
    pub window: f32,
    /// When the application wrote it.
    pub written_at: Time,
    /// When it was sent first.
    pub first_at: Time,
    /// When it was sent last.
    pub last_at: Time,
    /// Number of its retransmissions.
    pub resent: u8,
    /// Largest number of its retransmissions.
    pub limit: Option<u8>,
    /// Data packets of the connection sent up to its last sending, and the one before.
    pub counts: [u32; 2],
    /// Whether it ends the stream.
    pub fin: bool,
    /// Acknowledged.
    pub acked: bool,
    /// Marked lost.
    pub lost: bool,
    /// Waiting to be sent again.
    pub waiting: bool,
    /// Its place in a group, and when it was sent last; boxed, as most streams have no groups.
    pub fec: Option<Box<(u64, Fec, Moment)>>,
}

impl<P> Sent<P> {
    pub(super) fn past(&self) -> Past {
        Past {
            lane: self.lane,
            number: self.number,
            bytes: self.bytes,
            window: self.window,
            resent: self.resent,
            counts: self.counts,
        }
    }

    /// Its group and its place there.
    pub(super) fn fec(&self) -> Option<(u64, Fec)> {
        self.fec.as_deref().map(|(group, fec, _)| (*group, *fec))
    }

    pub(super) fn member(&self) -> Option<Member> {
        self.fec.as_deref().map(|(group, fec, sent)| (*group, fec.index, *sent))
    }

    /// Whether it is a coded packet.
    pub(super) fn is_coded(&self) -> bool {
        self.fec().is_some_and(|(_, fec)| fec.encoded.is_some())
    }
}

/// A coded packet that has not been sent.
#[derive(Clone, Debug)]
pub(super) struct Coded<P> {
    /// The group.
    pub group: u64,
    /// Its number within the group.
    pub index: u8,
    /// Source packets of the group.
    pub sources: u8,
    /// Its payload.
    pub payload: P,
    /// The coded lengths.
    pub lengths: u16,
}

/// Packet to be retransmitted, or sent in addition.
#[derive(Clone, Debug)]
pub(super) enum Resend<P> {
    /// A packet by its sequence number.
    Packet(u64),
    /// A coded packet of a later round.
    Coded(Coded<P>),
}

/// Result of an attempt to send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// There is none to send.
    Nothing,
    /// There is one, but no control permits it.
    Blocked,
    /// One was put in its place.
    Sent,
}

/// A packet that was not sent before.
#[derive(Debug)]
pub(super) struct New<P> {
    pub payload: P,
    /// Its group and its place there.
    pub fec: Option<(u64, Fec)>,
    /// Whether it ends the stream.
    pub fin: bool,
    /// When the application wrote it.
    pub written_at: Time,
}

/// Place for a packet to be sent, which avoids moving large packets.
pub(super) type Place<P> = Option<(Data, P)>;
