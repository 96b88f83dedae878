//! Datagrams on their way in the simulator, whose packets carry only a number.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use super::wire::Datagram;

/// Usually a datagram that is overtaken by this many is lost.
const REORDERED: u64 = 4_096;

#[derive(Debug)]
struct Kept<P> {
    /// None where one was got for good.
    datagrams: VecDeque<Option<Datagram<P>>>,
    first: u64,
    newest: u64,
    /// A datagram that is overtaken by so many is lost.
    reordered: u64,
    /// Whether each is got once only.
    once: bool,
}

/// What one end sends to the other.
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
        let kept = Kept { datagrams: VecDeque::new(), first: 0, newest: 0, reordered, once };
        Mailbox(Arc::new(Mutex::new(kept)))
    }

    /// One that gives each datagram once, so that it holds only what is under way: the second of two
    /// that a link has made of one is not found. One that is overtaken by `reordered` is lost.
    pub fn once(reordered: u64) -> Self {
        Mailbox::holding(reordered, true)
    }
}

impl<P: Clone> Mailbox<P> {
    fn lock(&self) -> MutexGuard<'_, Kept<P>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Keeps a datagram; returns its number.
    pub fn put(&self, datagram: Datagram<P>) -> u32 {
        let mut kept = self.lock();
        kept.datagrams.push_back(Some(datagram));
        (kept.first + kept.datagrams.len() as u64 - 1) as u32
    }

    /// The datagram of this number, which arrives. It may arrive twice.
    pub fn get(&self, number: u32) -> Option<Datagram<P>> {
        let mut kept = self.lock();
        let number = kept.first + u64::from(number.wrapping_sub(kept.first as u32));
        let (index, once) = ((number - kept.first) as usize, kept.once);
        let place = kept.datagrams.get_mut(index)?;
        let datagram = if once { place.take() } else { place.clone() }?;
        kept.newest = kept.newest.max(number);
        let kept_from = kept.newest.saturating_sub(kept.reordered);
        while kept.first < kept_from || kept.datagrams.front().is_some_and(Option::is_none) {
            kept.datagrams.pop_front();
            kept.first += 1;
        }
        Some(datagram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::sliq::virtual_payload::Virtual;
    use crate::transport::sliq::wire::Close;

    #[test]
    fn what_arrives_is_what_was_sent() {
        let mailbox = Mailbox::<Virtual>::default();
        let close = |reason| Datagram::Close(Close { answer: false, reason });
        let numbers: Vec<u32> = (0..10_000).map(|n| mailbox.put(close(n))).collect();
        assert_eq!(mailbox.get(numbers[7]), Some(close(7)));
        assert_eq!(mailbox.get(numbers[7]), Some(close(7)), "a duplicate");
        assert_eq!(mailbox.get(numbers[9_000]), Some(close(9_000)));
        assert_eq!(mailbox.get(numbers[7]), None, "overtaken by too many");
        assert_eq!(mailbox.get(u32::MAX), None);
    }

    #[test]
    fn once_is_once_in_any_order() {
        let mailbox = Mailbox::<Virtual>::once(8);
        let close = |reason| Datagram::Close(Close { answer: false, reason });
        let numbers: Vec<u32> = (0..20).map(|n| mailbox.put(close(n))).collect();
        for n in [1, 0, 2, 5, 3] {
            assert_eq!(mailbox.get(numbers[n]), Some(close(n as u16)));
            assert_eq!(mailbox.get(numbers[n]), None, "a duplicate");
        }
        assert_eq!(mailbox.get(numbers[13]), Some(close(13)));
        assert_eq!(mailbox.get(numbers[4]), None, "overtaken by too many");
        assert_eq!(mailbox.get(numbers[6]), Some(close(6)));
    }
}
