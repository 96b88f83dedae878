//! Storage of datagrams in transit in the simulator, whose packets carry only a number.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use sojourn_base::endpoint::Datagrams;
use sojourn_base::packet::{Header, Opaque, Packet};

use super::payload::Payload;
use super::wire::{Datagram, encode};

/// Usual number of later arrivals after which a datagram counts as lost.
pub(crate) const REORDERED: u64 = 4_096;
/// Number of later arrivals until which one that has arrived may arrive again.
const AGAIN: u64 = 64;

/// Number of free places that an end keeps, and a mailbox.
const NEAR: usize = 16;
const SPARE: usize = 64;

/// Free places of datagrams that arrived at an end, for those that it sends. The place freed last
/// is used first, while it is in the cache. Surplus places are kept in the mailbox for the other
/// end.
#[derive(Debug)]
pub struct Spare<P>(Vec<Box<Datagram<P>>>);

impl<P> Default for Spare<P> {
    fn default() -> Self {
        Spare(Vec::new())
    }
}

/// A datagram's place. Each is allocated separately, so that only the memory of datagrams in
/// transit is touched.
#[derive(Debug)]
struct Slot<P> {
    /// None where nothing arrives any more.
    datagram: Option<Box<Datagram<P>>>,
    arrived: bool,
}

impl<P: Clone> Slot<P> {
    /// Copies the datagram, which has arrived and may do so again, to `place`; whether there is one.
    #[inline(never)] // of live connections alone
    fn copy(&mut self, place: &mut Box<Datagram<P>>) -> bool {
        self.arrived = true;
        let Some(datagram) = &self.datagram else { return false };
        place.clone_from(datagram);
        true
    }
}

#[derive(Debug)]
struct Kept<P> {
    slots: VecDeque<Slot<P>>,
    spare: Vec<Box<Datagram<P>>>,
    first: u64,
    newest: u64,
    /// Arrivals have been discarded up to here.
    cleared: u64,
    /// Number of later arrivals after which a datagram is lost.
    reordered: u64,
    /// Whether each datagram is delivered once only.
    once: bool,
}

impl<P> Kept<P> {
    fn slot(&mut self, number: u64) -> Option<&mut Slot<P>> {
        self.slots.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// A datagram's number among all, from that in its packet.
    fn whole(&self, number: u32) -> u64 {
        self.first + u64::from(number.wrapping_sub(self.first as u32))
    }

    /// Discards datagrams that cannot arrive any more, now that `newest` has.
    fn forget(&mut self) {
        while !self.once && self.cleared + AGAIN < self.newest {
            let number = self.cleared;
            self.cleared += 1;
            if let Some(slot) = self.slot(number).filter(|slot| slot.arrived) {
                slot.datagram = None;
            }
        }
        let lost = self.newest.saturating_sub(self.reordered);
        while self.first < lost || self.slots.front().is_some_and(|slot| slot.datagram.is_none()) {
            self.slots.pop_front();
            self.first += 1;
        }
    }
}

/// Datagrams from one end to the other.
#[derive(Debug)]
pub struct Mailbox<P>(Arc<Mutex<Kept<P>>>);

impl<P> Clone for Mailbox<P> {
    fn clone(&self) -> Self {
        Mailbox(self.0.clone())
    }
}

impl<P> Default for Mailbox<P> {
    fn default() -> Self {
        Mailbox::holding(REORDERED, false)
    }
}

impl<P> Mailbox<P> {
    fn holding(reordered: u64, once: bool) -> Self {
        let slots = VecDeque::new();
        let spare = Vec::new();
        let kept = Kept { slots, spare, first: 0, newest: 0, cleared: 0, reordered, once };
        Mailbox(Arc::new(Mutex::new(kept)))
    }

    /// A mailbox that delivers each datagram once, so that it holds only those in transit: the
    /// second of two copies that a link has made is not found. A datagram is lost after `reordered`
    /// later arrivals.
    pub fn once(reordered: u64) -> Self {
        Mailbox::holding(reordered, true)
    }
}

impl<P: Clone + Default> Mailbox<P> {
    fn lock(&self) -> MutexGuard<'_, Kept<P>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Keeps a datagram, and leaves a place for another one; returns its number.
    pub fn put(&self, datagram: &mut Box<Datagram<P>>, spare: &mut Spare<P>) -> u32 {
        let mut kept = self.lock();
        let place = spare.0.pop().or_else(|| kept.spare.pop()).unwrap_or_default();
        let datagram = Some(std::mem::replace(datagram, place));
        kept.slots.push_back(Slot { datagram, arrived: false });
        (kept.first + kept.slots.len() as u64 - 1) as u32
    }

    /// Puts the datagram of this number, which arrives, in the place of another one; whether there is
    /// one. It may arrive twice.
    pub fn get(&self, number: u32, place: &mut Box<Datagram<P>>, spare: &mut Spare<P>) -> bool {
        let mut kept = self.lock();
        let number = kept.whole(number);
        let once = kept.once;
        let Some(slot) = kept.slot(number) else { return false };
        if once {
            let Some(datagram) = slot.datagram.take() else { return false };
            let left = std::mem::replace(place, datagram);
            if spare.0.len() < NEAR {
                spare.0.push(left);
            } else if kept.spare.len() < SPARE {
                kept.spare.push(left);
            }
        } else {
            if !slot.copy(place) {
                return false;
            }
        }
        kept.newest = kept.newest.max(number);
        kept.forget();
        true
    }
}

impl<P: Payload + Send> Datagrams for Mailbox<P> {
    fn write(&self, packet: &Packet, out: &mut Vec<u8>) -> bool {
        let Header::Opaque(Opaque { handle, .. }) = packet.header else { return false };
        let mut kept = self.lock();
        let number = kept.whole(handle);
        let Some(datagram) = kept.slot(number).and_then(|slot| slot.datagram.as_deref()) else {
            return false;
        };
        encode(datagram, out);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtual_payload::Virtual;
    use crate::wire::{Close, Data, Message};

    fn put(mailbox: &Mailbox<Virtual>, reason: u16) -> u32 {
        mailbox.put(&mut Box::new(close(reason)), &mut Spare::default())
    }

    fn close(reason: u16) -> Datagram<Virtual> {
        Datagram::Close(Close { answer: false, reason })
    }

    fn get(mailbox: &Mailbox<Virtual>, number: u32) -> Option<Datagram<Virtual>> {
        let mut place = Box::default();
        mailbox.get(number, &mut place, &mut Spare::default()).then_some(*place)
    }

    #[test]
    fn what_arrives_is_what_was_sent() {
        let mailbox = Mailbox::<Virtual>::default();
        let numbers: Vec<u32> = (0..10_000).map(|n| put(&mailbox, n)).collect();
        assert_eq!(get(&mailbox, numbers[7]), Some(close(7)));
        assert_eq!(get(&mailbox, numbers[7]), Some(close(7)), "a duplicate");
        assert_eq!(get(&mailbox, numbers[9_000]), Some(close(9_000)));
        assert_eq!(get(&mailbox, numbers[7]), None, "overtaken by too many");
        assert_eq!(get(&mailbox, u32::MAX), None);
    }

    #[test]
    fn what_has_arrived_is_forgotten_and_what_is_late_is_not() {
        let mailbox = Mailbox::<Virtual>::default();
        let numbers: Vec<u32> = (0..1_000).map(|n| put(&mailbox, n)).collect();
        for at in (0..500).filter(|at| at % 10 != 3) {
            assert_eq!(get(&mailbox, numbers[at]), Some(close(at as u16)));
        }
        assert_eq!(get(&mailbox, numbers[400]), None, "not a duplicate any more");
        assert_eq!(get(&mailbox, numbers[470]), Some(close(470)), "a duplicate");
        assert_eq!(get(&mailbox, numbers[3]), Some(close(3)), "late");
        let kept = mailbox.lock().slots.iter().filter(|slot| slot.datagram.is_some()).count();
        assert!(kept < 500 + 64 + 50, "{kept}");
    }

    #[test]
    fn once_is_once_in_any_order() {
        let mailbox = Mailbox::<Virtual>::once(8);
        let numbers: Vec<u32> = (0..20).map(|n| put(&mailbox, n)).collect();
        for n in [1, 0, 2, 5, 3] {
            assert_eq!(get(&mailbox, numbers[n]), Some(close(n as u16)));
            assert_eq!(get(&mailbox, numbers[n]), None, "a duplicate");
        }
        assert_eq!(get(&mailbox, numbers[13]), Some(close(13)));
        assert_eq!(get(&mailbox, numbers[4]), None, "overtaken by too many");
        assert_eq!(get(&mailbox, numbers[6]), Some(close(6)));
    }

    #[test]
    fn datagrams_in_transit_are_written_with_a_payload_of_zeros() {
        let (mailbox, mut spare) = (Mailbox::<Virtual>::once(8), Spare::default());
        let data = Data { stream: 1, seq: 7, ..Data::default() };
        let payload = Virtual::new(100, sojourn_base::units::Time::ZERO);
        let message = Message { data: Some((data, payload)), ..Message::default() };
        let datagram = Datagram::Message(message);
        let handle = mailbox.put(&mut Box::new(datagram.clone()), &mut spare);
        let header = Header::Opaque(Opaque { payload: 100, handle });
        let packet = Packet { header, ..Packet::default() };
        let mut out = vec![9];
        for _ in 0..2 {
            assert!(mailbox.write(&packet, &mut out));
            assert_eq!(out.len(), 1 + datagram.size());
            assert!(out[1 + data.size()..].iter().all(|byte| *byte == 0));
            out.truncate(1);
        }
        assert_eq!(get(&mailbox, handle), Some(datagram));
        assert!(!mailbox.write(&packet, &mut out), "it has arrived");
        assert_eq!(out, [9]);
    }
}
