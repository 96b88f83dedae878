//! Fields of a TCP header.

use crate::units::Time;

/// TCP header flags that the endpoints use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// Opens a connection.
    pub const SYN: Flags = Flags(1);
    /// Carries an acknowledgment.
    pub const ACK: Flags = Flags(1 << 1);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(1 << 2);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(1 << 3);
    /// SCE echo, in the former NS bit (draft-grimes-tcpm-tcpsce).
    pub const ESCE: Flags = Flags(1 << 4);
    /// The first SACK block reports a duplicate (RFC 2883).
    pub const DSACK: Flags = Flags(1 << 5);
    /// Window probe; in real packets it shows in the sequence number, one below the next.
    pub const PROBE: Flags = Flags(1 << 6);
    /// More segments of the same burst follow, which links carry as one packet.
    pub const MORE: Flags = Flags(1 << 7);
    /// Belongs to the burst of the segment before.
    pub const JOINED: Flags = Flags(1 << 8);
    /// Ends the data that the application has written so far.
    pub const PSH: Flags = Flags(1 << 9);

    /// Whether all bits of `other` are set.
    #[inline]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the bits of `other` if `on`.
    #[inline]
    #[must_use]
    pub fn with(self, other: Flags, on: bool) -> Flags {
        if on { Flags(self.0 | other.0) } else { self }
    }
}

/// A run of segments `start..end` that the receiver holds above its cumulative acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First segment of the run.
    pub start: u32,
    /// One past the last segment of the run.
    pub end: u32,
}

/// SACK blocks in one ACK: with the timestamp option, a TCP header has room for three.
pub const MAX_SACK_BLOCKS: usize = 3;

/// Number of SACK blocks that an ACK carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum SackCount {
    /// None.
    #[default]
    Zero,
    /// One.
    One,
    /// Two.
    Two,
    /// Three, the most that fit.
    Three,
}

/// A TCP segment from the end that sends data: data, SYN, or the handshake's last ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TcpSegment {
    /// Flags.
    pub flags: Flags,
    /// Bytes of payload.
    pub payload: u16,
    /// Segment number.
    pub seq: u32,
    /// When it was sent (the timestamp option's value).
    pub sent_at: Time,
    /// Timestamp echo: when the latest packet of the other end was sent.
    pub echo: Time,
    /// When the application wrote the payload's first byte.
    pub written_at: Time,
}

/// A TCP acknowledgment from the end that receives data, with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TcpAck {
    /// Flags.
    pub flags: Flags,
    /// How many entries of `sack` are valid.
    pub sack_count: SackCount,
    /// Next segment expected: all before it have arrived.
    pub next: u32,
    /// Receive window in bytes beyond `next`.
    pub window: u32,
    /// CE-marked data packets received so far (AccECN's counter, unwrapped).
    pub ce_packets: u32,
    /// When it was sent (the timestamp option's value).
    pub sent_at: Time,
    /// Timestamp echo: when the segment that this ACK answers was sent (RFC 7323 rules).
    pub echo: Time,
    /// SACK blocks, most recent first; with [`Flags::DSACK`] the first reports a duplicate.
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
}

impl TcpAck {
    /// The valid SACK blocks.
    #[inline]
    pub fn sacks(&self) -> &[SackBlock] {
        &self.sack[..self.sack_count as usize]
    }

    /// Sets the SACK blocks; those that do not fit are left out.
    pub fn set_sacks(&mut self, blocks: impl Iterator<Item = SackBlock>) {
        const COUNTS: [SackCount; MAX_SACK_BLOCKS + 1] =
            [SackCount::Zero, SackCount::One, SackCount::Two, SackCount::Three];
        let mut count = 0;
        for block in blocks.take(MAX_SACK_BLOCKS) {
            self.sack[count] = block;
            count += 1;
        }
        self.sack_count = COUNTS[count];
    }

    /// Whether it is an acknowledgment and nothing else.
    pub(super) fn is_plain(&self) -> bool {
        self.flags.has(Flags::ACK)
            && self.sack_count == SackCount::Zero
            && !self.flags.has(Flags::SYN)
            && !self.flags.has(Flags::DSACK)
    }
}
