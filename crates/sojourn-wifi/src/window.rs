//! Frames in transit to one receiver: aggregation, block acknowledgment, order.
//!
//! An MPDU carries one packet, or several as an A-MSDU. Up to 64 MPDUs from the first
//! unacknowledged one form the window; failed ones are sent again in the next A-MPDU. The receiver
//! holds packets behind a gap and forwards in order; an MPDU that is dropped closes its gap (as a
//! block ACK request does).

use std::collections::VecDeque;

use sojourn_base::packet::{Backlog, Packet};
use sojourn_base::units::Time;
use sojourn_net::edge::medium::lanes::Lanes;

/// MPDUs that a block acknowledgment covers.
pub(crate) const LARGEST: usize = 64;

/// LLC and SNAP headers before each packet.
const LLC: u32 = 8;
/// MAC header and FCS of a QoS data frame, of another one.
const QOS_HEADER: u32 = 26 + 4;
const HEADER: u32 = 24 + 4;
/// Header of a subframe of an A-MSDU; subframes but the last are padded to whole words.
const SUBFRAME: u32 = 14 + LLC;
/// Delimiter before each MPDU of an A-MPDU; MPDUs are padded to whole words.
const DELIMITER: u32 = 4;

/// Limits of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Whether frames have QoS headers.
    pub qos: bool,
    /// MPDUs in an A-MPDU; 1 without aggregation.
    pub frames: usize,
    /// Bytes of a PSDU.
    pub bytes: u32,
    /// Bytes of an A-MSDU; 0 without.
    pub amsdu: u32,
}

impl Limits {
    /// Size in bytes of a packet's MPDU.
    pub(crate) fn mpdu(self, packet: &Packet) -> u32 {
        let header = if self.qos { QOS_HEADER } else { HEADER };
        header + LLC + packet.size
    }

    /// Size in bytes of an MPDU within an A-MPDU.
    pub(crate) fn framed(self, mpdu: u32) -> u32 {
        if self.frames == 1 { mpdu } else { (mpdu + DELIMITER).next_multiple_of(4) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Mpdu {
    packets: u16,
    bytes: u32,
    tries: u8,
    arrived: bool,
}

/// The window of one receiver and access category.
#[derive(Debug, Default)]
pub(crate) struct Window {
    mpdus: VecDeque<Mpdu>,
    packets: VecDeque<Packet>,
    held: Backlog,
    unsettled: usize,
}

/// A frame under construction or on the air: its MPDUs in the window, and its size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    /// One bit for each MPDU.
    pub members: u64,
    /// Number of MPDUs.
    pub count: u32,
    /// Bytes of the PSDU.
    pub bytes: u32,
    /// Number of MPDUs that are retransmitted.
    pub again: u32,
}

impl Window {
    /// Whether MPDUs wait for retransmission.
    pub(crate) fn has_retries(&self) -> bool {
        self.unsettled > 0
    }

    /// Packets not acknowledged, or waiting at the receiver for missing ones.
    pub(crate) fn held(&self) -> Backlog {
        self.held
    }

    /// Builds the next frame: first failed MPDUs, then packets that `next` gives while there is
    /// room; `back` takes the one that did not fit. `most` is the number of bytes that the airtime
    /// allows.
    pub(crate) fn build<Q>(
        &mut self,
        limits: Limits,
        most: u32,
        queue: &mut Q,
        next: impl Fn(&mut Q, &mut Packet) -> bool,
        back: impl Fn(&mut Q, Packet),
    ) -> Frame {
        let (mut frame, mut packet) = (Frame::default(), Packet::default());
        let room = limits.bytes.min(most);
        for index in 0..self.mpdus.len().min(LARGEST) {
            let mpdu = self.mpdus[index];
            if mpdu.arrived {
                continue;
            }
            let bytes = limits.framed(mpdu.bytes);
            if frame.count as usize == limits.frames
                || (frame.count > 0 && frame.bytes + bytes > room)
            {
                return frame;
            }
            frame.add(index, bytes);
            frame.again += u32::from(mpdu.tries > 0);
        }
        while self.mpdus.len() < LARGEST
            && (frame.count as usize) < limits.frames
            && next(queue, &mut packet)
        {
            let bytes = limits.mpdu(&packet);
            if frame.count > 0 && frame.bytes + limits.framed(bytes) > room {
                back(queue, packet);
                break;
            }
            let index = self.mpdus.len();
            self.keep(&packet);
            let mut mpdu = Mpdu { packets: 1, bytes, tries: 0, arrived: false };
            while limits.amsdu > 0 && next(queue, &mut packet) {
                let bytes = widened(mpdu, limits, &packet);
                if bytes > limits.amsdu + QOS_HEADER || frame.bytes + limits.framed(bytes) > room {
                    back(queue, packet);
                    break;
                }
                self.keep(&packet);
                mpdu = Mpdu { packets: mpdu.packets + 1, bytes, ..mpdu };
            }
            frame.add(index, limits.framed(mpdu.bytes));
            self.mpdus.push_back(mpdu);
            self.unsettled += 1;
        }
        frame
    }

    fn keep(&mut self, packet: &Packet) {
        self.held.add(packet);
        self.packets.push_back(*packet);
    }

    /// Bytes of each member of a frame, in order, for their errors.
    pub(crate) fn sizes(&self, frame: Frame) -> impl Iterator<Item = (usize, u32)> {
        let members = self.mpdus.iter().take(LARGEST).enumerate();
        members.filter(move |(i, _)| frame.members >> i & 1 == 1).map(|(i, mpdu)| (i, mpdu.bytes))
    }

    /// Notes which members of a frame have arrived.
    pub(crate) fn arrived(&mut self, arrived: u64) {
        for (index, mpdu) in self.mpdus.iter_mut().take(LARGEST).enumerate() {
            if arrived >> index & 1 == 1 && !mpdu.arrived {
                mpdu.arrived = true;
                self.unsettled -= 1;
            }
        }
    }

    /// Counts the attempt of the members of a frame that have not arrived; those with `most`
    /// attempts are dropped. Returns the number of dropped ones.
    pub(crate) fn failed(&mut self, now: Time, frame: Frame, most: u8, lanes: &mut Lanes) -> u32 {
        let mut dropped = 0;
        for index in 0..self.mpdus.len().min(LARGEST) {
            let mpdu = &mut self.mpdus[index];
            if frame.members >> index & 1 == 1 && !mpdu.arrived {
                mpdu.tries = mpdu.tries.saturating_add(1);
                dropped += u32::from(mpdu.tries >= most);
            }
        }
        if dropped > 0 {
            self.give_up(now, most, lanes);
        }
        dropped
    }

    /// Removes MPDUs that have failed too often.
    #[cold]
    fn give_up(&mut self, now: Time, most: u8, lanes: &mut Lanes) {
        let (mut mpdus, mut packets) = (VecDeque::new(), VecDeque::new());
        for mpdu in std::mem::take(&mut self.mpdus) {
            let lost = !mpdu.arrived && mpdu.tries >= most;
            for packet in self.packets.drain(..usize::from(mpdu.packets)) {
                match lost {
                    true => {
                        self.held.remove(&packet);
                        lanes.lose(now, &packet);
                    }
                    false => packets.push_back(packet),
                }
            }
            match lost {
                true => self.unsettled -= 1,
                false => mpdus.push_back(mpdu),
            }
        }
        (self.mpdus, self.packets) = (mpdus, packets);
    }

    /// Moves the next packet that the receiver forwards, if there is one, to `packet`: all before it are
    /// settled.
    pub(crate) fn release(&mut self, packet: &mut Packet) -> bool {
        let Some(first) = self.mpdus.front_mut().filter(|first| first.arrived) else {
            return false;
        };
        first.packets -= 1;
        if first.packets == 0 {
            self.mpdus.pop_front();
        }
        let Some(next) = self.packets.pop_front() else { return false };
        *packet = next;
        self.held.remove(packet);
        true
    }
}

/// Size of an MPDU with one more packet, as an A-MSDU.
fn widened(mpdu: Mpdu, limits: Limits, packet: &Packet) -> u32 {
    let header = if limits.qos { QOS_HEADER } else { HEADER };
    let before = match mpdu.packets {
        1 => mpdu.bytes - LLC + SUBFRAME,
        _ => mpdu.bytes,
    };
    header + (before - header).next_multiple_of(4) + SUBFRAME + packet.size
}

impl Frame {
    fn add(&mut self, index: usize, bytes: u32) {
        self.members |= 1 << index;
        self.count += 1;
        self.bytes += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { qos: true, frames: 64, bytes: 65_535, amsdu: 0 };

    fn packets(count: u32) -> VecDeque<Packet> {
        (0..count).map(|index| Packet { index, size: 1500, ..Packet::default() }).collect()
    }

    fn build(window: &mut Window, limits: Limits, queue: &mut VecDeque<Packet>) -> Frame {
        let next = |queue: &mut VecDeque<Packet>, packet: &mut Packet| {
            queue.pop_front().map(|first| *packet = first).is_some()
        };
        window.build(limits, u32::MAX, queue, next, |q, p| q.push_front(p))
    }

    fn released(window: &mut Window) -> Vec<u32> {
        let mut packet = Packet::default();
        std::iter::from_fn(|| window.release(&mut packet).then_some(packet.index)).collect()
    }

    #[test]
    fn what_failed_goes_first_and_packets_leave_in_order() {
        let (mut window, mut queue) = (Window::default(), packets(100));
        let frame = build(&mut window, LIMITS, &mut queue);
        // 1544 bytes each in 65535.
        assert_eq!((frame.count, frame.bytes), (42, 42 * 1544));
        window.arrived(frame.members & !0b1001);
        assert_eq!(window.failed(Time::ZERO, frame, 7, &mut Lanes::plain(1)), 0);
        assert!(released(&mut window).is_empty());
        let frame = build(&mut window, LIMITS, &mut queue);
        // The first two are the failed ones; the window reaches 64 beyond the first.
        assert_eq!((frame.again, frame.count), (2, 2 + 64 - 42));
        window.arrived(frame.members & !0b1000);
        assert_eq!(released(&mut window), [0, 1, 2]);
        let frame = build(&mut window, LIMITS, &mut queue);
        window.arrived(frame.members);
        let rest = released(&mut window);
        assert!(rest.iter().copied().eq(3..3 + rest.len() as u32));
        assert_eq!(window.held(), Backlog::default());
    }

    #[test]
    fn what_fails_too_often_is_given_up_and_closes_its_hole() {
        let (mut window, mut queue) = (Window::default(), packets(3));
        let mut lanes = Lanes::plain(1);
        for attempt in 0..7 {
            let frame = build(&mut window, LIMITS, &mut queue);
            window.arrived(if attempt == 0 { frame.members & !1 } else { 0 });
            let dropped = window.failed(Time::ZERO, frame, 7, &mut lanes);
            assert_eq!(dropped, u32::from(attempt == 6));
        }
        assert_eq!(released(&mut window), [1, 2]);
        assert_eq!(lanes[0].counters.drops_loss, 1);
        assert!(!window.has_retries());
    }

    #[test]
    fn an_msdu_aggregate_has_its_headers_and_padding() {
        let limits = Limits { amsdu: 3839, ..LIMITS };
        let (mut window, mut queue) = (Window::default(), packets(5));
        let frame = build(&mut window, limits, &mut queue);
        // Two subframes of 1522 bytes, the first padded to 1524, and QoS header and FCS.
        let mpdu = 30 + 1524 + 1522;
        let pair: u32 = (mpdu + 4u32).next_multiple_of(4);
        let single: u32 = (30 + 8 + 1500 + 4u32).next_multiple_of(4);
        assert_eq!((frame.count, frame.bytes), (3, 2 * pair + single));
        window.arrived(frame.members);
        assert_eq!(released(&mut window), [0, 1, 2, 3, 4]);
    }
}
