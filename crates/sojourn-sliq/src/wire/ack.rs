//! The ACK header.

/// Observed times in one ACK.
pub const MAX_OBSERVED: usize = 7;
/// Offsets of ACK blocks in one ACK.
pub const MAX_OFFSETS: usize = 31;

/// Bytes of an ACK without observed packets and offsets.
pub const ACK_LEN: usize = 16;
/// Bytes of an observed packet there.
pub const OBSERVED_LEN: usize = 8;
const OFFSET_LEN: usize = 2;
/// Marks an offset that is one end of a block; without it the offset is a block of one packet.
pub(super) const END: u16 = 0x8000;

/// A packet that arrived, and its timestamp moved forward by the time since: the RTT is the time of
/// the ACK's arrival less this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Sequence number.
    pub seq: u32,
    /// Timestamp, in the clock of the other end.
    pub stamp: u32,
}

/// An acknowledgment of one stream. Blocks, which are there only while something is missing, lie apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Ack {
    pub(super) offsets: Vec<u16>,
    /// The next packet expected: all before it have arrived, or are given up.
    pub next: u32,
    /// When the ACK was sent.
    pub stamp: u32,
    /// The latest difference of clocks that its sender measured: arrival less timestamp.
    pub delta: u32,
    /// The stream.
    pub stream: u8,
    pub(super) observed_count: u8,
    pub(super) observed: [Observed; MAX_OBSERVED],
}

/// The packets above `next` that an ACK names, as first and last of each block.
#[derive(Clone, Debug)]
pub struct AckBlocks<'a> {
    offsets: std::slice::Iter<'a, u16>,
}

impl Iterator for AckBlocks<'_> {
    type Item = (u16, u16);

    fn next(&mut self) -> Option<(u16, u16)> {
        let first = *self.offsets.next()?;
        if first & END == 0 {
            return Some((first, first));
        }
        let last = *self.offsets.next()?;
        Some((first & !END, last & !END))
    }
}

impl Ack {
    /// An ACK with nothing but the next expected packet.
    pub fn new(stream: u8, next: u32, stamp: u32, delta: u32) -> Self {
        Ack { stream, next, stamp, delta, ..Ack::default() }
    }

    /// Bytes on the wire.
    pub fn size(&self) -> usize {
        ACK_LEN + usize::from(self.observed_count) * OBSERVED_LEN + self.offsets.len() * OFFSET_LEN
    }

    /// Observed packets.
    pub fn observed(&self) -> &[Observed] {
        &self.observed[..usize::from(self.observed_count)]
    }

    /// Adds an observed packet; whether there was room.
    pub fn observe(&mut self, observed: Observed) -> bool {
        let Some(slot) = self.observed.get_mut(usize::from(self.observed_count)) else {
            return false;
        };
        *slot = observed;
        self.observed_count += 1;
        true
    }

    /// Blocks of packets that arrived, as offsets from `next`.
    pub fn blocks(&self) -> AckBlocks<'_> {
        AckBlocks { offsets: self.offsets.iter() }
    }

    /// How many offsets the blocks take.
    pub fn offset_count(&self) -> usize {
        self.offsets.len()
    }

    /// Adds the block `first..=last` (offsets from `next`); whether there was room and the offsets
    /// fit 15 bits.
    pub fn add_block(&mut self, first: u64, last: u64) -> bool {
        let single = first == last;
        let room = MAX_OFFSETS - self.offsets.len() >= if single { 1 } else { 2 };
        let (Ok(low), Ok(high)) = (u16::try_from(first), u16::try_from(last)) else { return false };
        if !room || low > high || high >= END {
            return false;
        }
        if single {
            self.offsets.push(low);
        } else {
            self.offsets.extend([low | END, high | END]);
        }
        true
    }
}
