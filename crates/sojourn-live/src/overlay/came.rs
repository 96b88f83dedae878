//! Since when datagrams wait for the turns of nodes.

use std::sync::atomic::{AtomicU64, Ordering};

use sojourn_base::units::Time;

/// By member, when the first came of those that no turn has had yet.
#[derive(Debug)]
pub(super) struct Came(Vec<AtomicU64>);

impl Came {
    /// Before any has come, of so many members.
    pub(super) fn new(members: usize) -> Self {
        Came((0..members).map(|_| AtomicU64::new(Time::NEVER.as_nanos())).collect())
    }

    /// One comes for the member at this place.
    pub(super) fn note(&self, place: usize, at: Time) {
        if let Some(first) = self.0.get(place) {
            first.fetch_min(at.as_nanos(), Ordering::Relaxed);
        }
    }

    /// A turn of the member at this place begins: when the first came since the last one began, never if
    /// none has.
    pub(super) fn take(&self, place: usize) -> Time {
        let first = self.0[place].swap(Time::NEVER.as_nanos(), Ordering::Relaxed);
        Time::from_nanos(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_since_the_last_turn_counts() {
        let came = Came::new(2);
        for (place, nanos) in [(0, 30), (0, 20), (0, 40), (1, 10)] {
            came.note(place, Time::from_nanos(nanos));
        }
        assert_eq!(came.take(0), Time::from_nanos(20));
        assert_eq!(came.take(0), Time::NEVER);
        assert_eq!(came.take(1), Time::from_nanos(10));
    }
}
