//! Overview of all streams, which every datagram needs: a bit for each stream's place, updated when
//! a stream changes, so that streams need not be searched.

use super::Stream;
use crate::payload::Payload;
use crate::stream::{LOWEST_PRIORITY, MAX_STREAM, Receiver, Sender};
use sojourn_base::units::Time;

/// Streams' states.
#[derive(Debug)]
pub(super) struct Overview {
    /// By place, and the places by number; none is beyond all of them.
    ids: [u8; MAX_STREAM as usize],
    places: [u8; MAX_STREAM as usize + 1],
    count: u8,
    /// Streams of each priority.
    pub bands: [u32; LOWEST_PRIORITY as usize + 1],
    /// Streams that both ends know.
    pub open: u32,
    /// Streams with new data that there is room for, and with packets to retransmit.
    pub new: u32,
    pub again: u32,
    /// Streams with outstanding packets.
    pub unacked: u32,
    /// Whose ACKs wait: because something is missing, to come once more, for more data.
    gaps: u32,
    pub extra: u32,
    pub delayed: u32,
    /// When a group is ended first with the packets that it has.
    pub group_end: Time,
}

impl Default for Overview {
    fn default() -> Self {
        Overview {
            ids: [0; MAX_STREAM as usize],
            places: [u8::MAX; MAX_STREAM as usize + 1],
            count: 0,
            bands: [0; LOWEST_PRIORITY as usize + 1],
            open: 0,
            new: 0,
            again: 0,
            unacked: 0,
            gaps: 0,
            extra: 0,
            delayed: 0,
            group_end: Time::NEVER,
        }
    }
}

fn set(bits: &mut u32, at: usize, on: bool) {
    *bits = *bits & !(1 << at) | u32::from(on) << at;
}

/// The places of the bits that are set.
pub(super) fn places(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (place < u32::BITS).then_some(place as usize)
    })
}

impl Overview {
    /// The overview of streams in new places.
    pub(super) fn of<P: Payload>(streams: &[Stream<P>]) -> Self {
        let mut overview = Overview { count: streams.len() as u8, ..Overview::default() };
        for (at, stream) in streams.iter().enumerate() {
            overview.ids[at] = stream.id;
            overview.places[usize::from(stream.id)] = at as u8;
            set(&mut overview.bands[usize::from(stream.config.priority)], at, true);
            overview.note_stream(at, stream);
            overview.note_sender(at, &stream.sender);
            overview.note_receiver(at, &stream.receiver);
            overview.group_end = stream
                .sender
                .group_end()
                .map_or(overview.group_end, |end| end.min(overview.group_end));
        }
        overview
    }

    /// Place of a stream.
    pub(super) fn position(&self, id: u8) -> Option<usize> {
        let place = *self.places.get(usize::from(id))?;
        (place < self.count).then_some(place.into())
    }

    /// Number of the stream at a place.
    pub(super) fn id(&self, at: usize) -> u8 {
        self.ids[at]
    }

    /// Streams that one end does not know yet.
    pub(super) fn closed(&self) -> u32 {
        !self.open & ((1_u64 << self.count) - 1) as u32
    }

    /// Streams whose ACKs wait.
    pub(super) fn waiting(&self) -> u32 {
        self.gaps | self.extra | self.delayed
    }

    /// Updates the state that belongs to neither side.
    pub(super) fn note_stream<P>(&mut self, at: usize, stream: &Stream<P>) {
        set(&mut self.open, at, stream.open);
        set(&mut self.extra, at, stream.extra_acks > 0);
        set(&mut self.delayed, at, stream.delayed_ack);
    }

    /// Updates a sending side, except for its groups.
    pub(super) fn note_sender<P: Payload>(&mut self, at: usize, sender: &Sender<P>) {
        set(&mut self.new, at, sender.has_new());
        set(&mut self.again, at, sender.has_resend());
        set(&mut self.unacked, at, !sender.all_acked());
    }

    /// Updates a receiving side.
    pub(super) fn note_receiver<P: Payload>(&mut self, at: usize, receiver: &Receiver<P>) {
        set(&mut self.gaps, at, receiver.has_gap());
    }
}
